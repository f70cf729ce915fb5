#include "sass/asm/schedule/scoreboards.h"

#include <algorithm>
#include <array>
#include <tuple>

#include "sass/asm/schedule/bits.h"
#include "sass/asm/schedule/timing.h"
#include "sass/isa/latency.h"
#include "sass/isa/register_id.h"

namespace nervanagpu::sass {
namespace {

// Something that a scoreboard can announce: the results of a line, or that its sources were read.
struct Event {
  std::uint32_t line = 0;
  bool reads = false;  // announces that late sources were read
  std::uint8_t sb = kNoScoreboard;
  bool fixed = false;                // the author chose
  bool needed = false;               // somebody must await it
  std::uint32_t partner = kNone;     // a read's event of the results of the same line: awaiting those will do
  int latency = 0;                   // usual cycles, to judge what an early wait costs
  std::vector<std::uint32_t> waits;  // lines that must await it, ascending
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
};

constexpr std::uint16_t kLongAgo = 2000;

class Assigner {
 public:
  Assigner(Program& program, const Flow& flow, const std::vector<Accesses>& touched)
      : program_(program),
        flow_(flow),
        touched_(touched),
        results_of_(touched.size(), Event::kNone),
        reads_of_(touched.size(), Event::kNone),
        writers_(kRegisterIds + 1),
        readers_(kRegisterIds + 1) {}

  void run() {
    reserve();
    collect();
    find_candidates();
    find_needs();
    choose();
    place_waits();
  }

 private:
  Line& line(std::uint32_t i) { return program_.lines[i]; }

  // The scoreboard of LDGDEPBAR (of results) and of UTMACMDFLUSH (of reads) is the one its DEPBAR counts; nothing else may
  // use it.
  void reserve() {
    std::uint8_t counted = kNoScoreboard;
    for (const Line& l : program_.lines) {
      if (l.inst.op == Op::LDGDEPBAR && l.pinned.write_sb) reserved_ |= sb_bit(l.inst.control.write_sb);
      if (l.inst.op == Op::UTMACMDFLUSH && l.pinned.read_sb) reserved_ |= sb_bit(l.inst.control.read_sb);
      if (l.inst.op != Op::DEPBAR) continue;
      for (const Operand& o : l.inst.operands()) {
        if (o.kind == OperandKind::kScoreboard && o.imm < kScoreboards) counted = static_cast<std::uint8_t>(o.imm);
      }
    }
    for (Line& l : program_.lines) {
      const bool reads = l.inst.op == Op::UTMACMDFLUSH;
      if (reads ? l.pinned.read_sb : l.inst.op != Op::LDGDEPBAR || l.pinned.write_sb) continue;
      std::uint8_t& sb = reads ? l.inst.control.read_sb : l.inst.control.write_sb;
      sb = counted == kNoScoreboard ? 0 : counted;
      reserved_ |= sb_bit(sb);
    }
  }

  static unsigned sb_bit(unsigned sb) { return sb < kScoreboards ? 1u << sb : 0; }

  void collect() {
    for (std::uint32_t i = 0; i < program_.lines.size(); ++i) {
      Line& l = line(i);
      const Inst& inst = l.inst;
      bool writes = false;
      bool late = false;
      for (const Access& a : touched_[i]) {
        if (register_id(a.file, a.first) == kNoRegisterId) continue;
        writes |= is_result(a);
        late |= is_late_read(a);
      }
      if (writes && ready(inst) == Ready::kScoreboard) {
        results_of_[i] = add(i, false, l.pinned.write_sb, inst.control.write_sb);
      }
      if (late) reads_of_[i] = add(i, true, l.pinned.read_sb, inst.control.read_sb);
      if (late) events_[reads_of_[i]].partner = results_of_[i];
    }
  }

  std::uint32_t add(std::uint32_t i, bool reads, bool pinned, std::uint8_t sb) {
    const std::uint32_t id = static_cast<std::uint32_t>(events_.size());
    Event e;
    e.line = i;
    e.reads = reads;
    e.fixed = pinned;
    e.sb = pinned ? sb : kNoScoreboard;
    e.latency = usual_latency(line(i).inst, reads);
    events_.push_back(e);
    for (const Access& a : touched_[i]) {
      if (reads ? !is_late_read(a) : !is_result(a)) continue;
      for (unsigned k = 0; k < a.count; ++k) {
        std::vector<std::uint32_t>& list = (reads ? readers_ : writers_)[register_id(a.file, a.first + k)];
        if (list.empty() || list.back() != id) list.push_back(id);
      }
    }
    return id;
  }

