// XMAD of sm_50 .. sm_62: 16 x 16 + 32 bits, the building block of every product.
#include <algorithm>
#include <bit>
#include <cstdint>

#include "sass/emulate/ops/families.h"
#include "sass/emulate/state/warp.h"
#include "sass/isa/rows/row.h"

#include "sass/emulate/ops/target_begin.h"

#include "sass/emulate/lanes/lanes.h"
#include "sass/emulate/ops/cc.h"
#include "sass/emulate/uop/words.h"

namespace nervanagpu::sass::emulate::NG_TARGET {
namespace {

enum Addend : unsigned { kWhole, kLow, kHigh, kSignFix, kPlusB };

// How XMAD reads its factors: the shift to the half, and 0x8000 where it is signed.
struct Half {
  u32 shift = 0;
  u32 sign = 0;
  [[nodiscard]] u32 of(u32 v) const { return ((v >> shift & 0xffff) ^ sign) - sign; }
};

Half half_of(const Src& s, bool is_signed) {
  return {s.part * 8u, is_signed ? 0x8000u : 0};
}

inline u32 xmad_addend(unsigned mode, u32 a, u32 b, u32 c) {
  switch (mode) {
    case kLow: return c & 0xffff;
    case kHigh: return c >> 16;
    case kPlusB: return c + (b << 16);
    // The signed middle products of a 32 x 32 product are added as if they were unsigned; this takes back what that adds
    // to the upper half: 2^16 for each negative one, which is that of a negative upper and a lower half that is not 0.
    case kSignFix:
      return c - (static_cast<i32>(a) < 0 && (b & 0xffff) != 0 ? 0x10000u : 0) -
             (static_cast<i32>(b) < 0 && (a & 0xffff) != 0 ? 0x10000u : 0);
    default: return c;
  }
}

// kind: the addend; flag: .PSL; flag2: .MRG; imm, imm2: signedness of the factors.
template <unsigned kAddend, bool kShift, bool kMerge>
const Uop* xmad(Warp& w, const Uop* u) {
  const Detail& x = *u->x;
  const Half ha = half_of(x.src[0], x.imm != 0);
  const Half hb = half_of(x.src[1], x.imm2 != 0);
  return map(w, u, [=](u32 a, u32 b, u32 c) {
    u32 product = ha.of(a) * hb.of(b);
    if (kShift) product <<= 16;
    const u32 sum = product + xmad_addend(kAddend, a, b, c);
    return kMerge ? (sum & 0xffff) | b << 16 : sum;
  });
}

const Uop* xmad_any(Warp& w, const Uop* u) {
  const Detail& x = *u->x;
  const Half ha = half_of(x.src[0], x.imm != 0);
  const Half hb = half_of(x.src[1], x.imm2 != 0);
  ConstRow a = fetch(w, x.src[0], 0);
  ConstRow b = fetch(w, x.src[1], 1);
  ConstRow c = fetch(w, x.src[2], 2);
  const u32 carry_in = x.extended ? w.pred[preds::kCarry] : 0;
  u32 out[kLanes];
  Flags f;
  for (unsigned l = 0; l < kLanes; ++l) {
    u32 product = ha.of(a[l]) * hb.of(b[l]);
    if (x.flag) product <<= 16;
    const u32 addend = xmad_addend(x.kind, a[l], b[l], c[l]);
    const u64 sum = u64{product} + addend + (carry_in >> l & 1);
    const u32 low = static_cast<u32>(sum);
    out[l] = x.flag2 ? (low & 0xffff) | b[l] << 16 : low;
    f.carry |= (sum >> 32 != 0 ? 1u : 0u) << l;
    f.overflow |= ((product ^ low) & (addend ^ low)) >> 31 << l;
  }
  if (x.kind2 != 0) {
    const Flags g = flags_of(w, out);
    set_cc(w, {g.zero, g.sign, f.carry, f.overflow});
  }
  Row32 o = result(w, x);
  std::copy_n(out, kLanes, o);
  finish(w, x);
  return u + 1;
}

}  // namespace

bool bind_xmad(const Inst& inst, Binding& b) {
  if (inst.op != Op::XMAD) return false;
  Detail& x = b.detail;
  const Tok type = inst.mod(Axis::kType);
  x.imm = type == Tok::S16_U16 || type == Tok::S16_S16 ? 1 : 0;
  x.imm2 = type == Tok::U16_S16 || type == Tok::S16_S16 ? 1 : 0;
  for (unsigned i = 0; i < 2; ++i) x.src[i].part = x.src[i].sub == Tok::H1 ? 2 : 0;
  switch (inst.mod(Axis::kMode)) {
    case Tok::CLO: x.kind = kLow; break;
    case Tok::CHI: x.kind = kHigh; break;
    case Tok::CSFU: x.kind = kSignFix; break;
    case Tok::CBCC: x.kind = kPlusB; break;
    default: x.kind = kWhole;
  }
  if (x.kind == kSignFix && (type != Tok::S16_S16 || x.src[0].part == 0 || x.src[1].part == 0)) {
    b.refuse(".CSFU of other than the signed upper halves");
  }
  x.flag = inst.has(Axis::kWide, Tok::PSL);
  x.flag2 = inst.has(Axis::kMode2, Tok::MRG);
  x.kind2 = sets_cc(inst) ? 1 : 0;
  b.knows_cc = true;
  const unsigned key = x.kind | (x.flag ? 8u : 0) | (x.flag2 ? 16u : 0) | (x.kind2 != 0 || x.extended ? 32u : 0);
  switch (key) {
    case kWhole: x.body = xmad<kWhole, false, false>; break;
    case kHigh: x.body = xmad<kHigh, false, false>; break;
    case kWhole | 8: x.body = xmad<kWhole, true, false>; break;
    case kWhole | 16: x.body = xmad<kWhole, false, true>; break;
    case kPlusB | 8: x.body = xmad<kPlusB, true, false>; break;
    default: x.body = xmad_any;
  }
  return true;
}

}  // namespace nervanagpu::sass::emulate::NG_TARGET

#include "sass/emulate/ops/target_end.h"
