// What handlers are made of: fetching operands as rows of 32 lanes, loops over lanes, and writing results under the
// execution mask. Everything is plain C++ loops of 32 that compilers turn into vectors.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "sass/emulate/state/warp.h"

// A loop over the lanes. Rows may be the same row but never overlap otherwise, so no iteration depends on another.
#if defined(__clang__)
// Where it cannot, the loop stays scalar, which is right too.
#pragma clang diagnostic ignored "-Wpass-failed"
#define NG_LANES(l) _Pragma("clang loop vectorize(assume_safety)") for (unsigned l = 0; l < kLanes; ++l)
#else
#define NG_LANES(l) _Pragma("GCC ivdep") for (unsigned l = 0; l < kLanes; ++l)
#endif

namespace nervanagpu::sass::emulate {
namespace {

using Row32 = std::uint32_t*;
using ConstRow = const std::uint32_t*;

[[maybe_unused]] inline std::uint32_t scalar(const Warp& w, const Src& s, unsigned part = 0) {
  switch (s.kind) {
    case Src::Kind::kImm: return part == 0 ? s.bits : s.bits_hi;
    case Src::Kind::kConst: {
      std::uint32_t v;
      std::memcpy(&v, w.constants + s.bits + 4 * part, 4);
      return v;
    }
    case Src::Kind::kUniform: return w.ureg[s.bits + part];
    case Src::Kind::kDescribed: return w.described[part];
    default: return 0;
  }
}

// The 32 values of a source, in its register row or in scratch row `slot`. `part` 1 is the upper register of a pair,
// which no transformation touches.
[[maybe_unused]] inline ConstRow fetch_raw(Warp& w, const Src& s, unsigned slot, unsigned part = 0) {
  if (s.kind == Src::Kind::kRow) return w.row(static_cast<std::uint16_t>(s.row + part));
  const std::uint32_t v = scalar(w, s, part);
  Row32 out = w.scratch[slot].data();
  NG_LANES(l) out[l] = v;
  return out;
}
[[maybe_unused]] inline ConstRow fetch(Warp& w, const Src& s, unsigned slot) {
  if (s.plain) return fetch_raw(w, s, slot);
  Row32 out = w.scratch[slot].data();
  if (s.kind == Src::Kind::kRow) {
    ConstRow in = w.row(s.row);
    const std::uint32_t keep = s.keep, flip = s.flip, add = s.add;
    NG_LANES(l) out[l] = ((in[l] & keep) ^ flip) + add;
  } else {
    const std::uint32_t v = ((scalar(w, s) & s.keep) ^ s.flip) + s.add;
    NG_LANES(l) out[l] = v;
  }
  return out;
}

// Scratch rows: 0..7 hold operands, the last of them flags of the lanes, 8..11 results.
inline constexpr unsigned kFlags = 7;
inline constexpr unsigned kResult = 8;

// Where a handler writes register `part` of its result; finish() puts it where it belongs. Handlers may write rows that
// they still read, lane by lane.
[[maybe_unused]] inline Row32 result(Warp& w, const Detail& x, unsigned part = 0) {
  if (x.to_uniform || w.exec != kAllLanes) return w.scratch[kResult + part].data();
  return w.row(static_cast<std::uint16_t>(x.dst + part));
}
[[maybe_unused]] inline void blend(Row32 to, ConstRow from, std::uint32_t mask) {
  NG_LANES(l) to[l] = (mask >> l & 1) != 0 ? from[l] : to[l];
}
[[maybe_unused]] inline void finish(Warp& w, const Detail& x, unsigned parts = 1) {
  if (x.to_uniform) {
    for (unsigned p = 0; p < parts; ++p) w.ureg[x.dst + p] = w.scratch[kResult + p][0];
  } else if (w.exec != kAllLanes) {
    for (unsigned p = 0; p < parts; ++p) {
      blend(w.row(static_cast<std::uint16_t>(x.dst + p)), w.scratch[kResult + p].data(), w.exec);
    }
  }
}

// The low bits of a row as a mask, and back.
[[maybe_unused]] inline std::uint32_t pack(ConstRow flags) {
  std::uint32_t m = 0;
  for (unsigned l = 0; l < kLanes; ++l) m |= (flags[l] & 1) << l;
  return m;
}
[[maybe_unused]] inline void unpack(Row32 to, std::uint32_t mask) {
  NG_LANES(l) to[l] = mask >> l & 1;
}
// In the scratch row of flags.
[[maybe_unused]] inline Row32 unpacked(Warp& w, std::uint32_t mask) {
  Row32 to = w.scratch[kFlags].data();
  unpack(to, mask);
  return to;
}

[[maybe_unused]] inline std::uint32_t predicate(const Warp& w, PredUse p) {
  return p.inv ? ~w.pred[p.index] : w.pred[p.index];
}
[[maybe_unused]] inline void set_predicate(Warp& w, std::uint8_t index, std::uint32_t mask) {
  std::uint32_t& p = w.pred[index];
  if (index >= preds::kUniform) {
    p = (mask & 1) != 0 ? kAllLanes : 0;
  } else {
    p = (p & ~w.exec) | (mask & w.exec);
  }
}

// The carry in of .X: its first predicate source.
[[maybe_unused]] inline std::uint32_t x_carry(const Warp& w, const Detail& x) {
  return x.puse_count > 0 ? predicate(w, x.puse[0]) : 0;
}

// base + ureg + offset of one lane.
[[maybe_unused]] inline std::uint64_t lane_address(const Warp& w, const Address& ad, unsigned l) {
  ConstRow base = w.row(ad.base);
  std::uint64_t uniform = w.ureg[ad.ureg];
  if (ad.uwidth == 2) uniform |= std::uint64_t{w.ureg[ad.ureg + 1]} << 32;
  const std::uint64_t offset = uniform + static_cast<std::uint64_t>(std::int64_t{ad.offset});
  if (!ad.wide) {
    const std::uint64_t at = (std::uint64_t{base[l]} << ad.shift) + offset;
    return ad.uwidth == 2 ? at : at & 0xffffffffu;
  }
  return (std::uint64_t{base[kLanes + l]} << 32 | base[l]) + offset;
}

// One result from each lane's sources: f(a), f(a, b) or f(a, b, c).
template <class F, unsigned... kSource>
inline const Uop* map(Warp& w, const Uop* u, F f, std::integer_sequence<unsigned, kSource...> /*all*/) {
  const Detail& x = *u->x;
  const ConstRow in[] = {fetch(w, x.src[kSource], kSource)...};
  Row32 o = result(w, x);
  NG_LANES(l) o[l] = f(in[kSource][l]...);
  finish(w, x);
  return u + 1;
}
template <class F>
inline const Uop* map(Warp& w, const Uop* u, F f) {
  using Lane = std::uint32_t;
  constexpr unsigned kSources = std::is_invocable_v<F, Lane> ? 1 : std::is_invocable_v<F, Lane, Lane> ? 2 : 3;
  return map(w, u, f, std::make_integer_sequence<unsigned, kSources>{});
}

// A predicate of two sources, as a mask.
template <class F>
inline std::uint32_t test2(Warp& w, const Detail& x, F f) {
  ConstRow a = fetch(w, x.src[0], 0);
  ConstRow b = fetch(w, x.src[1], 1);
  Row32 o = w.scratch[kResult].data();
  NG_LANES(l) o[l] = f(a[l], b[l]) ? 1u : 0u;
  return pack(o);
}

}  // namespace
}  // namespace nervanagpu::sass::emulate