  // WARPGROUP.ARRIVE hands general registers over to the products after it, up to the next one: what these take has to be there
  // at the arrival. A product's own wait is its warp's alone.
  [[nodiscard]] std::vector<std::uint32_t> products_behind(std::uint32_t arrive) const {
    std::vector<std::uint32_t> out;
    std::vector<bool> seen(touched_.size(), false);
    std::vector<std::uint32_t> starts{arrive + 1};
    while (!starts.empty()) {
      std::uint32_t i = starts.back();
      starts.pop_back();
      if (i >= touched_.size()) continue;
      const Block& block = flow_.blocks[flow_.block_of[i]];
      for (; i < block.last && !seen[i] && !hands_over(program_.lines[i].inst); ++i) {
        seen[i] = true;
        if (ready(program_.lines[i].inst) == Ready::kGroup) out.push_back(i);
      }
      if (i != block.last) continue;
      for (const std::uint32_t next : block.next) starts.push_back(flow_.blocks[next].first);
    }
    return out;
  }

  // The events that line i could meet, of each line after the other: who writes what it touches, and who reads what it
  // writes.
  void find_candidates() {
    candidates_from_.assign(1, 0);
    candidates_from_.reserve(touched_.size() + 1);
    for (std::uint32_t i = 0; i < touched_.size(); ++i) {
      const auto first = static_cast<std::ptrdiff_t>(candidates_.size());
      const auto take = [&](const std::vector<std::uint32_t>& list) {
        for (const std::uint32_t e : list) {
          if (std::find(candidates_.begin() + first, candidates_.end(), e) == candidates_.end())
            candidates_.push_back(e);
        }
      };
      const auto meet = [&](const Access& a) {
        for (unsigned k = 0; k < a.count; ++k) {
          const std::uint32_t reg = register_id(a.file, a.first + k);
          if (reg == kNoRegisterId) continue;
          take(writers_[reg]);
          if (a.write) take(readers_[reg]);
        }
      };
      for (const Access& a : touched_[i]) meet(a);
      if (hands_over(line(i).inst)) {
        for (const std::uint32_t product : products_behind(i)) {
          for (const Access& a : touched_[product]) {
            if (a.file == RegFile::kGpr) meet(a);
          }
        }
      }
      candidates_from_.push_back(static_cast<std::uint32_t>(candidates_.size()));
    }
  }

  // The outstanding events that line i must see done before it issues.
  void needs(std::uint32_t i, const Bits& out, std::vector<std::uint32_t>& found) const {
    found.clear();
    for (std::uint32_t c = candidates_from_[i]; c < candidates_from_[i + 1]; ++c) {
      if (out.test(candidates_[c])) found.push_back(candidates_[c]);
    }
  }

  void done(std::uint32_t e, Bits& out) const {
    out.reset(e);
    if (!events_[e].reads && reads_of_[events_[e].line] != Event::kNone) out.reset(reads_of_[events_[e].line]);
  }

  void issue(std::uint32_t i, Bits& out) const {
    if (results_of_[i] != Event::kNone) out.set(results_of_[i]);
    if (reads_of_[i] != Event::kNone) out.set(reads_of_[i]);
  }

  // ---- Who needs whom, and what it would cost to await one together with another -----------------------------------
  struct State {
    Bits out;
    std::vector<std::uint16_t> age;  // cycles since issue, at least
    bool reached = false;
  };

