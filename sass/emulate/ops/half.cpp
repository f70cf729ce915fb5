// Packed halves and bfloat16 pairs: HADD2, HMUL2, HFMA2, minimum and maximum, comparisons. Every result is rounded
// once.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "sass/emulate/engine/tensor_map.h"
#include "sass/emulate/lanes/half_math.h"
#include "sass/emulate/lanes/lanes.h"
#include "sass/emulate/ops/compare_lanes.h"
#include "sass/emulate/ops/families.h"
#include "sass/emulate/uop/words.h"
#include "sass/isa/rows/row.h"

namespace nervanagpu::sass::emulate {
namespace {

enum class Operation : std::uint8_t { kAdd, kMul, kFma, kMinMax };

u16 pick(u32 v, const Src& s, unsigned half) {
  // part: 0 both halves as they stand, 1 the lower twice, 2 the upper twice
  const unsigned at = s.part == 0 ? half : s.part - 1u;
  return static_cast<u16>(v >> (16 * at));
}

u16 flush(u16 h, bool bfloat) {
  const u16 exponent = bfloat ? 0x7f80 : 0x7c00;
  return (h & exponent) == 0 ? h & 0x8000 : h;
}

double widen(u16 h, const Detail& x) {
  if (x.ftz) h = flush(h, x.flag);
  return x.flag ? from_bfloat(h) : from_half(h);
}

u16 finish_half(double v, const Detail& x) {
  u16 r = x.flag ? to_bfloat(v) : to_half(v);
  if (x.ftz) r = flush(r, x.flag);
  const bool nan = (r & 0x7fff) > (x.flag ? 0x7f80 : 0x7c00);
  const u16 one = x.flag ? 0x3f80 : 0x3c00;
  if (x.sat) return nan || (r & 0x8000) != 0 ? 0 : std::min(r, one);
  if (x.imm != 0 && !nan && (r & 0x8000) != 0) return 0;  // RELU
  return r;
}

double min_max(double a, double b, bool minimum, bool nan_wins) {
  if (a != a || b != b) {
    if (nan_wins || (a != a && b != b)) return std::nan("");
    return a != a ? b : a;
  }
  const bool less = a < b || (a == b && std::signbit(a) && !std::signbit(b));
  return less == minimum ? a : b;
}

double compute(Operation op, double a, double b, double c, bool minimum, bool nan_wins) {
  switch (op) {
    case Operation::kAdd: return add_to_odd(a, b);
    case Operation::kMul: return a * b;  // exact
    case Operation::kFma: return add_to_odd(a * b, c);
    case Operation::kMinMax: return min_max(a, b, minimum, nan_wins);
  }
  return 0;
}

const Uop* half2(Warp& w, const Uop* u) {
  const Detail& x = *u->x;
  const auto op = static_cast<Operation>(x.kind);
  ConstRow in[3] = {w.row(rows::kZero), w.row(rows::kZero), w.row(rows::kZero)};
  for (unsigned i = 0; i < x.src_count && i < 3; ++i) in[i] = fetch(w, x.src[i], i);
  const u32 minimum = op == Operation::kMinMax ? predicate(w, x.puse[0]) : 0;
  Row32 o = result(w, x);
  for (unsigned l = 0; l < kLanes; ++l) {
    u32 r = 0;
    for (unsigned h = 0; h < 2; ++h) {
      const double a = widen(pick(in[0][l], x.src[0], h), x);
      const double b = widen(pick(in[1][l], x.src[1], h), x);
      const double c = widen(pick(in[2][l], x.src[2], h), x);
      if (x.kind2 == 1) {  // .F32: one result, of the lower halves, that no half has rounded
        const float f = static_cast<float>(compute(op, a, b, c, false, false));
        const float bounded = !x.sat ? f : f > 0 ? std::min(f, 1.0F) : 0.0F;  // of a NaN: 0
        r = bounded != bounded ? 0x7fffffffu : std::bit_cast<u32>(bounded);
        break;
      }
      const double v = compute(op, a, b, c, (minimum >> l & 1) != 0, x.flag2);
      r |= u32{finish_half(v, x)} << (16 * h);
    }
    o[l] = r;
  }
  finish(w, x);
  return u + 1;
}

// HMNMX2.XORSIGN d, |a|, |b|: the sign is that of the product, but a NaN's stays.
const Uop* half2_xorsign(Warp& w, const Uop* u) {
  const Detail& x = *u->x;
  ConstRow a = fetch_raw(w, x.src[0], 4);
  ConstRow b = fetch_raw(w, x.src[1], 5);
  u32 signs[kLanes];
  for (unsigned l = 0; l < kLanes; ++l) {
    const auto of = [&](unsigned h) { return u32{pick(a[l], x.src[0], h)} ^ pick(b[l], x.src[1], h); };
    signs[l] = (of(0) & 0x8000) | (of(1) & 0x8000) << 16;
  }
  half2(w, u);
  Row32 o = w.row(x.dst);
  const u32 infinity = x.flag ? 0x7f80 : 0x7c00;
  for (unsigned l = 0; l < kLanes; ++l) {
    if ((w.exec >> l & 1) == 0) continue;
    for (unsigned h = 0; h < 2; ++h) {
      const u32 mask = 0x8000u << (16 * h);
      if ((o[l] >> (16 * h) & 0x7fff) <= infinity) o[l] = (o[l] & ~mask) | (signs[l] & mask);
    }
  }
  return u + 1;
}

// sm_53 .. sm_62: .MRG_H0 and .MRG_H1 write one half of the result and leave the other as it was.
const Uop* half2_merged(Warp& w, const Uop* u) {
  const Detail& x = *u->x;
  u32 old[kLanes];
  std::copy_n(w.row(x.dst), kLanes, old);
  half2(w, u);
  Row32 o = w.row(x.dst);
  const u32 taken = x.flag3 ? 0xffff0000u : 0xffffu;
  for (unsigned l = 0; l < kLanes; ++l) o[l] = (o[l] & taken) | (old[l] & ~taken);
  return u + 1;
}

// HFMA2.OOB: plus zero where a factor is what the copy engine fills in outside of a tensor, of either sign. What else
// is not a number stays one, as does the addend.
const Uop* half2_outside(Warp& w, const Uop* u) {
  const Detail& x = *u->x;
  ConstRow a = fetch_raw(w, x.src[0], 4);
  ConstRow b = fetch_raw(w, x.src[1], 5);
  u32 keep[kLanes];
  for (unsigned l = 0; l < kLanes; ++l) {
    const auto outside = [](u16 h) { return (h & 0x7fff) == kOutsideOfTensor; };
    const auto of = [&](unsigned h) { return outside(pick(a[l], x.src[0], h)) || outside(pick(b[l], x.src[1], h)); };
    keep[l] = (of(0) ? 0 : 0xffffu) | (of(1) ? 0 : 0xffff0000u);
  }
  half2(w, u);
  Row32 o = w.row(x.dst);
  for (unsigned l = 0; l < kLanes; ++l) {
    if ((w.exec >> l & 1) != 0) o[l] &= keep[l];
  }
  return u + 1;
}

// HADD2.F32 d, -RZ, a: one half widened, the conversion of every kernel that stores float16. A loop that vectorizes:
// scaling by 2^112 turns the shifted bits into the number, subnormal ones too.
const Uop* widen_half(Warp& w, const Uop* u) {
  const Detail& x = *u->x;
  ConstRow in = fetch(w, x.src[1], 1);
  const unsigned shift = x.src[1].part == 2 ? 16 : 0;
  Row32 o = result(w, x);
  NG_LANES(l) {
    const u32 h = in[l] >> shift;
    const u32 sign = (h & 0x8000) << 16;
    const float number = std::bit_cast<float>((h & 0x7fff) << 13) * 0x1p112F;
    const u32 finite = std::bit_cast<u32>(number) | sign;
    const u32 special = (h & 0x3ff) != 0 ? 0x7fffffffu : 0x7f800000u | sign;
    o[l] = (h & 0x7c00) == 0x7c00 ? special : finite;
  }
  finish(w, x);
  return u + 1;
}

bool is_minus_zero(const Src& s) {
  return s.kind == Src::Kind::kRow && s.row == rows::kZero && s.flip == 0x80008000u;
}

// The comparison of both halves, as lane masks.
void test(Warp& w, const Detail& x, u32 masks[2]) {
  ConstRow a = fetch(w, x.src[0], 0);
  ConstRow b = fetch(w, x.src[1], 1);
  masks[0] = masks[1] = 0;
  for (unsigned l = 0; l < kLanes; ++l) {
    for (unsigned h = 0; h < 2; ++h) {
      const double p = widen(pick(a[l], x.src[0], h), x);
      const double q = widen(pick(b[l], x.src[1], h), x);
      const unsigned is = p < q ? kLess : p == q ? kEqual : p > q ? kGreater : kUnordered;
      if ((x.kind & is) != 0) masks[h] |= 1u << l;
    }
  }
}

const Uop* hsetp2(Warp& w, const Uop* u) {
  const Detail& x = *u->x;
  u32 m[2];
  test(w, x, m);
  const u32 p = x.puse_count > 0 ? predicate(w, x.puse[0]) : kAllLanes;
  if (x.flag2) {  // H_AND: both halves
    const u32 both = m[0] & m[1];
    set_predicate(w, x.pdst[0], combine(x.kind2, both, p));
    if (x.pdst_count > 1) set_predicate(w, x.pdst[1], combine(x.kind2, ~both, p));
  } else {
    set_predicate(w, x.pdst[0], combine(x.kind2, m[0], p));
    if (x.pdst_count > 1) set_predicate(w, x.pdst[1], combine(x.kind2, m[1], p));
  }
  return u + 1;
}

const Uop* hset2(Warp& w, const Uop* u) {
  const Detail& x = *u->x;
  u32 m[2];
  test(w, x, m);
  const u32 p = x.puse_count > 0 ? predicate(w, x.puse[0]) : kAllLanes;
  const u32 yes = !x.flag2 ? 0xffffu : x.flag ? 0x3f80u : 0x3c00u;
  Row32 o = result(w, x);
  for (unsigned l = 0; l < kLanes; ++l) {
    u32 r = 0;
    for (unsigned h = 0; h < 2; ++h) {
      if ((combine(x.kind2, m[h], p) >> l & 1) != 0) r |= yes << (16 * h);
    }
    o[l] = r;
  }
  finish(w, x);
  return u + 1;
}

bool condition(const Inst& inst, Detail& x) {
  x.kind = accepted_by(inst.mod(Axis::kCmp));
  x.kind2 = combination(inst.mod(Axis::kBool, Tok::AND));
  return x.kind != kNoComparison;
}

void parts(Binding& b) {
  for (Src& s : b.detail.src) {
    switch (s.sub) {
      case Tok::kNone:
      case Tok::H1_H0: s.part = 0; break;
      case Tok::H0:
      case Tok::H0_H0: s.part = 1; break;
      case Tok::H1:
      case Tok::H1_H1: s.part = 2; break;
      default: b.refuse("operand part ." + std::string(tok_text(s.sub)));
    }
  }
}

}  // namespace

bool bind_half(const Inst& inst, Binding& b) {
  Detail& x = b.detail;
  Operation op = Operation::kAdd;
  switch (inst.op) {
    case Op::HADD2:
    case Op::HADD2_32I: op = Operation::kAdd; break;
    case Op::HMUL2:
    case Op::HMUL2_32I: op = Operation::kMul; break;
    case Op::HFMA2:
    case Op::HFMA2_32I: op = Operation::kFma; break;
    case Op::HMNMX2: op = Operation::kMinMax; break;
    case Op::HSETP2:
    case Op::HSET2: break;
    default: return false;
  }
  if (inst.operand_count > 0 && inst.operand_array[0].role == Role::kBoth) {  // what is merged into is no operand here
    std::shift_left(x.src.begin(), x.src.end(), 1);
    --x.src_count;
  }
  signs_as_float(x, 0x80008000u);
  parts(b);
  x.flag = says(inst, "BF16_V2") || says(inst, "BF16");
  if (inst.has(Axis::kFtz, Tok::FMZ)) b.refuse(".FMZ");
  if (says(inst, "MERGE_C")) b.refuse("a merged result");
  const bool old = inst.row->encoding == Encoding::k64;
  if (old && says(inst, "F32")) b.refuse("a result of .F32");
  if (inst.op == Op::HSETP2 || inst.op == Op::HSET2) {
    if (!condition(inst, x)) b.refuse("comparison");
    x.flag2 = inst.op == Op::HSETP2 ? says(inst, "H_AND") : says(inst, "BF");
    x.body = inst.op == Op::HSETP2 ? hsetp2 : hset2;
    return true;
  }
  x.imm = says(inst, "RELU") ? 1 : 0;
  x.kind = static_cast<std::uint8_t>(op);
  x.kind2 = says(inst, "F32") ? 1 : 0;
  x.flag2 = says(inst, "NAN");
  if (op == Operation::kFma && x.src_count == 4) {
    b.refuse("operands");
  }
  x.body = half2;
  x.flag3 = says(inst, "MRG_H1");
  if (x.flag3 || says(inst, "MRG_H0")) x.body = half2_merged;
  if (says(inst, "OOB")) x.body = half2_outside;
  if (says(inst, "XORSIGN")) {
    const auto size = [](const Src& s) { return s.abs && !s.neg; };
    if (x.src_count != 2 || !size(x.src[0]) || !size(x.src[1])) b.refuse(".XORSIGN of numbers with a sign");
    x.body = half2_xorsign;
  }
  const bool widens = op == Operation::kAdd && x.kind2 == 1 && !x.flag && !x.ftz && !x.sat && x.src_count == 2;
  if (widens && is_minus_zero(x.src[0]) && x.src[1].kind == Src::Kind::kRow) x.body = widen_half;
  return true;
}

}  // namespace nervanagpu::sass::emulate
