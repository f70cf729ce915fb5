// Sums of halves that are rounded once.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "sass/half.h"

namespace nervanagpu::sass::emulate {

// p + c with p exact, rounded to odd in double: a later rounding to any format of at most 51 bits sees the true value.
inline double add_to_odd(double p, double c) {
  const double s = p + c;
  if (!(std::fabs(s) < HUGE_VAL) || s == 0) return s;
  const double v = s - p;
  const double e = (p - (s - v)) + (c - v);
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(s);
  if (e == 0 || (bits & 1) != 0) return s;
  // Towards the side of the error, one unit; the magnitude grows if s and e agree in sign.
  return std::bit_cast<double>((s > 0) == (e > 0) ? bits + 1 : bits - 1);
}

}  // namespace nervanagpu::sass::emulate
