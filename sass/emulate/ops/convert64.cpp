// I2I, and what only sm_50 .. sm_62 have: RRO, which brings an argument into the range of MUFU.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "sass/emulate/ops/cc.h"
#include "sass/emulate/ops/families.h"
#include "sass/emulate/uop/words.h"
#include "sass/isa/rows/row.h"

namespace nervanagpu::sass::emulate {
namespace {

struct IntegerType {
  u32 bits = 32;
  bool is_signed = true;
};

IntegerType integer_type(Tok t) {
  switch (t) {
    case Tok::U8: return {8, false};
    case Tok::S8: return {8, true};
    case Tok::U16: return {16, false};
    case Tok::S16: return {16, true};
    case Tok::U32: return {32, false};
    default: return {32, true};
  }
}

// The low bits of v as a number of the type.
i64 as(IntegerType t, i64 v) {
  const auto bits = static_cast<std::uint64_t>(v) << (64 - t.bits);
  return t.is_signed ? static_cast<i64>(bits) >> (64 - t.bits) : static_cast<i64>(bits >> (64 - t.bits));
}

i64 saturate(IntegerType t, i64 v) {
  const i64 least = t.is_signed ? -(i64{1} << (t.bits - 1)) : 0;
  const i64 most = t.is_signed ? (i64{1} << (t.bits - 1)) - 1 : (i64{1} << t.bits) - 1;
  return std::clamp(v, least, most);
}

// imm and flag: bits and sign of the destination, imm2 and flag2 of the source; kind: sets CC.
const Uop* i2i(Warp& w, const Uop* u) {
  const Detail& x = *u->x;
  const IntegerType to{x.imm, x.flag};
  const IntegerType from{x.imm2, x.flag2};
  const Src& s = x.src[0];
  ConstRow a = fetch_raw(w, s, 0);
  u32 out[kLanes];
  for (unsigned l = 0; l < kLanes; ++l) {
    i64 v = as(from, a[l] >> (8 * s.part));
    if (s.abs) v = std::abs(v);
    if (s.neg) v = -v;
    out[l] = static_cast<u32>(as(to, x.sat ? saturate(to, v) : v));
  }
  if (x.kind != 0) set_cc(w, flags_of(w, out));
  Row32 o = result(w, x);
  std::copy_n(out, kLanes, o);
  finish(w, x);
  return u + 1;
}

// RRO.SINCOS: radians to the turns that MUFU takes, reduced; RRO.EX2 only changes the chip's representation. What the
// chip leaves is a fixed-point number of its own, here a float: only MUFU reads it.
const Uop* rro(Warp& w, const Uop* u) {
  const Detail& x = *u->x;
  ConstRow a = fetch(w, x.src[0], 0);
  Row32 o = result(w, x);
  for (unsigned l = 0; l < kLanes; ++l) {
    u32 v = a[l];
    if (x.flag) {
      constexpr double kPerRadian = 0.15915494309189533576888;
      const double turns = static_cast<double>(std::bit_cast<float>(v)) * kPerRadian;
      const auto reduced = static_cast<float>(std::isfinite(turns) ? turns - std::nearbyint(turns) : turns);
      v = reduced != reduced ? 0x7fffffffu : std::bit_cast<u32>(reduced);
    }
    o[l] = v;
  }
  finish(w, x);
  return u + 1;
}

}  // namespace

bool bind_convert64(const Inst& inst, Binding& b) {
  if (inst.row->encoding != Encoding::k64 && inst.op != Op::I2I) return false;
  Detail& x = b.detail;
  switch (inst.op) {
    case Op::I2I: {
      const IntegerType to = integer_type(inst.mod(Axis::kDstType));
      const IntegerType from = integer_type(inst.mod(Axis::kSrcType));
      x.imm = to.bits;
      x.flag = to.is_signed;
      x.imm2 = from.bits;
      x.flag2 = from.is_signed;
      const Tok part = x.src[0].sub;
      x.src[0].part = part == Tok::B1 ? 1 : part == Tok::B2 || part == Tok::H1 ? 2 : part == Tok::B3 ? 3 : 0;
      x.kind = sets_cc(inst) ? 1 : 0;
      b.knows_cc = true;
      x.body = i2i;
      return true;
    }
    case Op::RRO:
      signs_as_float(x);
      x.flag = says(inst, "SINCOS");
      x.body = rro;
      return true;
    default: return false;
  }
}

}  // namespace nervanagpu::sass::emulate
