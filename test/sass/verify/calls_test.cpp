// Where calls go and where they return: return addresses that are spilled, copied, computed or set long before, and
// functions outside of the cubin.
#include <gtest/gtest.h>

#include "test/sass/verify/hand_kernel.h"

namespace nervanagpu::sass {
namespace {

using test::kernel;
using test::sentences;

std::vector<Hazard> found_in(const std::string& text, const ModuleData* data = nullptr) {
  return verify(Arch::sm_90a, kernel(text), data);
}

// The callee's FFMA is three cycles before the reader at 0x10, which is not after the call: one too few.
std::vector<Hazard> returns_elsewhere(const std::string& before, const std::string& body, const std::string& ret) {
  return found_in(R"(
    --:-:-:-:5 | BRA `(begin)
    --:-:-:-:1 | FFMA R1, R0, R5, R6
    --:-:-:-:5 | EXIT
    begin:
    )" + before + R"(
    --:-:-:-:5 | CALL.REL.NOINC `(callee)
    --:-:-:-:5 | EXIT
    callee:
    )" + body + R"(
    --:-:-:-:1 | FFMA R0, R2, R5, R3
    )" + ret + "\n");
}

void expect_reader(const std::vector<Hazard>& found) {
  ASSERT_EQ(found.size(), 1u) << sentences(found);
  EXPECT_EQ(found[0].consumer, 1u) << sentences(found);
  EXPECT_EQ(found[0].reg, "R0");
}

// It comes in R24; R20 holds another.
const char* const kBoth = "--:-:-:-:5 | MOV R24, 0x10\n--:-:-:-:5 | MOV R20, 0x60";
const char* const kReturn = "--:-:-:-:2 | RET.REL.NODEC R20 0x0";

TEST(VerifyCalls, AReturnAddressMayBeSpilled) {
  expect_reader(returns_elsewhere(kBoth,
                                  R"(--:-:-:-:5 | IADD3 R1, R1, -0x10, RZ
                                     --:0:-:-:2 | STL [R1+0x8], R24
                                     01:-:-:-:5 | MOV R24, 0x60
                                     --:-:1:-:2 | LDL R20, [R1+0x8]
                                     02:-:-:-:5 | IADD3 R1, R1, 0x10, RZ)",
                                  kReturn));
}

TEST(VerifyCalls, AReturnAddressMayBeSpilledBesideOthers) {
  expect_reader(returns_elsewhere(kBoth,
                                  R"(--:0:-:-:2 | STL.64 [R1+-0x8], R24
                                     01:-:-:-:5 | MOV R24, 0x60
                                     --:-:1:-:2 | LDL.128 R20, [R1+-0x8]
                                     02:-:-:-:1 | NOP)",
                                  kReturn));
}

// The callee calls another with the same register.
TEST(VerifyCalls, AReturnAddressMayBeKeptAroundAnInnerCall) {
  const std::string inner = kReturn + std::string("\ninner:\n--:-:-:-:5 | FADD R9, R9, R9\n") + kReturn;
  expect_reader(returns_elsewhere(kBoth,
                                  R"(--:-:-:-:5 | NOP
                                     --:-:-:-:5 | MOV R20, 0xa0
                                     --:-:-:-:5 | CALL.REL.NOINC `(inner)
                                     --:-:-:-:5 | MOV R20, R24)",
                                  inner));
}

TEST(VerifyCalls, AReturnAddressMayBeSetLongBefore) {
  std::string before = "--:-:-:-:5 | MOV R20, 0x10\n";
  for (int k = 0; k < 100; ++k) before += "--:-:-:-:1 | NOP\n";
  expect_reader(returns_elsewhere(before, "", kReturn));
}

TEST(VerifyCalls, AReturnAddressMayDependOnThePath) {
  expect_reader(returns_elsewhere(R"(--:-:-:-:5 | MOV R20, 0x10
                                     --:-:-:-:5 | @P0 BRA `(go)
                                     --:-:-:-:5 | MOV R20, 0x90
                                     go:
                                     --:-:-:-:5 | NOP
                                     --:-:-:-:5 | NOP)",
                                  "", kReturn));
}

TEST(VerifyCalls, AReturnAddressMayBeMadeByOtherMeans) {
  for (const char* made : {"HFMA2.MMA R20, -RZ, RZ, 0, 9.5367431640625e-07", "IMAD.MOV.U32 R20, RZ, RZ, 0x10",
                           "LEPC R20, 0x10", "IADD3 R20, RZ, 0x10, RZ"}) {
    expect_reader(returns_elsewhere(std::string("--:-:-:-:11 | ") + made, "", kReturn));
  }
}

