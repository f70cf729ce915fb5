// The facts of op.inc beside the rows: no mnemonic of a unit that works on memory is without them.
#include "sass/isa/op_facts.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "sass/isa/rows/row.h"

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

TEST(OpFacts, PlacesToComeBackToAreLeftByAPush) {
  EXPECT_TRUE(comes_back(Op::RET, Op::PRET));
  EXPECT_TRUE(comes_back(Op::JMX, Op::PRET));
  for (const auto rows : all_rows()) {
    for (const Row& r : rows) {
      const bool takes = goes(r.op) == Goes::kReturn || goes(r.op) == Goes::kIndirect;
      if (!takes) {
        EXPECT_FALSE(comes_back(r.op, Op::PRET)) << op_text(r.op);
      }
      EXPECT_FALSE(comes_back(r.op, Op::NOP)) << op_text(r.op);
    }
  }
}

// Atomics touch memory, and barriers none.
TEST(OpFacts, AtomicsAndBarriers) {
  for (const auto rows : all_rows()) {
    for (const Row& r : rows) {
      const std::string_view text = op_text(r.op);
      const bool named = text.find("ATOM") != text.npos || (text.find("RED") != text.npos && text != "REDUX");
      EXPECT_EQ(is_atomic(r.op), named) << text;
      EXPECT_FALSE(is_atomic(r.op) && memory_of(r.op).writes == 0) << text;
      EXPECT_FALSE(is_barrier(r.op) && memory_of(r.op).either() != 0) << text;
    }
  }
  EXPECT_EQ(wait_of(Op::UCGABAR_ARV), Op::UCGABAR_WAIT);
}

// A row of another architecture or form that was added without its keys would be timed as its unit.
TEST(OpFacts, RowsOfAMnemonicHaveTheSameKeysOfTheLatencyTable) {
  const std::set<Op> differ = {Op::HADD2};  // .F32 is of another pipe
  const auto keys = [](const Timing& t) {
    return std::tuple(t.result, t.predicate, t.source, t.predicate_source, t.uniform_source, t.uniform, t.queue,
                      t.read_queue);
  };
  std::map<std::pair<Op, Encoding>, const Row*> first;
  std::set<Op> seen;
  for (const auto rows : all_rows()) {
    for (const Row& r : rows) {
      const Row& other = *first.try_emplace({r.op, r.encoding}, &r).first->second;
      const bool same = keys(r.traits.timing) == keys(other.traits.timing);
      EXPECT_TRUE(same || differ.contains(r.op)) << op_text(r.op);
      if (!same) seen.insert(r.op);
    }
  }
  EXPECT_EQ(seen, differ);
}

// What lets others go on: every form of a barrier and of its kin, of SYNCS only the arrival.
TEST(OpFacts, RowsOfAMnemonicPublishTogether) {
  std::map<std::pair<Op, Encoding>, bool> first;
  for (const auto rows : all_rows()) {
    for (const Row& r : rows) {
      if (r.op == Op::SYNCS) {
        const bool arrives = !r.mods().empty() && r.mods()[0].table[0].tok == Tok::ARRIVE;
        EXPECT_EQ(r.traits.publishes, arrives);
      } else {
        EXPECT_EQ(r.traits.publishes, first.try_emplace({r.op, r.encoding}, r.traits.publishes).first->second)
            << op_text(r.op);
      }
    }
  }
}

}  // namespace
}  // namespace nervanagpu::sass
