// The facts of op.inc beside the rows: no mnemonic of a unit that works on memory is without them.
#include "sass/isa/op_facts.h"

#include <gtest/gtest.h>

#include <set>

#include "sass/isa/row.h"

namespace nervanagpu::sass {
namespace {

// Units of memory, but nothing of anybody's memory is read or written: exchanges among registers, prefetches, cache
// controls, questions, orders to engines and their synchronisation.
const std::set<Op> kNoMemory = {Op::SHFL,      Op::MATCH,        Op::MOVM,     Op::QSPC,   Op::CCTL,   Op::CCTLL,
                                Op::LDGDEPBAR, Op::UTMACMDFLUSH, Op::UTMACCTL, Op::UTMAPF, Op::UBLKPF, Op::WARPGROUP};

bool works_on_memory(Unit u) {
  return u == Unit::kMemGlobal || u == Unit::kMemShared || u == Unit::kMbarrier || u == Unit::kTma || u == Unit::kGmma;
}

TEST(OpFacts, MnemonicsOfMemoryUnitsSayWhatTheyTouch) {
  std::set<Op> seen;
  for (const auto rows : all_rows()) {
    for (const Row& r : rows) {
      const bool touches = memory_of(r.op).either() != 0;
      if (works_on_memory(r.traits.unit)) {
        EXPECT_EQ(touches, !kNoMemory.contains(r.op)) << op_text(r.op);
        seen.insert(r.op);
      } else {
        EXPECT_FALSE(touches) << op_text(r.op) << " is of no unit of memory";
      }
    }
  }
  for (const Op op : kNoMemory) EXPECT_TRUE(seen.contains(op)) << op_text(op) << " is of no unit of memory";
}

TEST(OpFacts, RowsWithResultsAreNoStores) {
  for (const auto rows : all_rows()) {
    for (const Row& r : rows) {
      const MemoryUse m = memory_of(r.op);
      if (m.writes == 0 || m.reads != 0) continue;
      for (const Slot& s : r.slots()) EXPECT_EQ(s.role, Role::kUse) << op_text(r.op);
    }
  }
}

// `ends` of a row goes with where its mnemonic goes. Of BPT there are rows of BPT.TRAP only: the launch fails.
TEST(OpFacts, RowsThatLeaveDoSoByTheirMnemonic) {
  for (const auto rows : all_rows()) {
    for (const Row& r : rows) {
      const bool moves =
          r.op == Op::BPT || (goes(r.op) != Goes::kNext && goes(r.op) != Goes::kPush && goes(r.op) != Goes::kRejoin);
      EXPECT_EQ(r.traits.ends, moves) << op_text(r.op);
    }
  }
}

TEST(OpFacts, EachPopHasWhatLeavesItsTarget) {
  for (const auto rows : all_rows()) {
    for (const Row& r : rows) {
      const bool wants = goes(r.op) == Goes::kPop || goes(r.op) == Goes::kRejoin;
      EXPECT_EQ(partner_of(r.op) != Op::NOP, wants) << op_text(r.op);
      if (wants) {
        EXPECT_EQ(goes(partner_of(r.op)), Goes::kPush) << op_text(r.op);
      }
    }
  }
}

}  // namespace
}  // namespace nervanagpu::sass
