#include "src/scalar.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <string>

#include "nervanagpu/error.hpp"
#include "src/half.h"

namespace nervanagpu {
namespace {

template <class T>
ScalarBits as_bits(T value) {
  ScalarBits out{};
  std::memcpy(out.data(), &value, sizeof value);
  return out;
}

template <class T>
ScalarBits integer_bits(double value, Dtype dtype) {
  const double cut = std::trunc(value);
  // 2^digits is exact in double where max() of a 64-bit type is not.
  const double limit = std::ldexp(1.0, std::numeric_limits<T>::digits);
  const double low = std::numeric_limits<T>::is_signed ? -limit : 0.0;
  if (!(cut >= low && cut < limit)) {
    throw InvalidArgument("value " + std::to_string(value) + " does not fit into dtype " + std::string(name_of(dtype)));
  }
  return as_bits(static_cast<T>(cut));
}

}  // namespace

ScalarBits scalar_bits(double value, Dtype dtype) {
  switch (dtype) {
    case Dtype::float16: return as_bits(half_bits(value));
    case Dtype::bfloat16: return as_bits(bfloat_bits(value));
    case Dtype::float32: return as_bits(static_cast<float>(value));
    case Dtype::float64: return as_bits(value);
    case Dtype::int8: return integer_bits<std::int8_t>(value, dtype);
    case Dtype::int16: return integer_bits<std::int16_t>(value, dtype);
    case Dtype::int32: return integer_bits<std::int32_t>(value, dtype);
    case Dtype::int64: return integer_bits<std::int64_t>(value, dtype);
    case Dtype::uint8: return integer_bits<std::uint8_t>(value, dtype);
    case Dtype::uint16: return integer_bits<std::uint16_t>(value, dtype);
    case Dtype::uint32: return integer_bits<std::uint32_t>(value, dtype);
    case Dtype::uint64: return integer_bits<std::uint64_t>(value, dtype);
    case Dtype::boolean: return as_bits(static_cast<std::uint8_t>(value != 0.0 ? 1 : 0));
  }
  return {};
}

}  // namespace nervanagpu
