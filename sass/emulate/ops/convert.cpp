// Conversions between integers and floats of all sizes.
#include <bit>
#include <cmath>
#include <cstdint>

#include "sass/emulate/ops/families.h"
#include "sass/emulate/ops/wide.h"
#include "sass/emulate/uop/words.h"
#include "sass/half.h"
#include "sass/isa/rows/row.h"

namespace nervanagpu::sass::emulate {
namespace {

enum Type : std::uint8_t { kU8, kS8, kU16, kS16, kU32, kS32, kU64, kS64, kF16, kBF16, kF32, kF64 };

unsigned bits_of(unsigned t) {
  constexpr unsigned kBits[] = {8, 8, 16, 16, 32, 32, 64, 64, 16, 16, 32, 64};
  return kBits[t];
}
bool is_signed(unsigned t) {
  return t == kS8 || t == kS16 || t == kS32 || t == kS64;
}

Type type_of(Tok t, Type fallback) {
  switch (t) {
    case Tok::U8: return kU8;
    case Tok::S8: return kS8;
    case Tok::U16: return kU16;
    case Tok::S16: return kS16;
    case Tok::U32: return kU32;
    case Tok::S32: return kS32;
    case Tok::U64: return kU64;
    case Tok::S64: return kS64;
    case Tok::F16: return kF16;
    case Tok::BF16: return kBF16;
    case Tok::F32: return kF32;
    case Tok::F64: return kF64;
    default: return fallback;
  }
}

// A source of float type kind2 as a double, signs and .FTZ applied.
double float_in(const Detail& x, const WideRow& in, unsigned l) {
  const Src& s = x.src[0];
  double v = 0;
  switch (x.kind2) {
    case kF64: v = std::bit_cast<double>(u64{in.hi[l]} << 32 | in.lo[l]); break;
    case kF16:
    case kBF16: {
      const auto h = static_cast<std::uint16_t>(in.lo[l] >> (s.part != 0 ? 16 : 0));
      v = x.kind2 == kF16 ? from_half(h) : from_bfloat(h);
      break;
    }
    default: {
      u32 b = in.lo[l];
      if (x.ftz && (b & 0x7f800000u) == 0) b &= 0x80000000u;
      v = std::bit_cast<float>(b);
    }
  }
  if (s.abs) v = std::fabs(v);
  return s.neg ? -v : v;
}

double to_integral(double v, unsigned round) {
  switch (round) {
    case kDown: return std::floor(v);
    case kUp: return std::ceil(v);
    case kZeroward: return std::trunc(v);
    default: {
      const double f = std::floor(v);
      const double rest = v - f;
      if (std::fabs(v) >= 0x1p52 || rest == 0) return v;
      const double r = rest > 0.5 || (rest == 0.5 && std::fmod(f, 2.0) != 0) ? f + 1 : f;
      return r == 0 ? std::copysign(0.0, v) : r;
    }
  }
}

// To the integer type kind, saturating. NaN: 0 with .NTZ, else the smallest signed number's bits.
u64 to_integer(const Detail& x, double v) {
  const unsigned bits = bits_of(x.kind);
  if (v != v) return x.flag ? 0 : u64{1} << (bits - 1);
  v = to_integral(v, x.round);
  if (is_signed(x.kind)) {
    const double limit = std::ldexp(1.0, static_cast<int>(bits) - 1);
    if (v >= limit) return (u64{1} << (bits - 1)) - 1;
    const u64 r = v < -limit ? ~u64{0} << (bits - 1) : static_cast<u64>(static_cast<i64>(v));
    return bits == 64 ? r : r & (~u64{0} >> (64 - std::max(bits, 32u)));
  }
  if (v <= 0) return 0;
  if (v >= std::ldexp(1.0, static_cast<int>(bits))) return ~u64{0} >> (64 - bits);
  return static_cast<u64>(v);
}

// A double that is the exact value of the result's rounding: to the float type kind, as bits.
u64 float_out(const Detail& x, double v) {
  const auto round = static_cast<Round>(x.round);
  switch (x.kind) {
    case kF64: return wide_bits(v);
    case kF16: return to_half(x.sat ? (v > 0 ? std::min(v, 1.0) : 0) : v, round);
    case kBF16: return to_bfloat(v, round);
    default: {
      const float f = round_float(v, round);
      u32 b = f != f ? 0x7fffffffu : std::bit_cast<u32>(f);
      if (x.ftz && (b & 0x7f800000u) == 0) b &= 0x80000000u;
      if (x.sat) b = f > 0 ? (f < 1 ? b : 0x3f800000u) : 0;
      return b;
    }
  }
}

template <class F>
const Uop* convert(Warp& w, const Uop* u, unsigned wide_in, unsigned wide_out, F f) {
  const Detail& x = *u->x;
  const WideRow in{fetch_raw(w, x.src[0], 0), wide_in != 0 ? fetch_raw(w, x.src[0], 1, 1) : w.row(rows::kZero)};
  u64 out[kLanes];
  for (unsigned l = 0; l < kLanes; ++l) out[l] = f(x, in, l);
  Row32 lo = result(w, x);
  for (unsigned l = 0; l < kLanes; ++l) lo[l] = static_cast<u32>(out[l]);
  if (wide_out != 0) {
    Row32 hi = result(w, x, 1);
    for (unsigned l = 0; l < kLanes; ++l) hi[l] = static_cast<u32>(out[l] >> 32);
  }
  finish(w, x, wide_out != 0 ? 2 : 1);
  return u + 1;
}

const Uop* f2i(Warp& w, const Uop* u) {
  const Detail& x = *u->x;
  return convert(w, u, x.kind2 == kF64, bits_of(x.kind) == 64,
                 [](const Detail& d, const WideRow& in, unsigned l) { return to_integer(d, float_in(d, in, l)); });
}

const Uop* f2f(Warp& w, const Uop* u) {
  const Detail& x = *u->x;
  return convert(w, u, x.kind2 == kF64, x.kind == kF64,
                 [](const Detail& d, const WideRow& in, unsigned l) { return float_out(d, float_in(d, in, l)); });
}

const Uop* frnd(Warp& w, const Uop* u) {
  const Detail& x = *u->x;
  return convert(w, u, x.kind2 == kF64, x.kind == kF64, [](const Detail& d, const WideRow& in, unsigned l) {
    return float_out(d, to_integral(float_in(d, in, l), d.round));
  });
}

// An integer of type kind2, of which `part` says the byte or half.
__int128 integer_in(const Detail& x, const WideRow& in, unsigned l) {
  u64 v = u64{in.hi[l]} << 32 | in.lo[l];
  const unsigned bits = bits_of(x.kind2);
  v >>= 8u * x.src[0].part;
  __int128 r = 0;
  if (is_signed(x.kind2)) {
    r = static_cast<i64>(v << (64 - bits)) >> (64 - bits);
  } else {
    r = bits == 64 ? v : v & ((u64{1} << bits) - 1);
  }
  if (x.src[0].abs && r < 0) r = -r;
  return x.src[0].neg ? -r : r;
}

// Rounded once: v is cut to 60 bits with the last bit sticky, which a double (to odd) or its rounding below respects.
u64 integer_to_float(const Detail& x, __int128 v) {
  const bool minus = v < 0;
  u64 m = static_cast<u64>(minus ? -v : v);
  if (m == 0) return 0;
  if (x.kind == kF64) {
    // 64 bits into 53.
    const int drop = std::max(0, 11 - std::countl_zero(m));
    if (drop > 0) {
      const u64 rest = m & ((u64{1} << drop) - 1);
      const u64 half = u64{1} << (drop - 1);
      m >>= drop;
      const bool away = x.round == kUp ? !minus : x.round == kDown ? minus : false;
      const bool up = x.round == kNearest ? rest > half || (rest == half && (m & 1) != 0) : away && rest != 0;
      if (up) ++m;
    }
    const double d = std::ldexp(static_cast<double>(m), drop);
    return std::bit_cast<u64>(minus ? -d : d);
  }
  // Narrower types: to odd at 53 bits first.
  const int drop = std::max(0, 11 - std::countl_zero(m));
  if (drop > 0) {
    const bool sticky = (m & ((u64{1} << drop) - 1)) != 0;
    m = m >> drop | (sticky ? 1 : 0);
  }
  const double d = std::ldexp(static_cast<double>(m), drop);
  return float_out(x, minus ? -d : d);
}

const Uop* i2f(Warp& w, const Uop* u) {
  const Detail& x = *u->x;
  return convert(w, u, bits_of(x.kind2) == 64, x.kind == kF64, [](const Detail& d, const WideRow& in, unsigned l) {
    return integer_to_float(d, integer_in(d, in, l));
  });
}

// F2FP.PACK_AB: a in the upper half, b in the lower.
const Uop* f2fp(Warp& w, const Uop* u) {
  const Detail& x = *u->x;
  ConstRow a = fetch(w, x.src[0], 0);
  ConstRow b = fetch(w, x.src[1], 1);
  const auto round = static_cast<Round>(x.round);
  const auto one = [&](u32 v) -> u32 {
    double d = std::bit_cast<float>(v);
    if (x.flag2 && d < 0) d = 0;  // RELU
    return x.kind == kF16 ? to_half(d, round) : to_bfloat(d, round);
  };
  Row32 o = result(w, x);
  for (unsigned l = 0; l < kLanes; ++l) o[l] = one(a[l]) << 16 | one(b[l]);
  finish(w, x);
  return u + 1;
}

void source_part(Binding& b) {
  Src& s = b.detail.src[0];
  switch (s.sub) {
    case Tok::kNone:
    case Tok::B0:
    case Tok::H0:
    case Tok::H0_H0: s.part = 0; break;
    case Tok::B1: s.part = 1; break;
    case Tok::B2:
    case Tok::H1:
    case Tok::H1_H1: s.part = 2; break;
    case Tok::B3: s.part = 3; break;
    default: b.refuse("operand part ." + std::string(tok_text(s.sub)));
  }
}

}  // namespace

bool bind_convert(const Inst& inst, Binding& b) {
  Detail& x = b.detail;
  const Tok to = inst.mod(Axis::kDstType);
  const Tok from = inst.mod(Axis::kSrcType);
  switch (inst.op) {
    case Op::F2I:
      x.kind = type_of(to, kS32);
      x.kind2 = type_of(from, kF32);
      // Before sm_70 a NaN is 0 unless a side has 64 bits.
      x.flag = says(inst, "NTZ") || (inst.row->encoding == Encoding::k64 && x.kind2 != kF64 && bits_of(x.kind) < 64);
      x.body = f2i;
      break;
    case Op::I2F:
    case Op::I2FP:
      x.kind = type_of(to, kF32);
      x.kind2 = type_of(from, kS32);
      x.body = i2f;
      break;
    case Op::F2F:
      x.kind = type_of(to, kF32);
      x.kind2 = type_of(from, kF32);
      // Before sm_70 also within a type, where only a rounding that is written makes whole numbers.
      x.body = x.kind == x.kind2 && (inst.mod(Axis::kRound) != Tok::kNone || inst.row->encoding == Encoding::k128)
                   ? frnd
                   : f2f;
      break;
    case Op::FRND:
      x.kind = type_of(to, type_of(from, kF32));
      x.kind2 = type_of(from, static_cast<Type>(x.kind));
      x.body = frnd;
      break;
    case Op::F2FP:
      x.kind = type_of(to, kF16);
      x.flag2 = says(inst, "RELU");
      if (x.kind != kF16 && x.kind != kBF16) b.refuse("a destination type");
      if (!says(inst, "PACK_AB") || says(inst, "MERGE_C") || says(inst, "PACK_AB_MERGE_C")) b.refuse("a merged result");
      signs_as_float(x);
      if (x.src_count < 2) b.refuse("operands");
      x.body = f2fp;
      return true;
    default: return false;
  }
  source_part(b);
  if (x.src_count < 1) b.refuse("operands");
  return true;
}

}  // namespace nervanagpu::sass::emulate
