// Forms that few kernels use: uniform offsets and predicates of loads, constants at a uniform register, products of four bits.
#include "test/sass/emulate/operation_cases.h"

namespace nervanagpu::sass::emulate::testing {
namespace {

TEST(Forms, UniformOffsets) {
  const std::vector<std::string> offset = {"UMOV UR6, 0x80", "UMOV UR7, 0x0"};
  const auto with = [&](const std::vector<std::string>& more) {
    std::vector<std::string> body = offset;
    body.insert(body.end(), more.begin(), more.end());
    return body;
  };
  for (const Arch arch : {Arch::sm_90a, Arch::sm_80}) {
    const char* const table = arch == Arch::sm_90a ? "ULDC.64 UR8, c[0x0][0x210]" : "ULDC.64 UR8, c[0x0][0x160]";
    const Cases cases = {
        {with({"LDG.E R0, [R102.64+UR6]", "LD.E R1, [R102.64+UR6+0x80]", "LDG.E R2, [R102.64+UR6+-0x80]"}),
         [](const In& i) {
           return Out{i[1], i[2], i[0]};
         }},
        {{table, "SHF.L.U32 R20, R100, 0x2, RZ", "LDG.E R0, [R20.U32+UR8+0x80]", "LD.E R1, [R20.U32+UR8]"},
         [](const In& i) {
           return Out{i[1], i[0]};
         }},
        {with({"STG.E [R102.64+UR6], R10", "ST.E [R102.64+UR6+0x80], R11", "LDG.E R0, [R102.64+UR6]",
               "LDG.E R1, [R102.64+UR6+0x80]"}),
         [](const In& i) {
           return Out{i[0], i[1]};
         }},
        {with({"ATOMG.E.ADD.STRONG.GPU PT, R0, [R102.64+UR6], R12", "ATOM.E.EXCH.STRONG.GPU PT, R1, [R102.64+UR6], R13",
               "LDG.E R2, [R102.64+UR6]"}),
         [](const In& i) {
           return Out{i[1], i[1] + i[2], i[3]};
         }},
        {with({std::string(arch == Arch::sm_90a ? "REDG" : "RED") + ".E.ADD.STRONG.GPU [R102.64+UR6+0x80], R10",
               "LDG.E R0, [R102.64+UR6+0x80]"}),
         [](const In& i) { return Out{i[0] + i[2]}; }},
    };
    for (const Case& c : cases) check(c, arch);
  }
}

TEST(Forms, LoadsWithAPredicateBehind) {
  const Cases cases = {
      {{"ISETP.GT.AND P0, PT, R10, RZ, PT", "MOV R0, 0x5", "MOV R1, 0x6", "LDG.E R0, desc[UR4][R102.64+0x80], P0",
        "LD.E R1, desc[UR4][R102.64+0x80], !P0", "LDG.E R2, desc[UR4][R102.64+0x100], !PT"},
       [](const In& i) {
         return Out{s(i[0]) > 0 ? i[1] : 0, s(i[0]) > 0 ? 0 : i[1], 0};
       }},
      // Where it is false there need not be memory.
      {{"ISETP.GT.AND P0, PT, R10, RZ, PT", "@!P0 MOV R103, 0x1", "MOV R0, 0x5",
        "LDG.E R0, desc[UR4][R102.64+0x80], P0"},
       [](const In& i) { return Out{s(i[0]) > 0 ? i[1] : 0}; }},
  };
  for (const Arch arch : {Arch::sm_90a, Arch::sm_80}) {
    for (const Case& c : cases) check(c, arch);
  }
}

TEST(Forms, ConstantsAtAUniformRegister) {
  check({{"UMOV UR6, 0xc", "ULDC UR8, c[0x0][UR6+-0xc]", "ULDC UR9, c[0x0][UR6]", "ULDC.U8 UR10, c[0x0][URZ]",
          "MOV R0, UR8", "MOV R1, UR9", "MOV R2, UR10"},
         [](const In&) {
           return Out{32, 1, 32};
         }});
}

int nibble(u32 word, unsigned i, bool is_signed) {
  const int v = static_cast<int>(word >> 4 * i & 15);
  return is_signed && v > 7 ? v - 16 : v;
}

// Products of 8 or 16 rows by 8 columns: register r of A has rows of r % 2 and the k of r / 2.
void expect_products(const std::string& text, unsigned rows, unsigned a_at, unsigned a_count, unsigned b_at,
                     bool a_signed, bool b_signed, bool adds) {
  SCOPED_TRACE(text);
  std::mt19937_64 rng(7);
  std::array<In, 32> in;
  for (In& i : in) i = draw(rng, Values::kInteger);
  const std::array<Out, 32> got = run_lanes(lane_kernel({text}, Arch::sm_80), in, Mode::kFast, Arch::sm_80);
  const unsigned halves = rows / 8;
  for (unsigned l = 0; l < 32; ++l) {
    for (unsigned r = 0; r < 2 * halves; ++r) {
      const unsigned column = l % 4 * 2 + r % 2;
      u32 sum = adds ? in[l][4 + r] : 0;
      for (unsigned part = 0; part < a_count / halves; ++part) {
        for (unsigned q = 0; q < 4; ++q) {
          for (unsigned i = 0; i < 8; ++i) {
            const u32 a = in[l / 4 * 4 + q][a_at + part * halves + r / 2];
            const u32 b = in[column * 4 + q][b_at + part];
            sum += static_cast<u32>(nibble(a, i, a_signed) * nibble(b, i, b_signed));
          }
        }
      }
      ASSERT_EQ(got[l][r], sum) << "lane " << l << ", register " << r;
    }
  }
}

TEST(Forms, ProductsOfFourBits) {
  expect_products("IMMA.8832.S4.S4 R0, R10.ROW, R11.COL, R14", 8, 0, 1, 1, true, true, true);
  expect_products("IMMA.8832.U4.S4 R0, R10.ROW, R11.COL, RZ", 8, 0, 1, 1, false, true, false);
  expect_products("IMMA.16832.S4.U4 R0, R10.ROW, R12.COL, RZ", 16, 0, 2, 2, true, false, false);
  expect_products("IMMA.16864.U4.U4 R0, R12.ROW, R10.COL, RZ", 16, 2, 4, 0, false, false, false);
  expect_products("IMMA.16864.S4.S4 R0, R12.ROW, R10.COL, RZ", 16, 2, 4, 0, true, true, false);
}

TEST(Forms, ProductsOfDoublesOfAmpere) {
  std::mt19937_64 rng(7);
  std::array<In, 32> in{};
  for (In& i : in) {
    for (unsigned k = 0; k < 2; ++k) {
      const auto v = std::bit_cast<u64>(static_cast<double>(rng() % 1000) / 8);
      i[2 * k] = static_cast<u32>(v);
      i[2 * k + 1] = static_cast<u32>(v >> 32);
    }
  }
  const auto got = run_lanes(lane_kernel({"DMMA.884 R0, R10, R12, RZ"}, Arch::sm_80), in, Mode::kFast, Arch::sm_80);
  for (unsigned l = 0; l < 32; ++l) {
    for (unsigned r = 0; r < 2; ++r) {
      double sum = 0;
      for (unsigned k = 0; k < 4; ++k) sum += d(in[l / 4 * 4 + k], 0) * d(in[(l % 4 * 2 + r) * 4 + k], 2);
      EXPECT_EQ(std::bit_cast<double>(u64{got[l][2 * r + 1]} << 32 | got[l][2 * r]), sum) << l << " " << r;
    }
  }
}

}  // namespace
}  // namespace nervanagpu::sass::emulate::testing
