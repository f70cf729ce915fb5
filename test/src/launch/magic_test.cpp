// Division by magic numbers. The product's error grows with a, and only a = d - 1 (mod d) is close enough to the next
// quotient to feel it: the greatest such a, and 2^31 - 1, stand for all a of a divisor.
#include "src/launch/magic.h"

#include <gtest/gtest.h>

#include <random>

#include "nervanagpu/error.hpp"

namespace nervanagpu {
namespace {

constexpr std::uint32_t kLast = 0x7fffffff;

void expect_exact(std::uint32_t d) {
  const Magic m = magic(d);
  ASSERT_GE(m.mul, 0x80000000u) << d;
  ASSERT_LE(m.shift, 31u) << d;
  const auto worst = static_cast<std::uint32_t>(0x80000000ull / d * d - 1);
  for (const std::uint32_t a : {0u, 1u, d - 1, d, worst, kLast - 1, kLast}) {
    ASSERT_EQ(divide(a, m), a / d) << a << " / " << d;
  }
}

TEST(Magic, EveryDivisorUpTo300000) {
  for (std::uint32_t d = 1; d <= 300000; ++d) expect_exact(d);
}

TEST(Magic, DivisorsAroundPowersOfTwoAndAtTheEnd) {
  for (unsigned k = 0; k < 31; ++k) {
    const std::uint32_t p = 1u << k;
    for (std::uint32_t off = 0; off <= 64; ++off) {
      if (p > off) expect_exact(p - off);
      if (off <= kLast - p) expect_exact(p + off);
    }
  }
  for (std::uint32_t off = 0; off < 1000; ++off) expect_exact(kLast - off);
}

TEST(Magic, RandomDivisorsAndDividends) {
  std::mt19937 random(1);
  for (int i = 0; i < 300000; ++i) {
    const std::uint32_t d = std::max<std::uint32_t>(1, (random() >> 1) >> random() % 31);
    expect_exact(d);
    const std::uint32_t a = (random() >> 1) >> random() % 31;
    ASSERT_EQ(divide(a, magic(d)), a / d) << a << " / " << d;
  }
}

TEST(Magic, OneIsNoSpecialCase) {
  EXPECT_EQ(magic(1).mul, 0x80000000u);
  EXPECT_EQ(magic(1).shift, 0u);
}

TEST(Magic, RefusesDivisorsOutOfRange) {
  EXPECT_THROW(magic(0), InvalidArgument);
  EXPECT_THROW(magic(0x80000000u), InvalidArgument);
  EXPECT_THROW(magic(0xffffffffu), InvalidArgument);
}

}  // namespace
}  // namespace nervanagpu
