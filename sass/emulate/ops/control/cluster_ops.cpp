// What the CTAs of a cluster do together: the cluster barrier, STAS and REDAS.
#include <cstring>

#include "sass/emulate/checked/check.h"
#include "sass/emulate/engine/mbarrier.h"
#include "sass/emulate/lanes/lanes.h"
#include "sass/emulate/machine/access_lane.h"
#include "sass/emulate/machine/barriers.h"
#include "sass/emulate/ops/families.h"
#include "sass/emulate/ops/memory/memory_forms.h"
#include "sass/emulate/state/cluster.h"
#include "sass/emulate/state/grid.h"

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
    split_others(w, here);
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
