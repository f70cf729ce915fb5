// Rare operations of sm_50 .. sm_62: packed halves of sm_53 and later, video instructions, sums of a quad, products of bytes.
#include "test/sass/emulate/operation_cases.h"

namespace nervanagpu::sass::emulate::testing {
namespace {

void check_all(const Cases& cases, Arch arch) {
  for (const Case& c : cases) check(c, arch);
}

double low(u32 v) {
  return half_value(v & 0xffff);
}
double high(u32 v) {
  return half_value(v >> 16);
}
u32 halves(double l, double h) {
  return half_bits(l) | half_bits(h) << 16;
}

TEST(Forms64, PackedHalves) {
  const Cases cases = {
      {{"HADD2 R0, R10, R11", "HADD2 R1, R10.H0_H0, -R11.H1_H1", "HADD2 R2, |R10|, R11", "HADD2 R3, -R10, 1, 3"},
       [](const In& i) {
         return Out{halves(low(i[0]) + low(i[1]), high(i[0]) + high(i[1])),
                    halves(low(i[0]) - high(i[1]), low(i[0]) - high(i[1])),
                    halves(std::fabs(low(i[0])) + low(i[1]), std::fabs(high(i[0])) + high(i[1])),
                    halves(3 - low(i[0]), 1 - high(i[0]))};
       },
       Values::kHalf},
      {{"HMUL2 R0, R10, -R11", "HMUL2 R1, R10.H1_H1, R11", "HMUL2 R2, -R10, 0.5, -2",
        "HMUL2_32I R3, R10, 1, 0.333251953125"},
       [](const In& i) {
         return Out{halves(-low(i[0]) * low(i[1]), -high(i[0]) * high(i[1])),
                    halves(high(i[0]) * low(i[1]), high(i[0]) * high(i[1])), halves(2 * low(i[0]), -0.5 * high(i[0])),
                    halves(0.333251953125 * low(i[0]), high(i[0]))};
       },
       Values::kHalf},
      // Products of halves are exact in a double, and so is their sum, but for its rounding.
      {{"HFMA2 R0, R10, R11.H0_H0, -R12", "HFMA2 R1, R10, 2, 4, R12.H1_H1"},
       [](const In& i) {
         return Out{halves(low(i[0]) * low(i[1]) - low(i[2]), high(i[0]) * low(i[1]) - high(i[2])),
                    halves(4 * low(i[0]) + high(i[2]), 2 * high(i[0]) + high(i[2]))};
       },
       Values::kHalf},
      // One half of the result beside the other that stays.
      {{"MOV R0, R13", "HADD2.MRG_H0 R0, R10, R11", "MOV R1, R13", "HMUL2.MRG_H1 R1, R10, R11", "MOV R2, R13",
        "HFMA2.MRG_H1 R2, R10, R11, RZ"},
       [](const In& i) {
         const u32 product = half_bits(high(i[0]) * high(i[1])) << 16;
         return Out{half_bits(low(i[0]) + low(i[1])) | (i[3] & 0xffff0000), product | (i[3] & 0xffff),
                    half_bits(high(i[0]) * high(i[1]) + 0.0) << 16 | (i[3] & 0xffff)};
       },
       Values::kHalf},
      {{"HSETP2.LT.AND P0, P1, R10, R11, PT", "SEL R0, RZ, 0x1, P0", "SEL R1, RZ, 0x1, P1",
        "HSETP2.GT.H_AND.AND P0, PT, R10, R11, PT", "SEL R2, RZ, 0x1, P0", "HSET2.BF.GEU.AND R3, R10, R11.H0_H0, PT"},
       [](const In& i) {
         const bool both = low(i[0]) > low(i[1]) && high(i[0]) > high(i[1]);
         const u32 l = !(low(i[0]) < low(i[1])) ? 0x3c00 : 0;
         const u32 h = !(high(i[0]) < low(i[1])) ? 0x3c000000 : 0;
         return Out{low(i[0]) < low(i[1]) ? 0u : 1u, high(i[0]) < high(i[1]) ? 0u : 1u, both ? 0u : 1u, l | h};
       },
       Values::kHalf},
  };
  check_all(cases, Arch::sm_61);
  check_all(cases, Arch::sm_53);
}

i64 part(u32 v, unsigned at, unsigned bits, bool is_signed) {
  const u32 up = v >> at << (32 - bits);
  return is_signed ? i64{s(up)} >> (32 - bits) : i64{up >> (32 - bits)};
}
u32 clamped(i64 v, i64 least, i64 most) {
  return static_cast<u32>(std::clamp(v, least, most));
}
constexpr i64 kLeast = -(i64{1} << 31), kMost = (i64{1} << 31) - 1, kAll = (i64{1} << 32) - 1;

TEST(Forms64, SumsAndDifferencesOfParts) {
  const Cases cases = {
      {{"VADD.U8.S16 R0, R10.B2, R11.H1, RZ", "VADD.SAT R1, R10, R11, RZ", "VADD.UD.U32.U32.SAT R2, R10, -R11, RZ",
        "VADD.S8.U8.ACC R3, R10.B3, -R11.B1, R12"},
       [](const In& i) {
         return Out{static_cast<u32>(part(i[0], 16, 8, false) + part(i[1], 16, 16, true)),
                    clamped(i64{s(i[0])} + s(i[1]), kLeast, kMost), clamped(i64{i[0]} - i[1], 0, kAll),
                    static_cast<u32>(part(i[0], 24, 8, true) - part(i[1], 8, 8, false)) + i[2]};
       }},
      {{"VADD.SAT.MRG_8B2 R0, R10, R11, R12", "VADD.UD.SAT.MRG_16H R1, R10, R11, R12", "VADD.MRG_16L R2, R10, R11, R12",
        "VADD.UD.MRG_8B0 R3, R10, R11, R12"},
       [](const In& i) {
         const i64 sum = i64{s(i[0])} + s(i[1]);
         const auto low_bits = static_cast<u32>(sum);
         return Out{(i[2] & 0xff00ffff) | (clamped(sum, -128, 127) & 0xff) << 16,
                    (i[2] & 0xffff) | clamped(sum, 0, 0xffff) << 16, (i[2] & 0xffff0000) | (low_bits & 0xffff),
                    (i[2] & 0xffffff00) | (low_bits & 0xff)};
       }},
      {{"VADD R0, R10, -0x37, RZ", "VADD.S32.U16 R1, R10, 0xff37, RZ", "VADD R2, R10, 0xff37, RZ",
        "VADD R3, -R10, 0x5, RZ"},
       [](const In& i) {
         return Out{i[0] - 0x37, i[0] + 0xff37, i[0] - 0xc9, 5 - i[0]};
       }},
      {{"VABSDIFF.U32.S32 R0, R10, R11, RZ", "VABSDIFF.SD.SAT R1, R10, R11, RZ",
        "VABSDIFF.U8.U8.MAX R2, R10.B1, R11.B3, R12", "VABSDIFF.S8.S16 R3, R10.B3, -0x21, RZ"},
       [](const In& i) {
         const auto d = static_cast<u32>(std::abs(part(i[0], 8, 8, false) - part(i[1], 24, 8, false)));
         return Out{static_cast<u32>(std::abs(i64{i[0]} - s(i[1]))),
                    clamped(std::abs(i64{s(i[0])} - s(i[1])), kLeast, kMost), std::max(d, i[2]),
                    static_cast<u32>(std::abs(part(i[0], 24, 8, true) + 0x21))};
       }},
      {{"VMNMX.MX R0, R10, R11, RZ", "VMNMX.U32.S32 R1, R10, R11, RZ",
        "VMNMX.UD.S8.U16.MX.SAT.ACC R2, R10.B1, R11.H1, R12", "VMNMX.S32.U32.MX.MIN R3, R10, R11, R12"},
       [](const In& i) {
         const auto both = static_cast<u32>(std::max<i64>(s(i[0]), i[1]));
         return Out{static_cast<u32>(std::max(s(i[0]), s(i[1]))), static_cast<u32>(std::min<i64>(i[0], s(i[1]))),
                    clamped(std::max(part(i[0], 8, 8, true), part(i[1], 16, 16, false)), 0, kAll) + i[2],
                    static_cast<u32>(std::min(s(both), s(i[2])))};
       }},
      {{"VABSDIFF4.U8.U8 R0, R10, R11, R12", "VABSDIFF4.ACC R1, R10, R11, R12"},
       [](const In& i) {
         Out out{0, i[2]};
         for (unsigned at = 0; at < 32; at += 8) {
           out[0] |= static_cast<u32>(std::abs(part(i[0], at, 8, false) - part(i[1], at, 8, false))) << at;
           out[1] += static_cast<u32>(std::abs(part(i[0], at, 8, true) - part(i[1], at, 8, true)));
         }
         return out;
       }},
  };
  check_all(cases, Arch::sm_52);
  check_all(cases, Arch::sm_61);
}

TEST(Forms64, ComparesShiftsAndProductsOfParts) {
  const Cases cases = {
      {{"VSET.LT R0, R10, R11, RZ", "VSET.GE.U32.S32.ACC R1, R10, R11, R12",
        "VSET.NE.S8.U8.MRG_16H R2, R10, R11.B1, R12", "VSET.EQ.U8.U16 R3, R10.B1, 0x41, RZ"},
       [](const In& i) {
         return Out{s(i[0]) < s(i[1]) ? 1u : 0u, (i64{i[0]} >= s(i[1]) ? 1 : 0) + i[2],
                    (i[2] & 0xffff) | (part(i[0], 0, 8, true) != part(i[1], 8, 8, false) ? 1u << 16 : 0),
                    (i[0] >> 8 & 0xff) == 0x41 ? 1u : 0u};
       }},
      {{"VSHL R0, R10, R11, RZ", "VSHL.UD.U32.U8.W R1, R10, R11.B1, RZ", "VSHR R2, R10, R11, RZ",
        "VSHR.UD.U16.U32.W.ACC R3, R10.H1, R11, R12"},
       [](const In& i) {
         return Out{i[1] > 31 ? 0 : i[0] << i[1], i[0] << (i[1] >> 8 & 31),
                    static_cast<u32>(s(i[0]) >> std::min(i[1], 31u)), (i[0] >> 16 >> (i[1] & 31)) + i[2]};
       },
       Values::kSmallInteger},
  };
  check_all(cases, Arch::sm_52);
  const Cases products = {
      {{"VMAD.S16.U16 R0, R10.H1, R11, R12", "VMAD.U8.S8.SHR_7 R1, R10.B2, R11.B3, R12",
        "VMAD.U16.U16.PO.SHR_15 R2, R10, R11.H1, R12", "VMAD.S16.S16.SAT R3, -R10, R11, R12"},
       [](const In& i) {
         const auto product = [&](unsigned a, bool sa, unsigned b, bool sb, unsigned bits) {
           return part(i[0], a, bits, sa) * part(i[1], b, bits, sb);
         };
         return Out{static_cast<u32>(product(16, true, 0, false, 16) + s(i[2])),
                    static_cast<u32>((product(16, false, 24, true, 8) + s(i[2])) >> 7),
                    static_cast<u32>((product(0, false, 16, false, 16) + i[2] + 1) >> 15),
                    clamped(s(i[2]) - product(0, true, 0, true, 16), kLeast, kMost)};
       }},
  };
  check_all(products, Arch::sm_52);
  check_all(products, Arch::sm_61);
  // Of whole registers, which sm_60 no longer has.
  const Cases whole = {
      {{"VMAD R0, R10, R11, R12", "VMAD.U32.U32.SHR_15 R1, R10, R11, R12", "VMAD.S32.U32.SHR_7.SAT R2, R10, R11, R12"},
       [](const In& i) {
         const u64 sum = u64{i[0]} * i[1] + i[2];  // below 2^64
         __extension__ const __int128 wide = (static_cast<__int128>(s(i[0])) * i[1] + s(i[2])) >> 7;
         return Out{i[0] * i[1] + i[2], static_cast<u32>(sum >> 15),
                    static_cast<u32>(static_cast<i64>(std::clamp<__int128>(wide, kLeast, kMost)))};
       }},
  };
  check_all(whole, Arch::sm_52);
}

TEST(Forms64, ProductsOfBytes) {
  check_all(
      {{{"IDP.4A.U8.S8 R0, R10, R11, R12", "IDP.2A.LO.S16.U8 R1, R10, R11, R12", "IDP.2A.HI.U16.S8 R2, R10, R11, RZ"},
        [](const In& i) {
          Out out{i[2], i[2], 0};
          for (unsigned k = 0; k < 4; ++k)
            out[0] += static_cast<u32>(part(i[0], 8 * k, 8, false) * part(i[1], 8 * k, 8, true));
          for (unsigned k = 0; k < 2; ++k) {
            out[1] += static_cast<u32>(part(i[0], 16 * k, 16, true) * part(i[1], 8 * k, 8, false));
            out[2] += static_cast<u32>(part(i[0], 16 * k, 16, false) * part(i[1], 16 + 8 * k, 8, true));
          }
          return out;
        }}},
      Arch::sm_61);
}

}  // namespace
}  // namespace nervanagpu::sass::emulate::testing
