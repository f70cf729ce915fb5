#include "sass/asm/schedule/stalls.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "sass/isa/latency.h"
#include "sass/isa/register_id.h"

namespace nervanagpu::sass {
namespace {

// A fixed-latency write that a reader could still meet too early, or a read that a writer could still overtake.
struct Pending {
  std::uint32_t reg = 0;   // register_id
  std::uint32_t line = 0;  // the producer, or the reader
  int elapsed = 0;         // cycles since it issued, at least; while a block is walked: when it issued, see now_
  Producer producer{};
  bool reads = false;
  Consumer reader{};

  [[nodiscard]] bool same(const Pending& o) const { return reg == o.reg && line == o.line && reads == o.reads; }
};
using PendingSet = std::vector<Pending>;

class Staller {
 public:
  Staller(Program& program, const Flow& flow, const std::vector<Accesses>& touched)
      : program_(program), flow_(flow), touched_(touched), arch_(program.manifest.arch) {
    for (const Line& l : program.lines) horizon_ = std::max(horizon_, max_gap(arch_, l.inst));
  }

  Status run() {
    for (std::uint32_t i = 0; i < program_.lines.size(); ++i) {
      Line& l = program_.lines[i];
      if (!l.pinned.stall) l.inst.control.stall = static_cast<std::uint8_t>(least(i));
    }
    leave_.resize(flow_.blocks.size());
    news_.assign(flow_.blocks.size(), true);
    // Stalls only grow, so this ends. A block is looked at again when what its predecessors leave has changed.
    while (std::ranges::find(news_, true) != news_.end()) {
      for (std::uint32_t b = 0; b < flow_.blocks.size(); ++b) {
        if (!news_[b]) continue;
        news_[b] = false;
        for (const std::uint32_t p : flow_.blocks[b].prev) settle_edge(p, b);
        settle(b);
      }
    }
    set_yields();
    return failed_ ? Status(*failed_) : Status(Done{});
  }

 private:
  Inst& inst(std::uint32_t i) { return program_.lines[i].inst; }

  // The stall that line i needs whatever it produces: its own kind's, and the time a scoreboard takes to be seen.
  int least(std::uint32_t i) {
    const Inst& now = inst(i);
    int stall = min_stall(arch_, now);
    if (info(arch_).encoding == Encoding::k64) stall = std::max(stall, 1);  // no dual issue
    if (i + 1 >= program_.lines.size()) return stall;
    const Inst& next = inst(i + 1);
    // The instructions between a group's last product and its DEPBAR take a cycle each at least.
    if (closes_group(now)) {
      int between = 0;
      while (between < kGroupGap && i + 1 + between < program_.lines.size() && !awaits_groups(inst(i + 1 + between)))
        ++between;
      stall = std::max(stall, kGroupGap - between);
    }
    unsigned awaited = next.control.wait;
    if (next.op == Op::DEPBAR) {
      for (const Operand& o : next.operands()) {
        if (o.kind == OperandKind::kScoreboard && o.imm < kScoreboards) awaited |= 1u << o.imm;
      }
    }
    const auto sets = [&](unsigned sb) { return sb < kScoreboards && (awaited >> sb & 1); };
    if (sets(now.control.write_sb) || sets(now.control.read_sb)) stall = std::max(stall, kScoreboardSetGap);
    return stall;
  }

  // Without the yield bit the longest stalls are not honoured, and the yield bit loses the reuse cache.
  int most(std::uint32_t i) {
    const Line& l = program_.lines[i];
    if (l.pinned.stall) return l.inst.control.stall;
    if (info(arch_).encoding == Encoding::k64) return kMaxStall;
    const bool keeps_cache =
        l.inst.control.reuse != 0 || std::ranges::any_of(l.inst.operands(), [](const Operand& o) { return o.reuse; });
    return keeps_cache || (l.pinned.yield && !l.inst.control.yield) ? kYieldStall - 1 : kMaxStall;
  }

