// Two programs for one thing, in exact arithmetic: a convolution as its definition says it, and the launches of a mapping
// as conv.sass carries them out.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/conv/mapping.h"

namespace nervanagpu::test {

using Integers = std::vector<std::int64_t>;

// Index of an element: x and y take (batch, channel), w takes (k, channel of the group).
struct At {
  std::int64_t outer, channel, z, y, x;
};
std::int64_t offset_of(Layout layout, const At& at, std::int64_t outer, std::int64_t channels,
                       const std::array<std::int64_t, 3>& spatial);

// The pass by nested loops over its definition; any layout. in1, in2 as in conv.hpp.
Integers convolve(ConvPass pass, const ConvProblem& p, const Integers& in1, const Integers& in2);
// The same with doubles (in float64, any order): for error bounds.
std::vector<double> convolve(ConvPass pass, const ConvProblem& p, const std::vector<double>& in1,
                             const std::vector<double>& in2);

// What the mapping's launches and its sum leave in the result (as far as written: `poison` elsewhere). Empty if an offset
// leaves a tensor, an element is written twice, or a number does not fit its parameter.
inline constexpr std::int64_t kUnwritten = INT64_MIN;
Integers execute(ConvPass pass, const ConvProblem& p, const conv_detail::Mapping& mapping, const Integers& in1,
                 const Integers& in2);
// The same in float32, as the class "chain chunk=256" says: fused multiply-adds in ascending order of l, begun anew after 256 of them,
// then the chunks, then the parts in theirs.
std::vector<float> execute(ConvPass pass, const ConvProblem& p, const conv_detail::Mapping& mapping,
                           const std::vector<float>& in1, const std::vector<float>& in2);

}  // namespace nervanagpu::test
