// Integer arithmetic that only sm_50 .. sm_62 have: sums with carries in CC, scaled sums, the slow products.
#include <algorithm>
#include <bit>
#include <cstdint>

#include "sass/emulate/ops/families.h"
#include "sass/emulate/state/warp.h"
#include "sass/isa/rows/row.h"

#include "sass/emulate/ops/target_begin.h"

#include "sass/emulate/lanes/lanes.h"
#include "sass/emulate/ops/cc.h"
#include "sass/emulate/ops/compare_lanes.h"
#include "sass/emulate/uop/words.h"

namespace nervanagpu::sass::emulate::NG_TARGET {
namespace {

// ---- Sums -------------------------------------------------------------------------------------------------------------

// One term of a sum: a part of a register, shifted, and its complement where it is subtracted.
struct Term {
  ConstRow row = nullptr;
  u32 part_shift = 0;
  u32 part_mask = ~0u;
  u32 shift = 0;
  u32 flip = 0;
  [[nodiscard]] u32 of(unsigned l) const { return ((row[l] >> part_shift & part_mask) << shift) ^ flip; }
};

enum Middle : std::uint8_t { kPlain, kRightShift, kLeftShift };  // of IADD3's first sum

// a + b + c + carry in, each perhaps subtracted. kind: Middle; kind2: sets CC; imm: the shift of a; imm2: added.
const Uop* sum(Warp& w, const Uop* u) {
  const Detail& x = *u->x;
  Term t[3];
  for (unsigned i = 0; i < 3; ++i) {
    const Src& s = x.src[i];
    t[i].row = i < x.src_count ? fetch_raw(w, s, i) : w.row(rows::kZero);
    t[i].part_shift = s.part == 2 ? 16 : 0;
    t[i].part_mask = s.part != 0 ? 0xffff : ~0u;
    t[i].shift = i == 0 ? x.imm : 0;
    t[i].flip = s.neg ? ~0u : 0;
  }
  const Term a = t[0], b = t[1], c = t[2];
  const u32 ones = x.imm2;
  Row32 p = unpacked(w, x.extended ? w.pred[preds::kCarry] : 0);
  Row32 o = w.scratch[kResult].data();
  u32 overflow = 0;
  if (x.kind == kPlain && x.kind2 == 0 && !x.sat) {
    NG_LANES(l) o[l] = a.of(l) + b.of(l) + c.of(l) + ones + p[l];
  } else {
    Row32 carry = w.scratch[6].data();
    for (unsigned l = 0; l < kLanes; ++l) {
      u64 first = u64{a.of(l)} + b.of(l);
      if (x.kind == kRightShift) first >>= 16;
      if (x.kind == kLeftShift) first = first << 16 & 0xffffffffu;
      const u64 total = first + c.of(l) + ones + p[l];
      const i64 exact =
          i64{static_cast<i32>(a.of(l))} + static_cast<i32>(b.of(l)) + static_cast<i32>(c.of(l)) + ones + p[l];
      u32 r = static_cast<u32>(total);
      const bool beyond = exact != static_cast<i32>(r);
      if (x.sat && beyond) r = exact < 0 ? 0x80000000u : 0x7fffffffu;
      overflow |= (beyond ? 1u : 0u) << l;
      carry[l] = total >> 32 != 0 ? 1 : 0;
      o[l] = r;
    }
    if (x.kind2 != 0) {
      const u32 carries = pack(carry);
      Flags f = flags_of(w, o);
      // Of a number in several words: zero if all of them are.
      if (x.extended) f.zero &= w.pred[preds::kZero];
      set_cc(w, {f.zero, f.sign, carries, overflow});
    }
  }
  blend(w.row(x.dst), o, w.exec);
  return u + 1;
}

const Uop* add2(Warp& w, const Uop* u) {
  return map(w, u, [](u32 a, u32 b) { return a + b; });
}
const Uop* add3(Warp& w, const Uop* u) {
  return map(w, u, [](u32 a, u32 b, u32 c) { return a + b + c; });
}
const Uop* add3_upper(Warp& w, const Uop* u) {  // IADD3.RS
  return map(w, u, [](u32 a, u32 b, u32 c) {
    const u32 first = a + b;
    return (first >> 16 | (first < a ? 0x10000u : 0)) + c;
  });
}
const Uop* scaled_add(Warp& w, const Uop* u) {
  const u32 n = u->x->imm;
  return map(w, u, [=](u32 a, u32 b) { return (a << n) + b; });
}

bool plain_sources(const Detail& x, unsigned count) {
  return std::all_of(x.src.begin(), x.src.begin() + count, [](const Src& s) { return !s.neg && s.part == 0; });
}

// `terms` sources are added, the next one, if there is one, is the scale of the first.
void bind_sum(const Inst& inst, Binding& b, unsigned terms) {
  Detail& x = b.detail;
  x.imm = x.src_count > terms ? x.src[terms].bits & 31 : 0;
  x.src_count = static_cast<std::uint8_t>(terms);
  x.imm2 = 0;
  for (unsigned i = 0; i < terms; ++i) {
    Src& s = x.src[i];
    s.part = s.sub == Tok::H0 ? 1 : s.sub == Tok::H1 ? 2 : 0;
    if (s.neg && !x.extended) ++x.imm2;  // with a carry in, - is ~: the carry is the 1
  }
  if (inst.has(Axis::kMode2, Tok::PO)) ++x.imm2;
  x.kind = says(inst, "RS") ? kRightShift : says(inst, "LS") ? kLeftShift : kPlain;
  x.kind2 = sets_cc(inst) ? 1 : 0;
  b.knows_cc = true;
  x.body = sum;
  if (!plain_sources(x, terms) || x.imm2 != 0 || x.kind2 != 0 || x.extended || x.sat) return;
  if (terms == 2) x.body = x.imm != 0 ? scaled_add : add2;
  if (terms == 3) x.body = x.kind == kPlain ? add3 : x.kind == kRightShift ? add3_upper : sum;
}

// LEA.HI: the upper half of {c, a} << n, + b. A predicate says whether it is not zero: whether a 64-bit address lies
// above the windows of shared and local memory.
const Uop* lea_high(Warp& w, const Uop* u) {
  const Detail& x = *u->x;
  ConstRow a = fetch_raw(w, x.src[0], 0);
  ConstRow b = fetch_raw(w, x.src[1], 1);
  ConstRow c = fetch_raw(w, x.src[2], 2);
  const u32 n = x.imm;
  const bool minus = x.src[0].neg;
  Row32 p = unpacked(w, x.extended ? w.pred[preds::kCarry] : 0);
  u32 out[kLanes];
  Flags f;
  for (unsigned l = 0; l < kLanes; ++l) {
    u64 value = u64{c[l]} << 32 | a[l];
    if (minus) value = 0 - value;
    const u32 upper = static_cast<u32>(value << n >> 32);
    const u64 total = u64{upper} + b[l] + p[l];
    out[l] = static_cast<u32>(total);
    f.carry |= (total >> 32 != 0 ? 1u : 0u) << l;
    f.overflow |= ((upper ^ out[l]) & (b[l] ^ out[l])) >> 31 << l;
  }
  const Flags g = flags_of(w, out);
  if (x.kind2 != 0) set_cc(w, {x.extended ? g.zero & w.pred[preds::kZero] : g.zero, g.sign, f.carry, f.overflow});
  if (x.pdst_count > 0) set_predicate(w, x.pdst[0], ~g.zero);
  Row32 o = result(w, x);
  std::copy_n(out, kLanes, o);
  finish(w, x);
  return u + 1;
}

void bind_lea(const Inst& inst, Binding& b) {
  Detail& x = b.detail;
  if (!says(inst, "HI")) {
    if (x.pdst_count > 0 && x.pdst[0] != preds::kDump) b.refuse("a predicate of the lower half");
    bind_sum(inst, b, 2);
    return;
  }
  x.imm = x.src_count > 3 ? x.src[3].bits & 31 : 0;
  x.kind2 = sets_cc(inst) ? 1 : 0;
  b.knows_cc = true;
  x.body = lea_high;
}

// ---- IMAD, IMUL: 32-bit products of any signedness -------------------------------------------------------------------

// kind: bits 0 and 1: a, b signed; flag: the upper half; flag2: a negative product.
const Uop* multiply(Warp& w, const Uop* u) {
  const Detail& x = *u->x;
  ConstRow a = fetch_raw(w, x.src[0], 0);
  ConstRow b = fetch_raw(w, x.src[1], 1);
  ConstRow c = x.src_count > 2 ? fetch_raw(w, x.src[2], 2) : w.row(rows::kZero);
  const u32 flip = x.src[2].neg ? ~0u : 0;
  const u32 carry_in = x.extended ? w.pred[preds::kCarry] : 0;
  u32 out[kLanes];
  Flags f;
  for (unsigned l = 0; l < kLanes; ++l) {
    const i64 p = (x.kind & 1) != 0 ? i64{static_cast<i32>(a[l])} : i64{a[l]};
    const i64 q = (x.kind & 2) != 0 ? i64{static_cast<i32>(b[l])} : i64{b[l]};
    u64 product = static_cast<u64>(p) * static_cast<u64>(q);
    if (x.flag2) product = 0 - product;
    const u32 part = static_cast<u32>(x.flag ? product >> 32 : product);
    const u64 total = u64{part} + (c[l] ^ flip) + x.imm2 + (carry_in >> l & 1);
    out[l] = static_cast<u32>(total);
    f.carry |= (total >> 32 != 0 ? 1u : 0u) << l;
    f.overflow |= ((part ^ out[l]) & (c[l] ^ flip ^ out[l])) >> 31 << l;
  }
  if (x.kind2 != 0) {
    const Flags g = flags_of(w, out);
    set_cc(w, {x.extended ? g.zero & w.pred[preds::kZero] : g.zero, g.sign, f.carry, f.overflow});
  }
  Row32 o = result(w, x);
  std::copy_n(out, kLanes, o);
  finish(w, x);
  return u + 1;
}

void bind_multiply(const Inst& inst, Binding& b) {
  Detail& x = b.detail;
  switch (inst.mod(Axis::kType)) {
    case Tok::U32_U32: x.kind = 0; break;
    case Tok::S32_U32: x.kind = 1; break;
    case Tok::U32_S32: x.kind = 2; break;
    default: x.kind = 3;
  }
  x.flag = says(inst, "HI");
  x.flag2 = x.src[0].neg != x.src[1].neg;
  x.imm2 = inst.has(Axis::kMode2, Tok::PO) || (x.src_count > 2 && x.src[2].neg && !x.extended) ? 1 : 0;
  if (x.sat) b.refuse(".SAT");
  x.kind2 = sets_cc(inst) ? 1 : 0;
  b.knows_cc = true;
  x.body = multiply;
}

// ---- IMNMX of numbers in several words -------------------------------------------------------------------------------

// XHI compares the upper words and leaves in CC which it took and whether they were equal; XMED and XLO decide only where
// all above were equal.
template <bool kSigned>
const Uop* imnmx_word(Warp& w, const Uop* u) {
  const Detail& x = *u->x;
  const u32 minimum = predicate(w, x.puse[0]);
  Detail test;
  test.src = x.src;
  test.kind = kLess;
  const u32 less = integer_test<kSigned>(w, test);
  test.kind = kEqual;
  const u32 equal = integer_test<kSigned>(w, test);
  u32 first = (less & minimum) | (~(less | equal) & ~minimum);
  u32 same = equal;
  if (x.flag) {
    const u32 above = w.pred[preds::kZero];
    first = (above & first) | (~above & w.pred[preds::kCarry]);
    same &= above;
  }
  ConstRow a = fetch(w, x.src[0], 0);
  ConstRow b = fetch(w, x.src[1], 1);
  Row32 pick = unpacked(w, first);
  Row32 o = result(w, x);
  NG_LANES(l) o[l] = pick[l] != 0 ? a[l] : b[l];
  if (x.flag2) set_cc(w, {.zero = same, .sign = 0, .carry = first, .overflow = 0});
  finish(w, x);
  return u + 1;
}

}  // namespace

bool bind_integer64(const Inst& inst, Binding& b) {
  if (inst.row->encoding != Encoding::k64) return false;
  Detail& x = b.detail;
  switch (inst.op) {
    case Op::IADD:
    case Op::IADD32I:
    case Op::ISCADD:
    case Op::ISCADD32I: bind_sum(inst, b, 2); return true;
    case Op::IADD3: bind_sum(inst, b, 3); return true;
    case Op::LEA: bind_lea(inst, b); return true;
    case Op::IMAD:
    case Op::IMUL:
    case Op::IMUL32I: bind_multiply(inst, b); return true;
    case Op::IMNMX: {
      const Tok word = inst.mod(Axis::kExtended);
      if (word == Tok::kNone) return false;
      x.flag = word != Tok::XHI;
      x.flag2 = sets_cc(inst);
      b.knows_cc = true;
      x.body = x.is_signed ? imnmx_word<true> : imnmx_word<false>;
      return true;
    }
    default: return false;
  }
}

}  // namespace nervanagpu::sass::emulate::NG_TARGET

#include "sass/emulate/ops/target_end.h"
