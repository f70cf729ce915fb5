// Checked mode on HGMMA: who owns registers and shared memory until WARPGROUP.DEPBAR.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "test/sass/emulate/harness.h"

namespace nervanagpu::sass::emulate::testing {
namespace {

using Lines = std::vector<TextLine>;

// One 64 x 8 x 16 product of zeros. `before` and `after` stand right before the HGMMA and after it.
Lines program(const std::string& hgmma, const Lines& before, const Lines& after) {
  Lines lines = {{"S2R R0, SR_TID.X", {.stall = 15, .yield = true, .write_sb = 0}},
                 {"LEA R2, R0, 0x400, 0x4", {.stall = 15, .yield = true, .wait = 1}},
                 {"STS.128 [R2], RZ"},
                 {"STS.128 [R2+0x800], RZ"},
                 {"UMOV UR4, 0x80040"},
                 {"UMOV UR5, 0x10"},
                 {"UMOV UR6, 0x800c0"},
                 {"UMOV UR7, 0x10"}};
  for (int i = 24; i < 36; ++i) lines.push_back({"MOV R" + std::to_string(i) + ", RZ"});
  lines.push_back({"FENCE.VIEW.ASYNC.S"});
  lines.push_back({"BAR.SYNC.DEFER_BLOCKING 0x0"});
  lines.insert(lines.end(), before.begin(), before.end());
  lines.push_back({hgmma});
  lines.insert(lines.end(), after.begin(), after.end());
  lines.push_back({"EXIT"});
  return lines;
}

std::vector<std::string> findings(const Lines& lines) {
  const Result<std::shared_ptr<const Kernel>> kernel = load(Arch::sm_90a, assemble(lines, 8, 4096));
  EXPECT_TRUE(kernel.ok()) << (kernel.ok() ? "" : kernel.error().text());
  if (!kernel.ok()) return {};
  Memory memory(1 << 20);
  Buffer<std::uint32_t> zeros(memory, std::vector<std::uint32_t>(64, 0));
  const std::vector<std::byte> params = Params().add(zeros.address()).bytes();
  const Result<Report> r =
      run(**kernel, memory, {.grid = {1}, .block = {128}, .params = params, .mode = Mode::kChecked});
  EXPECT_TRUE(r.ok()) << (r.ok() ? "" : r.error().text());
  std::vector<std::string> out;
  if (r.ok()) {
    for (const Finding& f : r->findings) out.push_back(f.what + ": " + f.detail);
  }
  return out;
}

const std::string kShared = "HGMMA.64x8x16.F32 R24, gdesc[UR4], R24, gsb0";
const std::string kRegisters = "HGMMA.64x8x16.F32 R24, R32, gdesc[UR4], R24, gsb0";
const TextLine kArrive{"WARPGROUP.ARRIVE"};
const TextLine kWait{"WARPGROUP.DEPBAR.LE gsb0, 0x0"};

TEST(TensorChecked, ARightProgramIsClean) {
  const TextLine read{"MOV R0, R24"};
  EXPECT_EQ(findings(program(kShared, {kArrive}, {kWait, read})), std::vector<std::string>{});
  EXPECT_EQ(findings(program(kRegisters, {kArrive}, {kWait, read, {"MOV R33, RZ"}})), std::vector<std::string>{});
  // Two products on the same accumulators follow each other without a wait.
  const std::string open = "HGMMA.64x8x16.F32 R24, gdesc[UR4], R24";
  EXPECT_EQ(findings(program(open, {kArrive}, {{kShared}, kWait, read})), std::vector<std::string>{});
  // After a barrier after the wait, shared memory may be written.
  EXPECT_EQ(findings(program(kShared, {kArrive}, {kWait, {"BAR.SYNC.DEFER_BLOCKING 0x0"}, {"STS.128 [R2], RZ"}})),
            std::vector<std::string>{});
}

void expect_finding(const Lines& lines, const std::string& text) {
  const std::vector<std::string> found = findings(lines);
  bool seen = false;
  for (const std::string& f : found) seen = seen || f.find(text) != std::string::npos;
  EXPECT_TRUE(seen) << text << "\n" << (found.empty() ? "nothing" : found.front());
}

TEST(TensorChecked, AccumulatorsBelongToTheEngine) {
  expect_finding(program(kShared, {kArrive}, {{"MOV R0, R25"}, kWait}),
                 "read before ready: R25 is still to be written by " + kShared);
  expect_finding(program(kShared, {kArrive}, {{"MOV R27, RZ"}, kWait}),
                 "overwritten in flight: R27 belongs to " + kShared);
  // The group was closed, but the wait leaves one in flight.
  expect_finding(program(kShared, {kArrive}, {{"WARPGROUP.DEPBAR.LE gsb0, 0x1"}, {"MOV R0, R24"}}),
                 "read before ready");
  // Nobody closed the group.
  expect_finding(program("HGMMA.64x8x16.F32 R24, gdesc[UR4], R24", {kArrive}, {kWait, {"MOV R0, R24"}}),
                 "read before ready");
}

TEST(TensorChecked, RegistersOfABelongToTheEngine) {
  expect_finding(program(kRegisters, {kArrive}, {{"MOV R35, RZ"}, kWait}),
                 "overwritten in flight: R35 belongs to " + kRegisters);
}

TEST(TensorChecked, WritesBeforeNeedAnArrive) {
  expect_finding(program(kShared, {}, {kWait}), "no WARPGROUP.ARRIVE: R24 was written by MOV R24, RZ");
  expect_finding(program(kRegisters, {kArrive, {"MOV R34, RZ"}}, {kWait}), "no WARPGROUP.ARRIVE: R34 was written by");
}

// A wait after the arrival is this warp's alone: the engine may begin with what another one has not got yet.
TEST(TensorChecked, LoadsAreThereAtTheArrival) {
  const TextLine load{"LDS R34, [R2]", {.stall = 15, .yield = true, .write_sb = 0}};
  const TextLine late{"NOP", {.stall = 15, .yield = true, .wait = 1}};
  const TextLine arrive{"WARPGROUP.ARRIVE", {.stall = 15, .yield = true, .wait = 1}};
  expect_finding(program(kRegisters, {load, kArrive, late}, {kWait}),
                 "whose scoreboard was not awaited by WARPGROUP.ARRIVE");
  EXPECT_EQ(findings(program(kRegisters, {load, arrive}, {kWait})), std::vector<std::string>{});
  EXPECT_EQ(findings(program(kRegisters, {load, late, kArrive}, {kWait})), std::vector<std::string>{});
  // Told by the scoreboard of a younger load.
  const TextLine quiet{"LDS R34, [R2]", {.stall = 15, .yield = true}};
  const TextLine younger{"LDS R40, [R2]", {.stall = 15, .yield = true, .write_sb = 0}};
  expect_finding(program(kRegisters, {quiet, younger, kArrive, late}, {kWait}),
                 "whose scoreboard was not awaited by WARPGROUP.ARRIVE");
  EXPECT_EQ(findings(program(kRegisters, {quiet, younger, arrive}, {kWait})), std::vector<std::string>{});
}

TEST(TensorChecked, SharedMemoryBelongsToTheEngine) {
  expect_finding(program(kShared, {kArrive}, {{"STS.128 [R2], RZ"}, kWait}),
                 "shared memory in use by HGMMA: shared offset 0 is read by " + kShared);
  expect_finding(program(kShared, {kArrive}, {kWait, {"STS.128 [R2], RZ"}}),
                 "shared memory in use by HGMMA: shared offset 0 is read by " + kShared);
}

// What a product starts anew may never have been written; what it adds to must have been.
TEST(TensorChecked, AccumulatorsMatterWhereAPredicateKeepsThem) {
  const auto with = [](const std::string& keep) {
    Lines lines = program("HGMMA.64x8x16.F32 R24, gdesc[UR4], R24, " + keep + ", gsb0", {kArrive}, {kWait});
    std::erase_if(lines, [](const TextLine& l) { return l.text.starts_with("MOV R2"); });
    lines.insert(lines.begin() + 3, {"UISETP.EQ.AND UP0, UPT, URZ, URZ, UPT", {.stall = 15, .yield = true}});
    return lines;
  };
  EXPECT_EQ(findings(with("!UP0")), std::vector<std::string>{});
  expect_finding(with("UP0"), "uninitialised register: R24 was never written");
}

TEST(TensorChecked, WhatNobodyWroteIsFound) {
  Lines lines = program(kShared, {kArrive}, {kWait});
  lines.erase(lines.begin() + 3);
  expect_finding(lines, "uninitialised shared memory");
}

TEST(TensorChecked, OperandsStoredByWarpsNeedAFence) {
  Lines lines = program(kShared, {kArrive}, {kWait});
  std::erase_if(lines, [](const TextLine& l) { return l.text.starts_with("FENCE"); });
  expect_finding(lines, "no proxy fence: shared offset 0: written by STS.128 [R2], RZ in line 3 of warp 0");
}

// B of the product comes from a block copy; the mbarrier is at 0x1000.
Lines copied(const Lines& before, const Lines& after) {
  const Control send{.stall = 15, .yield = true, .read_sb = 1, .wait = 3};
  const Control swap{.stall = 15, .yield = true, .write_sb = 0, .read_sb = 1, .wait = 3};
  const Control await{.stall = 15, .yield = true, .wait = 3};
  const Lines copy = {{"UMOV UR8, 0xc00"},
                      {"UMOV UR9, 0x1000"},
                      {"UMOV UR12, 0x1ffffe"},
                      {"UMOV UR13, 0x7ffff800"},
                      {"ULDC.64 UR14, c[0x0][0x210]", {.stall = 15, .yield = true, .write_sb = 0}},
                      {"UMOV UR16, 0x10"},
                      {"MOV R1, 0x100"},
                      {"ISETP.NE.AND P0, PT, R0, RZ, PT"},
                      {"@P0 BRA copied", await},
                      {"SYNCS.EXCH.64 URZ, [UR9], UR12", swap},
                      {"FENCE.VIEW.ASYNC.S", await},
                      {"SYNCS.ARRIVE.TRANS64 RZ, [UR9], R1", swap},
                      {"UBLKCP.S.G [UR8], [UR14], UR16", send},
                      {"copied:"},
                      {"WARPSYNC.ALL", await},
                      {"BAR.SYNC.DEFER_BLOCKING 0x0", await}};
  Lines lines = program(kShared, copy, after);
  const auto at = std::find_if(lines.begin(), lines.end(), [](const TextLine& l) { return l.text == kShared; });
  Lines ready = before;
  ready.push_back(kArrive);
  lines.insert(at, ready.begin(), ready.end());
  return lines;
}
const Lines kPhase = {
    {"again:"},
    {"SYNCS.PHASECHK.TRANS64.TRYWAIT P1, [UR9], RZ", {.stall = 15, .yield = true, .write_sb = 0, .wait = 3}},
    {"@!P1 BRA again", {.stall = 15, .yield = true, .wait = 3}}};
const Lines kRefill = {
    {"@P0 BRA filled"},
    {"SYNCS.ARRIVE.TRANS64 RZ, [UR9], R1", {.stall = 15, .yield = true, .write_sb = 0, .read_sb = 1, .wait = 3}},
    {"UBLKCP.S.G [UR8], [UR14], UR16", {.stall = 15, .yield = true, .read_sb = 1, .wait = 3}},
    {"filled:"}};

TEST(TensorChecked, AProductWaitsForTheCopiesOfItsStage) {
  EXPECT_EQ(findings(copied(kPhase, {kWait})), std::vector<std::string>{});
  expect_finding(copied({}, {kWait}),
                 "asynchronous copy not awaited: shared offset 2048: read by warp 0, written by UBLKCP.S.G");
}

TEST(TensorChecked, ACopyWaitsForTheProductsOfItsStage) {
  Lines after = {kWait, {"BAR.SYNC.DEFER_BLOCKING 0x0"}};
  after.insert(after.end(), kRefill.begin(), kRefill.end());
  EXPECT_EQ(findings(copied(kPhase, after)), std::vector<std::string>{});
  std::swap(after[0], after[1]);  // thread 0 has awaited its warp's product, no more
  expect_finding(copied(kPhase, after), "shared memory in use by HGMMA: shared offset 2048 is read by " + kShared);
  after = {{"BAR.SYNC.DEFER_BLOCKING 0x0"}};
  after.insert(after.end(), kRefill.begin(), kRefill.end());
  after.push_back(kWait);
  expect_finding(copied(kPhase, after), "which WARPGROUP.DEPBAR has not awaited");
}

}  // namespace
}  // namespace nervanagpu::sass::emulate::testing
