// Counted waits, calls and computed branches: what is out of order says nothing by its count, and nothing after a
// branch whose target is computed stays unproven.
#include <gtest/gtest.h>

#include "test/sass/verify/hand_kernel.h"

namespace nervanagpu::sass {
namespace {

using test::kernel;
using test::sentences;

std::vector<Hazard> found_in(const char* text) {
  return verify(Arch::sm_90a, kernel(text));
}

TEST(VerifyCounts, LoadsOutOfOrderAreNotCounted) {
  const std::vector<Hazard> found = found_in(R"(
    --:-:0:-:1 | LDG.E R0, desc[UR4][R4.64]
    --:-:0:-:2 | LDG.E R1, desc[UR4][R6.64]
    --:-:-:-:4 | DEPBAR.LE SB0, 0x1
    --:-:-:-:1 | FADD R8, R0, R9
    --:-:-:-:5 | EXIT)");
  ASSERT_EQ(found.size(), 1u) << sentences(found);
  EXPECT_EQ(found[0].kind, Hazard::Kind::kRaw);
  EXPECT_EQ(found[0].reg, "R0");
  const std::vector<Hazard> none = found_in(R"(
    --:-:0:-:1 | LDG.E R0, desc[UR4][R4.64]
    --:-:0:-:2 | LDG.E R1, desc[UR4][R6.64]
    --:-:-:-:4 | DEPBAR.LE SB0, 0x0
    --:-:-:-:1 | FADD R8, R0, R9
    --:-:-:-:5 | EXIT)");
  EXPECT_TRUE(none.empty()) << sentences(none);
}

TEST(VerifyCounts, OthersOnTheSameScoreboardAreNotCounted) {
  const std::vector<Hazard> found = found_in(R"(
    --:-:0:-:1 | LDS R0, [R4]
    --:-:0:-:2 | LDG.E R1, desc[UR4][R6.64]
    --:-:-:-:4 | DEPBAR.LE SB0, 0x1
    --:-:-:-:1 | FADD R8, R0, R9
    --:-:-:-:5 | EXIT)");
  ASSERT_EQ(found.size(), 1u) << sentences(found);
  EXPECT_EQ(found[0].reg, "R0");
  const std::vector<Hazard> none = found_in(R"(
    --:-:0:-:1 | LDS R0, [R4]
    --:-:0:-:2 | LDS R1, [R6]
    --:-:-:-:4 | DEPBAR.LE SB0, 0x1
    --:-:-:-:1 | FADD R8, R0, R9
    --:-:-:-:5 | EXIT)");
  EXPECT_TRUE(none.empty()) << sentences(none);
}

TEST(VerifyPaths, BehindAComputedCall) {
  const std::vector<Hazard> found = found_in(R"(
    --:-:-:-:5 | CALL.ABS.NOINC R20
    --:-:-:-:1 | FFMA R0, R4, R5, R6
    --:-:-:-:1 | FFMA R1, R0, R5, R6
    --:-:-:-:5 | EXIT)");
  ASSERT_EQ(found.size(), 1u) << sentences(found);
  EXPECT_EQ(found[0].missing, 3);
}

TEST(VerifyPaths, AJumpByATableGoesWhereTheTableSays) {
  // The loop overwrites R8, which STG may still have to read; after the table's jump that has been awaited.
  const auto found_with = [](const std::string& jump, std::vector<std::uint8_t> table) {
    KernelImage image = kernel(R"(
    loop:
    --:-:-:-:5 | IMAD R8, R9, R8, R10
    --:-:-:Y:13 | ISETP.NE.U32.AND P0, PT, R8, R11, PT
    --:-:-:-:5 | @P0 BRA `(loop)
    --:0:-:-:1 | STG.E desc[UR4][R4.64], R8
    --:-:1:-:2 | LDC R6, c[0x2][R3]
    )" + jump + R"(
    01:-:-:-:5 | EXIT)");
    image.constant2 = std::move(table);
    return verify(Arch::sm_90a, image);
  };
  const std::string direct = "02:-:-:-:5 | BRX R6 -0x60";
  EXPECT_TRUE(found_with(direct, {0x60, 0, 0, 0}).empty()) << sentences(found_with(direct, {0x60, 0, 0, 0}));
  EXPECT_EQ(found_with(direct, {}).size(), 1U) << "it may go to the loop";
  EXPECT_EQ(found_with(direct, {0x60, 0, 0, 0, 0, 0, 0, 0}).size(), 1U) << "the table says so";
  // What the register holds is not the table's.
  for (const char* guard : {"", "@P1 "}) {
    const std::string changed = "02:-:-:-:5 | " + std::string(guard) + "MOV R6, R7\n--:-:-:-:5 | BRX R6 -0x70";
    EXPECT_EQ(found_with(changed, {0x70, 0, 0, 0}).size(), 1U);
  }
}

TEST(VerifyPaths, AnIndexWithABoundStaysInItsTable) {
  // Two tables: {loop} at 0, {behind, behind} at 4. Only the second is this jump's, where its index is 0 or 1.
  const auto found_with = [](const std::string& least, const std::string& times = "IMAD.SHL.U32 R3, R3, 0x4, RZ") {
    KernelImage image = kernel(R"(
    loop:
    --:-:-:-:5 | IMAD R8, R9, R8, R10
    --:-:-:Y:13 | ISETP.NE.U32.AND P0, PT, R8, R11, PT
    --:-:-:-:5 | @P0 BRA `(loop)
    --:0:-:-:1 | STG.E desc[UR4][R4.64], R8
    --:-:-:Y:6 | )" + least + R"(
    --:-:-:Y:6 | )" + times + R"(
    --:-:1:-:2 | LDC R6, c[0x2][R3+0x4]
    02:-:-:-:5 | BRX R6 -0x80
    01:-:-:-:5 | EXIT)");
    image.constant2 = {0, 0, 0, 0, 0x80, 0, 0, 0, 0x80, 0, 0, 0};
    return verify(Arch::sm_90a, image);
  };
  EXPECT_TRUE(found_with("VIMNMX.U32 R3, R3, 0x1, PT").empty());
  EXPECT_TRUE(found_with("VIADDMNMX.U32 R3, R3, R7, 0x1, PT").empty());
  EXPECT_TRUE(found_with("VIMNMX.U32 R3, R3, RZ, PT").size() == 1U) << "its bound is not read";
  for (const char* other :
       {"VIMNMX R3, R3, 0x1, PT", "VIMNMX.U32 R3, R3, 0x1, !PT", "VIMNMX.U32 R3, R3, 0x1, P1",
        "VIMNMX.U32 R3, R3, 0x2, PT", "@P1 VIMNMX.U32 R3, R3, 0x1, PT", "MOV R3, 0x1", "VIMNMX.U32 R7, R3, 0x1, PT"}) {
    EXPECT_EQ(found_with(other).size(), 1U) << other;
  }
  const char* const least = "VIMNMX.U32 R3, R3, 0x1, PT";
  for (const char* other : {"IMAD.SHL.U32 R3, R3, 0x8, RZ", "IMAD R3, R3, 0x4, R7", "IMAD R3, R3, R7, RZ",
                            "IMAD.U32 R3, R3, 0x4, R3", "IMAD.SHL.U32 R3, R7, 0x4, RZ"}) {
    EXPECT_EQ(found_with(least, other).size(), 1U) << other;
  }
}

TEST(VerifyPaths, ATableOfMaxwellsJumps) {
  // The same in 64-bit words: BRX at 0x38 goes to 0x48, after the loop, or to its beginning.
  const auto found_with = [](std::vector<std::uint8_t> table) {
    KernelImage image = kernel(R"(
    loop:
    --:-:-:-:6 | IADD R8, R9, R8
    --:-:-:Y:13 | ISETP.NE.U32.AND P0, PT, R8, R11, PT
    --:-:-:-:13 | @P0 BRA `(loop)
    --:-:0:-:1 | LDC R6, c[0x2][R3]
    --:1:-:-:15 | STG.E [R4], R8
    01:-:-:-:13 | BRX R6 -0x40
    02:-:-:-:15 | EXIT)",
                               Arch::sm_61);
    image.constant2 = std::move(table);
    return verify(Arch::sm_61, image);
  };
  EXPECT_TRUE(found_with({0x48, 0, 0, 0}).empty()) << sentences(found_with({0x48, 0, 0, 0}));
  EXPECT_EQ(found_with({}).size(), 1U) << "it may go to the loop";
  EXPECT_EQ(found_with({0x48, 0, 0, 0, 8, 0, 0, 0}).size(), 1U) << "the table says so";
}

TEST(VerifyPaths, ACallReturnsWhereItsRegisterSays) {
  // The callee's FFMA is read right after its return; R20 holds the address of that reader.
  const char* const text = R"(
    --:-:-:-:5 | MOV R20, 0x30
    --:-:-:-:5 | CALL.REL.NOINC `(callee)
    --:-:-:-:5 | EXIT
    --:-:-:-:1 | FFMA R1, R0, R5, R6
    --:-:-:-:5 | EXIT
    callee:
    --:-:-:-:1 | FFMA R0, R4, R5, R6
    --:-:-:-:2 | RET.REL.NODEC R20 0x0
    )";
  const std::vector<Hazard> found = found_in(text);
  ASSERT_EQ(found.size(), 1u) << sentences(found);
  EXPECT_EQ(found[0].consumer, 3u);
  EXPECT_EQ(found[0].missing, 1);
}

TEST(VerifyPaths, ACalleeMayMoveItsReturnAddress) {
  // R6 holds another address before the call: what counts is R4, which the callee moves there, once or by way of R7.
  for (const char* const move :
       {"--:-:-:-:5 | MOV R6, R4\n--:-:-:-:1 | NOP", "--:-:-:-:5 | MOV R7, R4\n--:-:-:-:5 | MOV R6, R7"}) {
    const std::string text = std::string(R"(
    --:-:-:-:5 | MOV R6, 0x30
    --:-:-:-:5 | MOV R4, 0x50
    --:-:-:-:5 | CALL.REL.NOINC `(callee)
    --:-:-:-:5 | EXIT
    --:-:-:-:5 | EXIT
    --:-:-:-:1 | FFMA R1, R0, R5, R6
    --:-:-:-:5 | EXIT
    callee:
    )") + move + R"(
    --:-:-:-:1 | FFMA R0, R2, R5, R3
    --:-:-:-:2 | RET.REL.NODEC R6 0x0
    )";
    const std::vector<Hazard> found = found_in(text.c_str());
    ASSERT_EQ(found.size(), 1u) << sentences(found);
    EXPECT_EQ(found[0].consumer, 5u);
  }
}

TEST(VerifyPaths, ACallReturnsByTheRegisterOfItsOwnCallee) {
  // R8 is an argument of the first callee, and where the second returns. After the first call the shuffle is awaited.
  const char* const text = R"(
    --:-:-:-:5 | MOV R6, 0x40
    --:-:-:-:5 | MOV R8, 0x10
    --:-:-:-:5 | CALL.REL.NOINC `(shuffles)
    --:-:-:-:5 | EXIT
    01:-:-:-:5 | FADD R1, R8, R9
    --:-:-:-:5 | MOV R8, 0x80
    --:-:-:-:5 | CALL.REL.NOINC `(adds)
    --:-:-:-:5 | EXIT
    --:-:-:-:5 | EXIT
    shuffles:
    --:-:0:-:2 | SHFL.DOWN PT, R8, R9, R8, R7
    --:-:-:-:5 | RET.REL.NODEC R6 0x0
    adds:
    --:-:-:-:5 | FADD R2, R1, R9
    --:-:-:-:5 | RET.REL.NODEC R8 0x0
    )";
  const std::vector<Hazard> found = found_in(text);
  EXPECT_TRUE(found.empty()) << sentences(found);
}

}  // namespace
}  // namespace nervanagpu::sass