  void find_needs() {
    const std::size_t n = events_.size();
    if (n == 0) return;
    cost_.assign(n * n, 0.0F);
    std::vector<State> entry(flow_.blocks.size());
    for (State& s : entry) s = {Bits(n), std::vector<std::uint16_t>(n, kLongAgo), false};
    entry[0].reached = true;
    std::vector<std::uint32_t> found;
    std::vector<std::int64_t> born(n);  // the line, counted from this block, at which an event had age 0
    const auto walk = [&](std::uint32_t b, State& s, bool record) {
      const std::uint32_t first = flow_.blocks[b].first, last = flow_.blocks[b].last;
      const auto ages = [&](std::uint32_t now) {
        s.out.each([&](std::uint32_t e) {
          s.age[e] = static_cast<std::uint16_t>(std::min<std::int64_t>(kLongAgo, std::int64_t{now} - born[e]));
        });
      };
      s.out.each([&](std::uint32_t e) { born[e] = std::int64_t{first} - s.age[e]; });
      for (std::uint32_t i = first; i < last; ++i) {
        needs(i, s.out, found);
        if (record && !found.empty()) {
          ages(i);
          note(i, found, s, flow_.blocks[b].depth);
        }
        for (const std::uint32_t e : found) done(e, s.out);
        issue(i, s.out);
        for (const std::uint32_t e : {results_of_[i], reads_of_[i]}) {
          if (e != Event::kNone) born[e] = i;
        }
      }
      ages(last);
    };
    propagate(
        entry, [&](std::uint32_t b, State& s) { walk(b, s, false); },
        [&](State& to, const State& from) {
          bool changed = to.out.merge(from.out) || !to.reached;
          to.reached = true;
          from.out.each([&](std::uint32_t e) {
            if (from.age[e] < to.age[e]) {
              to.age[e] = from.age[e];
              changed = true;
            }
          });
          return changed;
        });
    for (std::uint32_t b = 0; b < flow_.blocks.size(); ++b) {
      if (!entry[b].reached) continue;
      State s = entry[b];
      walk(b, s, true);
    }
  }

  void note(std::uint32_t i, const std::vector<std::uint32_t>& found, const State& s, std::uint32_t depth) {
    int paid = 0;  // what this line waits anyway
    for (const std::uint32_t e : found) {
      events_[e].needed = true;
      events_[e].waits.push_back(i);
      paid = std::max(paid, events_[e].latency - s.age[e]);
    }
    float often = 1;
    for (std::uint32_t d = 0; d < std::min<std::uint32_t>(depth, 6); ++d) often *= 16;
    s.out.each([&](std::uint32_t q) {
      if (std::ranges::find(found, q) != found.end()) return;
      const int extra = events_[q].latency - s.age[q] - std::max(paid, 0);
      if (extra <= 0) return;
      for (const std::uint32_t e : found) {
        cost_[e * events_.size() + q] += often * static_cast<float>(extra);
      }
    });
  }

  template <class S, class Walk, class Merge>
  void propagate(std::vector<S>& entry, const Walk& walk, const Merge& merge) const {
    std::vector<bool> queued(flow_.blocks.size(), false);
    std::vector<std::uint32_t> queue{0};
    queued[0] = true;
    for (std::size_t at = 0; at < queue.size(); ++at) {
      const std::uint32_t b = queue[at];
      queued[b] = false;
      S s = entry[b];
      walk(b, s);
      for (const std::uint32_t to : flow_.blocks[b].next) {
        if (merge(entry[to], s) && !queued[to]) {
          queued[to] = true;
          queue.push_back(to);
        }
      }
    }
  }

  // ---- Which scoreboard --------------------------------------------------------------------------------------------
  void choose() {
    for (std::uint32_t e = 0; e < events_.size(); ++e) {
      if (events_[e].fixed && events_[e].sb < kScoreboards) join(e, events_[e].sb);
    }
    for (std::uint32_t e = 0; e < events_.size(); ++e) {
      Event& ev = events_[e];
      if (ev.fixed || !ev.needed) continue;
      ev.sb = best(e);
      join(e, ev.sb);
    }
    for (const Event& ev : events_) {
      if (ev.fixed) continue;
      Control& c = line(ev.line).inst.control;
      (ev.reads ? c.read_sb : c.write_sb) = ev.sb;
    }
  }

  void join(std::uint32_t e, unsigned sb) {
    members_[sb].push_back(e);
    used_[sb] = ++clock_;
  }

