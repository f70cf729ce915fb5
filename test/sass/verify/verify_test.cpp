// One kernel for each kind of hazard, with the exact finding, and its twin with one field put right, without any.
#include <gtest/gtest.h>

#include "test/sass/verify/hand_kernel.h"

namespace nervanagpu::sass {
namespace {

using test::kernel;
using test::sentences;

struct Case {
  const char* name;
  const char* bad;
  const char* finding;  // "" where both versions are right
  const char* good;
};

std::ostream& operator<<(std::ostream& out, const Case& c) {
  return out << c.name;
}

class Verify : public testing::TestWithParam<Case> {};

TEST_P(Verify, FindsTheHazardAndNothingInItsTwin) {
  const Case& c = GetParam();
  const std::vector<Hazard> found = verify(Arch::sm_90a, kernel(c.bad));
  ASSERT_EQ(found.size(), std::string_view(c.finding).empty() ? 0u : 1u) << sentences(found);
  if (!found.empty()) {
    EXPECT_EQ(found[0].text, c.finding);
    EXPECT_EQ(found[0].at.file, "hand.sass");
  }
  const std::vector<Hazard> none = verify(Arch::sm_90a, kernel(c.good));
  EXPECT_TRUE(none.empty()) << sentences(none);
}

// Lines count from 1; the raw strings begin with a line break, so the first instruction stands on line 2.
const Case kCases[] = {
    {"FmaToFma", R"(
       --:-:-:-:3 | FFMA R0, R4, R5, R6
       --:-:-:-:1 | FFMA R1, R0, R5, R6
       --:-:-:-:5 | EXIT)",
     "FFMA at 0x0000 (hand.sass:2) writes R0; FFMA at 0x0010 (hand.sass:3) reads it after 3 cycles, but needs 4",
     R"(
       --:-:-:-:4 | FFMA R0, R4, R5, R6
       --:-:-:-:1 | FFMA R1, R0, R5, R6
       --:-:-:-:5 | EXIT)"},

    {"ASumToAFloat", R"(
       --:-:-:-:5 | HADD2.F32 R0, R4.H0_H0, R5.H1_H1
       --:-:-:-:5 | EXIT)",
     "HADD2 at 0x0000 (hand.sass:2): HADD2.F32 is an illegal instruction unless its first source is RZ",
     R"(
       --:-:-:-:5 | HADD2.F32 R0, -RZ, R5.H1_H1
       --:-:-:-:5 | EXIT)"},

