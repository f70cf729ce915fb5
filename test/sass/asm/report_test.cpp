// What a kernel costs by the model: occupancy, bank conflicts, loops.
#include "sass/asm/report.h"

#include <gtest/gtest.h>

#include "test/sass/verify/hand_kernel.h"

namespace nervanagpu::sass {
namespace {

TEST(Occupancy, WhichLimitBinds) {
  const auto check = [](const Occupancy& o, std::uint32_t ctas, std::uint32_t warps, std::string_view limit) {
    EXPECT_EQ(o.ctas, ctas);
    EXPECT_EQ(o.warps, warps);
    EXPECT_EQ(o.limit, limit);
  };
  check(occupancy(Arch::sm_90a, 32, 0, 256), 8, 64, "registers");  // 64 warps also: the first of equals
  check(occupancy(Arch::sm_90a, 16, 0, 256), 8, 64, "warps");
  check(occupancy(Arch::sm_90a, 16, 0, 32), 32, 32, "CTAs");
  check(occupancy(Arch::sm_90a, 226, 33792, 128), 2, 8, "registers");
  check(occupancy(Arch::sm_90a, 168, 0, 384), 1, 12, "registers");
  check(occupancy(Arch::sm_90a, 64, 100 << 10, 128), 2, 8, "shared memory");
  check(occupancy(Arch::sm_90a, 255, 0, 1024), 0, 0, "registers");  // it does not fit
  check(occupancy(Arch::sm_75, 32, 0, 64), 16, 32, "warps");
  check(occupancy(Arch::sm_52, 32, 48 << 10, 128), 2, 8, "shared memory");
}

const char* const kLoop = R"(
  MOV R0, RZ
  again:
  LDS.128 R4, [R20]
  FFMA R8, R4, R6, R10
  FFMA R9, R5, R6, R11
  FFMA R12, R4, R7, R12
  IADD3 R0, R0, 0x1, RZ
  ISETP.LT.AND P0, PT, R0, 0x40, PT
  @P0 BRA `(again)
  EXIT)";

TEST(Report, CountsRegistersConflictsAndSlots) {
  Program p = test::scheduled(kLoop);
  p.manifest.threads = 128;
  const KernelReport r = report_of(p);
  EXPECT_EQ(r.registers, 23u);
  EXPECT_EQ(r.predicates, 1u);
  EXPECT_EQ(r.uniform, 0u);
  ASSERT_EQ(r.conflicts.size(), 3u) << table_of(r);
  EXPECT_EQ(r.conflicts[0].text.substr(0, 7), "FFMA R8");
  EXPECT_EQ(r.conflicts[0].cycles, 2) << "three even registers";
  EXPECT_EQ(r.conflicts[1].cycles, 1) << "R6 is in the cache, R5 and R11 are both odd";
  ASSERT_EQ(r.loops.size(), 1u);
  const LoopReport& l = r.loops[0];
  EXPECT_EQ(l.instructions, 7u);
  EXPECT_EQ(l.slots[static_cast<std::size_t>(Pipe::kFma)], 3u);
  EXPECT_EQ(l.slots[static_cast<std::size_t>(Pipe::kAlu)], 2u);
  EXPECT_EQ(l.slots[static_cast<std::size_t>(Pipe::kMemory)], 1u);
  EXPECT_EQ(l.busy[static_cast<std::size_t>(Pipe::kMemory)], 4u) << "512 bytes";
  EXPECT_EQ(l.warps, 16u);
  EXPECT_EQ(l.bound_by, "LSU");
  EXPECT_EQ(l.bound, 4 * 4 * 16) << "four schedulers share the load-store unit";
  EXPECT_EQ(l.predicted, 256);
}

// The cycles of one warp: what it issues and what it loses add up, and the dependences that are there are paid for.
TEST(Report, CyclesOfALoopAreItsIssueAndItsLosses) {
  Program p = test::scheduled(kLoop);
  p.manifest.threads = 32;
  const LoopReport l = report_of(p).loops.at(0);
  EXPECT_NEAR(l.alone, l.instructions + l.stall + l.scoreboard + l.pipe + l.banks, 1e-9);
  EXPECT_GE(l.scoreboard, 25) << "a load from shared memory";
  EXPECT_GE(l.stall, 12 + 4 - 1) << "the compare before the branch, and the branch";
  const Program chain = test::scheduled(R"(
    MOV R0, RZ
    again:
    FFMA R0, R0, R1, R2
    FFMA R0, R0, R1, R2
    FFMA R0, R0, R1, R2
    BRA `(again))");
  EXPECT_GE(report_of(chain).loops.at(0).alone, 3 * 4 + 1);
}

