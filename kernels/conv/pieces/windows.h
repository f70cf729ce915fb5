// Convolutions of float32 by windows of lines. With channels last a filter's line meets filter_w * channels neighbours of a line of x, which are one
// tap here: whole blocks of 64 but for the last, where each pixel by itself would be filled up to one. Neighbouring results of a line share a
// window that is a little wider, and are columns of one product, so that few filters make tiles that are wide enough.
//
// Lines have zeros around them (bf16x3.sass, f16x2.sass), windows overlap in the map, and window_filters.sass moves filters to their results'
// places. A bprop without strides is an fprop over dy, of filters that are turned round.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/conv/implicit/implicit_gemm.h"
#include "kernels/conv/launch.h"
#include "kernels/conv/pieces/piece_cells.h"
#include "kernels/conv/pieces/pieces.h"
#include "kernels/gemm/pieces/bf16x6.h"
#include "nervanagpu/conv.hpp"
#include "src/device/device.h"

namespace nervanagpu::conv_detail::windows {

struct Windows {
  std::int64_t results = 1;             // of a line, side by side: those of a window
  std::int64_t depth = 8;               // channels that are summed over
  std::int64_t filters = 1;             // channels of the result
  std::int64_t pixels = 1, lines = 1;   // of an image that is gathered
  std::int64_t before = 0, after = 0;   // pixels of zeros around a line
  std::int64_t span = 1, step = 1;      // of a window, and from one to the next: pixels
  std::int64_t filter = 1, stride = 1;  // along a line
  bool apart = false;                   // pixels of the result are not neighbours, and are copied to their places
  Gather taps;                          // of windows

  [[nodiscard]] std::int64_t line() const { return (before + pixels + after) * depth; }  // of pieces, in elements
  [[nodiscard]] std::int64_t columns() const { return results * filters; }
  [[nodiscard]] Pixels images(std::int64_t n, std::uint64_t address) const;
  [[nodiscard]] Pixels columns_of(std::uint64_t address) const;  // the filters of all results
  [[nodiscard]] std::int64_t images_bytes(std::int64_t n, const pieces::Kind& kind) const;
  [[nodiscard]] std::int64_t filters_bytes(const pieces::Kind& kind) const;
  // Lines, as they are split.
  [[nodiscard]] bf16x6::Split split(const Pixels& from, std::uint64_t to) const;
};

// Of one result and more (update: one), where the pass can be computed so: in two dimensions, whose gathered channels are multiples of eight;
// bprop without strides.
std::vector<Windows> all(ConvPass pass, const ConvProblem& p);
// By the model of an H200: pieces, and their product.
double microseconds(ConvPass pass, const ConvProblem& p, const Windows& w, const pieces::Kind& kind);
// The cheapest windows, where these are cheaper than pieces as they lie: a function of the problem alone. forced: "_windows", how many results,
// or nothing, and the end of a name; then windows, if there are any, whatever they cost.
std::optional<Windows> choose(ConvPass pass, const ConvProblem& p, const pieces::Kind& kind, const Forced& forced = {});
// By three pieces: by cells (piece_cells.h), by windows or as they lie, whichever the model has for the fastest.
struct Three {
  std::optional<piece_cells::Cells> cells;
  std::optional<Windows> windows;
  double microseconds = 0;
};
Three three_pieces(ConvPass pass, const ConvProblem& p, const Forced& forced = {});
bool is_forced(const Forced& forced);
Forced behind(const Forced& forced);  // the product's

// A vector of the epilogue, an element a filter, and where it is repeated for all results; or none.
struct Repeated {
  std::uint64_t vector = 0, wide = 0;
};
// From the filters' pieces at `pieces`, as pieces.h and two_pieces.h have them split, the columns at `columns`.
void move_filters(Device& device, ConvPass pass, const ConvProblem& p, const Windows& w, const pieces::Kind& kind,
                  std::uint64_t pieces, std::uint64_t columns, const Repeated& first, const Repeated& second,
                  StreamId stream);

}  // namespace nervanagpu::conv_detail::windows
