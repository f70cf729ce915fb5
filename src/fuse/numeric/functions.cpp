// Functions of float32. MUFU only gives a first guess whose error the steps after it
// remove, so that the bits are the same on every chip and on the emulator.
//
// Polynomials: least squares at Chebyshev nodes, weighted until the largest relative error is level; exp, log, tanh and
// sigmoid are those of kernels/lib/functions.sass. Within 2 ULP; divide and sqrt are correctly rounded.
#include <bit>

#include "src/fuse/numeric/emit.h"

namespace nervanagpu::fuse {

using sass::kAlways;
using sass::kZero;
using sass::magnitude;

namespace {

constexpr std::uint32_t kOne = 0x3f800000;
constexpr std::uint32_t kMagic = 0x4b400000;  // 1.5 * 2^23: adding it rounds to an integer
constexpr std::uint32_t kInfinity = 0x7f800000;
constexpr std::uint32_t kNan = 0x7fffffff;

}  // namespace

// ---- float32: exponentials -------------------------------------------------------------------------------------------

Lanes Emit::clamp(const Lanes& x, std::uint32_t low, std::uint32_t high) {
  Lanes d = fresh();
  each([&](unsigned i) { op(Op::FMNMX, {Tok::kNAN}, {d[i], x[i], high, kAlways}); });
  each([&](unsigned i) { op(Op::FMNMX, {Tok::kNAN}, {d[i], d[i], low, !kAlways}); });
  return d;
}

// p x + c
Lanes Emit::horner(const Lanes& p, const Lanes& x, std::uint32_t c) {
  Lanes d = fresh();
  each([&](unsigned i) { op(Op::FFMA, {}, {d[i], p[i], x[i], c}); });
  return d;
}

// 2^m e^r for |r| <= ln 2 / 2, t = m + kMagic. wide: the result may be subnormal or beyond the range, and 2^m goes in two
// factors, the second of which rounds.
Lanes Emit::scaled_exp(const Lanes& r, const Lanes& t, bool wide) {
  Lanes p = fresh();
  const VReg c = constant(0x3ab6a65e);
  each([&](unsigned i) { op(Op::FFMA, {}, {p[i], r[i], 0x394efdd8, c}); });
  for (const std::uint32_t k : {0x3c088987U, 0x3d2aaa74U, 0x3e2aaaaaU, 0x3f000000U}) p = horner(p, r, k);
  each([&](unsigned i) { op(Op::FMUL, {}, {p[i], p[i], r[i]}); });
  each([&](unsigned i) { op(Op::FFMA, {}, {p[i], p[i], r[i], r[i]}); });
  each([&](unsigned i) { op(Op::FADD, {}, {p[i], p[i], kOne}); });
  Lanes d = fresh();
  Lanes m = fresh();
  const VReg one = constant(kOne);
  // 2^n as float bits is n 2^23 + kOne; the magic number's bits, and half of them, go with the multiplication.
  const auto power_of_two = [&](const Lanes& n) {
    each([&](unsigned i) { op(Op::IMAD, {}, {n[i], n[i], 0x800000, one}); });
  };
  if (!wide) {
    each([&](unsigned i) { op(Op::IMAD, {}, {m[i], t[i], 0x800000, one}); });
    each([&](unsigned i) { op(Op::FMUL, {}, {d[i], p[i], m[i]}); });
    return d;
  }
  Lanes h = fresh();
  each([&](unsigned i) { op(Op::SHF, {Tok::R, Tok::S32, Tok::HI}, {h[i], kZero, 1, t[i]}); });
  each([&](unsigned i) { op(Op::IADD3, {}, {m[i], t[i], -Arg(h[i]), kZero}); });
  power_of_two(h);
  power_of_two(m);
  each([&](unsigned i) { op(Op::FMUL, {}, {d[i], p[i], h[i]}); });
  each([&](unsigned i) { op(Op::FMUL, {}, {d[i], d[i], m[i]}); });
  return d;
}

// e^x for -105 <= x <= 89, or NaN: x = m ln 2 + r
Lanes Emit::exp_core(const Lanes& x, bool wide) {
  Lanes t = fresh();
  Lanes r = fresh();
  const VReg magic = constant(kMagic);
  each([&](unsigned i) { op(Op::FFMA, {}, {t[i], x[i], 0x3fb8aa3b, magic}); });
  each([&](unsigned i) { op(Op::FADD, {}, {r[i], t[i], -Arg(magic)}); });
  // ln 2 in two parts: m times the first, rounded up, is taken off exactly.
  Lanes s = fresh();
  each([&](unsigned i) { op(Op::FFMA, {}, {s[i], r[i], 0xbf317218, x[i]}); });
  each([&](unsigned i) { op(Op::FFMA, {}, {r[i], r[i], 0x3102e308, s[i]}); });
  return scaled_exp(r, t, wide);
}

Lanes Emit::exp(const Lanes& x) {
  return exp_core(clamp(x, 0xc2d20000, 0x42b20000), true);  // beyond them as -105 and 89
}

// 2^x: x = m + f, |f| <= 1/2; 2^f = e^(f ln 2)
Lanes Emit::exp2(const Lanes& x) {
  const Lanes c = clamp(x, 0xc3180000, 0x43010000);  // -152 and 129
  Lanes t = fresh();
  Lanes f = fresh();
  const VReg magic = constant(kMagic);
  each([&](unsigned i) { op(Op::FADD, {}, {t[i], c[i], magic}); });
  each([&](unsigned i) { op(Op::FADD, {}, {f[i], t[i], -Arg(magic)}); });
  each([&](unsigned i) { op(Op::FADD, {}, {f[i], c[i], -Arg(f[i])}); });
  each([&](unsigned i) { op(Op::FMUL, {}, {f[i], f[i], 0x3f317218}); });
  return scaled_exp(f, t, true);
}

// ---- float32: logarithms ---------------------------------------------------------------------------------------------

// x = 2^e (1 + f), f in [sqrt(1/2) - 1, sqrt(2) - 1]; ln x = e ln 2 + (f - f^2 / 2 + f^3 Q(f))
Lanes Emit::log(const Lanes& x, bool base2) {
  Lanes v = fresh();
  Lanes e = fresh();
  Lanes f = fresh();
  const VReg one = constant(kOne);
  each([&](unsigned i) {  // subnormal numbers times 2^23
    const VPred small = b.pred();
    op(Op::FSETP, {Tok::LT, Tok::AND}, {small, kAlways, x[i], 0x00800000, kAlways});
    op(Op::FMUL, {}, {v[i], x[i], 8388608.0F});
    select(v[i], v[i], x[i], small);
    select(e[i], -23, kZero, small);
  });
  each([&](unsigned i) { op(Op::IADD3, {}, {f[i], v[i], -std::int64_t{0x3f3504f3}, kZero}); });
  each([&](unsigned i) { op(Op::SHF, {Tok::R, Tok::S32, Tok::HI}, {f[i], kZero, 23, f[i]}); });
  each([&](unsigned i) { op(Op::IADD3, {}, {e[i], e[i], f[i], kZero}); });
  each([&](unsigned i) { op(Op::SHF, {Tok::L, Tok::U32}, {f[i], f[i], 23, kZero}); });
  each([&](unsigned i) { op(Op::IADD3, {}, {f[i], v[i], -Arg(f[i]), kZero}); });
  each([&](unsigned i) { op(Op::I2FP, {Tok::F32, Tok::S32}, {e[i], e[i]}); });
  each([&](unsigned i) { op(Op::FADD, {}, {f[i], f[i], -Arg(one)}); });
  Lanes q = fresh();
  const VReg c = constant(0xbdef015f);
  each([&](unsigned i) { op(Op::FFMA, {}, {q[i], f[i], 0x3d8a3b08, c}); });
  for (const std::uint32_t k :
       {0x3df35f9dU, 0xbdfe1443U, 0x3e119dd4U, 0xbe2aae23U, 0x3e4cd23bU, 0xbe800003U, 0x3eaaaaa4U}) {
    q = horner(q, f, k);
  }
  Lanes square = fresh();
  each([&](unsigned i) { op(Op::FMUL, {}, {square[i], f[i], f[i]}); });
  each([&](unsigned i) { op(Op::FMUL, {}, {q[i], q[i], f[i]}); });
  each([&](unsigned i) { op(Op::FMUL, {}, {q[i], q[i], square[i]}); });
  Lanes d = fresh();
  if (base2) {
    // e + (f - f^2 / 2 + f^3 Q) / ln 2, the quotient with the second part of 1 / ln 2
    each([&](unsigned i) { op(Op::FFMA, {}, {q[i], square[i], 0xbf000000, q[i]}); });
    Lanes rest = fresh();
    each([&](unsigned i) { op(Op::FMUL, {}, {rest[i], f[i], 0x32a57060}); });
    each([&](unsigned i) { op(Op::FFMA, {}, {rest[i], q[i], 0x3fb8aa3b, rest[i]}); });
    each([&](unsigned i) { op(Op::FFMA, {}, {d[i], f[i], 0x3fb8aa3b, rest[i]}); });
    // The product's low part keeps the sum with e within its last place.
    each([&](unsigned i) { op(Op::FADD, {}, {d[i], d[i], e[i]}); });
  } else {
    each([&](unsigned i) { op(Op::FFMA, {}, {q[i], e[i], 0xb102e308, q[i]}); });  // ln 2 less its float
    each([&](unsigned i) { op(Op::FFMA, {}, {q[i], square[i], 0xbf000000, q[i]}); });
    each([&](unsigned i) { op(Op::FADD, {}, {q[i], q[i], f[i]}); });
    each([&](unsigned i) { op(Op::FFMA, {}, {d[i], e[i], 0x3f317218, q[i]}); });
  }
  each([&](unsigned i) {
    const VPred below = b.pred(), zero = b.pred(), large = b.pred();
    op(Op::FSETP, {Tok::LT, Tok::AND}, {below, kAlways, x[i], kZero, kAlways});
    op(Op::FSETP, {Tok::EQ, Tok::AND}, {zero, kAlways, x[i], kZero, kAlways});
    op(Op::FSETP, {Tok::GEU, Tok::AND}, {large, kAlways, x[i], kInfinity, kAlways});  // infinity and NaN
    select(d[i], kNan, d[i], below);
    select(d[i], 0xff800000, d[i], zero);
    op(Op::FADD, {}, {v[i], x[i], x[i]});
    select(d[i], v[i], d[i], large);
  });
  return d;
}

// ---- float32: tanh and the logistic function -------------------------------------------------------------------------

// x / y for y in [1, 2^30] and x in [0, y], or NaN, within 1 ULP. low: what y lacks.
Lanes Emit::quotient(const Lanes& x, const Lanes& y, const Lanes* low) {
  Lanes r = fresh();
  Lanes e = fresh();
  const VReg one = constant(kOne);
  const VReg guess = constant(0x7ef311c3);
  each([&](unsigned i) { op(Op::IADD3, {}, {r[i], guess, -Arg(y[i]), kZero}); });
  for (int step = 0; step < 2; ++step) {
    each([&](unsigned i) { op(Op::FFMA, {}, {e[i], r[i], -Arg(y[i]), one}); });
    each([&](unsigned i) { op(Op::FFMA, {}, {e[i], e[i], e[i], e[i]}); });
    each([&](unsigned i) { op(Op::FFMA, {}, {r[i], r[i], e[i], r[i]}); });
  }
  Lanes rest = fresh();
  Lanes d = fresh();
  each([&](unsigned i) { op(Op::FMUL, {}, {e[i], x[i], r[i]}); });
  each([&](unsigned i) { op(Op::FFMA, {}, {rest[i], e[i], -Arg(y[i]), x[i]}); });
  if (low != nullptr) each([&](unsigned i) { op(Op::FFMA, {}, {rest[i], e[i], -Arg((*low)[i]), rest[i]}); });
  each([&](unsigned i) { op(Op::FFMA, {}, {d[i], rest[i], r[i], e[i]}); });
  return d;
}

// Of |x| with the sign put back: below 9/16 an odd polynomial, above 1 - 2 / (e^2|x| + 1).
Lanes Emit::tanh(const Lanes& x) {
  Lanes v = fresh();
  Lanes s = fresh();
  each([&](unsigned i) {
    op(Op::LOP3, {Tok::LUT}, {v[i], x[i], 0x7fffffff, kZero, kAnd, !kAlways});
    op(Op::LOP3, {Tok::LUT}, {s[i], x[i], 0x80000000, kZero, kAnd, !kAlways});
    op(Op::LOP3, {Tok::LUT}, {s[i], s[i], kOne, kZero, kOr, !kAlways});
  });
  each([&](unsigned i) { op(Op::FMNMX, {Tok::kNAN}, {v[i], v[i], 0x41200000, kAlways}); });  // 10: tanh is 1
  Lanes y = fresh();
  each([&](unsigned i) { op(Op::FADD, {}, {y[i], v[i], v[i]}); });
  y = exp_core(y, false);
  each([&](unsigned i) { op(Op::FADD, {}, {y[i], y[i], kOne}); });
  Lanes two;
  const VReg k = constant(0x40000000);
  const VReg one = constant(kOne);
  each([&](unsigned i) { two[i] = k; });
  Lanes q = quotient(two, y, nullptr);
  each([&](unsigned i) { op(Op::FADD, {}, {q[i], one, -Arg(q[i])}); });
  Lanes square = fresh();
  each([&](unsigned i) { op(Op::FMUL, {}, {square[i], v[i], v[i]}); });
  Lanes p = fresh();
  const VReg c = constant(0x3cac0d11);
  each([&](unsigned i) { op(Op::FFMA, {}, {p[i], square[i], 0xbbca47c5, c}); });
  for (const std::uint32_t coefficient : {0xbd5c8339U, 0x3e088630U, 0xbeaaaaa4U}) p = horner(p, square, coefficient);
  each([&](unsigned i) { op(Op::FMUL, {}, {square[i], square[i], v[i]}); });
  each([&](unsigned i) { op(Op::FFMA, {}, {p[i], p[i], square[i], v[i]}); });
  Lanes d = fresh();
  each([&](unsigned i) {
    const VPred small = b.pred();
    op(Op::FSETP, {Tok::LT, Tok::AND}, {small, kAlways, v[i], 0x3f100000, kAlways});
    select(d[i], p[i], q[i], small);
    op(Op::FMUL, {}, {d[i], d[i], s[i]});
  });
  return d;
}

// 1 / (1 + e^-x), by z = e^-|x|: 1 / (1 + z), or z / (1 + z) where x is negative. base2: 2 instead of e.
Lanes Emit::sigmoid(const Lanes& x, bool base2) {
  Lanes z = fresh();
  each([&](unsigned i) { op(Op::LOP3, {Tok::LUT}, {z[i], x[i], 0x80000000, kZero, kOr, !kAlways}); });
  z = base2 ? exp2(z) : exp_core(clamp(z, 0xc2d20000, 0x42b20000), true);
  Lanes y = fresh();
  Lanes low = fresh();
  Lanes top = fresh();
  each([&](unsigned i) { op(Op::FADD, {}, {y[i], z[i], kOne}); });
  each([&](unsigned i) { op(Op::FADD, {}, {low[i], y[i], 0xbf800000}); });
  each([&](unsigned i) { op(Op::FADD, {}, {low[i], z[i], -Arg(low[i])}); });  // what was lost of z
  each([&](unsigned i) {
    const VPred positive = b.pred();
    op(Op::ISETP, {Tok::GE, Tok::AND}, {positive, kAlways, x[i], kZero, kAlways});
    select(top[i], kOne, z[i], positive);
  });
  return quotient(top, y, &low);
}

// ---- Quotients, roots and powers -------------------------------------------------------------------------------------

// By Goldschmidt's steps from a guess of 1 / sqrt x, and a last one that makes it correctly rounded. Small x are scaled,
// since their remainders would be subnormal.
Lanes Emit::sqrt(const Lanes& x) {
  Lanes v = fresh();
  Lanes back = fresh();
  Lanes y = fresh();
  each([&](unsigned i) {
    const VPred small = b.pred();
    op(Op::FSETP, {Tok::LT, Tok::AND}, {small, kAlways, x[i], 0x0f800000, kAlways});  // 2^-96
    op(Op::FMUL, {}, {v[i], x[i], 0x5f800000});                                       // 2^64
    select(v[i], v[i], x[i], small);
    select(back[i], 0x2f800000, constant(kOne), small);  // 2^-32
  });
  each([&](unsigned i) { op(Op::MUFU, {Tok::RSQ}, {y[i], v[i]}); });
  Lanes g = fresh();
  Lanes h = fresh();
  Lanes r = fresh();
  each([&](unsigned i) { op(Op::FMUL, {}, {g[i], v[i], y[i]}); });
  each([&](unsigned i) { op(Op::FMUL, {}, {h[i], y[i], 0x3f000000}); });
  // h and g come closer to 1 / 2 sqrt x and sqrt x
  const VReg half_one = constant(0x3f000000);
  each([&](unsigned i) { op(Op::FFMA, {}, {r[i], -Arg(g[i]), h[i], half_one}); });
  each([&](unsigned i) { op(Op::FFMA, {}, {g[i], g[i], r[i], g[i]}); });
  each([&](unsigned i) { op(Op::FFMA, {}, {h[i], h[i], r[i], h[i]}); });
  each([&](unsigned i) { op(Op::FFMA, {}, {r[i], -Arg(g[i]), g[i], v[i]}); });
  each([&](unsigned i) { op(Op::FFMA, {}, {g[i], r[i], h[i], g[i]}); });
  Lanes d = fresh();
  each([&](unsigned i) {
    const VPred special = b.pred(), zero = b.pred();
    op(Op::FMUL, {}, {g[i], g[i], back[i]});
    op(Op::FSETP, {Tok::EQ, Tok::AND}, {special, kAlways, x[i], kInfinity, kAlways});
    op(Op::FSETP, {Tok::EQ, Tok::AND}, {zero, kAlways, x[i], kZero, kAlways});
    select(d[i], x[i], g[i], special);
    select(d[i], x[i], d[i], zero);
  });
  return d;
}

// Through float64: its 53 bits are more than twice 24, so that rounding the quotient again to float32 is as rounding it
// once, results that are subnormal included. The divisor's sign goes to x first: by a positive divisor every step keeps
// the sign of 0. Where the steps give NaN, x / y is x times a rough inverse: 0, infinity or NaN.
Divisor Emit::divisor(const Lanes& y) {
  Divisor d{y, fresh(2), {}, fresh()};
  Lanes guess = fresh(2);
  each([&](unsigned i) { op(Op::F2F, {Tok::F64, Tok::F32}, {d.size[i], magnitude(y[i])}); });
  each([&](unsigned i) { op(Op::MUFU, {Tok::RCP64H}, {guess[i][1], d.size[i][1]}); });
  each([&](unsigned i) { op(Op::MOV, {}, {guess[i][0], kZero}); });
  each([&](unsigned i) { op(Op::F2F, {Tok::F32, Tok::F64}, {d.rough[i], guess[i]}); });
  const VReg one = constant64(0x3ff0000000000000);
  d.inverse = guess;
  for (int step = 0; step < 2; ++step) {
    Lanes e;
    each([&](unsigned i) { e[i] = dfma(-Arg(d.size[i]), d.inverse[i], one); });
    each([&](unsigned i) { d.inverse[i] = dfma(d.inverse[i], e[i], d.inverse[i]); });
  }
  return d;
}

Lanes Emit::divide(const Lanes& x, const Divisor& d) {
  Lanes n = fresh();
  Lanes n64 = fresh(2);
  Lanes q = fresh(2);
  each([&](unsigned i) {
    op(Op::LOP3, {Tok::LUT}, {n[i], x[i], 0x80000000, d.y[i], 0x78, !kAlways});
  });  // x ^ (y & sign)
  each([&](unsigned i) { op(Op::F2F, {Tok::F64, Tok::F32}, {n64[i], n[i]}); });
  each([&](unsigned i) { op(Op::DMUL, {}, {q[i], n64[i], d.inverse[i]}); });
  Lanes over;  // what q is too much, times the divisor
  each([&](unsigned i) { over[i] = dfma(q[i], d.size[i], -Arg(n64[i])); });
  each([&](unsigned i) { q[i] = dfma(-Arg(over[i]), d.inverse[i], q[i]); });
  Lanes out = fresh();
  each([&](unsigned i) { op(Op::F2F, {Tok::F32, Tok::F64}, {out[i], q[i]}); });
  each([&](unsigned i) {
    const VPred nan = b.pred();
    op(Op::FSETP, {Tok::kNAN, Tok::AND}, {nan, kAlways, out[i], out[i], kAlways});
    op(Op::FMUL, {}, {out[i], n[i], d.rough[i]}, nan);
  });
  return out;
}

Lanes Emit::divide(const Lanes& x, const Lanes& y) {
  return divide(x, divisor(y));
}

// x^y = 2^(y log2 |x|) in float64, whose spare bits leave the rounding to float32. The exponent is an integer (and odd)
// where it says so for the sign; other powers of negative numbers are NaN.
Lanes Emit::power(const Lanes& x, const Lanes& y) {
  const auto k64 = [&](double v) { return constant64(std::bit_cast<std::uint64_t>(v)); };
  Lanes out = fresh();
  const VReg one = k64(1.0);
  each([&](unsigned i) {
    const VReg wide = b.reg(2), exponent = b.reg(2), m = b.reg(2), e = b.reg(), bias = b.reg();
    op(Op::F2F, {Tok::F64, Tok::F32}, {wide, magnitude(x[i])});
    op(Op::F2F, {Tok::F64, Tok::F32}, {exponent, y[i]});
    // |x| = 2^e m, m in [sqrt(1/2), sqrt(2)): float32 numbers are all normal in float64
    op(Op::IADD3, {}, {bias, wide[1], -std::int64_t{0x3fe6a09e}, kZero});
    op(Op::SHF, {Tok::R, Tok::S32, Tok::HI}, {e, kZero, 20, bias});
    op(Op::SHF, {Tok::L, Tok::U32}, {bias, e, 20, kZero});
    op(Op::IADD3, {}, {m[1], wide[1], -Arg(bias), kZero});
    op(Op::MOV, {}, {m[0], wide[0]});
    // ln m = 2 atanh(s), s = (m - 1) / (m + 1), |s| < 0.1716: s (2 + s^2 (2/3 + ...))
    const VReg above = b.reg(2), below = b.reg(2), s = b.reg(2), square = b.reg(2);
    op(Op::DADD, {}, {above, m, -Arg(one)});
    op(Op::DADD, {}, {below, m, one});
    VReg r = b.reg(2);
    op(Op::MUFU, {Tok::RCP64H}, {r[1], below[1]});
    op(Op::MOV, {}, {r[0], kZero});
    for (int step = 0; step < 2; ++step) r = dfma(r, dfma(-Arg(below), r, one), r);
    op(Op::DMUL, {}, {s, above, r});
    op(Op::DMUL, {}, {square, s, s});
    VReg p = k64(2.0 / 17);
    for (const int odd : {15, 13, 11, 9, 7, 5, 3, 1}) p = dfma(p, square, k64(2.0 / odd));
    op(Op::DMUL, {}, {p, p, s});
    const VReg whole = b.reg(2);
    op(Op::I2F, {Tok::F64}, {whole, e});
    const VReg log2 = dfma(p, k64(1.4426950408889634), whole);
    // 2^t, t = y log2 |x| within what float32 can say: t = n + f
    const VReg t = b.reg(2), f = b.reg(2), rounded = b.reg(2);
    op(Op::DMUL, {}, {t, exponent, log2});
    for (const double bound : {1100.0, -1100.0}) {
      const VPred beyond = b.pred();
      const VReg limit = k64(bound);
      op(Op::DSETP, {bound > 0 ? Tok::GT : Tok::LT, Tok::AND}, {beyond, kAlways, t, limit, kAlways});
      for (unsigned k = 0; k < 2; ++k) select(t[k], limit[k], t[k], beyond);
    }
    const VReg magic = k64(6755399441055744.0);  // 1.5 * 2^52
    op(Op::DADD, {}, {rounded, t, magic});
    op(Op::DADD, {}, {f, rounded, -Arg(magic)});
    op(Op::DADD, {}, {f, t, -Arg(f)});
    op(Op::DMUL, {}, {f, f, k64(0.6931471805599453)});
    double factorial = 39916800.0;  // 11!
    VReg z = k64(1 / factorial);
    for (int n = 11; n >= 1; --n) {
      factorial /= n;
      z = dfma(z, f, k64(1 / factorial));
    }
    // 2^n in two factors: n reaches beyond the exponents of one
    const VReg h = b.reg(), rest = b.reg(), scale = b.reg(2);
    op(Op::SHF, {Tok::R, Tok::S32, Tok::HI}, {h, kZero, 1, rounded[0]});
    op(Op::IADD3, {}, {rest, rounded[0], -Arg(h), kZero});
    for (const VReg part : {h, rest}) {
      op(Op::SHF, {Tok::L, Tok::U32}, {scale[1], part, 20, kZero});
      op(Op::IADD3, {}, {scale[1], scale[1], 0x3ff00000, kZero});
      op(Op::MOV, {}, {scale[0], kZero});
      op(Op::DMUL, {}, {z, z, scale});
    }
    op(Op::F2F, {Tok::F32, Tok::F64}, {out[i], z});

    // Special values. y an integer: trunc(y) == y; odd: y / 2 is none. Beyond 2^24 all are even.
    const VReg cut = b.reg(), halved = b.reg(), half_cut = b.reg();
    op(Op::FRND, {Tok::TRUNC}, {cut, y[i]});
    op(Op::FMUL, {}, {halved, y[i], 0x3f000000});
    op(Op::FRND, {Tok::TRUNC}, {half_cut, halved});
    const VPred integer = b.pred(), odd = b.pred(), up = b.pred();
    op(Op::FSETP, {Tok::EQ, Tok::AND}, {integer, kAlways, cut, y[i], kAlways});
    op(Op::FSETP, {Tok::NEU, Tok::AND}, {odd, kAlways, half_cut, halved, integer});
    op(Op::FSETP, {Tok::GT, Tok::AND}, {up, kAlways, y[i], kZero, kAlways});
    const VReg zero_power = b.reg(), infinite_power = b.reg();
    select(zero_power, kZero, constant(kInfinity), up);
    select(infinite_power, kInfinity, kZero, up);
    const VPred is = b.pred();
    op(Op::FSETP, {Tok::EQ, Tok::AND}, {is, kAlways, x[i], kZero, kAlways});
    select(out[i], zero_power, out[i], is);
    const VPred endless = b.pred();
    op(Op::FSETP, {Tok::EQ, Tok::AND}, {endless, kAlways, magnitude(x[i]), kInfinity, kAlways});
    select(out[i], infinite_power, out[i], endless);
    // an infinite exponent: |x| against 1
    const VReg toward = b.reg(), away = b.reg();
    const VPred large = b.pred(), y_endless = b.pred();
    op(Op::FSETP, {Tok::GT, Tok::AND}, {large, kAlways, magnitude(x[i]), kOne, kAlways});
    op(Op::FSETP, {Tok::EQ, Tok::AND}, {y_endless, kAlways, magnitude(y[i]), kInfinity, kAlways});
    select(toward, infinite_power, zero_power, large);
    select(out[i], toward, out[i], y_endless);
    // signs
    const VPred negative = b.pred(), finite_base = b.pred();
    op(Op::ISETP, {Tok::LT, Tok::AND}, {negative, kAlways, x[i], kZero, kAlways});
    op(Op::LOP3, {Tok::LUT}, {away, out[i], 0x80000000, kZero, kOr, !kAlways});
    const VPred flips = b.pred();
    op(Op::ISETP, {Tok::LT, Tok::AND}, {flips, kAlways, x[i], kZero, odd});
    select(out[i], away, out[i], flips);
    op(Op::FSETP, {Tok::LT, Tok::AND}, {finite_base, kAlways, x[i], kZero, !integer});
    op(Op::FSETP, {Tok::GT, Tok::AND}, {finite_base, kAlways, x[i], 0xff800000, finite_base});
    select(out[i], kNan, out[i], finite_base);
    // NaN, but for x = 1 and y = 0
    const VPred nan = b.pred(), trivial = b.pred(), unit = b.pred();
    op(Op::FSETP, {Tok::kNAN, Tok::AND}, {nan, kAlways, x[i], y[i], kAlways});
    select(out[i], kNan, out[i], nan);
    op(Op::FSETP, {Tok::EQ, Tok::AND}, {trivial, kAlways, y[i], kZero, kAlways});
    op(Op::FSETP, {Tok::EQ, Tok::AND}, {unit, kAlways, x[i], kOne, kAlways});
    select(out[i], kOne, out[i], trivial);
    select(out[i], kOne, out[i], unit);
    // (-1)^(+-infinity) is 1
    const VPred minus = b.pred();
    op(Op::FSETP, {Tok::EQ, Tok::AND}, {minus, kAlways, magnitude(x[i]), kOne, y_endless});
    select(out[i], kOne, out[i], minus);
    static_cast<void>(negative);
  });
  return out;
}

}  // namespace nervanagpu::fuse
