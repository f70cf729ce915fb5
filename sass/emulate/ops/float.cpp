// Single precision: FADD, FMUL, FFMA, minimum and maximum, select. Nearest even runs on the host's arithmetic, which is
// the same; the directed roundings are computed exactly in double and then rounded. NaN results are 0x7fffffff.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "sass/emulate/ops/families.h"
#include "sass/emulate/state/warp.h"
#include "sass/isa/rows/row.h"

#if defined(NG_EMULATE_AVX2)
#include <immintrin.h>
#endif

#include "sass/emulate/ops/target_begin.h"

#include "sass/emulate/lanes/bits.h"
#include "sass/emulate/lanes/lanes.h"
#include "sass/emulate/uop/words.h"

namespace nervanagpu::sass::emulate::NG_TARGET {
namespace {

constexpr u32 kNan = 0x7fffffffu;

inline u32 to_bits(float f) {
  return f != f ? kNan : std::bit_cast<u32>(f);
}
inline float from_bits(u32 b) {
  return std::bit_cast<float>(b);
}
// To [0, 1]; NaN becomes 0.
inline u32 saturate(u32 b) {
  const float f = from_bits(b);
  return f > 0 ? (f < 1 ? b : 0x3f800000u) : 0;
}

// FFMA with plain registers and no modifier: the inner loop of everything. Runs on over its equals, so that a block of
// FFMAs costs one dispatch. Written out for AVX2, because whether a compiler vectorises the loop moves with its version
// and its flags, and with it the emulator's speed by four.
#if defined(NG_EMULATE_AVX2)
inline __m256 load(ConstRow row, unsigned lane) {
  return _mm256_loadu_ps(reinterpret_cast<const float*>(row + lane));
}

inline void ffma_lanes(Row32 d, ConstRow a, ConstRow b, ConstRow c) {
  const __m256 nan = _mm256_castsi256_ps(_mm256_set1_epi32(static_cast<int>(kNan)));
#pragma GCC unroll 4
  for (unsigned l = 0; l < kLanes; l += 8) {
    const __m256 r = _mm256_fmadd_ps(load(a, l), load(b, l), load(c, l));
    const __m256 canonical = _mm256_blendv_ps(r, nan, _mm256_cmp_ps(r, r, _CMP_UNORD_Q));
    _mm256_storeu_ps(reinterpret_cast<float*>(d + l), canonical);
  }
}
#else
inline void ffma_lanes(Row32 d, ConstRow a, ConstRow b, ConstRow c) {
  for (unsigned l = 0; l < kLanes; ++l) {
    d[l] = to_bits(__builtin_fmaf(from_bits(a[l]), from_bits(b[l]), from_bits(c[l])));
  }
}
#endif

const Uop* ffma_one(Warp& w, const Uop* u) {
  if (w.exec == kAllLanes) {
    ffma_lanes(w.row(u->d), w.row(u->a), w.row(u->b), w.row(u->c));
  } else {
    Row32 o = w.scratch[kResult].data();
    ffma_lanes(o, w.row(u->a), w.row(u->b), w.row(u->c));
    blend(w.row(u->d), o, w.exec);
  }
  return u + 1;
}

const Uop* ffma_run(Warp& w, const Uop* u) {
  if (w.exec != kAllLanes) return ffma_one(w, u);
  std::uint32_t* const file = w.file;
  do {
    ffma_lanes(file + u->d * kLanes, file + u->a * kLanes, file + u->b * kLanes, file + u->c * kLanes);
    ++u;
  } while (u->run == ffma_run);
  return u;
}

template <bool kFtz, bool kSat, class F>
inline u32 near(F f, u32 a, u32 b, u32 c) {
  if (kFtz) {
    a = flush(a);
    b = flush(b);
    c = flush(c);
  }
  u32 r = to_bits(f(from_bits(a), from_bits(b), from_bits(c)));
  if (kFtz) r = flush(r);
  if (kSat) r = saturate(r);
  return r;
}

// The float next to the exact value s + e (|e| at most half a unit of s in double) in direction `round`.
inline float round_exact(double s, double e, Round round) {
  float f = static_cast<float>(s);
  if (f != f) return f;
  // The sign of (s + e) - f, exactly. Infinite f from finite s counts as beyond.
  const double d = static_cast<double>(f);
  const double error = s == d ? e : s - d;
  if (error == 0 || (std::isinf(s))) return f;
  const bool above = error > 0;  // the exact value is above f
  const float up = std::numeric_limits<float>::infinity();
  switch (round) {
    case kDown: return above ? f : std::nextafterf(f, -up);
    case kUp: return above ? std::nextafterf(f, up) : f;
    case kZeroward: {
      const bool positive = s > 0;
      if (positive) return above ? f : std::nextafterf(f, -up);
      return above ? std::nextafterf(f, up) : f;
    }
    default: return f;
  }
}

// a * b + c with a directed rounding. The product of two floats is exact in double; the sum is split into its rounded
// value and its exact error (Knuth), neither of which can leave the range of double.
inline float fma_directed(float a, float b, float c, Round round) {
  const double p = static_cast<double>(a) * static_cast<double>(b);
  const double q = static_cast<double>(c);
  const double s = p + q;
  if (!(std::fabs(s) <= std::numeric_limits<double>::max())) return static_cast<float>(s);
  if (s == 0) {
    // Exact zero: -0 when rounding down, unless both terms are +0; both terms -0 give -0.
    const bool minus = std::signbit(p) && std::signbit(q);
    const bool plus = !std::signbit(p) && !std::signbit(q);
    if (minus || (round == kDown && !plus)) return -0.0F;
    return 0.0F;
  }
  const double v = s - p;
  const double e = (p - (s - v)) + (q - v);
  return round_exact(s, e, round);
}

struct Add {
  static float near(float a, float b, float) { return a + b; }
  static float directed(float a, float b, float, Round r) { return fma_directed(a, 1.0F, b, r); }
};
struct Mul {
  static float near(float a, float b, float) { return a * b; }
  static float directed(float a, float b, float, Round r) {
    const double p = static_cast<double>(a) * static_cast<double>(b);
    return p == 0 ? static_cast<float>(p) : round_exact(p, 0, r);
  }
};
struct Fma {
  static float near(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
  static float directed(float a, float b, float c, Round r) { return fma_directed(a, b, c, r); }
};

template <class F, unsigned kArity, bool kFtz, bool kSat>
const Uop* near_op(Warp& w, const Uop* u) {
  if constexpr (kArity == 2) {
    return map(w, u, [](u32 a, u32 b) { return near<kFtz, kSat>(F::near, a, b, 0); });
  } else {
    return map(w, u, [](u32 a, u32 b, u32 c) { return near<kFtz, kSat>(F::near, a, b, c); });
  }
}

// Everything else: directed roundings, FMUL's scale, FMZ. Lane by lane.
template <class F, unsigned kArity>
const Uop* rare_op(Warp& w, const Uop* u) {
  const Detail& x = *u->x;
  ConstRow a = fetch(w, x.src[0], 0);
  ConstRow b = fetch(w, x.src[1], 1);
  ConstRow c = kArity == 3 ? fetch(w, x.src[2], 2) : w.row(rows::kZero);
  Row32 o = result(w, x);
  const Round round = static_cast<Round>(x.round);
  for (unsigned l = 0; l < kLanes; ++l) {
    u32 p = a[l];
    u32 q = b[l];
    u32 t = c[l];
    if (x.ftz) {
      p = flush(p);
      q = flush(q);
      t = flush(t);
    }
    float r = 0;
    if (x.flag && (from_bits(p) == 0 || from_bits(q) == 0)) {
      r = kArity == 3 ? from_bits(t) : 0.0F;  // FMZ: 0 times anything is 0
    } else if (round == kNearest) {
      r = F::near(from_bits(p), from_bits(q), from_bits(t));
    } else {
      r = F::directed(from_bits(p), from_bits(q), from_bits(t), round);
    }
    u32 v = to_bits(r);
    if (x.ftz) v = flush(v);
    if (x.sat) v = saturate(v);
    o[l] = v;
  }
  finish(w, x);
  return u + 1;
}

// The lanes of a quad each add or subtract in their own way: isa/literal.h, kQuadLanes.
const Uop* quad_add(Warp& w, const Uop* u) {
  const Detail& x = *u->x;
  ConstRow a = fetch(w, x.src[0], 0);
  ConstRow b = fetch(w, x.src[1], 1);
  Row32 o = result(w, x);
  const auto round = static_cast<Round>(x.round);
  for (unsigned l = 0; l < kLanes; ++l) {
    const u32 what = x.src[2].bits >> 2 * (3 - l % 4) & 3;
    u32 p = what == 3 ? 0 : what == 2 ? a[l] ^ 0x80000000u : a[l];
    u32 q = what == 1 ? b[l] ^ 0x80000000u : b[l];
    if (x.ftz) {
      p = flush(p);
      q = flush(q);
    }
    const float r = round == kNearest ? Add::near(from_bits(p), from_bits(q), 0)
                                      : Add::directed(from_bits(p), from_bits(q), 0, round);
    o[l] = x.ftz ? flush(to_bits(r)) : to_bits(r);
  }
  finish(w, x);
  return u + 1;
}

// FMUL.D2 .. M8: the product times a power of two, rounded once.
const Uop* scaled_mul(Warp& w, const Uop* u) {
  const Detail& x = *u->x;
  ConstRow a = fetch(w, x.src[0], 0);
  ConstRow b = fetch(w, x.src[1], 1);
  Row32 o = result(w, x);
  const auto round = static_cast<Round>(x.round);
  for (unsigned l = 0; l < kLanes; ++l) {
    const u32 p = x.ftz ? flush(a[l]) : a[l];
    const u32 q = x.ftz ? flush(b[l]) : b[l];
    double product = static_cast<double>(from_bits(p)) * static_cast<double>(from_bits(q));
    if (x.flag && (from_bits(p) == 0 || from_bits(q) == 0)) product = 0;  // FMZ
    product = std::ldexp(product, static_cast<std::int32_t>(x.imm));
    u32 v = to_bits(product == 0 || round == kNearest ? static_cast<float>(product) : round_exact(product, 0, round));
    if (x.ftz) v = flush(v);
    o[l] = x.sat ? saturate(v) : v;
  }
  finish(w, x);
  return u + 1;
}

int scale_of(Tok t) {
  switch (t) {
    case Tok::D8: return -3;
    case Tok::D4: return -2;
    case Tok::D2: return -1;
    case Tok::M2: return 1;
    case Tok::M4: return 2;
    case Tok::M8: return 3;
    default: return 0;
  }
}

template <class F, unsigned kArity>
void bind_arithmetic(const Inst& inst, Binding& b) {
  Detail& x = b.detail;
  signs_as_float(x);
  x.flag = inst.has(Axis::kFtz, Tok::FMZ);
  const int scale = scale_of(inst.mod(Axis::kScale));
  x.imm = static_cast<u32>(scale);
  if (inst.has(Axis::kSat, Tok::RELU)) b.refuse(".RELU");
  if (scale != 0) {
    x.body = scaled_mul;
  } else if (x.round != kNearest || x.flag) {
    x.body = rare_op<F, kArity>;
  } else if (x.ftz) {
    x.body = x.sat ? near_op<F, kArity, true, true> : near_op<F, kArity, true, false>;
  } else {
    x.body = x.sat ? near_op<F, kArity, false, true> : near_op<F, kArity, false, false>;
  }
}

void bind_ffma(const Inst& inst, Binding& b) {
  Detail& x = b.detail;
  bind_arithmetic<Fma, 3>(inst, b);
  bool plain = x.body == near_op<Fma, 3, false, false>;
  for (unsigned i = 0; i < 3; ++i) plain = plain && x.src[i].plain && x.src[i].kind == Src::Kind::kRow;
  if (plain) {
    x.body = ffma_one;
    b.uop.run = ffma_run;
  }
}

// |a| and |b|, as ptxas always has them beside .XORSIGN.
[[maybe_unused]] bool sizes_of_both(const Detail& x) {
  return x.src_count == 2 && x.src[0].abs && x.src[1].abs && !x.src[0].neg && !x.src[1].neg;
}

// d = p ? min(a, b) : max(a, b). A NaN loses; -0 is less than +0.
inline u32 min_max(u32 a, u32 b, bool minimum, bool nan_wins) {
  const float p = from_bits(a);
  const float q = from_bits(b);
  if (p != p || q != q) {
    if (nan_wins || (p != p && q != q)) return kNan;
    return p != p ? b : a;
  }
  // As sign-magnitude integers, which orders -0 before +0.
  const auto key = [](u32 v) { return static_cast<std::int32_t>(v ^ ((v >> 31) != 0 ? 0x7fffffffu : 0)); };
  return (key(a) < key(b)) == minimum ? a : b;
}

const Uop* fmnmx(Warp& w, const Uop* u) {
  const Detail& x = *u->x;
  Row32 pick = unpacked(w, predicate(w, x.puse[0]));
  ConstRow a = fetch(w, x.src[0], 0);
  ConstRow b = fetch(w, x.src[1], 1);
  Row32 o = result(w, x);
  const bool ftz = x.ftz;
  const bool nan_wins = x.flag;
  NG_LANES(l) {
    const u32 p = ftz ? flush(a[l]) : a[l];
    const u32 q = ftz ? flush(b[l]) : b[l];
    o[l] = min_max(p, q, pick[l] != 0, nan_wins);
  }
  finish(w, x);
  return u + 1;
}

// FMNMX.XORSIGN d, |a|, |b|: the sign is that of the product, but a NaN's stays.
const Uop* fmnmx_xorsign(Warp& w, const Uop* u) {
  const Detail& x = *u->x;
  ConstRow a = fetch_raw(w, x.src[0], 2);
  ConstRow b = fetch_raw(w, x.src[1], 3);
  u32 sign[kLanes];
  NG_LANES(l) sign[l] = (a[l] ^ b[l]) & 0x80000000u;
  Detail sizes = x;
  sizes.dst = rows::kDump;
  Uop of = *u;
  of.x = &sizes;
  fmnmx(w, &of);
  // Where result() has put them.
  ConstRow size = w.exec == kAllLanes ? w.row(rows::kDump) : w.scratch[kResult].data();
  u32 out[kLanes];
  NG_LANES(l) out[l] = (size[l] & 0x7fffffffu) > 0x7f800000u ? size[l] : (size[l] & 0x7fffffffu) | sign[l];
  blend(w.row(x.dst), out, w.exec);
  return u + 1;
}

const Uop* fsel(Warp& w, const Uop* u) {
  const Detail& x = *u->x;
  Row32 pick = unpacked(w, predicate(w, x.puse[0]));
  ConstRow a = fetch(w, x.src[0], 0);
  ConstRow b = fetch(w, x.src[1], 1);
  Row32 o = result(w, x);
  const bool ftz = x.ftz;
  NG_LANES(l) {
    const u32 v = pick[l] != 0 ? a[l] : b[l];
    o[l] = ftz ? flush(v) : v;
  }
  finish(w, x);
  return u + 1;
}

// FCHK: true where a / b needs the careful path, that is unless both are normal and the quotient stays well inside the
// normal range. A wider answer than the chip's is right too: the careful path serves all values.
const Uop* fchk(Warp& w, const Uop* u) {
  const Detail& x = *u->x;
  const u32 m = test2(w, x, [](u32 a, u32 b) {
    const int ea = static_cast<int>(a >> 23 & 0xff);
    const int eb = static_cast<int>(b >> 23 & 0xff);
    const bool safe = ea > 24 && ea < 255 && eb > 1 && eb < 253 && ea - eb > -125 && ea - eb < 126;
    return !safe;
  });
  set_predicate(w, x.pdst[0], m);
  return u + 1;
}

}  // namespace

bool bind_float(const Inst& inst, Binding& b) {
  Detail& x = b.detail;
  switch (inst.op) {
    case Op::FFMA:
    case Op::FFMA32I: bind_ffma(inst, b); return true;
    case Op::FSWZADD:
      if (x.src_count != 3) b.refuse("operands");
      x.body = quad_add;
      return true;
    case Op::FADD:
    case Op::FADD32I: bind_arithmetic<Add, 2>(inst, b); return true;
    case Op::FMUL:
    case Op::FMUL32I: bind_arithmetic<Mul, 2>(inst, b); return true;
    case Op::FMNMX:
      signs_as_float(x);
      x.flag = says(inst, "NAN");
      if (inst.has(Axis::kSat, Tok::RELU)) b.refuse("a modifier of FMNMX");
      x.body = says(inst, "XORSIGN") ? fmnmx_xorsign : fmnmx;
      if (says(inst, "XORSIGN") && !sizes_of_both(x)) b.refuse(".XORSIGN of numbers with a sign");
      return true;
    case Op::FSEL:
      signs_as_float(x);
      x.body = fsel;
      return true;
    case Op::FCHK:
      signs_as_float(x);
      x.body = fchk;
      return true;
    default: return false;
  }
}

}  // namespace nervanagpu::sass::emulate::NG_TARGET

#include "sass/emulate/ops/target_end.h"
