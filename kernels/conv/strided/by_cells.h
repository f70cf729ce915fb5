// The gradient of a convolution of few channels: its pixels become cells of several, of as many times the channels, whose result is
// copied to its places by pixels.sass.
//
//   strides      cells_of_strides.h: a bprop without strides. Else each class of positions that meet the same taps is a launch of
//                its own: 256 of them for 16 x 16 filters with stride 16.
//   no strides   cells_of_pixels.h: an fprop over dy. Else a product has few columns, for which every tap gathers all of dy.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "kernels/conv/launch.h"
#include "kernels/conv/problem.h"
#include "nervanagpu/stream.hpp"

namespace nervanagpu::conv_detail::by_cells {

// Along height and width.
using Flat = std::array<std::int64_t, 2>;

struct Cells {
  ConvPass pass = ConvPass::bprop;  // whose result is the cells
  ConvProblem problem;              // with channels last
  Flat step = {1, 1};               // pixels of a cell
  Flat before = {0, 0};             // of the cells, in front of the first one of dx
  std::int64_t row = 1;             // elements of a row of a cell: pixels with their channels
  bool zeros_meet = false;          // filters of cells are padded with zeros, which meet elements of dy
};

// p with channels last and dx apart; dy as it lies, or as a copy of it does.
ConvProblem beside(const ConvProblem& p);
// Rounded up to 16 bytes, as the copy engine has them.
std::int64_t whole_channels(const ConvProblem& p, std::int64_t channels);

// None: another pass, many channels, or p as it is is faster: a function of the problem alone.
std::optional<Cells> cells_of(ConvPass pass, const ConvProblem& p);
// For tests and sweeps: cells of so many pixels of a bprop without strides, "_bycells_4_4", whether or not they pay.
bool is_forced(const Forced& forced);
std::optional<Cells> named(const ConvProblem& p, const Forced& forced);
// By the model of an H200.
double microseconds(const Cells& c, const ConvProblem& p);

// No beta, nothing rounded stochastically, no zeros that would meet infinities unless `zeros_may`, and operands for the kernels.
bool fits(const Cells& c, const ConvProblem& p, const ConvPointers& pointers, const Epilogue& e, bool zeros_may);

std::size_t workspace(const Cells& c, const ConvProblem& p);
// `inner` queues the pass of the cells.
using Inner = std::function<void(ConvPass, const ConvProblem&, const ConvPointers&)>;
void queue(Device& device, const Cells& c, const ConvProblem& p, const ConvPointers& pointers, const Epilogue& e,
           const Inner& inner, const Stream& stream);

}  // namespace nervanagpu::conv_detail::by_cells
