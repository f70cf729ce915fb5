// Comparisons, predicate logic, votes.
#include <bit>
#include <cstdint>
#include <cstring>

#include "sass/emulate/ops/families.h"
#include "sass/emulate/state/warp.h"

#include "sass/emulate/ops/target_begin.h"

#include "sass/emulate/lanes/lanes.h"
#include "sass/emulate/ops/compare_lanes.h"
#include "sass/emulate/uop/words.h"

namespace nervanagpu::sass::emulate::NG_TARGET {
namespace {

// .EX compares the upper words of 64-bit numbers: where they are equal, the comparison of the lower words (the last
// predicate) decides.
template <bool kSigned>
u32 extended_test(Warp& w, const Detail& x) {
  const u32 high = integer_test<kSigned>(w, x);
  const u32 equal = test2(w, x, [](u32 a, u32 b) { return a == b; });
  const u32 low = x.puse_count > 1 ? predicate(w, x.puse[1]) : kAllLanes;
  return (high & ~equal) | (low & equal);
}

template <bool kSigned, bool kExtended>
const Uop* isetp(Warp& w, const Uop* u) {
  const Detail& x = *u->x;
  set_pair(w, x, kExtended ? extended_test<kSigned>(w, x) : integer_test<kSigned>(w, x));
  return u + 1;
}

const Uop* fsetp(Warp& w, const Uop* u) {
  const Detail& x = *u->x;
  set_pair(w, x, float_test(w, x));
  return u + 1;
}

// FSET: 1.0 or 0 (.BF), else all ones or 0.
const Uop* fset(Warp& w, const Uop* u) {
  const Detail& x = *u->x;
  const u32 test = float_test(w, x);
  const u32 p = x.puse_count > 0 ? predicate(w, x.puse[0]) : kAllLanes;
  const u32 m = combine(x.kind2, test, p);
  const u32 yes = x.flag ? 0x3f800000u : ~0u;
  Row32 o = result(w, x);
  NG_LANES(l) o[l] = (m >> l & 1) != 0 ? yes : 0;
  finish(w, x);
  return u + 1;
}

u32 plut(u32 lut, u32 a, u32 b, u32 c) {
  u32 r = 0;
  for (u32 i = 0; i < 8; ++i) {
    if ((lut >> i & 1) == 0) continue;
    r |= ((i & 4) != 0 ? a : ~a) & ((i & 2) != 0 ? b : ~b) & ((i & 1) != 0 ? c : ~c);
  }
  return r;
}

const Uop* plop3(Warp& w, const Uop* u) {
  const Detail& x = *u->x;
  const u32 a = predicate(w, x.puse[0]);
  const u32 b = predicate(w, x.puse[1]);
  const u32 c = predicate(w, x.puse[2]);
  const u32 first = plut(x.imm, a, b, c);
  const u32 second = plut(x.imm2, a, b, c);
  set_predicate(w, x.pdst[0], first);
  if (x.pdst_count > 1) set_predicate(w, x.pdst[1], second);
  return u + 1;
}

// The mask of P2R and R2P, of each lane.
ConstRow chosen_predicates(Warp& w, const Detail& x) {
  if (x.src_count > 1) return fetch_raw(w, x.src[1], 1);
  Row32 all = w.scratch[1].data();
  NG_LANES(l) all[l] = 0x7f;
  return all;
}

// P0..P6 as the low bits, or the byte that the part says, of a register.
const Uop* p2r(Warp& w, const Uop* u) {
  const Detail& x = *u->x;
  ConstRow a = fetch(w, x.src[0], 0);
  ConstRow chosen = chosen_predicates(w, x);
  const unsigned at = 8u * x.kind;
  Row32 o = result(w, x);
  for (unsigned l = 0; l < kLanes; ++l) {
    const u32 mask = chosen[l];
    u32 p = 0;
    for (unsigned i = 0; i < 7; ++i) p |= (w.pred[(x.flag ? preds::kUniform : 0) + i] >> l & 1) << i;
    o[l] = (a[l] & ~(mask << at)) | (p & mask) << at;
  }
  finish(w, x);
  return u + 1;
}

const Uop* r2p(Warp& w, const Uop* u) {
  const Detail& x = *u->x;
  ConstRow a = fetch(w, x.src[0], 0);
  ConstRow chosen = chosen_predicates(w, x);
  const unsigned at = 8u * x.kind;
  for (unsigned i = 0; i < 7; ++i) {
    const auto index = static_cast<std::uint8_t>(i + (x.flag ? preds::kUniform : 0));
    Row32 bit = w.scratch[kFlags].data();
    NG_LANES(l) bit[l] = chosen[l] >> i;
    const u32 lanes = pack(bit);
    NG_LANES(l) bit[l] = a[l] >> (at + i);
    const u32 value = pack(bit);
    if (x.flag && (lanes & 1) == 0) continue;
    set_predicate(w, index, x.flag ? value : (value & lanes) | (w.pred[index] & ~lanes));
  }
  return u + 1;
}

// Over the executing lanes: the mask of those whose predicate holds, and ALL, ANY or EQ of them.
const Uop* vote(Warp& w, const Uop* u) {
  const Detail& x = *u->x;
  // A uniform instruction sees all lanes of the group.
  const u32 lanes = w.exec;
  const u32 p = predicate(w, x.puse[0]);
  const u32 yes = p & lanes;
  const bool holds = x.kind == 0 ? yes == lanes : x.kind == 1 ? yes != 0 : yes == 0 || yes == lanes;
  Row32 o = result(w, x);
  NG_LANES(l) o[l] = yes;
  finish(w, x);
  if (x.pdst_count > 0) set_predicate(w, x.pdst[0], holds ? kAllLanes : 0);
  return u + 1;
}

void bind_byte_part(const Inst& inst, Binding& b) {
  Detail& x = b.detail;
  for (unsigned i = 0; i < 4; ++i) {
    constexpr Tok kBytes[] = {Tok::B0, Tok::B1, Tok::B2, Tok::B3};
    for (const Operand& o : inst.operands()) {
      if (o.sub == kBytes[i] || says(inst, tok_text(kBytes[i]))) x.kind = static_cast<std::uint8_t>(i);
    }
  }
}

}  // namespace

bool bind_compare(const Inst& inst, Binding& b) {
  Detail& x = b.detail;
  switch (inst.op) {
    case Op::ISETP:
    case Op::UISETP:
      bind_condition(inst, b);
      signs_as_integer(x);
      if (x.extended) {
        x.body = x.is_signed ? isetp<true, true> : isetp<false, true>;
      } else {
        x.body = x.is_signed ? isetp<true, false> : isetp<false, false>;
      }
      return true;
    case Op::FSETP:
      bind_condition(inst, b);
      signs_as_float(x);
      x.body = fsetp;
      return true;
    case Op::FSET:
      bind_condition(inst, b);
      signs_as_float(x);
      x.flag = says(inst, "BF");
      x.body = fset;
      return true;
    case Op::PLOP3:
    case Op::UPLOP3:
      if (x.puse_count != 3 || x.src_count < 1) b.refuse("operands");
      x.imm = x.src[0].bits & 0xff;
      x.imm2 = x.src_count > 1 ? x.src[1].bits & 0xff : 0;
      x.body = plop3;
      return true;
    case Op::P2R:
    case Op::UP2UR:
      bind_byte_part(inst, b);
      x.flag = inst.op == Op::UP2UR;
      x.body = p2r;
      return true;
    case Op::R2P:
    case Op::R2UP:
      bind_byte_part(inst, b);
      x.flag = inst.op == Op::R2UP;
      x.body = r2p;
      return true;
    case Op::VOTE:
    case Op::VOTEU:
      x.kind = says(inst, "ALL") ? 0 : says(inst, "EQ") ? 2 : 1;
      if (x.puse_count != 1) b.refuse("operands");
      x.body = vote;
      return true;
    default: return false;
  }
}

}  // namespace nervanagpu::sass::emulate::NG_TARGET

#include "sass/emulate/ops/target_end.h"
