// Mbarriers alone and in kernels: phases, bytes, misuse, waits that never end.
#include "sass/emulate/state/mbarrier.h"

#include "test/sass/emulate/harness.h"

namespace nervanagpu::sass::emulate::testing {
namespace {

using u32 = std::uint32_t;

const Control kLoad{.stall = 15, .yield = true, .write_sb = 0};
const Control kAsk{.stall = 15, .yield = true, .write_sb = 0, .wait = 3};
const Control kSend{.stall = 15, .yield = true, .write_sb = 0, .read_sb = 1, .wait = 3};
const Control kAwait{.stall = 15, .yield = true, .wait = 3};

TEST(Mbarrier, BitsOfInitAreThoseThatPtxasComputes) {
  const u32 n = 37;
  const u32 rest = 0x100000 - n;
  EXPECT_EQ(Mbarrier::init(n).bits(), std::uint64_t{rest << 11} << 32 | rest << 1);
}

TEST(Mbarrier, APhaseEndsWithTheLastArrivalAndTheLastByte) {
  Mbarrier b = Mbarrier::init(2);
  EXPECT_TRUE(b.expect_and_arrive(100));
  EXPECT_TRUE(b.arrive(1));
  EXPECT_FALSE(b.passed(false));
  EXPECT_EQ(b.pending(), 0U);
  EXPECT_EQ(b.bytes(), 100);
  EXPECT_TRUE(b.expect(-60));
  EXPECT_FALSE(b.passed(false));
  EXPECT_TRUE(b.expect(-40));
  EXPECT_TRUE(b.passed(false));
  EXPECT_FALSE(b.passed(true));
  EXPECT_EQ(b.pending(), 2U);
  EXPECT_TRUE(b.arrive(2));
  EXPECT_FALSE(b.passed(false));
}

TEST(Mbarrier, BytesMayComeBeforeTheyAreExpected) {
  Mbarrier b = Mbarrier::init(1);
  EXPECT_TRUE(b.expect(-64));
  EXPECT_EQ(b.bytes(), -64);
  EXPECT_TRUE(b.expect_and_arrive(64));
  EXPECT_TRUE(b.passed(false));
  EXPECT_EQ(b.bytes(), 0);
}

TEST(Mbarrier, WhatIsTooMuchChangesNothing) {
  Mbarrier b = Mbarrier::init(2);
  const std::uint64_t before = b.bits();
  EXPECT_FALSE(b.arrive(3));
  EXPECT_FALSE(b.expect(Mbarrier::kMaxBytes + 1));
  EXPECT_FALSE(b.expect(-Mbarrier::kMaxBytes - 1));
  EXPECT_EQ(b.bits(), before);
  EXPECT_TRUE(b.expect(Mbarrier::kMaxBytes));
  EXPECT_EQ(b.bytes(), Mbarrier::kMaxBytes);
}

TEST(Mbarrier, DropTakesPartNoMore) {
  Mbarrier b = Mbarrier::init(2);
  EXPECT_TRUE(b.drop());
  EXPECT_TRUE(b.arrive(1));
  EXPECT_TRUE(b.passed(false));
  EXPECT_EQ(b.pending(), 1U);
}

const std::vector<TextLine> kArrival = {{"SYNCS.ARRIVE.TRANS64.A1T0 RZ, [UR8], RZ", kSend}};

TEST(Mbarrier, SeveralMayDropAtOnceAndOneMayExpectBytes) {
  Mbarrier b = Mbarrier::init(5);
  EXPECT_FALSE(b.drop(6));
  EXPECT_TRUE(b.drop(3));
  EXPECT_EQ(b.pending(), 2U);
  EXPECT_EQ(b.expected(), 2U);
  EXPECT_TRUE(b.arrive(1));
  const std::uint64_t before = b.bits();
  EXPECT_FALSE(b.expect_and_drop(Mbarrier::kMaxBytes + 1));
  EXPECT_EQ(b.bits(), before);
  EXPECT_TRUE(b.expect_and_drop(16));
  EXPECT_FALSE(b.passed(false));
  EXPECT_TRUE(b.expect(-16));
  EXPECT_TRUE(b.passed(false));
  EXPECT_EQ(b.pending(), 1U);
}

// Two warps; warp 0 writes 64 words and arrives, warp 1 waits and stores what it reads, plus one.
KernelImage handover(u32 arrivals, bool waits, bool init = true, const std::vector<TextLine>& arrival = kArrival) {
  const u32 rest = 0x100000 - arrivals;
  char lo[40];
  char hi[40];
  std::snprintf(lo, sizeof lo, "UMOV UR6, 0x%x", rest << 1);
  std::snprintf(hi, sizeof hi, "UMOV UR7, 0x%x", rest << 11);
  std::vector<TextLine> lines = {{"S2R R0, SR_TID.X", kLoad},
                                 {"ULDC.64 UR4, c[0x0][0x208]"},
                                 {"LDC.64 R6, c[0x0][0x210]", kLoad},
                                 {"UMOV UR8, 0x400"},
                                 {"NOP", kAwait},
                                 {lo},
                                 {hi},
                                 {"ISETP.GE.U32.AND P0, PT, R0, 0x20, PT"},
                                 {"ISETP.NE.U32.AND P1, PT, R0, RZ, PT"},
                                 {"@P1 BRA made"}};
  if (init) lines.push_back({"SYNCS.EXCH.64 URZ, [UR8], UR6", kSend});
  const std::vector<TextLine> writes = {{"made:"},
                                        {"WARPSYNC.ALL"},
                                        {"BAR.SYNC.DEFER_BLOCKING 0x0", kAwait},
                                        {"LOP3.LUT R1, R0, 0x1f, RZ, 0xc0, !PT"},
                                        {"IMAD.SHL.U32 R2, R1, 0x4, RZ"},
                                        {"@P0 BRA reads"},
                                        {"STS [R2+0x410], R0", kSend},
                                        {"NOP", kAwait}};
  lines.insert(lines.end(), writes.begin(), writes.end());
  lines.insert(lines.end(), arrival.begin(), arrival.end());
  lines.push_back({"EXIT", kAwait});
  lines.push_back({"reads:"});
  if (waits) {
    lines.push_back({"SYNCS.PHASECHK.TRANS64.TRYWAIT P2, [UR8], RZ", kAsk});
    lines.push_back({"@!P2 BRA reads", kAwait});
  }
  lines.push_back({"LDS R3, [R2+0x410]", kAsk});
  lines.push_back({"IMAD.WIDE.U32 R8, R1, 0x4, R6"});
  lines.push_back({"IADD3 R3, R3, 0x1, RZ", kAwait});
  lines.push_back({"STG.E desc[UR4][R8.64], R3", kSend});
  lines.push_back({"EXIT", kAwait});
  return assemble(lines, 8, 1024);
}

class Handover : public ::testing::Test {
 protected:
  Result<Report> go(const KernelImage& k, Mode mode) {
    return run_image(k, memory_, {1}, {64}, Params().add(out_.address()).bytes(), mode);
  }
  Memory memory_{1 << 20};
  Buffer<u32> out_{memory_, 32};
};

TEST_F(Handover, TheWaiterSeesWhatWasWritten) {
  for (const Mode mode : {Mode::kFast, Mode::kChecked}) {
    const Result<Report> r = go(handover(32, true), mode);
    ASSERT_TRUE(r.ok()) << r.error().text();
    for (const Finding& f : r->findings) ADD_FAILURE() << f.text();
    const std::vector<u32> got = out_.get();
    for (u32 i = 0; i < 32; ++i) EXPECT_EQ(got[i], i + 1);
  }
}

TEST_F(Handover, WithoutTheWaitIsARace) {
  const Result<Report> r = go(handover(32, false), Mode::kChecked);
  ASSERT_TRUE(r.ok()) << r.error().text();
  ASSERT_FALSE(r->findings.empty());
  EXPECT_EQ(r->findings[0].what, "shared-memory race") << r->findings[0].text();
}

TEST_F(Handover, AnArrivalTooFewIsADeadlockThatSaysWhoWaits) {
  for (const Mode mode : {Mode::kFast, Mode::kChecked}) {
    const Result<Report> r = go(handover(33, true), mode);
    ASSERT_FALSE(r.ok());
    EXPECT_EQ(
        r.error().message,
        "kernel test, test.sass:23, CTA (0,0,0), warp 1: deadlock: nothing in the CTA can go on; warp 1 lanes "
        "0xffffffff wait for phase 0 of the mbarrier at 0x400 (1 of 33 arrivals and 0 bytes are missing) in line 23");
  }
}

TEST_F(Handover, ArrivalsBeyondThePhaseBelongToTheNext) {
  const Result<Report> fast = go(handover(31, true), Mode::kFast);
  EXPECT_TRUE(fast.ok()) << (fast.ok() ? "" : fast.error().text());
}

// cp.async.mbarrier.arrive: the phase lasts until the copies are there, however many arrivals it has had.
TEST_F(Handover, CopiesHoldThePhaseUp) {
  const TextLine announced{"SYNCS.ARRIVE.TRANS64.RED.A0T1 RZ, [UR8], RZ", kSend};
  const TextLine made{"ARRIVES.LDGSTSBAR.64.TRANSCNT [UR8]", kAwait};
  for (const Mode mode : {Mode::kFast, Mode::kChecked}) {
    const Result<Report> right = go(handover(32, true, true, {announced, kArrival[0], made}), mode);
    ASSERT_TRUE(right.ok()) << right.error().text();
    for (const Finding& f : right->findings) ADD_FAILURE() << f.text();
    EXPECT_EQ(out_.get()[31], 32U);
    const Result<Report> endless = go(handover(32, true, true, {announced, kArrival[0]}), mode);
    ASSERT_FALSE(endless.ok());
    EXPECT_NE(endless.error().message.find("(0 of 32 arrivals and 32 bytes are missing)"), std::string::npos)
        << endless.error().message;
  }
}

TEST_F(Handover, WhoDropsArrives) {
  const TextLine one{"IMAD.MOV.U32 R11, RZ, RZ, 0x1", kAwait};
  for (const char* drop :
       {"SYNCS.ARRIVE.TRANS64.OPTOUT.A1T0 RZ, [UR8], RZ", "SYNCS.ARRIVE.TRANS64.OPTOUT.ART0 RZ, [UR8], R11",
        "SYNCS.ARRIVE.TRANS64.OPTOUT RZ, [UR8], RZ"}) {
    for (const Mode mode : {Mode::kFast, Mode::kChecked}) {
      const Result<Report> r = go(handover(32, true, true, {one, {drop, kSend}}), mode);
      ASSERT_TRUE(r.ok()) << r.error().text();
      for (const Finding& f : r->findings) ADD_FAILURE() << drop << ": " << f.text();
      EXPECT_EQ(out_.get()[31], 32U) << drop;
    }
  }
}

TEST_F(Handover, WithoutInit) {
  const Result<Report> fast = go(handover(32, true, false), Mode::kFast);
  ASSERT_FALSE(fast.ok());
  EXPECT_NE(fast.error().message.find("no mbarrier was initialised at shared address 0x400"), std::string::npos)
      << fast.error().message;
}

}  // namespace
}  // namespace nervanagpu::sass::emulate::testing
