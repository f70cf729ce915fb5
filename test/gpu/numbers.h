// Element types on the host: every value is a double, which holds each of them exactly (of int64 those below 2^53).
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "nervanagpu/dtype.hpp"

namespace nervanagpu::gpu_test {

using Values = std::vector<double>;
using Bytes = std::vector<std::uint8_t>;

// Rounds to nearest even where the type cannot hold a value. float16, bfloat16, float32, float64, int8, uint8, int32 and int64
// only.
double round_to(double value, Dtype dtype);
Bytes encode(const Values& values, Dtype dtype);
Values decode(const Bytes& bytes, Dtype dtype);

// Half a unit in the last place of `value` in that type, or more: what rounding to it may add. 0 for integers.
double rounding_error(double value, Dtype dtype);

Values absolute(Values values);

using Random = std::mt19937_64;
std::int64_t pick(Random& random, std::int64_t low, std::int64_t high);  // both included
template <class T, std::size_t N>
T choose(Random& random, const T (&of)[N]) {
  return of[static_cast<std::size_t>(pick(random, 0, static_cast<std::int64_t>(N) - 1))];
}

// Integers so small that sums of some thousand products are exact: -size to size, from 0 for uint8. size 0: the whole
// range of an 8-bit type.
Values integers(Random& random, std::int64_t count, int size, Dtype dtype);
// From -1 to 1, values of the type; 8-bit types: their whole range.
Values reals(Random& random, std::int64_t count, Dtype dtype);

}  // namespace nervanagpu::gpu_test
