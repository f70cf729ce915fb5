// Depthwise convolutions, a filter for each channel, channels last. Those of 3, 5 and 7 with strides of 1 and 2 are launches of
// kernels that go down strips and read what they gather once: depthwise.sass, depthwise_back.sass, depthwise_update.sass.
// All others, and what does not begin where these can read or is rounded stochastically, are depthwise_any.sass's.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/conv/launch.h"
#include "nervanagpu/conv.hpp"
#include "src/device/device.h"

namespace nervanagpu::conv_detail::depthwise {

// There is a kernel for it. Other problems are left to the tensor cores and to conv.sass.
bool takes(ConvPass pass, const ConvProblem& p);
// Of strips.
bool takes_strips(ConvPass pass, const ConvProblem& p);
// Of a problem that takes() accepts: this epilogue is possible, but for the mask, which is left to relu_mask.sass.
bool fits(ConvPass pass, const ConvProblem& p, const Epilogue& epilogue);

// The order of an update's sums by strips (docs/numerics.md): of `tall` rows of dy and `width` columns, lh x lw in an image.
struct StripOrder {
  std::int64_t width = 1, tall = 1, lh = 1, lw = 1;
  std::int64_t groups = 1, chunk = 1;  // of threads in a part, and its strips
  std::int64_t run = 1, runs = 1;      // parts
};
StripOrder order_of_update(const ConvProblem& p);

// Bytes of partial sums.
std::size_t workspace(ConvPass pass, const ConvProblem& p);

constexpr const char* kAny = "any";  // Forced::kernel: depthwise_any.sass

// The workspace is aligned to 16.
void queue(Device& device, ConvPass pass, const ConvProblem& p, const ConvPointers& pointers, const Epilogue& epilogue,
           StreamId stream, const Forced& forced = {});

}  // namespace nervanagpu::conv_detail::depthwise
