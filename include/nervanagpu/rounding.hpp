// How a float result is rounded to its dtype.
#pragma once

#include <cstdint>

namespace nervanagpu {

// nearest: ties to even. stochastic: up or down at random, so that the expected value is the exact one; a value that can
// be kept stays as it is, and one beyond the largest finite number is rounded as nearest rounds it.
//
// The element i elements behind the first of a result, in memory, takes word i % 4 of
// Philox4x32-10(key = seed, counter = offset + i / 4): the same bits on every device, tile and grid.
struct Rounding {
  bool stochastic = false;
  std::uint64_t seed = 0;
  std::uint64_t offset = 0;  // of the counter; one call takes ceil(elements / 4) of them
  int bits = 0;  // mantissa bits to keep: 1..10 for float16, 1..7 for bfloat16, 1..15 for float32; 0: the most
  friend bool operator==(const Rounding&, const Rounding&) = default;
};

}  // namespace nervanagpu
