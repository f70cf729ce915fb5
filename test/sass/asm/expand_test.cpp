// Directives and names: what a template expands to.
#include "sass/asm/template/expand.h"

#include <gtest/gtest.h>

#include "test/sass/asm/template_text.h"

namespace nervanagpu::sass {
namespace {

using testing::lines_of;
using testing::template_of;

TEST(Expand, CommentsBlanksAndSemicolons) {
  EXPECT_EQ(lines_of("  EXIT ;  // last\n\n/* one\n two */ NOP\n"), "EXIT\nNOP\n");
  EXPECT_EQ(lines_of("EXIT\r\nNOP\r\n"), "EXIT\nNOP\n");
  EXPECT_EQ(lines_of("NOP // naïve µ\n"), "NOP\n");
  EXPECT_EQ(lines_of("NOP /**/\n/* // */ EXIT // /*\n"), "NOP\nEXIT\n");
  EXPECT_EQ(lines_of("NOP"), "NOP\n") << "no newline at the end";
}

TEST(Expand, Braces) {
  EXPECT_EQ(lines_of(".let a = 12\nMOV R0, {a}\nMOV R0, {a * 2:x}\nMOV R0, {-a:x}\n"),
            "MOV R0, 12\nMOV R0, 0x18\nMOV R0, -0xc\n");
  EXPECT_EQ(lines_of("DEPBAR {3,1,0}\nDEPBAR {{3}}\nLDG {desc=UR6}\n"), "DEPBAR {3,1,0}\nDEPBAR {3}\nLDG {desc=UR6}\n");
  EXPECT_EQ(lines_of(".let i = 3\nDEPBAR {{{i}}}\n"), "DEPBAR {3}\n");
  EXPECT_EQ(lines_of(".let op = FADD\n{op} R0, R1, R2\n"), "FADD R0, R1, R2\n");
  EXPECT_EQ(lines_of("MOV R0, {1 == 1 ? 4 : 5}\nMOV R0, {max(1, 2)}\n"), "MOV R0, 4\nMOV R0, 2\n");
}

TEST(Expand, LetsAndScopes) {
  EXPECT_EQ(lines_of(".let a = 1\n.if 1\n.let a = a + 1\nMOV R0, {a}\n.end\nMOV R0, {a}\n"), "MOV R0, 2\nMOV R0, 1\n");
  EXPECT_EQ(lines_of(".default a = 5\n.default a = 6\nMOV R0, {a}\n"), "MOV R0, 5\n");
  EXPECT_EQ(lines_of(".default a = 5\nMOV R0, {a}\n", {{"a", "0x10"}}), "MOV R0, 16\n");
  EXPECT_EQ(lines_of("MOV R0, {ARCH}\nMOV R0, {SHARED_BASE:x}\nMOV R0, {PARAM_BASE:x}\n"),
            "MOV R0, 90\nMOV R0, 0x400\nMOV R0, 0x210\n");
  EXPECT_EQ(lines_of(".if defined(x)\nNOP\n.else\nEXIT\n.end\n"), "EXIT\n");
}

TEST(Expand, Loops) {
  EXPECT_EQ(lines_of(".for i in 0..3\nMOV R{i}, RZ\n.end\n"), "MOV R0, RZ\nMOV R1, RZ\nMOV R2, RZ\n");
  EXPECT_EQ(lines_of(".for i in 0..7 step 3\nMOV R{i}, RZ\n.end\n"), "MOV R0, RZ\nMOV R3, RZ\nMOV R6, RZ\n");
  EXPECT_EQ(lines_of(".for i in 2..-1 step -1\nMOV R{i}, RZ\n.end\n"), "MOV R2, RZ\nMOV R1, RZ\nMOV R0, RZ\n");
  EXPECT_EQ(lines_of(".for i in 3..3\nNOP\n.end\nEXIT\n"), "EXIT\n");
  EXPECT_EQ(lines_of(".for i in 0..2\n.for j in i..2\nMOV R{i}, {j}\n.end\n.end\n"),
            "MOV R0, 0\nMOV R0, 1\nMOV R1, 1\n");
  EXPECT_EQ(lines_of(".for i in 9223372036854775806..9223372036854775807 step 2\nNOP\n.end\nEXIT\n"), "NOP\nEXIT\n")
      << "the step past the end is no overflow";
}

TEST(Expand, Conditions) {
  const std::string text = ".if V == 4\nA\n.elif V > 1\nB\n.else\nC\n.end\n";
  EXPECT_EQ(lines_of(text, {{"V", "4"}}), "A\n");
  EXPECT_EQ(lines_of(text, {{"V", "2"}}), "B\n");
  EXPECT_EQ(lines_of(text, {{"V", "1"}}), "C\n");
  EXPECT_EQ(lines_of(".if 0\nFADD {1/0}\n.for i in 1/0..3\n.end\n.end\nEXIT\n"), "EXIT\n")
      << "arms that are not taken are not evaluated";
}

TEST(Expand, RegistersAreTheLowestThatFit) {
  EXPECT_EQ(lines_of(".reg a[3]\n.reg b[4] align 4 bank 0\n.reg c1 bank 1\n.reg d\nX a[0], b[0], c1, d\n"),
            "X R0, R4, R3, R8\n");
  EXPECT_EQ(lines_of(".reg a = R10, b\n.ureg u[2] align 2, v = UR7\n.pred p, q = P5\n.upred w\n"
                     "@!p X a, b, u[1], v, !q, w\n"),
            "@!P0 X R10, R0, UR1, UR7, !P5, UP0\n");
  EXPECT_EQ(lines_of("MOV R1, RZ\n.reg a[2]\nX a[0]\n"), "MOV R1, RZ\nX R2\n")
      << "registers named by number are not given out";
}

TEST(Expand, RegistersGoBackWithTheirScope) {
  EXPECT_EQ(lines_of(".for i in 0..2\n.reg t[2]\nX t[i]\n.end\n.reg z\nX z\n"), "X R0\nX R1\nX R0\n");
  EXPECT_EQ(lines_of(".reg a[2]\n.reg b\n.free a\n.reg d[2]\nX b, d[0]\n"), "X R2, R0\n");
  EXPECT_EQ(lines_of(".reg a\n.if 1\n.reg b\nX a, b\n.end\n.reg d\nX a, d\n"), "X R0, R1\nX R0, R1\n");
  EXPECT_EQ(lines_of(".reg a\n.free a\n.reg a\nX a\n"), "X R0\n") << "a freed name may be used again";
}

TEST(Expand, RegisterTextKeepsItsSurroundings) {
  EXPECT_EQ(lines_of(".let i = 1\n.reg a[4] = R8\n.reg x = R2\n"
                     "FFMA.FTZ a[i*2+1].reuse, -x, |a[i]|, -|a[0]|\n"
                     "LDG.E [x.64+0x10], desc[UR4][a[2].64+{i * 4:x}]\n"
                     "SEL x.H0_H0, ~x, x.B1, !PT\n"),
            "FFMA.FTZ R11.reuse, -R2, |R9|, -|R8|\n"
            "LDG.E [R2.64+0x10], desc[UR4][R10.64+0x4]\n"
            "SEL R2.H0_H0, ~R2, R2.B1, !PT\n");
  EXPECT_EQ(lines_of(".reg x\nx x.x, x1, x\n"), "x R0.x, x1, R0\n") << "mnemonics and modifiers are no names";
  EXPECT_EQ(lines_of(".reg loop\nBRA `(loop)\nBRA `(x_{1 + 1})\n"), "BRA `(loop)\nBRA `(x_2)\n");
  EXPECT_EQ(lines_of(".reg cx, a\nMOV cx, c[0x0][0x10]\nMOV a, cx[UR4][0x0]\n"),
            "MOV R0, c[0x0][0x10]\nMOV R1, cx[UR4][0x0]\n");
  EXPECT_EQ(lines_of(".for c in 0..1\nMOV R0, c[0x0][{c:x}]\n.end\n"), "MOV R0, c[0x0][0x0]\n");
}

TEST(Expand, ControlColumnsPass) {
  EXPECT_EQ(lines_of(".let sb = 2\n.reg Y\n??:-:{sb}:Y:?  LDS Y, [RZ]\n3f:0:-:-:15 @P0 NOP\n"),
            "??:-:2:Y:?  LDS R0, [RZ]\n3f:0:-:-:15 @P0 NOP\n");
}

TEST(Expand, Aliases) {
  EXPECT_EQ(lines_of(".reg acc[8] = R16\n.alias x = acc[3]\n.alias row[4] = acc[4]\n.alias t = R2\nX x, row[1], t\n"),
            "X R19, R21, R2\n");
}

TEST(Expand, Constants) {
  EXPECT_EQ(
      lines_of(".param u32 n\n.param u64 p\n.const N = param[n]\n.const D = c[0x0][0x28]\n"
               "MOV R0, N\nMOV R0, D\nMOV R0, param[p + 4]\nMOV R0, sys[nctaid_y]\nULDC.64 UR4, sys[descriptor]\n"),
      "MOV R0, c[0x0][0x210]\nMOV R0, c[0x0][0x28]\nMOV R0, c[0x0][0x21c]\nMOV R0, c[0x0][0x10]\n"
      "ULDC.64 UR4, c[0x0][0x208]\n");
}

TEST(Expand, ParametersByARegister) {
  const std::string params = ".for e in 0..3\n.param u32 first_{e}\n.param u64 second_{e}\n.end\n";
  EXPECT_EQ(lines_of(params + "MOV R0, param[first_2]\n"), "MOV R0, c[0x0][0x230]\n") << "names of a loop's turn";
  EXPECT_EQ(lines_of(params + "LDC R0, param[R4+first_0]\nLDC R0, param[R4 + second_1+4]\n"),
            "LDC R0, c[0x0][R4+0x210]\nLDC R0, c[0x0][R4+0x22c]\n");
  EXPECT_EQ(
      lines_of(params +
               ".reg a, at[2] = R8\nLDC a, param[at[1]+second_0]\n.macro m(x)\nLDC x, param[x+first_0]\n.end\nm(a)\n"),
      "LDC R0, c[0x0][R9+0x218]\nLDC R0, c[0x0][R0+0x210]\n");
}

TEST(Expand, RegisterFunctions) {
  EXPECT_EQ(
      lines_of(".reg a[6] = R3\nMOV R0, {bank(a[2])}\nMOV R0, {bank(a[1])}\nMOV R0, {reg(a[4])}\nMOV R0, {count(a)}\n"),
      "MOV R0, 1\nMOV R0, 0\nMOV R0, 7\nMOV R0, 6\n");
}

TEST(Expand, Includes) {
  EXPECT_EQ(lines_of(".let from_main = 3\n.include \"good.sass\"\n.include \"code.sass\"\nMOV R0, {from_good}\n"),
            "MOV R1, 3\nMOV R0, 7\n");
  EXPECT_EQ(lines_of(".include \"macros.sass\"\nzero(R5)\n"), "MOV R5, RZ\n");
}

TEST(Expand, FrontMatter) {
  const std::string text =
      ".kernel gemm_{TA}_{BM}x{BN}\n.arch sm_80, sm_90a\n.param u8 a\n.param u64 b\n.param f16 h\n.param f32 alpha\n"
      ".threads 32 * 4\n.shared BM * 4\n.regs 40\n.needs a % {BM} == 0, b > 0\n.needs 1\n.accum chain over {TA}\n"
      ".bound k * 2^-24\nEXIT\n";
  Template t = template_of(text);
  t.name = "kernels/gemm/gemm.sass";
  const Result<Expansion> e = expand(t, Arch::sm_90a, {{"TA", "n"}, {"BM", "64"}, {"BN", "0x20"}});
  ASSERT_TRUE(e.ok()) << e.error().text();
  const Manifest& m = e->manifest;
  EXPECT_EQ(m.name, "gemm_n_64x32");
  EXPECT_EQ(m.op, "gemm");
  EXPECT_EQ(m.arch, Arch::sm_90a);
  EXPECT_EQ(m.variant, (Defines{{"TA", "n"}, {"BM", "64"}, {"BN", "32"}}));
  const std::vector<Param> params = {
      {"a", ParamType::u8, 0}, {"b", ParamType::u64, 8}, {"h", ParamType::f16, 16}, {"alpha", ParamType::f32, 20}};
  EXPECT_EQ(m.params, params);
  EXPECT_EQ(m.threads, 128u);
  EXPECT_EQ(m.shared, 256u);
  EXPECT_EQ(m.registers, 40u);
  EXPECT_EQ(m.needs, (std::vector<std::string>{"a % 64 == 0", "b > 0", "1"}));
  EXPECT_EQ(m.accum, "chain over n");
  EXPECT_EQ(m.bound, "k * 2^-24");
}

TEST(Expand, Variants) {
  const Template t = template_of(".kernel k\n.variants A={n,t} B=1 C={2, 0x3}\n.variants A=x D=9\nEXIT\n");
  const auto all = variants(t, {});
  ASSERT_TRUE(all.ok()) << all.error().text();
  ASSERT_EQ(all->size(), 5u);
  EXPECT_EQ((*all)[0], (Defines{{"A", "n"}, {"B", "1"}, {"C", "2"}}));
  EXPECT_EQ((*all)[1], (Defines{{"A", "n"}, {"B", "1"}, {"C", "3"}})) << "the last name is the fastest";
  EXPECT_EQ((*all)[4], (Defines{{"A", "x"}, {"D", "9"}}));
  const auto some = variants(t, {{"C", "0x3"}, {"E", "word"}});
  ASSERT_TRUE(some.ok());
  ASSERT_EQ(some->size(), 3u) << "a name that a line does not have is a plain definition";
  EXPECT_EQ((*some)[0], (Defines{{"A", "n"}, {"B", "1"}, {"C", "3"}, {"E", "word"}}));
  const auto none = variants(t, {{"A", "y"}});
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().text(), "k.sass:2:1: error: no variant has A=y");
  EXPECT_EQ(variants(template_of("EXIT\n"), {{"Q", "1"}})->size(), 1u);
}

TEST(Expand, BadVariants) {
  const auto message = [](const std::string& text) {
    const auto v = variants(template_of(text), {});
    return v.ok() ? "ok" : v.error().text();
  };
  EXPECT_EQ(message(".variants A={1,1}\n"), "k.sass:1:16: error: `1` stands twice in the values of `A`");
  EXPECT_EQ(message(".variants A=1 A=2\n"), "k.sass:1:15: error: `A` stands twice in this .variants line");
  EXPECT_EQ(message(".variants A\n"), "k.sass:1:12: error: expected `=` after `A`");
  EXPECT_EQ(message(".variants A={1,\n"), "k.sass:1:13: error: this `{` is never closed");
  EXPECT_EQ(message(".variants A={}\n"), "k.sass:1:14: error: a value of `A` must be an integer or a word, found ``");
  EXPECT_EQ(message(".variants A=1.5\n"),
            "k.sass:1:13: error: a value of `A` must be an integer or a word, found `1.5`");
  EXPECT_EQ(message(".variants R1=1\n"), "k.sass:1:11: error: a variant needs a name, found `R1=1`");
  EXPECT_EQ(message(".variants\n"), "k.sass:1:10: error: .variants needs NAME=VALUE or NAME={VALUE, VALUE}");
  EXPECT_EQ(message(".variants A=1\n.variants A=1\n"), "k.sass:2:1: error: the variant A=1 is listed twice");
  std::string wide = ".variants";
  for (int i = 0; i < 13; ++i) wide += " V" + std::to_string(i) + "={0,1}";
  EXPECT_NE(message(wide).find("more than 4096 variants"), std::string::npos);
}

TEST(Expand, WhatIsMissing) {
  const auto message = [](const std::string& text) {
    const auto e = expand(template_of(text), Arch::sm_90a, {});
    return e.ok() ? "ok" : e.error().text();
  };
  EXPECT_EQ(message("EXIT\n"), "k.sass:1:1: error: the template has no .kernel line");
  EXPECT_EQ(message(".kernel k\n"), "k.sass:1:1: error: the template has no instructions");
  EXPECT_EQ(message(""), "k.sass:1:1: error: the template has no .kernel line");
  EXPECT_EQ(message(".kernel a-b\nEXIT\n"),
            "k.sass:1:9: error: `a-b` is no kernel name; names have letters, digits and _");
  Template t = template_of(".kernel k\nEXIT\n");
  EXPECT_EQ(expand(t, Arch::sm_90a, {{"R1", "2"}}).error().message,
            "cannot define `R1`: a name has letters, digits and _, and is no register");
  EXPECT_EQ(expand(t, Arch::sm_90a, {{"A", "a b"}}).error().message,
            "the value of `A` must be an integer or a word, found `a b`");
}

TEST(Expand, SpansSurviveLoopsIncludesAndReplacement) {
  const Result<Expansion> e =
      expand(template_of(".kernel k\n.let from_main = 1\n.for i in 0..2\n   NOP\n.end\n.include \"code.sass\"\n"),
             Arch::sm_90a, {});
  ASSERT_TRUE(e.ok());
  ASSERT_EQ(e->lines.size(), 3u);
  EXPECT_EQ(e->lines[1].at.line, 4u);
  EXPECT_EQ(e->lines[1].at.col, 4u);
  EXPECT_EQ(e->lines[1].from, nullptr);
  EXPECT_EQ(e->lines[2].at.file, "code.sass");
  EXPECT_EQ(e->lines[2].at.line, 2u);
  ASSERT_NE(e->lines[2].from, nullptr);
  EXPECT_EQ(e->lines[2].from->at.line, 6u);
  EXPECT_EQ(e->lines[2].from->outer, nullptr);
}

TEST(Expand, DumpIsATemplateThatExpandsToItself) {
  const Template t = template_of(
      ".kernel k_{A}\n.variants A=3\n.param u32 n\n.threads 32\n.needs n > 0\n.reg x[4]\nloop_{A}:\n??:-:0:?:? X "
      "x[{A}], "
      "param[n]\nDEPBAR {{3}}\n");
  const auto e = expand(t, Arch::sm_90a, {{"A", "3"}});
  ASSERT_TRUE(e.ok()) << e.error().text();
  const std::string text = dump(*e);
  const auto again = expand(template_of(text), Arch::sm_90a, {{"A", "3"}});
  ASSERT_TRUE(again.ok()) << text << again.error().text();
  EXPECT_EQ(dump(*again), text);
}

}  // namespace
}  // namespace nervanagpu::sass