    {"FmaToAluInTwoSteps", R"(
       --:-:-:-:1 | FFMA R0, R4, R5, R6
       --:-:-:-:3 | FFMA R2, R4, R5, R6
       --:-:-:-:1 | LOP3.LUT R1, R0, R5, RZ, 0xc0, !PT
       --:-:-:-:5 | EXIT)",
     "FFMA at 0x0000 (hand.sass:2) writes R0; LOP3 at 0x0020 (hand.sass:4) reads it after 4 cycles, but needs 5",
     R"(
       --:-:-:-:1 | FFMA R0, R4, R5, R6
       --:-:-:-:4 | FFMA R2, R4, R5, R6
       --:-:-:-:1 | LOP3.LUT R1, R0, R5, RZ, 0xc0, !PT
       --:-:-:-:5 | EXIT)"},

    {"CompareToGuard", R"(
       --:-:-:Y:12 | ISETP.LT.AND P0, PT, R4, R5, PT
       --:-:-:-:1 | @P0 FADD R0, R4, R5
       --:-:-:-:5 | EXIT)",
     "ISETP at 0x0000 (hand.sass:2) writes P0; FADD at 0x0010 (hand.sass:3) reads it after 12 cycles, but needs 13",
     R"(
       --:-:-:Y:13 | ISETP.LT.AND P0, PT, R4, R5, PT
       --:-:-:-:1 | @P0 FADD R0, R4, R5
       --:-:-:-:5 | EXIT)"},

    {"CompareToSelect", R"(
       --:-:-:-:3 | ISETP.LT.AND P0, PT, R4, R5, PT
       --:-:-:-:1 | SEL R0, R4, R5, P0
       --:-:-:-:5 | EXIT)",
     "ISETP at 0x0000 (hand.sass:2) writes P0; SEL at 0x0010 (hand.sass:3) reads it after 3 cycles, but needs 4",
     R"(
       --:-:-:-:4 | ISETP.LT.AND P0, PT, R4, R5, PT
       --:-:-:-:1 | SEL R0, R4, R5, P0
       --:-:-:-:5 | EXIT)"},

    {"WideHighHalf", R"(
       --:-:-:-:4 | IMAD.WIDE R2, R4, R5, RZ
       --:-:-:-:1 | LOP3.LUT R0, R3, R5, RZ, 0xc0, !PT
       --:-:-:-:5 | EXIT)",
     "IMAD.WIDE at 0x0000 (hand.sass:2) writes R3; LOP3 at 0x0010 (hand.sass:3) reads it after 4 cycles, but needs 5",
     R"(
       --:-:-:-:4 | IMAD.WIDE R2, R4, R5, RZ
       --:-:-:-:1 | LOP3.LUT R0, R2, R5, RZ, 0xc0, !PT
       --:-:-:-:5 | EXIT)"},

    {"R2urToUniform", R"(
       --:-:-:-:7 | R2UR UR4, R4
       --:-:-:-:1 | UIADD3 UR5, UR4, 0x1, URZ
       --:-:-:-:5 | EXIT)",
     "R2UR at 0x0000 (hand.sass:2) writes UR4; UIADD3 at 0x0010 (hand.sass:3) reads it after 7 cycles, but needs 8",
     R"(
       --:-:-:-:8 | R2UR UR4, R4
       --:-:-:-:1 | UIADD3 UR5, UR4, 0x1, URZ
       --:-:-:-:5 | EXIT)"},

    {"UniformSourceOverwrittenByAnEarlyWrite", R"(
       --:-:-:-:2 | UIADD3 UR5, UR4, 0x1, URZ
       --:-:-:-:1 | UMOV UR4, 0x7
       --:-:-:-:5 | EXIT)",
     "UIADD3 at 0x0000 (hand.sass:2) reads UR4; UMOV at 0x0010 (hand.sass:3) overwrites it after 2 cycles, but needs 3",
     R"(
       --:-:-:-:3 | UIADD3 UR5, UR4, 0x1, URZ
       --:-:-:-:1 | UMOV UR4, 0x7
       --:-:-:-:5 | EXIT)"},

    {"UniformResultBehindAnEarlyWrite", R"(
       --:-:-:-:5 | UIADD3 UR4, UR5, 0x1, URZ
       --:-:-:-:1 | UMOV UR4, 0x7
       --:-:-:-:5 | EXIT)",
     "UIADD3 at 0x0000 (hand.sass:2) writes UR4; UMOV at 0x0010 (hand.sass:3) overwrites it after 5 cycles, but needs "
     "6",
     R"(
       --:-:-:-:5 | UIADD3 UR4, UR5, 0x1, URZ
       --:-:-:-:1 | UIADD3 UR4, UR6, 0x1, URZ
       --:-:-:-:5 | EXIT)"},

    {"UniformMoveReadsEarly", R"(
       --:-:-:-:5 | UIADD3 UR4, UR5, 0x1, URZ
       --:-:-:-:1 | UMOV UR6, UR4
       --:-:-:-:5 | EXIT)",
     "UIADD3 at 0x0000 (hand.sass:2) writes UR4; UMOV at 0x0010 (hand.sass:3) reads it after 5 cycles, but needs 6",
     R"(
       --:-:-:-:4 | UIADD3 UR4, UR5, 0x1, URZ
       --:-:-:-:2 | UIADD3 UR6, UR4, 0x1, URZ
       --:-:-:-:5 | EXIT)"},

    {"ZeroFromTheClockPathIsLate", R"(
       --:-:-:-:5 | CS2R R2, SRZ
       --:-:-:-:1 | FADD R0, R2, R5
       --:-:-:-:5 | EXIT)",
     "CS2R at 0x0000 (hand.sass:2) writes R2; FADD at 0x0010 (hand.sass:3) reads it after 5 cycles, but needs 6",
     R"(
       --:-:-:-:6 | CS2R R2, SRZ
       --:-:-:-:1 | FADD R0, R2, R5
       --:-:-:-:5 | EXIT)"},

    {"HalfOnTheTensorPipe", R"(
       --:-:-:-:5 | FADD R2, R4, R5
       --:-:-:-:1 | HFMA2.MMA R0, R2, R5, R6
       --:-:-:-:5 | EXIT)",
     "FADD at 0x0000 (hand.sass:2) writes R2; HFMA2 at 0x0010 (hand.sass:3) reads it after 5 cycles, but needs 6",
     R"(
       --:-:-:-:5 | FADD R2, R4, R5
       --:-:-:-:1 | HFMA2 R0, R2, R5, R6
       --:-:-:-:5 | EXIT)"},

    {"LoadNotAwaited", R"(
       --:-:0:-:2 | LDS R0, [R4]
       --:-:-:-:1 | FADD R1, R0, R5
       --:-:-:-:5 | EXIT)",
     "LDS at 0x0000 (hand.sass:2) writes R0 at a time of its own, announced by scoreboard 0; FADD at 0x0010 "
     "(hand.sass:3) reads it with no wait for it on some path",
     R"(
       --:-:0:-:2 | LDS R0, [R4]
       01:-:-:-:1 | FADD R1, R0, R5
       --:-:-:-:5 | EXIT)"},

    {"WrongScoreboardAwaited", R"(
       --:-:0:-:1 | LDG.E R0, desc[UR4][R4.64]
       --:-:1:-:2 | LDG.E R1, desc[UR4][R6.64]
       02:-:-:-:1 | FADD R8, R0, R9
       --:-:-:-:5 | EXIT)",
     "LDG at 0x0000 (hand.sass:2) writes R0 at a time of its own, announced by scoreboard 0; FADD at 0x0020 "
     "(hand.sass:4) reads it with no wait for it on some path",
     R"(
       --:-:0:-:1 | LDG.E R0, desc[UR4][R4.64]
       --:-:1:-:2 | LDG.E R1, desc[UR4][R6.64]
       01:-:-:-:1 | FADD R8, R0, R9
       --:-:-:-:5 | EXIT)"},

    {"LoadWithoutScoreboard", R"(
       --:-:-:-:2 | LDG.E R0, desc[UR4][R4.64]
       3f:-:-:-:1 | FADD R8, R0, R9
       --:-:-:-:5 | EXIT)",
     "LDG at 0x0000 (hand.sass:2) writes R0 at a time of its own, announced by no scoreboard; FADD at 0x0010 "
     "(hand.sass:3) reads it with no wait for it on some path",
     R"(
       --:-:2:-:2 | LDG.E R0, desc[UR4][R4.64]
       3f:-:-:-:1 | FADD R8, R0, R9
       --:-:-:-:5 | EXIT)"},

    {"YoungerOfTheSameQueueSpeaksForTheOlder", R"(
       --:-:-:-:1 | LDS R0, [R4]
       --:-:0:-:2 | LDG.E R1, desc[UR4][R6.64]
       01:-:-:-:1 | FADD R8, R0, R9
       --:-:-:-:5 | EXIT)",
     "LDS at 0x0000 (hand.sass:2) writes R0 at a time of its own, announced by no scoreboard; FADD at 0x0020 "
     "(hand.sass:4) reads it with no wait for it on some path",
     R"(
       --:-:-:-:1 | LDS R0, [R4]
       --:-:0:-:2 | LDS R1, [R4+0x4]
       01:-:-:-:1 | FADD R8, R0, R9
       --:-:-:-:5 | EXIT)"},

    {"OlderOfTheSameQueueSaysNothingOfTheYounger", R"(
       --:-:0:-:1 | LDS R1, [R4+0x4]
       --:-:-:-:2 | LDS R0, [R4]
       01:-:-:-:1 | FADD R8, R0, R9
       --:-:-:-:5 | EXIT)",
     "LDS at 0x0010 (hand.sass:3) writes R0 at a time of its own, announced by no scoreboard; FADD at 0x0020 "
     "(hand.sass:4) reads it with no wait for it on some path",
     R"(
       --:-:0:-:1 | LDS R1, [R4+0x4]
       --:-:0:-:2 | LDS R0, [R4]
       01:-:-:-:1 | FADD R8, R0, R9
       --:-:-:-:5 | EXIT)"},

    {"OverwrittenBeforeTheLoadArrives", R"(
       --:-:0:-:2 | LDS R0, [R4]
       --:-:-:-:1 | FADD R0, R8, R5
       --:-:-:-:5 | EXIT)",
     "LDS at 0x0000 (hand.sass:2) writes R0 at a time of its own, announced by scoreboard 0; FADD at 0x0010 "
     "(hand.sass:3) overwrites it with no wait for it on some path",
     R"(
       --:-:0:-:2 | LDS R0, [R4]
       01:-:-:-:1 | FADD R0, R8, R5
       --:-:-:-:5 | EXIT)"},

    {"StoredDataOverwritten", R"(
       --:0:-:-:2 | STG.E desc[UR4][R4.64], R0
       --:-:-:-:1 | FADD R0, R8, R9
       --:-:-:-:5 | EXIT)",
     "STG at 0x0000 (hand.sass:2) reads R0 late, announced by scoreboard 0; FADD at 0x0010 (hand.sass:3) overwrites it "
     "with no wait for it on some path",
     R"(
       --:0:-:-:2 | STG.E desc[UR4][R4.64], R0
       01:-:-:-:1 | FADD R0, R8, R9
       --:-:-:-:5 | EXIT)"},

    {"AddressIsReadOnceTheResultIsThere", R"(
       --:-:0:-:2 | LDG.E R0, desc[UR4][R4.64]
       --:-:-:-:1 | FADD R4, R8, R9
       --:-:-:-:5 | EXIT)",
     "LDG at 0x0000 (hand.sass:2) reads R4 late, announced by no scoreboard; FADD at 0x0010 (hand.sass:3) overwrites "
     "it "
     "with no wait for it on some path",
     R"(
       --:-:0:-:2 | LDG.E R0, desc[UR4][R4.64]
       01:-:-:-:1 | FADD R4, R8, R9
       --:-:-:-:5 | EXIT)"},

    {"AroundTheLoop", R"(
       --:-:-:Y:13 | ISETP.LT.AND P0, PT, R4, R5, PT
       loop:
       --:-:-:-:1 | FADD R8, R0, R8
       --:-:0:-:2 | LDG.E R0, desc[UR4][R4.64]
       --:-:-:-:5 | @P0 BRA `(loop)
       --:-:-:-:5 | EXIT)",
     "LDG at 0x0020 (hand.sass:5) writes R0 at a time of its own, announced by scoreboard 0; FADD at 0x0010 "
     "(hand.sass:4) reads it with no wait for it on some path",
     R"(
       --:-:-:Y:13 | ISETP.LT.AND P0, PT, R4, R5, PT
       loop:
       01:-:-:-:1 | FADD R8, R0, R8
       --:-:0:-:2 | LDG.E R0, desc[UR4][R4.64]
       --:-:-:-:5 | @P0 BRA `(loop)
       --:-:-:-:5 | EXIT)"},

    {"OnlyOneSideOfABranchWaits", R"(
       --:-:0:Y:13 | LDS R0, [R4]
       --:-:-:-:5 | @P0 BRA `(other)
       01:-:-:-:1 | FADD R2, R0, R5
       other:
       --:-:-:-:1 | FADD R1, R0, R5
       --:-:-:-:5 | EXIT)",
     "LDS at 0x0000 (hand.sass:2) writes R0 at a time of its own, announced by scoreboard 0; FADD at 0x0030 "
     "(hand.sass:6) reads it with no wait for it on some path",
     R"(
       --:-:0:Y:13 | LDS R0, [R4]
       --:-:-:-:5 | @P0 BRA `(other)
       01:-:-:-:1 | FADD R2, R0, R5
       other:
       01:-:-:-:1 | FADD R1, R0, R5
       --:-:-:-:5 | EXIT)"},

    {"ShortestOfTwoPaths", R"(
       --:-:-:-:1 | MOV R0, R5
       --:-:-:-:5 | @P0 BRA `(join)
       --:-:-:-:2 | MOV R0, R6
       join:
       --:-:-:-:1 | FADD R1, R0, R5
       --:-:-:-:5 | EXIT)",
     "MOV at 0x0020 (hand.sass:4) writes R0; FADD at 0x0030 (hand.sass:6) reads it after 2 cycles, but needs 5",
     R"(
       --:-:-:-:1 | MOV R0, R5
       --:-:-:-:5 | @P0 BRA `(join)
       --:-:-:-:5 | MOV R0, R6
       join:
       --:-:-:-:1 | FADD R1, R0, R5
       --:-:-:-:5 | EXIT)"},

    {"GuardedWriteKeepsTheOlderOne", R"(
       --:-:-:-:1 | FADD R0, R4, R5
       --:-:-:-:2 | @P0 LDS R0, [R4]
       --:-:-:-:5 | EXIT)",
     "", R"(
       --:-:0:-:2 | LDS R0, [R4]
       01:-:-:-:4 | @P0 FADD R0, R4, R5
       --:-:-:-:1 | FADD R1, R0, R5
       --:-:-:-:5 | EXIT)"},

    {"OppositeGuardsNeverMeet", R"(
       --:-:0:Y:13 | @P0 LDS R0, [R4]
       --:-:-:Y:13 | ISETP.LT.AND P0, PT, R4, R5, PT
       --:-:-:-:1 | @!P0 FADD R1, R0, R5
       --:-:-:-:5 | EXIT)",
     "LDS at 0x0000 (hand.sass:2) writes R0 at a time of its own, announced by scoreboard 0; FADD at 0x0020 "
     "(hand.sass:4) reads it with no wait for it on some path",
     R"(
       --:-:0:Y:13 | @P0 LDS R0, [R4]
       --:-:-:Y:13 | ISETP.LT.AND P1, PT, R4, R5, PT
       --:-:-:-:1 | @!P0 FADD R1, R0, R5
       --:-:-:-:5 | EXIT)"},

    {"AWaitHoldsWhateverItsGuard", R"(
       --:-:0:-:2 | LDS R0, [R4]
       01:-:-:-:1 | @P0 FADD R6, R7, R5
       --:-:-:-:1 | FADD R1, R0, R5
       --:-:-:-:5 | EXIT)",
     "", R"(
       --:-:0:-:2 | LDS R0, [R4]
       01:-:-:-:1 | @!PT FADD R6, R7, R5
       --:-:-:-:1 | FADD R1, R0, R5
       --:-:-:-:5 | EXIT)"},

    {"AwaitedTooSoon", R"(
       --:-:0:-:1 | LDS R0, [R4]
       01:-:-:-:1 | FADD R1, R0, R5
       --:-:-:-:5 | EXIT)",
     "FADD at 0x0010 (hand.sass:3): awaits scoreboard 0 1 cycle after it was set; it shows from 2 cycles on",
     R"(
       --:-:0:-:2 | LDS R0, [R4]
       01:-:-:-:1 | FADD R1, R0, R5
       --:-:-:-:5 | EXIT)"},

    {"LongStallWithoutYield", R"(
       --:-:-:-:13 | ISETP.LT.AND P0, PT, R4, R5, PT
       --:-:-:-:5 | EXIT)",
     "ISETP at 0x0000 (hand.sass:2): stall 13 without yield is not honoured: set yield, or stall at most 11",
     R"(
       --:-:-:Y:13 | ISETP.LT.AND P0, PT, R4, R5, PT
       --:-:-:-:5 | EXIT)"},

    {"ReuseWithYield", R"(
       --:-:-:Y:1 | FFMA R0, R4.reuse, R5, R6
       --:-:-:-:1 | FFMA R1, R4, R7, R8
       --:-:-:-:5 | EXIT)",
     "FFMA at 0x0000 (hand.sass:2): reuse with yield loses the operand cache: drop one of them",
     R"(
       --:-:-:-:1 | FFMA R0, R4.reuse, R5, R6
       --:-:-:-:1 | FFMA R1, R4, R7, R8
       --:-:-:-:5 | EXIT)"},

    {"StaleOperandCache", R"(
       --:-:-:-:1 | FFMA R0, R4.reuse, R5, R6
       --:-:0:-:2 | LDS R4, [R10]
       01:-:-:-:1 | FFMA R1, R4, R7, R8
       --:-:-:-:5 | EXIT)",
     "FFMA at 0x0020 (hand.sass:4): reads R4 from the operand cache, where FFMA at 0x0000 (hand.sass:2) left the value "
     "from before it was overwritten",
     R"(
       --:-:-:-:1 | FFMA R0, R4, R5, R6
       --:-:0:-:2 | LDS R4, [R10]
       01:-:-:-:1 | FFMA R1, R4, R7, R8
       --:-:-:-:5 | EXIT)"},

    {"StaleOperandCacheBehindAReaderOfTheOtherBank", R"(
       --:-:-:-:1 | FFMA R4, R4.reuse, R5, R6
       --:-:-:-:5 | FFMA R0, R7, R5, R6
       --:-:-:-:1 | FFMA R1, R4, R7, R8
       --:-:-:-:5 | EXIT)",
     "FFMA at 0x0020 (hand.sass:4): reads R4 from the operand cache, where FFMA at 0x0000 (hand.sass:2) left the value "
     "from before it was overwritten",
     R"(
       --:-:-:-:1 | FFMA R4, R4.reuse, R5, R6
       --:-:-:-:5 | FFMA R0, R10, R5, R6
       --:-:-:-:1 | FFMA R1, R4, R7, R8
       --:-:-:-:5 | EXIT)"},

    {"StaleOperandCacheAroundALoop", R"(
       again:
       --:-:-:-:5 | FADD R1, R4, R7
       --:-:-:-:5 | IADD3 R4, R4.reuse, 0x1, RZ
       --:-:-:-:5 | @P0 BRA `(again)
       --:-:-:-:5 | EXIT)",
     "FADD at 0x0000 (hand.sass:3): reads R4 from the operand cache, where IADD3 at 0x0010 (hand.sass:4) left the "
     "value from before it was overwritten",
     R"(
       again:
       --:-:-:-:5 | FADD R1, R4, R7
       --:-:-:-:5 | IADD3 R4, R4, 0x1, RZ
       --:-:-:-:5 | @P0 BRA `(again)
       --:-:-:-:5 | EXIT)"},

    {"CopiesCommittedToNoScoreboard", R"(
       --:-:-:-:2 | LDGDEPBAR
       --:-:-:-:4 | DEPBAR.LE SB0, 0x0
       --:-:-:-:5 | EXIT)",
     "LDGDEPBAR at 0x0000 (hand.sass:2): commits copies to no scoreboard, so nobody can await them",
     R"(
       --:-:0:-:2 | LDGDEPBAR
       --:-:-:-:4 | DEPBAR.LE SB0, 0x0
       --:-:-:-:5 | EXIT)"},

    {"CopiesCommittedToAnotherScoreboard", R"(
       --:-:1:-:2 | LDGDEPBAR
       --:-:-:-:4 | DEPBAR.LE SB0, 0x0
       --:-:-:-:5 | EXIT)",
     "LDGDEPBAR at 0x0000 (hand.sass:2): commits copies to scoreboard 1, which no DEPBAR awaits",
     R"(
       --:-:0:-:2 | LDGDEPBAR
       --:-:-:-:4 | DEPBAR.LE SB0, 0x0
       --:-:-:-:5 | EXIT)"},

    {"HalfCompareIsAnIntegerReader", R"(
       --:-:-:-:4 | HADD2 R2, R4, R5
       --:-:-:-:1 | HSETP2.GT.AND P0, PT, R2, R5, PT
       --:-:-:-:5 | EXIT)",
     "HADD2 at 0x0000 (hand.sass:2) writes R2; HSETP2 at 0x0010 (hand.sass:3) reads it after 4 cycles, but needs 5",
     R"(
       --:-:-:-:4 | HADD2 R2, R4, R5
       --:-:-:-:1 | HMUL2 R0, R2, R5
       --:-:-:-:5 | EXIT)"},

    {"DepbarNeedsItsStall", R"(
       --:-:0:-:2 | LDGDEPBAR
       --:-:-:-:3 | DEPBAR.LE SB0, 0x0
       --:-:-:-:5 | EXIT)",
     "DEPBAR at 0x0010 (hand.sass:3): DEPBAR needs a stall of at least 4, has 3",
     R"(
       --:-:0:-:2 | LDGDEPBAR
       --:-:-:-:4 | DEPBAR.LE SB0, 0x0
       --:-:-:-:5 | EXIT)"},

    // Shown on the chip: the warps of a warpgroup do not wait for the slowest.
    {"ProductTooSoonBehindArrive", R"(
       --:-:-:-:5 | WARPGROUP.ARRIVE
       --:-:-:-:3 | HGMMA.64x8x16.F32 R24, gdesc[UR8], RZ, !UPT, gsb0
       --:-:-:-:2 | WARPGROUP.DEPBAR.LE gsb0, 0x0
       --:-:-:-:5 | EXIT)",
     "WARPGROUP at 0x0000 (hand.sass:2): a product follows 5 cycles after WARPGROUP.ARRIVE; at least 6 are needed",
     R"(
       --:-:-:-:1 | WARPGROUP.ARRIVE
       --:-:-:-:5 | MOV R0, 0x1
       --:-:-:-:3 | HGMMA.64x8x16.F32 R24, gdesc[UR8], RZ, !UPT, gsb0
       --:-:-:-:2 | WARPGROUP.DEPBAR.LE gsb0, 0x0
       --:-:-:-:5 | EXIT)"},

    // As ptxas has them.
    {"PredicateOfAnAtomicIsThereWithItsSourcesRead", R"(
       --:1:5:-:2 | ATOM.E.ADD.F16x2.RN.STRONG.GPU P0, R7, desc[UR4][R2.64], R0
       02:-:-:-:5 | @P0 BRA done
       --:-:-:-:1 | IADD3 R8, R7, R7, RZ
     done:
       --:-:-:-:5 | EXIT)",
     "ATOM at 0x0000 (hand.sass:2) writes R7 at a time of its own, announced by scoreboard 5; IADD3 at 0x0020 "
     "(hand.sass:4) reads it with no wait for it on some path",
     R"(
       --:1:5:-:2 | ATOM.E.ADD.F16x2.RN.STRONG.GPU P0, R7, desc[UR4][R2.64], R0
       02:-:-:-:5 | @P0 BRA done
       20:-:-:-:1 | IADD3 R8, R7, R7, RZ
     done:
       --:-:-:-:5 | EXIT)"},

    {"UniformSpecialRegistersComeInOrder", R"(
       --:-:3:-:1 | S2UR UR6, SR_CTAID.Y
       --:-:-:-:2 | S2UR UR7, SR_CTAID.X
       08:-:-:-:1 | UIADD3 UR4, UR6, UR7, URZ
       --:-:-:-:5 | EXIT)",
     "S2UR at 0x0010 (hand.sass:3) writes UR7 at a time of its own, announced by no scoreboard; UIADD3 at 0x0020 "
     "(hand.sass:4) reads it with no wait for it on some path",
     R"(
       --:-:-:-:1 | S2UR UR6, SR_CTAID.Y
       --:-:3:-:2 | S2UR UR7, SR_CTAID.X
       08:-:-:-:1 | UIADD3 UR4, UR6, UR7, URZ
       --:-:-:-:5 | EXIT)"},

    {"CountedSurfaceLoads", R"(
       --:-:5:-:1 | SULD.D.BA.2D.64.STRONG.SM.TRAP R12, [R8], UR6, 0x0
       --:-:5:-:2 | SULD.D.BA.1D.STRONG.SYS R15, [R10], UR6, 0x0
       --:-:-:-:4 | DEPBAR.LE SB5, 0x1
       --:-:-:-:1 | IADD3 R4, R15, R7, RZ
       --:-:-:-:5 | EXIT)",
     "SULD at 0x0010 (hand.sass:3) writes R15 at a time of its own, announced by scoreboard 5; IADD3 at 0x0030 "
     "(hand.sass:5) reads it with no wait for it on some path",
     R"(
       --:-:5:-:1 | SULD.D.BA.2D.64.STRONG.SM.TRAP R12, [R8], UR6, 0x0
       --:-:5:-:2 | SULD.D.BA.1D.STRONG.SYS R15, [R10], UR6, 0x0
       --:-:-:-:4 | DEPBAR.LE SB5, 0x1
       --:-:-:-:1 | IADD3 R4, R12, R7, RZ
       --:-:-:-:5 | EXIT)"},

    {"CarryOfAWideProduct", R"(
       --:-:-:-:3 | IMAD.WIDE.U32 R6, P2, R3, R5, R6
       --:-:-:-:1 | IMAD.X R3, RZ, RZ, R4, P2
       --:-:-:-:5 | EXIT)",
     "IMAD.WIDE at 0x0000 (hand.sass:2) writes P2; IMAD at 0x0010 (hand.sass:3) reads it after 3 cycles, but needs 4",
     R"(
       --:-:-:-:4 | IMAD.WIDE.U32 R6, P2, R3, R5, R6
       --:-:-:-:1 | IMAD.X R3, RZ, RZ, R4, P2
       --:-:-:-:5 | EXIT)"},

    {"ClusterIsAwaitedTooSoon", R"(
       --:-:-:-:1 | UCGABAR_ARV
       --:-:-:-:4 | MOV R1, R2
       --:-:-:-:1 | UCGABAR_WAIT
       --:-:-:-:5 | EXIT)",
     "UCGABAR_WAIT at 0x0020 (hand.sass:4): follows UCGABAR_ARV at 0x0000 (hand.sass:2) after 5 cycles, needs 6: so "
     "close, it does not wait for the others",
     R"(
       --:-:-:-:2 | UCGABAR_ARV
       --:-:-:-:4 | MOV R1, R2
       --:-:-:-:1 | UCGABAR_WAIT
       --:-:-:-:5 | EXIT)"},

    {"AccessOvertakesBarrier", R"(
       --:-:-:-:2 | BAR.SYNC.DEFER_BLOCKING 0x0
       --:-:-:-:3 | MOV R1, R2
       --:-:0:-:2 | LDS R4, [R10]
       01:-:-:-:5 | EXIT)",
     "LDS at 0x0020 (hand.sass:4): follows BAR at 0x0000 (hand.sass:2) after 5 cycles, needs 6: a memory access so "
     "close "
     "overtakes the barrier",
     R"(
       --:-:-:-:3 | BAR.SYNC.DEFER_BLOCKING 0x0
       --:-:-:-:3 | MOV R1, R2
       --:-:0:-:2 | LDS R4, [R10]
       01:-:-:-:5 | EXIT)"},

    {"MatrixStoreOvertakesBarrier", R"(
       --:-:-:-:2 | BAR.SYNC.DEFER_BLOCKING 0x0
       --:0:-:-:2 | STSM.16.M88 [R10], R4
       01:-:-:-:5 | EXIT)",
     "STSM at 0x0010 (hand.sass:3): follows BAR at 0x0000 (hand.sass:2) after 2 cycles, needs 6: a memory access so "
     "close "
     "overtakes the barrier",
     R"(
       --:-:-:-:6 | BAR.SYNC.DEFER_BLOCKING 0x0
       --:0:-:-:2 | STSM.16.M88 [R10], R4
       01:-:-:-:5 | EXIT)"},

    {"ArrivalOvertakesBarrier", R"(
       --:-:-:-:2 | BAR.SYNC.DEFER_BLOCKING 0x0
       --:0:1:-:2 | SYNCS.ARRIVE.TRANS64.A1T0 R4, [R10+URZ], RZ
       03:-:-:-:5 | EXIT)",
     "SYNCS at 0x0010 (hand.sass:3): follows BAR at 0x0000 (hand.sass:2) after 2 cycles, needs 6: a memory access so "
     "close "
     "overtakes the barrier",
     R"(
       --:-:-:-:6 | BAR.SYNC.DEFER_BLOCKING 0x0
       --:0:1:-:2 | SYNCS.ARRIVE.TRANS64.A1T0 R4, [R10+URZ], RZ
       03:-:-:-:5 | EXIT)"},

    {"RemoteStoreOvertakesBarrier", R"(
       --:-:-:-:2 | BAR.SYNC.DEFER_BLOCKING 0x0
       --:0:-:-:2 | STAS [R10.64], R4
       01:-:-:-:5 | EXIT)",
     "STAS at 0x0010 (hand.sass:3): follows BAR at 0x0000 (hand.sass:2) after 2 cycles, needs 6: a memory access so "
     "close "
     "overtakes the barrier",
     R"(
       --:-:-:-:6 | BAR.SYNC.DEFER_BLOCKING 0x0
       --:0:-:-:2 | STAS [R10.64], R4
       01:-:-:-:5 | EXIT)"},

    {"ReductionHasNoResult", R"(
       --:0:1:-:2 | REDG.E.ADD.STRONG.GPU desc[UR4][R2.64], R4
       03:-:-:-:5 | EXIT)",
     "REDG at 0x0000 (hand.sass:2): a store has no results, so it must not set a write scoreboard", R"(
       --:0:-:-:2 | REDG.E.ADD.STRONG.GPU desc[UR4][R2.64], R4
       01:-:-:-:5 | EXIT)"},
};