  // The cycles that line i must wait longer than it does, given what is pending at now_; `worst` is the line that makes it.
  int missing(std::uint32_t i, const PendingSet& pending, std::uint32_t& worst) {
    int lacks = 0;
    const auto need = [&](const Pending& p, int safe) {
      const int elapsed = now_ - p.elapsed;
      if (safe - elapsed > lacks) {
        lacks = safe - elapsed;
        worst = p.line;
      }
    };
    const bool fixed = ready(inst(i)) == Ready::kFixed;
    for (const Access& a : touched_[i]) {
      for (unsigned k = 0; k < a.count; ++k) {
        const std::uint32_t reg = register_id(a.file, a.first + k);
        if (reg == kNoRegisterId || pending_of_[reg] == 0) continue;
        for (const Pending& p : pending) {
          if (p.reg != reg) continue;
          if (p.reads) {
            if (a.write && fixed) need(p, war_gap(arch_, p.reader, producer_of(inst(i), a, k)).safe);
          } else if (!a.write) {
            need(p, raw_gap(arch_, p.producer, consumer_of(inst(i), a, k)).safe);
          } else if (fixed) {
            need(p, waw_gap(arch_, p.producer, producer_of(inst(i), a, k)).safe);
          }
        }
      }
    }
    return lacks;
  }

  // Adds `cycles` to lines before `consumer`, the latest first, no further back than `first`. True if any was added.
  bool add_before(std::uint32_t consumer, std::uint32_t last, std::uint32_t first, std::uint32_t producer, int cycles) {
    bool any = false;
    bool pinned = false;
    const int asked = cycles;
    for (std::uint32_t i = last; i-- > first && cycles > 0;) {
      pinned |= program_.lines[i].pinned.stall;
      Control& c = inst(i).control;
      const int taken = std::clamp(most(i) - c.stall, 0, cycles);
      c.stall = static_cast<std::uint8_t>(c.stall + taken);
      cycles -= taken;
      any |= taken > 0;
    }
    // A pinned stall that is too short is the author's word; verify judges it.
    if (cycles > 0 && !pinned && !failed_) {
      failed_ = error_at(program_.lines[consumer].at,
                         "no room for the " + std::to_string(asked) + " cycles that this needs after its producer",
                         {"the producer is at line " + std::to_string(program_.lines[producer].at.line),
                          "put other instructions or a NOP between them"});
    }
    return any;
  }

  // Takes a set for a walk that begins at time 0, or gives it up.
  void begin(PendingSet& pending) {
    now_ = 0;
    for (Pending& p : pending) {
      p.elapsed = -p.elapsed;
      ++pending_of_[p.reg];
    }
  }
  void end(PendingSet& pending) {
    for (Pending& p : pending) {
      p.elapsed = now_ - p.elapsed;
      pending_of_[p.reg] = 0;
    }
  }

  template <class F>
  void erase(PendingSet& pending, const F& gone) {
    std::erase_if(pending, [&](const Pending& p) {
      if (!gone(p)) return false;
      --pending_of_[p.reg];
      return true;
    });
  }
  void add(PendingSet& pending, const Pending& p) {
    pending.push_back(p);
    ++pending_of_[p.reg];
  }

  void advance(PendingSet& pending, std::uint32_t i) {
    now_ += inst(i).control.stall;
    erase(pending, [&](const Pending& p) { return now_ - p.elapsed >= horizon_; });
  }

  void issue(PendingSet& pending, std::uint32_t i) {
    const Inst& now = inst(i);
    const bool always = now.guard.pred == kPT && !now.guard.inv;
    for (const Access& a : touched_[i]) {
      for (unsigned k = 0; k < a.count; ++k) {
        const std::uint32_t reg = register_id(a.file, a.first + k);
        if (reg == kNoRegisterId) continue;
        if (!a.write) {
          const Consumer reader = consumer_of(now, a, k);
          if (!overwritten_early(arch_, reader)) continue;
          if (pending_of_[reg] != 0)
            erase(pending, [&](const Pending& p) { return p.reg == reg && p.reads && p.line == i; });
          add(pending, {reg, i, now_, {}, true, reader});
          continue;
        }
        if (pending_of_[reg] != 0)
          erase(pending, [&](const Pending& p) { return p.reg == reg && !p.reads && (always || p.line == i); });
        if (ready(now) == Ready::kFixed) add(pending, {reg, i, now_, producer_of(now, a, k), false, {}});
      }
    }
  }

