// How a float result is rounded to its dtype.
#pragma once

#include <cstdint>

#include "nervanagpu/dtype.hpp"

namespace nervanagpu {

// nearest: ties to even. stochastic: up or down at random, so that the expected value is the exact one; a value that can
// be kept stays as it is, and one beyond the largest finite number is rounded as nearest rounds it.
//
// The element i elements after the first of a result, in memory, takes word i % 4 of
// Philox4x32-10(key = seed, counter = offset + i / 4): the same bits on every device, tile and grid.
struct Rounding {
  bool stochastic = false;
  std::uint64_t seed = 0;
  std::uint64_t offset = 0;  // of the counter; one call takes ceil(elements / 4) of them
  int bits = 0;              // mantissa bits to keep, 1 to most_bits(); 0: the most
  friend bool operator==(const Rounding&, const Rounding&) = default;
};

// Mantissa bits that can be kept of a float32, float16 or bfloat16 result, and those that are. int8's last place is 1.
constexpr int most_bits(Dtype result) {
  return result == Dtype::int8 ? 0 : result == Dtype::float16 ? 10 : result == Dtype::bfloat16 ? 7 : 15;
}
constexpr int kept_bits(const Rounding& rounding, Dtype result) {
  return rounding.bits != 0 ? rounding.bits : most_bits(result);
}

}  // namespace nervanagpu
