// Philox against its published vectors, and stochastic rounding counted: src/numbers/round.h over every pattern of discarded
// bits, then the kernels' macros against it bit for bit.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "src/numbers/half.h"
#include "src/numbers/philox.h"
#include "src/numbers/round.h"
#include "test/kernels/lib/macro_harness.h"

namespace nervanagpu::test {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

float as_float(u32 x) {
  return std::bit_cast<float>(x);
}
u32 bits_of(float x) {
  return std::bit_cast<u32>(x);
}

// ---- Philox ----------------------------------------------------------------------------------------------------------

TEST(Philox, PublishedVectors) {
  constexpr u32 kOnes = ~0u;
  EXPECT_EQ(philox4x32({0, 0, 0, 0}, {0, 0}), (PhiloxWords{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox4x32({kOnes, kOnes, kOnes, kOnes}, {kOnes, kOnes}),
            (PhiloxWords{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (PhiloxWords{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Philox, KernelsGiveTheSameBits) {
  std::vector<Words> in(4);
  for (unsigned k = 0; k < 4; ++k) {
    in[k] = random_words(30 + k, 3000);
    for (std::size_t i = 0; i < edges().size(); ++i) in[k][i] = edges()[(i * (2 * k + 1)) % edges().size()];
    in[k][0] = 0;
    in[k][1] = ~0u;
  }
  std::vector<Words> want(4, Words(3000));
  for (std::size_t i = 0; i < 3000; ++i) {
    const PhiloxWords w = philox(in[0][i] | u64{in[1][i]} << 32, in[2][i] | u64{in[3][i]} << 32);
    for (unsigned k = 0; k < 4; ++k) want[k][i] = w[k];
  }
  EXPECT_EQ(want[0][0], 0x6627e8d5u);
  const std::vector<Words> twice = {want[0], want[1], want[2], want[3], want[0], want[1], want[2], want[3]};
  // Into registers of its own, and over the counter; over the key.
  expect_macros(
      {.body = "philox(y, x, x[2])\nmov(y[4], x[2])\nmov(y[5], x[3])\nphilox(y[4], x, y[4])\n", .in = in, .outs = 8},
      twice);
  expect_macros(
      {.body = "mov(y[4], x[0])\nmov(y[5], x[1])\nmov(y[6], x[2])\nmov(y[7], x[3])\nphilox(y[4], y[4], y[6])\n"
               "philox(y, x[0], x[2])\n",
       .in = in,
       .outs = 8},
      twice);
}

// ---- The twin, counted -----------------------------------------------------------------------------------------------

double value_of_half(u32 h) {
  const int exponent = static_cast<int>(h >> 10 & 31);
  const int mantissa = static_cast<int>(h & 1023);
  return exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
}

// How many of the 2^32 random words round x up: the twin's answer falls from up to down once, at the count itself.
template <class Up>
u64 count_up(Up up) {
  u64 low = 0, high = u64{1} << 32;
  while (low < high) {
    const u64 middle = (low + high) / 2;
    if (up(static_cast<u32>(middle))) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

// The result is a neighbour among the multiples of the last place, the upper one for exactly the discarded share of the
// random words.
void expect_f16_share(float x, unsigned bits) {
  const double size = std::fabs(static_cast<double>(x));
  const int exponent = std::ilogb(size);
  const double place = exponent >= -14 ? std::ldexp(1.0, exponent - static_cast<int>(bits)) : std::ldexp(1.0, -24);
  const double below = std::floor(size / place) * place;
  const double share = (size - below) / place;
  const u32 sign = std::signbit(x) ? 0x8000 : 0;
  const u32 down = sign | half_bits(below), up = sign | half_bits(below + place);
  const u64 ups = count_up([&](u32 r) { return share != 0 && round_f16(x, r, bits) == up; });
  ASSERT_EQ(static_cast<double>(ups), std::floor(share * 0x1p32)) << x << ", " << bits << " bits";
  if (exponent >= -33) {  // 32 bits tell every share exactly
    ASSERT_EQ(share * 0x1p32, std::floor(share * 0x1p32));
  }
  for (const u64 r : {u64{0}, ups - 1, ups, u64{0xffffffff}}) {
    if (r > 0xffffffff) continue;
    ASSERT_EQ(round_f16(x, static_cast<u32>(r), bits), r < ups ? up : down) << x << ", " << bits << " bits, " << r;
  }
}

TEST(RoundF16, EveryPatternOfDiscardedBitsAtEveryExponent) {
  std::mt19937 random(1);
  for (int exponent = -26; exponent <= 14; ++exponent) {
    const unsigned discarded = exponent >= -14 ? 13 : static_cast<unsigned>(std::min(-1 - exponent, 23));
    const u32 patterns = 1u << std::min(discarded, 13u);
    for (u32 k = 0; k < patterns; ++k) {
      // Of more than 13 discarded bits: all patterns of the upper 13 with lower bits at random, and with none.
      u32 mantissa = (random() & 0x7fffff) >> discarded << discarded;
      mantissa |= discarded > 13 ? k << (discarded - 13) : k;
      if (discarded > 13 && k % 2 != 0) mantissa |= random() & ((1u << (discarded - 13)) - 1);
      const u32 word = static_cast<u32>(exponent + 127) << 23 | (mantissa & 0x7fffff) | (k & 1) << 31;
      expect_f16_share(as_float(word), 10);
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
}

TEST(RoundF16, FewerBits) {
  std::mt19937 random(2);
  for (unsigned bits = 1; bits <= 10; ++bits) {
    for (int exponent = -40; exponent <= 14; ++exponent) {
      for (int k = 0; k < 60; ++k) {
        const u32 word = static_cast<u32>(exponent + 127) << 23 | (random() & 0x7fffff) | (random() & 0x80000000u);
        expect_f16_share(as_float(word), bits);
        if (::testing::Test::HasFatalFailure()) return;
      }
    }
  }
}

TEST(RoundF16, TheMeanIsTheValue) {
  // All 2^13 values of the random bits that matter: the results' sum is 2^13 times the value, exactly.
  std::mt19937 random(3);
  for (int exponent = -14; exponent <= 14; ++exponent) {
    for (int k = 0; k < 20; ++k) {
      const float x = as_float(static_cast<u32>(exponent + 127) << 23 | (random() & 0x7fffff));
      double sum = 0;
      for (u32 r = 0; r < 8192; ++r) sum += value_of_half(round_f16(x, r << 19 | (random() & 0x7ffff), 10));
      ASSERT_EQ(sum, 8192 * static_cast<double>(x)) << x;
    }
  }
}

TEST(RoundF16, WhatCanBeKeptStays) {
  const Words random = random_words(4, 16);
  for (u32 h = 0; h < 0x7c00; ++h) {
    for (const u32 sign : {0u, 0x8000u}) {
      const auto x = static_cast<float>(sign != 0 ? -value_of_half(h) : value_of_half(h));
      for (const u32 r : {0u, random[h % 16], 0xffffffffu}) ASSERT_EQ(round_f16(x, r, 10), h | sign);
    }
  }
}

TEST(RoundF16, TheEndsOfTheRange) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  for (const u32 r : {0u, 0x7fffffffu, 0x80000000u, 0xffffffffu}) {
    for (unsigned bits = 1; bits <= 10; ++bits) {
      const u32 largest = 0x7bff >> (10 - bits) << (10 - bits);
      const auto x = static_cast<float>(value_of_half(largest));
      const float middle = x + std::ldexp(0.5F, 15 - static_cast<int>(bits));  // to 2^16: infinity from here on
      EXPECT_EQ(round_f16(x, r, bits), largest);
      EXPECT_EQ(round_f16(std::nextafter(middle, 0.0F), r, bits), largest) << bits;
      EXPECT_EQ(round_f16(middle, r, bits), 0x7c00) << bits;
      EXPECT_EQ(round_f16(-middle, r, bits), 0xfc00) << bits;
      EXPECT_EQ(round_f16(-std::nextafter(middle, 0.0F), r, bits), largest | 0x8000) << bits;
      EXPECT_EQ(round_f16(65536.0F, r, bits), 0x7c00);
      EXPECT_EQ(round_f16(3e38F, r, bits), 0x7c00);
      EXPECT_EQ(round_f16(-kInf, r, bits), 0xfc00);
      EXPECT_EQ(round_f16(0.0F, r, bits), 0);
      EXPECT_EQ(round_f16(-0.0F, r, bits), 0x8000);
      EXPECT_EQ(round_f16(std::nanf(""), r, bits), 0x7fff);
      EXPECT_EQ(round_f16(as_float(0xff800001), r, bits), 0x7fff);
    }
    EXPECT_EQ(round_f16(65519.99F, r, 10), half_bits(65519.99)) << "as nearest";
    EXPECT_EQ(round_f16(65520.0F, r, 10), half_bits(65520.0));
  }
}

TEST(RoundBf16, EverySharePerBitsAndExponent) {
  std::mt19937 random(7);
  for (unsigned bits = 1; bits <= 7; ++bits) {
    for (u32 exponent = 0; exponent <= 253; ++exponent) {  // 0: subnormal, with the type's own last place
      for (int k = 0; k < 8; ++k) {
        const u32 word = exponent << 23 | (random() & 0x7fffff) | (random() & 0x80000000u);
        const unsigned j = exponent == 0 ? 16 : 23 - bits;
        const u32 discarded = word & ((1u << j) - 1);
        const u32 down = (word - discarded) >> 16, up = (word - discarded + (1u << j)) >> 16;
        const float x = as_float(word);
        const u64 ups = count_up([&](u32 r) { return discarded != 0 && round_bf16(x, r, bits) == up; });
        ASSERT_EQ(ups, u64{discarded} << (32 - j)) << x << ", " << bits << " bits";
        ASSERT_EQ(round_bf16(x, static_cast<u32>(ups), bits), down);
        ASSERT_EQ(round_bf16(x, 0xffffffff, bits), down);
      }
    }
  }
}

TEST(RoundBf16, TheEndsOfTheRange) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  for (const u32 r : {0u, 0x7fffffffu, 0x80000000u, 0xffffffffu}) {
    for (unsigned bits = 1; bits <= 7; ++bits) {
      const u32 largest = 0x7f7fffff >> (23 - bits) << (23 - bits);
      const u32 middle = largest + (1u << (22 - bits));
      EXPECT_EQ(round_bf16(as_float(largest), r, bits), largest >> 16);
      EXPECT_EQ(round_bf16(as_float(middle - 1), r, bits), largest >> 16);
      EXPECT_EQ(round_bf16(as_float(middle), r, bits), 0x7f80);
      EXPECT_EQ(round_bf16(-as_float(middle), r, bits), 0xff80);
      EXPECT_EQ(round_bf16(-kInf, r, bits), 0xff80);
      EXPECT_EQ(round_bf16(-0.0F, r, bits), 0x8000);
      EXPECT_EQ(round_bf16(as_float(0xffc00000), r, bits), 0x7fff);
      EXPECT_EQ(round_bf16(as_float(0x00010000), r, bits), 1);
    }
  }
}

TEST(RoundF32, EverySharePerBitsAndExponent) {
  std::mt19937 random(5);
  for (unsigned bits = 1; bits <= 15; ++bits) {
    for (int exponent = -126; exponent <= 126; ++exponent) {
      for (int k = 0; k < 6; ++k) {
        const u32 word = static_cast<u32>(exponent + 127) << 23 | (random() & 0x7fffff) | (random() & 0x80000000u);
        const u32 discarded = word & ((1u << (23 - bits)) - 1);
        const u32 down = word - discarded, up = down + (1u << (23 - bits));
        const float x = as_float(word);
        const u64 ups = count_up([&](u32 r) { return bits_of(round_f32(x, r, bits)) == up; });
        ASSERT_EQ(ups, u64{discarded} << (9 + bits)) << x << ", " << bits << " bits";
        ASSERT_EQ(bits_of(round_f32(x, static_cast<u32>(ups), bits)), down);
        ASSERT_EQ(bits_of(round_f32(x, 0xffffffff, bits)), down);
      }
    }
  }
}

TEST(RoundF32, TheEndsOfTheRange) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  for (const u32 r : {0u, 0x7fffffffu, 0x80000000u, 0xffffffffu}) {
    for (unsigned bits = 1; bits <= 15; ++bits) {
      const u32 largest = 0x7f7fffff >> (23 - bits) << (23 - bits);
      const u32 middle = largest + (1u << (22 - bits));
      EXPECT_EQ(bits_of(round_f32(as_float(largest), r, bits)), largest);
      EXPECT_EQ(bits_of(round_f32(as_float(middle - 1), r, bits)), largest);
      EXPECT_EQ(round_f32(as_float(middle), r, bits), kInf);
      EXPECT_EQ(round_f32(-as_float(middle), r, bits), -kInf);
      EXPECT_EQ(round_f32(as_float(0x7f7fffff), r, bits), kInf);
      EXPECT_EQ(round_f32(-kInf, r, bits), -kInf);
      EXPECT_EQ(bits_of(round_f32(-0.0F, r, bits)), 0x80000000u);
      EXPECT_EQ(bits_of(round_f32(as_float(0xffc00000), r, bits)), 0x7fffffffu);
      for (const u32 subnormal : {1u, 0x123456u, 0x7fffffu, 0x80000001u}) {
        EXPECT_EQ(bits_of(round_f32(as_float(subnormal), r, bits)), subnormal);
      }
    }
  }
}

TEST(Rounding, KernelsRoundBf16AsTheTwinDoes) {
  std::mt19937 random(8);
  Words x = float_edges();
  for (int i = 0; i < 60000; ++i) {
    u32 word = random();
    if (i % 4 == 0) word &= 0x807fffff;  // subnormal
    if (i % 8 == 1) word |= 0x7f000000;  // the largest, infinities, NaN
    if (i % 5 == 0) word &= ~0u << (random() % 24);
    x.push_back(word);
  }
  Words r(x.size()), b(x.size()), some, seven;
  for (std::size_t i = 0; i < x.size(); ++i) {
    b[i] = 1 + static_cast<u32>(random() % 7);
    r[i] = random();
    const unsigned j = (x[i] & 0x7f800000) == 0 ? 16 : 23 - b[i];
    if (i % 3 != 0) r[i] = (x[i] << (32 - j)) + static_cast<u32>(random() % 3) - 1;  // beside the share
    some.push_back(round_bf16(as_float(x[i]), r[i], b[i]));
    seven.push_back(round_bf16(as_float(x[i]), r[i], 7));
  }
  expect_macros({.body = "round_to_bf16(y[0], x[0], x[1], x[2])\nround_to_bf16(y[1], x[0], x[1], 7)\n"
                         "mov(y[2], x[0])\nround_to_bf16(y[2], y[2], x[1], x[2])\n"         // d is x,
                         "mov(y[3], x[1])\nround_to_bf16(y[3], x[0], y[3], x[2])\n"         // the random word,
                         "mov(y[4], x[2])\nround_to_half(y[4], x[0], x[1], y[4], bf16)\n",  // the bits
                 .in = {x, r, b},
                 .outs = 5},
                {some, seven, some, some, some});
}

TEST(RoundS8, SharesAndEnds) {
  std::mt19937 random(9);
  for (int i = 0; i < 20000; ++i) {
    const auto x = static_cast<float>((static_cast<double>(random()) / 4294967296.0 - 0.5) * 260);
    const double size = std::fabs(std::clamp(static_cast<double>(x), -128.0, 127.0));
    const double below = std::floor(size), share = size - below;
    const int sign = x < 0 ? -1 : 1;
    const u64 ups = count_up([&](u32 r) { return share != 0 && round_s8(x, r) == sign * (below + 1); });
    ASSERT_EQ(static_cast<double>(ups), std::floor(share * 0x1p32)) << x;
    ASSERT_EQ(round_s8(x, 0xffffffff), sign * below) << x;
  }
  for (const u32 r : {0u, 0x80000000u, 0xffffffffu}) {
    for (int k = -128; k < 128; ++k) ASSERT_EQ(round_s8(static_cast<float>(k), r), k);
    EXPECT_EQ(round_s8(127.5F, r), 127);
    EXPECT_EQ(round_s8(std::numeric_limits<float>::infinity(), r), 127);
    EXPECT_EQ(round_s8(-1e30F, r), -128);
    EXPECT_EQ(round_s8(std::nanf(""), r), 0);
    EXPECT_EQ(round_s8(1e-30F, r), 0);
    EXPECT_EQ(round_s8(-0.0F, r), 0);
  }
  EXPECT_EQ(round_s8(0.25F, 0x3fffffff), 1);
  EXPECT_EQ(round_s8(0.25F, 0x40000000), 0);
}

TEST(Rounding, KernelsSaturateInt8AsTheTwinDoes) {
  std::mt19937 random(10);
  Words x = float_edges(), r, at_random, nearest;
  for (int i = 0; i < 60000; ++i) {
    const double v = (static_cast<double>(random()) / 4294967296.0 - 0.5) * (i % 3 == 0 ? 300 : 8);
    x.push_back(i % 7 == 0 ? random() : bits_of(static_cast<float>(i % 2 == 0 ? std::round(v * 2) / 2 : v)));
  }
  for (const u32 w : x) {
    const float v = as_float(w);
    r.push_back(random());
    at_random.push_back(static_cast<u32>(std::int32_t{round_s8(v, r.back())}));
    const float cut = std::isnan(v) ? 0.0F : std::clamp(v, -128.0F, 127.0F);
    nearest.push_back(static_cast<u32>(static_cast<std::int32_t>(std::nearbyint(cut))));
  }
  expect_macros({.body = "round_to_s8(y[0], x[0], x[1])\nf32_to_s8(y[1], x[0])\nmov(y[2], x[0])\n"
                         "round_to_s8(y[2], y[2], x[1])\nmov(y[3], x[1])\nround_to_s8(y[3], x[0], y[3])\n"
                         "mov(y[4], x[0])\nf32_to_s8(y[4], y[4])\n",
                 .in = {x, r},
                 .outs = 5},
                {at_random, nearest, at_random, at_random, nearest});
}

// ---- The kernels -----------------------------------------------------------------------------------------------------

TEST(Rounding, KernelsGiveTheTwinsBits) {
  std::mt19937 random(6);
  Words x = float_edges();
  for (int i = 0; i < 20000; ++i) x.push_back(random());
  for (int i = 0; i < 60000; ++i) {  // the range of float16, and what is below it by up to 32 bits
    const auto exponent = static_cast<u32>(127 - 58 + random() % 76);
    u32 word = exponent << 23 | (random() & 0x7fffff) | (random() & 0x80000000u);
    if (i % 4 == 0) word &= ~0u << (random() % 24);  // what can be kept
    x.push_back(word);
  }
  // Few are decided by the random word unless it lies at the share.
  Words r(x.size()), b(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    b[i] = 1 + static_cast<u32>(random() % 15);
    r[i] = random();
    const int exponent = static_cast<int>(x[i] >> 23 & 0xff) - 127;
    const bool half = i % 2 == 0;
    const unsigned kept = half ? std::min(b[i], 10u) : b[i];
    const int j = half && exponent < -14 ? -1 - exponent : 23 - static_cast<int>(kept);
    if (i % 3 != 0 && j > 0 && j < 64) {
      const u64 significand = (x[i] & 0x7fffff) | 0x800000;
      r[i] = static_cast<u32>(j <= 32 ? significand << (32 - j) : significand >> (j - 32));
      r[i] += static_cast<u32>(random() % 3) - 1;
    }
  }
  Words f16, f32, ten, fifteen, b16;
  for (std::size_t i = 0; i < x.size(); ++i) {
    b16.push_back(std::min(b[i], 10u));
    f16.push_back(round_f16(as_float(x[i]), r[i], b16[i]));
    f32.push_back(bits_of(round_f32(as_float(x[i]), r[i], b[i])));
    ten.push_back(round_f16(as_float(x[i]), r[i], 10));
    fifteen.push_back(bits_of(round_f32(as_float(x[i]), r[i], 15)));
  }
  expect_macros({.body = "round_to_f16(y[0], x[0], x[1], x[2])\nround_to_f32(y[1], x[0], x[1], x[3])\n"
                         "round_to_f16(y[2], x[0], x[1], 10)\nround_to_f32(y[3], x[0], x[1], 15)\n",
                 .in = {x, r, b16, b},
                 .outs = 4},
                {f16, f32, ten, fifteen});
  expect_macros({.body = "mov(y[0], x[0])\nround_to_f16(y[0], y[0], x[1], x[2])\n"  // d is x,
                         "mov(y[1], x[1])\nround_to_f16(y[1], x[0], y[1], x[2])\n"  // the random word,
                         "mov(y[2], x[2])\nround_to_f16(y[2], x[0], x[1], y[2])\n"  // the bits
                         "mov(y[3], x[0])\nround_to_f32(y[3], y[3], x[1], x[3])\n"
                         "mov(y[4], x[1])\nround_to_f32(y[4], x[0], y[4], x[3])\n"
                         "mov(y[5], x[3])\nround_to_f32(y[5], x[0], x[1], y[5])\n",
                 .in = {x, r, b16, b},
                 .outs = 6},
                {f16, f16, f16, f32, f32, f32});
}

}  // namespace
}  // namespace nervanagpu::test
