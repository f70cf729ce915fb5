// Every single weakening of a right kernel that takes away something it needs must be found; strengthening one must never
// create a finding.
#include <gtest/gtest.h>

#include <cstdio>

#include "sass/isa/latency.h"
#include "test/sass/verify/hand_kernel.h"

namespace nervanagpu::sass {
namespace {

using test::encoded;
using test::listing;
using test::program;
using test::scheduled;
using test::sentences;

// Right, and free of what another scoreboard of the same queue would cover: so every wait and every scoreboard counts.
const char* const kKernels[] = {
    R"(
    S2R R0, SR_TID.X
    ULDC.64 UR4, c[0x0][0x208]
    LDC.64 R2, c[0x0][0x210]
    IMAD.WIDE R4, R0, 0x4, R2
    LDG.E R6, desc[UR4][R4.64]
    FADD R7, R6, R6
    FFMA R8, R7, R7, R6
    STG.E desc[UR4][R4.64], R8
    MOV R8, R0
    STG.E desc[UR4][R4.64+0x4], R8
    EXIT)",
    R"(
    S2R R0, SR_TID.X
    ULDC.64 UR4, c[0x0][0x208]
    LDC R1, c[0x0][0x218]
    LDC.64 R2, c[0x0][0x210]
    MOV R9, RZ
    loop:
    ISETP.LT.AND P0, PT, R0, R1, PT
    IMAD.WIDE R4, R0, 0x4, R2
    LDG.E R6, desc[UR4][R4.64]
    IADD3 R0, R0, 0x20, RZ
    FADD R9, R9, R6
    @P0 BRA `(loop)
    MUFU.RCP R9, R9
    FMUL R10, R9, R9
    STG.E desc[UR4][R2.64], R10
    EXIT)",
    R"(
    ULDC.64 UR4, c[0x0][0x208]
    S2R R0, SR_TID.X
    LDC.64 R2, c[0x0][0x210]
    ISETP.GE.AND P0, PT, R0, 0x20, PT
    IMAD.WIDE R4, R0, 0x4, R2
    @!P0 LDG.E R6, desc[UR4][R4.64]
    @P0 MOV R6, RZ
    SHFL.BFLY PT, R7, R6, 0x10, 0x1f
    FADD R6, R6, R7
    @P0 EXIT
    STG.E desc[UR4][R4.64], R6
    EXIT)",
};

bool clean(const Program& p) {
  return verify(p.manifest.arch, encoded(p)).empty();
}

TEST(Mutation, KernelsAreRight) {
  for (const char* text : kKernels) {
    const Program p = scheduled(text);
    const std::vector<Hazard> found = verify(p.manifest.arch, encoded(p));
    EXPECT_TRUE(found.empty()) << sentences(found) << listing(p);
  }
}

TEST(Mutation, EveryDroppedWaitAndScoreboardIsFound) {
  int tried = 0;
  for (const char* text : kKernels) {
    const Program right = scheduled(text);
    for (std::size_t i = 0; i < right.lines.size(); ++i) {
      const Control c = right.lines[i].inst.control;
      std::vector<std::pair<std::string, Control>> mutants;
      for (unsigned sb = 0; sb < 6; ++sb) {
        if (c.wait >> sb & 1) {
          Control m = c;
          m.wait = static_cast<std::uint8_t>(c.wait & ~(1u << sb));
          mutants.push_back({"wait for " + std::to_string(sb) + " dropped", m});
        }
      }
      for (const bool reads : {false, true}) {
        const unsigned own = reads ? c.read_sb : c.write_sb;
        if (own >= 6) continue;
        if (reads && own == c.write_sb) continue;  // the results on the same scoreboard speak for the sources
        for (const unsigned other : {7u, (own + 3) % 6}) {
          Control m = c;
          (reads ? m.read_sb : m.write_sb) = static_cast<std::uint8_t>(other);
          // Another scoreboard that the same readers happen to await would do as well.
          if (other < 6) {
            bool awaited = false;
            for (const Line& l : right.lines) awaited |= (l.inst.control.wait >> other & 1) != 0;
            if (awaited) continue;
          }
          mutants.push_back({(reads ? "read" : "write") + std::string(" scoreboard ") + std::to_string(own) + " -> " +
                                 std::to_string(other),
                             m});
        }
      }
      for (const auto& [what, mutant] : mutants) {
        Program p = right;
        p.lines[i].inst.control = mutant;
        ++tried;
        EXPECT_FALSE(clean(p)) << what << " at line " << i << "\n" << listing(p);
      }
    }
  }
  EXPECT_GT(tried, 25) << "too few mutants to mean anything";
}

// Pairs whose stall is exactly what the table needs: one less must be found.
TEST(Mutation, EveryGapOfThePairsIsExact) {
  struct Pair {
    const char* producer;
    const char* consumer;
    std::uint32_t reg_operand;
  };
  const char* const producers[] = {"FFMA R0, R4, R5, R6",
                                   "FADD R0, R4, R5",
                                   "IMAD R0, R4, R5, R6",
                                   "IADD3 R0, R4, R5, R6",
                                   "LOP3.LUT R0, R4, R5, RZ, 0xc0, !PT",
                                   "MOV R0, R4",
                                   "IMAD.WIDE R0, R4, R5, R6",
                                   "SHF.L.U32 R0, R4, 0x2, RZ",
                                   "SEL R0, R4, R5, P0",
                                   "PRMT R0, R4, 0x5410, R5"};
  const char* const consumers[] = {"FFMA R10, R0, R5, R6",
                                   "FADD R10, R5, R0",
                                   "IMAD R10, R4, R5, R0",
                                   "IADD3 R10, R4, R0, R6",
                                   "LOP3.LUT R10, R4, R0, RZ, 0xc0, !PT",
                                   "MOV R10, R0",
                                   "IMAD.WIDE R10, R0, R5, R6",
                                   "SHF.L.U32 R10, R0, 0x2, RZ",
                                   "ISETP.LT.AND P1, PT, R4, R0, PT",
                                   "STS [R0], R4",
                                   "STS [R4], R0"};
  int flagged = 0;
  for (const char* from : producers) {
    for (const char* to : consumers) {
      Program p = program(std::string("--:-:-:-:1 | ") + from + "\n--:-:-:-:1 | " + to + "\n--:-:-:-:5 | EXIT");
      ASSERT_EQ(p.lines.size(), 3u);
      int need = 0;  // found by lowering the stall
      for (int stall = 11; stall >= 1; --stall) {
        p.lines[0].inst.control.stall = static_cast<std::uint8_t>(stall);
        if (clean(p)) continue;
        need = stall + 1;
        break;
      }
      // The table, read by hand.
      int expected = 0;
      for (const Access& d : accesses(p.lines[0].inst)) {
        for (const Access& u : accesses(p.lines[1].inst)) {
          if (!d.write || u.write || d.file != u.file) continue;
          for (unsigned k = 0; k < d.count; ++k) {
            for (unsigned j = 0; j < u.count; ++j) {
              if (d.first + k != u.first + j) continue;
              expected = std::max<int>(
                  expected,
                  raw_gap(Arch::sm_90a, producer_of(p.lines[0].inst, d, k), consumer_of(p.lines[1].inst, u, j)).need);
            }
          }
        }
      }
      EXPECT_EQ(need, expected) << from << " -> " << to;
      EXPECT_GE(need, 2);
      flagged += need > 1;
    }
  }
  EXPECT_EQ(flagged, static_cast<int>(std::size(producers) * std::size(consumers)));
}

TEST(Mutation, MoreCyclesAndMoreWaitsNeverHurt) {
  for (const char* text : kKernels) {
    const Program right = scheduled(text);
    for (std::size_t i = 0; i < right.lines.size(); ++i) {
      for (int more = 1; more <= 4; ++more) {
        Program p = right;
        Control& c = p.lines[i].inst.control;
        c.stall = static_cast<std::uint8_t>(std::min(15, c.stall + more));
        if (c.stall >= kYieldStall) {
          c.yield = true;
          c.reuse = 0;
          for (Operand& o : p.lines[i].inst.operands()) o.reuse = false;
        }
        EXPECT_TRUE(clean(p)) << "stall at line " << i;
        if (i == 0) continue;
        // A wait needs its scoreboard set two cycles earlier: only then is it a pure strengthening.
        p = right;
        Control& before = p.lines[i - 1].inst.control;
        before.stall = std::max<std::uint8_t>(before.stall, 2);
        p.lines[i].inst.control.wait = 0x3f;
        EXPECT_TRUE(clean(p)) << "wait at line " << i << "\n" << listing(p);
      }
    }
  }
}

// Stalls that schedule could have made shorter by the table's `need`: how much the safe margin costs, for the record.
TEST(Mutation, ShorterStallsAreFoundUnlessTheMarginTookThem) {
  int found = 0;
  int margin = 0;
  for (const char* text : kKernels) {
    const Program right = scheduled(text);
    for (std::size_t i = 0; i < right.lines.size(); ++i) {
      if (right.lines[i].inst.control.stall < 2) continue;
      Program p = right;
      --p.lines[i].inst.control.stall;
      if (!clean(p)) {
        ++found;
        continue;
      }
      ++margin;
      // Not found: then no reader is nearer than it needs, which the next cycles show too until one is.
      std::printf("unflagged: stall %d - 1 of %s\n", right.lines[i].inst.control.stall,
                  print(right.lines[i].inst).c_str());
    }
  }
  EXPECT_GE(found, 8);
  RecordProperty("found", found);
  RecordProperty("margin", margin);
}

}  // namespace
}  // namespace nervanagpu::sass
