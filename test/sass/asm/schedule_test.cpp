// What schedule makes of small programs, line by line, and that verify finds nothing in any of them.
#include "sass/asm/schedule/schedule.h"

#include <gtest/gtest.h>

#include <bit>
#include <ctime>

#include "test/sass/verify/hand_kernel.h"

namespace nervanagpu::sass {
namespace {

using test::encoded;
using test::listing;
using test::program;
using test::scheduled;
using test::sentences;

Program clean(const std::string& text) {
  Program p = scheduled(text);
  const std::vector<Hazard> found = verify(p.manifest.arch, encoded(p));
  EXPECT_TRUE(found.empty()) << sentences(found) << listing(p);
  return p;
}
const Control& control(const Program& p, std::size_t i) {
  return p.lines.at(i).inst.control;
}

TEST(Schedule, IndependentArithmeticIssuesEveryCycle) {
  const Program p = clean(R"(
    FFMA R0, R8, R9, R0
    FFMA R1, R8, R10, R1
    FFMA R2, R8, R11, R2
    FFMA R3, R8, R12, R3
    EXIT)");
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(control(p, i).stall, 1) << listing(p);
    EXPECT_FALSE(control(p, i).yield);
    EXPECT_EQ(control(p, i).reuse & 1, i < 3 ? 1 : 0) << "R8 stays in the operand cache until its last reader";
  }
}

TEST(Schedule, DependentArithmeticWaitsAsLongAsItMustAndNoLonger) {
  const Program p = clean(R"(
    FFMA R0, R8, R9, R0
    FFMA R1, R0, R10, R1
    FADD R7, R8, R8
    LOP3.LUT R2, R1, R11, RZ, 0xc0, !PT
    EXIT)");
  EXPECT_EQ(control(p, 0).stall, 4);
  EXPECT_EQ(control(p, 1).stall, 1) << listing(p);
  EXPECT_EQ(control(p, 2).stall, 4) << "the cycles stand right before the reader";
}

TEST(Schedule, CompareAndBranchTakesThirteenCyclesWithYield) {
  const Program p = clean(R"(
    ISETP.LT.AND P0, PT, R4, R5, PT
    @P0 EXIT
    EXIT)");
  EXPECT_EQ(control(p, 0).stall, 13);
  EXPECT_TRUE(control(p, 0).yield);
  EXPECT_EQ(control(p, 1).stall, 5);
}

TEST(Schedule, OneScoreboardForResultsThatAreReadTogether) {
  const Program p = clean(R"(
    LDG.E R0, desc[UR4][R4.64]
    LDG.E R1, desc[UR4][R6.64]
    FADD R2, R0, R1
    FADD R3, R0, R1
    EXIT)");
  EXPECT_EQ(control(p, 0).write_sb, control(p, 1).write_sb) << listing(p);
  EXPECT_EQ(control(p, 1).stall, 2) << "a scoreboard shows two cycles after it was set";
  EXPECT_EQ(control(p, 2).wait, 1u << control(p, 0).write_sb);
  EXPECT_EQ(control(p, 3).wait, 0) << "only the first reader waits";
}

TEST(Schedule, SlowLoadsDoNotHoldUpReadersOfFastOnes) {
  const Program p = clean(R"(
    LDG.E R0, desc[UR4][R4.64]
    LDS R1, [R6]
    FADD R2, R1, R9
    FADD R3, R0, R9
    EXIT)");
  EXPECT_NE(control(p, 0).write_sb, control(p, 1).write_sb) << listing(p);
  EXPECT_EQ(control(p, 2).wait, 1u << control(p, 1).write_sb);
  EXPECT_EQ(control(p, 3).wait, 1u << control(p, 0).write_sb);
}

// Five scoreboards are taken, the sixth has the load's own result: its address is free long before that.
TEST(Schedule, AnAddressIsNotAwaitedTogetherWithWhatIsLoadedFromIt) {
  const Program p = clean(R"(
    LDG.E R0, desc[UR4][R20.64]
    LDG.E R1, desc[UR4][R22.64]
    LDG.E R2, desc[UR4][R24.64]
    LDG.E R3, desc[UR4][R26.64]
    LDS R4, [R30]
    LDG.E R5, desc[UR4][R28.64]
    IADD3 R28, R28, 0x4, RZ
    FADD R10, R4, R4
    FADD R11, R0, R0
    FADD R12, R1, R1
    FADD R13, R2, R2
    FADD R14, R3, R3
    FADD R15, R5, R5
    EXIT)");
  const unsigned slow = 1u << control(p, 0).write_sb | 1u << control(p, 1).write_sb | 1u << control(p, 2).write_sb |
                        1u << control(p, 3).write_sb | 1u << control(p, 5).write_sb;
  EXPECT_NE(control(p, 6).wait, 0) << listing(p);
  EXPECT_EQ(control(p, 6).wait & slow, 0) << "the address waits for no load from memory\n" << listing(p);
}

// The shape of a matrix product: fragments of the next step are loaded while this one is multiplied, and a slow load is
// on its way all the time.
const char* const kPipeline = R"(
    LDS.128 R8, [R40]
    LDS.128 R12, [R41]
    LDG.E.128 R32, desc[UR4][R44.64]
    loop:
    LDS.128 R16, [R40+0x100]
    LDS.128 R20, [R41+0x100]
    FFMA R0, R8, R12, R0
    FFMA R1, R8, R13, R1
    FFMA R2, R9, R12, R2
    FFMA R3, R9, R13, R3
    LDS.128 R8, [R40+0x200]
    LDS.128 R12, [R41+0x200]
    FFMA R0, R16, R20, R0
    FFMA R1, R16, R21, R1
    FFMA R2, R17, R20, R2
    FFMA R3, R17, R21, R3
    ISETP.LT.AND P0, PT, R46, R47, PT
    @!P0 BRA `(loop)
    STS.128 [R42], R32
    EXIT)";

TEST(Schedule, DoubleBufferedLoopHasNoSuperfluousWait) {
  const Program p = clean(kPipeline);
  int waits = 0;
  for (const Line& l : p.lines) waits += std::popcount(l.inst.control.wait);
  EXPECT_EQ(waits, 3) << "two fragments and the slow load\n" << listing(p);
  const unsigned first = control(p, 5).wait;
  const unsigned second = control(p, 11).wait;
  EXPECT_NE(first, 0) << listing(p);
  EXPECT_NE(second, 0);
  EXPECT_EQ(first & second, 0) << "the two fragments have scoreboards of their own\n" << listing(p);
  EXPECT_EQ((first | second) >> control(p, 2).write_sb & 1, 0) << "nobody in the loop awaits the slow load";
  for (const std::size_t i : {6, 7, 8, 12, 13, 14}) EXPECT_EQ(control(p, i).wait, 0) << listing(p);
  for (const std::size_t i : {5, 6, 7, 11, 12, 13}) EXPECT_EQ(control(p, i).stall, 1) << listing(p);
  EXPECT_EQ(control(p, 17).wait, 1u << control(p, 2).write_sb);
}

TEST(Schedule, StoredDataIsFreedByAReadScoreboardOnlyWhereItIsOverwritten) {
  const Program p = clean(R"(
    STG.E desc[UR4][R4.64], R0
    STG.E desc[UR4][R4.64+0x4], R1
    MOV R0, R9
    EXIT)");
  ASSERT_LT(control(p, 0).read_sb, 6) << listing(p);
  EXPECT_EQ(control(p, 1).read_sb, kNoScoreboard);
  EXPECT_EQ(control(p, 2).wait, 1u << control(p, 0).read_sb);
}

TEST(Schedule, WaitsStandOnEveryPathAlsoAroundTheLoop) {
  const Program p = clean(R"(
    loop:
    FADD R8, R0, R8
    ISETP.LT.AND P0, PT, R46, R47, PT
    LDG.E R0, desc[UR4][R4.64]
    @!P0 BRA `(loop)
    EXIT)");
  EXPECT_EQ(control(p, 0).wait, 1u << control(p, 2).write_sb) << listing(p);
}

