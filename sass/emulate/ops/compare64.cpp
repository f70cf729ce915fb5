// Comparisons and predicate logic that only sm_50 .. sm_62 have: those of 64-bit numbers by CC, those that choose a
// value or write a register, and those of predicates and of CC itself.
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

// Of the upper words after a subtraction of the lower ones, which left in CC whether they were equal or borrowed.
template <bool kSigned>
u32 words_test(Warp& w, const Detail& x) {
  Detail high;
  high.src = x.src;
  high.kind = kEqual;
  const u32 equal = integer_test<kSigned>(w, high);
  high.kind = kLess;
  const u32 less = integer_test<kSigned>(w, high);
  const u32 low_equal = w.pred[preds::kZero];
  const u32 low_less = ~w.pred[preds::kCarry];
  const u32 same = equal & low_equal;
  const u32 below = less | (equal & low_less & ~low_equal);
  u32 r = 0;
  if ((x.kind & kLess) != 0) r |= below;
  if ((x.kind & kEqual) != 0) r |= same;
  if ((x.kind & kGreater) != 0) r |= ~(below | same);
  return r;
}

// The accepting lanes; flag2: of integers.
u32 test(Warp& w, const Detail& x) {
  if (!x.flag2) return float_test(w, x);
  if (x.extended) return x.is_signed ? words_test<true>(w, x) : words_test<false>(w, x);
  return x.is_signed ? integer_test<true>(w, x) : integer_test<false>(w, x);
}

const Uop* set_predicates(Warp& w, const Uop* u) {
  set_pair(w, *u->x, test(w, *u->x));
  return u + 1;
}

const Uop* write_truth(Warp& w, const Uop* u, u32 truth) {
  const Detail& x = *u->x;
  const u32 yes = x.flag ? 0x3f800000u : ~0u;  // .BF
  if (x.imm2 != 0) set_cc(w, {.zero = ~truth, .sign = x.flag ? 0 : truth, .carry = 0, .overflow = 0});
  Row32 o = result(w, x);
  NG_LANES(l) o[l] = (truth >> l & 1) != 0 ? yes : 0;
  finish(w, x);
  return u + 1;
}

const Uop* set_register(Warp& w, const Uop* u) {
  const Detail& x = *u->x;
  const u32 m = test(w, x);
  return write_truth(w, u, combine(x.kind2, m, x.puse_count > 0 ? predicate(w, x.puse[0]) : kAllLanes));
}

// ICMP, FCMP: c compared with 0 chooses a or b.
const Uop* choose(Warp& w, const Uop* u) {
  const Detail& x = *u->x;
  Detail against_zero;
  against_zero.src[0] = x.src[2];
  against_zero.src[1] = Src{.kind = Src::Kind::kRow};
  against_zero.kind = x.kind;
  against_zero.ftz = x.ftz;
  against_zero.flag2 = x.flag2;
  against_zero.is_signed = x.is_signed;
  Row32 pick = unpacked(w, test(w, against_zero));
  ConstRow a = fetch_raw(w, x.src[0], 0);
  ConstRow b = fetch_raw(w, x.src[1], 1);
  Row32 o = result(w, x);
  NG_LANES(l) o[l] = pick[l] != 0 ? a[l] : b[l];
  finish(w, x);
  return u + 1;
}

// (p op q), of which kind is the first operation, kind2 that with the third.
u32 of_two(const Warp& w, const Detail& x) {
  return combine(x.kind, predicate(w, x.puse[0]), predicate(w, x.puse[1]));
}
const Uop* psetp(Warp& w, const Uop* u) {
  const Detail& x = *u->x;
  const u32 m = of_two(w, x);
  const u32 p = predicate(w, x.puse[2]);
  set_predicate(w, x.pdst[0], combine(x.kind2, m, p));
  set_predicate(w, x.pdst[1], combine(x.kind2, ~m, p));
  return u + 1;
}
const Uop* pset(Warp& w, const Uop* u) {
  const Detail& x = *u->x;
  return write_truth(w, u, combine(x.kind2, of_two(w, x), predicate(w, x.puse[2])));
}

const Uop* csetp(Warp& w, const Uop* u) {
  set_pair(w, *u->x, test_cc(w, static_cast<Tok>(u->x->imm)));
  return u + 1;
}
const Uop* cset(Warp& w, const Uop* u) {
  const Detail& x = *u->x;
  return write_truth(w, u, combine(x.kind2, test_cc(w, static_cast<Tok>(x.imm)), predicate(w, x.puse[0])));
}

}  // namespace

bool bind_compare64(const Inst& inst, Binding& b) {
  if (inst.row->encoding != Encoding::k64) return false;
  Detail& x = b.detail;
  const auto writes_truth = [&] {
    x.flag = says(inst, "BF");
    x.imm2 = sets_cc(inst) ? 1 : 0;
    b.knows_cc = true;
  };
  switch (inst.op) {
    case Op::ISETP:
      if (!x.extended) return false;
      bind_condition(inst, b);
      x.flag2 = true;
      x.body = set_predicates;
      return true;
    case Op::ISET:
      bind_condition(inst, b);
      x.flag2 = true;
      writes_truth();
      x.body = set_register;
      return true;
    case Op::FSET:
      bind_condition(inst, b);
      signs_as_float(x);
      writes_truth();
      x.body = set_register;
      return true;
    case Op::ICMP:
      bind_condition(inst, b);
      x.flag2 = true;
      x.body = choose;
      return true;
    case Op::FCMP: {
      const Tok cmp = inst.mod(Axis::kCmp);
      x.kind = cmp == Tok::kNone ? accepted_by(Tok::GT) : accepted_by(cmp);
      x.body = choose;
      return true;
    }
    case Op::PSETP:
    case Op::PSET:
      if (x.puse_count != 3) b.refuse("operands");
      x.kind = combination(inst.mod(Axis::kBool));
      x.kind2 = combination(inst.mod(Axis::kLogic));
      writes_truth();
      x.body = inst.op == Op::PSETP ? psetp : pset;
      return true;
    case Op::CSETP:
    case Op::CSET:
      x.imm = static_cast<std::uint32_t>(inst.mod(Axis::kCmp));
      x.kind2 = combination(inst.mod(Axis::kBool));
      writes_truth();
      x.body = inst.op == Op::CSETP ? csetp : cset;
      return true;
    default: return false;
  }
}

}  // namespace nervanagpu::sass::emulate::NG_TARGET

#include "sass/emulate/ops/target_end.h"
