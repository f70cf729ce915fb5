// Every operation of sm_50 .. sm_62 whose meaning is not that of later chips, as words of our own assembler.
#include "test/sass/emulate/operation_cases.h"

namespace nervanagpu::sass::emulate::testing {
namespace {

void check_all(const Cases& cases) {
  for (const Case& c : cases) check(c, Arch::sm_52);
}

u32 lo(u32 v) {
  return v & 0xffff;
}
u32 hi(u32 v) {
  return v >> 16;
}
u32 slo(u32 v) {
  return static_cast<u32>(static_cast<std::int16_t>(v));
}
u32 shi(u32 v) {
  return static_cast<u32>(static_cast<std::int16_t>(v >> 16));
}

TEST(Operations64, Xmad) {
  check_all({
      {{"XMAD R0, R10, R11, R12", "XMAD R1, R10.H1, R11.H1, R12", "XMAD R2, R10, R11.H1, RZ"},
       [](const In& i) {
         return Out{lo(i[0]) * lo(i[1]) + i[2], hi(i[0]) * hi(i[1]) + i[2], lo(i[0]) * hi(i[1])};
       }},
      {{"XMAD.S16.U16 R0, R10, R11, R12", "XMAD.U16.S16 R1, R10.H1, R11.H1, R12", "XMAD.S16.S16 R2, R10, R11.H1, R13"},
       [](const In& i) {
         return Out{slo(i[0]) * lo(i[1]) + i[2], hi(i[0]) * shi(i[1]) + i[2], slo(i[0]) * shi(i[1]) + i[3]};
       }},
      {{"XMAD.CLO R0, R10, R11, R12", "XMAD.CHI R1, R10, R11, R12", "XMAD.CBCC R2, R10, R11.H1, R12"},
       [](const In& i) {
         return Out{lo(i[0]) * lo(i[1]) + lo(i[2]), lo(i[0]) * lo(i[1]) + hi(i[2]),
                    lo(i[0]) * hi(i[1]) + i[2] + (i[1] << 16)};
       }},
      {{"XMAD.PSL R0, R10.H1, R11, R12", "XMAD.MRG R1, R10, R11.H1, R12", "XMAD.PSL.CBCC R2, R10.H1, R11.H1, R12",
        "XMAD.PSL.CLO.MRG R3, R10, R11, R12"},
       [](const In& i) {
         const u32 both = (lo(i[0]) * lo(i[1]) << 16) + lo(i[2]);
         return Out{(hi(i[0]) * lo(i[1]) << 16) + i[2], lo(lo(i[0]) * hi(i[1]) + i[2]) | i[1] << 16,
                    (hi(i[0]) * hi(i[1]) << 16) + i[2] + (i[1] << 16), lo(both) | i[1] << 16};
       }},
      {{"XMAD R0, R10, 0xfedc, R11", "XMAD.S16.S16 R1, R10.H1, -0x3, R11", "XMAD R2, R10.H1, R11, c[0x0][0x8]",
        "XMAD.MRG R3, R10, c[0x0][0x8], RZ"},
       [](const In& i) {
         return Out{lo(i[0]) * 0xfedc + i[1], shi(i[0]) * ~2u + i[1], hi(i[0]) * lo(i[1]) + 32,
                    lo(lo(i[0]) * 32) | 32u << 16};
       }},
      // Carries, and a 32 x 32 product of three.
      {{"XMAD R0.CC, R10.H1, R11.H1, R12", "XMAD.X R1, R13, R14, R15"},
       [](const In& i) {
         const u64 sum = u64{hi(i[0]) * hi(i[1])} + i[2];
         return Out{static_cast<u32>(sum), lo(i[3]) * lo(i[4]) + i[5] + static_cast<u32>(sum >> 32)};
       }},
      {{"XMAD R20, R10, R11, R12", "XMAD.MRG R21, R10, R11.H1, RZ", "XMAD.PSL.CBCC R0, R10.H1, R21.H1, R20"},
       [](const In& i) { return Out{i[0] * i[1] + i[2]}; }},
      // The upper half of a product, unsigned and signed, as ptxas does it.
      {{"XMAD R20, R10, R11, RZ", "XMAD R21, R10, R11.H1, RZ", "XMAD R22, R10.H1, R11.H1, RZ",
        "XMAD.CHI R20, R10.H1, R11, R20", "IADD3.RS R0, R20, R21, R22"},
       [](const In& i) { return Out{static_cast<u32>(u64{i[0]} * i[1] >> 32)}; }},
      {{"XMAD R20, R10, R11, RZ", "XMAD.U16.S16 R21, R10, R11.H1, RZ", "XMAD.S16.S16.CSFU R22, R10.H1, R11.H1, R12",
        "XMAD.S16.U16.CHI R20, R10.H1, R11, R20", "IADD3.RS R0, R20, R21, R22"},
       [](const In& i) { return Out{static_cast<u32>(static_cast<u64>(i64{s(i[0])} * s(i[1])) >> 32) + i[2]}; }},
  });
}

TEST(Operations64, Sums) {
  check_all({
      {{"IADD R0, R10, R11", "IADD R1, -R10, R11", "IADD R2, R10, -R11", "IADD.PO R3, R10, R11"},
       [](const In& i) {
         return Out{i[0] + i[1], i[1] - i[0], i[0] - i[1], i[0] + i[1] + 1};
       }},
      {{"IADD R0, R10, -0x5", "IADD32I R1, R10, 0x12345678", "IADD32I R2, -R10, -0x3", "IADD32I.PO R3, R10, 0x7"},
       [](const In& i) {
         return Out{i[0] - 5, i[0] + 0x12345678, ~2u - i[0], i[0] + 8};
       }},
      {{"IADD.SAT R0, R10, R11", "IADD.SAT R1, R10, -R11"},
       [](const In& i) {
         const auto sat = [](i64 v) { return static_cast<u32>(std::clamp<i64>(v, -0x80000000ll, 0x7fffffff)); };
         return Out{sat(i64{s(i[0])} + s(i[1])), sat(i64{s(i[0])} - s(i[1]))};
       }},
      {{"IADD R0.CC, R10, R12", "IADD.X R1.CC, R11, R13", "IADD.X R2, RZ, RZ"},
       [](const In& i) {
         u64 sum = 0;
         const bool carry = __builtin_add_overflow(u64{i[1]} << 32 | i[0], u64{i[3]} << 32 | i[2], &sum);
         return Out{static_cast<u32>(sum), static_cast<u32>(sum >> 32), carry ? 1u : 0u};
       }},
      {{"IADD R0.CC, R10, -R12", "IADD.X R1.CC, R11, -R13", "IADD.X R2, RZ, RZ"},
       [](const In& i) {
         const u64 a = u64{i[1]} << 32 | i[0], b = u64{i[3]} << 32 | i[2];
         return Out{static_cast<u32>(a - b), static_cast<u32>((a - b) >> 32), a >= b ? 1u : 0u};  // no borrow: carry
       }},
      {{"IADD32I R0.CC, R10, -0x2", "IADD32I.X R1, R11, 0x5"},
       [](const In& i) {
         const u64 sum = u64{i[0]} + 0xfffffffe;
         return Out{static_cast<u32>(sum), i[1] + 5 + static_cast<u32>(sum >> 32)};
       }},
      {{"IADD3 R0, R10, R11, R12", "IADD3 R1, -R10, R11, -R12", "IADD3 R2, R10, 0x7, -R12",
        "IADD3 R3, R10, c[0x0][0x8], R11"},
       [](const In& i) {
         return Out{i[0] + i[1] + i[2], i[1] - i[0] - i[2], i[0] + 7 - i[2], i[0] + 32 + i[1]};
       }},
      {{"IADD3 R0, R10.H0, R11.H1, R12", "IADD3.RS R1, R10, R11, R12", "IADD3.LS R2, R10, R11, R12",
        "IADD3 R3, R10.H1, -R11.H0, R12"},
       [](const In& i) {
         return Out{lo(i[0]) + hi(i[1]) + i[2], static_cast<u32>((u64{i[0]} + i[1]) >> 16) + i[2],
                    ((i[0] + i[1]) << 16) + i[2], hi(i[0]) - lo(i[1]) + i[2]};
       }},
      {{"IADD3 R0.CC, R10, R11, RZ", "IADD3.X R1, R12, R13, R14"},
       [](const In& i) {
         const u64 sum = u64{i[0]} + i[1];
         return Out{static_cast<u32>(sum), i[2] + i[3] + i[4] + static_cast<u32>(sum >> 32)};
       }},
      {{"ISCADD R0, R10, R11, 0x5", "ISCADD R1, -R10, R11, 0x2", "ISCADD R2, R10, -R11, 0x0",
        "ISCADD32I R3, R10, 0x12345, 0x3"},
       [](const In& i) {
         return Out{(i[0] << 5) + i[1], i[1] - (i[0] << 2), i[0] - i[1], (i[0] << 3) + 0x12345};
       }},
      {{"ISCADD R0.CC, R10, R11, 0x2", "IADD.X R1, R12, RZ"},
       [](const In& i) {
         const u64 sum = u64{i[0] << 2} + i[1];
         return Out{static_cast<u32>(sum), i[2] + static_cast<u32>(sum >> 32)};
       }},
      {{"LEA R0.CC, R10, R12, 0x2", "LEA.HI.X R1, R10, R13, R11, 0x2", "LEA R2, -R10, R12, 0x3"},
       [](const In& i) {
         const u64 a = u64{i[1]} << 32 | i[0], b = u64{i[3]} << 32 | i[2];
         const u64 sum = (a << 2) + b;
         return Out{static_cast<u32>(sum), static_cast<u32>(sum >> 32), i[2] - (i[0] << 3)};
       }},
      {{"LEA.HI R0, R10, R11, R12, 0x5", "LEA RZ.CC, R10, RZ", "LEA.HI.X P0, R1, R10, RZ, R13", "SEL R2, R14, R15, P0"},
       [](const In& i) {
         return Out{static_cast<u32>((u64{i[2]} << 32 | i[0]) << 5 >> 32) + i[1], i[3], i[3] != 0 ? i[4] : i[5]};
       }},
  });
}

TEST(Operations64, ProductsAndExtremes) {
  check_all({
      {{"IMUL.U32.U32 R0, R10, R11", "IMUL.U32.U32.HI R1, R10, R11", "IMUL.HI R2, R10, R11",
        "IMUL.S32.U32.HI R3, R10, R11"},
       [](const In& i) {
         return Out{i[0] * i[1], static_cast<u32>(u64{i[0]} * i[1] >> 32),
                    static_cast<u32>(static_cast<u64>(i64{s(i[0])} * s(i[1])) >> 32),
                    static_cast<u32>(static_cast<u64>(i64{s(i[0])} * i64{i[1]}) >> 32)};
       }},
      {{"IMAD R0, R10, R11, R12", "IMAD.U32.U32.HI R1, R10, R11, -R12", "IMAD R2, -R10, R11, R12",
        "IMUL32I.U32.U32 R3, R10, 0x12345"},
       [](const In& i) {
         return Out{i[0] * i[1] + i[2], static_cast<u32>(u64{i[0]} * i[1] >> 32) - i[2], i[2] - i[0] * i[1],
                    i[0] * 0x12345};
       }},
      {{"IMAD.U32.U32 R0.CC, R10, R11, R12", "IMAD.U32.U32.HI.X R1, R10, R11, R13"},
       [](const In& i) { return pair(u64{i[0]} * i[1] + (u64{i[3]} << 32 | i[2])); }},
      {{"IMNMX R0, R10, R11, PT", "IMNMX R1, R10, R11, !PT", "IMNMX.U32 R2, R10, R11, PT",
        "IMNMX.U32 R3, R10, 0x5, !PT"},
       [](const In& i) {
         return Out{static_cast<u32>(std::min(s(i[0]), s(i[1]))), static_cast<u32>(std::max(s(i[0]), s(i[1]))),
                    std::min(i[0], i[1]), std::max(i[0], 5u)};
       }},
      {{"IMNMX.XHI R1.CC, R11, R13, PT", "IMNMX.U32.XLO R0, R10, R12, PT", "IMNMX.U32.XHI R3.CC, R11, R13, !PT",
        "IMNMX.U32.XLO R2, R10, R12, !PT"},
       [](const In& i) {
         const u64 a = u64{i[1]} << 32 | i[0], b = u64{i[3]} << 32 | i[2];
         const Out least = pair(static_cast<u64>(std::min(static_cast<i64>(a), static_cast<i64>(b))));
         const Out most = pair(std::max(a, b));
         return Out{least[0], least[1], most[0], most[1]};
       }},
      {{"ISETP.EQ.AND P0, PT, R11, 0x1f, PT", "SEL R11, R13, R11, P0", "IMNMX.XHI R2.CC, R11, R13, PT",
        "IMNMX.U32.XMED R1.CC, R12, R12, PT", "IMNMX.U32.XLO R0, R10, R14, PT"},  // 96 bits, the middle equal
       [](const In& i) {
         const i32 a = s(i[1] == 31 ? i[3] : i[1]), b = s(i[3]);
         const bool first = a != b ? a < b : i[0] < i[4];
         return Out{first ? i[0] : i[4], i[2], static_cast<u32>(std::min(a, b))};
       }},
  });
}

TEST(Operations64, LogicAndShifts) {
  check_all({
      {{"LOP.AND R0, R10, R11", "LOP.OR R1, R10, ~R11", "LOP.XOR R2, ~R10, R11", "LOP.PASS_B R3, RZ, ~R11"},
       [](const In& i) {
         return Out{i[0] & i[1], i[0] | ~i[1], ~i[0] ^ i[1], ~i[1]};
       }},
      {{"LOP.AND.NZ P0, R0, R10, R11", "LOP.XOR.Z P1, R1, R10, R11", "SEL R2, R12, R13, P0", "SEL R3, R12, R13, P1"},
       [](const In& i) {
         const u32 a = i[0] & i[1], x = i[0] ^ i[1];
         return Out{a, x, a != 0 ? i[2] : i[3], x == 0 ? i[2] : i[3]};
       }},
      {{"LOP32I.AND R0, R10, 0xff00ff00", "LOP32I.OR R1, R10, 0x10", "LOP32I.XOR R2, ~R10, 0x80000001"},
       [](const In& i) {
         return Out{i[0] & 0xff00ff00, i[0] | 0x10, ~i[0] ^ 0x80000001};
       }},
      {{"LOP3.LUT R0, R10, R11, R12, 0x96", "LOP3.LUT R1, R10, 0xff, R12, 0xea",
        "LOP3.LUT.NZ P0, R2, R10, R11, R12, 0x80", "SEL R3, R13, R14, P0"},
       [](const In& i) {
         const u32 all = i[0] & i[1] & i[2];
         return Out{i[0] ^ i[1] ^ i[2], (i[0] & 0xff) | i[2], all, all != 0 ? i[3] : i[4]};
       }},
      {{"SHL R0, R10, R11", "SHR R1, R10, R11", "SHR.U32 R2, R10, R11", "SHL.W R3, R10, R11"},
       [](const In& i) {
         const u32 n = i[1];
         return Out{n > 31 ? 0 : i[0] << n, static_cast<u32>(s(i[0]) >> std::min(n, 31u)), n > 31 ? 0 : i[0] >> n,
                    i[0] << (n & 31)};
       },
       Values::kSmallInteger},
      {{"SHR.U32.W R0, R10, R11", "SHR.W R1, R10, R11", "SHR.U32.BREV R2, R10, 0x0"},
       [](const In& i) {
         u32 r = 0;
         for (unsigned k = 0; k < 32; ++k) r |= (i[0] >> k & 1) << (31 - k);
         return Out{i[0] >> (i[1] & 31), static_cast<u32>(s(i[0]) >> (i[1] & 31)), r};
       }},
      {{"LOP32I.AND R11, R11, 0x7f", "SHF.L.U64 R0, R10, R11, R12", "SHF.R.U64 R1, R10, R11, R12",
        "SHF.R.S64 R2, R10, R11, R12", "SHF.L R3, R10, R11, R12"},
       [](const In& i) {
         const u32 n = i[1] & 0x7f;
         const u64 v = u64{i[2]} << 32 | i[0];
         const u64 sign = s(i[2]) < 0 ? ~u64{0} : 0;
         return Out{n > 63 ? 0 : static_cast<u32>(v << n >> 32), n > 63 ? 0 : static_cast<u32>(v >> n),
                    n > 63 ? static_cast<u32>(sign) : static_cast<u32>(static_cast<i64>(v) >> n),
                    n > 31 ? i[0] : static_cast<u32>(v << n >> 32)};
       }},
      {{"SHF.L.W R0, R10, R11, R12", "SHF.R.W R1, R10, R11, R12", "SHF.R R2, R10, 0x7, R12"},
       [](const In& i) {
         const u64 v = u64{i[2]} << 32 | i[0];
         return Out{static_cast<u32>(v << (i[1] & 31) >> 32), static_cast<u32>(v >> (i[1] & 31)),
                    static_cast<u32>(v >> 7)};
       }},
      {{"BFE.U32 R0, R10, R11", "BFE R1, R10, R11", "BFE.U32.BREV R2, R10, 0x2000", "BFE R3, R10, 0x804"},
       [](const In& i) {
         // PTX's definition, bit by bit.
         const auto bfe = [](u32 v, u32 p, u32 n, bool is_signed) {
           const u32 sign = is_signed && n != 0 ? v >> std::min(p + n - 1, 31u) & 1 : 0;
           u32 r = 0;
           for (u32 k = 0; k < 32; ++k) r |= (k < n && p + k < 32 ? v >> (p + k) & 1 : sign) << k;
           return r;
         };
         u32 r = 0;
         for (unsigned k = 0; k < 32; ++k) r |= (i[0] >> k & 1) << (31 - k);
         return Out{bfe(i[0], i[1] & 255, i[1] >> 8 & 255, false), bfe(i[0], i[1] & 255, i[1] >> 8 & 255, true), r,
                    bfe(i[0], 4, 8, true)};
       }},
      {{"LOP32I.AND R11, R11, 0x1f1f", "BFI R0, R10, R11, R12", "BFI R1, R10, 0x810, R12", "BFE.U32 R2, R10, R11"},
       [](const In& i) {
         const auto bfi = [](u32 a, u32 p, u32 n, u32 base) {
           for (u32 k = 0; k < n && p + k < 32; ++k) base = (base & ~(1u << (p + k))) | (a >> k & 1) << (p + k);
           return base;
         };
         const u32 p = i[1] & 31, n = i[1] >> 8 & 31;
         return Out{bfi(i[0], p, n, i[2]), bfi(i[0], 16, 8, i[2]), (i[0] >> p) & ((1u << n) - 1)};
       }},
      {{"MOV R0, R10", "MOV32I R1, 0x89abcdef", "MOV R2, R10, 0x5", "PRMT R3, R10, 0x7531, R11"},
       [](const In& i) {
         const u32 picked = (i[0] >> 8 & 255) | (i[0] >> 24) << 8 | (i[1] >> 8 & 255) << 16 | (i[1] >> 24) << 24;
         return Out{i[0], 0x89abcdef, i[0] & 0x00ff00ff, picked};
       }},
      {{"FLO.U32 R0, R10", "FLO.U32.SH R1, ~R10", "FLO R2, R10", "POPC R3, ~R10"},
       [](const In& i) {
         const auto lead = [](u32 v) { return v == 0 ? ~0u : 31u - static_cast<u32>(std::countl_zero(v)); };
         const u32 v = i[0];
         return Out{lead(v), ~v == 0 ? ~0u : static_cast<u32>(std::countl_zero(~v)), lead(s(v) < 0 ? ~v : v),
                    static_cast<u32>(std::popcount(~v))};
       }},
  });
}

TEST(Operations64, ComparesAndPredicates) {
  check_all({
      {{"ISETP.LT.AND P0, P1, R10, R11, PT", "ISETP.GE.U32.OR P2, P3, R10, R12, P0", "P2R R0, PR, RZ, 0xf"},
       [](const In& i) {
         const bool a = s(i[0]) < s(i[1]), c = i[0] >= i[2];
         return Out{(a ? 1u : 2u) | (c || a ? 4u : 0u) | (!c || a ? 8u : 0u)};
       }},
      // 64 bits: equal upper words come often enough because the second number may copy the first's.
      {{"ISETP.LT.AND P6, PT, R14, RZ, PT", "SEL R13, R11, R13, P6", "IADD RZ.CC, R10, -R12",
        "ISETP.LT.X.AND P0, PT, R11, R13, PT", "ISETP.LE.X.AND P1, PT, R11, R13, PT",
        "ISETP.EQ.X.AND P2, PT, R11, R13, PT", "ISETP.NE.X.AND P3, PT, R11, R13, PT",
        "ISETP.GT.U32.X.AND P4, PT, R11, R13, PT", "ISETP.GE.U32.X.AND P5, PT, R11, R13, PT", "P2R R0, PR, RZ, 0x3f",
        "ISET.LT.U32.X.AND R1, R11, R13, PT"},
       [](const In& i) {
         const u32 high = s(i[4]) < 0 ? i[1] : i[3];
         const u64 a = u64{i[1]} << 32 | i[0], b = u64{high} << 32 | i[2];
         const i64 x = static_cast<i64>(a), y = static_cast<i64>(b);
         return Out{(x < y ? 1u : 0) | (x <= y ? 2u : 0) | (x == y ? 4u : 0) | (x != y ? 8u : 0) | (a > b ? 16u : 0) |
                        (a >= b ? 32u : 0),
                    a < b ? ~0u : 0};
       },
       Values::kSmallInteger},
      {{"ISET.LT.AND R0, R10, R11, PT", "ISET.BF.NE.AND R1, R10, R11, PT", "ICMP.LT R2, R10, R11, R12",
        "ICMP.GT.U32 R3, R10, R11, R12"},
       [](const In& i) {
         return Out{s(i[0]) < s(i[1]) ? ~0u : 0, i[0] != i[1] ? 0x3f800000u : 0, s(i[2]) < 0 ? i[0] : i[1],
                    i[2] != 0 ? i[0] : i[1]};
       }},
      {{"FSETP.LT.AND P0, P1, |R10|, R11, PT", "FSETP.GEU.FTZ.XOR P2, PT, R10, -R11, P0", "P2R R0, PR, RZ, 0x7",
        "FSET.BF.LTU.AND R1, R10, R11, PT", "FCMP.GE R2, R12, R13, R10", "FCMP.NEU.FTZ R3, R12, R13, R10"},
       [](const In& i) {
         const float x = f(i[0]), y = f(i[1]), z = f(ftz(i[0])), t = -f(ftz(i[1]));
         const bool p = std::fabs(x) < y, q = !(z < t) != p;
         return Out{(p ? 1u : 2u) | (q ? 4u : 0), !(x >= y) ? 0x3f800000u : 0, x >= 0 ? i[2] : i[3],
                    !(z == 0) ? i[2] : i[3]};
       },
       Values::kFloat},
      {{"FSET.NEU.AND RZ.CC, R10, R11, PT", "CSETP.NEU.AND P0, PT, CC, PT", "ISET.LT.AND RZ.CC, R12, R13, PT",
        "CSETP.EQ.AND P1, PT, CC, PT", "FSET.BF.EQ.AND R1.CC, R10, R10, PT", "CSETP.NE.AND P2, PT, CC, PT",
        "P2R R0, PR, RZ, 0x7"},
       [](const In& i) {
         const float x = f(i[0]), y = f(i[1]);
         return Out{(!(x == y) ? 1u : 0) | (s(i[2]) >= s(i[3]) ? 2u : 0) | (x == x ? 4u : 0), x == x ? 0x3f800000u : 0};
       },
       Values::kFloat},
      {{"R2P PR, R10, 0x7f", "PSETP.AND.OR P5, P6, P0, !P1, P2", "PSET.BF.XOR.AND R0, P2, P3, !P4",
        "P2R R1, PR, R11, 0x7f", "P2R.B1 R2, PR, R11, 0x3", "PSET.OR.XOR R3, P0, P3, P4"},
       [](const In& i) {
         const auto p = [&](unsigned k) { return (i[0] >> k & 1) != 0; };
         const bool both = p(0) && !p(1);
         const u32 file = (i[0] & 31) | (both || p(2) ? 32u : 0) | (!both || p(2) ? 64u : 0);
         return Out{(p(2) != p(3)) && !p(4) ? 0x3f800000u : 0, (i[1] & ~0x7fu) | file,
                    (i[1] & ~0x300u) | (file & 3) << 8, (p(0) || p(3)) != p(4) ? ~0u : 0};
       }},
      {{"MOV32I R20, 0x15", "R2P PR, R10.B2, R20", "R2P PR, R11, 0x2a", "MOV32I R21, 0x3c", "P2R R0, PR, R12, R21"},
       [](const In& i) {
         const u32 file = (i[0] >> 16 & 0x15) | (i[1] & 0x2a);
         return Out{(i[2] & ~0x3cu) | (file & 0x3c)};
       }},
      // What a difference leaves in CC, by every test of it.
      {{"IADD R0.CC, R10, -R11", "CSETP.EQ.AND P0, PT, CC, PT", "CSETP.LO.AND P1, PT, CC, PT",
        "CSETP.HI.AND P2, PT, CC, PT", "CSETP.SFT.AND P3, PT, CC, PT", "CSETP.OFT.AND P4, PT, CC, PT",
        "CSETP.LS.AND P5, P6, CC, PT", "P2R R1, PR, RZ, 0x7f", "CSET.BF.HS.AND R2, CC, PT", "CSET.NE.AND R3, CC, PT"},
       [](const In& i) {
         const u32 a = i[0], b = i[1], r = a - b;
         const bool over = i64{s(a)} - s(b) != s(r);
         return Out{r,
                    (a == b ? 1u : 0) | (a < b ? 2u : 0) | (a > b ? 4u : 0) | (s(r) < 0 ? 8u : 0) | (over ? 16u : 0) |
                        (a <= b ? 32u : 64u),
                    a >= b ? 0x3f800000u : 0, a != b ? ~0u : 0};
       }},
      {{"I2I.S32.S32 RZ.CC, R10", "CSETP.LT.AND P0, PT, CC, PT", "LOP.XOR RZ.CC, R10, R11",
        "CSETP.SFT.AND P1, PT, CC, PT", "P2R R0, PR, RZ, 0x3"},
       [](const In& i) { return Out{(s(i[0]) < 0 ? 1u : 0) | (s(i[0] ^ i[1]) < 0 ? 2u : 0)}; }},
  });
}

TEST(Operations64, Float) {
  check_all({
      {{"FFMA R0, R10, R11, R12", "FFMA R1, R10, -R11, R12", "FFMA R2, R10, c[0x0][0x8], -R11",
        "FFMA.SAT R3, R10, R11, R12"},
       [](const In& i) {
         const float x = f(i[0]), y = f(i[1]), z = f(i[2]);
         const float sat = std::fma(x, y, z);
         return Out{b(std::fma(x, y, z)), b(std::fma(x, -y, z)), b(std::fma(x, f(32), -y)),
                    sat > 0 ? b(std::min(sat, 1.0F)) : 0};
       },
       Values::kFloat},
      {{"FADD R0, |R10|, -R11", "FMUL R1, R10, -R11", "FADD R2, R10, 1.5", "FFMA R3, R10, -2, R12"},
       [](const In& i) {
         const float x = f(i[0]), y = f(i[1]);
         return Out{b(std::fabs(x) - y), b(x * -y), b(x + 1.5F), b(std::fma(x, -2.0F, f(i[2])))};
       },
       Values::kFloat},
      {{"MOV R0, R12", "FFMA32I R0, R10, 1.10000002384185791016, R0", "FADD32I R1, R10, -0.10000000149011611938",
        "FMUL32I R2, R10, 3.1415927410125732422"},
       [](const In& i) {
         const float x = f(i[0]);
         return Out{b(std::fma(x, 1.1F, f(i[2]))), b(x - 0.1F), b(x * 3.14159274F)};
       },
       Values::kFloat},
      {{"FADD.FTZ R0, R10, R11", "FMUL.FTZ R1, R10, R11", "FFMA.FTZ R2, R10, R11, R12", "FMUL.FMZ R3, R10, R11"},
       [](const In& i) {
         const float x = f(ftz(i[0])), y = f(ftz(i[1])), z = f(ftz(i[2]));
         return Out{ftz(b(x + y)), ftz(b(x * y)), ftz(b(std::fma(x, y, z))), x == 0 || y == 0 ? 0 : ftz(b(x * y))};
       },
       Values::kFloat},
      {{"FADD.RM R0, R10, R11", "FMUL.RP R1, R10, R11", "FFMA.RZ R2, R10, R11, R12", "FMUL.RM R3, R10, R11"},
       [](const In& i) {
         volatile float x = f(i[0]), y = f(i[1]), z = f(i[2]);
         return Out{rounded(FE_DOWNWARD, [&] { return x + y; }), rounded(FE_UPWARD, [&] { return x * y; }),
                    rounded(FE_TOWARDZERO, [&] { return std::fma(x, y, z); }),
                    rounded(FE_DOWNWARD, [&] { return x * y; })};
       },
       Values::kFloat},
      {{"FMUL.D8 R0, R10, R11", "FMUL.M2 R1, R10, R11", "FMUL.M8.RZ R2, R10, R11", "FMUL.FTZ.D2 R3, R10, R11"},
       [](const In& i) {
         const double p = static_cast<double>(f(i[0])) * f(i[1]);
         const double q = static_cast<double>(f(ftz(i[0]))) * f(ftz(i[1]));
         volatile double m8 = p * 8;
         return Out{b(static_cast<float>(p / 8)), b(static_cast<float>(p * 2)),
                    rounded(FE_TOWARDZERO, [&] { return static_cast<float>(m8); }), ftz(b(static_cast<float>(q / 2)))};
       },
       Values::kFloat},
      {{"FMNMX R0, R10, R11, PT", "FMNMX R1, R10, -R11, !PT", "FMNMX.FTZ R2, |R10|, R11, PT"},
       [](const In& i) {
         const auto least = [](float x, float y) {
           if (x != x || y != y) return b(x != x ? y : x);
           return b(x < y || (x == y && std::signbit(x)) ? x : y);
         };
         const auto most = [](float x, float y) {
           if (x != x || y != y) return b(x != x ? y : x);
           return b(x > y || (x == y && !std::signbit(x)) ? x : y);
         };
         return Out{least(f(i[0]), f(i[1])), most(f(i[0]), -f(i[1])), least(std::fabs(f(ftz(i[0]))), f(ftz(i[1])))};
       },
       Values::kFloat},
      {{"RRO.EX2 R20, R10", "MUFU.EX2 R0, R20", "MUFU.SQRT R1, |R10|", "MUFU.RCP R2, R10", "MUFU.RSQ.SAT R3, |R10|"},
       [](const In& i) {
         const double v = f(i[0]);
         return Out{b(static_cast<float>(std::exp2(v))), b(static_cast<float>(std::sqrt(std::fabs(v)))),
                    b(static_cast<float>(1 / v)), b(std::min(static_cast<float>(1 / std::sqrt(std::fabs(v))), 1.0F))};
       },
       Values::kModestFloat},
  });
}

TEST(Operations64, Double) {
  check_all({
      {{"DADD R0, R10, -R12", "DMUL R2, R10, R12"},
       [](const In& i) {
         const Out x = both(d(i, 0) - d(i, 2)), y = both(d(i, 0) * d(i, 2));
         return Out{x[0], x[1], y[0], y[1]};
       },
       Values::kDouble},
      {{"DFMA R0, R10, R12, R14", "DSETP.GT.AND P0, PT, R10, |R12|, PT", "SEL R2, R16, R17, P0",
        "DSET.BF.LEU.AND R3, R10, R12, PT"},
       [](const In& i) {
         const Out x = both(std::fma(d(i, 0), d(i, 2), d(i, 4)));
         return Out{x[0], x[1], d(i, 0) > std::fabs(d(i, 2)) ? i[6] : i[7], !(d(i, 0) > d(i, 2)) ? 0x3f800000u : 0};
       },
       Values::kDouble},
      {{"F2F.F64.F32 R0, R10", "F2F.F32.F64 R2, R12"},
       [](const In& i) {
         const Out x = both(static_cast<double>(f(i[0])));
         return Out{x[0], x[1], b(static_cast<float>(d(i, 2)))};
       },
       Values::kDouble},
  });
}

// NaN is 0 as long as no side has 64 bits.
u32 whole(double v, double least, double most) {
  return v != v ? 0 : static_cast<u32>(static_cast<i64>(std::min(std::max(v, least), most)));
}

TEST(Operations64, Conversions) {
  check_all({
      {{"F2I.S32.F32 R0, R10", "F2I.U32.F32.TRUNC R1, R10", "F2I.S16.F32.FLOOR R2, -R10",
        "F2I.S32.F16.CEIL R3, R11.H1"},
       [](const In& i) {
         const double v = f(i[0]);
         return Out{whole(std::nearbyint(v), -0x1p31, 0x7fffffff), whole(std::trunc(v), 0, 0xffffffff),
                    whole(std::floor(-v), -32768, 32767),
                    whole(std::ceil(half_value(i[1] >> 16)), -0x1p31, 0x7fffffff)};
       },
       Values::kFloat},
      {{"F2I.S64.F32.TRUNC R0, R10"},
       [](const In& i) {
         const float v = f(i[0]);
         if (v != v || v < -0x1p63F) return pair(u64{1} << 63);
         if (v >= 0x1p63F) return pair(~u64{0} >> 1);
         return pair(static_cast<u64>(static_cast<i64>(v)));
       },
       Values::kFloat},
      {{"I2F.F32.S32 R0, R10", "I2F.F32.U8 R1, R10.B3", "I2F.F32.S16.RP R2, -R10.H1", "I2F.F32.U32.RM R3, R10"},
       [](const In& i) {
         volatile u32 v = i[0];
         return Out{b(static_cast<float>(s(i[0]))), b(static_cast<float>(i[0] >> 24)),
                    b(-static_cast<float>(s(shi(i[0])))) == 0x80000000u ? 0 : b(-static_cast<float>(s(shi(i[0])))),
                    rounded(FE_DOWNWARD, [&] { return static_cast<float>(v); })};
       }},
      {{"I2I.S32.S8 R0, R10.B1", "I2I.U8.S32.SAT R1, R10", "I2I.S16.S32 R2, R10", "I2I.S16.S32.SAT R3, -R10"},
       [](const In& i) {
         const auto clamp = [](i64 v, i64 low, i64 high) { return static_cast<u32>(std::clamp(v, low, high)); };
         return Out{static_cast<u32>(static_cast<std::int8_t>(i[0] >> 8)), clamp(s(i[0]), 0, 255), slo(i[0]),
                    clamp(-i64{s(i[0])}, -32768, 32767)};
       }},
      {{"I2I.U32.U16 R0, R10.H1", "I2I.S32.S32 R1, |R10|", "I2I.U8.U32 R2, R10", "I2I.S8.U16.SAT R3, R10"},
       [](const In& i) {
         return Out{i[0] >> 16, s(i[0]) < 0 ? 0 - i[0] : i[0], i[0] & 255, std::min(i[0] & 0xffff, 127u)};
       }},
      {{"F2F.F16.F32 R0, R10", "F2F.F32.F16 R1, R11.H1", "F2F.F32.F16 R2, -R11", "F2F.F16.F32.SAT R3, R10"},
       [](const In& i) {
         const double v = f(i[0]);
         return Out{half_bits(v), b(static_cast<float>(half_value(i[1] >> 16))),
                    b(static_cast<float>(-half_value(i[1] & 0xffff))), half_bits(v > 0 ? std::min(v, 1.0) : 0)};
       },
       Values::kModestFloat},
      {{"F2F.F32.F32 R0, -|R10|", "F2F.F32.F32.ROUND R1, R10", "F2F.F32.F32.FLOOR R2, R10",
        "F2F.FTZ.F32.F32.SAT R3, R10"},
       [](const In& i) {
         const float v = f(i[0]), z = f(ftz(i[0]));
         return Out{b(-std::fabs(v)), b(std::nearbyint(v)), b(std::floor(v)), z > 0 ? b(std::min(z, 1.0F)) : 0};
       },
       Values::kFloat},
      {{"F2F.F32.F32.CEIL R0, R10", "F2F.F32.F32.TRUNC R1, R10", "F2F.F16.F16.ROUND R2, R11"},
       [](const In& i) {
         return Out{b(std::ceil(f(i[0]))), b(std::trunc(f(i[0]))),
                    half_bits(std::nearbyint(half_value(i[1] & 0xffff)))};
       },
       Values::kFloat},
  });
}

}  // namespace
}  // namespace nervanagpu::sass::emulate::testing