INSTANTIATE_TEST_SUITE_P(Hazards, Verify, testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

// sm_50 .. sm_62: six cycles for nearly everything, thirteen for predicates, loads in order, counted waits.
const Case kMaxwellCases[] = {
    {"FmaToFma", R"(
       --:-:-:-:5 | FFMA R0, R4, R5, R6
       --:-:-:-:1 | FFMA R1, R0, R5, R6
       --:-:-:-:15 | EXIT)",
     "FFMA at 0x0008 (hand.sass:2) writes R0; FFMA at 0x0010 (hand.sass:3) reads it after 5 cycles, but needs 6",
     R"(
       --:-:-:-:6 | FFMA R0, R4, R5, R6
       --:-:-:-:1 | FFMA R1, R0, R5, R6
       --:-:-:-:15 | EXIT)"},

    {"CompareToGuard", R"(
       --:-:-:-:12 | ISETP.LT.AND P0, PT, R4, R5, PT
       --:-:-:-:1 | @P0 FADD R0, R4, R5
       --:-:-:-:15 | EXIT)",
     "ISETP at 0x0008 (hand.sass:2) writes P0; FADD at 0x0010 (hand.sass:3) reads it after 12 cycles, but needs 13",
     R"(
       --:-:-:-:13 | ISETP.LT.AND P0, PT, R4, R5, PT
       --:-:-:-:1 | @P0 FADD R0, R4, R5
       --:-:-:-:15 | EXIT)"},

    {"LoadsReturnInOrder", R"(
       --:-:-:-:1 | LDG.E R0, [R4]
       --:-:0:-:2 | LDS R1, [R6]
       01:-:-:-:1 | FADD R8, R0, R9
       --:-:-:-:15 | EXIT)",
     "LDG at 0x0008 (hand.sass:2) writes R0 at a time of its own, announced by no scoreboard; FADD at 0x0018 "
     "(hand.sass:4) reads it with no wait for it on some path",
     R"(
       --:-:-:-:1 | LDG.E R0, [R4]
       --:-:0:-:2 | LDG.E R1, [R6]
       01:-:-:-:1 | FADD R8, R0, R9
       --:-:-:-:15 | EXIT)"},

    {"CountedWait", R"(
       --:-:5:-:1 | LDG.E R0, [R4]
       --:-:5:-:2 | LDG.E R1, [R6]
       --:-:-:-:4 | DEPBAR.LE SB5, 0x1
       --:-:-:-:1 | FADD R8, R1, R9
       --:-:-:-:15 | EXIT)",
     "LDG at 0x0010 (hand.sass:3) writes R1 at a time of its own, announced by scoreboard 5; FADD at 0x0028 "
     "(hand.sass:5) reads it with no wait for it on some path",
     R"(
       --:-:5:-:1 | LDG.E R0, [R4]
       --:-:5:-:2 | LDG.E R1, [R6]
       --:-:-:-:4 | DEPBAR.LE SB5, 0x1
       --:-:-:-:1 | FADD R8, R0, R9
       --:-:-:-:15 | EXIT)"},

    {"SyncGoesToThePushedTarget", R"(
       --:-:-:-:1 | SSY `(join)
       --:-:-:-:13 | MOV R0, R5
       --:-:-:-:13 | @P0 SYNC
       --:-:-:-:2 | MOV R0, R6
       --:-:-:-:1 | SYNC
       join:
       --:-:-:-:1 | FADD R1, R0, R5
       --:-:-:-:15 | EXIT)",
     "MOV at 0x0028 (hand.sass:5) writes R0; FADD at 0x0038 (hand.sass:8) reads it after 3 cycles, but needs 6",
     R"(
       --:-:-:-:1 | SSY `(join)
       --:-:-:-:13 | MOV R0, R5
       --:-:-:-:13 | @P0 SYNC
       --:-:-:-:2 | MOV R0, R6
       --:-:-:-:13 | SYNC
       join:
       --:-:-:-:1 | FADD R1, R0, R5
       --:-:-:-:15 | EXIT)"},
};