TEST(Schedule, CopyGroupsKeepTheirScoreboardToThemselves) {
  const Program p = clean(R"(
    LDGSTS.E.128 [R4], desc[UR4][R6.64]
    LDGDEPBAR
    LDG.E R0, desc[UR4][R4.64]
    LDS R1, [R9]
    DEPBAR.LE SB2, 0x0
    FADD R2, R0, R1
    EXIT)");
  EXPECT_EQ(control(p, 1).write_sb, 2) << listing(p);
  EXPECT_NE(control(p, 2).write_sb, 2);
  EXPECT_NE(control(p, 3).write_sb, 2);
  EXPECT_EQ(control(p, 4).stall, 4);
}

TEST(Schedule, StoresOfTheCopyEngineAreCountedAsReads) {
  const Program p = clean(R"(
    ULDC.64 UR4, c[0x0][0x210]
    UMOV UR8, 0x400
    UMOV UR6, 0x10
    UBLKCP.G.S [UR4], [UR8], UR6
    UTMACMDFLUSH
    LDG.E R0, desc[UR10][R4.64]
    DEPBAR.LE SB2, 0x0
    FADD R2, R0, R1
    EXIT)");
  EXPECT_EQ(control(p, 4).read_sb, 2) << listing(p);
  EXPECT_EQ(control(p, 4).write_sb, kNoScoreboard);
  EXPECT_NE(control(p, 3).read_sb, 2);
  EXPECT_NE(control(p, 5).write_sb, 2);
}

