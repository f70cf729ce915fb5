#include "src/numbers/scalar.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <string>

#include "nervanagpu/error.hpp"
#include "src/numbers/half.h"

namespace nervanagpu {
namespace {

std::string text_of(const Scalar& value) {
  if (value.kind() == Scalar::Kind::beyond) return "of more than 64 bits";
  if (value.kind() == Scalar::Kind::real) return std::to_string(value.real());
  return value.negative() ? std::to_string(static_cast<std::int64_t>(value.bits())) : std::to_string(value.bits());
}

template <class T>
ScalarBits as_bits(T value) {
  ScalarBits out{};
  std::memcpy(out.data(), &value, sizeof value);
  return out;
}

template <class T>
bool holds(const Scalar& value) {
  using Limits = std::numeric_limits<T>;
  switch (value.kind()) {
    case Scalar::Kind::beyond: return false;
    case Scalar::Kind::real: {
      // 2^digits is exact in double where max() of a 64-bit type is not.
      const double cut = std::trunc(value.real());
      const double limit = std::ldexp(1.0, Limits::digits);
      return cut >= (Limits::is_signed ? -limit : 0.0) && cut < limit;
    }
    default:
      if (!value.negative()) return value.bits() <= static_cast<std::uint64_t>(Limits::max());
      return Limits::is_signed && static_cast<std::int64_t>(value.bits()) >= static_cast<std::int64_t>(Limits::min());
  }
}

template <class T>
ScalarBits integer_bits(const Scalar& value, Dtype dtype) {
  using Limits = std::numeric_limits<T>;
  if (!holds<T>(value)) {
    const std::string what = "number " + text_of(value) + " does not fit into dtype " + std::string(name_of(dtype)) +
                             ", which holds " + std::to_string(Limits::min()) + " to " + std::to_string(Limits::max());
    if (std::isnan(value.real())) throw InvalidArgument(what);
    throw OutOfRange(what);
  }
  if (value.kind() == Scalar::Kind::real) return as_bits(static_cast<T>(value.real()));
  return as_bits(static_cast<T>(value.bits()));
}

// What f gives for a value of the C++ type that an integer dtype is.
template <class F>
auto as_integer(Dtype dtype, const F& f) {
  switch (dtype) {
    case Dtype::int8: return f(std::int8_t{});
    case Dtype::int16: return f(std::int16_t{});
    case Dtype::int32: return f(std::int32_t{});
    case Dtype::uint8: return f(std::uint8_t{});
    case Dtype::uint16: return f(std::uint16_t{});
    case Dtype::uint32: return f(std::uint32_t{});
    case Dtype::uint64: return f(std::uint64_t{});
    default: return f(std::int64_t{});
  }
}

double real_of(const Scalar& value, Dtype dtype) {
  const double v = value.real();
  if (value.kind() == Scalar::Kind::beyond && std::isinf(v)) {
    throw OutOfRange("number of more than 1024 bits does not fit into dtype " + std::string(name_of(dtype)));
  }
  return v;
}

}  // namespace

ScalarBits scalar_bits(const Scalar& value, Dtype dtype) {
  const bool complex = value.kind() == Scalar::Kind::complex;
  if (complex && !is_complex(dtype) && dtype != Dtype::boolean) {
    throw TypeError("number is complex; dtype is " + std::string(name_of(dtype)) + ", needs complex64 or complex128");
  }
  switch (dtype) {
    case Dtype::complex64:
      return as_bits(std::array<float, 2>{static_cast<float>(real_of(value, dtype)), static_cast<float>(value.imag())});
    case Dtype::complex128: return as_bits(std::array<double, 2>{real_of(value, dtype), value.imag()});
    case Dtype::float16: return as_bits(half_bits(real_of(value, dtype)));
    case Dtype::bfloat16: return as_bits(bfloat_bits(real_of(value, dtype)));
    case Dtype::float32: return as_bits(static_cast<float>(real_of(value, dtype)));
    case Dtype::float64: return as_bits(real_of(value, dtype));
    case Dtype::boolean: return as_bits(static_cast<std::uint8_t>(value.real() != 0.0 || value.imag() != 0.0 ? 1 : 0));
    default: return as_integer(dtype, [&](auto t) { return integer_bits<decltype(t)>(value, dtype); });
  }
}

bool fits(const Scalar& integer, Dtype dtype) {
  return as_integer(dtype, [&](auto t) { return holds<decltype(t)>(integer); });
}

}  // namespace nervanagpu
