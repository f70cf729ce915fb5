#include "sass/verify/legality.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "sass/isa/codec/raw_word.h"
#include "sass/isa/latency.h"
#include "sass/isa/op_facts.h"
#include "sass/isa/register_id.h"
#include "sass/verify/limits.h"

namespace nervanagpu::sass::verify_detail {
namespace {

// The threads' own accesses, not those of engines that work beside them.
bool of_threads(const Inst& inst) {
  const Unit u = unit(inst);
  return memory_of(inst.op).either() != 0 && u != Unit::kTma && u != Unit::kGmma;
}

// A store or a reduction: nothing comes back.
bool stores_only(const Inst& inst) {
  const MemoryUse m = memory_of(inst.op);
  return of_threads(inst) && m.writes != 0 && m.reads == 0;
}

// Other threads may see it.
bool accesses_memory(const Inst& inst) {
  return of_threads(inst) && (memory_of(inst.op).either() & ~kSpaceLocal) != 0;
}

// Some operand stays in the cache. Bits of slots that nothing is read from mean nothing.
bool keeps_operands(const Inst& inst) {
  if (is_raw_word(inst)) return inst.control.reuse != 0;
  return std::ranges::any_of(inst.operands(), [](const Operand& o) { return o.reuse; });
}

class Checker {
 public:
  Checker(const Code& code, Findings& out) : code_(code), limits_(register_limits(code)), out_(out) {}

  void run() {
    find_awaited_copies();
    for (std::uint32_t i = 0; i < code_.steps.size(); ++i) {
      control(i);
      arrival(i);
      closing(i);
      if (!code_.steps[i].known) continue;
      registers(i);
      converts(i);
      stale_reuse(i);
      if (code_.steps[i].inst.op == Op::LDGDEPBAR) commits(i);
      if (is_barrier(code_.steps[i].inst.op)) overtaken_barrier(i, i, 0);
    }
  }

 private:
  void say(std::uint32_t i, std::string text) {
    out_.push_back({Hazard::Kind::kControl, i, i, 0, 0, 0, std::move(text)});
  }

  void control(std::uint32_t i) {
    const Step& step = code_.steps[i];
    const Control& c = step.inst.control;
    const bool wide = info(code_.arch).encoding == Encoding::k128;
    if (wide && c.stall >= kYieldStall && !c.yield) {
      say(i, "stall " + std::to_string(c.stall) + " without yield is not honoured: set yield, or stall at most " +
                 std::to_string(kYieldStall - 1));
    }
    if (wide && c.stall == 0 && !c.yield) say(i, "stall 0 without yield is illegal");
    if (wide && step.known && c.yield && keeps_operands(step.inst))
      say(i, "reuse with yield loses the operand cache: drop one of them");
    if (c.write_sb == 6 || c.read_sb == 6) say(i, "scoreboard 6 does not exist: use 0 to 5, or none");
    if (!step.known) return;
    if (stores_only(step.inst) && c.write_sb != kNoScoreboard) {
      say(i, "a store has no results, so it must not set a write scoreboard");
    }
    if (wide && step.inst.op == Op::DEPBAR && c.stall < kDepbarStall) {
      say(i, "DEPBAR needs a stall of at least " + std::to_string(kDepbarStall) + ", has " + std::to_string(c.stall));
    }
  }

  // The warps of a warpgroup do not wait for each other's arrival if the product comes too soon after it.
  void arrival(std::uint32_t i) {
    const Inst& arrive = code_.steps[i].inst;
    if (!code_.steps[i].known || !hands_over(arrive)) return;
    int gap = 0;
    for (std::uint32_t k = i; gap < kArriveGap && k + 1 < code_.steps.size(); ++k) {
      gap += std::max<int>(code_.steps[k].inst.control.stall, 1);
      const Step& next = code_.steps[k + 1];
      if (!next.known || unit(next.inst) == Unit::kBranch) return;
      if (ready(next.inst) != Ready::kGroup) continue;
      if (gap < kArriveGap) {
        say(i, "a product follows " + std::to_string(gap) + " cycles after WARPGROUP.ARRIVE; at least " +
                   std::to_string(kArriveGap) + " are needed");
      }
      return;
    }
  }

