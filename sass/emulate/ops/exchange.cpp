// Between the lanes of a warp: SHFL, MATCH, REDUX, R2UR.
#include <algorithm>
#include <bit>
#include <cstdint>

#include "sass/emulate/lanes/lanes.h"
#include "sass/emulate/ops/families.h"
#include "sass/emulate/uop/words.h"

namespace nervanagpu::sass::emulate {
namespace {

enum ShuffleKind : std::uint8_t { kFromIndex, kFromUp, kFromDown, kFromPartner };

const Uop* shfl(Warp& w, const Uop* u) {
  const Detail& x = *u->x;
  ConstRow a = fetch_raw(w, x.src[0], 0);
  ConstRow b = fetch_raw(w, x.src[1], 1);
  ConstRow c = fetch_raw(w, x.src[2], 2);
  u32 out[kLanes];
  u32 inside = 0;
  for (unsigned l = 0; l < kLanes; ++l) {
    const int lane = static_cast<int>(l);
    const int amount = static_cast<int>(b[l] & 31);
    const int clamp = static_cast<int>(c[l] & 31);
    const int segment = static_cast<int>(c[l] >> 8 & 31);
    const int last = (lane & segment) | (clamp & ~segment);
    int from = (lane & segment) | (amount & ~segment);  // kFromIndex
    bool ok = from <= last;
    switch (x.kind) {
      case kFromUp:
        from = lane - amount;
        ok = from >= last;
        break;
      case kFromDown:
        from = lane + amount;
        ok = from <= last;
        break;
      case kFromPartner:
        from = lane ^ amount;
        ok = from <= last;
        break;
      default: break;
    }
    if (!ok) from = lane;
    if (ok) inside |= 1u << l;
    out[l] = a[from & 31];
  }
  blend(w.row(x.dst), out, w.exec);
  if (x.pdst_count > 0) set_predicate(w, x.pdst[0], inside);
  return u + 1;
}

const Uop* match(Warp& w, const Uop* u) {
  const Detail& x = *u->x;
  ConstRow lo = fetch_raw(w, x.src[0], 0);
  ConstRow hi = fetch_raw(w, x.src[0], 1, x.flag2 ? 1 : 0);
  u32 out[kLanes] = {};
  for (unsigned l = 0; l < kLanes; ++l) {
    if ((w.exec >> l & 1) == 0) continue;
    for (unsigned m = 0; m < kLanes; ++m) {
      if ((w.exec >> m & 1) != 0 && lo[m] == lo[l] && hi[m] == hi[l]) out[l] |= 1u << m;
    }
  }
  if (x.flag) {  // ALL: the whole mask or nothing
    const bool all = out[std::countr_zero(w.exec)] == w.exec;
    for (u32& m : out) m = all ? w.exec : 0;
    if (x.pdst_count > 0) set_predicate(w, x.pdst[0], all ? kAllLanes : 0);
  }
  blend(w.row(x.dst), out, w.exec);
  return u + 1;
}

enum ReduceKind : std::uint8_t { kSum, kMin, kMax, kAnd, kOr, kXor };

const Uop* redux(Warp& w, const Uop* u) {
  const Detail& x = *u->x;
  ConstRow a = fetch_raw(w, x.src[0], 0);
  bool first = true;
  u32 r = 0;
  const auto less = [&](u32 p, u32 q) {
    return x.is_signed ? static_cast<std::int32_t>(p) < static_cast<std::int32_t>(q) : p < q;
  };
  for (unsigned l = 0; l < kLanes; ++l) {
    if ((w.exec >> l & 1) == 0) continue;
    const u32 v = a[l];
    if (first) {
      r = v;
      first = false;
      continue;
    }
    switch (x.kind) {
      case kSum: r += v; break;
      case kMin: r = less(v, r) ? v : r; break;
      case kMax: r = less(r, v) ? v : r; break;
      case kAnd: r &= v; break;
      case kOr: r |= v; break;
      default: r ^= v;
    }
  }
  w.ureg[x.dst] = r;
  return u + 1;
}

// The value of the first executing lane; the predicate: of which lanes it is not the value. x.flag: .OR, besides those that
// had the predicate before. ptxas makes a loop of it that serves the lanes with equal values together, until there are none.
const Uop* r2ur(Warp& w, const Uop* u) {
  const Detail& x = *u->x;
  ConstRow a = fetch_raw(w, x.src[0], 0);
  const u32 first = a[std::countr_zero(w.exec)];
  if (x.pdst_count > 0) {
    u32 others = x.flag ? w.pred[x.pdst[0]] : 0;
    for (unsigned l = 0; l < kLanes; ++l) others |= static_cast<u32>(a[l] != first) << l;
    set_predicate(w, x.pdst[0], others);
  }
  w.ureg[x.dst] = first;
  return u + 1;
}

}  // namespace

bool bind_exchange(const Inst& inst, Binding& b) {
  Detail& x = b.detail;
  switch (inst.op) {
    case Op::SHFL:
      x.kind = says(inst, "UP")     ? kFromUp
               : says(inst, "DOWN") ? kFromDown
               : says(inst, "BFLY") ? kFromPartner
                                    : kFromIndex;
      if (x.src_count != 3) b.refuse("operands");
      x.body = shfl;
      return true;
    case Op::MATCH:
      x.flag = says(inst, "ALL");
      x.flag2 = says(inst, "U64");
      x.body = match;
      return true;
    case Op::REDUX:
      x.kind = says(inst, "MIN")   ? kMin
               : says(inst, "MAX") ? kMax
               : says(inst, "SUM") ? kSum
               : says(inst, "OR")  ? kOr
               : says(inst, "XOR") ? kXor
                                   : kAnd;  // AND is not written
      x.is_signed = says(inst, "S32");
      if (!x.to_uniform) b.refuse("operands");
      x.body = redux;
      return true;
    case Op::R2UR:
      x.flag = says(inst, "OR");
      x.body = r2ur;
      return true;
    default: return false;
  }
}

}  // namespace nervanagpu::sass::emulate
