#include "sass/emulate/machine/cluster.h"

#include <algorithm>
#include <cstring>

#include "sass/emulate/checked/check.h"
#include "sass/emulate/engine/mbarrier.h"
#include "sass/emulate/load/bind.h"
#include "sass/emulate/machine/grid.h"
#include "sass/emulate/ops/lanes.h"

namespace nervanagpu::sass::emulate {
namespace {

bool misuse(Warp& w, const Uop* u, std::string what) {
  if (w.checker == nullptr) {
    fault(w, u, kLanes, "barrier misuse: " + what);
    return false;
  }
  w.checker->found(w, u, kLanes, "barrier misuse", std::move(what));
  return true;
}

const Uop* arrive(Warp& w, const Uop* u) {
  Cta& cta = *w.cta;
  if (!cta.grid->launch.in_clusters(*cta.grid->kernel)) {
    return fault(w, u, kLanes, "illegal instruction: the kernel states no cluster and was launched without one");
  }
  if ((w.cluster_owed & w.exec) != 0 &&
      !misuse(w, u, "the warp arrives at the cluster barrier again and has not waited")) {
    return nullptr;
  }
  check_whole(w, u);
  w.cluster_owed |= w.exec;
  w.cluster_phase = cta.cluster->phase + 1;
  cta.cluster_arrived[w.index] |= w.exec;
  cta.cluster->pending = true;
  ++cta.progress;
  if (w.checker != nullptr) w.checker->cluster_arrived(w);
  return u + 1;
}

const Uop* wait(Warp& w, const Uop* u) {
  Cluster& cluster = *w.cta->cluster;
  if ((w.exec & ~w.cluster_owed) != 0) {
    if (!misuse(w, u, "the warp waits at the cluster barrier and has not arrived")) return nullptr;
    return u + 1;
  }
  if (cluster.phase < w.cluster_phase) {
    const auto here = static_cast<std::uint32_t>(u - w.code);
    if (const std::uint32_t others = w.active & ~w.exec; others != 0) {
      const std::uint32_t waiting = w.exec;
      split(w, others, here + 1);
      w.active = waiting;
    }
    w.groups[w.current].state = Group::State::kAtCluster;
    return leave(w, u, here, Stop::kBlocked);  // comes again when it is released
  }
  w.cluster_owed &= ~w.exec;
  if (w.checker != nullptr) w.checker->cluster_passed(w);
  return u + 1;
}

// STAS and REDAS: [target, mbarrier] of any CTA of the cluster; the mbarrier counts the bytes.
template <bool kReduce>
const Uop* store_remote(Warp& w, const Uop* u) {
  const Detail& x = *u->x;
  for (unsigned l = 0; l < kLanes && w.checker != nullptr; ++l) {
    const auto barrier = static_cast<std::uint32_t>(lane_address(w, x.address[0], l) >> 32);
    if ((w.exec >> l & 1) != 0 && !mbarrier_awaited(w, barrier, true)) return come_again(w, u);
  }
  for (unsigned l = 0; l < kLanes; ++l) {
    if ((w.exec >> l & 1) == 0) continue;
    const std::uint64_t both = lane_address(w, x.address[0], l);
    const auto to = static_cast<std::uint32_t>(both);
    const auto barrier = static_cast<std::uint32_t>(both >> 32);
    if (w.checker != nullptr) w.checker->mute(true);
    std::byte* p =
        locate(w, u, l, Space::kGlobal, kSharedWindow | to, x.bytes, kReduce ? Intent::kAtomic : Intent::kStore);
    if (w.checker != nullptr) w.checker->mute(false);
    Cta* const home = cta_of(w, barrier);
    if (w.checker != nullptr && p != nullptr && home != nullptr) {
      const Shadow::Copy copy = home->checker->copy_begins(barrier & kRankOffset);
      cta_of(w, to)->checker->engine_write(w, u, copy, (to & kRankOffset) - w.shared_base, x.bytes, kReduce);
    }
    if (p == nullptr && w.checker == nullptr) return nullptr;
    if (p != nullptr) {
      std::uint32_t v[4] = {};
      for (unsigned i = 0; i < x.bytes / 4u; ++i) v[i] = fetch_raw(w, x.src[0], i, i)[l];
      if constexpr (kReduce) {
        std::uint64_t value = v[0];
        if (x.bytes == 8) value |= std::uint64_t{v[1]} << 32;
        reduce(x, p, value);
      } else {
        std::memcpy(p, v, x.bytes);
      }
    }
    if (!complete_bytes(w, u, barrier, x.bytes)) return nullptr;
  }
  return u + 1;
}

}  // namespace

Cta* cta_of(const Warp& w, std::uint32_t address) {
  auto& ctas = w.cta->cluster->ctas;
  const std::uint32_t rank = address >> kRankShift;
  return rank < ctas.size() ? &ctas[rank] : nullptr;
}

bool names_another(const Warp& w, std::uint32_t address) {
  return address >> kRankShift != w.cta->rank;
}

std::string no_such_cta(const Warp& w, std::uint32_t address) {
  return "CTA rank " + std::to_string(address >> kRankShift) + " of a cluster of " +
         std::to_string(w.cta->cluster->ctas.size());
}

void note_remote(Warp& w, const Uop* u, unsigned lane, Cta& target, std::uint32_t address, unsigned bytes,
                 Intent intent) {
  const bool gone = std::none_of(target.warps.begin(), target.warps.end(), [](const Warp& o) { return o.live != 0; });
  if (gone && !w.checker->again(u, "access to a CTA that has exited", w)) {
    w.checker->found(
        w, u, lane, "access to a CTA that has exited",
        "the CTA of rank " + std::to_string(target.rank) + " has exited, and its shared memory may be another's");
  }
  // The barrier that this warp can arrive at next is the first that is behind the access.
  const std::uint64_t phase = w.cta->cluster->phase;
  const std::uint64_t until = w.cluster_owed != 0 && w.cluster_phase > phase ? phase + 2 : phase + 1;
  if (until > target.touched_until) {
    target.touched_until = until;
    target.touched_pc = static_cast<std::uint32_t>(u - w.code);
    target.touched_by = &w;
  }
  if (bytes != 0) target.checker->shared_access(w, u, lane, (address & kRankOffset) - w.shared_base, bytes, intent);
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

bool bind_cluster(const Inst& inst, Binding& b) {
  Detail& x = b.detail;
  switch (inst.op) {
    case Op::UCGABAR_ARV: x.body = arrive; return true;
    case Op::UCGABAR_WAIT: x.body = wait; return true;
    case Op::STAS:
      bind_size(inst, b);
      if (x.address_count != 1 || x.src_count != 1) b.refuse("operands");
      x.body = store_remote<false>;
      return true;
    case Op::REDAS:
      x.bytes = inst.mod(Axis::kType) == Tok::k64 ? 8 : 4;
      if (x.address_count != 1 || x.src_count != 1) b.refuse("operands");
      bind_reduction(inst, b);
      x.body = store_remote<true>;
      return true;
    default: return false;
  }
}

}  // namespace nervanagpu::sass::emulate
