// Macros: arguments of every kind, hygiene, unique labels.
#include <gtest/gtest.h>

#include "test/sass/asm/template_text.h"

namespace nervanagpu::sass {
namespace {

using testing::lines_of;

TEST(Macro, RegisterArguments) {
  const std::string m = ".macro fma(d, a, b)\n  FFMA d, a, b, d\n.end\n";
  EXPECT_EQ(lines_of(m + ".reg acc[4] = R8\n.reg x\n.let i = 2\nfma(acc[i + 1], x, R20)\n"),
            "FFMA R11, R0, R20, R11\n");
  EXPECT_EQ(lines_of(m + ".reg x, y\nfma(x, -y, |y|)\n"), "FFMA R0, -R1, |R1|, R0\n");
  EXPECT_EQ(lines_of(m + ".reg x, y\nfma(x, y.reuse, c[0x0][0x210])\n"), "FFMA R0, R1.reuse, c[0x0][0x210], R0\n");
  EXPECT_EQ(lines_of(m + ".param f32 s\n.reg x\nfma(x, RZ, param[s])\n"), "FFMA R0, RZ, c[0x0][0x210], R0\n");
}

TEST(Macro, WholeArraysAndNestedCalls) {
  EXPECT_EQ(
      lines_of(".macro clear(v)\n.for i in 0..count(v)\nMOV v[i], RZ\n.end\n.end\n.macro outer(w)\nclear(w)\n.end\n"
               ".reg a[2] = R4\nouter(a)\n"),
      "MOV R4, RZ\nMOV R5, RZ\n");
  EXPECT_EQ(lines_of(".macro in(x, k)\nMOV x, {k * 2}\n.end\n.macro out(x, k)\nin(x, k + 1)\nin(-x, k)\n.end\n.reg "
                     "r\nout(r, 3)\n"),
            "MOV R0, 8\nMOV -R0, 6\n");
}

TEST(Macro, AnElementStandsForItsArrayFromThere) {
  const std::string m = ".macro lo_hi(p)\nMOV p[0], p[1]\n.end\n.macro outer(q)\nlo_hi(q)\nlo_hi(q[1])\n.end\n";
  EXPECT_EQ(lines_of(m + ".reg a[4] = R4\nlo_hi(a)\nlo_hi(a[2])\nouter(a[1])\n"),
            "MOV R4, R5\nMOV R6, R7\nMOV R5, R6\nMOV R6, R7\n");
  EXPECT_EQ(lines_of(m + "lo_hi(R8)\n"), "MOV R8, R9\n");
  EXPECT_EQ(lines_of(".macro one(d)\nMOV d[0], d\n.end\n.reg x = R3\none(x)\n"), "MOV R3, R3\n");
  EXPECT_NE(lines_of(m + ".reg a[4] = R4\nlo_hi(a[3])\n").find("index 1 is outside `p`"), std::string::npos);
  EXPECT_NE(lines_of(m + ".reg x = R3\nlo_hi(x)\n").find("index 1 is outside `p`"), std::string::npos);
  EXPECT_NE(lines_of(m + ".reg y\nlo_hi(R3)\nlo_hi(R255)\n").find("R255 does not exist"), std::string::npos);
}

TEST(Macro, KindsOfArguments) {
  const std::string m = ".macro k(x)\nNOP {is_register(x)}{is_number(x)}\n.end\n.param u32 n\n.reg a[4], r\n";
  EXPECT_EQ(lines_of(m + "k(r)\nk(a[1])\nk(a)\nk(R20)\n"), "NOP 10\nNOP 10\nNOP 10\nNOP 10\n");
  EXPECT_EQ(lines_of(m + "k(3)\nk(-0x8)\nk(1 + 2)\n"), "NOP 01\nNOP 01\nNOP 01\n");
  EXPECT_EQ(lines_of(m + "k(RZ)\nk(param[n])\nk(-r)\nk(word)\n"), "NOP 00\nNOP 00\nNOP 00\nNOP 00\n");
}

TEST(Macro, ValuesWordsAndQuotedText) {
  const std::string m = ".macro m(a)\n  MOV R0, a\n  MOV R0, {a}\n.end\n";
  EXPECT_EQ(lines_of(m + "m(0x8)\n"), "MOV R0, 0x8\nMOV R0, 8\n")
      << "a literal keeps its spelling where it stands bare";
  EXPECT_EQ(lines_of(m + ".let k = 3\nm(k * 2)\n"), "MOV R0, 6\nMOV R0, 6\n");
  EXPECT_EQ(lines_of(".macro op(o, t)\n  {o}.{t} R0, R1\n.end\nop(FADD, FTZ)\n"), "FADD.FTZ R0, R1\n");
  EXPECT_EQ(lines_of(".macro line(t)\n  {t}\n.end\n.reg x\nline(\"IADD3 x, {1 + 1}, a\")\n"), "IADD3 R0, 2, a\n");
  EXPECT_EQ(lines_of(".macro go(to)\n  BRA `({to})\n  BRA to\n.end\ngo(done)\n"), "BRA `(done)\nBRA done\n");
  EXPECT_EQ(lines_of(".macro c(K)\n.if K\nA\n.else\nB\n.end\n.end\n.let T = n\nc(T == n)\nc(T == t)\n"), "A\nB\n");
}

TEST(Macro, DefaultsAndNamedArguments) {
  const std::string m = ".macro m(a, b=2, d=b + 1)\n  X {a}, {b}, {d}\n.end\n";
  EXPECT_EQ(lines_of(m + "m(1)\nm(1, 5)\nm(1, d=9)\nm(d=7, a=4)\n"), "X 1, 2, 3\nX 1, 5, 6\nX 1, 2, 9\nX 4, 2, 7\n");
  EXPECT_EQ(lines_of(m + "m(3 == 3)\n"), "X 1, 2, 3\n") << "== names no argument";
}

TEST(Macro, LabelsAreUniqueInEachCall) {
  EXPECT_EQ(lines_of(".macro spin(p)\nagain$:\n  @p BRA `(again$)\n.end\nspin(P0)\nspin(P1)\n"),
            "again$1:\n@P0 BRA `(again$1)\nagain$2:\n@P1 BRA `(again$2)\n");
  EXPECT_EQ(lines_of(".macro jump(to)\n  BRA `({to})\n.end\n.macro m()\njump(out$)\nout$:\n.end\nm()\nEXIT\n"),
            "BRA `(out$1)\nout$1:\nEXIT\n")
      << "a label that is handed on keeps its call";
}

TEST(Macro, SeesTheTemplateAndItsArgumentsOnly) {
  EXPECT_EQ(lines_of(".let k = 1\n.macro m()\n  X {k}\n.end\n.if 1\n.let k = 2\nm()\n.end\n"), "X 1\n");
  EXPECT_EQ(lines_of(".macro m(x)\n.reg t\n  MOV t, x\n.end\n.reg t\nm(t)\nX t\n"), "MOV R1, R0\nX R0\n")
      << "a macro's register hides nothing of its caller and takes no register of it";
  EXPECT_EQ(lines_of(".macro m()\n.reg t\n  X t\n.end\nm()\nm()\n"), "X R0\nX R0\n");
}

TEST(Macro, TextOfTheCallerIsNotResolvedAgain) {
  // R0 comes from the caller's own name, so the macro may have it in its text although `x` owns it.
  EXPECT_EQ(lines_of(".macro m(a)\n.reg y\n  X {a}, y\n.end\n.reg x\nm(-x)\n"), "X -R0, R1\n");
}

}  // namespace
}  // namespace nervanagpu::sass
