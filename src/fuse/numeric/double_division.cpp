// Quotients and roots of float64, correctly rounded. MUFU only gives a first guess, of which the steps after it leave
// nothing.
#include <bit>
#include <cmath>

#include "src/fuse/numeric/emit.h"

namespace nervanagpu::fuse {

using sass::kAlways;
using sass::kZero;
using sass::magnitude;

namespace {

constexpr std::uint32_t kSign = 0x80000000;
constexpr int kAndEither = 0xe0;  // a & (b | c)

// v = significand 2^exponent, |significand| in [1, 2), for numbers but 0
struct Split {
  VReg significand, exponent;
};

Split split(Emit& e, VReg v) {
  Builder& b = e.b;
  const VReg up = b.reg(2), w = b.reg(2), field = b.reg(), less = b.reg();
  const Split s{b.reg(2), b.reg()};
  const VPred small = b.pred();
  e.op(Op::DMUL, {}, {up, v, e.constant64(0x4350000000000000)});  // subnormal numbers times 2^54
  e.op(Op::LOP3, {Tok::LUT}, {field, v[1], 0x7ff00000, kZero, kAnd, !kAlways});
  e.op(Op::ISETP, {Tok::EQ, Tok::U32, Tok::AND}, {small, kAlways, field, kZero, kAlways});
  for (unsigned k = 0; k < 2; ++k) e.select(w[k], up[k], v[k], small);
  e.select(less, -1023 - 54, e.constant(static_cast<std::uint32_t>(-1023)), small);
  e.op(Op::LOP3, {Tok::LUT}, {field, w[1], 0x7ff00000, kZero, kAnd, !kAlways});
  e.op(Op::SHF, {Tok::R, Tok::U32, Tok::HI}, {s.exponent, kZero, 20, field});
  e.op(Op::IADD3, {}, {s.exponent, s.exponent, less, kZero});
  e.op(Op::LOP3, {Tok::LUT}, {s.significand[1], w[1], 0x800fffff, kZero, kAnd, !kAlways});
  e.op(Op::LOP3, {Tok::LUT}, {s.significand[1], s.significand[1], 0x3ff00000, kZero, kOr, !kAlways});
  e.op(Op::MOV, {}, {s.significand[0], w[0]});
  return s;
}

// z 2^exponent is a quotient: z = p / q, rounded. Where that would be subnormal, z becomes the multiple of
// 2^-1074 2^-exponent that is next to the exact quotient, an even one if two are, so that the product is exact. Adding and
// subtracting 2^52 such units rounds z itself. That is wrong only where z lies in the middle between two of them and the
// exact quotient does not: the remainder p - z q says on which side it lies. (Every middle is a number of 53 bits, so the
// exact quotient and z never lie on two sides of one.)
class Subnormal {
 public:
  Subnormal(Emit& e, const Lanes& p, const Lanes& q, const Lanes& exponent)
      : e_(e), b_(e.b), p_(p), q_(q), units_(e.fresh(2)) {
    e.each([&](unsigned i) {
      const VReg field = b_.reg();
      e.op(Op::IADD3, {}, {field, -Arg(exponent[i]), 1, kZero});
      e.op(Op::VIMNMX, {}, {field, field, 1, !kAlways});  // of larger quotients: the smallest normal number
      e.op(Op::SHF, {Tok::L, Tok::U32}, {units_[i][1], field, 20, kZero});
      e.op(Op::MOV, {}, {units_[i][0], kZero});
    });
  }

  void round(const Lanes& z) {
    const VPred some = b_.pred(), any = b_.pred();
    for (unsigned i = 0; i < e_.n; ++i) is_small(some, z, i, i == 0 ? !kAlways : some);
    e_.op(Op::VOTE, {Tok::ANY}, {any, some});
    const sass::VLabel done = b_.label();
    e_.op(Op::BRA, {}, {done}, !any);
    e_.each([&](unsigned i) { round(z, i); });
    b_.bind(done);
  }

 private:
  void is_small(VPred p, const Lanes& z, unsigned i, VPred or_else) {
    e_.op(Op::DSETP, {Tok::LT, Tok::OR}, {p, kAlways, magnitude(z[i]), units_[i], or_else});
  }