  // What lacks at the very start of block `to` when coming from `from` is added at the end of `from`: only that path pays.
  void settle_edge(std::uint32_t from, std::uint32_t to) {
    const std::uint32_t first = flow_.blocks[to].first;
    std::uint32_t producer = 0;
    PendingSet left = leave_[from];
    begin(left);
    const int lacks = missing(first, left, producer);
    end(left);
    if (lacks == 0) return;
    const Block& block = flow_.blocks[from];
    const bool inside = producer >= block.first && producer < block.last;
    if (add_before(first, block.last, inside ? producer : block.first, producer, lacks)) settle(from);
  }

  // Adds what lacks inside block b and computes what it leaves; its successors hear if that is news.
  void settle(std::uint32_t b) {
    const Block& block = flow_.blocks[b];
    PendingSet pending = enter(b);
    begin(pending);
    for (std::uint32_t i = block.first; i < block.last; ++i) {
      std::uint32_t producer = 0;
      const int lacks = i == block.first ? 0 : missing(i, pending, producer);
      if (lacks > 0) {
        const bool inside = producer >= block.first && producer < i;
        const int before = inst(i - 1).control.stall;
        if (add_before(i, i, inside ? producer : block.first, producer, lacks)) {
          if (inst(i - 1).control.stall - before != lacks) {  // earlier lines changed as well: count anew
            end(pending);
            pending = enter(b);
            begin(pending);
            i = block.first - 1;
            continue;
          }
          now_ += lacks;
        }
      }
      issue(pending, i);
      advance(pending, i);
    }
    end(pending);
    if (equal(pending, leave_[b])) return;
    leave_[b] = std::move(pending);
    for (const std::uint32_t next : block.next) news_[next] = true;
  }

  PendingSet enter(std::uint32_t b) const {
    PendingSet set;
    for (const std::uint32_t p : flow_.blocks[b].prev) merge(set, leave_[p]);
    return set;
  }

  static void merge(PendingSet& to, const PendingSet& from) {
    for (const Pending& f : from) {
      const auto at = std::ranges::find_if(to, [&](const Pending& p) { return p.same(f); });
      if (at == to.end()) {
        to.push_back(f);
      } else {
        at->elapsed = std::min(at->elapsed, f.elapsed);
      }
    }
  }

  static bool equal(const PendingSet& a, const PendingSet& b) {
    return a.size() == b.size() && std::ranges::all_of(a, [&](const Pending& p) {
             return std::ranges::any_of(b, [&](const Pending& q) { return p.same(q) && p.elapsed == q.elapsed; });
           });
  }

  void set_yields() {
    unsigned count = 0;
    for (Line& l : program_.lines) {
      const bool must = info(arch_).encoding == Encoding::k128 && l.inst.control.stall >= kYieldStall;
      const bool asked = l.mark.yields != 0 && ++count % l.mark.yields == 0;
      if (!l.pinned.yield) l.inst.control.yield = must || asked;
    }
  }

  Program& program_;
  const Flow& flow_;
  const std::vector<Accesses>& touched_;
  Arch arch_;
  int horizon_ = 0;
  int now_ = 0;                                           // cycles since the block that is walked began
  std::vector<PendingSet> leave_;                         // of each block
  std::vector<bool> news_;                                // whether what a block enters with has changed
  std::array<std::uint16_t, kRegisterIds> pending_of_{};  // members of the set that is walked, by register
  std::optional<Diag> failed_;
};

}  // namespace

Status assign_stalls(Program& program, const Flow& flow, const std::vector<Accesses>& touched) {
  return Staller(program, flow, touched).run();
}

}  // namespace nervanagpu::sass