  // The cheapest; among equals one that is awaited at the same place, then an empty one, then the least recently given.
  std::uint8_t best(std::uint32_t e) const {
    struct Rank {
      float cost;
      int kind;
      std::uint32_t used;
      bool operator<(const Rank& o) const { return std::tie(cost, kind, used) < std::tie(o.cost, o.kind, o.used); }
    };
    std::uint8_t chosen = kNoScoreboard;
    Rank best_rank{};
    for (std::uint8_t sb = 0; sb < kScoreboards; ++sb) {
      if (reserved_ & sb_bit(sb)) continue;
      Rank r{0, members_[sb].empty() ? 1 : 2, used_[sb]};
      for (const std::uint32_t m : members_[sb]) {
        r.cost += cost_[e * events_.size() + m] + cost_[m * events_.size() + e];
        if (awaited_together(events_[e], events_[m])) r.kind = 0;
      }
      if (chosen == kNoScoreboard || r < best_rank) {
        chosen = sb;
        best_rank = r;
      }
    }
    return chosen;
  }

  static bool awaited_together(const Event& a, const Event& b) {
    return std::ranges::any_of(a.waits, [&](std::uint32_t w) { return std::ranges::binary_search(b.waits, w); });
  }

  // ---- Where to wait -----------------------------------------------------------------------------------------------
  void place_waits() {
    const std::size_t n = events_.size();
    std::array<std::vector<std::uint32_t>, kScoreboards> ends;  // what a wait for this scoreboard ends
    for (std::uint32_t e = 0; e < n; ++e) {
      if (events_[e].sb >= kScoreboards) continue;
      ends[events_[e].sb].push_back(e);
      if (!events_[e].reads && reads_of_[events_[e].line] != Event::kNone) {
        ends[events_[e].sb].push_back(reads_of_[events_[e].line]);
      }
    }
    std::vector<std::uint32_t> found;
    const auto step = [&](std::uint32_t i, Bits& out) {
      needs(i, out, found);
      unsigned mask = 0;
      for (const std::uint32_t e : found) mask |= wait_for(events_[e]);
      if (line(i).pinned.wait) mask = line(i).inst.control.wait;
      for (unsigned sb = 0; sb < kScoreboards; ++sb) {
        if (!(mask >> sb & 1)) continue;
        for (const std::uint32_t e : ends[sb]) out.reset(e);
      }
      // What no scoreboard announces is not waited for twice: verify reports it once.
      for (const std::uint32_t e : found) done(e, out);
      issue(i, out);
      return mask;
    };
    const auto walk = [&](std::uint32_t b, Bits& out, bool write) {
      for (std::uint32_t i = flow_.blocks[b].first; i < flow_.blocks[b].last; ++i) {
        const unsigned mask = step(i, out);
        if (write && !line(i).pinned.wait) line(i).inst.control.wait = static_cast<std::uint8_t>(mask);
      }
    };
    std::vector<std::pair<Bits, bool>> states(flow_.blocks.size(), {Bits(n), false});  // and whether it is reached
    states[0].second = true;
    propagate(
        states, [&](std::uint32_t b, std::pair<Bits, bool>& s) { walk(b, s.first, false); },
        [](std::pair<Bits, bool>& to, const std::pair<Bits, bool>& from) {
          const bool first = !to.second;
          to.second = true;
          return to.first.merge(from.first) || first;
        });
    for (std::uint32_t b = 0; b < flow_.blocks.size(); ++b) walk(b, states[b].first, true);
  }

  // Sources were read when the results are there: a read without a scoreboard of its own is awaited by those.
  [[nodiscard]] unsigned wait_for(const Event& e) const {
    if (e.sb < kScoreboards) return sb_bit(e.sb);
    return e.partner != Event::kNone ? sb_bit(events_[e.partner].sb) : 0;
  }

  Program& program_;
  const Flow& flow_;
  const std::vector<Accesses>& touched_;
  std::vector<Event> events_;
  std::vector<std::uint32_t> results_of_, reads_of_;           // event of each line
  std::vector<std::vector<std::uint32_t>> writers_, readers_;  // events of each register
  std::vector<std::uint32_t> candidates_, candidates_from_;    // of line i: from [i] to [i + 1]
  std::vector<float> cost_;                                    // [e][q]: cycles lost if a wait for e also awaits q
  std::array<std::vector<std::uint32_t>, kScoreboards> members_;
  std::array<std::uint32_t, kScoreboards> used_{};
  std::uint32_t clock_ = 0;
  unsigned reserved_ = 0;
};

}  // namespace

void assign_scoreboards(Program& program, const Flow& flow, const std::vector<Accesses>& touched) {
  Assigner(program, flow, touched).run();
}

}  // namespace nervanagpu::sass
