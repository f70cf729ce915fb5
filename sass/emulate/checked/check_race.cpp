// Checked mode, who may touch what after whom: accesses to shared and global memory, barriers and mbarriers. A race is told in
// one way, whichever of the two came first here.
#include <algorithm>
#include <bit>
#include <cstdio>

#include "sass/emulate/checked/check.h"
#include "sass/emulate/state/cluster.h"
#include "sass/emulate/state/grid.h"
#include "sass/isa/codec/hex.h"

namespace nervanagpu::sass::emulate {
namespace {

Shadow::Use use_of(Intent intent) {
  switch (intent) {
    case Intent::kLoad: return Shadow::Use::kLoad;
    case Intent::kAtomic: return Shadow::Use::kAtomic;
    case Intent::kAsyncStore: return Shadow::Use::kAsyncStore;
    default: return Shadow::Use::kStore;
  }
}

constexpr std::size_t kMostUnwritten = std::size_t{1} << 16;

}  // namespace

Strand& Checker::strand(const Warp& w) {
  return strand(w, w.exec == 0 ? 0 : static_cast<unsigned>(std::countr_zero(w.exec)));
}

Checker::Party Checker::party(const Touch& a, unsigned lane) const {
  Party p;
  p.pc = a.pc;
  p.cta = grid_.cta_at(a.cluster, a.rank);
  p.warp = a.warp;
  p.lane = lane < kLanes ? lane : a.lane;
  p.writes = a.writes();
  p.strong = a.strong();
  if (a.cluster == order_.cluster() && order_.agent(a.agent).copies) p.copies = &order_.agent(a.agent);
  return p;
}

Checker::Party Checker::party(const Warp& w, const Uop* u, unsigned lane, bool writes) const {
  Party p;
  p.pc = index_of(w, u);
  p.cta = w.cta->id;
  p.warp = w.index;
  p.lane = lane;
  p.writes = writes;
  return p;
}

// "STS [R2], R0 in line 7 of warp 1", of another CTA with that in front.
std::string Checker::sentence(const Party& p, const std::array<std::uint32_t, 3>& cta) const {
  std::string text = named(*grid_.kernel, p.pc) + " of ";
  if (p.cta != cta) {
    text +=
        "CTA (" + std::to_string(p.cta[0]) + "," + std::to_string(p.cta[1]) + "," + std::to_string(p.cta[2]) + "), ";
  }
  return text + "warp " + std::to_string(p.warp);
}

void Checker::put(const Party& at, std::uint32_t other_pc, const Party* other, const char* what, std::string detail) {
  Finding f;
  f.what = what;
  f.detail = std::move(detail);
  f.kernel = grid_.kernel->name;
  if (at.pc < grid_.kernel->lines.size()) f.at = grid_.kernel->lines[at.pc];
  const Encoding e = info(grid_.kernel->arch).encoding;
  f.pc = static_cast<std::uint32_t>(address_of(e, at.pc));
  f.other = static_cast<std::uint32_t>(address_of(e, other_pc));
  f.cta = at.cta;
  f.warp = at.warp;
  f.lane = at.lane < kLanes ? at.lane : 0;
  const std::array<std::uint32_t, 3> there = other != nullptr ? other->cta : at.cta;
  const std::array<std::uint32_t, 10> rank{at.cta[2],
                                           at.cta[1],
                                           at.cta[0],
                                           at.warp,
                                           f.lane,
                                           there[2],
                                           there[1],
                                           there[0],
                                           other != nullptr ? other->warp : 0,
                                           other != nullptr ? other->lane : 0};
  Race& r = races_[{what, at.pc, other_pc}];
  const std::uint64_t count = r.finding.what.empty() ? 1 : r.finding.count + 1;
  if (r.finding.what.empty() || rank < r.rank) r = {rank, std::move(f)};
  r.finding.count = count;
}

void Checker::race(Party mine, Party other, const char* what, const std::string& place, const char* missing) {
  const auto place_of = [](const Party& p) { return std::tuple(p.pc, p.cta[2], p.cta[1], p.cta[0], p.warp, p.lane); };
  const bool engine = mine.copies != nullptr || other.copies != nullptr;
  bool turn = place_of(other) < place_of(mine);
  if ((mine.copies == nullptr) != (other.copies == nullptr)) {
    turn = mine.copies != nullptr;
  } else if (mine.writes != other.writes) {
    turn = other.writes;
  } else if (mine.strong != other.strong) {
    turn = mine.strong;
  }
  if (turn) std::swap(mine, other);
  const std::string verb = mine.writes ? "written" : "read";
  if (engine) {
    // Of the two copies of one warp the later one counts, of others any.
    const Party& copy = other.copies != nullptr ? other : mine;
    std::string text = place + ": " + verb + " by warp " + std::to_string(mine.warp) + ", written by " +
                       sentence(copy, mine.cta) + ", whose phase of the mbarrier at shared address " +
                       hex(copy.copies->mbarrier) + " it has not seen end";
    return put(mine, other.pc, &other, "asynchronous copy not awaited", std::move(text));
  }
  put(mine, other.pc, &other, what,
      place + ": " + verb + " by warp " + std::to_string(mine.warp) + ", " + (other.writes ? "written" : "read") +
          " by " + sentence(other, mine.cta) + ", " + missing);
}

void Checker::trouble(const Warp& w, const Uop* u, unsigned lane, const Trouble& t, bool writes, Where where,
                      const std::string& place) {
  using What = Trouble::What;
  if (t.what == What::kNone) return;
  const Party mine = party(w, u, lane, writes);
  if (t.what == What::kOverMbarrier) {
    return found(w, u, lane, "store over an mbarrier", place + ": it was not invalidated (SYNCS.CCTL.IV)");
  }
  const Party other = party(t.other, t.other_lane);
  // A loop around a compare and swap begins with what a plain load finds, whatever that is.
  if (t.what == What::kRace && grid_.has_cas && other.writes != writes) {
    const bool strong = writes ? grid_.kernel->checks[mine.pc].atomic : t.other.strong();
    if (strong) return;
  }
  if (t.what == What::kNotAwaited) {
    return put(mine, other.pc, &other, "asynchronous copy not awaited",
               place + ": " + sentence(other, w.cta->id) + " was not awaited by DEPBAR before this access");
  }
  if (t.what == What::kNoFence) {
    return put(mine, other.pc, &other, "no proxy fence",
               place + ": written by " + sentence(other, w.cta->id) +
                   ", which has no FENCE.VIEW.ASYNC between that and this read by an engine");
  }
  const bool same_cta = other.cta == w.cta->id;
  const bool same_cluster = t.other.cluster == order_.cluster();
  const Strand& s = order_.strand(w.cta->rank, w.index, lane < kLanes ? lane : 0);
  const bool seen = same_cluster && time_in(s.known.at[0], t.other.agent) >= t.other.time;
  const char* missing = "with no barrier between";
  if (same_cta && other.warp == w.index) {
    missing = "of lanes that have parted, with no WARPSYNC or barrier between";
  } else if (!same_cta && where == Where::kShared) {
    missing = seen ? "with no MEMBAR after the write" : "with no barrier of the cluster or mbarrier between";
  } else if (!same_cta) {
    missing =
        seen ? "with no MEMBAR of the GPU after the write"
             : "and nothing orders the two: no flag, set after a MEMBAR of the GPU and read, both .STRONG or atomic";
  }
  Party me = mine;
  me.strong = where == Where::kGlobal && grid_.kernel->checks[me.pc].strong;
  race(me, other, where == Where::kShared ? "shared-memory race" : "global-memory race", place, missing);
}

void Checker::unwritten(const Warp& w, const Uop* u, unsigned lane, std::uint32_t offset, std::string place) {
  if (unwritten_.size() < kMostUnwritten) {
    unwritten_.try_emplace({offset, index_of(w, u)}, Unwritten{party(w, u, lane, false), std::move(place)});
  }
}

// `t` of an access to this CTA's shared memory.
void Checker::shared_trouble(const Warp& w, const Uop* u, unsigned lane, const Trouble& t, bool writes) {
  const bool own = w.checker == this;
  std::string place = "shared offset " + std::to_string(t.offset);
  if (t.what == Trouble::What::kUninitialised) {
    return unwritten(w, u, lane, t.offset,
                     place + (own ? ": never written in this CTA" : " of another CTA: never written"));
  }
  if (order_.ctas() > 1) place += " of rank " + std::to_string(rank_);
  if (t.what == Trouble::What::kRace && writes) {
    unwritten_.erase(unwritten_.lower_bound({t.offset, 0}), unwritten_.upper_bound({t.offset, ~0u}));
  }
  w.checker->trouble(w, u, lane, t, writes, Where::kShared, place);
}

// Of a CTA that has ended.
void Checker::tell_unwritten() {
  for (const auto& [key, read] : unwritten_) {
    put(read.by, read.by.pc, nullptr, "uninitialised shared memory", read.place);
  }
  unwritten_.clear();
}

void Checker::shared_access(Warp& w, const Uop* u, unsigned lane, std::uint32_t offset, unsigned bytes, Intent intent) {
  if (w.checker->muted_) return;
  Strand& s = strand(w, lane);
  const std::uint32_t pc = index_of(w, u);
  if (intent == Intent::kLoad && shadow_.plain_load(s, pc, lane, offset, bytes)) return;
  // An atomic operation sets a flag, and one whose result is used reads it.
  Known* flag = intent == Intent::kAtomic ? &shadow_.flag(offset) : nullptr;
  if (flag != nullptr && u->x->dst != rows::kDump) s.known.join(*flag);
  const Trouble t = shadow_.access(s, pc, lane, offset, bytes, use_of(intent));
  if (t.what != Trouble::What::kNone) shared_trouble(w, u, lane, t, intent != Intent::kLoad);
  if (flag != nullptr) flag->join(s.known);
  w.checker->ticks_ = w.checker->ticks_ || flag != nullptr;
  if (intent != Intent::kLoad) check_marks(w, u, lane, offset, bytes);
}

void Checker::release_part() {
  if (part_ == nullptr) return;
  part_->mutex.unlock();
  part_ = nullptr;
}

void Checker::accesses_done(const Warp& w, std::uint32_t lanes) {
  release_part();
  if (!ticks_) return;
  ticks_ = false;
  order_.each(w.cta->rank, w.index, lanes, [&](Strand& s) { order_.tick(s); });
}

void Checker::global_access(Warp& w, const Uop* u, unsigned lane, std::uint64_t address, std::uint64_t bytes,
                            Intent intent) {
  GlobalShadow& shadow = *grid_.global;
  Strand& s = strand(w, lane);
  const std::uint32_t pc = index_of(w, u);
  const bool atomic = intent == Intent::kAtomic;
  const bool strong = atomic || grid_.kernel->checks[pc].strong;
  const bool reads = intent == Intent::kLoad;
  const Touch::Kind kind = reads    ? strong ? Touch::Kind::kStrongRead : Touch::Kind::kRead
                           : strong ? Touch::Kind::kStrongWrite
                                    : Touch::Kind::kWrite;
  while (bytes != 0) {
    const std::uint64_t n = std::min(bytes, 4096 - address % 4096);
    GlobalShadow::Part& part = shadow.part(address);
    if (&part != part_) {
      release_part();
      part.mutex.lock();
      part_ = &part;
    }
    const bool flag = strong && grid_.has_membar;
    if (flag && (reads || (atomic && u->x->dst != rows::kDump))) GlobalShadow::acquire(part, order_, s, address);
    const Trouble t = shadow.access(part, order_, s, pc, lane, address, static_cast<unsigned>(n), kind);
    if (t.what != Trouble::What::kNone) {
      trouble(w, u, lane, t, !reads, Where::kGlobal, "global address " + hex(address - address % 4096 + t.offset));
    }
    if (flag && !reads) GlobalShadow::release(part, order_, s, address, atomic);
    ticks_ = ticks_ || (flag && !reads);
    address += n;
    bytes -= n;
  }
}

// ---- Barriers -----------------------------------------------------------------------------------------------------------

void Checker::barrier_arrived(Warp& w, unsigned number) {
  order_.each(w.cta->rank, w.index, w.exec, [&](Strand& s) { order_.release(s, shadow_.barrier(number)); });
}

void Checker::barrier_completed(Cta& cta, unsigned number) {
  Known& known = shadow_.barrier(number);
  for (const Warp& w : cta.warps) {
    std::uint32_t waited = 0;
    for (const Group& g : w.groups) {
      if (g.state == Group::State::kAtBarrier && g.barrier == number) waited |= g.mask;
    }
    if (waited == 0) continue;
    order_.each(cta.rank, w.index, waited, [&](Strand& s) { s.known.join(known); });
    order_.meet(cta.rank, w.index, waited);
  }
  known.clear();
}

void Checker::cluster_arrived(Warp& w) {
  order_.each(w.cta->rank, w.index, w.exec, [&](Strand& s) { order_.release(s, order_.arriving); });
}

void Checker::cluster_completed() {
  order_.met = order_.arriving;
  order_.arriving.clear();
}

void Checker::cluster_passed(Warp& w) {
  order_.each(w.cta->rank, w.index, w.exec, [&](Strand& s) { s.known.join(order_.met); });
  w.cta->touched_until = 0;
}

void Checker::fenced(const Warp& w, Order::Fence kind) {
  order_.each(w.cta->rank, w.index, w.exec, [&](Strand& s) { order_.fenced(s, kind); });
}

void Checker::copies_done(Warp& w) {
  shadow_.async_awaited(strand(w), shadow_.async_count(w.index));
}

// ---- Mbarriers ------------------------------------------------------------------------------------------------------------

void Checker::mbarrier_made(const Warp& w, const Uop* u, std::uint32_t address) {
  const auto lane = static_cast<unsigned>(std::countr_zero(w.exec));
  const Trouble t = shadow_.mbarrier_made(strand(w), index_of(w, u), lane, address, address - w.shared_base);
  if (t.what != Trouble::What::kNone) shared_trouble(w, u, lane, t, true);
}

void Checker::mbarrier_used(const Warp& w, const Uop* u, unsigned lane, std::uint32_t address, bool engine) {
  const Trouble t = shadow_.mbarrier_used(strand(w, lane), address, address - w.shared_base, engine);
  if (t.what == Trouble::What::kNone) return;
  const Party other = party(t.other, t.other_lane);
  std::string text =
      "the mbarrier at shared address " + hex(address) + " is initialised by " + sentence(other, w.cta->id);
  const bool race = t.what == Trouble::What::kRace;
  if (race) {
    text += ", and nothing orders this use after that";
  } else {
    text += std::string(", with no fence after that before this use by ") + (engine ? "an engine" : "another CTA") +
            ": FENCE.VIEW.ASYNC, or ptxas's NOP for fence.mbarrier_init";
  }
  w.checker->put(party(w, u, lane, false), other.pc, &other, race ? "mbarrier race" : "no mbarrier fence",
                 std::move(text));
}

void Checker::mbarrier_arrived(const Warp& w, unsigned lane, std::uint32_t address, bool counts, bool told) {
  if (w.checker != this) shadow_.mbarrier_remote(address);
  shadow_.mbarrier_arrive(strand(w, lane), address, counts, told);
}

void Checker::wait_is_unclear(Party at, std::uint32_t address, bool parity) {
  const std::uint32_t pc = at.pc;
  put(at, pc, nullptr, "wait by parity may be a round off",
      "parity " + std::to_string(parity ? 1 : 0) + " of the mbarrier at shared address " + hex(address) +
          ": two phases may end that this wait has not seen, and then it takes one for another; nothing orders them "
          "around it");
}

void Checker::mbarrier_phase_over(const Warp& w, std::uint32_t address) {
  for (const PhaseWaits::Wait& wait : shadow_.phase_over(address)) {
    Party p;
    p.pc = wait.pc;
    p.cta = w.cta->cluster->ctas[rank_].id;
    p.warp = wait.warp;
    p.lane = wait.lane;
    wait_is_unclear(p, address, wait.parity);
  }
}

void Checker::mbarrier_asked(const Warp& w, const Uop* u, unsigned lane, std::uint32_t address, bool parity) {
  PhaseWaits::Wait wait;
  wait.pc = index_of(w, u);
  wait.warp = static_cast<std::uint16_t>(w.index);
  wait.lane = static_cast<std::uint8_t>(lane);
  wait.parity = parity;
  if (!shadow_.mbarrier_ask(strand(w, lane), address, wait)) {
    wait_is_unclear(party(w, u, lane, false), address, parity);
  }
}

void Checker::mbarrier_observed(const Warp& w, unsigned lane, std::uint32_t address) {
  shadow_.mbarrier_observe(strand(w, lane), address);
  if (shadow_.is_remote(address)) w.cta->touched_until = 0;
}

}  // namespace nervanagpu::sass::emulate