  // A group is not awaited by a DEPBAR that comes too soon after the product that closes it.
  void closing(std::uint32_t i) {
    if (!code_.steps[i].known || !closes_group(code_.steps[i].inst)) return;
    int gap = 0;
    for (std::uint32_t k = i; k + 1 < code_.steps.size(); ++k) {
      gap += std::max<int>(code_.steps[k].inst.control.stall, 1);
      const Step& next = code_.steps[k + 1];
      if (gap >= kGroupGap || !next.known || unit(next.inst) == Unit::kBranch) return;
      if (!awaits_groups(next.inst)) continue;
      say(k + 1, "WARPGROUP.DEPBAR comes " + std::to_string(gap) +
                     " cycles after the product that closes its group; at least " + std::to_string(kGroupGap) +
                     " are needed");
      return;
    }
  }

  void registers(std::uint32_t i) {
    const Step& step = code_.steps[i];
    const std::uint32_t limit = limits_[i];
    const char* verb = limit == code_.kernel->registers ? "the kernel declares " : "the code has ";
    for (const Access& a : step.touched) {
      if (a.file == RegFile::kGpr && limit != 0 && a.first + a.count > limit) {
        say(i, "uses " + register_name(register_id(a.file, a.first + a.count - 1u)) + ", but " + verb +
                   std::to_string(limit) + " registers");
      }
      const bool group = (a.count == 2 || a.count == 4) && !is_raw_word(step.inst);
      if ((a.file == RegFile::kGpr || a.file == RegFile::kUGpr) && group && a.first % a.count != 0) {
        say(i, register_name(register_id(a.file, a.first)) + " begins a group of " + std::to_string(a.count) +
                   " registers and must be a multiple of that");
      }
    }
  }

  // To a float HADD2 converts and adds nothing: an H200 reports another first operand as an illegal instruction.
  void converts(std::uint32_t i) {
    const Inst& inst = code_.steps[i].inst;
    if (code_.arch != Arch::sm_90a || inst.op != Op::HADD2 || !inst.has(Axis::kPack, Tok::F32)) return;
    const Operand& first = inst.operands()[1];
    if (first.kind == OperandKind::kGpr && first.reg == kRZ) return;
    say(i, "HADD2.F32 is an illegal instruction unless its first source is RZ");
  }

  // An operand kept in the cache while its register is written would be read old. The cache has an entry for each operand
  // slot and register bank (shown on the chip: a reader of the slot with a register of the other bank leaves it).
  void stale_reuse(std::uint32_t i) {
    const Step& step = code_.steps[i];
    if (step.inst.control.yield) return;
    if (is_raw_word(step.inst)) return stale_reuse_of_word(i);
    for (const Operand& kept : step.inst.operands()) {
      if (!kept.reuse || kept.kind != OperandKind::kGpr || kept.reg == kRZ) continue;
      for (unsigned k = 0; k < kept.width; ++k) stale_reuse(i, kept.slot, kept.reg + k);
    }
  }

  // Which of its sources a `.word` keeps in a slot is not known: any of them.
  void stale_reuse_of_word(std::uint32_t i) {
    const Step& step = code_.steps[i];
    for (std::uint8_t slot = 0; slot < 4; ++slot) {
      if (!(step.inst.control.reuse >> slot & 1)) continue;
      for (const Access& a : step.touched) {
        for (unsigned k = 0; k < a.count && !a.write && a.file == RegFile::kGpr; ++k) stale_reuse(i, slot, a.first + k);
      }
    }
  }

  void stale_reuse(std::uint32_t i, std::uint8_t slot, unsigned reg) {
    std::set<std::pair<std::uint32_t, bool>> seen;
    std::vector<std::pair<std::uint32_t, bool>> work{
        {i, false}};  // a step, and whether the register was written before
    while (!work.empty()) {
      auto [j, written] = work.back();
      work.pop_back();
      const Step& at = code_.steps[j];
      if (!at.known) continue;
      if (j != i || written) {
        const Reading r = at.never ? Reading::kNone : reading(at, slot, reg);
        if (r == Reading::kSame && written) {
          out_.push_back({Hazard::Kind::kControl, i, j, 0, 0, 0,
                          "reads " + register_name(reg) + " from the operand cache, where " + code_.name(i) +
                              " left the value from before it was overwritten"});
        }
        if (r != Reading::kNone) continue;
      }
      for (const Access& a : at.touched) {
        written |= a.write && a.file == RegFile::kGpr && reg >= a.first && reg < a.first + a.count;
      }
      for (const std::uint32_t next : at.next) {
        if (seen.insert({next, written}).second) work.emplace_back(next, written);
      }
    }
  }

