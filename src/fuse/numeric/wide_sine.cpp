// sin, cos and tan of float32, for every argument. x = k pi/2 + r: below 2^28 two float64 products take k pi/2 off, and
// leave r a relative error below 2^-45 (no float32 number comes closer to a multiple of pi/2 than 2^-30). Beyond it, where a
// warp has such numbers at all, 96 bits of 2/pi, from the place that matters, are multiplied by the significand (Payne
// and Hanek, 1983).
#include "src/fuse/numeric/two_over_pi.h"
#include "src/fuse/numeric/wide.h"

namespace nervanagpu::fuse {

using sass::kAlways;
using sass::kZero;

namespace {

constexpr std::uint32_t kLarge = 0x4d800000;  // 2^28
constexpr double kTwoOverPi = 0.6366197723675814;
constexpr double kHalfPi = 1.5707963267948966, kHalfPiRest = 6.123233995736766e-17;

// On |r| <= pi/4, in r^2: sin(r) / r and cos(r), relative errors below 2^-34.
constexpr double kSine[] = {0x1.6cb4fp-19, -0x1.a00eep-13, 0x1.1111073e3230bp-7, -0x1.55555549334e9p-3,
                            0x1.fffffffff668ap-1};
constexpr double kCosine[] = {0x1.99036p-16, -0x1.6c07769d3077ap-10, 0x1.55553a5e44c7dp-5, -0x1.ffffffbd67539p-2,
                              0x1.ffffffff96b95p-1};

struct Reduced {
  Wide r;
  Lanes k;
};

// r and k of the numbers beyond kLarge, into the registers that hold those of the others.
void reduce_large(Emit& e, const Lanes& x, const Lanes& r, const Lanes& k) {
  Builder& b = e.b;
  e.each([&](unsigned i) {
    const VReg field = b.reg(), m = b.reg(), place = b.reg(), shift = b.reg();
    e.op(Op::SHF, {Tok::R, Tok::U32, Tok::HI}, {field, kZero, 23, x[i]});
    e.op(Op::LOP3, {Tok::LUT}, {field, field, 0xff, kZero, 0xc0, !kAlways});
    e.op(Op::LOP3, {Tok::LUT}, {m, x[i], 0x7fffff, kZero, 0xc0, !kAlways});
    e.op(Op::LOP3, {Tok::LUT}, {m, m, 0x800000, kZero, 0xfc, !kAlways});
    // x = m 2^(field - 150): the bit of 2/pi that weighs 2 then is number field - 152, counted from 0
    e.op(Op::IADD3, {}, {place, field, -152, kZero});
    e.op(Op::LOP3, {Tok::LUT}, {shift, place, 31, kZero, 0xc0, !kAlways});
    VReg words[4];
    const VPred below[3] = {b.pred(), b.pred(), b.pred()};
    for (int w = 0; w < 3; ++w) {
      e.op(Op::ISETP, {Tok::LT, Tok::AND}, {below[w], kAlways, place, 32 * (w + 1), kAlways});
    }
    for (int j = 0; j < 4; ++j) {
      words[j] = e.constant(kTwoOverPiBits[j + 3]);
      for (int w = 2; w >= 0; --w) e.select(words[j], kTwoOverPiBits[j + w], words[j], below[w]);
    }
    // 96 bits from that place: w[0] the uppermost
    VReg w[3];
    for (int j = 0; j < 3; ++j) {
      w[j] = b.reg();
      e.op(Op::SHF, {Tok::L, Tok::U32, Tok::HI}, {w[j], words[j + 1], shift, words[j]});
    }
    // Times m, the lower 96 bits: two of quadrants, 94 of fraction
    const VReg low = b.reg(2), middle = b.reg(2), top = b.reg(), sum = b.reg();
    const VPred carry = b.pred();
    e.op(Op::IMAD_WIDE, {Tok::U32}, {low, w[2], m, kZero});
    e.op(Op::IMAD_WIDE, {Tok::U32}, {middle, w[1], m, kZero});
    e.op(Op::IMAD, {}, {top, w[0], m, middle[1]});
    e.op(Op::IADD3, {}, {sum, carry, low[1], middle[0], kZero});
    e.op(Op::IADD3, {Tok::X}, {top, top, kZero, kZero, carry, !kAlways});
    // The quadrant, rounded to nearest: the fraction then is signed
    const VReg quadrant = b.reg(), fraction = b.reg(2);
    e.op(Op::SHF, {Tok::R, Tok::U32, Tok::HI}, {quadrant, kZero, 29, top});
    e.op(Op::IADD3, {}, {quadrant, quadrant, 1, kZero});
    e.op(Op::SHF, {Tok::R, Tok::U32, Tok::HI}, {quadrant, kZero, 1, quadrant});
    e.op(Op::SHF, {Tok::L, Tok::U32, Tok::HI}, {fraction[1], sum, 2, top});
    e.op(Op::SHF, {Tok::L, Tok::U32, Tok::HI}, {fraction[0], low[0], 2, sum});
    const VReg value = b.reg(2), factor = e.constant64(std::bit_cast<std::uint64_t>(kHalfPi * 0x1p-64));
    e.op(Op::I2F, {Tok::F64, Tok::S64}, {value, fraction});
    e.op(Op::DMUL, {}, {value, value, factor});
    // The sign, and NaN for infinities: their field is 255
    const VPred negative = b.pred(), large = b.pred(), endless = b.pred();
    const VReg flipped = b.reg(), back = b.reg();
    e.op(Op::ISETP, {Tok::LT, Tok::AND}, {negative, kAlways, x[i], kZero, kAlways});
    e.op(Op::LOP3, {Tok::LUT}, {flipped, value[1], 0x80000000, kZero, 0x3c, !kAlways});
    e.op(Op::IADD3, {}, {back, kZero, -Arg(quadrant), kZero});
    e.select(value[1], flipped, value[1], negative);
    e.select(quadrant, back, quadrant, negative);
    e.op(Op::ISETP, {Tok::EQ, Tok::AND}, {endless, kAlways, field, 255, kAlways});
    e.select(value[1], 0x7fffffff, value[1], endless);
    e.op(Op::FSETP, {Tok::GE, Tok::AND}, {large, kAlways, sass::magnitude(x[i]), kLarge, kAlways});
    for (unsigned j = 0; j < 2; ++j) e.select(r[i][j], value[j], r[i][j], large);
    e.select(k[i], quadrant, k[i], large);
  });
}

Reduced reduced(Emit& e, const Lanes& x) {
  const Wide wide = from_single(e, x);
  Lanes k;
  const Wide n = nearest(wide * kTwoOverPi, k);
  const Wide r = fma(-n, kHalfPiRest, fma(-n, kHalfPi, wide));
  const sass::VLabel done = e.b.label();
  const VReg largest = e.b.reg();
  // NaN is no number here, and comes out of the products as it is.
  e.op(Op::LOP3, {Tok::LUT}, {largest, x[0], 0x7fffffff, kZero, 0xc0, !kAlways});
  for (unsigned i = 1; i < e.n; ++i) e.op(Op::FMNMX, {}, {largest, largest, sass::magnitude(x[i]), !kAlways});
  const VPred mine = e.b.pred(), any = e.b.pred();
  e.op(Op::FSETP, {Tok::GE, Tok::AND}, {mine, kAlways, largest, kLarge, kAlways});
  e.op(Op::VOTE, {Tok::ANY}, {any, mine});
  e.op(Op::BRA, {}, {done}, !any);
  reduce_large(e, x, r.lanes(), k);
  e.b.bind(done);
  return {r, k};
}

}  // namespace

Lanes sine(Emit& e, ExprOp op, const Lanes& x) {
  const Reduced turn = reduced(e, x);
  const Wide& r = turn.r;
  const Lanes& k = turn.k;
  const Wide square = r * r;
  const Wide s = r * polynomial(square, kSine);
  const Wide c = polynomial(square, kCosine);
  if (op == ExprOp::tan) {
    const Condition odd = bit_of(e, k, 1);
    // sin / cos, or -cos / sin
    const Wide above = select(odd, -c, s);
    const Wide below = select(odd, s, c);
    const Lanes d = quotient(above, below).to_single();
    return choose(e, compare(e, Tok::EQ, x, kZero), x, d);
  }
  const Lanes turned = plus(e, k, op == ExprOp::cos ? 1 : 0);
  const Wide value = select(bit_of(e, turned, 1), c, s);
  Lanes d = value.to_single();
  Lanes minus = e.fresh();
  e.each([&](unsigned i) { e.op(Op::LOP3, {Tok::LUT}, {minus[i], d[i], 0x80000000, kZero, 0x3c, !kAlways}); });
  d = choose(e, bit_of(e, turned, 2), minus, d);
  return op == ExprOp::cos ? d : choose(e, compare(e, Tok::EQ, x, kZero), x, d);
}

}  // namespace nervanagpu::fuse
