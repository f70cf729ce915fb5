// Contiguous operands of element-wise operations and what their results must be.
#pragma once

#include <cstdint>
#include <functional>
#include <random>
#include <vector>

#include "nervanagpu/nervanagpu.hpp"

namespace nervanagpu::test {

// A contiguous tensor inside a larger buffer, `shift` elements after an aligned address, and its elements' bits.
struct Operand {
  Tensor whole;
  Tensor t;
  std::vector<std::uint32_t> bits;

  [[nodiscard]] float value(std::size_t i) const;
};
Operand make_operand(std::mt19937& random, const Shape& shape, Dtype dtype, std::int64_t shift = 0);
// The same with normal random numbers.
Operand make_normal(std::mt19937& random, const Shape& shape, Dtype dtype, std::int64_t shift = 0);
Operand make_operand(const std::vector<float>& values, const Shape& shape, Dtype dtype);

// What lies around an operand.
std::uint32_t guard_bits(Dtype dtype);

// `x` as an element of `dtype` by `rounding`, as element number i of a result.
std::uint32_t rounded(float x, Dtype dtype, const Rounding& rounding, std::size_t i);

// Every element of `got` is reference(i), rounded, to the bit, and what lies around it is as it was. Empty, or what is
// wrong.
std::string mismatch(const Operand& got, const Rounding& rounding, const std::function<float(std::size_t)>& reference);

}  // namespace nervanagpu::test
