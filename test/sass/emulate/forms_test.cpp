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

// Lanes where it is false get zeros, whatever the width and wherever they point; those where the guard is false nothing.
TEST(Forms, LoadsWithAPredicateBehindOfEveryWidth) {
  const std::vector<std::string> positive = {"ISETP.GT.AND P0, PT, R10, RZ, PT", "@!P0 MOV R102, 0x1",
                                             "@!P0 MOV R103, 0x7fff"};
  const auto with = [&](const std::vector<std::string>& more) {
    std::vector<std::string> body = positive;
    body.insert(body.end(), more.begin(), more.end());
    return body;
  };
  const auto filled = [](const char* load) {
    return std::vector<std::string>{"MOV R20, 0x5", "MOV R21, 0x6", "MOV R22, 0x7", "MOV R23, 0x8", load,
                                    "MOV R0, R20",  "MOV R1, R21",  "MOV R2, R22",  "MOV R3, R23"};
  };
  // The address of a lane's values is a multiple of 4 only: wide loads start at a multiple of 16.
  const auto aligned = [&](const char* load) {
    std::vector<std::string> body = {"LOP3.LUT R102, R102, 0xfffffff0, RZ, 0xc0, !PT"};
    const std::vector<std::string> rest = with(filled(load));
    body.insert(body.end(), rest.begin(), rest.end());
    return body;
  };
  for (const Arch arch : {Arch::sm_90a, Arch::sm_80}) {
    const Cases cases = {
        {with(filled("LDG.E.U16 R20, desc[UR4][R102.64], P0")),
         [](const In& i) {
           return Out{s(i[0]) > 0 ? i[0] & 0xffff : 0, 6, 7, 8};
         }},
        {with(filled("LD.E.S8 R20, desc[UR4][R102.64+0x80], P0")),
         [](const In& i) {
           return Out{s(i[0]) > 0 ? static_cast<u32>(static_cast<std::int8_t>(i[1])) : 0, 6, 7, 8};
         }},
        // Not even a guard that is false: nothing is written.
        {with(filled("@!P0 LDG.E R20, desc[UR4][R102.64], P0")),
         [](const In& i) {
           return Out{s(i[0]) > 0 ? 5u : 0u, 6, 7, 8};
         }},
        {with(filled("LDG.E RZ, desc[UR4][R102.64], P0")),
         [](const In&) {
           return Out{5, 6, 7, 8};
         }},
        {with(filled("LDG.E.128 RZ, desc[UR4][R102.64], !PT")),
         [](const In&) {
           return Out{5, 6, 7, 8};
         }},
        {with(filled("LDG.E.128 R20, desc[UR4][R102.64], !PT")), [](const In&) { return Out{}; }},
        {with(filled("LDG.E.64 R22, desc[UR4][R102.64], !PT")),
         [](const In&) {
           return Out{5, 6};
         }},
        // PT is not written and changes nothing.
        {filled("LDG.E R20, desc[UR4][R102.64], PT"),
         [](const In& i) {
           return Out{i[0], 6, 7, 8};
         }},
    };
    for (const Case& c : cases) check(c, arch);
    for (const bool inverted : {false, true}) {
      // The first of four lanes has all that they load.
      for (const unsigned words : {2u, 4u}) {
        const std::string text = std::string(words == 2 ? "LDG.E.64" : "LD.E.128") + " R20, desc[UR4][R102.64], " +
                                 (inverted ? "!P1" : "P0");
        std::vector<std::string> body = aligned(text.c_str());
        if (inverted) body.insert(body.begin() + 2, "ISETP.LE.AND P1, PT, R10, RZ, PT");
        const KernelImage image = lane_kernel(body, arch);
        std::mt19937_64 rng(7);
        std::array<In, 32> in;
        for (In& i : in) i = draw(rng, Values::kInteger);
        for (const Mode mode : {Mode::kFast, Mode::kChecked}) {
          const std::array<Out, 32> got = run_lanes(image, in, mode, arch);
          for (unsigned l = 0; l < 32; ++l) {
            Out want = {5, 6, 7, 8};
            for (unsigned k = 0; k < words; ++k) want[k] = s(in[l][0]) > 0 ? in[l / 4 * 4 + k][0] : 0;
            ASSERT_EQ(got[l], want) << text << ", lane " << l;
          }
        }
      }
    }
  }
  // Where it is true, there must be memory.
  const KernelImage image = lane_kernel({"ISETP.EQ.AND P0, PT, R10, RZ, PT", "MOV R102, 0x4", "MOV R103, 0x7fff",
                                         "LDG.E.64 R20, desc[UR4][R102.64+0x4], P0"});
  Memory memory(1 << 20);
  const Buffer<u32> inputs(memory, std::vector<u32>(256)), outputs(memory, 128);
  const Result<Report> report =
      run_image(image, memory, {1}, {32}, Params().add(inputs.address()).add(outputs.address()).bytes());
  ASSERT_FALSE(report.ok());
  EXPECT_NE(report.error().text().find("R20, desc[UR4][R102.64+0x4], P0"), std::string::npos) << report.error().text();
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

// .F32: what no half has rounded. Halves flush to zero with .FTZ; no sum or product of others is a subnormal float.
u32 wide(double v, bool saturates) {
  if (saturates) v = v > 0 ? std::min(v, 1.0) : 0.0;
  return std::isnan(v) ? 0x7fffffffu : b(static_cast<float>(v));
}

double flushed(u32 h) {
  return half_value((h & 0x7c00) == 0 ? h & 0x8000 : h & 0xffff);
}

TEST(Forms, FloatsOfHalves) {
  const auto low = [](u32 v) { return half_value(v & 0xffff); };
  const auto high = [](u32 v) { return half_value(v >> 16); };
  const Case sums = {{"HADD2.F32 R0, R10.H0_H0, R11.H1_H1", "HADD2.F32.SAT R1, -RZ, R10.H0_H0",
                      "HADD2.F32.SAT R2, R10.H1_H1, -R11.H0_H0", "HADD2.F32.FTZ R3, R10.H0_H0, |R11|.H0_H0"},
                     [&](const In& i) {
                       return Out{wide(low(i[0]) + high(i[1]), false), wide(low(i[0]), true),
                                  wide(high(i[0]) - low(i[1]), true),
                                  wide(flushed(i[0]) + flushed(i[1] & 0x7fff), false)};
                     },
                     Values::kHalf};
  const Case products = {{"HMUL2.F32 R0, R10.H0_H0, R11.H1_H1", "HMUL2.F32.SAT R1, -R10.H1_H1, |R11|.H0_H0",
                          "HMUL2.F32.FTZ R2, R10.H0_H0, R11.H0_H0", "HFMA2.F32 R3, R10.H1_H1, R11.H1_H1, -R12.H0_H0"},
                         [&](const In& i) {
                           const auto sum = static_cast<long double>(high(i[0])) * high(i[1]) - low(i[2]);
                           return Out{wide(low(i[0]) * high(i[1]), false),
                                      wide(-high(i[0]) * std::fabs(low(i[1])), true),
                                      wide(flushed(i[0]) * flushed(i[1]), false),
                                      std::isnan(sum) ? 0x7fffffffu : b(static_cast<float>(sum))};
                         },
                         Values::kHalf};
  for (const Arch arch : {Arch::sm_90a, Arch::sm_80}) check(sums, arch);
  check(products, Arch::sm_80);
}

}  // namespace
}  // namespace nervanagpu::sass::emulate::testing
