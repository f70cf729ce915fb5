// Elements of any dtype as bits, for references that are computed on the host.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "nervanagpu/nervanagpu.hpp"

namespace nervanagpu::test {

inline constexpr Dtype kDtypes[] = {Dtype::float32, Dtype::float16, Dtype::bfloat16,
                                    Dtype::int32,   Dtype::int8,    Dtype::uint8};

bool is_float(Dtype dtype);
// The value of a float's bits, or of an integer's.
double value_of(Dtype dtype, std::uint32_t bits);
// The dtype's bits nearest to `value`; NaN is 0x7fff or 0x7fffffff. Integers: `value` is one. bfloat16: by way of float32.
std::uint32_t bits_of(Dtype dtype, double value);
// What convert makes of an element, rounding to nearest.
std::uint32_t converted(Dtype from, Dtype to, std::uint32_t bits);
// x rounded stochastically by `word` to the bits of a float dtype; bits 0: the most.
std::uint32_t rounded(Dtype to, float x, std::uint32_t word, unsigned bits);

// Bits of a random element: often NaN, infinity, zeros, subnormals or the ends of the range.
std::uint32_t random_bits(std::mt19937& random, Dtype dtype);

// A view somewhere in a larger buffer, and the buffer's contents.
struct Buffer {
  Tensor whole;  // contiguous, one axis
  Tensor view;
  std::vector<std::uint32_t> bits;  // of `whole`

  [[nodiscard]] std::size_t at(std::size_t element) const;  // where in `bits` element i of the view, row-major, lies
};
// padded: rows with room after them, still aligned. The last three begin at an odd element, their axes in `axes`' order.
enum class Placement : std::uint8_t { row_major, padded, permuted, strided, backwards };
// Filled with random elements.
Buffer make_buffer(std::mt19937& random, const Shape& shape, Dtype dtype, Placement order,
                   const std::vector<int>& axes);
std::vector<std::uint32_t> read_bits(const Tensor& contiguous);
Tensor from_bits(const std::vector<std::uint32_t>& bits, const Shape& shape, Dtype dtype);

}  // namespace nervanagpu::test
