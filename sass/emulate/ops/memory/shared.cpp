// LDS and STS. Full warps inside bounds go through vector code; everything else lane by lane through locate().
#include <bit>
#include <cstdint>
#include <cstring>

#include "sass/emulate/machine/access_lane.h"
#include "sass/emulate/ops/families.h"
#include "sass/emulate/ops/memory/memory_forms.h"
#include "sass/emulate/state/cluster.h"
#include "sass/emulate/state/warp.h"

#include "sass/emulate/ops/target_begin.h"

#include "sass/emulate/lanes/bits.h"
#include "sass/emulate/lanes/lanes.h"
#include "sass/emulate/uop/words.h"

namespace nervanagpu::sass::emulate::NG_TARGET {
namespace {

typedef u32 Quad __attribute__((vector_size(16)));

inline Quad load_quad(const void* p) {
  Quad v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
inline void store_quad(void* p, Quad v) {
  std::memcpy(p, &v, sizeof v);
}

// Offsets into the CTA's shared memory; true if all are inside and aligned.
bool offsets(Warp& w, const Detail& x, Row32 out) {
  const Address& ad = x.address[0];
  ConstRow base = w.row(ad.base);
  const u32 add = w.ureg[ad.ureg] + static_cast<u32>(ad.offset) - w.shared_base - (w.cta->rank << kRankShift);
  const u32 bytes = x.bytes;
  if (w.shared_bytes < bytes) return false;
  const u32 last = w.shared_bytes - bytes;
  const u32 low = bytes - 1;
  const u32 shift = ad.shift;
  u32 bad = 0;
  for (unsigned l = 0; l < kLanes; ++l) {
    const u32 at = (base[l] << shift) + add;
    out[l] = at;
    bad |= (at > last ? 1u : 0u) | (at & low);
  }
  return bad == 0;
}

const Uop* lds_slow(Warp& w, const Uop* u) {
  const Detail& x = *u->x;
  const unsigned parts = x.bytes <= 4 ? 1 : x.bytes / 4u;
  for (unsigned l = 0; l < kLanes; ++l) {
    if ((w.exec >> l & 1) == 0) continue;
    u32 v[4] = {};
    const std::byte* p = locate(w, u, l, Space::kShared, lane_address(w, x.address[0], l), x.bytes, Intent::kLoad);
    if (p != nullptr) {
      std::memcpy(v, p, x.bytes);
    } else if (w.checker == nullptr) {
      return nullptr;
    } else {
      for (u32& part : v) part = kPoison;
    }
    // A destination may be the address: lanes do not see each other's.
    v[0] = p != nullptr ? widen(x, v[0]) : v[0];
    for (unsigned i = 0; i < parts; ++i) w.row(static_cast<std::uint16_t>(x.dst + i))[l] = v[i];
  }
  return u + 1;
}

// Notes every access of a vector path in checked mode; runs of lanes at one address count once.
void note_all(Warp& w, const Uop* u, ConstRow at, unsigned bytes, Intent intent) {
  for (unsigned l = 0; l < kLanes; ++l) {
    // Lanes of a tile read the same rows: the neighbour's, or those of the lane 4 or 8 before.
    if (intent == Intent::kLoad && l > 0) {
      if (at[l] == at[l - 1] || (l >= 4 && at[l] == at[l - 4]) || (l >= 8 && at[l] == at[l - 8])) continue;
    }
    note_shared(w, u, l, at[l] + w.shared_base, bytes, intent);
  }
}

template <unsigned kBytes>
const Uop* lds(Warp& w, const Uop* u) {
  const Detail& x = *u->x;
  Row32 at = w.scratch[0].data();
  if (w.exec != kAllLanes || !offsets(w, x, at)) return lds_slow(w, u);
  if (w.checker != nullptr) note_all(w, u, at, kBytes, Intent::kLoad);
  const std::byte* from = w.shared;
  Row32 d = w.row(x.dst);
  if constexpr (kBytes == 4) {
    for (unsigned l = 0; l < kLanes; ++l) std::memcpy(&d[l], from + at[l], 4);
  } else if constexpr (kBytes == 8) {
    for (unsigned l = 0; l < kLanes; ++l) {
      std::memcpy(&d[l], from + at[l], 4);
      std::memcpy(&d[kLanes + l], from + at[l] + 4, 4);
    }
  } else {
    for (unsigned l = 0; l < kLanes; l += 4) {
      const Quad q0 = load_quad(from + at[l]);
      const Quad q1 = load_quad(from + at[l + 1]);
      const Quad q2 = load_quad(from + at[l + 2]);
      const Quad q3 = load_quad(from + at[l + 3]);
      const Quad a = __builtin_shufflevector(q0, q1, 0, 4, 1, 5);
      const Quad b = __builtin_shufflevector(q2, q3, 0, 4, 1, 5);
      const Quad c = __builtin_shufflevector(q0, q1, 2, 6, 3, 7);
      const Quad e = __builtin_shufflevector(q2, q3, 2, 6, 3, 7);
      store_quad(d + l, __builtin_shufflevector(a, b, 0, 1, 4, 5));
      store_quad(d + kLanes + l, __builtin_shufflevector(a, b, 2, 3, 6, 7));
      store_quad(d + 2 * kLanes + l, __builtin_shufflevector(c, e, 0, 1, 4, 5));
      store_quad(d + 3 * kLanes + l, __builtin_shufflevector(c, e, 2, 3, 6, 7));
    }
  }
  return u + 1;
}

const Uop* sts_slow(Warp& w, const Uop* u) {
  const Detail& x = *u->x;
  const unsigned parts = x.bytes <= 4 ? 1 : x.bytes / 4u;
  for (unsigned l = 0; l < kLanes; ++l) {
    if ((w.exec >> l & 1) == 0) continue;
    std::byte* p = locate(w, u, l, Space::kShared, lane_address(w, x.address[0], l), x.bytes, Intent::kStore);
    if (p == nullptr) {
      if (w.checker == nullptr) return nullptr;
      continue;
    }
    u32 v[4];
    for (unsigned i = 0; i < parts; ++i) v[i] = fetch_raw(w, x.src[0], 1, i)[l];
    std::memcpy(p, v, x.bytes);
  }
  return u + 1;
}

template <unsigned kBytes>
const Uop* sts(Warp& w, const Uop* u) {
  const Detail& x = *u->x;
  Row32 at = w.scratch[0].data();
  if (w.exec != kAllLanes || !offsets(w, x, at)) return sts_slow(w, u);
  if (w.checker != nullptr) note_all(w, u, at, kBytes, Intent::kStore);
  std::byte* to = w.shared;
  ConstRow rows[4];
  for (unsigned i = 0; i < kBytes / 4; ++i) rows[i] = fetch_raw(w, x.src[0], 1 + i, i);
  for (unsigned l = 0; l < kLanes; ++l) {
    u32 v[kBytes / 4];
    for (unsigned i = 0; i < kBytes / 4; ++i) v[i] = rows[i][l];
    std::memcpy(to + at[l], v, kBytes);
  }
  return u + 1;
}

}  // namespace

bool bind_shared(const Inst& inst, Binding& b) {
  Detail& x = b.detail;
  if (inst.op != Op::LDS && inst.op != Op::STS) return false;
  bind_size(inst, b);
  if (x.address_count != 1) b.refuse("operands");
  if (inst.op == Op::LDS) {
    x.body = x.bytes == 4 ? lds<4> : x.bytes == 8 ? lds<8> : x.bytes == 16 ? lds<16> : lds_slow;
  } else {
    if (x.src_count != 1) b.refuse("operands");
    x.body = x.bytes == 4 ? sts<4> : x.bytes == 8 ? sts<8> : x.bytes == 16 ? sts<16> : sts_slow;
  }
  return true;
}

}  // namespace nervanagpu::sass::emulate::NG_TARGET

#include "sass/emulate/ops/target_end.h"
