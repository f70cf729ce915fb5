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
    // Before sm_90 the BAR.RED, which blocks, has freed R9.
    EXPECT_EQ(found.size(), arch == Arch::sm_75 ? 1u : 2u) << sentences(found);
  }
}

// A store whose data the last line overwrites; what may free them stands between.
std::string stored(const std::string& between) {
  return "--:-:-:-:2 | STG.E [R2], R5\n" + between + "\n--:-:-:-:6 | MOV R5, R9\n--:-:-:-:5 | EXIT\n";
}

std::size_t hazards(Arch arch, const std::string& text) {
  return found_in(arch, text).size();
}

// Who stands at a barrier goes on when older memory operations and barriers have read their registers.
TEST(OlderArchs, ABarrierThatBlocksFreesWhatOlderOnesRead) {
  for (const Arch arch : {Arch::sm_75, Arch::sm_80, Arch::sm_89}) {
    const std::string store = arch == Arch::sm_75 ? "STG.E.SYS" : "STG.E";
    const auto found = [&](const std::string& between) {
      std::string text = stored(between);
      return hazards(arch, text.replace(text.find("STG.E"), 5, store));
    };
    EXPECT_EQ(found("--:-:-:-:6 | BAR.SYNC 0x1"), 0u);
    EXPECT_EQ(found("--:-:-:-:6 | BAR.ARV 0x1, 0x40"), 1u) << "who only arrives does not wait";
    EXPECT_EQ(found("--:-:-:-:6 | @P0 BAR.SYNC 0x1"), 1u) << "its guard may be false";
    EXPECT_EQ(found("--:-:-:-:6 | BAR.SYNC.DEFER_BLOCKING 0x1"), 1u) << "it blocks later";
  }
  EXPECT_EQ(hazards(Arch::sm_90a,
                    "--:-:-:-:2 | STG.E desc[UR4][R2.64], R5\n--:-:-:-:6 | BAR.SYNC 0x1\n"
                    "--:-:-:-:6 | MOV R5, R9\n--:-:-:-:5 | EXIT\n"),
            1u)
      << "ptxas does not count on it there";
  const std::string barriers = "--:-:-:-:6 | BAR.ARV R9, R9\n--:-:-:-:6 | BAR.SYNC 0x1\n--:-:-:-:6 | MOV R9, R6\n";
  EXPECT_EQ(hazards(Arch::sm_80, barriers + "--:-:-:-:5 | EXIT\n"), 0u);
  EXPECT_EQ(hazards(Arch::sm_80, "--:-:-:-:6 | BAR.SYNC R9, R9\n--:-:-:-:6 | MOV R9, R6\n--:-:-:-:5 | EXIT\n"), 1u)
      << "not its own";
}

// A BAR takes its registers after those of older memory operations, and before those of younger ones.
TEST(OlderArchs, ABarrierByRegistersIsInTheOrderOfMemory) {
  const std::string result = "--:-:0:-:2 | B2R.RESULT R7\n01:-:-:-:2 | MOV R4, R7";
  const std::string by_number = "--:-:-:-:6 | BAR.RED.POPC.DEFER_BLOCKING 0x1, P0\n";
  const std::string by_registers = "--:-:-:-:6 | BAR.RED.POPC.DEFER_BLOCKING R8, R8, P0\n";
  EXPECT_EQ(hazards(Arch::sm_80, stored(by_number + result)), 1u);
  EXPECT_EQ(hazards(Arch::sm_80, stored(by_registers + result)), 0u) << "the result tells of both";
  EXPECT_EQ(hazards(Arch::sm_80, stored(by_registers + "--:-:0:-:2 | B2R.RESULT R7")), 1u) << "if it is awaited";
  const std::string announced = "--:0:-:-:6 | BAR.ARV R8, R8\n01:-:-:-:2 | MOV R4, R7";
  EXPECT_EQ(hazards(Arch::sm_80, stored(announced)), 0u) << "its read scoreboard tells of the store";
  EXPECT_EQ(hazards(Arch::sm_80, stored("--:-:-:-:6 | BAR.ARV R8, R8\n01:-:-:-:2 | MOV R4, R7")), 1u);
  const std::string younger = "--:-:-:-:6 | BAR.ARV R9, R9\n--:0:-:-:2 | STG.E [R2], R5\n";
  EXPECT_EQ(hazards(Arch::sm_80, younger + "01:-:-:-:6 | MOV R9, R6\n--:-:-:-:5 | EXIT\n"), 0u);
  EXPECT_EQ(hazards(Arch::sm_80, younger + "--:-:-:-:6 | MOV R9, R6\n--:-:-:-:5 | EXIT\n"), 1u);
  // On one of two paths only the number stands there.
  const std::string paths = "--:-:-:-:2 | STG.E [R2], R5\n--:-:-:-:5 | @P1 BRA other\n" + by_registers +
                            "--:-:-:-:5 | BRA both\nother:\n" + by_number + "both:\n" + result +
                            "\n--:-:-:-:6 | MOV R5, R9\n--:-:-:-:5 | EXIT\n";
  EXPECT_EQ(hazards(Arch::sm_80, paths), 1u);
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