TEST(Schedule, PinnedFieldsStayAndAreCountedWith) {
  const Program p = clean(R"(
    --:-:5:-:7 | LDS R0, [R4]
    ??:?:?:?:9 | FFMA R6, R8, R9, R6
    FADD R1, R0, R6
    EXIT)");
  EXPECT_EQ(control(p, 0).write_sb, 5);
  EXPECT_EQ(control(p, 0).stall, 7);
  EXPECT_EQ(control(p, 1).stall, 9);
  EXPECT_EQ(control(p, 2).wait, 1u << 5) << listing(p);
}

TEST(Schedule, APinnedStallThatIsTooShortIsForVerifyToFind) {
  Program p = program(R"(
    ??:?:?:?:2 | FFMA R0, R8, R9, R0
    FFMA R1, R0, R10, R1
    EXIT)");
  ASSERT_TRUE(schedule(p).ok());
  EXPECT_EQ(control(p, 0).stall, 2);
  const std::vector<Hazard> found = verify(Arch::sm_90a, encoded(p));
  ASSERT_EQ(found.size(), 1u) << sentences(found);
  EXPECT_EQ(found[0].missing, 2);
}

TEST(Schedule, WhereNoLineCanTakeTheCyclesItSaysSo) {
  Program p = program(R"(
    UISETP.GE.AND UP0, UPT, UR4, UR5, UPT
    @UP0 UIADD3 UR6, UR4, 0x1, URZ
    EXIT)");
  const Status s = schedule(p);
  ASSERT_FALSE(s.ok());
  EXPECT_EQ(s.error().at.line, 3u);
  EXPECT_NE(s.error().message.find("no room for the"), std::string::npos) << s.error().text();
}

TEST(Schedule, TheSameTextGivesTheSameCodes) {
  EXPECT_EQ(listing(scheduled(kPipeline)), listing(scheduled(kPipeline)));
  Program again = scheduled(kPipeline);
  const std::string once = listing(again);
  for (Line& l : again.lines) {
    for (Operand& o : l.inst.operands()) o.reuse = false;
  }
  ASSERT_TRUE(schedule(again).ok());
  EXPECT_EQ(listing(again), once) << "open fields start anew";
}

TEST(Schedule, ThreeThousandLinesTakeNoTime) {
  std::string text = "loop:\n";
  for (int step = 0; step < 60; ++step) {
    const int base = step % 2 * 16;
    const std::string b = std::to_string(160 + base);
    text += "LDS.128 R" + b + ", [R200+" + std::to_string(step * 16) + "]\n";
    text += "LDS.128 R" + std::to_string(164 + base) + ", [R201+" + std::to_string(step * 16) + "]\n";
    for (int i = 0; i < 48; ++i) {
      const std::string acc = std::to_string(i);
      text += "FFMA R" + acc + ", R" + std::to_string(176 - base + i % 4) + ", R" +
              std::to_string(180 - base + i / 4 % 4) + ", R" + acc + "\n";
    }
  }
  text += "ISETP.LT.AND P0, PT, R210, R211, PT\n@P0 BRA `(loop)\nEXIT\n";
  Program p = program(text);
  ASSERT_GT(p.lines.size(), 3000u);
  const std::clock_t start = std::clock();  // of this process: a busy machine is no slow scheduler
  ASSERT_TRUE(schedule(p).ok());
  const double ms = 1000.0 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  RecordProperty("milliseconds", std::to_string(ms));
  EXPECT_LT(ms, 1000) << "50 ms are usual without sanitizers";
  const std::vector<Hazard> found = verify(Arch::sm_90a, encoded(p));
  EXPECT_TRUE(found.empty()) << sentences(found).substr(0, 2000);
}

}  // namespace
}  // namespace nervanagpu::sass
