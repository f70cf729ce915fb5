// Registers by live range: names share registers only where nothing can tell, and what does not fit is explained.
#include "sass/asm/template/allocate.h"

#include <gtest/gtest.h>

#include <random>

#include "sass/asm/template/free_text.h"
#include "test/sass/asm/template_text.h"
#include "test/sass/emulate/harness.h"

namespace nervanagpu::sass {
namespace {

using testing::lines_of;

std::string live(const std::string& text) {
  return lines_of(".allocate live\n" + text);
}

TEST(Allocate, NamesOfDisjointLivesShareARegister) {
  EXPECT_EQ(live(".reg a, b, c\nMOV a, RZ\nMOV b, a\nMOV c, b\nEXIT\n"), "MOV R0, RZ\nMOV R0, R0\nMOV R0, R0\nEXIT\n");
  EXPECT_EQ(live(".reg a, b, c\nMOV a, RZ\nMOV b, a\nIADD3 c, a, b, RZ\nMOV b, c\nEXIT\n"),
            "MOV R0, RZ\nMOV R1, R0\nIADD3 R0, R0, R1, RZ\nMOV R1, R0\nEXIT\n");
}

TEST(Allocate, AnAliasOfSeveralStandsForAPartOfItsName) {
  EXPECT_EQ(live(".reg a[4], b[4]\n.alias c[2] = b[2]\nMOV b[2], RZ\nMOV b[3], RZ\nIADD3 c[0], c[0], c[1], RZ\nEXIT\n"),
            live(".reg a[4], b[4]\nMOV b[2], RZ\nMOV b[3], RZ\nIADD3 b[2], b[2], b[3], RZ\nEXIT\n"));
  EXPECT_NE(live(".reg b[4]\n.alias c[3] = b[2]\nEXIT\n").find("must be 1 to 2, found 3"), std::string::npos);
}

TEST(Allocate, ALoopKeepsWhatItsNextPassReads) {
  // `once` is read in every pass, so that `inner` must not take its register although it is written after the last read.
  const std::string text = R"(
.reg once, i, inner
MOV once, 0x5
MOV i, RZ
again:
IADD3 i, i, once, RZ
MOV inner, i
IADD3 i, inner, 0x1, RZ
ISETP.LT.AND P0, PT, i, 0x64, PT
@P0 BRA `(again)
EXIT
)";
  const std::string out = live(text);
  EXPECT_NE(out.find("MOV R0, 0x5\nMOV R1, RZ\nagain:\nIADD3 R1, R1, R0, RZ\nMOV R1, R1"), std::string::npos) << out;
}

TEST(Allocate, APredicatedWriteDoesNotEndTheValueBefore) {
  const std::string text = R"(
.reg a, b, c
MOV a, 0x1
MOV b, 0x2
@P0 MOV a, 0x3
IADD3 c, a, b, RZ
STS [RZ], c
EXIT
)";
  EXPECT_EQ(live(text), "MOV R0, 0x1\nMOV R1, 0x2\n@P0 MOV R0, 0x3\nIADD3 R0, R0, R1, RZ\nSTS [RZ], R0\nEXIT\n");
  // After an unguarded write the old value is gone: b may have the register of a in between.
  EXPECT_EQ(live(".reg a, b\nMOV a, 0x1\nSTS [RZ], a\nMOV b, 0x2\nSTS [RZ], b\nMOV a, 0x3\nSTS [RZ], a\nEXIT\n"),
            "MOV R0, 0x1\nSTS [RZ], R0\nMOV R0, 0x2\nSTS [RZ], R0\nMOV R0, 0x3\nSTS [RZ], R0\nEXIT\n");
  // After a guarded one it is not.
  EXPECT_EQ(live(".reg a, b\nMOV a, 0x1\nMOV b, 0x2\nSTS [RZ], b\n@P0 MOV a, 0x3\nSTS [RZ], a\nEXIT\n"),
            "MOV R0, 0x1\nMOV R1, 0x2\nSTS [RZ], R1\n@P0 MOV R0, 0x3\nSTS [RZ], R0\nEXIT\n");
}

TEST(Allocate, VectorsAreAlignedAsTheirInstructionsNeed) {
  EXPECT_EQ(
      live(".reg x, q[4], p[2]\nMOV x, RZ\nLDS.128 q[0], [x]\nIMAD.WIDE.U32 p[0], x, q[1], q[2]\nSTS.64 [x], p[0]\n"
           "STS [x], q[3]\nEXIT\n"),
      "MOV R4, RZ\nLDS.128 R0, [R4]\nIMAD.WIDE.U32 R6, R4, R1, R2\nSTS.64 [R4], R6\nSTS [R4], R3\nEXIT\n");
}

TEST(Allocate, BankAlignmentFixedAndReservedPlaces) {
  EXPECT_EQ(live(".reg a bank 1, b bank 1\nMOV a, RZ\nMOV b, a\nSTS [a], b\nEXIT\n"),
            "MOV R1, RZ\nMOV R3, R1\nSTS [R1], R3\nEXIT\n");
  EXPECT_EQ(live(".reg f = R0\n.reg a\nMOV a, RZ\nSTS [a], a\nEXIT\n"), "MOV R1, RZ\nSTS [R1], R1\nEXIT\n");
  EXPECT_EQ(live(".reserve R0..R3, P0\n.reg a\n.pred p\nMOV a, RZ\nISETP.LT.AND p, PT, a, 0x1, PT\n@p EXIT\nEXIT\n"),
            "MOV R4, RZ\nISETP.LT.AND P1, PT, R4, 0x1, PT\n@P1 EXIT\nEXIT\n");
  EXPECT_EQ(live(".reg a\nMOV a, RZ\nLDS.64 R0, [R2]\nSTS [a], R0\nEXIT\n"),
            "MOV R3, RZ\nLDS.64 R0, [R2]\nSTS [R3], R0\nEXIT\n")
      << "registers named by number, both of a pair, are kept away";
}

TEST(Allocate, PredicatesAndUniformRegistersHaveLivesToo) {
  std::string text = ".ureg d[2]\n.reg x\nULDC.64 d[0], c[0x0][0x208]\nMOV x, RZ\n";
  for (int k = 0; k < 20; ++k) {
    const std::string p = "p" + std::to_string(k);
    text += ".pred " + p + "\nISETP.LT.AND " + p + ", PT, x, " + std::to_string(k) + ", PT\n@" + p + " STS [x], x\n";
  }
  const std::string out = live(text + "STG.E desc[d[0]][R2.64], x\nEXIT\n");
  EXPECT_EQ(out.find("P1,"), std::string::npos) << "twenty names, one predicate\n" << out;
  EXPECT_NE(out.find("desc[UR0]"), std::string::npos) << out;
}

TEST(Allocate, WhatDoesNotFitIsExplained) {
  std::string text = ".pred p[8]\n.reg x\nMOV x, RZ\n";
  for (int k = 0; k < 8; ++k) text += "ISETP.LT.AND p[" + std::to_string(k) + "], PT, x, 0x1, PT\n";
  EXPECT_NE(live(text).find("must be 1 to 7"), std::string::npos);
  text = ".pred a, b, c, d, e, f, g, h\n.reg x\nMOV x, RZ\n";
  for (const char k : std::string("abcdefgh")) text += std::string("ISETP.LT.AND ") + k + ", PT, x, 0x1, PT\n";
  for (const char k : std::string("abcdefgh")) text += std::string("@") + k + " STS [x], x\n";
  EXPECT_EQ(live(text + "EXIT\n"),
            "error: k.sass:3:28: error: no room for `h`: 1 P register\n  8 P registers are live at k.sass:13: "
            "a, b, c, d, e, f, g, h\n  7 there are, 0 of them kept away");
  EXPECT_NE(live(".reg q[2]\nLDS.128 q[0], [RZ]\nEXIT\n")
                .find("k.sass:4:1: error: the instruction takes 4 registers from `q[0]` on; `q` has 2"),
            std::string::npos);
  EXPECT_NE(live(".reg a\n.let n = reg(a)\nEXIT\n").find("has no number yet"), std::string::npos);
}

TEST(Allocate, ErrorsNameTheTemplatesNames) {
  const std::string out = live(".reg q[4]\nLDS.64 q[1], [RZ]\nEXIT\n");
  EXPECT_NE(out.find("`q` stands at R0"), std::string::npos) << out;
}

TEST(Allocate, TokensAreFoundWhereRegistersStand) {
  const auto tokens = register_tokens("??:?:?:?:? @!P1024 LDG.E.128 R1028, desc[UR1032][R2.64+R1.X] `(R1024)");
  ASSERT_EQ(tokens.size(), 5u);
  EXPECT_EQ(tokens[0].file, RegFile::kPred);
  EXPECT_EQ(tokens[1].number, 1028u);
  EXPECT_EQ(tokens[2].file, RegFile::kUGpr);
}

// ---- Random programs: by live range and by scope they compute the same ---------------------------------------------
std::string random_program(unsigned seed) {
  std::mt19937 rng(seed);
  const auto below = [&](unsigned n) { return static_cast<unsigned>(rng() % n); };
  std::string t = R"(
.param u64 out
.threads 32
.reg tid, i, to[2] align 2
.ureg ud[2]
S2R tid, SR_TID.X
ULDC.64 ud[0], sys[descriptor]
MOV i, RZ
)";
  std::vector<std::string> known{"tid", "i"};
  unsigned made = 0;
  const auto any = [&] { return known[below(static_cast<unsigned>(known.size()))]; };
  const auto fresh = [&](const std::string& attributes) {
    std::string name = "v" + std::to_string(made++);
    t += ".reg " + name + attributes + "\n";
    return name;
  };
  const auto some = [&](unsigned count) {
    for (unsigned k = 0; k < count; ++k) {
      switch (below(5)) {
        case 0: {
          const std::string a = any(), b = any(), n = fresh("");
          t += "IADD3 " + n + ", " + a + ", 0x" + std::to_string(below(9)) + ", " + b + "\n";
          known.push_back(n);
          break;
        }
        case 1: {
          const std::string a = any(), b = any(), n = fresh("[2] align 2");
          t += "IMAD.WIDE.U32 " + n + "[0], " + a + ", " + b + ", RZ\n";
          known.push_back(n + "[0]");
          known.push_back(n + "[1]");
          break;
        }
        case 2: {
          const std::string p = "p" + std::to_string(made++);
          t += ".pred " + p + "\nISETP.LT.AND " + p + ", PT, " + any() + ", " + any() + ", PT\n";
          std::string target = any();
          if (target == "i" || target == "tid") target = known.back();
          if (target == "i" || target == "tid") break;
          t += "@" + p + " IADD3 " + target + ", " + any() + ", 0x1, RZ\n";
          break;
        }
        case 3: {
          const std::string a = any(), n = fresh(" bank " + std::to_string(below(2)));
          t += "POPC " + n + ", " + a + "\n";
          known.push_back(n);
          break;
        }
        default: {
          const std::string a = any(), b = any(), n = fresh("");
          t += "LOP3.LUT " + n + ", " + a + ", " + b + ", RZ, 0x3c, !PT\n";
          known.push_back(n);
        }
      }
      if (known.size() > 8) known.erase(known.begin() + 2 + below(static_cast<unsigned>(known.size()) - 2));
    }
  };
  some(6 + below(10));
  const std::vector<std::string> before = known;
  t += "again:\n";
  some(4 + below(10));
  // A way around a part of the loop, so that it has several blocks; what that part defines nobody else reads.
  const std::vector<std::string> outside = known;
  t += ".pred around\nISETP.LT.AND around, PT, " + any() + ", " + any() + ", PT\n@around BRA `(skip)\n";
  some(3 + below(6));
  known = outside;
  t += "skip:\n";
  some(below(4));
  t += ".pred more\nIADD3 i, i, 0x1, RZ\nISETP.LT.AND more, PT, i, 0x4, PT\n@more BRA `(again)\n";
  some(below(6));
  // Some of the names from before the loop are only read in it.
  for (const std::string& n : before) {
    if (below(3) == 0) known.push_back(n);
  }
  t += "MOV to[0], param[out]\nMOV to[1], param[out+4]\nIMAD.WIDE.U32 to[0], tid, 0x80, to[0]\n";
  for (unsigned k = 0; k < known.size() && k < 32; ++k) {
    t += "STG.E desc[ud[0]][to[0].64+" + std::to_string(4 * k) + "], " + known[k] + "\n";
  }
  return t + "EXIT\n";
}

struct Outcome {
  std::vector<std::uint32_t> words;
  std::uint32_t registers = 0;
};

Outcome outcome(const std::string& text) {
  const Result<KernelImage> image = assemble_variant(testing::template_of(".kernel k\n" + text), Arch::sm_90a, {});
  EXPECT_TRUE(image.ok()) << (image.ok() ? "" : image.error().text()) << "\n" << text;
  if (!image.ok()) return {};
  emulate::Memory memory(std::size_t{1} << 20);
  const emulate::testing::Buffer<std::uint32_t> out(memory, 32 * 32);
  const auto report =
      emulate::testing::run_image(*image, memory, {1, 1, 1}, {32, 1, 1},
                                  emulate::testing::Params().add(out.address()).bytes(), emulate::Mode::kChecked, 0, 1);
  EXPECT_TRUE(report.ok()) << (report.ok() ? "" : report.error().text());
  if (report.ok()) {
    EXPECT_TRUE(report->findings.empty()) << report->findings[0].text() << text;
  }
  return {out.get(), image->registers};
}

TEST(Allocate, RandomProgramsComputeTheSameWithFewerRegisters) {
  std::uint32_t by_scope = 0, by_life = 0;
  for (unsigned seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    const std::string text = random_program(seed);
    // By scope seven predicates do not always suffice.
    if (lines_of(text).substr(0, 6) == "error:") continue;
    const Outcome want = outcome(text);
    const Outcome got = outcome(".allocate live\n" + text);
    EXPECT_EQ(got.words, want.words) << lines_of(".allocate live\n" + text);
    EXPECT_LE(got.registers, want.registers);
    EXPECT_EQ(lines_of(".allocate live\n" + text), lines_of(".allocate live\n" + text));
    by_scope += want.registers;
    by_life += got.registers;
    if (HasFailure()) return;
  }
  EXPECT_LT(by_life * 4, by_scope * 3) << "registers: " << by_life << " and " << by_scope;
  EXPECT_GT(by_scope, 200u);
}

}  // namespace
}  // namespace nervanagpu::sass