  void round(const Lanes& z, unsigned i) {
    const VReg units = b_.reg(2), sum = b_.reg(2), t = b_.reg(2), lost = b_.reg(2), half = b_.reg(2), side = b_.reg(2);
    e_.op(Op::LOP3, {Tok::LUT}, {units[1], z[i][1], kSign, units_[i][1], kAndOr, !kAlways});
    e_.op(Op::MOV, {}, {units[0], kZero});
    e_.op(Op::DADD, {}, {sum, z[i], units});
    e_.op(Op::DADD, {}, {t, sum, -Arg(units)});
    e_.op(Op::DADD, {}, {lost, z[i], -Arg(t)});
    e_.op(Op::IADD3, {}, {half[1], units_[i][1], -(53 << 20), kZero});
    e_.op(Op::MOV, {}, {half[0], kZero});
    // Where the exact quotient lies of z, times a positive number.
    const VReg rest = e_.dfma(-Arg(z[i]), q_[i], p_[i]);
    e_.op(Op::DMUL, {}, {side, rest, q_[i]});
    e_.op(Op::DMUL, {}, {side, side, lost});
    const VPred beyond = b_.pred(), small = b_.pred();
    e_.op(Op::DSETP, {Tok::EQ, Tok::AND}, {beyond, kAlways, magnitude(lost), half, kAlways});
    e_.op(Op::DSETP, {Tok::GT, Tok::AND}, {beyond, kAlways, side, e_.constant64(0), beyond});
    const VReg other = e_.dfma(lost, e_.constant64(0x4000000000000000), t);
    for (unsigned k = 0; k < 2; ++k) e_.select(t[k], other[k], t[k], beyond);
    e_.op(Op::LOP3, {Tok::LUT}, {t[1], z[i][1], kSign, t[1], kAndOr, !kAlways});  // of zeros, too
    is_small(small, z, i, !kAlways);
    for (unsigned k = 0; k < 2; ++k) e_.select(z[i][k], t[k], z[i][k], small);
  }

