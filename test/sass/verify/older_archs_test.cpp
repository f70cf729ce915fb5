// What ptxas relies on before sm_90: operands that doubles keep, barriers in order, packed halves of the tensor pipe.
#include <gtest/gtest.h>

#include "test/sass/verify/hand_kernel.h"

namespace nervanagpu::sass {
namespace {

using test::kernel;
using test::sentences;

std::vector<Hazard> found_in(Arch arch, const std::string& text) {
  return verify(arch, kernel(text, arch));
}

// DSETP takes R4 from the cache, so the product's entry is gone when R4 changes.
std::string kept_operand(const char* between) {
  return std::string("--:-:0:-:6 | DMUL R2, R4.reuse, R8\n") + between +
         "\n03:-:0:-:6 | DADD R4, R2, R8\n01:-:0:-:6 | DMUL R6, R4, R8\n01:-:-:-:15 | EXIT\n";
}

TEST(OlderArchs, ADoubleCompareTakesTheKeptOperand) {
  const auto none = found_in(Arch::sm_61, kept_operand("--:-:1:-:6 | DSETP.GT.AND P0, PT, R4, R8, PT"));
  EXPECT_TRUE(none.empty()) << sentences(none);
  const auto found = found_in(Arch::sm_61, kept_operand("--:-:1:-:6 | DSETP.GT.AND P0, PT, R12, R8, PT"));
  EXPECT_TRUE(found.empty()) << "the other register of the bank takes its place: " << sentences(found);
  const auto stale = found_in(Arch::sm_61, kept_operand("--:-:1:-:6 | MUFU.RCP R1, R0"));
  ASSERT_EQ(stale.size(), 2u) << sentences(stale);
  EXPECT_NE(stale[0].text.find("from the operand cache"), std::string::npos) << stale[0].text;
}

TEST(OlderArchs, KeptOperandsOfDoublesByArchitecture) {
  const Span here{"hand.sass", 1, 1};
  for (const char* text : {"DSETP.GT.AND P0, PT, R4.reuse, R8.reuse, PT", "DMNMX R2, R4.reuse, R8, PT",
                           "DSET.EQ.AND R1, R4, R8.reuse, PT", "F2I.S32.F64 R0, R4.reuse", "I2F.F64.S32 R2, R4.reuse",
                           "I2F.F32.S64 R2, R4.reuse", "F2F.F32.F64 R0, R4.reuse", "F2F.F64.F64.ROUND R2, R4.reuse"}) {
    EXPECT_TRUE(parse_inst(Arch::sm_61, text, here).ok()) << text;
    EXPECT_FALSE(parse_inst(Arch::sm_52, text, here).ok()) << text;
  }
  EXPECT_FALSE(parse_inst(Arch::sm_61, "F2I.S32.F32 R0, R4.reuse", here).ok());
  EXPECT_FALSE(parse_inst(Arch::sm_61, "I2F.F32.S32 R0, R4.reuse", here).ok());
  EXPECT_FALSE(parse_inst(Arch::sm_61, "I2F.F64.U16 R0, R4.reuse", here).ok());
  EXPECT_FALSE(parse_inst(Arch::sm_61, "F2I.U64.F16 R0, R4.reuse", here).ok());
}

TEST(OlderArchs, NothingRunsBehindATrap) {
  for (const Arch arch : {Arch::sm_52, Arch::sm_75, Arch::sm_90a}) {
    const std::string early = "--:-:-:-:1 | MOV R3, R0\n--:-:-:-:5 | EXIT\n";
    const std::string trap = "--:-:-:-:1 | MOV R0, R1\n--:-:-:-:1 | BPT.TRAP\n" + early;
    EXPECT_TRUE(found_in(arch, trap).empty()) << info(arch).name << sentences(found_in(arch, trap));
    EXPECT_EQ(found_in(arch, "--:-:-:-:1 | MOV R0, R1\n--:-:-:-:1 | NOP\n" + early).size(), 1u) << info(arch).name;
  }
}

// The barrier's result is there only after the barriers before it, so their registers are free.
std::string barriers(const char* wait) {
  return std::string(
             "--:-:-:-:6 | BAR.SYNC R9, R9\n--:-:-:-:6 | BAR.RED.AND 0x3, 0x40, !P0\n--:-:1:-:4 | B2R.RESULT R6\n") +
         wait + ":-:-:-:6 | MOV R9, R6\n--:-:-:-:5 | EXIT\n";
}

TEST(OlderArchs, TheResultOfABarrierFreesTheRegistersOfOlderOnes) {
  for (const Arch arch : {Arch::sm_75, Arch::sm_90a}) {
    const auto none = found_in(arch, barriers("02"));
    EXPECT_TRUE(none.empty()) << sentences(none);
    const auto found = found_in(arch, barriers("--"));
    EXPECT_EQ(found.size(), 2u) << sentences(found);
  }
}

std::string packed(const char* stall) {
  return std::string("--:-:-:-:") + stall +
         " | HFMA2.MMA R12, R14, R15, R12\n--:-:-:-:11 | HFMA2.MMA R12, R8, R9, R12\n--:-:-:-:5 | EXIT\n";
}

TEST(OlderArchs, PackedHalvesOfTheTensorPipe) {
  for (const Arch arch : {Arch::sm_80, Arch::sm_86, Arch::sm_89}) {
    EXPECT_TRUE(found_in(arch, packed("6")).empty());
    const auto found = found_in(arch, packed("5"));
    ASSERT_EQ(found.size(), 1u) << sentences(found);
    EXPECT_EQ(found[0].missing, 1);
  }
  EXPECT_EQ(found_in(Arch::sm_90a, packed("7")).size(), 1u);
}

}  // namespace
}  // namespace nervanagpu::sass
