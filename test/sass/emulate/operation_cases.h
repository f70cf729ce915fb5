// Operations on 32 lanes of random and special values against a plain expectation: the cases, the values and helpers to
// write expectations with.
#pragma once

#include <algorithm>
#include <cfenv>
#include <cmath>
#include <functional>
#include <random>

#include "test/sass/emulate/harness.h"

namespace nervanagpu::sass::emulate::testing {

using u32 = std::uint32_t;
using i32 = std::int32_t;
using u64 = std::uint64_t;
using i64 = std::int64_t;

enum class Values { kInteger, kFloat, kDouble, kHalf, kSmallInteger, kModestFloat };

// Halves by arithmetic on doubles: not every compiler has a type for them.
inline double half_value(u32 h) {
  const u32 exponent = h >> 10 & 31;
  const double fraction = h & 0x3ff;
  double v = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, static_cast<int>(exponent) - 25);
  if (exponent == 31) v = fraction == 0 ? HUGE_VAL : std::nan("");
  return (h & 0x8000) != 0 ? -v : v;
}

// Rounded to nearest even once; every NaN is 0x7fff.
inline u32 half_bits(double v) {
  if (std::isnan(v)) return 0x7fff;
  const u32 sign = std::signbit(v) ? 0x8000 : 0;
  if (std::isinf(v)) return sign | 0x7c00;
  const int exponent = v == 0 ? -14 : std::max(std::ilogb(v), -14);
  if (exponent > 15) return sign | 0x7c00;
  // 1024 .. 2048 for normal numbers: the leading one and a carry out of rounding land in the exponent field.
  const auto significand = static_cast<u32>(std::nearbyint(std::ldexp(std::fabs(v), 10 - exponent)));
  return sign | std::min<u32>((static_cast<u32>(exponent + 14) << 10) + significand, 0x7c00);
}

struct Case {
  std::vector<std::string> body;
  std::function<Out(const In&)> want;
  Values values = Values::kInteger;
};

inline constexpr u32 kIntegers[] = {0,          1,          2,          31,         32,         33,  63,     64,     65,
                                    0x7fffffff, 0x80000000, 0x80000001, 0xffffffff, 0xfffffffe, 255, 0xffff, 0x10000};
inline constexpr u32 kFloats[] = {0,          0x80000000, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000, 0x7fc00000,
                                  0xffc12345, 0x7f812345, 1,          0x80000001, 0x007fffff, 0x807fffff, 0x00800000,
                                  0x80800000, 0x7f7fffff, 0xff7fffff, 0x3f000000, 0x4b000001, 0xcf000000, 0x4f000000,
                                  0x4f800000, 0x33800000, 0x34000000, 0x3fffffff, 0x40490fdb};
inline constexpr u32 kHalves[] = {0, 0x8000, 0x3c00, 0xbc00, 0x7c00, 0xfc00, 0x7e00, 0xfe01,
                                  1, 0x8001, 0x03ff, 0x0400, 0x7bff, 0xfbff, 0x3555, 0x0200};
inline constexpr u64 kDoubles[] = {0,
                                   u64{1} << 63,
                                   0x3ff0000000000000,
                                   0xbff0000000000000,
                                   0x7ff0000000000000,
                                   0xfff0000000000000,
                                   0x7ff8000000000001,
                                   1,
                                   0x000fffffffffffff,
                                   0x0010000000000000,
                                   0x7fefffffffffffff,
                                   0x4330000000000001};

template <class Rng>
In draw(Rng& rng, Values v) {
  In in{};
  for (unsigned i = 0; i < 8; ++i) {
    const bool special = rng() % 3 == 0;
    switch (v) {
      case Values::kInteger: in[i] = special ? kIntegers[rng() % std::size(kIntegers)] : static_cast<u32>(rng()); break;
      case Values::kSmallInteger: in[i] = rng() % 70; break;
      case Values::kFloat:
        in[i] = special     ? kFloats[rng() % std::size(kFloats)]
                : rng() % 2 ? static_cast<u32>(rng())
                            : static_cast<u32>((rng() & 0x80ffffff) + 0x3f000000);
        break;
      case Values::kModestFloat: in[i] = static_cast<u32>((rng() & 0x83ffffff) + 0x3d000000); break;
      case Values::kHalf:
        in[i] = (special ? kHalves[rng() % std::size(kHalves)] : static_cast<u32>(rng()) & 0xffff) |
                (rng() % 3 == 0 ? kHalves[rng() % std::size(kHalves)] : static_cast<u32>(rng()) & 0xffff) << 16;
        break;
      case Values::kDouble: {
        const u64 d = special     ? kDoubles[rng() % std::size(kDoubles)]
                      : rng() % 2 ? rng() ^ (rng() << 32)
                                  : ((rng() ^ (rng() << 32)) & 0x801fffffffffffff) + 0x3fe0000000000000;
        if (i % 2 == 0) {
          in[i] = static_cast<u32>(d);
          in[i + 1] = static_cast<u32>(d >> 32);
        }
      }
    }
  }
  return in;
}

inline void check(const Case& c, Arch arch = Arch::sm_90a) {
  SCOPED_TRACE(c.body.front());
  const KernelImage image = lane_kernel(c.body, arch);
  std::mt19937_64 rng(1234);
  for (unsigned round = 0; round < 12; ++round) {
    std::array<In, 32> in;
    for (In& i : in) i = draw(rng, c.values);
    const std::array<Out, 32> got = run_lanes(image, in, round == 0 ? Mode::kChecked : Mode::kFast, arch);
    for (unsigned l = 0; l < 32; ++l) {
      const Out want = c.want(in[l]);
      if (got[l] == want) continue;
      std::string text;
      char hex[32];
      for (u32 v : in[l]) text += (std::snprintf(hex, sizeof hex, " %08x", v), hex);
      text += " ->";
      for (u32 v : got[l]) text += (std::snprintf(hex, sizeof hex, " %08x", v), hex);
      text += " want";
      for (u32 v : want) text += (std::snprintf(hex, sizeof hex, " %08x", v), hex);
      FAIL() << text;
    }
  }
}

inline float f(u32 b) {
  return std::bit_cast<float>(b);
}
inline u32 b(float v) {
  return v != v ? 0x7fffffffu : std::bit_cast<u32>(v);
}
inline u32 ftz(u32 v) {
  return (v & 0x7f800000u) == 0 ? v & 0x80000000u : v;
}
inline double d(const In& in, unsigned i) {
  return std::bit_cast<double>(u64{in[i + 1]} << 32 | in[i]);
}
inline Out both(double v) {
  const u64 bits = v != v ? 0x7fffffffffffffffu : std::bit_cast<u64>(v);
  return {static_cast<u32>(bits), static_cast<u32>(bits >> 32)};
}
inline Out pair(u64 v) {
  return {static_cast<u32>(v), static_cast<u32>(v >> 32)};
}
inline i32 s(u32 v) {
  return static_cast<i32>(v);
}

// The host's own directed rounding, as an oracle.
template <class F>
u32 rounded(int mode, F op) {
  std::fesetround(mode);
  volatile float r = op();
  std::fesetround(FE_TONEAREST);
  return b(r);
}

using Cases = std::vector<Case>;

}  // namespace nervanagpu::sass::emulate::testing
