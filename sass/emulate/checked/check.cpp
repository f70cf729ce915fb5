#include "sass/emulate/checked/check.h"

#include <algorithm>
#include <bit>

#include "sass/emulate/lanes/lanes.h"
#include "sass/emulate/state/grid.h"

namespace nervanagpu::sass::emulate {
namespace {

std::string cycles(std::uint64_t n) {
  return std::to_string(n) + (n == 1 ? " cycle" : " cycles");
}

}  // namespace

std::string tags::name(std::uint16_t tag) {
  const auto numbered = [](std::string_view file, unsigned number) {
    std::string text(file);
    text += std::to_string(number);
    return text;
  };
  if (tag >= kCc) return "CC";
  if (tag >= kUPred) return numbered("UP", tag - kUPred);
  if (tag >= kPred) return numbered("P", tag - kPred);
  if (tag >= kUGpr) return numbered("UR", tag - kUGpr);
  return numbered("R", tag);
}

Checker::Checker(Grid& grid, Order& order) : grid_(grid), order_(order), shadow_(order) {}

std::string named(const Kernel& kernel, std::uint32_t pc) {
  std::string text = kernel.text[pc];
  if (pc < kernel.lines.size() && kernel.lines[pc].line != 0) {
    text += " in line " + std::to_string(kernel.lines[pc].line);
  }
  return text;
}

void Checker::begin(Cta& cta) {
  cta.checker = this;
  rank_ = cta.rank;
  unwritten_.clear();
  state_.assign(cta.warps.size(), WarpState{});
  shadow_.reset(cta.rank, static_cast<std::uint32_t>(cta.shared.size()), static_cast<std::uint32_t>(cta.warps.size()));
  marks_.reset(static_cast<std::uint32_t>(cta.shared.size()), static_cast<std::uint32_t>(cta.warps.size()));
  stores_.reset(static_cast<std::uint32_t>(cta.shared.size()), static_cast<std::uint32_t>(cta.warps.size()));
  for (Warp& w : cta.warps) w.checker = this;
}

void Checker::end(Cta& cta) {
  tell_unwritten();
  for (std::uint32_t left = cta.pending; left != 0; left &= left - 1) {
    const unsigned number = static_cast<unsigned>(std::countr_zero(left));
    const Warp& w = cta.warps.front();
    found(w, w.code + cta.barriers[number].where, kLanes, "barrier misuse",
          "the CTA ended with arrivals at barrier " + std::to_string(number) + " that nobody awaited");
  }
  if (cta.touched_until != 0) {
    const Warp& w = *cta.touched_by;
    found(w, w.code + cta.touched_pc, kLanes, "access to a CTA that has exited",
          "the CTA of rank " + std::to_string(cta.rank) +
              " may exit before this: between them is neither a cluster barrier nor an mbarrier that it waits for");
  }
}

void Checker::registers_released(Warp& w) {
  WarpState& s = state_[w.index];
  for (std::uint16_t r = static_cast<std::uint16_t>(w.registers); r < tags::kUGpr; ++r) {
    s.tag[r].lanes = 0;
    s.bytes[r].fill(0);
  }
}

bool Checker::again(const Uop* u, const char* what, const Warp& w) {
  const auto it = findings_.find({what, static_cast<std::uint32_t>(u - w.code)});
  if (it == findings_.end()) return false;
  ++it->second.count;
  return true;
}

void Checker::found(const Warp& w, const Uop* u, unsigned lane, const char* what, std::string detail) {
  if (again(u, what, w)) return;
  const auto index = static_cast<std::uint32_t>(u - w.code);
  Finding f;
  f.what = what;
  f.detail = std::move(detail);
  f.kernel = grid_.kernel->name;
  if (index < grid_.kernel->lines.size()) f.at = grid_.kernel->lines[index];
  f.pc = static_cast<std::uint32_t>(address_of(info(grid_.kernel->arch).encoding, index));
  f.cta = w.cta->id;
  f.warp = w.index;
  f.lane = lane < kLanes ? lane : 0;
  findings_.emplace(std::pair{std::string(what), index}, std::move(f));
}

std::vector<Finding> Checker::take() {
  tell_unwritten();
  std::vector<Finding> out;
  for (auto& [key, f] : findings_) out.push_back(std::move(f));
  for (auto& [key, r] : races_) out.push_back(std::move(r.finding));
  findings_.clear();
  races_.clear();
  return out;
}

// Operations on scoreboard `sb` but the youngest `keep` have finished. One that was issued less than two cycles ago has
// not yet raised the scoreboard, so the wait does not see it.
void Checker::await(WarpState& s, Warp& w, unsigned sb, unsigned keep, int gap) {
  std::uint32_t until = s.issued[sb] >= keep ? s.issued[sb] - keep : 0;
  const auto at = [&](std::uint32_t number) -> Outstanding& { return s.ring[sb][number % kRing]; };
  while (until > s.done[sb] && at(until).issued + static_cast<unsigned>(gap) > s.clock) --until;
  const std::uint32_t first = std::max(s.done[sb] + 1, until >= kRing ? until - kRing + 1 : 1);
  for (std::uint32_t n = first; n <= until; ++n) {
    const Outstanding& o = at(n);
    s.clock = std::max(s.clock, o.issued + o.least);
    auto& done = s.queue_done[static_cast<std::size_t>(o.queue)];
    done = std::max(done, o.in_queue);
    auto& read = s.read_done[static_cast<std::size_t>(o.read_queue)];
    read = std::max(read, o.in_read_queue);
    auto& memory = s.read_done[static_cast<std::size_t>(ReadQueue::kMemory)];
    memory = std::max(memory, o.memory_reads);
    if (o.async != 0) shadow_.async_awaited(strand(w), o.async);
    if (o.stores != 0) stores_.awaited(strand(w), o.stores);
  }
  s.done[sb] = std::max(s.done[sb], until);
}

bool Checker::pending(const WarpState& s, std::uint16_t tag) const {
  const Tag& t = s.tag[tag];
  if (tag < tags::kUGpr && s.tensor.writes[tag] != 0) return false;  // check_owned()
  if (t.sb != kNoScoreboard && s.done[t.sb] >= t.number) return false;
  if (t.queue != Queue::kNone && s.queue_done[static_cast<std::size_t>(t.queue)] >= s.in_queue[tag]) return false;
  return true;
}

// The reader gets poison, as long as it reads: after the instruction the true value comes back.
void Checker::poison(Warp& w, std::uint16_t tag) {
  if (tag >= tags::kUGpr) return;
  Row32 row = w.row(rows::use(static_cast<std::uint8_t>(tag)));
  auto& kept = poisoned_.emplace_back();
  kept.first = tag;
  std::copy_n(row, kLanes, kept.second.begin());
  std::fill_n(row, kLanes, kPoison);
}

void Checker::check_use(WarpState& s, Warp& w, const Uop* u, const CheckOp::Use& use) {
  Tag& t = s.tag[use.tag];
  if (s.clock < t.settled && (w.exec & t.last) != 0) {
    if (t.settled == kNever) {
      if (pending(s, use.tag)) {
        if (!again(u, "read before ready", w)) {
          found(w, u, static_cast<unsigned>(std::countr_zero(w.exec)), "read before ready",
                tags::name(use.tag) + " comes from " + grid_.kernel->text[t.pc] + ", " +
                    (t.sb == kNoScoreboard ? "which sets no scoreboard"
                                           : "whose scoreboard " + std::to_string(t.sb) + " was not awaited"));
        }
        poison(w, use.tag);
      } else {
        t.settled = 0;
        // The next write of it is to be seen by issue().
        if (use.tag < tags::kUGpr && s.tensor.writes[use.tag] != 0) t.readers |= kTensorReader;
      }
    } else {
      const unsigned need = raw_gap(grid_.kernel->arch, t.producer, use.consumer).need;
      if (s.clock < t.issued + need) {
        if (!again(u, "read before ready", w)) {
          found(w, u, static_cast<unsigned>(std::countr_zero(w.exec)), "read before ready",
                tags::name(use.tag) + " is read " + cycles(s.clock - t.issued) + " after " + grid_.kernel->text[t.pc] +
                    " wrote it, which needs " + cycles(need));
        }
        poison(w, use.tag);
      }
    }
  }
  if ((w.exec & ~t.lanes) == 0 || use.carried) return;
  const std::uint32_t missing = unwritten_lanes(s, use, w.exec);
  if (missing == 0) return;
  if (use.matters != CheckOp::Use::In::kAll && u->x->puse_count > 0) {
    const std::uint32_t p = predicate(w, u->x->puse[0]);
    if ((missing & (use.matters == CheckOp::Use::In::kTrue ? p : ~p)) == 0) return;
  }
  if (!again(u, "uninitialised register", w)) {
    const auto lane = static_cast<unsigned>(std::countr_zero(missing));
    const auto& bytes = s.bytes[use.tag < tags::kUGpr ? use.tag : 0];
    const bool partly = use.tag < tags::kUGpr && ((bytes[0] | bytes[1] | bytes[2] | bytes[3]) >> lane & 1) != 0;
    found(w, u, lane, "uninitialised register",
          (partly ? "a part of " : "") + tags::name(use.tag) + " was never written");
  }
}

void Checker::check_def(WarpState& s, Warp& w, const Uop* u, const CheckOp& op, const CheckOp::Def& def) {
  Tag& t = s.tag[def.tag];
  const auto lane = static_cast<unsigned>(std::countr_zero(w.exec));
  if ((w.exec & t.last) == 0) {
    // Another group's.
  } else if (t.settled == kNever && op.queue != Queue::kNone && op.queue == t.queue) {
    // In order, one after the other.
  } else if (t.settled == kNever && pending(s, def.tag)) {
    if (!again(u, "overwritten in flight", w)) {
      found(w, u, lane, "overwritten in flight",
            tags::name(def.tag) + " is still to be written by " + grid_.kernel->text[t.pc] +
                ", whose scoreboard was not awaited");
    }
  } else if (t.settled != kNever && s.clock < t.settled) {
    const unsigned need = waw_gap(grid_.kernel->arch, t.producer, def.producer).need;
    // A result by scoreboard arrives later than any gap of the table.
    if (!op.by_scoreboard && s.clock < t.issued + need && !again(u, "overwritten in flight", w)) {
      found(w, u, lane, "overwritten in flight",
            tags::name(def.tag) + " is overwritten " + cycles(s.clock - t.issued) + " after " +
                grid_.kernel->text[t.pc] + " wrote it, which needs " + cycles(need));
    }
  }
  if (def.tag >= tags::kUGpr && def.tag < tags::kPred) {
    EarlyRead& e = s.early[def.tag - tags::kUGpr];
    const unsigned need = e.any && !op.by_scoreboard ? war_gap(grid_.kernel->arch, e.consumer, def.producer).need : 0;
    if (s.clock < e.clock + need && !again(u, "overwritten before read", w)) {
      found(w, u, lane, "overwritten before read",
            tags::name(def.tag) + " is overwritten " + cycles(s.clock - e.clock) + " after " +
                grid_.kernel->text[e.pc] + " read it, which needs " + cycles(need));
    }
    e.any = false;
  }
  if (t.readers == 0) return;
  const Reader& r = s.reader[def.tag];
  const auto reads = [&](unsigned q) { return (t.readers >> q & 1) != 0 && (r.lanes[q] & w.exec) != 0; };
  bool over = !reads(0) || (r.sb < kScoreboards && s.done[r.sb] >= r.number[0]);
  for (unsigned q = 1; q < r.number.size(); ++q) {
    if (q == static_cast<unsigned>(op.read_queue)) continue;  // in order: reads before it writes
    const bool through_barrier = op.read_queue == ReadQueue::kBarrier && q == static_cast<unsigned>(ReadQueue::kMemory);
    if (through_barrier && s.memory_at_barrier >= r.number[q]) continue;
    if (reads(q)) over = over && s.read_done[q] >= r.number[q];
  }
  if (!over && !again(u, "overwritten before read", w)) {
    found(w, u, lane, "overwritten before read",
          tags::name(def.tag) + " is still to be read by " + grid_.kernel->text[r.pc] +
              ", whose scoreboard was not awaited");
  }
  t.readers = 0;
  s.reader[def.tag].lanes.fill(0);
}

// One more operation on a scoreboard; its number there.
std::uint32_t Checker::raise(WarpState& s, unsigned sb, const Outstanding& o) {
  const std::uint32_t n = ++s.issued[sb];
  s.ring[sb][n % kRing] = o;
  return n;
}

// An operation whose guard is false still takes its turn in its queues: its scoreboards speak for older ones.
void Checker::take_turn(WarpState& s, const CheckOp& op) {
  std::uint32_t in_queue = 0;
  if (op.queue != Queue::kNone) in_queue = ++s.queue_issued[static_cast<std::size_t>(op.queue)];
  std::uint32_t in_read_queue = 0;
  if (op.read_queue != ReadQueue::kNone) in_read_queue = ++s.read_issued[static_cast<std::size_t>(op.read_queue)];
  if (op.joins_memory) s.memory_at_barrier = in_read_queue;
  const std::uint32_t memory = op.read_queue == ReadQueue::kBarrier ? s.memory_at_barrier : 0;
  if (op.write_sb < kScoreboards) {
    raise(s, op.write_sb, {s.clock, op.least, in_queue, 0, op.queue, op.read_queue, in_read_queue, 0, memory});
  }
  if (op.read_sb < kScoreboards) {
    raise(s, op.read_sb, {s.clock, op.least_read, 0, 0, Queue::kNone, op.read_queue, in_read_queue, 0, memory});
  }
}

void Checker::issue(WarpState& s, Warp& w, const Uop* u, const CheckOp& op, std::uint32_t lanes) {
  std::uint32_t in_queue = 0;
  if (op.queue != Queue::kNone) in_queue = ++s.queue_issued[static_cast<std::size_t>(op.queue)];
  std::uint32_t in_read_queue = 0;
  if (op.read_queue != ReadQueue::kNone) in_read_queue = ++s.read_issued[static_cast<std::size_t>(op.read_queue)];
  if (op.joins_memory) s.memory_at_barrier = in_read_queue;
  const std::uint32_t memory = op.read_queue == ReadQueue::kBarrier ? s.memory_at_barrier : 0;
  const auto pc = static_cast<std::uint32_t>(u - w.code);
  std::uint32_t number = 0;
  if (op.write_sb < kScoreboards) {
    number = raise(s, op.write_sb,
                   {s.clock, op.least, in_queue, op.commits_async ? shadow_.async_count(w.index) : 0, op.queue,
                    op.read_queue, in_read_queue, 0, memory});
  }
  std::uint32_t read_number = 0;
  if (op.read_sb < kScoreboards) {
    read_number = raise(s, op.read_sb,
                        {s.clock, op.least_read, 0, 0, Queue::kNone, op.read_queue, in_read_queue,
                         op.commits_stores ? stores_.count(w.index) : 0, memory});
  }
  for (const CheckOp::Use& use : op.uses) {
    if (use.overtaken) s.early[use.tag - tags::kUGpr] = {s.clock, pc, use.consumer, true};
    if (!use.late) continue;
    Tag& t = s.tag[use.tag];
    Reader& r = s.reader[use.tag];
    t.readers |= static_cast<std::uint8_t>(1u << static_cast<unsigned>(op.read_queue));
    r.lanes[static_cast<std::size_t>(op.read_queue)] |= lanes;
    r.pc = pc;
    if (op.read_queue != ReadQueue::kNone) {
      r.number[static_cast<std::size_t>(op.read_queue)] = in_read_queue;
    } else {  // results are written after sources are read: the write scoreboard serves too
      r.sb = op.read_sb < kScoreboards ? op.read_sb : op.write_sb;
      r.number[0] = op.read_sb < kScoreboards ? read_number : number;
    }
  }
  for (const CheckOp::Def& def : op.defs) {
    Tag& t = s.tag[def.tag];
    if (def.tag < tags::kUGpr) s.tensor.writes[def.tag] = 0;
    t.issued = s.clock;
    t.last = tags::is_uniform(def.tag) ? kAllLanes : lanes;
    t.lanes |= t.last;
    t.producer = def.producer;
    t.pc = pc;
    if (op.by_scoreboard) {
      t.settled = kNever;
      t.sb = op.write_sb < kScoreboards ? op.write_sb : static_cast<std::uint8_t>(kNoScoreboard);
      t.number = number;
      if (op.by_reads && op.write_sb >= kScoreboards && op.read_sb < kScoreboards) {
        t.sb = op.read_sb;
        t.number = read_number;
      }
      t.queue = op.queue;
      s.in_queue[def.tag] = in_queue;
    } else {
      t.settled = s.clock + def.settled;
    }
  }
}

const Uop* Checker::step(Warp& w, const Uop* u) {
  const Detail& x = *u->x;
  const CheckOp& op = grid_.kernel->checks[x.index];
  WarpState& s = state_[w.index];
  for (unsigned left = op.wait; left != 0; left &= left - 1) {
    await(s, w, static_cast<unsigned>(std::countr_zero(left)), 0);
  }
  w.exec = w.active;
  for (const CheckOp::Use& use : op.guard) check_use(s, w, u, use);
  const std::uint32_t lanes = w.active & predicate(w, x.guard);
  if (lanes == 0) {
    if (op.always_counts) {
      for (const unsigned sb : {op.write_sb, op.read_sb}) {
        if (sb < kScoreboards) raise(s, sb, {.issued = s.clock, .least = op.least_read});
      }
    } else if (!op.commits_async && (op.queue != Queue::kNone || op.read_queue != ReadQueue::kNone)) {
      take_turn(s, op);
    }
    s.clock += op.stall;
    return u + 1;
  }
  w.exec = lanes;
  if (op.registers > w.registers && !again(u, "register above the limit", w)) {
    found(w, u, kLanes, "register above the limit",
          "R" + std::to_string(op.registers - 1 - chips_registers(Encoding::k128)) + " of a warp that has " +
              std::to_string(w.registers) + " registers a thread, two of them the chip's");
  }
  for (const CheckOp::Use& use : op.uses) check_use(s, w, u, use);
  for (const CheckOp::Def& def : op.defs) check_def(s, w, u, op, def);
  if (s.tensor.issued != s.tensor.done) check_owned(s, w, u, op);
  if (op.tensor == CheckOp::Tensor::kMultiply) check_arrived(s, w, u, op);
  // ptxas puts DEPBAR right after USETMAXREG: it looks later than a wait in the control code does.
  if (op.depbar_sb < kScoreboards) await(s, w, op.depbar_sb, op.depbar_count, 1);
  for (unsigned left = op.depbar_all; left != 0; left &= left - 1) {
    await(s, w, static_cast<unsigned>(std::countr_zero(left)), 0);
  }
  if (op.frees_reads) {
    for (const ReadQueue queue : {ReadQueue::kMemory, ReadQueue::kBarrier}) {
      const auto q = static_cast<std::size_t>(queue);
      s.read_done[q] = s.read_issued[q];
    }
  }
  if (op.membar != CheckOp::Membar::kNone) {
    order_.each(w.cta->rank, w.index, lanes,
                [&](Strand& strand) { order_.membar(strand, op.membar == CheckOp::Membar::kGpu); });
  }
  if (op.init_fence) fenced(w, Order::Fence::kInit);
  const Permuted taken = op.permutes ? permuted(s, w, u, op) : Permuted{};
  w.comes_again = false;
  const Uop* next = x.body(w, u);
  if (part_ != nullptr || ticks_) accesses_done(w, lanes);
  w.exec = w.active;
  while (!poisoned_.empty()) {
    const auto& kept = poisoned_.back();
    const bool written =
        std::any_of(op.defs.begin(), op.defs.end(), [&](const CheckOp::Def& d) { return d.tag == kept.first; });
    Row32 row = w.row(rows::use(static_cast<std::uint8_t>(kept.first)));
    blend(row, kept.second.data(), written ? ~lanes : kAllLanes);
    poisoned_.pop_back();
  }
  if (w.comes_again) return next;
  issue(s, w, u, op, lanes);
  if (taken.blamed != CheckOp::kNoTag) note_permuted(s, w, u, op, taken, lanes);
  if (op.tensor != CheckOp::Tensor::kNone) issue_tensor(s, w, u, op);
  s.clock += op.stall;
  return next;
}

void Checker::run(Warp& w, const Uop* u) {
  order_.part(w.cta->rank, w.index, w.active, w.live);
  WarpState& s = state_[w.index];
  const QuickOp* const quick = grid_.kernel->quick.data();
  const Uop* const code = w.code;
  while (u != nullptr) {
    const auto pc = static_cast<std::uint32_t>(u - code);
    const QuickOp& q = quick[pc];
    bool clean = q.body != nullptr;
    const std::uint32_t lanes = w.active;
    for (unsigned i = 0; i < q.uses; ++i) {
      const Tag& t = s.tag[q.use[i]];
      clean = clean && t.settled <= s.clock && (lanes & ~t.lanes) == 0;
    }
    for (unsigned i = 0; i < q.defs; ++i) {
      const Tag& t = s.tag[q.def[i]];
      clean = clean && t.settled <= s.clock && t.readers == 0;
    }
    if (!clean) {
      u = step(w, u);
      if (w.quantum != 0) u = count_quantum(w, u);
      continue;
    }
    w.exec = lanes;
    u = q.body(w, u);
    if (part_ != nullptr || ticks_) accesses_done(w, lanes);
    for (unsigned i = 0; i < q.defs; ++i) {
      Tag& t = s.tag[q.def[i]];
      t.settled = s.clock + q.settled[i];
      t.issued = s.clock;
      t.lanes |= lanes;
      t.last = lanes;
      t.pc = pc;
      t.producer = q.producer[i];
    }
    s.clock += q.stall;
    if (w.quantum != 0) u = count_quantum(w, u);
  }
}

}  // namespace nervanagpu::sass::emulate
