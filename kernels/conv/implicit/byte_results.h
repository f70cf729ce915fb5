// fprop of bytes whose result is float32 or int8: where no kernel of bytes stores it, int32 sums go to the workspace,
// and split_sum.sass finishes them.
#pragma once

#include <cstddef>
#include <functional>

#include "kernels/conv/launch.h"
#include "nervanagpu/conv.hpp"
#include "src/device/device.h"

namespace nervanagpu::conv_detail::byte_results {

// The types are such.
bool asked(const ConvProblem& p);
// The problem of the sums.
ConvProblem sums_of(const ConvProblem& p);

std::size_t workspace(const ConvProblem& p);

// Queues the problem of the sums, without an epilogue.
using Inner = std::function<void(const ConvProblem&, const ConvPointers&)>;
void queue(Device& device, const ConvProblem& p, const ConvPointers& pointers, const Epilogue& e, const Inner& inner,
           const Stream& stream);

}  // namespace nervanagpu::conv_detail::byte_results
