#include "sass/emulate/machine/groups.h"

#include <algorithm>
#include <utility>

#include "sass/emulate/checked/check.h"
#include "sass/emulate/machine/deadlock.h"
#include "sass/emulate/state/cluster.h"
#include "sass/emulate/state/grid.h"

namespace nervanagpu::sass::emulate {
namespace {

constexpr std::uint32_t kOvertime = 16;  // time slices

// The lanes that a waiting group waits for.
std::uint32_t wanted(const Warp& w, const Group& g) {
  if (g.state == Group::State::kAtSync) {
    return w.convergence[g.barrier][static_cast<unsigned>(std::countr_zero(g.mask))] & w.live;
  }
  return g.wanted & w.live;
}

// The next group to run: the one furthest behind, or after a yield the next in turn. Joins equals on the way.
bool pick(Warp& w) {
  std::vector<Group>& groups = w.groups;
  if (groups.size() == 1) {
    w.current = 0;
    return groups[0].state == Group::State::kReady;
  }
  const std::uint32_t last_pc = w.current < groups.size() ? groups[w.current].pc : 0;
  for (std::size_t i = 0; i < groups.size() && !w.stacked; ++i) {
    if (groups[i].state != Group::State::kReady) continue;
    for (std::size_t j = groups.size() - 1; j > i; --j) {
      if (groups[j].state != Group::State::kReady || groups[j].pc != groups[i].pc) continue;
      if (!groups[i].released || !groups[j].released) w.by_chance |= groups[i].mask | groups[j].mask;
      groups[i].mask |= groups[j].mask;
      groups.erase(groups.begin() + static_cast<std::ptrdiff_t>(j));
    }
  }
  // In turn means: the next higher place in the code, then from the start again.
  const Group* best = nullptr;
  const std::pair<std::uint32_t, std::ptrdiff_t> last{last_pc, w.current};
  const auto before = [&](const Group& a, const Group& b) {
    const std::pair<std::uint32_t, std::ptrdiff_t> at_a{a.pc, &a - groups.data()};
    const std::pair<std::uint32_t, std::ptrdiff_t> at_b{b.pc, &b - groups.data()};
    if (!w.rotate) return at_a < at_b;
    const bool a_wraps = at_a <= last;
    const bool b_wraps = at_b <= last;
    return a_wraps != b_wraps ? b_wraps : at_a < at_b;
  };
  for (const Group& g : groups) {
    if (g.state == Group::State::kReady && (best == nullptr || before(g, *best))) best = &g;
  }
  w.rotate = false;
  if (best == nullptr) return false;
  w.current = static_cast<std::uint32_t>(best - groups.data());
  return true;
}

// Counts what the warp has executed since it was last asked; false: the grid has come to its limit, which is its end.
bool within_limit(Warp& w) {
  Grid& grid = *w.cta->grid;
  if (grid.launch.limit == 0) return true;
  const std::uint64_t more = w.instructions - w.counted;
  w.counted = w.instructions;
  if (grid.executed.fetch_add(more, std::memory_order_relaxed) + more <= grid.launch.limit) return true;
  report_limit(*w.cta->cluster, w);
  return false;
}

}  // namespace

void release_syncs(Warp& w) {
  for (std::size_t i = 0; i < w.groups.size(); ++i) {
    const Group g = w.groups[i];
    if (g.state != Group::State::kAtSync && g.state != Group::State::kAtWarpSync) continue;
    const std::uint32_t want = wanted(w, g);
    const auto with = [&](const Group& o) {
      return o.state == g.state && o.barrier == g.barrier && wanted(w, o) == want;
    };
    std::uint32_t here = 0;
    for (const Group& o : w.groups) {
      if (with(o)) here |= o.mask;
    }
    if ((want & ~here) != 0) continue;
    w.by_chance &= ~here;
    if (w.checker != nullptr) w.checker->lanes_met(w, here);
    for (Group& o : w.groups) {
      if (o.mask == g.mask || !with(o)) continue;
      o.state = Group::State::kReady;
      o.released = true;
      ++o.pc;
    }
    w.groups[i].state = Group::State::kReady;
    w.groups[i].released = true;
    ++w.groups[i].pc;
  }
}

bool run_warp(Warp& w) {
  const Grid& grid = *w.cta->grid;
  while (!w.groups.empty() && (w.stop == Stop::kQuantumOver || pick(w))) {
    Group& g = w.groups[w.current];
    g.released = false;
    w.active = w.exec = g.mask;
    if (w.stop != Stop::kQuantumOver) w.slice = kSlice;
    w.stop = Stop::kNone;
    const Uop* u = w.code + g.pc;
    w.mark = u;
    if (w.checker != nullptr) {
      w.checker->run(w, u);
    } else if (w.quantum != 0) {
      while (u != nullptr) u = count_quantum(w, u->run(w, u));
    } else {
      while (u != nullptr) u = u->run(w, u);
    }
    if (w.stop == Stop::kFault || grid.stopped.load(std::memory_order_relaxed)) return false;
    if (!within_limit(w)) return false;
    if (w.stop == Stop::kQuantumOver) return true;
    if (w.stop == Stop::kYield) {
      w.rotate = true;
      // A loop whose counter was read too early may never end: after a finding, time is limited.
      if (w.checker != nullptr && w.checker->dirty() && ++w.overtime > kOvertime) {
        w.cta->grid->stopped.store(true, std::memory_order_relaxed);
        return false;
      }
      return true;
    }
  }
  return true;
}

}  // namespace nervanagpu::sass::emulate
