// Convolutions of few channels without strides: pixels become cells of step x step pixels, of as many times the channels (cells.sass),
// and filters likewise. Those of bytes are float16, where that is exact.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "kernels/conv/halo/halo_update_choice.h"
#include "kernels/conv/implicit/implicit_gemm.h"
#include "kernels/conv/launch.h"
#include "kernels/conv/problem.h"
#include "nervanagpu/stream.hpp"
#include "src/launch/values.h"

namespace nervanagpu::conv_detail::cells {

// Along height and width.
using Flat = std::array<std::int64_t, 2>;

struct Cells {
  Flat step = {1, 1}, low = {0, 0};  // of a cell's pixels; the first cell's first
  Flat pixels = {1, 1};              // cells of an image
  std::int64_t elements = 1;         // of a cell
  std::int64_t channels = 8;         // of the images of cells: multiples of 16 bytes, and 16 at least
  std::int64_t wide = 16;            // of the filters of cells: whole products
  Gather taps;                       // of the images of cells
  [[nodiscard]] std::int64_t images_bytes(std::int64_t n) const { return 2 * n * pixels[0] * pixels[1] * channels; }
  [[nodiscard]] std::int64_t filters_bytes(std::int64_t k) const { return 2 * k * taps.all_taps() * wide; }
};

// Images, or filters, as they lie, and how they are cut.
struct Source {
  std::uint64_t address = 0;
  Dtype type = Dtype::float16;
  Shape strides;  // of images, depth, height, width, channels: elements
  std::int64_t n = 1;
  Flat size = {1, 1}, low = {0, 0};   // in pixels; the first cell's first
  Flat pixels = {1, 1};               // cells of an image
  Flat step = {1, 1}, cell = {1, 1};  // from cell to cell, and of a cell
  std::int64_t channels = 8;          // of the result
  std::int64_t of_pixel = 1;          // channels
};
// The parameters of cells.sass, which are the first ones of cells_bf16x3.sass.
Values values_of(const Source& from, std::uint64_t to);

// None: the pass is not fprop or update of this kind, or the cells would have more than 64 channels.
std::optional<Cells> cells_of(ConvPass pass, const ConvProblem& p);
// Cells are the fastest way for fprop: a function of the problem alone.
bool pays(const Cells& c, const ConvProblem& p);
bool pays(ConvPass pass, const ConvProblem& p);
// The same of update, whose product is then this.
bool update_pays(const Cells& c, const ConvProblem& p);
// Microseconds of update, copies among them; halo_update.sass cannot multiply these cells: infinite.
double update_microseconds(const Cells& c, const ConvProblem& p);
halo_update::Work update_of(const Cells& c, const ConvProblem& p);
bool is_forced(const Forced& forced);
// Of "_cells_128x64" halo.sass's "_halo_128x64"; of "_cells_resident_32_128x64" and "_cells_haloupdate_7" resident.sass's and
// halo_update.sass's.
Forced behind(const Forced& forced);
// Microseconds of fprop, copies among them; none of the kernels that multiply cells can: infinite.
double fprop_microseconds(const Cells& c, const ConvProblem& p);
// Microseconds of the copies, by a model of an H200.
double microseconds(const Cells& c, const ConvProblem& p, const Costs& costs = kFitted);

// The images x, and the filters w, as cells at `to`.
void copy_images(Device& device, const Cells& c, const ConvProblem& p, std::uint64_t x, std::uint64_t to,
                 const Stream& stream);
void copy_filters(Device& device, const Cells& c, const ConvProblem& p, std::uint64_t w, std::uint64_t to,
                  const Stream& stream);

}  // namespace nervanagpu::conv_detail::cells
