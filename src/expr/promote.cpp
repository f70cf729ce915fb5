#include "src/expr/promote.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>

#include "nervanagpu/error.hpp"
#include "src/numbers/half.h"
#include "src/numbers/scalar.h"

namespace nervanagpu::expr {
namespace {

Dtype integer(bool is_signed, std::size_t bytes) {
  switch (bytes) {
    case 1: return is_signed ? Dtype::int8 : Dtype::uint8;
    case 2: return is_signed ? Dtype::int16 : Dtype::uint16;
    case 4: return is_signed ? Dtype::int32 : Dtype::uint32;
    default: return is_signed ? Dtype::int64 : Dtype::uint64;
  }
}

// The smallest float that has every value of the integer type d.
Dtype float_for(Dtype d) {
  switch (size_of(d)) {
    case 1: return Dtype::float16;
    case 2: return Dtype::float32;
    default: return Dtype::float64;
  }
}

}  // namespace

Kind kind_of(Dtype d) {
  switch (d) {
    case Dtype::float16:
    case Dtype::bfloat16:
    case Dtype::float32:
    case Dtype::float64: return Kind::real;
    case Dtype::boolean: return Kind::boolean;
    case Dtype::complex64:
    case Dtype::complex128: return Kind::complex;
    default: return Kind::integer;
  }
}

bool is_signed(Dtype d) {
  return d == Dtype::int8 || d == Dtype::int16 || d == Dtype::int32 || d == Dtype::int64;
}

Dtype promote(Dtype a, Dtype b) {
  if (a == b) return a;
  Kind ka = kind_of(a);
  Kind kb = kind_of(b);
  if (ka > kb) {
    std::swap(a, b);
    std::swap(ka, kb);
  }
  if (ka == Kind::boolean) return b;
  if (kb == Kind::complex) return complex_of(promote(part_of(a), part_of(b)));
  if (kb == Kind::real) {
    const Dtype fa = ka == Kind::real ? a : float_for(a);
    if (ka == Kind::real && size_of(a) == 2 && size_of(b) == 2) return Dtype::float32;  // float16 and bfloat16
    return size_of(fa) > size_of(b) ? fa : b;
  }
  if (is_signed(a) == is_signed(b)) return size_of(a) > size_of(b) ? a : b;
  const Dtype s = is_signed(a) ? a : b;
  const Dtype u = is_signed(a) ? b : a;
  if (size_of(s) > size_of(u)) return s;
  return size_of(u) == 8 ? Dtype::float64 : integer(true, 2 * size_of(u));
}

Dtype beside(Dtype d, Kind kind) {
  if (kind == Kind::boolean || kind_of(d) >= kind) return d;
  if (kind == Kind::complex) return kind_of(d) == Kind::real ? complex_of(d) : Dtype::complex128;
  return kind == Kind::real ? Dtype::float64 : Dtype::int64;
}

Dtype as_real(Dtype d) {
  if (kind_of(d) == Kind::real) return d;
  return kind_of(d) == Kind::boolean ? Dtype::float16 : float_for(d);
}

bool same_kind(Dtype from, Dtype to) {
  if (from == to) return true;
  const Kind f = kind_of(from);
  const Kind t = kind_of(to);
  if (f != t) return f < t;
  return f != Kind::integer || is_signed(to) || !is_signed(from);
}

Rule rule_of(ExprOp op) {
  switch (op) {
#define NG_OP(name, operands, rule) \
  case ExprOp::name:                \
    return Rule::rule;
#include "nervanagpu/expr_ops.inc"
#undef NG_OP
    default: return Rule::number;
  }
}

unsigned operands_of(ExprOp op) {
  switch (op) {
#define NG_OP(name, operands, rule) \
  case ExprOp::name:                \
    return operands;
#include "nervanagpu/expr_ops.inc"
#undef NG_OP
    case ExprOp::cast:
    case ExprOp::reduce: return 1;
    default: return 0;
  }
}

std::uint64_t bits_of(const Scalar& value, Dtype d) {
  const ScalarBits raw = scalar_bits(value, d);
  std::uint64_t out = 0;
  std::memcpy(&out, raw.data(), size_of(d));
  return out;
}

Scalar scalar_of(std::uint64_t bits, Dtype d) {
  const auto width = static_cast<unsigned>(8 * size_of(d));
  switch (d) {
    case Dtype::float64: return std::bit_cast<double>(bits);
    case Dtype::float32: return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    case Dtype::float16: return half_value(static_cast<std::uint16_t>(bits));
    case Dtype::bfloat16: return bfloat_value(static_cast<std::uint16_t>(bits));
    case Dtype::boolean: return bits != 0;
    default:
      if (!is_signed(d)) return bits;
      return static_cast<std::int64_t>(bits << (64 - width)) >> (64 - width);
  }
}

}  // namespace nervanagpu::expr
