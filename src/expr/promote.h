// Which dtype an operation computes in and gives: NumPy's rules (NEP 50).
#pragma once

#include <cstdint>

#include "nervanagpu/expr.hpp"

namespace nervanagpu::expr {

enum class Kind : std::uint8_t { boolean, integer, real, complex };
Kind kind_of(Dtype d);
bool is_signed(Dtype d);  // of integers

// The smallest dtype that holds the values of both.
Dtype promote(Dtype a, Dtype b);
// What a weak number of `kind` becomes beside dtype d.
Dtype beside(Dtype d, Kind kind);
// The float that a float function computes in, given d.
Dtype as_real(Dtype d);
// numpy.can_cast(from, to, "same_kind").
bool same_kind(Dtype from, Dtype to);

enum class Rule : std::uint8_t { arith, number, real, whole, compare, test, logic, bits };
Rule rule_of(ExprOp op);
unsigned operands_of(ExprOp op);

// A number as the bits of real dtype d, and back; errors are scalar_bits()'s (src/numbers/scalar.h).
std::uint64_t bits_of(const Scalar& value, Dtype d);
Scalar scalar_of(std::uint64_t bits, Dtype d);
inline double value_of(std::uint64_t bits, Dtype d) {  // 64-bit integers are rounded
  return scalar_of(bits, d).real();
}

}  // namespace nervanagpu::expr
