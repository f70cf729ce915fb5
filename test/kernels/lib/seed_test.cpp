// Division and square root do not depend on MUFU's table: the iterations of kernels/lib/ops.sass, here in C++, end
// correctly rounded whatever the seed's error up to four units in the last place (the chip's is below three). A step
// fewer would not: the emulator's own seeds are too good to show that.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>

namespace {

using u32 = std::uint32_t;

float moved(double exact, int ulps) {
  return std::bit_cast<float>(std::bit_cast<u32>(static_cast<float>(exact)) + static_cast<u32>(ulps));
}

// `steps` is 2 in the kernels, and a correction of the one mantissa that the steps miss.
float reciprocal(float m, int error, int steps, bool last = true) {
  float y = moved(1.0 / m, error);
  for (int k = 0; k < steps; ++k) y = std::fma(y, std::fma(y, -m, 1.0F), y);
  const u32 greatest = last && std::bit_cast<u32>(m) == 0x3fffffff ? 1 : 0;
  return std::bit_cast<float>(std::bit_cast<u32>(y) | greatest);
}

float quotient(float a, float b, int error, int steps, bool last = true) {
  const float y = reciprocal(b, error, steps, last);
  const float q = a * y;
  return std::fma(std::fma(q, -b, a), y, q);
}

// `steps` is 1 in the kernels, before a last one of g alone.
float root(float m, int error, int steps) {
  const float y = moved(1.0 / std::sqrt(static_cast<double>(m)), error);
  float g = m * y, h = y * 0.5F;
  for (int k = 0; k < steps; ++k) {
    const float r = std::fma(g, -h, 0.5F);
    g = std::fma(g, r, g);
    h = std::fma(h, r, h);
  }
  return std::fma(std::fma(g, -g, m), h, g);
}

// A mantissa in [1, 2).
float mantissa(u32 m) {
  return std::bit_cast<float>(0x3f800000u | (m & 0x7fffff));
}

constexpr int kErrors[] = {-4, -3, -2, -1, 0, 1, 2, 3, 4};
constexpr u32 kStride = 7;  // 1: every mantissa

TEST(Seeds, Reciprocal) {
  u32 wrong = 0, wrong_with_less = 0;
  for (u32 m = 0; m < 0x800000; m += kStride) {
    const float x = mantissa(m), want = 1.0F / x;
    for (const int e : kErrors) {
      wrong += reciprocal(x, e, 2) != want ? 1 : 0;
      wrong_with_less += reciprocal(x, e, 1) != want ? 1 : 0;
    }
  }
  EXPECT_EQ(wrong, 0u);
  EXPECT_GT(wrong_with_less, 0u);
  const float greatest = mantissa(0x7fffff);
  EXPECT_NE(reciprocal(greatest, -1, 2, false), 1.0F / greatest);
  for (const int e : kErrors) EXPECT_EQ(reciprocal(greatest, e, 2), 1.0F / greatest) << e;
}

TEST(Seeds, Root) {
  u32 wrong = 0, wrong_with_less = 0;
  for (u32 m = 0; m < 0x1000000; m += kStride) {
    const float x = mantissa(m) * (m < 0x800000 ? 1.0F : 0.5F), want = std::sqrt(x);
    for (const int e : kErrors) {
      wrong += root(x, e, 1) != want ? 1 : 0;
      wrong_with_less += root(x, e, 0) != want ? 1 : 0;
    }
  }
  EXPECT_EQ(wrong, 0u);
  EXPECT_GT(wrong_with_less, 0u);
}

// Quotients beside a middle, where the least error shows; and all divisors' mantissas with a random dividend.
TEST(Seeds, Quotient) {
  std::mt19937 random(1);
  u32 wrong = 0, wrong_with_less = 0;
  const auto judge = [&](float a, float b) {
    const float want = a / b;
    for (const int e : kErrors) {
      wrong += quotient(a, b, e, 2) != want ? 1 : 0;
      wrong_with_less += quotient(a, b, e, 1) != want ? 1 : 0;
    }
  };
  for (int i = 0; i < 600000; ++i) {
    const u32 b = i % 4 != 0 ? (random() & 0x7fffff) | 0x800001 : 0xffffff - random() % 8 * 2;
    const int r = static_cast<int>(random() % 8) * 2 - 7;
    u32 inverse = b;
    for (int k = 0; k < 4; ++k) inverse *= 2 - b * inverse;
    const u32 middle = (0u - static_cast<u32>(r)) * inverse & 0x1ffffff;
    const std::uint64_t a =
        (std::uint64_t{middle} * b + static_cast<std::uint64_t>(static_cast<std::int64_t>(r))) >> 25;
    if (a >= 0x800000 && a < 0x1000000) judge(mantissa(static_cast<u32>(a)), mantissa(b));
  }
  for (u32 m = 0; m < 0x800000; m += kStride * 2) judge(mantissa(random()), mantissa(m));
  EXPECT_EQ(wrong, 0u);
  EXPECT_GT(wrong_with_less, 0u);
}

}  // namespace
