// Every operation on 32 lanes of random and special values against a plain expectation written here.
#include <algorithm>
#include <cfenv>
#include <cmath>
#include <functional>
#include <random>

#include "test/sass/emulate/harness.h"

namespace nervanagpu::sass::emulate::testing {
namespace {

using u32 = std::uint32_t;
using i32 = std::int32_t;
using u64 = std::uint64_t;
using i64 = std::int64_t;

enum class Values { kInteger, kFloat, kDouble, kHalf, kSmallInteger, kModestFloat };

// Halves by arithmetic on doubles: not every compiler has a type for them.
double half_value(u32 h) {
  const u32 exponent = h >> 10 & 31;
  const double fraction = h & 0x3ff;
  double v = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, static_cast<int>(exponent) - 25);
  if (exponent == 31) v = fraction == 0 ? HUGE_VAL : std::nan("");
  return (h & 0x8000) != 0 ? -v : v;
}

// Rounded to nearest even once; every NaN is 0x7fff.
u32 half_bits(double v) {
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

constexpr u32 kIntegers[] = {0,          1,          2,          31,         32,         33,  63,     64,     65,
                             0x7fffffff, 0x80000000, 0x80000001, 0xffffffff, 0xfffffffe, 255, 0xffff, 0x10000};
constexpr u32 kFloats[] = {0,          0x80000000, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000, 0x7fc00000,
                           0xffc12345, 0x7f812345, 1,          0x80000001, 0x007fffff, 0x807fffff, 0x00800000,
                           0x80800000, 0x7f7fffff, 0xff7fffff, 0x3f000000, 0x4b000001, 0xcf000000, 0x4f000000,
                           0x4f800000, 0x33800000, 0x34000000, 0x3fffffff, 0x40490fdb};
constexpr u32 kHalves[] = {0, 0x8000, 0x3c00, 0xbc00, 0x7c00, 0xfc00, 0x7e00, 0xfe01,
                           1, 0x8001, 0x03ff, 0x0400, 0x7bff, 0xfbff, 0x3555, 0x0200};
constexpr u64 kDoubles[] = {0,
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

void check(const Case& c) {
  SCOPED_TRACE(c.body.front());
  const KernelImage image = lane_kernel(c.body);
  std::mt19937_64 rng(1234);
  for (unsigned round = 0; round < 12; ++round) {
    std::array<In, 32> in;
    for (In& i : in) i = draw(rng, c.values);
    const std::array<Out, 32> got = run_lanes(image, in, round == 0 ? Mode::kChecked : Mode::kFast);
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

float f(u32 b) {
  return std::bit_cast<float>(b);
}
u32 b(float v) {
  return v != v ? 0x7fffffffu : std::bit_cast<u32>(v);
}
u32 ftz(u32 v) {
  return (v & 0x7f800000u) == 0 ? v & 0x80000000u : v;
}
double d(const In& in, unsigned i) {
  return std::bit_cast<double>(u64{in[i + 1]} << 32 | in[i]);
}
Out both(double v) {
  const u64 bits = v != v ? 0x7fffffffffffffffu : std::bit_cast<u64>(v);
  return {static_cast<u32>(bits), static_cast<u32>(bits >> 32)};
}
Out pair(u64 v) {
  return {static_cast<u32>(v), static_cast<u32>(v >> 32)};
}
i32 s(u32 v) {
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

TEST(Operations, Integer) {
  const Cases cases = {
      {{"MOV R0, R10"}, [](const In& i) { return Out{i[0]}; }},
      {{"MOV R0, 0x12345678"}, [](const In&) { return Out{0x12345678}; }},
      {{"IADD3 R0, R10, R11, R12"}, [](const In& i) { return Out{i[0] + i[1] + i[2]}; }},
      {{"IADD3 R0, -R10, R11, -R12"}, [](const In& i) { return Out{i[1] - i[0] - i[2]}; }},
      {{"IADD3 R0, R10, -0x5, RZ"}, [](const In& i) { return Out{i[0] - 5}; }},
      {{"IADD3 R0, P0, R10, R12, RZ", "IADD3.X R1, R11, R13, RZ, P0, !PT"},
       [](const In& i) { return pair((u64{i[1]} << 32 | i[0]) + (u64{i[3]} << 32 | i[2])); }},
      {{"IADD3 R0, P0, R10, -R12, RZ", "IADD3.X R1, R11, ~R13, RZ, P0, !PT"},
       [](const In& i) { return pair((u64{i[1]} << 32 | i[0]) - (u64{i[3]} << 32 | i[2])); }},
      {{"IADD3 R0, P0, P1, R10, R11, R12", "SEL R1, R13, RZ, P0", "SEL R2, R13, RZ, P1"},
       [](const In& i) {
         const u64 sum = u64{i[0]} + i[1] + i[2];
         return Out{static_cast<u32>(sum), sum >> 32 >= 1 ? i[3] : 0, sum >> 32 >= 2 ? i[3] : 0};
       }},
      {{"VIADD R0, R10, 0xfffffff0"}, [](const In& i) { return Out{i[0] - 16}; }},
      {{"IMAD R0, R10, R11, R12"}, [](const In& i) { return Out{i[0] * i[1] + i[2]}; }},
      {{"IMAD R0, R10, R11, -R12"}, [](const In& i) { return Out{i[0] * i[1] - i[2]}; }},
      {{"IADD3 R0, P0, R10, R11, RZ", "IMAD.X R0, R12, 0x1, R13, P0"},
       [](const In& i) { return Out{i[2] + i[3] + (u64{i[0]} + i[1] > 0xffffffffu ? 1u : 0u)}; }},
      {{"IMAD.WIDE R0, R10, R11, R12"},
       [](const In& i) { return pair(static_cast<u64>(i64{s(i[0])} * s(i[1])) + (u64{i[3]} << 32 | i[2])); }},
      {{"IMAD.WIDE.U32 R0, R10, R11, R12"},
       [](const In& i) { return pair(u64{i[0]} * i[1] + (u64{i[3]} << 32 | i[2])); }},
      {{"IMAD.WIDE.U32 R0, P0, R10, R11, R12", "SEL R2, R10, RZ, P0"},
       [](const In& i) {
         u64 sum = 0;
         const bool carry = __builtin_add_overflow(u64{i[0]} * i[1], u64{i[3]} << 32 | i[2], &sum);
         return Out{static_cast<u32>(sum), static_cast<u32>(sum >> 32), carry ? i[0] : 0};
       }},
      {{"IMAD.HI.U32 R0, R10, R11, R12"},
       [](const In& i) { return Out{static_cast<u32>((u64{i[0]} * i[1] + (u64{i[3]} << 32 | i[2])) >> 32)}; }},
      {{"IMAD.HI R0, R10, R11, RZ"},
       [](const In& i) { return Out{static_cast<u32>(static_cast<u64>(i64{s(i[0])} * s(i[1])) >> 32)}; }},
      {{"LEA R0, R10, R11, 0x3"}, [](const In& i) { return Out{(i[0] << 3) + i[1]}; }},
      {{"LEA R0, P0, R10, R11, 0x2", "LEA.HI.X R1, R10, R12, R13, 0x2, P0"},
       [](const In& i) {
         const u64 low = u64{i[0] << 2} + i[1];
         const u64 high = ((u64{i[3]} << 32 | i[0]) << 2) >> 32;
         return Out{static_cast<u32>(low), static_cast<u32>(high + i[2] + (low >> 32))};
       }},
      {{"LEA.HI R0, R10, R11, R12, 0x5"},
       [](const In& i) { return Out{static_cast<u32>((u64{i[2]} << 32 | i[0]) << 5 >> 32) + i[1]}; }},
      {{"LEA R1, P0, R10, R12, 0x4", "LEA.HI.X.SX32 R0, R10, R11, 0x4, P0"},
       [](const In& i) {
         const u64 low = u64{i[0] << 4} + i[2];
         const u64 wide = static_cast<u64>(i64{s(i[0])}) << 4;
         return Out{static_cast<u32>(wide >> 32) + i[1] + static_cast<u32>(low >> 32), static_cast<u32>(low)};
       }},
      {{"IABS R0, R10"}, [](const In& i) { return Out{s(i[0]) < 0 ? 0 - i[0] : i[0]}; }},
      {{"VIMNMX R0, R10, R11, PT", "VIMNMX.U32 R1, R10, R11, !PT"},
       [](const In& i) {
         return Out{static_cast<u32>(std::min(s(i[0]), s(i[1]))), std::max(i[0], i[1])};
       }},
      {{"VIMNMX3 R0, R10, R11, R12, PT", "VIADDMNMX R1, R10, R11, R12, !PT"},
       [](const In& i) {
         return Out{static_cast<u32>(std::min({s(i[0]), s(i[1]), s(i[2])})),
                    static_cast<u32>(std::max(s(i[0] + i[1]), s(i[2])))};
       }},
      {{"POPC R0, R10"}, [](const In& i) { return Out{static_cast<u32>(__builtin_popcount(i[0]))}; }},
      {{"BREV R0, R10"},
       [](const In& i) {
         u32 r = 0;
         for (unsigned k = 0; k < 32; ++k) r |= (i[0] >> k & 1) << (31 - k);
         return Out{r};
       }},
      {{"FLO.U32 R0, R10", "FLO.U32.SH R1, R10", "FLO R2, R10"},
       [](const In& i) {
         const u32 v = i[0];
         const u32 sv = s(v) < 0 ? ~v : v;
         return Out{v == 0 ? ~0u : 31u - static_cast<u32>(__builtin_clz(v)),
                    v == 0 ? ~0u : static_cast<u32>(__builtin_clz(v)),
                    sv == 0 ? ~0u : 31u - static_cast<u32>(__builtin_clz(sv))};
       }},
      {{"IDP.4A.S8.S8 R0, R10, R11, R12", "IDP.4A.U8.U8 R1, R10, R11, R12"},
       [](const In& i) {
         u32 sum = i[2], usum = i[2];
         for (unsigned k = 0; k < 32; k += 8) {
           sum += static_cast<u32>(static_cast<std::int8_t>(i[0] >> k) * static_cast<std::int8_t>(i[1] >> k));
           usum += (i[0] >> k & 255) * (i[1] >> k & 255);
         }
         return Out{sum, usum};
       }},
  };
  for (const Case& c : cases) check(c);
}

TEST(Operations, LogicAndShift) {
  const Cases cases = {
      {{"LOP3.LUT R0, R10, R11, R12, 0x96, !PT"}, [](const In& i) { return Out{i[0] ^ i[1] ^ i[2]}; }},
      {{"LOP3.LUT R0, R10, R11, R12, 0xe8, !PT"},
       [](const In& i) { return Out{(i[0] & i[1]) | (i[0] & i[2]) | (i[1] & i[2])}; }},
      {{"LOP3.LUT R0, R10, 0xff, RZ, 0xc0, !PT"}, [](const In& i) { return Out{i[0] & 255}; }},
      {{"LOP3.LUT R0, R10, R11, R12, 0xca, !PT"}, [](const In& i) { return Out{(i[0] & i[1]) | (~i[0] & i[2])}; }},
      {{"LOP3.LUT P0, RZ, R10, 0x1, RZ, 0xc0, !PT", "SEL R0, R11, R12, P0"},
       [](const In& i) { return Out{(i[0] & 1) != 0 ? i[1] : i[2]}; }},
      {{"SHF.L.U32 R0, R10, R11, RZ", "SHF.R.U32.HI R1, RZ, R11, R10", "SHF.R.S32.HI R2, RZ, R11, R10"},
       [](const In& i) {
         const u32 n = i[1];
         return Out{n > 31 ? 0 : i[0] << n, n > 31 ? 0 : i[0] >> n, static_cast<u32>(s(i[0]) >> std::min(n, 31u))};
       },
       Values::kSmallInteger},
      {{"SHF.L.U32 R0, R10, R11, RZ", "SHF.R.U32.HI R1, RZ, R11, R10"},
       [](const In& i) {
         return Out{i[1] > 31 ? 0 : i[0] << i[1], i[1] > 31 ? 0 : i[0] >> i[1]};
       }},
      {{"SHF.L.U64.HI R0, R10, R12, R11", "SHF.R.U64 R1, R10, R12, R11", "SHF.R.S64 R2, R10, R12, R11"},
       [](const In& i) {
         const u64 v = u64{i[1]} << 32 | i[0];
         const u32 n = i[2];
         return Out{n > 63 ? 0 : static_cast<u32>(v << n >> 32), n > 63 ? 0 : static_cast<u32>(v >> n),
                    static_cast<u32>(static_cast<i64>(v) >> std::min(n, 63u))};
       },
       Values::kSmallInteger},
      {{"SHF.L.W.U32.HI R0, R10, R11, R12", "SHF.R.W.U32 R1, R10, R11, R12"},
       [](const In& i) {
         const u64 v = u64{i[2]} << 32 | i[0];
         return Out{static_cast<u32>(v << (i[1] & 31) >> 32), static_cast<u32>(v >> (i[1] & 31))};
       }},
      {{"PRMT R0, R10, R11, R12"},
       [](const In& i) {
         u32 r = 0;
         for (unsigned k = 0; k < 4; ++k) {
           const u32 c = i[1] >> (4 * k) & 15;
           const u32 byte = ((u64{i[2]} << 32 | i[0]) >> (8 * (c & 7))) & 255;
           r |= ((c & 8) != 0 ? (byte & 128 ? 255u : 0u) : byte) << (8 * k);
         }
         return Out{r};
       }},
      {{"SGXT R0, R10, 0x5", "SGXT.U32 R1, R10, 0x5"},
       [](const In& i) {
         return Out{static_cast<u32>(s(i[0] << 27) >> 27), i[0] & 31};
       }},
      {{"BMSK R0, R10, R11"},
       [](const In& i) {
         const u32 ones = i[1] > 31 ? ~0u : (1u << i[1]) - 1;
         return Out{i[0] > 31 ? 0 : ones << i[0]};
       },
       Values::kSmallInteger},
  };
  for (const Case& c : cases) check(c);
}

TEST(Operations, CompareAndPredicates) {
  const Cases cases = {
      {{"ISETP.LT.AND P0, P1, R10, R11, PT", "SEL R0, R12, R13, P0", "SEL R1, R12, R13, P1"},
       [](const In& i) {
         return s(i[0]) < s(i[1]) ? Out{i[2], i[3]} : Out{i[3], i[2]};
       }},
      {{"ISETP.GE.U32.AND P0, PT, R10, R11, PT", "SEL R0, R12, R13, P0"},
       [](const In& i) { return Out{i[0] >= i[1] ? i[2] : i[3]}; }},
      {{"ISETP.NE.AND P1, PT, R12, RZ, PT", "ISETP.EQ.XOR P0, PT, R10, R11, P1", "SEL R0, RZ, 0x1, !P0"},
       [](const In& i) { return Out{(i[0] == i[1]) != (i[2] != 0) ? 1u : 0u}; }},
      {{"ISETP.GT.U32.AND P1, PT, R10, R12, PT", "ISETP.GT.AND.EX P0, PT, R11, R13, PT, P1", "SEL R0, R10, RZ, P0"},
       [](const In& i) {
         const i64 x = static_cast<i64>(u64{i[1]} << 32 | i[0]);
         const i64 y = static_cast<i64>(u64{i[3]} << 32 | i[2]);
         return Out{x > y ? i[0] : 0};
       }},
      {{"FSETP.GEU.AND P0, P1, R10, R11, PT", "SEL R0, RZ, 0x1, !P0", "SEL R1, RZ, 0x1, !P1"},
       [](const In& i) {
         return Out{f(i[0]) < f(i[1]) ? 0u : 1u, f(i[0]) < f(i[1]) ? 1u : 0u};
       },
       Values::kFloat},
      {{"FSETP.GT.OR P0, PT, |R10|, -R11, !PT", "SEL R0, RZ, 0x1, !P0"},
       [](const In& i) { return Out{std::fabs(f(i[0])) > -f(i[1]) ? 1u : 0u}; },
       Values::kFloat},
      {{"FSETP.NAN.AND P0, PT, R10, R11, PT", "FSETP.LT.FTZ.AND P1, PT, R10, R11, PT", "SEL R0, RZ, 0x1, !P0",
        "SEL R1, RZ, 0x1, !P1"},
       [](const In& i) {
         return Out{f(i[0]) != f(i[0]) || f(i[1]) != f(i[1]) ? 1u : 0u, f(ftz(i[0])) < f(ftz(i[1])) ? 1u : 0u};
       },
       Values::kFloat},
      {{"ISETP.LT.AND P0, PT, R10, RZ, PT", "ISETP.LT.AND P1, PT, R11, RZ, PT", "ISETP.LT.AND P2, PT, R12, RZ, PT",
        "PLOP3.LUT P3, PT, P0, P1, P2, 0x96, 0x0", "SEL R0, RZ, 0x1, !P3", "P2R R1, PR, RZ, 0x7", "R2P PR, R13, 0x30",
        "SEL R2, RZ, 0x1, !P4", "SEL R3, RZ, 0x1, !P5"},
       [](const In& i) {
         const u32 p = i[0] >> 31, q = i[1] >> 31, r = i[2] >> 31;
         return Out{p ^ q ^ r, p | q << 1 | r << 2, i[3] >> 4 & 1, i[3] >> 5 & 1};
       }},
  };
  for (const Case& c : cases) check(c);
}

TEST(Operations, Float) {
  const Cases cases = {
      {{"FADD R0, R10, R11", "FADD R1, -R10, |R11|", "FADD.FTZ R2, R10, R11", "FADD.SAT R3, R10, R11"},
       [](const In& i) {
         const float sum = f(i[0]) + f(i[1]);
         return Out{b(sum), b(-f(i[0]) + std::fabs(f(i[1]))), ftz(b(f(ftz(i[0])) + f(ftz(i[1])))),
                    sum > 0 ? (sum < 1 ? b(sum) : 0x3f800000u) : 0u};
       },
       Values::kFloat},
      {{"FMUL R0, R10, R11", "FMUL R1, R10, -1.5"},
       [](const In& i) {
         return Out{b(f(i[0]) * f(i[1])), b(f(i[0]) * -1.5F)};
       },
       Values::kFloat},
      {{"FFMA R0, R10, R11, R12", "FFMA R1, R10, -R11, R12", "FFMA R2, R10, 3, R11"},
       [](const In& i) {
         return Out{b(std::fma(f(i[0]), f(i[1]), f(i[2]))), b(std::fma(f(i[0]), -f(i[1]), f(i[2]))),
                    b(std::fma(f(i[0]), 3.0F, f(i[1])))};
       },
       Values::kFloat},
      {{"FFMA.RM R0, R10, R11, R12", "FFMA.RP R1, R10, R11, R12", "FFMA.RZ R2, R10, R11, R12"},
       [](const In& i) {
         const auto op = [&] {
           volatile float x = f(i[0]), y = f(i[1]), z = f(i[2]);
           return std::fma(x, y, z);
         };
         return Out{rounded(FE_DOWNWARD, op), rounded(FE_UPWARD, op), rounded(FE_TOWARDZERO, op)};
       },
       Values::kFloat},
      {{"FADD.RM R0, R10, R11", "FADD.RP R1, R10, R11", "FMUL.RZ R2, R10, R11", "FMUL.RP R3, R10, R11"},
       [](const In& i) {
         const auto add = [&] {
           volatile float x = f(i[0]), y = f(i[1]);
           return x + y;
         };
         const auto mul = [&] {
           volatile float x = f(i[0]), y = f(i[1]);
           return x * y;
         };
         return Out{rounded(FE_DOWNWARD, add), rounded(FE_UPWARD, add), rounded(FE_TOWARDZERO, mul),
                    rounded(FE_UPWARD, mul)};
       },
       Values::kFloat},
      {{"FMNMX R0, R10, R11, PT", "FMNMX R1, R10, R11, !PT"},
       [](const In& i) {
         const float x = f(i[0]), y = f(i[1]);
         const auto least = [&](bool min) -> u32 {
           if (x != x && y != y) return 0x7fffffffu;
           if (x != x) return i[1];
           if (y != y) return i[0];
           if (x == y)
             return min      ? i[0] | (i[0] == 0 || i[1] == 0x80000000u ? i[1] & 0x80000000u : 0)
                    : x == 0 ? i[0] & i[1]
                             : i[0];
           return (x < y) == min ? i[0] : i[1];
         };
         return Out{least(true), least(false)};
       },
       Values::kFloat},
      {{"FSETP.GT.AND P0, PT, R10, R11, PT", "FSEL R0, R12, -R13, P0"},
       [](const In& i) { return Out{f(i[0]) > f(i[1]) ? i[2] : i[3] ^ 0x80000000u}; },
       Values::kFloat},
  };
  for (const Case& c : cases) check(c);
}

TEST(Operations, Double) {
  const Cases cases = {
      {{"DADD R0, R10, R12", "DMUL R2, R10, R12"},
       [](const In& i) {
         const Out sum = both(d(i, 0) + d(i, 2));
         const Out product = both(d(i, 0) * d(i, 2));
         return Out{sum[0], sum[1], product[0], product[1]};
       },
       Values::kDouble},
      {{"DFMA R0, R10, R12, R14", "DFMA R2, -R10, R12, 1"},
       [](const In& i) {
         const Out x = both(std::fma(d(i, 0), d(i, 2), d(i, 4)));
         const Out y = both(std::fma(-d(i, 0), d(i, 2), 1.0));
         return Out{x[0], x[1], y[0], y[1]};
       },
       Values::kDouble},
      {{"DSETP.GT.AND P0, PT, R10, |R12|, PT", "SEL R0, RZ, 0x1, !P0"},
       [](const In& i) { return Out{d(i, 0) > std::fabs(d(i, 2)) ? 1u : 0u}; },
       Values::kDouble},
      {{"DADD.RP R0, R10, R12", "DMUL.RZ R2, R10, R12"},
       [](const In& i) {
         volatile double x = d(i, 0), y = d(i, 2);
         std::fesetround(FE_UPWARD);
         volatile double sum = x + y;
         std::fesetround(FE_TOWARDZERO);
         volatile double product = x * y;
         std::fesetround(FE_TONEAREST);
         const Out p = both(sum), q = both(product);
         return Out{p[0], p[1], q[0], q[1]};
       },
       Values::kDouble},
      {{"F2F.F64.F32 R0, R10", "F2F.F32.F64 R2, R12"},
       [](const In& i) {
         const Out w = both(static_cast<double>(f(i[0])));
         return Out{w[0], w[1], b(static_cast<float>(d(i, 2)))};
       },
       Values::kDouble},
  };
  for (const Case& c : cases) check(c);
}

u32 to_int(float v, float integral) {
  if (v != v) return 0;
  if (integral >= 2147483648.0F) return 0x7fffffffu;
  if (integral < -2147483648.0F) return 0x80000000u;
  return static_cast<u32>(static_cast<i32>(integral));
}

TEST(Operations, Conversions) {
  const Cases cases = {
      {{"F2I.TRUNC.NTZ R0, R10", "F2I.NTZ R1, R10", "F2I.FLOOR.NTZ R2, R10", "F2I.U32.TRUNC.NTZ R3, R10"},
       [](const In& i) {
         const float v = f(i[0]);
         return Out{to_int(v, std::trunc(v)), to_int(v, std::nearbyint(v)), to_int(v, std::floor(v)),
                    !(v > 0)             ? 0u
                    : v >= 4294967296.0F ? ~0u
                                         : static_cast<u32>(v)};
       },
       Values::kFloat},
      {{"I2FP.F32.S32 R0, R10", "I2FP.F32.U32 R1, R10", "I2FP.F32.U32.RZ R2, R10"},
       [](const In& i) {
         volatile u32 v = i[0];
         return Out{b(static_cast<float>(s(i[0]))), b(static_cast<float>(i[0])),
                    rounded(FE_TOWARDZERO, [&] { return static_cast<float>(v); })};
       }},
      {{"I2F.U8 R0, R10.B2", "I2F.S16 R1, R10.H1", "I2F.F64.U32 R2, R10"},
       [](const In& i) {
         const Out w = both(static_cast<double>(i[0]));
         return Out{b(static_cast<float>(i[0] >> 16 & 255)),
                    b(static_cast<float>(static_cast<std::int16_t>(i[0] >> 16))), w[0], w[1]};
       }},
      {{"I2F.S64 R0, R10", "I2F.F64.U64 R2, R10"},
       [](const In& i) {
         const u64 v = u64{i[1]} << 32 | i[0];
         const Out w = both(static_cast<double>(v));
         return Out{b(static_cast<float>(static_cast<i64>(v))), 0, w[0], w[1]};
       }},
      {{"F2I.S64.TRUNC R0, R10"},
       [](const In& i) {
         const float v = f(i[0]);
         if (v != v) return pair(u64{1} << 63);
         if (v >= 0x1p63F) return pair(~u64{0} >> 1);
         if (v < -0x1p63F) return pair(u64{1} << 63);
         return pair(static_cast<u64>(static_cast<i64>(v)));
       },
       Values::kFloat},
      {{"FRND.FLOOR R0, R10", "FRND R1, R10", "FRND.TRUNC R2, R10", "FRND.CEIL R3, R10"},
       [](const In& i) {
         const float v = f(i[0]);
         return Out{b(std::floor(v)), b(std::nearbyint(v)), b(std::trunc(v)), b(std::ceil(v))};
       },
       Values::kFloat},
      {{"F2F.F16.F32 R0, R10", "HADD2.F32 R1, -RZ, R11.H0_H0", "HADD2.F32 R2, -RZ, R11.H1_H1"},
       [](const In& i) {
         const auto wide = [](u32 h) { return b(static_cast<float>(half_value(h & 0xffff))); };
         return Out{half_bits(f(i[0])), wide(i[1]), wide(i[1] >> 16)};
       },
       Values::kModestFloat},
      {{"F2FP.BF16.F32.PACK_AB R0, R10, R11"},
       [](const In& i) {
         const auto bf = [](u32 v) -> u32 {
           if ((v & 0x7fffffffu) > 0x7f800000u) return 0x7fff;
           return (v + 0x7fff + (v >> 16 & 1)) >> 16;
         };
         return Out{bf(i[0]) << 16 | bf(i[1])};
       },
       Values::kFloat},
  };
  for (const Case& c : cases) check(c);
}

u32 halves(const std::function<double(double, double, double)>& op, u32 x, u32 y, u32 z) {
  u32 r = 0;
  for (unsigned h = 0; h < 32; h += 16) {
    const auto get = [&](u32 v) { return half_value(v >> h & 0xffff); };
    r |= half_bits(op(get(x), get(y), get(z))) << h;
  }
  return r;
}

TEST(Operations, Half) {
  const Cases cases = {
      {{"HADD2 R0, R10, R11", "HMUL2 R1, R10, R11"},
       [](const In& i) {
         return Out{halves([](double x, double y, double) { return x + y; }, i[0], i[1], 0),
                    halves([](double x, double y, double) { return x * y; }, i[0], i[1], 0)};
       },
       Values::kHalf},
      // A product of halves has 22 bits and its sum with a half at most 53 as long as exponents are close: exact
      // inputs.
      {{"HFMA2 R0, R10, R11.H0_H0, -R12"},
       [](const In& i) {
         const u32 low = (i[1] & 0xffff) * 0x10001u;
         return Out{halves(
             [](double x, double y, double z) { return static_cast<double>(static_cast<long double>(x) * y - z); },
             i[0], low, i[2])};
       },
       Values::kHalf},
  };
  for (const Case& c : cases) check(c);
}

TEST(Operations, MufuIsTheFunctionRoundedOnce) {
  const Cases cases = {
      {{"MUFU.RCP R0, R10", "MUFU.RSQ R1, |R10|", "MUFU.SQRT R2, |R10|"},
       [](const In& i) {
         const double v = f(i[0]);
         return Out{b(static_cast<float>(1 / v)), b(static_cast<float>(1 / std::sqrt(std::fabs(v)))),
                    b(static_cast<float>(std::sqrt(std::fabs(v))))};
       },
       Values::kModestFloat},
      {{"MUFU.EX2 R0, R10", "MUFU.LG2 R1, |R10|"},
       [](const In& i) {
         return Out{b(static_cast<float>(std::exp2(static_cast<double>(f(i[0]))))),
                    b(static_cast<float>(std::log2(std::fabs(static_cast<double>(f(i[0]))))))};
       },
       Values::kModestFloat},
  };
  for (const Case& c : cases) check(c);
}

TEST(Operations, Uniform) {
  const Cases cases = {
      {{"UMOV UR6, 0x5", "UIADD3 UR7, UR6, 0x3, URZ", "ULEA UR8, UR7, UR6, 0x2",
        "ULOP3.LUT UR9, UR8, 0xf, URZ, 0xc0, !UPT", "USHF.L.U32 UR10, UR9, 0x4, URZ", "MOV R0, UR7", "MOV R1, UR8",
        "IADD3 R2, R10, UR9, RZ", "MOV R3, UR10"},
       [](const In& i) {
         return Out{8, 37, i[0] + 5, 80};
       }},
      {{"UMOV UR6, 0xffffffff", "UISETP.GT.AND UP0, UPT, UR6, 0x3, UPT", "USEL UR7, UR6, 0x9, UP0", "MOV R0, UR7",
        "UIADD3 UR8, UP1, UR6, 0x1, URZ", "UIADD3.X UR9, URZ, 0x7, URZ, UP1, !UPT", "MOV R1, UR9"},
       [](const In&) {
         return Out{9, 8};
       }},
      {{"UMOV UR6, 0x10000", "UIMAD UR7, UR6, UR6, UR6", "UIMAD.WIDE.U32 UR8, UR6, UR6, URZ", "MOV R0, UR7",
        "MOV R1, UR9"},
       [](const In&) {
         return Out{0x10000, 1};
       }},
  };
  for (const Case& c : cases) check(c);
}

}  // namespace
}  // namespace nervanagpu::sass::emulate::testing
