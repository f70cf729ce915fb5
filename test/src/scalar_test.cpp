// Numbers of every dtype on the host, and the conversions of halves.
#include "src/numbers/scalar.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "nervanagpu/error.hpp"
#include "src/numbers/half.h"
#include "test/src/expect_error.h"

namespace nervanagpu {
namespace {

// The value of float16 bits, by the definition of the format.
double half_value(std::uint32_t bits) {
  const double sign = (bits & 0x8000U) != 0 ? -1.0 : 1.0;
  const auto exponent = static_cast<int>(bits >> 10 & 31U);
  const double fraction = bits & 1023U;
  if (exponent == 31) return fraction == 0.0 ? sign * INFINITY : NAN;
  return sign * (exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024.0 + fraction, exponent - 25));
}

TEST(Half, EveryValueConvertsToItself) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const double value = half_value(bits);
    if (std::isnan(value)) continue;
    EXPECT_EQ(half_bits(value), bits) << value;
  }
  EXPECT_EQ(half_bits(NAN) & 0x7fff, 0x7e00);
}

TEST(Half, RoundsToNearestAndMidpointsToEven) {
  for (std::uint32_t bits = 0; bits < 0x7bff; ++bits) {
    const double low = half_value(bits);
    const double high = half_value(bits + 1);
    const double middle = (low + high) / 2;
    EXPECT_EQ(half_bits(middle), (bits & 1U) == 0 ? bits : bits + 1) << middle;
    EXPECT_EQ(half_bits(std::nextafter(middle, 0.0)), bits) << middle;
    EXPECT_EQ(half_bits(std::nextafter(middle, INFINITY)), bits + 1) << middle;
  }
  EXPECT_EQ(half_bits(65519.999), 0x7bff);
  EXPECT_EQ(half_bits(65520.0), 0x7c00);
  EXPECT_EQ(half_bits(-1e300), 0xfc00);
}

TEST(Bfloat, EveryValueConvertsToItselfAndMidpointsToEven) {
  for (std::uint32_t bits = 0; bits < 0x7f80; ++bits) {
    const double low = bfloat_value(static_cast<std::uint16_t>(bits));
    EXPECT_EQ(
        low, bits < 0x80 ? std::ldexp(bits, -133) : std::ldexp(128 + (bits & 127U), static_cast<int>(bits >> 7) - 134));
    EXPECT_EQ(bfloat_bits(low), bits);
    EXPECT_EQ(bfloat_bits(-low), bits | 0x8000U);
    const double high = bits == 0x7f7f ? std::ldexp(1.0, 128) : bfloat_value(static_cast<std::uint16_t>(bits + 1));
    const auto middle = static_cast<float>((low + high) / 2);
    EXPECT_EQ(bfloat_bits(middle), (bits & 1U) == 0 ? bits : bits + 1) << middle;
    EXPECT_EQ(bfloat_bits(std::nextafter(middle, 0.0F)), bits) << middle;
    EXPECT_EQ(bfloat_bits(std::nextafter(middle, INFINITY)), bits + 1) << middle;
  }
  EXPECT_EQ(bfloat_bits(1e39), 0x7f80);
  EXPECT_EQ(bfloat_bits(-INFINITY), 0xff80);
  EXPECT_EQ(bfloat_bits(NAN) & 0x7fff, 0x7fc0);
  EXPECT_TRUE(std::isnan(bfloat_value(0xffff)));
}

template <class T>
T as(const ScalarBits& bits) {
  T out;
  std::memcpy(&out, bits.data(), sizeof out);
  return out;
}

TEST(Scalar, IntegersHoldTheirWholeRange) {
  EXPECT_EQ(as<std::int8_t>(scalar_bits(-128, Dtype::int8)), -128);
  EXPECT_EQ(as<std::uint8_t>(scalar_bits(255.9, Dtype::uint8)), 255);
  EXPECT_EQ(as<std::int64_t>(scalar_bits(-std::ldexp(1.0, 63), Dtype::int64)),
            std::numeric_limits<std::int64_t>::min());
  expect_error<OutOfRange>([] { scalar_bits(128, Dtype::int8); },
                           "number 128 does not fit into dtype int8, which holds -128 to 127");
  expect_error<OutOfRange>([] { scalar_bits(-1.0, Dtype::uint32); },
                           "number -1.000000 does not fit into dtype uint32, which holds 0 to 4294967295");
  EXPECT_THROW(scalar_bits(std::ldexp(1.0, 63), Dtype::int64), OutOfRange);
  EXPECT_THROW(scalar_bits(std::ldexp(1.0, 64), Dtype::uint64), OutOfRange);
  expect_error<InvalidArgument>([] { scalar_bits(NAN, Dtype::int8); },
                                "number nan does not fit into dtype int8, which holds -128 to 127");
}

TEST(Scalar, IntegersOf64BitsAreExact) {
  constexpr auto kMost = std::numeric_limits<std::uint64_t>::max();
  constexpr auto kLeast = std::numeric_limits<std::int64_t>::min();
  EXPECT_EQ(as<std::uint64_t>(scalar_bits(kMost, Dtype::uint64)), kMost);
  EXPECT_EQ(as<std::int64_t>(scalar_bits(kLeast, Dtype::int64)), kLeast);
  EXPECT_EQ(as<std::int64_t>(scalar_bits((std::int64_t{1} << 53) + 1, Dtype::int64)), (std::int64_t{1} << 53) + 1);
  EXPECT_EQ(as<double>(scalar_bits(kMost, Dtype::float64)), 0x1p64);
  EXPECT_EQ(as<float>(scalar_bits(Scalar::beyond(0x1p70), Dtype::float32)), 0x1p70F);
  expect_error<OutOfRange>([] { scalar_bits(kMost, Dtype::int64); },
                           "number 18446744073709551615 does not fit into dtype int64, which holds "
                           "-9223372036854775808 to 9223372036854775807");
  EXPECT_THROW(scalar_bits(kLeast, Dtype::uint64), OutOfRange);
  EXPECT_THROW(scalar_bits(Scalar::beyond(-0x1p70), Dtype::int64), OutOfRange);
  EXPECT_THROW(scalar_bits(Scalar::beyond(INFINITY), Dtype::float64), OutOfRange);
}

TEST(Scalar, Floats) {
  EXPECT_EQ(as<float>(scalar_bits(0.1, Dtype::float32)), 0.1F);
  EXPECT_EQ(as<double>(scalar_bits(0.1, Dtype::float64)), 0.1);
  EXPECT_EQ(as<std::uint8_t>(scalar_bits(0.5, Dtype::boolean)), 1);
}

}  // namespace
}  // namespace nervanagpu