  Emit& e_;
  Builder& b_;
  const Lanes &p_, &q_;
  Lanes units_;  // 2^52 of them, if the exponent of the quotient is small enough
};

}  // namespace

// Significands are divided in [1, 2), and the exponents put back.
Lanes Emit::divide64(const Lanes& x, const Lanes& y) {
  Lanes out = fresh(2), z = fresh(2), rest = fresh(), p, q;
  const VReg one = constant64(0x3ff0000000000000);
  each([&](unsigned i) {
    const Split above = split(*this, x[i]), below = split(*this, y[i]);
    p[i] = above.significand;
    q[i] = below.significand;
    VReg r = b.reg(2);
    op(Op::MUFU, {Tok::RCP64H}, {r[1], q[i][1]});
    op(Op::MOV, {}, {r[0], kZero});
    for (int step = 0; step < 3; ++step) r = dfma(r, dfma(-Arg(q[i]), r, one), r);
    // r is 1 / q, rounded, but for the q below 2: 1/2 + 2^-54 is a middle, and 1 / q lies above it.
    const VReg ones = b.reg();
    const VPred below_two = b.pred();
    op(Op::LOP3, {Tok::LUT}, {ones, q[i][0], 0xfff00000, q[i][1], kAndEither, !kAlways});
    op(Op::ISETP, {Tok::EQ, Tok::U32, Tok::AND}, {below_two, kAlways, ones, 0xffffffff, kAlways});
    select(r[0], 1, r[0], below_two);
    const VReg first = b.reg(2);
    op(Op::DMUL, {}, {first, p[i], r});
    op(Op::DFMA, {}, {z[i], dfma(-Arg(first), q[i], p[i]), r, first});
    op(Op::IADD3, {}, {rest[i], above.exponent, -Arg(below.exponent), kZero});
    // Within what two factors can say; beyond it the result is 0 or infinity anyway.
    op(Op::VIMNMX, {}, {rest[i], rest[i], 2046, kAlways});
    op(Op::VIMNMX, {}, {rest[i], rest[i], -2044, !kAlways});
  });
  Subnormal(*this, p, q, rest).round(z);
  each([&](unsigned i) {
    const VReg h = b.reg(), scale = b.reg(2);
    op(Op::SHF, {Tok::R, Tok::S32, Tok::HI}, {h, kZero, 1, rest[i]});
    op(Op::IADD3, {}, {rest[i], rest[i], -Arg(h), kZero});
    for (const VReg part : {h, rest[i]}) {
      op(Op::SHF, {Tok::L, Tok::U32}, {scale[1], part, 20, kZero});
      op(Op::IADD3, {}, {scale[1], scale[1], 0x3ff00000, kZero});
      op(Op::MOV, {}, {scale[0], kZero});
      op(Op::DMUL, {}, {z[i], z[i], scale});
    }
    // 0, infinity or NaN among the operands: x times the guess of 1 / y, which is exact for them
    const VReg guess = b.reg(2), other = b.reg(2), infinity = constant64(0x7ff0000000000000), zero = constant64(0);
    const VPred odd_x = b.pred(), odd_y = b.pred();
    // (a subnormal divisor has no reciprocal: its significand serves)
    const VReg source = b.reg(), tiny = constant64(0x0010000000000000);
    const VPred subnormal = b.pred(), some = b.pred();
    op(Op::DSETP, {Tok::LT, Tok::AND}, {subnormal, kAlways, magnitude(y[i]), tiny, kAlways});
    op(Op::DSETP, {Tok::NEU, Tok::AND}, {some, kAlways, y[i], zero, subnormal});
    select(source, q[i][1], y[i][1], some);
    op(Op::MUFU, {Tok::RCP64H}, {guess[1], source});
    op(Op::MOV, {}, {guess[0], kZero});
    op(Op::DMUL, {}, {other, x[i], guess});
    op(Op::DSETP, {Tok::GEU, Tok::AND}, {odd_x, kAlways, magnitude(x[i]), infinity, kAlways});
    op(Op::DSETP, {Tok::GEU, Tok::OR}, {odd_x, kAlways, magnitude(y[i]), infinity, odd_x});
    op(Op::DSETP, {Tok::EQ, Tok::OR}, {odd_y, kAlways, y[i], zero, odd_x});
    op(Op::DSETP, {Tok::EQ, Tok::OR}, {odd_y, kAlways, x[i], zero, odd_y});
    for (unsigned k = 0; k < 2; ++k) select(out[i][k], other[k], z[i][k], odd_y);
  });
  return out;
}

Lanes Emit::sqrt64(const Lanes& x) {
  Lanes out = fresh(2);
  const auto k64 = [&](double v) { return constant64(std::bit_cast<std::uint64_t>(v)); };
  each([&](unsigned i) {
    const VReg up = b.reg(2), v = b.reg(2), back = b.reg(2);
    const VPred small = b.pred();
    op(Op::DSETP, {Tok::LT, Tok::AND}, {small, kAlways, x[i], k64(0x1p-900), kAlways});
    op(Op::DMUL, {}, {up, x[i], k64(0x1p200)});
    const VReg down = k64(0x1p-100), same = k64(1.0);
    for (unsigned k = 0; k < 2; ++k) {
      select(v[k], up[k], x[i][k], small);
      select(back[k], down[k], same[k], small);
    }
    VReg y = b.reg(2);
    op(Op::MUFU, {Tok::RSQ64H}, {y[1], v[1]});
    op(Op::MOV, {}, {y[0], kZero});
    VReg g = b.reg(2), h = b.reg(2);
    op(Op::DMUL, {}, {g, v, y});
    op(Op::DMUL, {}, {h, y, k64(0.5)});
    for (int step = 0; step < 2; ++step) {
      const VReg r = dfma(-Arg(g), h, k64(0.5));
      g = dfma(g, r, g);
      h = dfma(h, r, h);
    }
    g = dfma(dfma(-Arg(g), g, v), h, g);
    const VReg d = b.reg(2);
    op(Op::DMUL, {}, {d, g, back});
    const VPred special = b.pred();
    op(Op::DSETP, {Tok::EQ, Tok::AND}, {special, kAlways, x[i], k64(HUGE_VAL), kAlways});
    op(Op::DSETP, {Tok::EQ, Tok::OR}, {special, kAlways, x[i], k64(0.0), special});
    for (unsigned k = 0; k < 2; ++k) select(out[i][k], x[i][k], d[k], special);
  });
  return out;
}

}  // namespace nervanagpu::fuse
