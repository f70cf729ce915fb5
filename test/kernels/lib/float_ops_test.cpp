// Conversions, maxima, division and square root of kernels/lib/ops.sass: bit for bit what IEEE 754 says, NaN always
// being 0x7fffffff (0x7fff), on both architectures.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "src/numbers/half.h"
#include "test/kernels/lib/macro_harness.h"

namespace nervanagpu::test {
namespace {

using u32 = std::uint32_t;

float as_float(u32 x) {
  return std::bit_cast<float>(x);
}
u32 bits(float x) {
  return x != x ? 0x7fffffffu : std::bit_cast<u32>(x);
}
u32 half(u32 x) {
  return std::isnan(as_float(x)) ? 0x7fffu : half_bits(as_float(x));
}

// The value of float16 bits, by its definition.
u32 from_half(u32 h) {
  const int exponent = static_cast<int>(h >> 10 & 31);
  const int mantissa = static_cast<int>(h & 1023);
  const float sign = (h & 0x8000) != 0 ? -1.0F : 1.0F;
  if (exponent == 31) return mantissa != 0 ? 0x7fffffffu : bits(sign * std::numeric_limits<float>::infinity());
  return bits(sign * (exponent == 0 ? std::ldexp(static_cast<float>(mantissa), -24)
                                    : std::ldexp(static_cast<float>(1024 + mantissa), exponent - 25)));
}

template <class F>
Words map(const Words& x, F f) {
  Words out;
  out.reserve(x.size());
  for (const u32 v : x) out.push_back(f(v));
  return out;
}

Words floats(std::uint32_t seed, std::size_t count) {
  Words out = float_edges();
  std::mt19937 random(seed);
  for (std::size_t i = 0; i < count; ++i) out.push_back(random());
  return out;
}

TEST(FloatOps, EveryFloat16ToFloat32) {
  Words lo, hi;
  for (u32 h = 0; h < 65536; ++h) {
    lo.push_back(h | (h * 40503u) << 16);
    hi.push_back(h << 16 | (h * 40503u & 0xffff));
  }
  Words want;
  for (u32 h = 0; h < 65536; ++h) want.push_back(from_half(h));
  expect_macros({.body = "f16_to_f32(y[0], x[0])\nf16_to_f32(y[1], x[1], 1)\nf16_to_f32(y[2], x[0], half=0)\n"
                         "mov(y[3], x[1])\nf16_to_f32(y[3], y[3], 1)\n",
                 .in = {lo, hi},
                 .outs = 4},
                {want, want, want, want});
}

TEST(FloatOps, Float32ToFloat16) {
  Words x = floats(1, 50000);
  for (u32 h = 0; h < 31744; ++h) {  // each finite number and the middle above it, and just beside that
    const u32 f = from_half(h);
    const u32 middle = bits(static_cast<float>(
        (static_cast<double>(as_float(f)) + (h == 31743 ? 65536.0 : as_float(from_half(h + 1)))) / 2));
    for (const u32 v : {f, middle - 1, middle, middle + 1}) x.push_back(v | (h & 1) << 31);
  }
  const Words y = [&] {
    Words r(x.rbegin(), x.rend());
    return r;
  }();
  Words packed;
  for (std::size_t i = 0; i < x.size(); ++i) packed.push_back(half(x[i]) | half(y[i]) << 16);
  const Words want = map(x, half);
  expect_macros({.body = "f32_to_f16(y[0], x[0])\npack_f16(y[1], x[0], x[1])\nmov(y[2], x[0])\n"
                         "pack_f16(y[2], y[2], x[1])\nmov(y[3], x[1])\npack_f16(y[3], x[0], y[3])\n"
                         "mov(y[4], x[0])\nf32_to_f16(y[4], y[4])\n",
                 .in = {x, y},
                 .outs = 5},
                {want, packed, packed, packed, want});
}

TEST(FloatOps, Bfloat16) {
  // To bfloat16: random floats, and each number with the middle above it and what lies just beside that.
  const auto nearest = [](u32 f) {
    return std::isnan(as_float(f)) ? 0x7fffU : u32{bfloat_bits(static_cast<double>(as_float(f)))};
  };
  Words x = floats(3, 50000);
  for (u32 h = 0; h < 0x7f80; ++h) {
    for (const u32 v : {0x0U, 0x7fffU, 0x8000U, 0x8001U}) x.push_back(h << 16 | v | (h & 1) << 31);
  }
  const Words y(x.rbegin(), x.rend());
  Words packed;
  for (std::size_t i = 0; i < x.size(); ++i) packed.push_back(nearest(x[i]) | nearest(y[i]) << 16);
  const Words want = map(x, nearest);
  expect_macros({.body = "f32_to_bf16(y[0], x[0])\npack_bf16(y[1], x[0], x[1])\nmov(y[2], x[0])\n"
                         "pack_bf16(y[2], y[2], x[1])\nmov(y[3], x[1])\npack_bf16(y[3], x[0], y[3])\n"
                         "mov(y[4], x[0])\nf32_to_bf16(y[4], y[4])\n"
                         "f32_to_half(y[5], x[0], bf16)\npack_half(y[6], x[0], x[1], bf16)\n",
                 .in = {x, y},
                 .outs = 7},
                {want, packed, packed, packed, want, want, packed});
  // And back: the bits are those of a float32's upper half.
  Words both, low, high;
  for (u32 h = 0; h < 65536; ++h) {
    both.push_back(h | (h * 40503u) << 16);
    low.push_back(h << 16);
    high.push_back((h * 40503u) << 16);
  }
  expect_macros({.body = "half_to_f32(y[0], x[0], 0, bf16)\nhalf_to_f32(y[1], x[0], 1, bf16)\nmov(y[2], x[0])\n"
                         "half_to_f32(y[2], y[2], 1, bf16)\n",
                 .in = {both},
                 .outs = 3},
                {low, high, high});
}

TEST(FloatOps, IntegersAndFloats) {
  Words x = edges();
  const Words more = random_words(2, 20000);
  x.insert(x.end(), more.begin(), more.end());
  for (const u32 base : {1u << 24, 1u << 25, 1u << 30, 3u << 30}) {
    for (u32 k = 0; k < 600; ++k) x.push_back(base + k), x.push_back(base - k);
  }
  expect_macros({.body = "s32_to_f32(y[0], x[0])\nu32_to_f32(y[1], x[0])\n", .in = {x}, .outs = 2},
                {map(x, [](u32 v) { return bits(static_cast<float>(static_cast<std::int32_t>(v))); }),
                 map(x, [](u32 v) { return bits(static_cast<float>(v)); })});
  const Words f = floats(3, 50000);
  expect_macros(
      {.body = "f32_to_s32(y[0], x[0])\n", .in = {f}, .outs = 1}, {map(f, [](u32 v) {
        const double d = as_float(v);
        if (d != d) return 0u;
        return static_cast<u32>(static_cast<std::int32_t>(std::trunc(std::clamp(d, -2147483648.0, 2147483647.0))));
      })});
}

TEST(FloatOps, MaximaKeepNaN) {
  const std::vector<Words> in = pairs(float_edges(), 4, 20000);
  const auto maximum = [](u32 a, u32 b) {
    const float x = as_float(a), y = as_float(b);
    if (x != x || y != y) return 0x7fffffffu;
    if (x == 0 && y == 0) return a & b;  // +0 is above -0
    return x > y ? a : b;
  };
  Words want, clamped;
  for (std::size_t i = 0; i < in[0].size(); ++i) {
    want.push_back(maximum(in[0][i], in[1][i]));
    clamped.push_back(maximum(in[0][i], 0));
  }
  expect_macros({.body = "fmax_nan(y[0], x[0], x[1])\nmov(y[1], x[0])\nfmax_nan(y[1], y[1], x[1])\n"
                         "mov(y[2], x[1])\nfmax_nan(y[2], x[0], y[2])\nrelu(y[3], x[0])\nmov(y[4], x[0])\n"
                         "relu(y[4], y[4])\n",
                 .in = in,
                 .outs = 5},
                {want, want, want, clamped, clamped});
}

std::size_t many() {
  return 400000;
}

Words quotients(const std::vector<Words>& in) {
  Words want;
  want.reserve(in[0].size());
  for (std::size_t i = 0; i < in[0].size(); ++i) want.push_back(bits(as_float(in[0][i]) / as_float(in[1][i])));
  return want;
}

TEST(FloatOps, QuotientsAreCorrectlyRounded) {
  const std::vector<Words> in = pairs(float_edges(), 5, many());
  const Words want = quotients(in);
  expect_macros({.body = "div(y[0], x[0], x[1])\n", .in = in, .outs = 1}, {want});
  std::vector<Words> few = in;
  for (Words& x : few) x.resize(60000);
  const Words short_want(want.begin(), want.begin() + 60000);
  Words ones;
  for (const u32 a : few[0]) ones.push_back(bits(as_float(a) / as_float(a)));
  expect_macros({.body = "mov(y[0], x[0])\ndiv(y[0], y[0], x[1])\nmov(y[1], x[1])\ndiv(y[1], x[0], y[1])\n"
                         "mov(y[2], x[0])\ndiv(y[2], y[2], y[2])\nmov(y[3], x[0])\nmov(y[4], x[1])\n",
                 .in = few,
                 .outs = 5},
                {short_want, short_want, ones, few[0], few[1]});
}

// Quotients as close to the middle of two numbers as there are: a 2^25 = (2 q + 1) b + r with a small odd r.
TEST(FloatOps, QuotientsBesideAMiddle) {
  std::mt19937 random(6);
  std::vector<Words> in(2);
  while (in[0].size() < many()) {
    const u32 b = (random() & 0x7fffff) | 0x800001;  // odd, 24 bits
    const int r = static_cast<int>(random() % 16) * 2 - 15;
    u32 inverse = b;  // of b modulo 2^32: each step doubles the bits
    for (int k = 0; k < 4; ++k) inverse *= 2 - b * inverse;
    for (const int width : {24, 25}) {
      const u32 middle = (0u - static_cast<u32>(r)) * inverse & ((1u << width) - 1);  // middle b + r = 0 modulo 2^width
      const std::uint64_t a =
          (std::uint64_t{middle} * b + static_cast<std::uint64_t>(static_cast<std::int64_t>(r))) >> width;
      if (a < 0x400000 || a >= 0x1000000) continue;
      const int scale = static_cast<int>(random() % 200) - 100, shift = static_cast<int>(random() % 24);
      in[0].push_back(bits(std::ldexp(static_cast<float>(a), scale > 60 ? -150 + shift : scale)));
      in[1].push_back(bits(std::ldexp(static_cast<float>(b), scale > 60 ? shift : 0)));
    }
  }
  expect_macros({.body = "div(y[0], x[0], x[1])\n", .in = in, .outs = 1}, {quotients(in)});
}

// Every way to be between two subnormal numbers, and exactly in the middle.
TEST(FloatOps, SubnormalQuotients) {
  std::mt19937 random(7);
  std::vector<Words> in(2);
  for (std::size_t i = 0; i < many(); ++i) {
    const float b = std::ldexp(1.0F + static_cast<float>(random() >> 9) / 8388608.0F, static_cast<int>(random() % 80));
    const float whole = static_cast<float>(random() % (1u << (random() % 25))) / 2.0F;  // halves of the last place
    const float a = whole * std::ldexp(b, -149 + 60);
    in[0].push_back(bits(i % 3 == 0 ? a : std::ldexp(a, -static_cast<int>(random() % 3))));
    in[1].push_back(bits(std::ldexp(b, 60) * (i % 2 == 0 ? 1.0F : -1.0F)));
    if (i % 5 == 0) {  // an exact middle: a power of two below
      in[0].back() = bits(std::ldexp(static_cast<float>(random() % (1u << 23) * 2 + 1), -140));
      in[1].back() = bits(std::ldexp(1.0F, 10));
    }
  }
  expect_macros({.body = "div(y[0], x[0], x[1])\n", .in = in, .outs = 1}, {quotients(in)});
}

TEST(FloatOps, ReciprocalsAreCorrectlyRounded) {
  const Words x = floats(8, many());
  const Words want = map(x, [](u32 v) { return bits(1.0F / as_float(v)); });
  expect_macros({.body = "rcp(y[0], x[0])\nmov(y[1], x[0])\nrcp(y[1], y[1])\n", .in = {x}, .outs = 2}, {want, want});
}

TEST(FloatOps, SquareRootsAreCorrectlyRounded) {
  Words x = floats(9, many());
  for (std::size_t i = 0; i < x.size(); i += 4) x[i] &= 0x7fffffff;
  // Squares of numbers and of middles (25 bits), and their neighbours.
  std::mt19937 random(10);
  for (int i = 0; i < 50000; ++i) {
    const double root = static_cast<double>((random() & 0x1ffffff) | 0x1000000);
    const u32 square = bits(static_cast<float>(std::ldexp(root * root, static_cast<int>(random() % 100) - 50)));
    for (const u32 v : {square - 1, square, square + 1}) x.push_back(v);
  }
  const Words want = map(x, [](u32 v) { return bits(std::sqrt(as_float(v))); });
  expect_macros({.body = "sqrt(y[0], x[0])\nmov(y[1], x[0])\nsqrt(y[1], y[1])\n", .in = {x}, .outs = 2}, {want, want});
}

}  // namespace
}  // namespace nervanagpu::test
