// The reduction of float64 angles. Below 2^30 k times three parts of pi/2 goes off: the first part exactly, the others
// as pairs (no float64 number comes closer to a multiple of pi/2 than 2^-61). Beyond it, where a warp has such numbers
// at all, 192 bits of 2/pi, from the place that matters, are multiplied by the significand (Payne and Hanek, 1983).
#include <array>
#include <iterator>

#include "src/fuse/numeric/angle.h"
#include "src/fuse/numeric/two_over_pi.h"

namespace nervanagpu::fuse {

using sass::kAlways;
using sass::kZero;

namespace {

constexpr double kTwoOverPi = 0.6366197723675814;
constexpr double kHalfPi[] = {0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54, -0x1.f1976b7ed8fbcp-110};

// The upper words of the numbers beyond 2^30, and of infinity.
constexpr std::uint32_t kLarge = 0x41d00000, kEndless = 0x7ff00000;
// x = m 2^(field - 1075): the bit of 2/pi that weighs 2 then is number field - 1077, counted from 0. A word of zeros
// stands before the first, so that the numbers are no negative ones.
constexpr int kFirst = 1077 - 32;
constexpr unsigned kWords = 6;  // of 2/pi that count
static_assert((2046 - kFirst) / 32 + kWords <= std::size(kTwoOverPiBits));

std::uint32_t word_at(unsigned i) {
  return i == 0 ? 0 : kTwoOverPiBits[i - 1];
}

// Below kEndless - kLarge, without sign, for the numbers that reduce_large() takes.
VReg beyond(Emit& e, VReg upper) {
  const VReg size = e.b.reg(), above = e.b.reg();
  e.op(Op::LOP3, {Tok::LUT}, {size, upper, 0x7fffffff, kZero, 0xc0, !kAlways});
  e.op(Op::IADD3, {}, {above, size, -std::int64_t{kLarge}, kZero});
  return above;
}
VPred is_large(Emit& e, VReg beyond) {
  const VPred p = e.b.pred();
  e.op(Op::ISETP, {Tok::LT, Tok::U32, Tok::AND}, {p, kAlways, beyond, kEndless - kLarge, kAlways});
  return p;
}

// The kWords + 1 words of 2/pi from number place / 32, the uppermost first: each bit of that number chooses a half.
std::array<VReg, kWords + 1> words_from(Emit& e, VReg place) {
  std::array<VReg, 32 + kWords> w;
  unsigned count = 32 + kWords;
  for (unsigned step = 16; step > 0; step /= 2) {
    count -= step;
    const VReg bit = e.b.reg();
    const VPred up = e.b.pred();
    e.op(Op::LOP3, {Tok::LUT}, {bit, place, 32 * step, kZero, 0xc0, !kAlways});
    e.op(Op::ISETP, {Tok::NE, Tok::U32, Tok::AND}, {up, kAlways, bit, kZero, kAlways});
    for (unsigned j = 0; j < count; ++j) {
      const VReg d = e.b.reg();
      if (step == 16) {
        e.op(Op::MOV, {}, {d, word_at(j)});
        e.select(d, word_at(j + step), d, up);
      } else {
        e.select(d, w[j + step], w[j], up);
      }
      w[j] = d;
    }
  }
  std::array<VReg, kWords + 1> out;
  std::copy_n(w.begin(), out.size(), out.begin());
  return out;
}

// a b + c of words, in a pair.
VReg multiply(Emit& e, VReg a, VReg b, VReg c) {
  const VReg sum = e.b.reg(2), d = e.b.reg(2);
  e.op(Op::MOV, {}, {sum[0], c});
  e.op(Op::MOV, {}, {sum[1], kZero});
  e.op(Op::IMAD_WIDE, {Tok::U32}, {d, a, b, sum});
  return d;
}

struct
    Quarters {  // a number of quarter turns: whole ones, and a fraction of 128 bits, the uppermost word first, signed
  VReg whole;
  std::array<VReg, 4> fraction;
};

// Of |x|, 2^30 <= |x| < infinity.
Quarters quarters_of(Emit& e, VReg x) {
  const VReg upper = e.b.reg(), place = e.b.reg(), shift = e.b.reg();
  e.op(Op::LOP3, {Tok::LUT}, {upper, x[1], 0x7fffffff, kZero, 0xc0, !kAlways});
  e.op(Op::SHF, {Tok::R, Tok::U32, Tok::HI}, {place, kZero, 20, upper});
  e.op(Op::IADD3, {}, {place, place, -kFirst, kZero});
  e.op(Op::LOP3, {Tok::LUT}, {shift, place, 31, kZero, 0xc0, !kAlways});
  const auto words = words_from(e, place);
  std::array<VReg, kWords> v;  // the lowest first
  for (unsigned j = 0; j < kWords; ++j) {
    v[kWords - 1 - j] = e.b.reg();
    e.op(Op::SHF, {Tok::L, Tok::U32, Tok::HI}, {v[kWords - 1 - j], words[j + 1], shift, words[j]});
  }
  const VReg low = x[0], high = e.b.reg();
  e.op(Op::LOP3, {Tok::LUT}, {high, upper, 0xfffff, kZero, 0xc0, !kAlways});
  e.op(Op::LOP3, {Tok::LUT}, {high, high, 0x100000, kZero, 0xfc, !kAlways});
  // Times m, the lower 192 bits: two of quarters, 190 of fraction. The lowest word and low v[0] count for nothing.
  std::array<VReg, kWords> p;
  VReg carry = kZero;
  for (unsigned j = 1; j + 1 < kWords; ++j) {
    const VReg d = multiply(e, low, v[j], carry);
    p[j] = d[0];
    carry = d[1];
  }
  p[kWords - 1] = e.b.reg();
  e.op(Op::IMAD, {}, {p[kWords - 1], low, v[kWords - 1], carry});
  carry = kZero;
  for (unsigned j = 0; j + 2 < kWords; ++j) {
    const VReg d = multiply(e, high, v[j], p[j + 1]), sum = e.b.reg();
    const VReg next = e.b.reg();
    const VPred over = e.b.pred();
    e.op(Op::IADD3, {}, {sum, over, d[0], carry, kZero});
    e.op(Op::IADD3, {Tok::X}, {next, d[1], kZero, kZero, over, !kAlways});
    p[j + 1] = sum;
    carry = next;
  }
  const VReg top = e.b.reg();
  e.op(Op::IMAD, {}, {top, high, v[kWords - 2], p[kWords - 1]});
  e.op(Op::IADD3, {}, {top, top, carry, kZero});
  p[kWords - 1] = top;
  // Whole quarters to nearest: the fraction then is signed
  Quarters q{e.b.reg(), {}};
  e.op(Op::SHF, {Tok::R, Tok::U32, Tok::HI}, {q.whole, kZero, 29, top});
  e.op(Op::IADD3, {}, {q.whole, q.whole, 1, kZero});
  e.op(Op::SHF, {Tok::R, Tok::U32, Tok::HI}, {q.whole, kZero, 1, q.whole});
  for (unsigned j = 0; j < 4; ++j) {
    q.fraction[j] = e.b.reg();
    e.op(Op::SHF, {Tok::L, Tok::U32, Tok::HI}, {q.fraction[j], p[kWords - 2 - j], 2, p[kWords - 1 - j]});
  }
  return q;
}

// The fraction times pi/2, rounded nowhere but at the end: words are exact float64 numbers.
Pair angle_of(Emit& e, const std::array<Lanes, 4>& fraction) {
  const auto part = [&](unsigned j) {
    Lanes d = e.fresh(2);
    e.each([&](unsigned i) {
      if (j == 0) {
        e.op(Op::I2F, {Tok::F64}, {d[i], fraction[j][i]});
      } else {
        e.op(Op::I2F, {Tok::F64, Tok::U32}, {d[i], fraction[j][i]});
      }
    });
    return Wide(e, d) * (j == 0 ? 0x1p-32 : j == 1 ? 0x1p-64 : j == 2 ? 0x1p-96 : 0x1p-128);
  };
  const Pair upper = sum(part(0), part(1));
  const Pair all = plus_low(sum(upper.high, upper.low + part(2)), part(3));
  const Pair r = product(all.high, Wide::number(e, kHalfPi[0]));
  return plus_low(r, fma(all.high, kHalfPi[1], all.low * kHalfPi[0]));
}

// r and k of the numbers beyond 2^30, into the registers that hold those of the others.
void reduce_large(Emit& e, const Lanes& x, const Lanes& high, const Lanes& low, const Lanes& k) {
  Lanes whole;
  std::array<Lanes, 4> fraction;
  e.each([&](unsigned i) {
    const Quarters q = quarters_of(e, x[i]);
    whole[i] = q.whole;
    for (unsigned j = 0; j < 4; ++j) fraction[j][i] = q.fraction[j];
  });
  const Pair r = angle_of(e, fraction);
  const Lanes values[] = {r.high.lanes(), r.low.lanes()};
  e.each([&](unsigned i) {
    const VPred large = is_large(e, beyond(e, x[i][1])), negative = e.b.pred();
    const VReg back = e.b.reg(), turns = e.b.reg();
    e.op(Op::ISETP, {Tok::LT, Tok::AND}, {negative, kAlways, x[i][1], kZero, kAlways});
    e.op(Op::IADD3, {}, {back, kZero, -Arg(whole[i]), kZero});
    e.select(turns, back, whole[i], negative);
    e.select(k[i], turns, k[i], large);
    for (unsigned j = 0; j < 2; ++j) {
      const VReg to = j == 0 ? high[i] : low[i], value = values[j][i], flipped = e.b.reg(), upper = e.b.reg();
      e.op(Op::LOP3, {Tok::LUT}, {flipped, value[1], 0x80000000, kZero, 0x3c, !kAlways});
      e.select(upper, flipped, value[1], negative);
      e.select(to[0], value[0], to[0], large);
      e.select(to[1], upper, to[1], large);
    }
  });
}

}  // namespace

Turn turn_of(const Wide& x) {
  Emit& e = x.emit();
  Lanes k;
  const Wide n = nearest(x * kTwoOverPi, k);
  const Wide first = fma(-n, kHalfPi[0], x);
  const Pair second = product(n, Wide::number(e, kHalfPi[1]));
  const Pair r = sum_any(first, -second.high);
  const Turn turn{plus_low(r, -fma(n, kHalfPi[2], second.low)), k};
  const sass::VLabel done = e.b.label();
  const Lanes upper = x.high();
  VReg least = beyond(e, upper[0]);
  for (unsigned i = 1; i < e.n; ++i) {
    const VReg other = beyond(e, upper[i]), less = e.b.reg();
    e.op(Op::VIMNMX, {Tok::U32}, {less, least, other, kAlways});
    least = less;
  }
  const VPred some = e.b.pred();
  e.op(Op::VOTE, {Tok::ANY}, {some, is_large(e, least)});
  e.op(Op::BRA, {}, {done}, !some);
  reduce_large(e, x.lanes(), turn.r.high.lanes(), turn.r.low.lanes(), turn.k);
  e.b.bind(done);
  return turn;
}

}  // namespace nervanagpu::fuse
