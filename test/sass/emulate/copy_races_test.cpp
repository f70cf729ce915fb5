// Checked mode on the copy engine: each rule with a program that keeps it and programs that break it.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "test/sass/emulate/harness.h"

namespace nervanagpu::sass::emulate::testing {
namespace {

using Lines = std::vector<TextLine>;

const Control kLoad{.stall = 15, .yield = true, .write_sb = 0};
const Control kAsk{.stall = 15, .yield = true, .write_sb = 0, .wait = 3};
const Control kSend{.stall = 15, .yield = true, .read_sb = 1, .wait = 3};
const Control kSwap{.stall = 15, .yield = true, .write_sb = 0, .read_sb = 1, .wait = 3};
const Control kAwait{.stall = 15, .yield = true, .wait = 3};
const Control kFlush{.stall = 15, .yield = true, .read_sb = 2};
const TextLine kBarrier{"BAR.SYNC.DEFER_BLOCKING 0x0", kAwait};
const TextLine kFence{"FENCE.VIEW.ASYNC.S", kLoad};
const TextLine kRead{"LDS R5, [R2]", kLoad};
const TextLine kWrite{"STS [R2], R0", kSend};
const TextLine kLoadBlock{"UBLKCP.S.G [UR8], [UR4], UR6", kSend};
const TextLine kStoreBlock{"UBLKCP.G.S [UR4], [UR8], UR6", kSend};

Lines operator+(Lines a, const Lines& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// Two warps. Shared memory at 0x400: 256 bytes that UR8 and, for each thread its word, R2 name; mbarriers for one arrival at
// 0xc00 (UR9) and 0xc08. UR4: global memory, UR6: 256 bytes. P1: warp 1, P2: all but thread 0.
Lines program(const Lines& rest) {
  return Lines{{"S2R R0, SR_TID.X", kLoad},
               {"LEA R2, R0, 0x400, 0x2", kAwait},
               {"UMOV UR8, 0x400"},
               {"UMOV UR9, 0xc00"},
               {"ULDC.64 UR4, c[0x0][0x210]", kLoad},
               {"UMOV UR6, 0x10"},
               {"UMOV UR12, 0x1ffffe"},
               {"UMOV UR13, 0x7ffff800"},
               {"MOV R1, 0x100"},
               {"MOV R7, 0x80000000"},
               {"SHF.R.U32.HI R3, RZ, 0x5, R0"},
               {"ISETP.NE.AND P1, PT, R3, RZ, PT"},
               {"ISETP.NE.AND P2, PT, R0, RZ, PT", kAwait},
               {"@P1 BRA made"},
               {"SYNCS.EXCH.64 URZ, [UR9], UR12", kSwap},
               {"SYNCS.EXCH.64 URZ, [UR9+0x8], UR12", kSwap},
               kFence,
               {"made:"},
               kBarrier} +
         rest + Lines{{"EXIT", kAwait}};
}

// `lines` by thread 0 alone.
Lines one(const std::string& label, const Lines& lines) {
  return Lines{{"@P2 BRA " + label}} + lines + Lines{{label + ":"}, {"WARPSYNC.ALL", kAwait}};
}
Lines load(const std::string& label) {
  return one(label, {{"SYNCS.ARRIVE.TRANS64 RZ, [UR9], R1", kSwap}, kLoadBlock});
}
Lines store(const std::string& label) {
  return one(label, {kStoreBlock});
}
// Waits for the end of a phase: of parity 0, or R7's.
Lines wait(const std::string& label, const std::string& parity = "RZ", const std::string& mbarrier = "[UR9]") {
  return {{label + ":"},
          {"SYNCS.PHASECHK.TRANS64.TRYWAIT P0, " + mbarrier + ", " + parity, kAsk},
          {"@!P0 BRA " + label, kAwait}};
}
// `lines` by warp 0 alone.
Lines warp0(const std::string& label, const Lines& lines) {
  return Lines{{"@P1 BRA " + label}} + lines + Lines{{label + ":"}};
}
Lines warp1(const std::string& label, const Lines& lines) {
  return Lines{{"@!P1 BRA " + label}} + lines + Lines{{label + ":"}};
}

std::vector<Finding> findings(const Lines& rest) {
  Memory memory(1 << 20);
  Buffer<std::uint32_t> block(memory, std::vector<std::uint32_t>(128, 7));
  const Result<Report> r = run_image(assemble(program(rest), 8, 4096), memory, {1}, {64},
                                     Params().add(block.address()).bytes(), Mode::kChecked);
  EXPECT_TRUE(r.ok()) << (r.ok() ? "" : r.error().text());
  return r.ok() ? r->findings : std::vector<Finding>{};
}

void expect_clean(const Lines& rest) {
  for (const Finding& f : findings(rest)) ADD_FAILURE() << f.text();
}

// A finding of the kind, by this warp, with this in its sentence.
void expect_finding(const Lines& rest, const std::string& what, std::uint32_t warp, const std::string& detail) {
  const std::vector<Finding> all = findings(rest);
  std::string text;
  bool seen = false;
  for (const Finding& f : all) {
    text += f.text() + "\n";
    seen = seen || (f.what == what && f.warp == warp && f.at.line != 0 && f.detail.find(detail) != std::string::npos);
  }
  EXPECT_TRUE(seen) << "not found: " << what << " by warp " << warp << ": " << detail << "\nfound:\n" << text;
}

const std::string kNotAwaited = "asynchronous copy not awaited";
const std::string kNoFence = "no proxy fence";
const std::string kInUse = "shared memory in use by a copy";

TEST(CopyRaces, ReadersHaveSeenThePhaseEnd) {
  expect_clean(load("l") + wait("w") + Lines{kRead});
  // Or know it from a warp that has.
  expect_clean(load("l") + warp0("x", wait("w")) + Lines{kBarrier, kRead});
  // And again, in the next phase.
  expect_clean(load("l") + wait("w") + Lines{kRead, kBarrier} + load("m") + wait("v", "R7") + Lines{kRead});
}

TEST(CopyRaces, AReadBeforeThePhaseEnds) {
  // The copy and its instruction are named.
  expect_finding(load("l") + warp0("x", {kRead}), kNotAwaited, 0,
                 "shared offset 0: read by warp 0, written by UBLKCP.S.G [UR8], [UR4], UR6 in line 22 of warp 0, whose "
                 "phase of the mbarrier at shared address 0xc00 it has not seen end");
  // A barrier with a warp that has not seen it is not enough.
  expect_finding(load("l") + Lines{kBarrier} + warp1("x", {kRead}), kNotAwaited, 1, "read by warp 1");
  // Nor is the wait afterwards.
  expect_finding(load("l") + warp1("x", Lines{kRead} + wait("w")), kNotAwaited, 1, "read by warp 1");
  // Warp 0 has seen it, but warp 1 does not know.
  expect_finding(load("l") + warp0("y", wait("w")) + warp1("x", {kRead}), kNotAwaited, 1, "read by warp 1");
}

TEST(CopyRaces, AStoreOverAnMbarrierThatIsNotInvalidated) {
  const Lines over = one("s", {{"MOV R9, 0xc00"}, {"STS [R9], R0", kSend}});
  expect_finding(over, "store over an mbarrier", 0, "it was not invalidated");
  expect_finding(one("s", {{"MOV R9, 0xc00"}, {"STS [R9+0x4], R0", kSend}}), "store over an mbarrier", 0,
                 "offset 2052");
  expect_clean(one("s", {{"MOV R9, 0xc00"}, {"STS [R9+0x10], R0", kSend}}));
  expect_clean(one("i", {{"SYNCS.CCTL.IV [UR9]", kSend}}) + over);
}

TEST(CopyRaces, AnotherMbarrierOrAnotherPhaseIsNotEnough) {
  const Lines arrive = one("a", {{"SYNCS.ARRIVE.TRANS64.A1T0 RZ, [UR9+0x8], RZ", kSwap}});
  expect_finding(load("l") + arrive + wait("w", "RZ", "[UR9+0x8]") + warp1("x", {kRead}), kNotAwaited, 1, "0xc00");
  expect_finding(load("l") + wait("w") + Lines{kBarrier} + load("m") + Lines{kBarrier} + warp1("x", {kRead}),
                 kNotAwaited, 1, "in line 31");
}

TEST(CopyRaces, AWriteBeforeThePhaseEnds) {
  expect_clean(load("l") + wait("w") + Lines{kBarrier, kWrite});
  expect_finding(load("l") + Lines{kBarrier} + warp1("x", {kWrite}), kNotAwaited, 1, "written by warp 1, written by");
  const TextLine atomic{"ATOMS.ADD RZ, [R2], R0", kSwap};
  expect_clean(load("l") + wait("w") + Lines{kBarrier, atomic});
  expect_finding(load("l") + Lines{kBarrier} + warp1("x", {atomic}), kNotAwaited, 1, "written by warp 1");
  // A second copy to the same place.
  expect_clean(load("l") + wait("w") + Lines{kBarrier} + load("m") + wait("v", "R7"));
  expect_finding(load("l") + load("m"), kNotAwaited, 0, "written by warp 0, written by");
}

TEST(CopyRaces, ACopyOverWhatIsStillRead) {
  expect_clean(load("l") + wait("w") + Lines{kRead, kBarrier} + load("m"));
  // Warp 0 refills it when it has read its own half. Whichever warp comes first, one of them is told.
  expect_finding(load("l") + wait("w") + Lines{kBarrier, kRead} + load("m"), kNotAwaited, 1, "read by warp 1");
}

TEST(CopyRaces, EnginesReadBehindAFence) {
  expect_clean(Lines{kWrite, kFence, kBarrier} + store("s"));
  expect_finding(Lines{kWrite, kBarrier} + store("s"), kNoFence, 0,
                 "shared offset 0: written by STS [R2], R0 in line 20 of warp 0, which has no FENCE.VIEW.ASYNC between "
                 "that and this read");
  // The fence comes before the write, is for global memory, or nobody but the reader has one.
  expect_finding(Lines{kFence, kWrite, kBarrier} + store("s"), kNoFence, 0, "shared offset 0");
  expect_finding(Lines{kWrite, {"FENCE.VIEW.ASYNC.G", kLoad}, kBarrier} + store("s"), kNoFence, 0, "shared offset 0");
  expect_finding(Lines{kWrite} + warp0("x", {kFence}) + Lines{kBarrier} + store("s"), kNoFence, 0,
                 "shared offset 128: written by STS [R2], R0 in line 20 of warp 1");
  // Warp 1's comes when the copy may have begun.
  expect_finding(Lines{kWrite} + warp0("x", {kFence}) + Lines{kBarrier} + warp1("y", {kFence}) + store("s"), kNoFence,
                 0, "shared offset 128: written by STS [R2], R0 in line 20 of warp 1");
  // The same, but it did run before: nothing makes it so.
  const Lines by32{{"ISETP.NE.AND P2, PT, R0, 0x20, PT", kAwait}};
  expect_clean(Lines{kWrite, kFence, kBarrier} + by32 + store("s"));
  expect_finding(Lines{kWrite} + warp1("x", {kFence}) + Lines{kBarrier} + warp0("y", {kFence}) + by32 + store("s"),
                 kNoFence, 1, "shared offset 0: written by STS [R2], R0 in line 20 of warp 0");
  // What an engine has written needs none.
  expect_clean(load("l") + wait("w") + store("s"));
}

TEST(CopyRaces, StoresReadWhatIsThere) {
  expect_finding(load("l") + store("s"), kNotAwaited, 0, "read by warp 0");
  expect_finding(store("s"), "uninitialised shared memory", 0, "shared offset 0");
}

TEST(CopyRaces, SourcesOfStoresBelongToTheEngine) {
  const Lines sent = Lines{kWrite, kFence, kBarrier} + store("s");
  const TextLine flush{"UTMACMDFLUSH", kFlush};
  const TextLine await{"DEPBAR.LE SB2, 0x0"};
  expect_clean(sent + one("f", {flush, await}) + warp0("x", {kWrite}));
  expect_clean(sent + one("f", {flush, await}) + Lines{kBarrier, kWrite});
  // A wait in the control code does as well.
  expect_clean(sent + one("f", {flush}) + warp0("x", {{"STS [R2], R0", {.stall = 15, .yield = true, .wait = 7}}}));
  expect_clean(sent + Lines{kRead});

  expect_finding(sent + warp0("x", {kWrite}), kInUse, 0,
                 "is read by UBLKCP.G.S [UR4], [UR8], UR6 in line 24 of warp 0, which UTMACMDFLUSH and a wait for its "
                 "scoreboard have not ended");
  expect_finding(sent + one("f", {flush}) + warp0("x", {kWrite}), kInUse, 0, "have not ended");
  expect_finding(sent + one("f", {await, flush}) + warp0("x", {kWrite}), kInUse, 0, "have not ended");
  // The wait leaves one in flight.
  expect_finding(sent + one("f", {flush, {"DEPBAR.LE SB2, 0x1"}}) + warp0("x", {kWrite}), kInUse, 0, "have not ended");
  // Warp 1 does not know of it.
  expect_finding(sent + one("f", {flush, await}) + warp1("x", {kWrite}), kInUse, 1,
                 "and nothing orders this write after its wait for UTMACMDFLUSH");
  // A copy into it.
  expect_clean(sent + one("f", {flush, await}) + load("l"));
  expect_finding(sent + load("l"), kInUse, 0, "have not ended");
}

}  // namespace
}  // namespace nervanagpu::sass::emulate::testing
