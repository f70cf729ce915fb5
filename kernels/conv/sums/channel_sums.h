// Sums of a result's channels, and of their squares: made afterwards a pass, or of parts that its kernel has left.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/conv/launch.h"
#include "nervanagpu/conv.hpp"
#include "src/device/device.h"

namespace nervanagpu::conv_detail::channel_sums {

// Throws InvalidArgument or TypeError for a pass that cannot have them.
void check(ConvPass pass, const ConvProblem& p, const ConvPointers& pointers);

// Bytes of device memory for the parts, at a multiple of 256, of a problem that check() takes. parts: that a kernel may leave.
std::size_t workspace(ConvPass pass, const ConvProblem& p, std::int64_t parts);

// Of `parts` parts that lie at e.sums.parts (column_sums.sass); 0: of the result as it is stored.
void queue(Device& device, ConvPass pass, const ConvProblem& p, std::uint64_t result, const Epilogue& e,
           StreamId stream, std::int64_t parts);

}  // namespace nervanagpu::conv_detail::channel_sums
