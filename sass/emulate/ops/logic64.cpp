// Logic, shifts and bit fields that only sm_50 .. sm_62 have.
#include <algorithm>
#include <bit>
#include <cstdint>

#include "sass/emulate/ops/families.h"
#include "sass/emulate/state/warp.h"
#include "sass/isa/rows/row.h"

#include "sass/emulate/ops/target_begin.h"

#include "sass/emulate/lanes/bits.h"
#include "sass/emulate/lanes/lanes.h"
#include "sass/emulate/ops/cc.h"
#include "sass/emulate/uop/words.h"

namespace nervanagpu::sass::emulate::NG_TARGET {
namespace {

enum Logic : std::uint8_t { kAnd, kOr, kXor, kPassB };
// What the predicate of LOP says of the result.
enum Test : std::uint8_t { kNever, kAlways, kIfZero, kIfNonzero };

Test test_of(const Inst& inst) {
  switch (inst.mod(Axis::kMode)) {
    case Tok::T: return kAlways;
    case Tok::Z: return kIfZero;
    case Tok::NZ: return kIfNonzero;
    default: return kNever;
  }
}

// Sets the predicate (by x.kind2) and CC (x.flag) from a result, and writes it.
const Uop* conclude(Warp& w, const Uop* u, ConstRow out) {
  const Detail& x = *u->x;
  const Flags f = flags_of(w, out);
  if (x.pdst_count > 0) {
    const u32 masks[] = {0, kAllLanes, f.zero, ~f.zero};
    set_predicate(w, x.pdst[0], masks[x.kind2]);
  }
  if (x.flag) set_cc(w, x.extended ? Flags{f.zero & w.pred[preds::kZero], f.sign, 0, 0} : f);
  Row32 o = result(w, x);
  std::copy_n(out, kLanes, o);
  finish(w, x);
  return u + 1;
}

template <class F>
const Uop* logic_as(Warp& w, const Uop* u, F f) {
  const Detail& x = *u->x;
  if (!x.flag && x.pdst_count == 0) return map(w, u, f);
  ConstRow a = fetch(w, x.src[0], 0);
  ConstRow b = fetch(w, x.src[1], 1);
  u32 out[kLanes];
  NG_LANES(l) out[l] = f(a[l], b[l]);
  return conclude(w, u, out);
}

const Uop* lop(Warp& w, const Uop* u) {
  switch (u->x->kind) {
    case kAnd: return logic_as(w, u, [](u32 a, u32 b) { return a & b; });
    case kOr: return logic_as(w, u, [](u32 a, u32 b) { return a | b; });
    case kXor: return logic_as(w, u, [](u32 a, u32 b) { return a ^ b; });
    default: return logic_as(w, u, [](u32, u32 b) { return b; });
  }
}

void bind_lop(const Inst& inst, Binding& b) {
  Detail& x = b.detail;
  switch (inst.mod(Axis::kLogic)) {
    case Tok::AND: x.kind = kAnd; break;
    case Tok::OR: x.kind = kOr; break;
    case Tok::XOR: x.kind = kXor; break;
    default: x.kind = kPassB;
  }
  x.kind2 = test_of(inst);
  x.flag = sets_cc(inst);
  if (x.pdst_count > 0 && x.pdst[0] == preds::kDump) x.pdst_count = 0;
  b.knows_cc = true;
  signs_as_integer(x);
  x.body = lop;
}

// LOP3 with a test or CC; without them it is that of later chips.
const Uop* lop3_tested(Warp& w, const Uop* u) {
  const Detail& x = *u->x;
  ConstRow a = fetch_raw(w, x.src[0], 0);
  ConstRow b = fetch_raw(w, x.src[1], 1);
  ConstRow c = fetch_raw(w, x.src[2], 2);
  const u32 lut = x.imm;
  u32 out[kLanes];
  NG_LANES(l) out[l] = lut3(lut, a[l], b[l], c[l]);
  return conclude(w, u, out);
}

bool bind_lop3(const Inst& inst, Binding& b) {
  Detail& x = b.detail;
  x.flag = sets_cc(inst);
  x.kind2 = test_of(inst);
  if (x.pdst_count > 0 && x.pdst[0] == preds::kDump) x.pdst_count = 0;
  if (x.pdst_count == 0 && !x.flag) return false;
  if (x.src_count != 4) b.refuse("operands");
  x.imm = x.src[3].bits & 0xff;
  b.knows_cc = true;
  x.body = lop3_tested;
  return true;
}

// Shifts by 32 and more leave nothing but the sign; .W counts modulo 32 instead.
const Uop* shl(Warp& w, const Uop* u) {
  if (u->x->flag) return map(w, u, [](u32 a, u32 n) { return a << (n & 31); });
  return map(w, u, [](u32 a, u32 n) { return n > 31 ? 0 : a << (n & 31); });
}
const Uop* shr(Warp& w, const Uop* u) {
  const Detail& x = *u->x;
  const bool wrap = x.flag;
  if (x.flag2) {
    const bool is_signed = x.is_signed;
    return map(w, u, [=](u32 a, u32 n) {
      const u32 v = reverse(a);
      const u32 by = wrap ? n & 31 : std::min(n, 31u);
      if (is_signed) return static_cast<u32>(static_cast<i32>(v) >> by);
      return !wrap && n > 31 ? 0 : v >> by;
    });
  }
  if (x.is_signed) {
    return map(w, u, [=](u32 a, u32 n) {
      return static_cast<u32>(static_cast<i32>(a) >> (wrap ? n & 31 : std::min(n, 31u)));
    });
  }
  return map(w, u, [=](u32 a, u32 n) { return !wrap && n > 31 ? 0 : a >> (n & 31); });
}

// b = position | length << 8. A signed field is extended by its highest bit, bit 31 where it reaches beyond.
inline u32 extract(u32 a, u32 b, bool is_signed) {
  const u32 at = b & 0xff;
  const u32 length = b >> 8 & 0xff;
  if (length == 0) return 0;
  const u32 top = std::min(at + length - 1, 31u);
  const u32 sign = is_signed && (a >> top & 1) != 0 ? ~0u : 0;
  if (at > 31) return sign;
  const u32 count = top - at + 1;  // bits that are there
  const u32 ones = count > 31 ? ~0u : (1u << count) - 1;
  return (a >> at & ones) | (sign & ~ones);
}
const Uop* bfe(Warp& w, const Uop* u) {
  const bool is_signed = u->x->is_signed;
  const bool reversed = u->x->flag2;
  return map(w, u, [=](u32 a, u32 b) { return extract(reversed ? reverse(a) : a, b, is_signed); });
}

// The low bits of a at position b & 255, b >> 8 & 255 of them, into c.
inline u32 insert(u32 a, u32 b, u32 c) {
  const u32 at = b & 0xff;
  const u32 length = b >> 8 & 0xff;
  if (at > 31 || length == 0) return c;
  const u32 ones = (length > 31 ? ~0u : (1u << length) - 1) << at;
  return (c & ~ones) | (a << at & ones);
}
const Uop* bfi(Warp& w, const Uop* u) {
  return map(w, u, [](u32 a, u32 b, u32 c) { return insert(a, b, c); });
}

// MOV of some bytes.
const Uop* mov_bytes(Warp& w, const Uop* u) {
  const Detail& x = *u->x;
  const u32 mask = x.imm;
  ConstRow a = fetch_raw(w, x.src[0], 0);
  ConstRow old = w.row(x.dst);
  Row32 o = result(w, x);
  NG_LANES(l) o[l] = (a[l] & mask) | (old[l] & ~mask);
  finish(w, x);
  return u + 1;
}

bool bind_mov(Binding& b) {
  Detail& x = b.detail;
  const u32 bytes = x.src_count > 1 ? x.src[1].bits & 15 : 15;
  if (bytes == 15) return false;
  x.imm = 0;
  for (unsigned i = 0; i < 4; ++i) x.imm |= (bytes >> i & 1) != 0 ? 0xffu << (8 * i) : 0;
  x.body = mov_bytes;
  return true;
}

}  // namespace

bool bind_logic64(const Inst& inst, Binding& b) {
  if (inst.row->encoding != Encoding::k64) return false;
  Detail& x = b.detail;
  switch (inst.op) {
    case Op::LOP:
    case Op::LOP32I:
      if (x.extended && !sets_cc(inst)) x.extended = false;  // only its CC would be of several words
      bind_lop(inst, b);
      return true;
    case Op::LOP3: return bind_lop3(inst, b);
    case Op::SHL:
    case Op::SHR:
      if (inst.mod(Axis::kExtended) != Tok::kNone) b.refuse("a shift in several words");
      x.flag = inst.has(Axis::kWrap, Tok::W);
      x.flag2 = inst.has(Axis::kMode, Tok::BREV);
      x.body = inst.op == Op::SHL ? shl : shr;
      return true;
    case Op::BFE:
      x.flag2 = inst.has(Axis::kMode, Tok::BREV);
      x.body = bfe;
      return true;
    case Op::BFI: x.body = bfi; return true;
    case Op::MOV:
    case Op::MOV32I: return bind_mov(b);
    default: return false;
  }
}

}  // namespace nervanagpu::sass::emulate::NG_TARGET

#include "sass/emulate/ops/target_end.h"
