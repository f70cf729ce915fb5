// Logic, shifts, byte permutation and bit counting; the uniform forms too.
#include <algorithm>
#include <bit>
#include <cstdint>

#include "sass/emulate/ops/families.h"
#include "sass/emulate/state/warp.h"
#include "sass/isa/rows/row.h"

#include "sass/emulate/ops/target_begin.h"

#include "sass/emulate/lanes/bits.h"
#include "sass/emulate/lanes/lanes.h"
#include "sass/emulate/uop/words.h"

namespace nervanagpu::sass::emulate::NG_TARGET {
namespace {

const Uop* lop3(Warp& w, const Uop* u) {
  const Detail& x = *u->x;
  ConstRow a = fetch(w, x.src[0], 0);
  ConstRow b = fetch(w, x.src[1], 1);
  ConstRow c = fetch(w, x.src[2], 2);
  const u32 lut = x.imm;
  const bool test = x.pdst_count > 0 && x.pdst[0] != preds::kDump;
  Row32 o = test ? w.scratch[kResult].data() : result(w, x);
  switch (lut) {
    case 0xc0: NG_LANES(l) o[l] = a[l] & b[l]; break;
    case 0xfc: NG_LANES(l) o[l] = a[l] | b[l]; break;
    case 0x3c: NG_LANES(l) o[l] = a[l] ^ b[l]; break;
    case 0x96: NG_LANES(l) o[l] = a[l] ^ b[l] ^ c[l]; break;
    case 0x80: NG_LANES(l) o[l] = a[l] & b[l] & c[l]; break;
    case 0xfe: NG_LANES(l) o[l] = a[l] | b[l] | c[l]; break;
    case 0xf8: NG_LANES(l) o[l] = a[l] | (b[l] & c[l]); break;
    case 0xea: NG_LANES(l) o[l] = (a[l] & b[l]) | c[l]; break;
    case 0x0f: NG_LANES(l) o[l] = ~a[l]; break;
    case 0x33: NG_LANES(l) o[l] = ~b[l]; break;
    default: NG_LANES(l) o[l] = lut3(lut, a[l], b[l], c[l]);
  }
  if (test) {
    Row32 nonzero = w.scratch[kFlags].data();
    NG_LANES(l) nonzero[l] = o[l] != 0 ? 1 : 0;
    const u32 m = pack(nonzero);
    const u32 with = x.puse_count > 0 ? predicate(w, x.puse[0]) : 0;
    Row32 to = result(w, x);
    if (to != o) std::copy_n(o, kLanes, to);
    set_predicate(w, x.pdst[0], x.flag ? m & with : m | with);
  }
  finish(w, x);
  return u + 1;
}

// Funnel shift of {c, a} by b. kind: bit 0 right, bit 1 upper half, bit 2 64-bit range, bit 3 wrap, bit 4 signed.
enum ShiftKind : std::uint8_t { kRight = 1, kUpper = 2, kLong = 4, kWrap = 8, kArithmetic = 16 };

inline u32 funnel(unsigned kind, u32 lo, u32 amount, u32 hi) {
  const u32 range = (kind & kLong) != 0 ? 64 : 32;
  const u32 n = (kind & kWrap) != 0 ? amount & (range - 1) : std::min(amount, range);
  const u64 v = u64{hi} << 32 | lo;
  u64 r = 0;
  if ((kind & kRight) == 0) {
    r = n > 63 ? 0 : v << n;
  } else if ((kind & kArithmetic) != 0) {
    r = static_cast<u64>(static_cast<i64>(v) >> std::min(n, 63u));
  } else {
    r = n > 63 ? 0 : v >> n;
  }
  return static_cast<u32>((kind & kUpper) != 0 ? r >> 32 : r);
}

template <unsigned kKind>
const Uop* shf_known(Warp& w, const Uop* u) {
  return map(w, u, [](u32 a, u32 n, u32 c) { return funnel(kKind, a, n, c); });
}
const Uop* shf(Warp& w, const Uop* u) {
  const unsigned kind = u->x->kind;
  return map(w, u, [=](u32 a, u32 n, u32 c) { return funnel(kind, a, n, c); });
}

// PRMT: four bytes of {c, a}, chosen by b according to the mode.
inline u32 permute(unsigned mode, u32 a, u32 control, u32 c) {
  const u64 v = u64{c} << 32 | a;
  u32 r = 0;
  for (u32 i = 0; i < 4; ++i) {
    const u32 s = control & 3;
    u32 at = 0;
    bool sign = false;
    switch (mode) {
      case 0:
        at = control >> (4 * i) & 7;
        sign = (control >> (4 * i) & 8) != 0;
        break;
      case 1: at = s + i; break;                  // F4E
      case 2: at = (s - i) & 7; break;            // B4E
      case 3: at = s; break;                      // RC8
      case 4: at = std::max(s, i); break;         // ECL
      case 5: at = std::min(s, i); break;         // ECR
      default: at = 2 * (control & 1) + (i & 1);  // RC16
    }
    u32 byte = static_cast<u32>(v >> (8 * at)) & 0xff;
    if (sign) byte = (byte & 0x80) != 0 ? 0xff : 0;
    r |= byte << (8 * i);
  }
  return r;
}
const Uop* prmt(Warp& w, const Uop* u) {
  const unsigned mode = u->x->kind;
  if (mode == 0) return map(w, u, [](u32 a, u32 b, u32 c) { return permute(0, a, b, c); });
  return map(w, u, [=](u32 a, u32 b, u32 c) { return permute(mode, a, b, c); });
}

const Uop* popc(Warp& w, const Uop* u) {
  return map(w, u, [](u32 a) { return static_cast<u32>(std::popcount(a)); });
}

const Uop* brev(Warp& w, const Uop* u) {
  return map(w, u, [](u32 a) { return reverse(a); });
}

// The number of the highest bit that differs from the sign, -1 if there is none; SH: its distance from bit 31.
inline u32 find_leading(u32 a, bool is_signed, bool shift) {
  if (is_signed && static_cast<i32>(a) < 0) a = ~a;
  if (a == 0) return ~0u;
  const u32 zeros = static_cast<u32>(std::countl_zero(a));
  return shift ? zeros : 31 - zeros;
}
const Uop* flo(Warp& w, const Uop* u) {
  const Detail& x = *u->x;
  const bool is_signed = x.is_signed;
  const bool shift = x.flag;
  const Uop* next = map(w, u, [=](u32 a) { return find_leading(a, is_signed, shift); });
  if (x.pdst_count > 0 && x.pdst[0] != preds::kDump) {
    ConstRow a = fetch(w, x.src[0], 0);
    Row32 p = w.scratch[kFlags].data();
    NG_LANES(l) p[l] = find_leading(a[l], is_signed, shift) != ~0u ? 1 : 0;
    set_predicate(w, x.pdst[0], pack(p));
  }
  return next;
}

// b ones from bit a up.
inline u32 bit_mask(u32 at, u32 width, bool wrap) {
  if (wrap) {
    at &= 31;
    width &= 31;
  }
  const u32 ones = width >= 32 ? ~0u : (1u << width) - 1;
  return at >= 32 ? 0 : ones << at;
}
const Uop* bmsk(Warp& w, const Uop* u) {
  const bool wrap = u->x->flag;
  return map(w, u, [=](u32 a, u32 b) { return bit_mask(a, b, wrap); });
}

// The low b bits of a, extended by sign or zero.
inline u32 extend(u32 a, u32 width, bool is_signed, bool wrap) {
  if (wrap) width &= 31;
  if (width >= 32) return a;
  if (width == 0) return 0;
  const u32 up = a << (32 - width);
  return is_signed ? static_cast<u32>(static_cast<i32>(up) >> (32 - width)) : up >> (32 - width);
}
const Uop* sgxt(Warp& w, const Uop* u) {
  const bool is_signed = u->x->is_signed;
  const bool wrap = u->x->flag;
  return map(w, u, [=](u32 a, u32 b) { return extend(a, b, is_signed, wrap); });
}

void bind_shift(const Inst& inst, Binding& b) {
  Detail& x = b.detail;
  unsigned kind = 0;
  if (says(inst, "R")) kind |= kRight;
  if (says(inst, "HI")) kind |= kUpper;
  if (says(inst, "U64") || says(inst, "S64")) kind |= kLong;
  if (says(inst, "S32") || says(inst, "S64")) kind |= kArithmetic;
  if (says(inst, "W")) kind |= kWrap;
  if (inst.row->encoding == Encoding::k64) {  // the upper word of a left shift, the lower of a right one
    if (inst.mod(Axis::kExtended) != Tok::kNone) b.refuse("a shift in several words");
    if ((kind & kRight) == 0) kind |= kUpper;
  }
  if ((kind & kRight) == 0) kind &= ~static_cast<unsigned>(kArithmetic);
  x.kind = static_cast<std::uint8_t>(kind);
  switch (kind) {
    case 0: x.body = shf_known<0>; break;
    case kRight | kUpper: x.body = shf_known<kRight | kUpper>; break;
    case kRight | kUpper | kArithmetic: x.body = shf_known<kRight | kUpper | kArithmetic>; break;
    default: x.body = shf;
  }
}

void bind_lop3(const Inst& inst, Binding& b) {
  Detail& x = b.detail;
  if (x.src_count != 4) b.refuse("operands");
  x.imm = x.src[3].bits & 0xff;
  // ~ of a source is a change of the table.
  const u32 in[3] = {0xf0, 0xcc, 0xaa};
  u32 lut = 0;
  for (u32 i = 0; i < 8; ++i) {
    u32 from = 0;
    for (unsigned s = 0; s < 3; ++s) {
      const bool bit = (in[s] >> i & 1) != 0;
      from = from << 1 | (bit != (x.src[s].inv || x.src[s].neg) ? 1u : 0u);
    }
    lut |= (x.imm >> from & 1) << i;
  }
  x.imm = lut;
  x.flag = says(inst, "PAND");
  x.body = lop3;
}

void bind_prmt(const Inst& inst, Binding& b) {
  Detail& x = b.detail;
  signs_as_integer(x);
  switch (inst.mod(Axis::kMode)) {
    case Tok::F4E: x.kind = 1; break;
    case Tok::B4E: x.kind = 2; break;
    case Tok::RC8: x.kind = 3; break;
    case Tok::ECL: x.kind = 4; break;
    case Tok::ECR: x.kind = 5; break;
    case Tok::RC16: x.kind = 6; break;
    default: x.kind = 0;
  }
  x.body = prmt;
}

}  // namespace

bool bind_logic(const Inst& inst, Binding& b) {
  Detail& x = b.detail;
  switch (inst.op) {
    case Op::LOP3:
    case Op::ULOP3: bind_lop3(inst, b); return true;
    case Op::SHF:
    case Op::USHF: bind_shift(inst, b); return true;
    case Op::PRMT:
    case Op::UPRMT: bind_prmt(inst, b); return true;
    case Op::POPC:
    case Op::UPOPC:
      signs_as_integer(x);
      x.body = popc;
      return true;
    case Op::BREV:
    case Op::UBREV:
      signs_as_integer(x);
      x.body = brev;
      return true;
    case Op::FLO:
    case Op::UFLO:
      signs_as_integer(x);
      x.flag = says(inst, "SH");
      x.body = flo;
      return true;
    case Op::BMSK:
    case Op::UBMSK:
      x.flag = says(inst, "W");
      x.body = bmsk;
      return true;
    case Op::SGXT:
    case Op::USGXT:
      x.flag = says(inst, "W");
      x.body = sgxt;
      return true;
    default: return false;
  }
}

}  // namespace nervanagpu::sass::emulate::NG_TARGET

#include "sass/emulate/ops/target_end.h"
