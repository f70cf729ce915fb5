// From an address of the program to the bytes after it, or the reason why there are none.
#include <algorithm>

#include "sass/emulate/checked/check.h"
#include "sass/emulate/machine/access_lane.h"
#include "sass/emulate/state/cluster.h"
#include "sass/emulate/state/grid.h"
#include "sass/isa/codec/hex.h"

namespace nervanagpu::sass::emulate {
namespace {

std::string verb(Intent intent, unsigned bytes) {
  const char* what = intent == Intent::kLoad ? "load" : intent == Intent::kAtomic ? "atomic" : "store";
  return std::to_string(bytes) + "-byte " + what;
}

// Misaligned, or outside: a finding in checked mode, else the end of the grid.
std::byte* refuse(Warp& w, const Uop* u, unsigned lane, const char* what, std::string detail) {
  if (w.checker != nullptr) {
    w.checker->found(w, u, lane, what, std::move(detail));
  } else {
    fault(w, u, lane, std::string(what) + ": " + detail);
  }
  return nullptr;
}

std::byte* outside(Warp& w, const Uop* u, unsigned lane, Space space, std::uint64_t address, unsigned bytes,
                   Intent intent) {
  if (w.checker != nullptr && w.checker->again(u, "out of bounds", w)) return nullptr;
  std::string detail = verb(intent, bytes);
  if (space == Space::kShared && cta_of(w, static_cast<std::uint32_t>(address)) == nullptr) {
    detail += " at shared address " + hex(address) + ", of " + no_such_cta(w, static_cast<std::uint32_t>(address));
  } else if (space == Space::kShared && names_another(w, static_cast<std::uint32_t>(address))) {
    detail += " at shared address " + hex(address) + " in another CTA, which only generic addresses reach";
  } else if (space == Space::kShared) {
    detail += " at shared address " + hex(address) + "; the CTA has [" + hex(w.shared_base) + ", " +
              hex(w.shared_base + w.shared_bytes) + ")";
  } else if (space == Space::kLocal) {
    detail += " at local address " + hex(address) + "; the thread has [0x0, " + hex(w.local_bytes) + ")";
  } else {
    detail += " at " + hex(address);
    const Memory::Range near = w.cta->grid->owner->nearest(address);
    if (near.start == 0) {
      detail += "; nothing is allocated";
    } else {
      const std::uint64_t end = near.start + near.bytes;
      detail += "; the nearest allocation is [" + hex(near.start) + ", " + hex(end) + ")";
      if (address >= near.start && address < end) {
        detail += ", " + std::to_string(address - near.start) + " bytes from its start";
      }
    }
  }
  return refuse(w, u, lane, "out of bounds", std::move(detail));
}

}  // namespace

std::byte* locate(Warp& w, const Uop* u, unsigned lane, Space space, std::uint64_t address, unsigned bytes,
                  Intent intent) {
  const bool generic = space == Space::kGlobal;
  if (generic && (address >> 32) == (kSharedWindow >> 32)) {
    space = Space::kShared;
    address &= 0xffffffffu;
  }
  if (space == Space::kGlobal && (address >> 32) == (kLocalWindow >> 32)) {
    space = Space::kLocal;
    address &= 0xffffffffu;
  }
  if (space == Space::kGlobal && address >> 26 == 0) {
    const auto window = static_cast<std::uint32_t>(address) & 0xff00'0000u;
    if (window == kSharedWindow32) space = Space::kShared;
    if (window == kLocalWindow32) space = Space::kLocal;
    if (space != Space::kGlobal) address &= 0xff'ffffu;
  }
  if ((address & (bytes - 1)) != 0) {
    if (w.checker != nullptr && w.checker->again(u, "misaligned", w)) return nullptr;
    return refuse(w, u, lane, "misaligned", verb(intent, bytes) + " at " + hex(address));
  }
  switch (space) {
    case Space::kShared: {
      const auto at = static_cast<std::uint32_t>(address);
      const std::uint64_t offset = std::uint64_t{at & kRankOffset} - w.shared_base;
      if (address > 0xffffffffu || offset >= w.shared_bytes || offset + bytes > w.shared_bytes) break;
      Cta* const cta = generic ? cta_of(w, at) : w.cta;
      if (cta == nullptr || (!generic && names_another(w, at))) break;
      if (cta != w.cta) {
        if (w.checker != nullptr) note_remote(w, u, lane, *cta, at, bytes, intent);
        return cta->shared.data() + offset;
      }
      if (w.checker != nullptr) note_shared(w, u, lane, at & kRankOffset, bytes, intent);
      return w.shared + offset;
    }
    case Space::kLocal:
      if (address + bytes > w.local_bytes) break;
      return w.local + std::size_t{lane} * w.local_bytes + address;
    case Space::kGlobal: {
      if (std::byte* p = w.memory->touch(address, bytes)) {
        if (w.checker != nullptr) w.checker->global_access(w, u, lane, address, bytes, intent);
        return p;
      }
      // The parameters, for reading.
      const std::uint64_t offset = address - kParamWindow;
      const std::uint64_t room = w.cta->grid->kernel->param_bytes;
      if (intent == Intent::kLoad && offset + bytes <= room && offset < room) {
        return const_cast<std::byte*>(w.constants) + info(w.cta->grid->kernel->arch).param_base + offset;
      }
      // And c[0x3].
      const SharedBanks* banks = w.cta->grid->kernel->banks.get();
      const std::uint64_t at = address - kConstantWindow;
      const std::uint64_t most = banks == nullptr ? 0 : banks->constant3.size();
      if (intent == Intent::kLoad && at < most && at + bytes <= most) {
        return const_cast<std::byte*>(w.constants) + std::size_t{kConstantBank} * bank_slot(3) + at;
      }
      break;
    }
  }
  return outside(w, u, lane, space, address, bytes, intent);
}

void note_remote(Warp& w, const Uop* u, unsigned lane, Cta& target, std::uint32_t address, unsigned bytes,
                 Intent intent) {
  const bool gone = std::none_of(target.warps.begin(), target.warps.end(), [](const Warp& o) { return o.live != 0; });
  if (gone && !w.checker->again(u, "access to a CTA that has exited", w)) {
    w.checker->found(
        w, u, lane, "access to a CTA that has exited",
        "the CTA of rank " + std::to_string(target.rank) + " has exited, and its shared memory may be another's");
  }
  // The barrier that this warp can arrive at next is the first that is after the access.
  const std::uint64_t phase = w.cta->cluster->phase;
  const std::uint64_t until = w.cluster_owed != 0 && w.cluster_phase > phase ? phase + 2 : phase + 1;
  if (until > target.touched_until) {
    target.touched_until = until;
    target.touched_pc = static_cast<std::uint32_t>(u - w.code);
    target.touched_by = &w;
  }
  if (bytes != 0) target.checker->shared_access(w, u, lane, (address & kRankOffset) - w.shared_base, bytes, intent);
}

void note_shared(Warp& w, const Uop* u, unsigned lane, std::uint32_t address, unsigned bytes, Intent intent) {
  w.checker->shared_access(w, u, lane, address - w.shared_base, bytes, intent);
}

}  // namespace nervanagpu::sass::emulate
