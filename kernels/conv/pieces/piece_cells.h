// Convolutions of few channels of float32 by pieces: x becomes cells of pixels (cells_bf16x3.sass), and as many neighbouring ones as have 64
// channels are what conv_bf16x6.sass gathers at a tap: its map's pixels overlap.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/conv/halo/cells.h"
#include "kernels/conv/implicit/implicit_gemm.h"
#include "kernels/conv/launch.h"
#include "nervanagpu/conv.hpp"
#include "src/device/device.h"

namespace nervanagpu::conv_detail::piece_cells {

using cells::Flat;

struct Cells {
  Flat size = {1, 1};         // pixels of a cell, along height and width
  Flat step = {1, 1};         // from a cell of x to the next; of a filter: every size[0], step[1]
  Flat pixels = {1, 1};       // cells of an image
  Flat filter = {1, 1};       // cells of a filter, those that are zero included
  std::int64_t elements = 1;  // of a cell
  std::int64_t channels = 8;  // of a cell as it lies: 8, 16, 32 or 64
  Gather taps;
  // Images, or filters, as conv_bf16x6.sass gathers them.
  [[nodiscard]] Pixels images(std::int64_t n) const;
  [[nodiscard]] Pixels filters(std::int64_t k) const;
  // Of the three pieces of all cells.
  [[nodiscard]] std::int64_t images_bytes(std::int64_t n) const;
  [[nodiscard]] std::int64_t filters_bytes(std::int64_t k) const;
};

// All cells that serve the pass: of one, two, ... steps along the height. None: it is not fprop or update in two dimensions, or is dilated, or
// a cell has more than 64 elements.
std::vector<Cells> all(ConvPass pass, const ConvProblem& p);
// By the model of an H200: cells, product, and what update does beside.
double microseconds(ConvPass pass, const ConvProblem& p, const Cells& c);

// The cells by which the pass is faster than by all other ways of pieces.h: a function of the problem alone. forced: "_cells",
// the number of steps, or nothing, and the end of a name of conv_bf16x6.sass; then cells, if there are any, whatever they cost.
std::optional<Cells> choose(ConvPass pass, const ConvProblem& p, const Forced& forced = {});
Forced behind(const Forced& forced);  // the product's

// Pieces of all cells at `to`, and the range of x, or w, at `range`.
void split_images(Device& device, const Cells& c, const ConvProblem& p, std::uint64_t x, std::uint64_t to,
                  std::uint64_t range, StreamId stream);
void split_filters(Device& device, const Cells& c, const ConvProblem& p, std::uint64_t w, std::uint64_t to,
                   std::uint64_t range, StreamId stream);

}  // namespace nervanagpu::conv_detail::piece_cells