TEST(VerifyCalls, ARecursiveFunctionReturnsToAllItsCallers) {
  expect_reader(returns_elsewhere("--:-:-:-:5 | MOV R20, 0x10",
                                  R"(--:-:-:-:5 | IADD3 R1, R1, -0x10, RZ
                                     --:0:-:-:2 | STL [R1], R20
                                     01:-:-:-:5 | MOV R20, 0xb0
                                     --:-:-:-:5 | @!P0 BRA `(done)
                                     --:-:-:-:5 | CALL.REL.NOINC `(callee)
                                     done:
                                     --:-:1:-:2 | LDL R20, [R1]
                                     02:-:-:-:5 | IADD3 R1, R1, 0x10, RZ)",
                                  kReturn));
}

TEST(VerifyCalls, WhereItCannotBeSeenNothingIsProven) {
  const std::vector<Hazard> found = found_in(R"(
    --:-:-:-:5 | LOP3.LUT R20, R4, R5, RZ, 0xc0, !PT
    --:-:-:-:5 | CALL.REL.NOINC `(callee)
    --:-:-:-:5 | EXIT
    callee:
    --:-:-:-:5 | RET.REL.NODEC R20 0x0
    )");
  ASSERT_EQ(found.size(), 1u) << sentences(found);
  EXPECT_NE(found[0].text.find("cannot be seen"), std::string::npos) << found[0].text;
}

ModuleData with_external() {
  ModuleData data;
  data.constant4.assign(8, 0);
  data.externals = {"vprintf"};
  data.in_constant4.push_back({0, 8, Relocation::To::kFunction, 0});
  return data;
}

// The product may still be in its registers where the other branch of the kernel begins: the call does not go there.
std::string prints(const char* wait) {
  return std::string(R"(
    --:0:1:-:2 | LDG.E R30, desc[UR4][R10.64]
    --:-:-:-:5 | MOV R8, RZ
    --:-:0:-:2 | LDC.64 R2, c[0x4][R8]
    --:-:-:-:5 | LEPC R20, 0x60
    )") + wait +
         R"(:-:-:-:5 | CALL.ABS.NOINC R2
    --:-:-:-:5 | EXIT
    --:-:-:-:5 | FADD R30, R30, R30
    --:-:-:-:5 | EXIT
    other:
    --:-:0:-:2 | LDG.E R3, desc[UR4][R10.64]
    --:-:-:-:5 | BRA `(other)
    )";
}

TEST(VerifyCalls, AFunctionOutsideReturnsAndNeedsAllResults) {
  const ModuleData data = with_external();
  const std::vector<Hazard> none = found_in(prints("03"), &data);
  EXPECT_TRUE(none.empty()) << sentences(none);
  const std::vector<Hazard> early = found_in(prints("01"), &data);
  ASSERT_EQ(early.size(), 1u) << sentences(early);
  EXPECT_EQ(early[0].reg, "R30");
  EXPECT_EQ(early[0].consumer, 4u);
}

// A pointer that nothing tells of: any function whose address the cubin takes.
TEST(VerifyCalls, AnUnknownPointerMayGoWhereverAnAddressIsTaken) {
  ModuleData data;
  data.in_variables.push_back({0, 8, Relocation::To::kCode, 0x50});
  const std::vector<Hazard> found = found_in(R"(
    --:-:-:-:5 | MOV R20, 0x30
    --:-:-:-:1 | FFMA R6, R4, R5, R6
    --:-:-:-:2 | CALL.REL.NOINC R2 0x0
    --:-:-:-:5 | FADD R1, R0, R0
    --:-:-:-:5 | EXIT
    --:-:-:-:1 | FFMA R0, R6, R5, R3
    --:-:-:-:2 | RET.REL.NODEC R20 0x0
    )",
                                             &data);
  ASSERT_EQ(found.size(), 2u) << sentences(found);
  EXPECT_EQ(found[0].consumer, 3u);
  EXPECT_EQ(found[1].consumer, 5u);
}

// More targets pushed than are followed one by one.
TEST(VerifyCalls, DeepStacksHideNothing) {
  std::string text;
  std::string ends;
  for (int k = 0; k < 90; ++k) {
    const std::string end = "end" + std::to_string(k);
    text += "--:-:-:-:6 | SSY `(" + end + ")\n";
    ends += end + ":\n--:-:-:-:6 | NOP\n";
  }
  text += "--:-:-:-:1 | FADD R0, R1, R2\n--:-:-:-:6 | FADD R3, R0, R0\n" + ends + "--:-:-:-:15 | EXIT\n";
  const std::vector<Hazard> found = verify(Arch::sm_52, kernel(text, Arch::sm_52));
  ASSERT_EQ(found.size(), 1u) << sentences(found);
  EXPECT_EQ(found[0].reg, "R0");
}

}  // namespace
}  // namespace nervanagpu::sass