TEST(Report, NestedLoopsHaveDepth) {
  const Program p = test::scheduled(R"(
    MOV R0, RZ
    outer:
    MOV R1, RZ
    inner:
    IADD3 R1, R1, 0x1, RZ
    ISETP.LT.AND P0, PT, R1, 0x40, PT
    @P0 BRA `(inner)
    IADD3 R0, R0, 0x1, RZ
    ISETP.LT.AND P0, PT, R0, 0x40, PT
    @P0 BRA `(outer)
    EXIT)");
  const KernelReport r = report_of(p);
  ASSERT_EQ(r.loops.size(), 2u);
  EXPECT_EQ(r.loops[0].depth, 1u);
  EXPECT_EQ(r.loops[1].depth, 2u);
  EXPECT_EQ(r.loops[1].instructions, 3u);
}

TEST(Report, ResultsInARowThatGoToOneBank) {
  const auto loop = [](int first, int step, int count, const char* load) {
    std::string text = std::string("\n  MOV R0, RZ\n  again:\n") + load;
    for (int i = 0; i < count; ++i) {
      const std::string acc = "R" + std::to_string(first + i * step);
      text += "  FFMA " + acc + ", R4, R6, " + acc + "\n";
    }
    return report_of(test::scheduled(text + "  BRA `(again)"));
  };
  const char* const kLoad = "  LDS.128 R4, [R20]\n";
  const KernelReport even = loop(32, 2, 8, kLoad);
  EXPECT_EQ(even.loops.at(0).bank_run, 8u);
  EXPECT_NE(table_of(even).find("8 results in a row go to one register bank: loads wait"), std::string::npos);
  EXPECT_NE(json_of(even).find("\"bank_run\":8"), std::string::npos);
  const KernelReport both = loop(32, 1, 8, kLoad);
  EXPECT_EQ(both.loops.at(0).bank_run, 1u);
  EXPECT_EQ(table_of(both).find("register bank: loads"), std::string::npos);
  EXPECT_EQ(table_of(loop(32, 2, 8, "")).find("register bank: loads"), std::string::npos) << "nothing is loaded";
}

TEST(Report, ALoopThatTheSmDoesNotHold) {
  const auto loop = [](int ffmas) {
    std::string text = "\n  MOV R0, RZ\n  again:\n";
    for (int i = 0; i < ffmas; ++i) text += "  FFMA R8, R4, R6, R8\n";
    return report_of(test::scheduled(text + "  BRA `(again)"));
  };
  const KernelReport fits = loop(2047);
  EXPECT_EQ(fits.loops.at(0).bytes, 32u << 10);
  EXPECT_EQ(table_of(fits).find("will wait"), std::string::npos);
  const KernelReport large = loop(2048);
  EXPECT_NE(table_of(large).find("its text has 32784 bytes; an SM holds 32768: warps will wait for instructions"),
            std::string::npos)
      << table_of(large);
  EXPECT_NE(json_of(large).find("\"bytes\":32784"), std::string::npos);
}

TEST(Report, BothFormsSayTheSame) {
  Program p = test::scheduled(kLoop);
  p.manifest.threads = 128;
  const KernelReport r = report_of(p);
  const std::string json = json_of(r);
  const std::string table = table_of(r);
  EXPECT_NE(json.find("\"registers\":{\"R\":23,\"UR\":0,\"P\":1,\"UP\":0}"), std::string::npos) << json;
  EXPECT_NE(json.find("\"bound\":256.00,\"bound_by\":\"LSU\""), std::string::npos) << json;
  EXPECT_NE(table.find("registers 23 R, 0 UR, 1 P, 0 UP; 128 threads"), std::string::npos) << table;
  EXPECT_NE(table.find("256 cycles a pass of all; the bound is 256 (LSU)"), std::string::npos) << table;
  EXPECT_EQ(std::count(json.begin(), json.end(), '{'), std::count(json.begin(), json.end(), '}'));
}

TEST(Timing, ReuseAndBanksAsMeasured) {
  // cycles of the register ports, on an H200: (even, even, odd) 2, (e, e, e) 3, one register three times 1,
  // with the first in the cache 1 and 2
  const auto cycles = [](const std::string& text, std::uint8_t cached) {
    Result<ParsedInst> i = parse_inst(Arch::sm_90a, text, {});
    EXPECT_TRUE(i.ok());
    ReuseCache cache;
    cache.reg[0] = cached;
    return bank_cycles(Arch::sm_90a, i->inst, cache);
  };
  EXPECT_EQ(cycles("FFMA R0, R2, R4, R5", kRZ), 2);
  EXPECT_EQ(cycles("FFMA R0, R2, R4, R6", kRZ), 3);
  EXPECT_EQ(cycles("FFMA R0, R3, R5, R7", kRZ), 3);
  EXPECT_EQ(cycles("FFMA R0, R2, R2, R2", kRZ), 1);
  EXPECT_EQ(cycles("FFMA R0, R2, R4, R5", 2), 1);
  EXPECT_EQ(cycles("FFMA R0, R2, R4, R6", 2), 2);
}

}  // namespace
}  // namespace nervanagpu::sass
