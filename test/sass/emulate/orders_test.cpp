// Orders of warps drawn from a seed: what they find that the fixed order does not, that a seed gives the same run, and that
// right programs stay right.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "test/sass/emulate/harness.h"

namespace nervanagpu::sass::emulate::testing {
namespace {

using u32 = std::uint32_t;
using Lines = std::vector<TextLine>;

const Control kLoad{.stall = 15, .yield = true, .write_sb = 0};
const Control kAsk{.stall = 15, .yield = true, .write_sb = 0, .wait = 3};
const Control kSend{.stall = 15, .yield = true, .read_sb = 1, .wait = 3};
const Control kSwap{.stall = 15, .yield = true, .write_sb = 0, .read_sb = 1, .wait = 3};
const Control kAwait{.stall = 15, .yield = true, .wait = 3};

std::string text(const char* format, u32 a, u32 b = 0) {
  char out[80];
  std::snprintf(out, sizeof out, format, a, b);
  return out;
}

void add(Lines& to, const Lines& more) {
  to.insert(to.end(), more.begin(), more.end());
}

constexpr u32 kTiles = 48;
constexpr u32 kConsumerGroups = 2;
constexpr u32 kPlace = 0x400;  // of 128 bytes
constexpr u32 kFull = 0x600;
constexpr u32 kEmpty = 0x640;

void wait_for(Lines& l, u32 mbarrier, u32 phase) {
  const std::string label = text("l%u", static_cast<u32>(l.size()));
  add(l, {{text("UMOV UR9, 0x%x", mbarrier), kAwait},
          {text("MOV R13, 0x%x", phase << 31)},
          {label + ":"},
          {"SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR9], R13", kAsk},
          {"@!P0 BRA " + label, kAwait}});
}
void arrive_at(Lines& l, u32 mbarrier) {
  add(l, {{text("UMOV UR9, 0x%x", mbarrier), kAwait}, {"SYNCS.ARRIVE.TRANS64.A1T0 RZ, [UR9], RZ", kSwap}});
}

// A ring: each place has a warp that fills it, and consumers of one warp take tiles in turn, tile t out of place t % places. With
// three places a place is now one consumer's, now the other's: nothing keeps a consumer from asking for a round whose last one has not
// come yet. With four it is always the same consumer's.
KernelImage ring(u32 places) {
  Lines l = {{"S2R R0, SR_TID.X", kLoad},         {"ULDC.64 UR4, c[0x0][0x208]"},
             {"LDC.64 R6, c[0x0][0x210]", kLoad}, {"UMOV UR12, 0x1fffc0"},  // 32 arrivals
             {"UMOV UR13, 0x7fff0000"},           {"NOP", kAwait},
             {"SHF.R.U32.HI R3, RZ, 0x5, R0"},    {"LOP3.LUT R1, R0, 0x1f, RZ, 0xc0, !PT"},
             {"IMAD.SHL.U32 R2, R1, 0x4, RZ"},    {"IMAD.WIDE.U32 R8, R1, 0x4, R6"},
             {"ISETP.NE.AND P1, PT, R0, RZ, PT"}, {"@P1 BRA made"}};
  for (u32 i = 0; i < places; ++i) {
    for (const u32 at : {kFull, kEmpty}) {
      add(l, {{text("UMOV UR9, 0x%x", at + 8 * i), kAwait}, {"SYNCS.EXCH.64 URZ, [UR9], UR12", kSwap}});
    }
  }
  add(l, {{"made:"}, {"WARPSYNC.ALL"}, {"BAR.SYNC.DEFER_BLOCKING 0x0", kAwait}});
  for (u32 w = 0; w < places + kConsumerGroups; ++w) {
    add(l, {{text("ISETP.EQ.AND P2, PT, R3, 0x%x, PT", w)}, {text("@P2 BRA w%u", w)}});
  }
  for (u32 p = 0; p < places; ++p) {
    l.push_back({text("w%u:", p)});
    for (u32 round = 0; round * places + p < kTiles; ++round) {
      if (round > 0) wait_for(l, kEmpty + 8 * p, (round - 1) % 2);
      add(l, {{text("IADD3 R5, R1, 0x%x, RZ", (round * places + p) * 32)},
              {text("STS [R2+0x%x], R5", kPlace + 128 * p), kSend}});
      arrive_at(l, kFull + 8 * p);
    }
    l.push_back({"EXIT", kAwait});
  }
  for (u32 consumer = 0; consumer < kConsumerGroups; ++consumer) {
    l.push_back({text("w%u:", places + consumer)});
    for (u32 t = consumer; t < kTiles; t += kConsumerGroups) {
      const u32 p = t % places;
      wait_for(l, kFull + 8 * p, t / places % 2);
      add(l, {{text("LDS R5, [R2+0x%x]", kPlace + 128 * p), kAsk},
              {text("STG.E desc[UR4][R8.64+0x%x], R5", 128 * t), kSend}});
      l.push_back({"NOP", kAwait});
      arrive_at(l, kEmpty + 8 * p);
    }
    l.push_back({"EXIT", kAwait});
  }
  return assemble(l, 8, 1024);
}

struct Outcome {
  std::string fault;
  std::vector<Finding> findings;
  std::vector<u32> got;
  std::uint64_t instructions = 0;