class VerifyMaxwell : public testing::TestWithParam<Case> {};

TEST_P(VerifyMaxwell, FindsTheHazardAndNothingInItsTwin) {
  const Case& c = GetParam();
  const std::vector<Hazard> found = verify(Arch::sm_52, kernel(c.bad, Arch::sm_52));
  ASSERT_EQ(found.size(), 1u) << sentences(found);
  EXPECT_EQ(found[0].text, c.finding);
  const std::vector<Hazard> none = verify(Arch::sm_52, kernel(c.good, Arch::sm_52));
  EXPECT_TRUE(none.empty()) << sentences(none);
}

INSTANTIATE_TEST_SUITE_P(Hazards, VerifyMaxwell, testing::ValuesIn(kMaxwellCases),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(VerifyLegality, RegisterBeyondTheDeclaredOnes) {
  KernelImage k = kernel("--:-:-:-:1 | FFMA R9, R4, R5, R6\n--:-:-:-:5 | EXIT");
  k.registers = 9;
  const std::vector<Hazard> found = verify(Arch::sm_90a, k);
  ASSERT_EQ(found.size(), 1u) << sentences(found);
  EXPECT_EQ(found[0].text, "FFMA at 0x0000 (hand.sass:1): uses R9, but the kernel declares 9 registers");
  k.registers = 10;
  EXPECT_TRUE(verify(Arch::sm_90a, k).empty());
}

TEST(VerifyLegality, UndecodableWordIsNamed) {
  KernelImage k = kernel("--:-:-:-:1 | FFMA R9, R4, R5, R6\n--:-:-:-:5 | EXIT");
  k.code[0] = {~std::uint64_t{0}, k.code[0].hi};
  const std::vector<Hazard> found = verify(Arch::sm_90a, k);
  ASSERT_EQ(found.size(), 1u) << sentences(found);
  EXPECT_EQ(found[0].kind, Hazard::Kind::kDecode);
}

TEST(VerifyLegality, EmptyKernelHasNoHazards) {
  EXPECT_TRUE(verify(Arch::sm_90a, KernelImage{}).empty());
}

}  // namespace
}  // namespace nervanagpu::sass
