#include "sass/emulate/machine/barriers.h"

#include <bit>
#include <cstdio>

#include "sass/emulate/checked/check.h"

namespace nervanagpu::sass::emulate {
namespace {

bool complete(const Cta& cta, const NamedBarrier& bar) {
  std::uint32_t arrived = 0;
  bool all = true;
  for (const Warp& w : cta.warps) {
    if (bar.arrived[w.index] != 0 && (w.live & ~bar.arrived[w.index]) == 0) {
      ++arrived;
    } else if (w.live != 0) {
      all = false;
    }
  }
  return bar.counted ? arrived * kLanes >= bar.expected : all;
}

}  // namespace

void check_whole(Warp& w, const Uop* u) {
  const std::uint32_t absent = w.live & ~w.exec;
  const std::uint32_t lucky = w.stacked ? 0 : w.by_chance & w.exec;
  if (w.checker == nullptr || (absent | lucky) == 0) return;
  char lanes[16];
  std::snprintf(lanes, sizeof lanes, "0x%x", absent != 0 ? absent : lucky);
  std::string what = std::string("lanes ") + lanes + " of the warp " +
                     (absent != 0 ? "are not here" : "met the others by chance") + ": a warp arrives as one";
  if (!w.stacked) what += ", after BSYNC or WARPSYNC";
  w.checker->found(w, u, static_cast<unsigned>(std::countr_zero(w.exec)), "barrier misuse", std::move(what));
}

bool release_barriers(Cta& cta) {
  bool any = false;
  for (std::uint32_t left = cta.pending; left != 0; left &= left - 1) {
    const unsigned number = static_cast<unsigned>(std::countr_zero(left));
    const NamedBarrier bar = cta.barriers[number];
    if (!complete(cta, bar)) continue;
    cta.pending &= ~(1u << number);
    any = true;
    std::uint32_t result = bar.red_count;
    if (bar.red_kind == kBarAnd) result = bar.red_false == 0 ? kAllLanes : 0;
    if (bar.red_kind == kBarOr) result = bar.red_count != 0 ? kAllLanes : 0;
    Checker* checker = nullptr;
    for (Warp& w : cta.warps) {
      if (bar.arrived[w.index] != 0 && w.checker != nullptr) checker = w.checker;
    }
    if (checker != nullptr) checker->barrier_completed(cta, number);
    for (Warp& w : cta.warps) {
      for (Group& g : w.groups) {
        if (g.state != Group::State::kAtBarrier || g.barrier != number) continue;
        g.state = Group::State::kReady;
        ++g.pc;
        w.barrier_result = result;
      }
    }
  }
  return any;
}

bool release_cluster(Cluster& cluster) {
  if (!cluster.pending) return false;
  for (const Cta& cta : cluster.ctas) {
    for (const Warp& w : cta.warps) {
      if ((w.live & ~cta.cluster_arrived[w.index]) != 0) return false;
    }
  }
  cluster.pending = false;
  ++cluster.phase;
  for (Cta& cta : cluster.ctas) {
    cta.cluster_arrived.fill(0);
    if (cta.checker != nullptr && cta.rank == 0) cta.checker->cluster_completed();
    for (Warp& w : cta.warps) {
      for (Group& g : w.groups) {
        if (g.state == Group::State::kAtCluster) g.state = Group::State::kReady;
      }
    }
  }
  return true;
}

std::string missing_at_cluster(const Cluster& cluster) {
  std::string text;
  unsigned named = 0;
  unsigned missing = 0;
  for (const Cta& cta : cluster.ctas) {
    for (const Warp& w : cta.warps) {
      if ((w.live & ~cta.cluster_arrived[w.index]) == 0) continue;
      ++missing;
      if (named == 4) continue;
      text += (named++ == 0 ? "" : ", ") + std::string("warp ") + std::to_string(w.index) + " of rank " +
              std::to_string(cta.rank);
    }
  }
  if (missing > named) text += " and " + std::to_string(missing - named) + " more";
  return text;
}

}  // namespace nervanagpu::sass::emulate
