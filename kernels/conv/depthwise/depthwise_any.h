// Depthwise convolutions of any filter, stride, dilation and number of channels: launches of depthwise_any.sass.
#pragma once

#include <cstddef>

#include "kernels/conv/launch.h"
#include "nervanagpu/conv.hpp"
#include "src/device/device.h"

namespace nervanagpu::conv_detail::depthwise {

// Of a problem with a filter for each channel, channels last, of one float type: offsets fit.
bool any_takes(ConvPass pass, const ConvProblem& p);

std::size_t any_workspace(const ConvProblem& p);  // of an update

void queue_any(Device& device, ConvPass pass, const ConvProblem& p, const ConvPointers& pointers,
               const Epilogue& epilogue, std::uint32_t flags, StreamId stream);

}  // namespace nervanagpu::conv_detail::depthwise
