// Every operation on 32 lanes of random and special values against a plain expectation written here.
#include "test/sass/emulate/operation_cases.h"

namespace nervanagpu::sass::emulate::testing {
namespace {

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
      {{"I2I.U8.S32.SAT R0, R10", "I2I.S16.S32.SAT R1, R10"},
       [](const In& i) {
         return Out{static_cast<u32>(std::clamp(s(i[0]), 0, 255)),
                    static_cast<u32>(std::clamp(s(i[0]), -32768, 32767))};
       }},
      {{"I2I.S8.S32.SAT R0, R10", "I2I.U16.S32.SAT R1, R10"},
       [](const In& i) {
         return Out{static_cast<u32>(std::clamp(s(i[0]), -128, 127)), static_cast<u32>(std::clamp(s(i[0]), 0, 65535))};
       }},
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
      {{"FMUL.D2 R0, R10, R11", "FMUL.D4 R1, R10, -R11", "FMUL.D8 R2, R10, R11", "FMUL.M2 R3, |R10|, R11"},
       [](const In& i) {
         const double p = static_cast<double>(f(i[0])) * f(i[1]);
         const double q = static_cast<double>(std::fabs(f(i[0]))) * f(i[1]);
         return Out{b(static_cast<float>(p / 2)), b(static_cast<float>(-p / 4)), b(static_cast<float>(p / 8)),
                    b(static_cast<float>(q * 2))};
       },
       Values::kFloat},
      {{"FMUL.M4 R0, R10, R11", "FMUL.M8.RM R1, R10, R11", "FMUL.FTZ.D2.SAT R2, R10, R11", "FMUL.D4.RP R3, R10, R11"},
       [](const In& i) {
         volatile double p = static_cast<double>(f(i[0])) * f(i[1]);
         const double q = static_cast<double>(f(ftz(i[0]))) * f(ftz(i[1])) / 2;
         return Out{b(static_cast<float>(p * 4)), rounded(FE_DOWNWARD, [&] { return static_cast<float>(p * 8); }),
                    q > 0 ? ftz(b(static_cast<float>(std::min(q, 1.0)))) : 0,
                    rounded(FE_UPWARD, [&] { return static_cast<float>(p / 4); })};
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
      // Pairs: 0xffffffff + 1 into the upper half, and a negated one.
      {{"UMOV UR6, 0xffffffff", "UMOV UR7, 0x2", "UMOV UR8, 0x1", "UMOV UR9, 0x10", "UIADD3.64 UR10, UR6, UR8, URZ",
        "UIADD3.64 UR12, UR8, -UR6, UR10", "MOV R0, UR10", "MOV R1, UR11", "MOV R2, UR12", "MOV R3, UR13"},
       [](const In&) {
         return Out{0, 0x13, 2, 0x20};
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
