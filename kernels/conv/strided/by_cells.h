// The gradient of a convolution with strides, of few channels: pixels become cells of stride x stride pixels, of as many times the
// channels. So it is a bprop without strides, whose result is copied to its places by pixels.sass. Else each class of positions that
// meet the same taps is a launch of its own: 256 of them for 16 x 16 filters with stride 16.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>

#include "kernels/conv/launch.h"
#include "kernels/conv/problem.h"
#include "nervanagpu/stream.hpp"

namespace nervanagpu::conv_detail::by_cells {

struct Cells {
  ConvProblem problem;      // of the cells, with channels last
  std::int64_t row = 1;     // elements of a row of a cell: pixels with their channels
  bool zeros_meet = false;  // the last cells of the filters are filled up with zeros, which meet elements of dy
};

// None: another pass, no strides along height and width, or classes are faster: a function of the problem alone.
std::optional<Cells> cells_of(ConvPass pass, const ConvProblem& p);
// No beta, nothing rounded stochastically, and no zeros that would meet infinities unless `zeros_may`.
bool fits(const Cells& c, const Epilogue& e, bool zeros_may);

std::size_t workspace(const Cells& c, const ConvProblem& p);
// `inner` queues the pass of the cells.
using Inner = std::function<void(const ConvProblem&, const ConvPointers&)>;
void queue(Device& device, const Cells& c, const ConvProblem& p, const ConvPointers& pointers, const Epilogue& e,
           const Inner& inner, const Stream& stream);

}  // namespace nervanagpu::conv_detail::by_cells
