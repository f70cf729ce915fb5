// Happens-before in checked mode: each program once with its order, which has no findings, and with one edge of it taken away.
// Whatever the order in which warps and CTAs run, what is found is the same, and names both accesses.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "test/sass/emulate/harness.h"

namespace nervanagpu::sass::emulate::testing {
namespace {

using Lines = std::vector<TextLine>;
using Texts = std::vector<std::string>;

const Control kLoad{.stall = 15, .yield = true, .write_sb = 0};
const Control kAsk{.stall = 15, .yield = true, .write_sb = 0, .wait = 3};
const Control kSend{.stall = 15, .yield = true, .read_sb = 1, .wait = 3};
const Control kSwap{.stall = 15, .yield = true, .write_sb = 0, .read_sb = 1, .wait = 3};
const Control kAwait{.stall = 15, .yield = true, .wait = 3};
const TextLine kBarrier{"BAR.SYNC.DEFER_BLOCKING 0x0", kAwait};
const TextLine kFence{"FENCE.VIEW.ASYNC.S", kAsk};
const TextLine kMembar{"MEMBAR.ALL.GPU", kAwait};
const TextLine kMembarCta{"MEMBAR.ALL.CTA", kSend};

Lines operator+(Lines a, const Lines& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// R0 thread, R1 CTA, R3 warp, R2 the shared address of the thread's word and R4 that of the other warp's; R6 the address of
// the buffer, R8 that of the CTA's thread's word in it, R10 that of word 64 for a flag. R12, R13 1 and 0. P1: warp 1, P2: all
// but thread 0, P3: CTA 1. Line 27 is the first of `rest`.
Lines program(const Lines& rest) {
  return Lines{{"S2R R0, SR_TID.X", kLoad},
               {"S2R R1, SR_CTAID.X", kLoad},
               {"LEA R2, R0, 0x400, 0x2", kAwait},
               {"LOP3.LUT R4, R0, 0x20, RZ, 0x3c, !PT"},
               {"LEA R4, R4, 0x400, 0x2"},
               {"LDC.64 R6, c[0x0][0x210]", kLoad},
               {"ULDC.64 UR4, c[0x0][0x208]", kAwait},
               {"IMAD.WIDE.U32 R8, R0, 0x4, R6"},
               {"IADD3 R10, R6, 0x100, RZ"},
               {"MOV R11, R7"},
               {"MOV R12, 0x1"},
               {"MOV R13, RZ"},
               {"MOV R14, 0x100"},
               {"SHF.R.U32.HI R3, RZ, 0x5, R0"},
               {"ISETP.NE.AND P1, PT, R3, RZ, PT"},
               {"ISETP.NE.AND P2, PT, R0, RZ, PT"},
               {"ISETP.NE.AND P3, PT, R1, RZ, PT"},
               {"UMOV UR9, 0xc00"},
               {"UMOV UR12, 0x1ffffe"},
               {"UMOV UR13, 0x7ffff800"},
               {"UMOV UR8, 0x400"},
               {"UMOV UR6, 0x10"},
               {"ULDC.64 UR14, c[0x0][0x210]", kLoad},
               {"MOV R15, RZ", kAwait},
               {"R2UR UR16, R13"},
               {"NOP", kAwait}} +
         rest + Lines{{"EXIT", kAwait}};
}
constexpr int kFirst = 27;

struct Shape {
  Dim3 grid{1};
  Dim3 block{64};
  std::uint32_t cluster = 1;
  bool waits_for_ctas = false;  // one CTA waits for another one: both have to run
  bool lines_only = false;      // which CTAs and warps are at fault depends on the order
};

// What is found under many orders; a failure if they differ. "what in line L: detail".
Texts findings(const Lines& rest, const Shape& shape) {
  KernelImage image = assemble(program(rest), 8, 4096);
  if (shape.cluster > 1) {
    image.cluster[0] = shape.cluster;
    image.cluster[1] = image.cluster[2] = 1;
  }
  const Result<std::shared_ptr<const Kernel>> kernel = load(Arch::sm_90a, image);
  EXPECT_TRUE(kernel.ok()) << (kernel.ok() ? "" : kernel.error().text());
  if (!kernel.ok()) return {"not loaded"};
  Texts first;
  for (std::uint32_t turn = 0; turn < 24; ++turn) {
    Memory memory(1 << 20);
    Buffer<std::uint32_t> buffer(memory, std::vector<std::uint32_t>(256, 0));
    const std::vector<std::byte> params = Params().add(buffer.address()).bytes();
    const Result<Report> r = run(**kernel, memory,
                                 {.grid = shape.grid,
                                  .block = shape.block,
                                  .params = params,
                                  .mode = Mode::kChecked,
                                  .threads = shape.waits_for_ctas ? 2 : 1 + turn % 2,
                                  .order = turn / 4,
                                  .last_cta_first = turn / 2 % 2 != 0});
    Texts all;
    if (r.ok()) {
      for (const Finding& f : r->findings) {
        all.push_back(f.what + " in line " + std::to_string(f.at.line));
        if (shape.lines_only) continue;
        all.back() += ", warp " + std::to_string(f.warp) + ", lane " + std::to_string(f.lane) + ": " + f.detail;
      }
    } else {
      all.push_back(r.error().text());
    }
    if (turn == 0) first = all;
    EXPECT_EQ(all, first) << "turn " << turn;
    if (all != first) break;
  }
  return first;
}

void expect_clean(const Lines& rest, const Shape& shape = {}) {
  EXPECT_EQ(findings(rest, shape), Texts{});
}

// One finding that says so, with these in it.
void expect_one(const Lines& rest, const std::string& what, const Texts& parts, const Shape& shape = {}) {
  const Texts all = findings(rest, shape);
  std::string text;
  bool seen = false;
  for (const std::string& f : all) {
    text += f + "\n";
    seen = seen || (f.starts_with(what) &&
                    std::all_of(parts.begin(), parts.end(), [&](const std::string& p) { return f.find(p) != f.npos; }));
  }
  EXPECT_TRUE(seen) << "not found: " << what << (parts.empty() ? "" : ", " + parts[0]) << "\nfound:\n" << text;
}

std::string line(int behind_prologue) {
  return " in line " + std::to_string(kFirst + behind_prologue);
}

Lines only(const std::string& label, const std::string& guard, const Lines& lines) {
  return Lines{{guard + " BRA " + label}} + lines + Lines{{label + ":"}, {"WARPSYNC.ALL", kAwait}};
}
Lines thread0(const std::string& label, const Lines& lines) {
  return only(label, "@P2", lines);
}
Lines warp0(const std::string& label, const Lines& lines) {
  return Lines{{"@P1 BRA " + label}} + lines + Lines{{label + ":"}};
}
Lines warp1(const std::string& label, const Lines& lines) {
  return Lines{{"@!P1 BRA " + label}} + lines + Lines{{label + ":"}};
}
Lines poll(const std::string& label) {
  return {{label + ":"}, {"SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR9], R13", kAsk}, {"@!P0 BRA " + label, kAwait}};
}

const TextLine kStore{"STS [R2], R0", kSend};
const TextLine kRead{"LDS R5, [R4]", kLoad};

TEST(Races, SharedMemoryNeedsABarrier) {
  expect_clean({kStore, kBarrier, kRead, kBarrier, kStore});
  const Texts read_first = findings({kStore, {"NOP", kAwait}, kRead, kBarrier, kStore}, {});
  ASSERT_EQ(read_first.size(), 1u);
  EXPECT_EQ(read_first[0], "shared-memory race" + line(0) +
                               ", warp 0, lane 0: shared offset 0: written by warp 0, read by LDS R5, [R4]" + line(2) +
                               " of warp 1, with no barrier between");
  expect_one({kStore, kBarrier, kRead, {"NOP", kAwait}, kStore}, "shared-memory race" + line(4),
             {"read by LDS R5, [R4]" + line(2)});
  // A barrier with somebody else is none.
  expect_one({kStore, {"BAR.SYNC.DEFER_BLOCKING R3, 0x20", kAwait}, kRead}, "shared-memory race" + line(0), {});
  // Bytes of a word are apart, for reads too.
  const TextLine byte{"STS.U8 [R5], R0", kSend};
  const TextLine read_byte{"LDS.U8 R16, [R5]", kLoad};
  expect_clean({{"IADD3 R5, R3, 0x400, RZ"}, byte, read_byte, byte});
}

TEST(Races, AnEarlierReadCountsThoughALaterOneIsOrdered) {
  // Warp 1 reads twice; only the first read is ahead of the barrier.
  const Lines write = warp0("w", {kStore});
  expect_clean(write + Lines{kBarrier} + warp1("a", {kRead}) + warp1("b", {kRead}) + Lines{kBarrier} +
               warp0("c", {kStore}));
  expect_one(
      write + Lines{kBarrier} + warp1("a", {kRead}) + Lines{kBarrier} + warp1("b", {kRead}) + warp0("c", {kStore}),
      "shared-memory race", {"read by LDS R5, [R4]", "of warp 1"});
}

TEST(Races, LanesThatHavePartedNeedAWarpsync) {
  const Lines other = {{"LOP3.LUT R5, R2, 0x4, RZ, 0x3c, !PT"}, {"LDS R16, [R5]", kLoad}};
  const Lines odd = {{"LOP3.LUT R5, R0, 0x1, RZ, 0xc0, !PT"}, {"ISETP.NE.AND P4, PT, R5, RZ, PT"}};
  // Even lanes write, all of the warp read their neighbours'.
  const auto write = [&](const Lines& between) {
    return Lines{kStore} + odd + Lines{{"@P4 BRA over"}, kStore, {"over:"}} + between + other;
  };
  expect_clean(Lines{kStore} + other);  // together they are in order
  expect_clean(write({{"WARPSYNC.ALL", kAwait}}));
  expect_one(write({}), "shared-memory race", {"of lanes that have parted, with no WARPSYNC or barrier between"});
  // One lane sees the phase of an mbarrier end, the others read.
  const Lines make =
      Lines{kStore} + thread0("i", {{"SYNCS.EXCH.64 URZ, [UR9], UR12", kSwap}, kFence}) + Lines{kBarrier} +
      thread0("c", {{"SYNCS.ARRIVE.TRANS64 RZ, [UR9], R14", kSwap}, {"UBLKCP.S.G [UR8], [UR14], UR6", kSend}});
  const TextLine read{"LDS R16, [R2]", kLoad};
  expect_clean(make + warp0("x", thread0("p", poll("q")) + Lines{read}));
  Lines apart = make + warp0("x", thread0("p", poll("q")) + Lines{read});
  const auto sync =
      std::find_if(apart.rbegin(), apart.rend(), [](const TextLine& l) { return l.text == "WARPSYNC.ALL"; });
  *sync = {"NOP", kAwait};
  expect_one(apart, "asynchronous copy not awaited", {"read by warp 0, written by UBLKCP.S.G [UR8], [UR14], UR6"});
}

// ---- Mbarriers ------------------------------------------------------------------------------------------------------------

const TextLine kInit{"SYNCS.EXCH.64 URZ, [UR9], UR12", kSwap};
const Lines kArrive = {{"SYNCS.ARRIVE.TRANS64.A1T0 RZ, [UR9], RZ", kSwap}};

TEST(Races, AnMbarrierIsUsedBehindItsInitialisation) {
  const Lines make = thread0("i", {kInit});
  const Lines use = warp0("a", thread0("t", kArrive)) + poll("p");
  expect_clean(make + Lines{kBarrier} + use);
  // No barrier: whoever comes first, both instructions are named.
  expect_one(make + use, "mbarrier race",
             {"the mbarrier at shared address 0xc00 is initialised by SYNCS.EXCH.64 URZ, [UR9], UR12" + line(1) +
                  " of warp 0, and nothing orders this use after that",
              "warp 1"});
  // The barrier comes before it.
  expect_one(Lines{kBarrier} + make + use, "mbarrier race", {"initialised by", "warp 1"});
  // A question that is put before there is a barrier, and then again, is one question: nothing else is found.
  const Control ask{.stall = 2, .write_sb = 0};
  const Lines warp1_asks =
      warp1("a", {{"p:"}, {"SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR9], R13", ask}, {"@!P0 BRA p", kAwait}});
  const Texts found = findings(make + warp0("b", thread0("t", kArrive)) + warp1_asks, {});
  EXPECT_EQ(found.size(), 1U) << (found.empty() ? "" : found.back());
  // The other warp arrives, too early.
  const Lines strange = warp1("a", Lines{{"ISETP.NE.AND P0, PT, R0, 0x20, PT"}, {"@P0 BRA t"}} + kArrive +
                                       Lines{{"t:"}, {"WARPSYNC.ALL"}}) +
                        poll("p");
  expect_clean(make + Lines{kBarrier} + strange);
  expect_one(make + strange, "mbarrier race", {"warp 1"});
}

TEST(Races, NobodyInitialisesIt) {
  expect_one(warp0("a", thread0("t", kArrive)), "mbarrier misuse",
             {"no mbarrier was initialised at shared address 0xc00"});
}

TEST(Races, TheEngineWantsAFenceBehindTheInitialisation) {
  const auto copied = [](const Lines& fence) {
    return thread0("i", Lines{kInit} + fence) + Lines{kBarrier} +
           thread0("c", {{"SYNCS.ARRIVE.TRANS64 RZ, [UR9], R14", kSwap}, {"UBLKCP.S.G [UR8], [UR14], UR6", kSend}}) +
           poll("p") + Lines{{"LDS R16, [R2]", kLoad}};
  };
  const std::string missing = "no mbarrier fence";
  const Texts both = {"initialised by SYNCS.EXCH.64 URZ, [UR9], UR12" + line(1) + " of warp 0",
                      "with no fence after that before this use by an engine"};
  expect_clean(copied({kFence}));
  expect_clean(copied({{"NOP", {.stall = 1, .yield = false}}}));  // fence.mbarrier_init as ptxas writes it
  expect_one(copied({}), missing, both);
  expect_one(copied({{"NOP", kAsk}}), missing, both);  // what is left of a fence
  expect_one(copied({kMembarCta}), missing, both);
  Lines before = copied({kFence});
  std::swap(before[1], before[2]);  // the fence comes first
  expect_one(before, missing, {"with no fence after that"});
  // Of another thread, that does not know of it.
  expect_one(copied({}) + warp1("f", {kFence}), missing, both);
}

// ---- Clusters ---------------------------------------------------------------------------------------------------------------

// R16: this thread's word in the other CTA, as a generic address in R16:17. UR16 and R18: the rank << 24.
const Lines kOther = {{"SHF.L.U32 R18, R1, 0x18, RZ"},
                      {"R2UR UR16, R18"},
                      {"LOP3.LUT R16, R18, 0x1000000, RZ, 0x3c, !PT"},
                      {"IADD3 R16, R16, R2, RZ"},
                      {"S2UR UR17, SR_SWINHI", kAsk},
                      {"MOV R17, UR17", kAwait},
                      {"IADD3 R18, R18, R2, RZ"}};
const TextLine kStoreOwn{"STS [R18], R0", kSend};
const TextLine kReadOther{"LD.E R5, desc[UR4][R16.64]", kAsk};
const Lines kMeet = {{"UCGABAR_ARV", kAwait}, {"UCGABAR_WAIT", kAwait}};
const Shape kPair{.grid = {2}, .block = {32}, .cluster = 2};

TEST(Races, AnotherCtasSharedMemory) {
  const Lines start = kOther + Lines{kStoreOwn};
  const Lines read = Lines{kReadOther, {"NOP", kAwait}} + kMeet;
  expect_clean(start + Lines{kMembarCta} + kMeet + read, kPair);
  expect_one(
      start + kMeet + read, "shared-memory race" + line(7),
      {"read by LD.E R5, desc[UR4][R16.64]" + line(10) + " of CTA (1,0,0), warp 0, with no MEMBAR after the write"},
      kPair);
  expect_one(start + Lines{kMembarCta} + read, "shared-memory race" + line(7),
             {"read by LD.E R5", "with no barrier of the cluster or mbarrier between"}, kPair);
  // It is written again while the other one may read it.
  expect_clean(start + Lines{kMembarCta} + kMeet + read + Lines{kStoreOwn}, kPair);
  expect_one(start + Lines{kMembarCta} + kMeet + Lines{kReadOther, kStoreOwn} + kMeet, "shared-memory race" + line(12),
             {"read by LD.E R5"}, kPair);
  // A MEMBAR after the arrival is none.
  expect_one(start + Lines{kMeet[0], kMembarCta, kMeet[1]} + read, "shared-memory race" + line(7), {"no MEMBAR"},
             kPair);
}

TEST(Races, AnotherCtasMbarrier) {
  // Each CTA makes one, arrives at the other's and waits for its own. R19: its address in the other CTA; UR18 in this one.
  const Lines start =
      kOther + Lines{{"IADD3 R19, R16, 0x800, RZ"}, {"UIADD3 UR18, UR16, 0xc00, URZ"}, {"UMOV UR19, URZ"}};
  const auto make = [](const Lines& fence) {
    return thread0("i", Lines{{"SYNCS.EXCH.64 URZ, [UR18], UR12", kSwap}} + fence);
  };
  const Lines use = thread0("a", {{"SYNCS.ARRIVE.TRANS64.RED.A1T0 RZ, [R19+UR19], RZ", kSwap}}) +
                    Lines{{"p:"}, {"SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR18], R13", kAsk}, {"@!P0 BRA p", kAwait}} +
                    kMeet;
  expect_clean(start + make({kFence}) + kMeet + use, kPair);
  expect_clean(start + make({kMembarCta}) + kMeet + use, kPair);
  expect_one(
      start + make({}) + kMeet + use, "no mbarrier fence",
      {"initialised by SYNCS.EXCH.64 URZ, [UR18], UR12" + line(11) + " of CTA", "before this use by another CTA"},
      kPair);
  expect_one(start + make({kFence}) + use, "mbarrier race", {"SYNCS.EXCH.64", "nothing orders this use after that"},
             kPair);
}

// ---- Global memory ------------------------------------------------------------------------------------------------------------

const TextLine kPut{"STG.E desc[UR4][R8.64], R0", kSend};
const TextLine kGet{"LDG.E R5, desc[UR4][R8.64]", kAsk};
const Shape kTwo{.grid = {2}, .block = {64}};
const Shape kWaits{.grid = {2}, .block = {32}, .waits_for_ctas = true};

TEST(Races, TwoCtasWriteOneWord) {
  expect_clean({kPut, kGet}, {});
  expect_one({kPut}, "global-memory race" + line(0),
             {"warp 0, lane 0: global address 0x70000000", "written by STG.E desc[UR4][R8.64], R0" + line(0) +
                                                               " of CTA (1,0,0), warp 0, and nothing orders the two"},
             kTwo);
  // One writes, one reads.
  expect_one(Lines{{"@P3 BRA read"}, kPut, {"EXIT"}, {"read:"}, kGet}, "global-memory race" + line(1),
             {"read by LDG.E R5, desc[UR4][R8.64]" + line(4) + " of CTA (1,0,0), warp 0"}, kTwo);
  expect_clean({kGet}, kTwo);
  // Each its own byte.
  const Lines byte = {{"IADD3 R16, R6, R1, RZ"}, {"MOV R17, R7"}, {"STG.E.U8 desc[UR4][R16.64], R0", kSend}};
  expect_clean(byte, {.grid = {2}, .block = {1}});
  expect_one({{"STG.E.U8 desc[UR4][R6.64], R0", kSend}}, "global-memory race", {}, {.grid = {2}, .block = {1}});
}

TEST(Races, WarpsOfACtaInGlobalMemory) {
  const Lines other = {{"LOP3.LUT R5, R0, 0x20, RZ, 0x3c, !PT"},
                       {"IMAD.WIDE.U32 R16, R5, 0x4, R6"},
                       {"LDG.E R5, desc[UR4][R16.64]", kAsk}};
  expect_clean(Lines{kPut, kBarrier} + other);
  expect_one(Lines{kPut} + other, "global-memory race" + line(0),
             {"read by LDG.E R5, desc[UR4][R16.64]" + line(3) + " of warp 1, with no barrier between"});
}

TEST(Races, AtomicOperations) {
  const TextLine add{"REDG.E.ADD.STRONG.GPU desc[UR4][R8.64], R0", kSend};
  expect_clean({add}, kTwo);
  expect_one({add, kGet}, "global-memory race" + line(0), {"LDG.E R5, desc[UR4][R8.64]" + line(1)}, kTwo);
  expect_clean({add, {"LDG.E.STRONG.GPU R5, desc[UR4][R8.64]", kAsk}}, kTwo);
  expect_one({{"@P3 BRA adds"}, kPut, {"EXIT"}, {"adds:"}, add}, "global-memory race" + line(1),
             {"written by REDG.E.ADD.STRONG.GPU desc[UR4][R8.64], R0" + line(4) + " of CTA (1,0,0), warp 0"}, kTwo);
  // In shared memory each address orders for itself.
  const TextLine atomic{"ATOMS.ADD R5, [R2], R0", kSwap};
  expect_one({kStore, atomic, kRead}, "shared-memory race", {});
}

TEST(Races, AFlagOrdersTwoCtas) {
  // CTA 0 writes and sets the flag, CTA 1 waits for it and reads.
  const auto flagged = [](const Lines& set, const Lines& wait) {
    return Lines{{"@P3 BRA reads"}, kPut} + set + Lines{{"EXIT", kAwait}, {"reads:"}} + wait + Lines{kGet};
  };
  const Lines set = {{"ST.E.STRONG.GPU desc[UR4][R10.64], R12", kSend}};
  const auto wait = [](const std::string& load) {
    return Lines{{"again:"},
                 {load + " R5, desc[UR4][R10.64]", kAsk},
                 {"ISETP.EQ.AND P0, PT, R5, RZ, PT", kAwait},
                 {"@P0 BRA again"}};
  };
  const Lines strong = wait("LD.E.STRONG.GPU");
  const std::string race = "global-memory race" + line(1);
  expect_clean(flagged(Lines{kMembar} + set, strong), kWaits);
  expect_clean(flagged({kMembar, {"REDG.E.ADD.STRONG.GPU desc[UR4][R10.64], R12", kSend}}, strong), kWaits);
  // No MEMBAR, one too narrow, one after the flag.
  expect_one(flagged(set, strong), race,
             {"read by LDG.E R5, desc[UR4][R8.64]", "of CTA (1,0,0), warp 0, and nothing orders the two"}, kWaits);
  expect_one(flagged(Lines{kMembarCta} + set, strong), race, {"read by LDG.E R5, desc[UR4][R8.64]"}, kWaits);
  expect_one(flagged(set + Lines{kMembar}, strong), race, {"read by LDG.E R5, desc[UR4][R8.64]"}, kWaits);
  // Nobody waits.
  expect_one(flagged(Lines{kMembar} + set, {}), race, {"read by LDG.E R5, desc[UR4][R8.64]"}, kWaits);
  // A flag without an order is itself raced for.
  const Lines weak = {{"STG.E desc[UR4][R10.64], R12", kSend}};
  expect_one(flagged(Lines{kMembar} + weak, strong), "global-memory race" + line(3),
             {"read by LD.E.STRONG.GPU R5, desc[UR4][R10.64]"}, kWaits);
  expect_one(flagged(Lines{kMembar} + set, wait("LDG.E")), "global-memory race", {"LDG.E R5, desc[UR4][R10.64]"},
             kWaits);
}

// The last CTA to come reads what all have written.
TEST(Races, TheLastOneAddsUp) {
  const auto program_of = [](const Lines& fence, const TextLine& barrier) {
    return Lines{{"IMAD R5, R1, 0x40, R0"},
                 {"IMAD.WIDE.U32 R16, R5, 0x4, R6"},
                 {"STG.E desc[UR4][R16.64+0x180], R0", kSend}} +
           fence + Lines{barrier} +
           thread0("a", {{"ATOMG.E.ADD.STRONG.GPU PT, R18, desc[UR4][R10.64], R12", kSwap},
                         {"MOV R19, 0xc00"},
                         {"STS [R19], R18", kSend}}) +
           Lines{kBarrier,
                 {"MOV R19, 0xc00"},
                 {"LDS R18, [R19]", kAsk},
                 {"ISETP.NE.AND P0, PT, R18, 0x1, PT", kAwait},
                 {"@P0 EXIT"},
                 {"LOP3.LUT R5, R5, 0x40, RZ, 0x3c, !PT"},
                 {"IMAD.WIDE.U32 R16, R5, 0x4, R6"},
                 {"LDG.E R20, desc[UR4][R16.64+0x180]", kAsk}};
  };
  expect_clean(program_of({kMembar}, kBarrier), kTwo);
  // Without the MEMBAR, or the barrier that makes thread 0 speak for all. Which CTA is the last one depends on the order.
  for (const Lines& wrong :
       {program_of({}, kBarrier), program_of({kMembarCta}, kBarrier), program_of({kMembar}, {"NOP", kAwait})}) {
    expect_one(wrong, "global-memory race" + line(2), {}, {.grid = {2}, .block = {64}, .lines_only = true});
  }
}

}  // namespace
}  // namespace nervanagpu::sass::emulate::testing
