// fprop of float16 as the product of a gathered matrix: what the order class "tensor" compares bits with.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "nervanagpu/conv.hpp"

namespace nervanagpu::test {

// The sum's index of a channel at a tap (line, column).
using PlaceOf = std::function<std::int64_t(std::int64_t line, std::int64_t column, std::int64_t channel)>;

// y's bits, as gemm() computes them in one part from rows of `depth` elements: those of x that a position meets, in the places
// that `l_of` says, and zeros. p: channels last, 2D, float16, one group. x, w: bits.
std::vector<std::uint32_t> gathered_product(const ConvProblem& p, const std::vector<std::uint32_t>& x,
                                            const std::vector<std::uint32_t>& w, std::int64_t depth,
                                            const PlaceOf& l_of);

}  // namespace nervanagpu::test