  [[nodiscard]] bool is_right() const {
    std::vector<u32> want(got.size());
    std::iota(want.begin(), want.end(), 0U);
    return fault.empty() && got == want;
  }
  [[nodiscard]] bool found(const std::string& what) const {
    return std::any_of(findings.begin(), findings.end(), [&](const Finding& f) { return f.what == what; });
  }
};

Outcome go(const KernelImage& image, u32 order, Mode mode, Dim3 grid, Dim3 block, std::size_t words,
           unsigned threads = 0) {
  Memory memory(1 << 20);
  Buffer<u32> out(memory, words);
  const std::vector<std::byte> params = Params().add(out.address()).bytes();
  const Result<std::shared_ptr<const Kernel>> kernel = load(Arch::sm_90a, image);
  EXPECT_TRUE(kernel.ok()) << (kernel.ok() ? "" : kernel.error().text());
  Outcome o;
  if (!kernel.ok()) return o;
  const Result<Report> r = run(**kernel, memory,
                               {.grid = grid,
                                .block = block,
                                .params = params,
                                .mode = mode,
                                .threads = threads,
                                .order = order,
                                .limit = 100'000'000});
  o.got = out.get();
  if (!r.ok()) {
    o.fault = r.error().message;
    return o;
  }
  o.findings = r->findings;
  o.instructions = r->warp_instructions;
  return o;
}

Outcome go_ring(u32 places, u32 order, Mode mode) {
  return go(ring(places), order, mode, {1}, {32 * (places + kConsumerGroups)}, kTiles * 32);
}

const char* const kRoundOff = "wait by parity may be a round off";

TEST(Orders, ARoundAheadIsSeenByItsWaitInEveryOrder) {
  for (u32 order = 0; order < 9; ++order) {
    const Outcome o = go_ring(3, order, Mode::kChecked);
    EXPECT_TRUE(o.found(kRoundOff) || o.fault.find("deadlock") != std::string::npos) << order << " " << o.fault;
  }
  // The order without a seed gives right results: nothing else would have told.
  const Outcome fixed = go_ring(3, 0, Mode::kChecked);
  EXPECT_TRUE(fixed.is_right()) << fixed.fault;
  for (const Finding& f : fixed.findings) EXPECT_EQ(f.what, kRoundOff) << f.text();
  ASSERT_FALSE(fixed.findings.empty());
  const Finding& f = fixed.findings.front();
  EXPECT_NE(f.text().find("of the mbarrier at shared address 0x6"), std::string::npos) << f.text();
  EXPECT_NE(f.at.line, 0U);
}

TEST(Orders, ARoundAheadHappensInSomeOrder) {
  EXPECT_TRUE(go_ring(3, 0, Mode::kFast).is_right());
  u32 wrong = 0;
  for (u32 order = 1; order <= 6; ++order) {
    const Outcome o = go_ring(3, order, Mode::kFast);
    if (o.is_right()) continue;
    ++wrong;
    if (o.fault.empty()) continue;
    EXPECT_NE(o.fault.find(" (in order " + std::to_string(order) + ")"), std::string::npos) << o.fault;
  }
  EXPECT_GE(wrong, 1U);
}

TEST(Orders, ARightRingIsRightInEveryOrder) {
  for (u32 order = 0; order < 30; ++order) {
    for (const Mode mode : {Mode::kFast, Mode::kChecked}) {
      const Outcome o = go_ring(4, order, mode);
      EXPECT_TRUE(o.is_right()) << order << " " << o.fault;
      for (const Finding& f : o.findings) ADD_FAILURE() << f.text();
    }
  }
}

TEST(Orders, ASeedIsARun) {
  std::set<std::uint64_t> instructions;
  for (u32 order = 1; order < 8; ++order) {
    const Outcome a = go_ring(3, order, Mode::kChecked);
    const Outcome b = go_ring(3, order, Mode::kChecked);
    EXPECT_EQ(a.fault, b.fault);
    EXPECT_EQ(a.got, b.got);
    EXPECT_EQ(a.instructions, b.instructions);
    ASSERT_EQ(a.findings.size(), b.findings.size());
    for (std::size_t i = 0; i < a.findings.size(); ++i) EXPECT_EQ(a.findings[i].text(), b.findings[i].text());
    for (const Finding& f : a.findings) {
      EXPECT_NE(f.text().find("(in order " + std::to_string(order) + ")"), std::string::npos) << f.text();
    }
    instructions.insert(go_ring(4, order, Mode::kFast).instructions);  // with those that ask in vain
  }
  EXPECT_GT(instructions.size(), 3U);
}

// Warp 0 takes lock A and then B, warp 1 B and then A: each spins on what the other one has, if both have their first.
TEST(Orders, LocksTakenInTwoOrdersAreADeadlockInSomeOrder) {
  const auto lock = [](const std::string& label, const std::string& at) {
    return Lines{{label + ":"},
                 {"ATOMS.CAS R5, [" + at + "], R12, R13", kSwap},
                 {"ISETP.NE.AND P0, PT, R5, RZ, PT", kAwait},
                 {"@P0 BRA " + label}};
  };
  Lines l = {{"S2R R0, SR_TID.X", kLoad},
             {"MOV R12, RZ"},
             {"MOV R13, 0x1"},
             {"SHF.R.U32.HI R3, RZ, 0x5, R0", kAwait},
             {"IMAD.SHL.U32 R3, R3, 0x4, RZ"},
             {"IADD3 R2, R3, 0x400, RZ"},
             {"LOP3.LUT R4, R2, 0x4, RZ, 0x3c, !PT"},
             {"LOP3.LUT R1, R0, 0x1f, RZ, 0xc0, !PT"},
             {"ISETP.NE.AND P1, PT, R1, RZ, PT"},
             {"STS [R2], RZ", kSend},
             {"BAR.SYNC.DEFER_BLOCKING 0x0", kAwait},
             {"@P1 EXIT"}};
  add(l, lock("first", "R2"));
  add(l, lock("second", "R4"));
  add(l, {{"ATOMS.EXCH R5, [R4], RZ", kSwap}, {"ATOMS.EXCH R5, [R2], RZ", kSwap}, {"EXIT", kAwait}});
  const KernelImage image = assemble(l, 8, 1024);
  const auto in_order = [&](u32 order) { return go(image, order, Mode::kFast, {1}, {64}, 1); };
  EXPECT_EQ(in_order(0).fault, "");
  u32 hung = 0;
  for (u32 order = 1; order <= 12; ++order) {
    const Outcome o = in_order(order);
    if (o.fault.empty()) continue;
    ++hung;
    EXPECT_NE(o.fault.find("deadlock"), std::string::npos) << o.fault;
    EXPECT_NE(o.fault.find("warp 1 lanes 0x1"), std::string::npos) << o.fault;
    EXPECT_NE(o.fault.find("(in order " + std::to_string(order) + ")"), std::string::npos) << o.fault;
  }
  EXPECT_GE(hung, 1U);
}

// CTAs draw tickets: out[CTA] is when it came.
TEST(Orders, CtasTakeTurns) {
  constexpr u32 kCtas = 12;
  Lines l = {{"S2R R1, SR_CTAID.X", kLoad},
             {"ULDC.64 UR4, c[0x0][0x208]"},
             {"LDC.64 R6, c[0x0][0x210]", kLoad},
             {"MOV R12, 0x1"},
             {"MOV R3, 0x40", kAwait},
             {"wait:"},  // long enough for others to come first
             {"IADD3 R3, R3, -0x1, RZ"},
             {"ISETP.NE.AND P0, PT, R3, RZ, PT"},
             {"@P0 BRA wait"},
             {text("ATOMG.E.ADD.STRONG.GPU PT, R5, desc[UR4][R6.64+0x%x], R12", 4 * kCtas), kSwap},
             {"IMAD.WIDE.U32 R8, R1, 0x4, R6", kAwait},
             {"STG.E desc[UR4][R8.64], R5", kSend},
             {"EXIT", kAwait}};
  const KernelImage image = assemble(l, 8, 1024);
  const auto tickets = [&](u32 order, unsigned threads) {
    Outcome o = go(image, order, Mode::kChecked, {kCtas}, {1}, kCtas + 1, threads);
    EXPECT_EQ(o.fault, "");
    EXPECT_TRUE(o.findings.empty());
    EXPECT_EQ(o.got.back(), kCtas);
    o.got.pop_back();
    return o.got;
  };
  std::vector<u32> ascending(kCtas);
  std::iota(ascending.begin(), ascending.end(), 0U);
  EXPECT_EQ(tickets(5, 1), ascending);  // one at a time
  std::set<std::vector<u32>> all;
  for (u32 order = 1; order < 10; ++order) {
    all.insert(tickets(order, 0));
    EXPECT_EQ(tickets(order, 0), tickets(order, 0));
  }
  EXPECT_GT(all.size(), 3U);
}

}  // namespace
}  // namespace nervanagpu::sass::emulate::testing
