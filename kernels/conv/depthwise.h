// Depthwise convolutions, a filter for each channel, channels last: launches of depthwise*.sass, which read what they gather
// once. Which problems they take, and the order of their sums, depends on the problem alone.
#pragma once

#include <cstddef>

#include "kernels/conv/launch.h"
#include "nervanagpu/conv.hpp"
#include "src/device.h"

namespace nervanagpu::conv_detail::depthwise {

// There are kernels for it. Other problems are left to the tensor cores and to conv.sass.
bool takes(ConvPass pass, const ConvProblem& p);
// Of a problem that takes() accepts: the tensors begin where vectors of channels can be read, and the result is rounded to
// nearest.
bool fits(ConvPass pass, const ConvProblem& p, const ConvPointers& pointers, const Epilogue& epilogue);

// Bytes of partial sums.
std::size_t workspace(ConvPass pass, const ConvProblem& p);

// The whole pass but for the epilogue's mask. The workspace is aligned to 16.
void queue(Device& device, ConvPass pass, const ConvProblem& p, const ConvPointers& pointers, const Epilogue& epilogue,
           StreamId stream);

}  // namespace nervanagpu::conv_detail::depthwise
