#include "test/gpu/numbers.h"

#include <cmath>
#include <cstring>
#include <stdexcept>

#include "src/numbers/half.h"

namespace nervanagpu::gpu_test {
namespace {

double half_value(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const int fraction = bits & 1023;
  const double sign = (bits & 0x8000) != 0 ? -1.0 : 1.0;
  if (exponent == 31) return fraction != 0 ? std::nan("") : sign * HUGE_VAL;
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  return sign * std::ldexp(1024 + fraction, exponent - 25);
}

template <class T>
void put(Bytes& out, std::size_t i, T value) {
  std::memcpy(out.data() + i * sizeof(T), &value, sizeof(T));
}

template <class T>
T get(const Bytes& in, std::size_t i) {
  T value{};
  std::memcpy(&value, in.data() + i * sizeof(T), sizeof(T));
  return value;
}

[[noreturn]] void unknown(Dtype dtype) {
  throw std::logic_error("no numbers of type " + std::string(name_of(dtype)));
}

}  // namespace

double round_to(double value, Dtype dtype) {
  switch (dtype) {
    case Dtype::float16: return half_value(half_bits(value));
    case Dtype::bfloat16: return bfloat_value(bfloat_bits(value));
    case Dtype::float32: return static_cast<float>(value);
    case Dtype::float64: return value;
    default: return std::nearbyint(value);
  }
}

Bytes encode(const Values& values, Dtype dtype) {
  Bytes out(values.size() * size_of(dtype));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double v = values[i];
    switch (dtype) {
      case Dtype::float16: put(out, i, half_bits(v)); break;
      case Dtype::bfloat16: put(out, i, bfloat_bits(v)); break;
      case Dtype::float32: put(out, i, static_cast<float>(v)); break;
      case Dtype::int8: put(out, i, static_cast<std::int8_t>(v)); break;
      case Dtype::uint8: put(out, i, static_cast<std::uint8_t>(v)); break;
      case Dtype::int32: put(out, i, static_cast<std::int32_t>(v)); break;
      case Dtype::int64: put(out, i, static_cast<std::int64_t>(v)); break;
      case Dtype::float64: put(out, i, v); break;
      default: unknown(dtype);
    }
  }
  return out;
}

Values decode(const Bytes& bytes, Dtype dtype) {
  Values out(bytes.size() / size_of(dtype));
  for (std::size_t i = 0; i < out.size(); ++i) {
    switch (dtype) {
      case Dtype::float16: out[i] = half_value(get<std::uint16_t>(bytes, i)); break;
      case Dtype::bfloat16: out[i] = bfloat_value(get<std::uint16_t>(bytes, i)); break;
      case Dtype::float32: out[i] = get<float>(bytes, i); break;
      case Dtype::int8: out[i] = get<std::int8_t>(bytes, i); break;
      case Dtype::uint8: out[i] = get<std::uint8_t>(bytes, i); break;
      case Dtype::int32: out[i] = get<std::int32_t>(bytes, i); break;
      case Dtype::int64: out[i] = static_cast<double>(get<std::int64_t>(bytes, i)); break;
      case Dtype::float64: out[i] = get<double>(bytes, i); break;
      default: unknown(dtype);
    }
  }
  return out;
}

double rounding_error(double value, Dtype dtype) {
  const double size = std::fabs(value);
  switch (dtype) {
    case Dtype::float16: return std::ldexp(size, -11) + std::ldexp(1.0, -25);
    case Dtype::bfloat16: return std::ldexp(size, -8) + std::ldexp(1.0, -134);
    case Dtype::float32: return std::ldexp(size, -24) + std::ldexp(1.0, -150);
    case Dtype::float64: return std::ldexp(size, -53) + std::ldexp(1.0, -1074);
    default: return 0.0;
  }
}

Values absolute(Values values) {
  for (double& v : values) v = std::fabs(v);
  return values;
}

std::int64_t pick(Random& random, std::int64_t low, std::int64_t high) {
  return std::uniform_int_distribution<std::int64_t>(low, high)(random);
}

Values integers(Random& random, std::int64_t count, int size, Dtype dtype) {
  std::int64_t low = dtype == Dtype::uint8 ? 0 : -size;
  std::int64_t high = size;
  if (size == 0) {
    low = dtype == Dtype::uint8 ? 0 : -128;
    high = dtype == Dtype::uint8 ? 255 : 127;
  }
  const auto span = static_cast<std::uint64_t>(high - low + 1);
  Values out(static_cast<std::size_t>(count));
  for (double& v : out) v = static_cast<double>(low + static_cast<std::int64_t>((random() >> 20) % span));
  return out;
}

Values reals(Random& random, std::int64_t count, Dtype dtype) {
  if (dtype == Dtype::int8 || dtype == Dtype::uint8) return integers(random, count, 0, dtype);
  Values out(static_cast<std::size_t>(count));
  for (double& v : out) {
    v = round_to(std::ldexp(static_cast<double>(static_cast<std::int64_t>(random()) >> 20), -43), dtype);
  }
  return out;
}

}  // namespace nervanagpu::gpu_test