  enum class Reading : std::uint8_t {
    kNone,
    kOther,
    kSame
  };  // kOther: another register of the bank, which takes its place

  [[nodiscard]] Reading reading(const Step& step, std::uint8_t slot, unsigned reg) const {
    const unsigned banks = info(code_.arch).register_banks;
    Reading out = Reading::kNone;
    if (is_raw_word(step.inst)) {
      for (const Access& a : step.touched) {
        if (!a.write && a.file == RegFile::kGpr && reg >= a.first && reg < a.first + a.count) return Reading::kSame;
      }
      return Reading::kNone;
    }
    for (const Operand& o : step.inst.operands()) {
      if (o.kind != OperandKind::kGpr || o.slot != slot || o.role == Role::kDef || o.reg == kRZ) continue;
      for (unsigned k = 0; k < o.width; ++k) {
        if (o.reg + k == reg) return Reading::kSame;
        if ((o.reg + k) % banks == reg % banks) out = Reading::kOther;
      }
    }
    return out;
  }

  // Asynchronous copies have no registers: only the scoreboard of their LDGDEPBAR says that they are there.
  void commits(std::uint32_t i) {
    const Step& step = code_.steps[i];
    if (step.never) return;
    const unsigned sb = step.inst.control.write_sb;
    if (sb >= kScoreboards) {
      say(i, "commits copies to no scoreboard, so nobody can await them");
    } else if (!(awaited_copies_ >> sb & 1)) {
      say(i, "commits copies to scoreboard " + std::to_string(sb) + ", which no DEPBAR awaits");
    }
  }

  void find_awaited_copies() {
    unsigned by_depbar = 0;
    unsigned by_wait = 0;
    for (const Step& step : code_.steps) {
      by_wait |= step.inst.control.wait;
      if (!step.known || step.inst.op != Op::DEPBAR) continue;
      for (const Operand& o : step.inst.operands()) {
        if (o.kind == OperandKind::kScoreboard) by_depbar |= 1u << o.imm;
        if (o.kind == OperandKind::kSet) by_depbar |= static_cast<unsigned>(o.imm);
      }
    }
    awaited_copies_ = by_depbar != 0 ? by_depbar : by_wait;
  }

  // A barrier takes effect some cycles after its issue; an access in between does not wait for it. Nor does the wait of a
  // cluster's barrier in between: one cycle after the arrival it let an H200's warps pass, and no compiler leaves less
  // than six.
  void overtaken_barrier(std::uint32_t barrier, std::uint32_t at, unsigned cycles) {
    if (info(code_.arch).encoding != Encoding::k128) return;
    cycles += std::max<unsigned>(code_.steps[at].inst.control.stall, 1);
    const unsigned needs = code_.arch == Arch::sm_75 ? kBarrierCycles - 1 : kBarrierCycles;
    if (cycles >= needs) return;
    for (const std::uint32_t next : code_.steps[at].next) {
      const Step& step = code_.steps[next];
      const Op wait = wait_of(code_.steps[barrier].inst.op);
      const bool cluster = wait != Op::NOP;
      const bool early = cluster ? step.inst.op == wait : step.known && accesses_memory(step.inst);
      if (step.known && !step.never && early) {
        const char* why =
            cluster ? "so close, it does not wait for the others" : "a memory access so close overtakes the barrier";
        out_.push_back({Hazard::Kind::kControl, barrier, next, 0, 0, 0,
                        "follows " + code_.name(barrier) + " after " + std::to_string(cycles) + " cycles, needs " +
                            std::to_string(needs) + ": " + why});
      } else {
        overtaken_barrier(barrier, next, cycles);
      }
    }
  }

  const Code& code_;
  std::vector<std::uint32_t> limits_;  // registers of a thread at each instruction
  Findings& out_;
  unsigned awaited_copies_ = 0;  // scoreboards
};

}  // namespace

void check_legality(const Code& code, Findings& out) {
  Checker(code, out).run();
}

}  // namespace nervanagpu::sass::verify_detail
