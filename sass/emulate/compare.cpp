// Comparisons, predicate logic, votes.
#include <bit>
#include <cstdint>
#include <cstring>

#include "sass/emulate/bind.h"
#include "sass/emulate/warp.h"

#include "sass/emulate/target_begin.h"

#include "sass/emulate/lanes.h"

namespace nervanagpu::sass::emulate::NG_TARGET {
namespace {

using u32 = std::uint32_t;
using i32 = std::int32_t;

// What a comparison accepts: less, equal, greater, unordered.
enum Accept : std::uint8_t { kLess = 1, kEqual = 2, kGreater = 4, kUnordered = 8 };

u32 combine(unsigned how, u32 a, u32 b) {
  return how == 0 ? a & b : how == 1 ? a | b : a ^ b;
}

// Both destinations: (test op p), (!test op p).
void set_pair(Warp& w, const Detail& x, u32 test) {
  const u32 p = x.puse_count > 0 ? predicate(w, x.puse[0]) : kAllLanes;
  if (x.pdst_count > 0) set_predicate(w, x.pdst[0], combine(x.kind2, test, p));
  if (x.pdst_count > 1) set_predicate(w, x.pdst[1], combine(x.kind2, ~test, p));
}

template <bool kSigned>
u32 integer_test(Warp& w, const Detail& x) {
  const auto accept = [&](auto f) { return test2(w, x, f); };
  const auto less = [](u32 a, u32 b) { return kSigned ? static_cast<i32>(a) < static_cast<i32>(b) : a < b; };
  switch (x.kind) {
    case 0: return 0;
    case kLess: return accept([=](u32 a, u32 b) { return less(a, b); });
    case kEqual: return accept([](u32 a, u32 b) { return a == b; });
    case kLess | kEqual: return accept([=](u32 a, u32 b) { return !less(b, a); });
    case kGreater: return accept([=](u32 a, u32 b) { return less(b, a); });
    case kLess | kGreater: return accept([](u32 a, u32 b) { return a != b; });
    case kGreater | kEqual: return accept([=](u32 a, u32 b) { return !less(a, b); });
    default: return kAllLanes;
  }
}

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

inline float flushed(u32 bits, bool ftz) {
  if (ftz && (bits & 0x7f800000u) == 0) bits &= 0x80000000u;
  return std::bit_cast<float>(bits);
}

u32 float_test(Warp& w, const Detail& x) {
  const bool ftz = x.ftz;
  const unsigned kind = x.kind;
  return test2(w, x, [=](u32 a, u32 b) {
    const float p = flushed(a, ftz);
    const float q = flushed(b, ftz);
    const unsigned is = (p < q ? 1u : 0u) | (p == q ? 2u : 0u) | (p > q ? 4u : 0u);
    return (kind & (is == 0 ? unsigned{kUnordered} : is)) != 0;
  });
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

// P0..P6 as the low bits, or the byte that the part says, of a register.
const Uop* p2r(Warp& w, const Uop* u) {
  const Detail& x = *u->x;
  ConstRow a = fetch(w, x.src[0], 0);
  const u32 mask = x.src_count > 1 ? scalar(w, x.src[1]) : 0x7f;
  const unsigned at = 8u * x.kind;
  Row32 o = result(w, x);
  for (unsigned l = 0; l < kLanes; ++l) {
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
  const u32 mask = x.src_count > 1 ? scalar(w, x.src[1]) : 0x7f;
  const unsigned at = 8u * x.kind;
  for (unsigned i = 0; i < 7; ++i) {
    if ((mask >> i & 1) == 0) continue;
    Row32 bit = w.scratch[7].data();
    NG_LANES(l) bit[l] = a[l] >> (at + i);
    set_predicate(w, static_cast<std::uint8_t>(i + (x.flag ? preds::kUniform : 0)), pack(bit));
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

bool bind_condition(const Inst& inst, Binding& b) {
  Detail& x = b.detail;
  switch (inst.mod(Axis::kBool, Tok::AND)) {
    case Tok::OR: x.kind2 = 1; break;
    case Tok::XOR: x.kind2 = 2; break;
    default: x.kind2 = 0;
  }
  switch (inst.mod(Axis::kCmp)) {
    case Tok::F: x.kind = 0; break;
    case Tok::LT: x.kind = kLess; break;
    case Tok::EQ: x.kind = kEqual; break;
    case Tok::LE: x.kind = kLess | kEqual; break;
    case Tok::GT: x.kind = kGreater; break;
    case Tok::NE: x.kind = kLess | kGreater; break;
    case Tok::GE: x.kind = kGreater | kEqual; break;
    case Tok::NUM: x.kind = kLess | kEqual | kGreater; break;
    case Tok::kNAN: x.kind = kUnordered; break;
    case Tok::LTU: x.kind = kLess | kUnordered; break;
    case Tok::EQU: x.kind = kEqual | kUnordered; break;
    case Tok::LEU: x.kind = kLess | kEqual | kUnordered; break;
    case Tok::GTU: x.kind = kGreater | kUnordered; break;
    case Tok::NEU: x.kind = kLess | kGreater | kUnordered; break;
    case Tok::GEU: x.kind = kGreater | kEqual | kUnordered; break;
    case Tok::T: x.kind = kLess | kEqual | kGreater | kUnordered; break;
    default: b.refuse("comparison"); return false;
  }
  return true;
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

#include "sass/emulate/target_end.h"
