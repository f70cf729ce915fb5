// The error bound of a sum of products, and how far a result is from another in units of it.
#pragma once

#include <cstdint>
#include <string>

#include "test/gpu/numbers.h"

namespace nervanagpu::gpu_test {

inline constexpr double kUnitFloat = 0x1p-24;   // of fp32 arithmetic, rounded to nearest
inline constexpr double kUnitTensor = 0x1p-22;  // of tensor cores, which cut sums off instead of rounding them

// k u / (1 - k u): for a sum of k products in any order, times the sum of their absolute values.
double gamma(std::int64_t terms, double unit);

// For each element gamma * size + the rounding of the value to its type.
Values bounds(const Values& value, const Values& size, std::int64_t terms, double unit, Dtype dtype);
Values operator+(Values a, const Values& b);

struct Distance {
  double worst =
      0.0;  // largest |got - want| / bound; infinity where something is out of it though the bound is 0, or NaN
  std::int64_t out = 0;  // elements beyond their bound
  std::string first;     // the first of these, in words
};
Distance distance(const Values& got, const Values& want, const Values& bound);

}  // namespace nervanagpu::gpu_test
