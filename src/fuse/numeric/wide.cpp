#include "src/fuse/numeric/wide.h"

namespace nervanagpu::fuse {

using sass::kAlways;
using sass::kZero;

namespace {

constexpr double kMagic = 6755399441055744.0;  // 1.5 * 2^52: adding it rounds to an integer
constexpr std::uint32_t kSign = 0x80000000;

bool is_short(double v) {
  return (std::bit_cast<std::uint64_t>(v) & 0xffffffffU) == 0;
}

}  // namespace

Wide Wide::number(Emit& e, double v) {
  Wide out(e);
  out.value_ = v;
  out.number_ = is_short(v);
  if (!out.number_) {
    const VReg r = e.constant64(std::bit_cast<std::uint64_t>(v));
    e.each([&](unsigned i) { out.v_[i] = r; });
  }
  return out;
}

Wide Wide::registers() const {
  if (!number_) return *this;
  Wide out(*e_);
  const VReg r = e_->constant64(std::bit_cast<std::uint64_t>(value_));
  e_->each([&](unsigned i) { out.v_[i] = r; });
  return out;
}

Arg Wide::operand(unsigned i) const {
  if (number_) return std::bit_cast<std::int64_t>(value_);
  return arg(i);
}

Wide Wide::operator-() const {
  Wide out = *this;
  if (number_) {
    out.value_ = -value_;
  } else {
    out.minus_ = !minus_;
  }
  return out;
}

Wide operator+(const Wide& a, const Wide& b) {
  const Wide& x = a.number_ ? b : a;
  const Wide& y = a.number_ ? a : b;
  Emit& e = *a.e_;
  Wide d(e, e.fresh(2));
  e.each([&](unsigned i) { e.op(Op::DADD, {}, {d.v_[i], x.arg(i), y.operand(i)}); });
  return d;
}

Wide operator*(const Wide& a, const Wide& b) {
  const Wide& x = a.number_ ? b : a;
  const Wide& y = a.number_ ? a : b;
  Emit& e = *a.e_;
  Wide d(e, e.fresh(2));
  e.each([&](unsigned i) { e.op(Op::DMUL, {}, {d.v_[i], x.arg(i), y.operand(i)}); });
  return d;
}

Wide fma(const Wide& a, const Wide& b, const Wide& c) {
  const Wide& x = a.number_ ? b : a;
  const Wide& y = a.number_ ? a : b;
  const Wide z = y.number_ ? c.registers() : c;
  Emit& e = *a.e_;
  Wide d(e, e.fresh(2));
  e.each([&](unsigned i) { e.op(Op::DFMA, {}, {d.v_[i], x.arg(i), y.operand(i), z.operand(i)}); });
  return d;
}

Condition Wide::compare(Tok how, const Wide& b) const {
  return [a = *this, how, b](unsigned i) {
    const VPred p = a.e_->b.pred();
    a.e_->op(Op::DSETP, {how, Tok::AND}, {p, kAlways, a.arg(i), b.operand(i), kAlways});
    return p;
  };
}
Condition Wide::compare(Tok how, double b) const {
  return compare(how, number(*e_, b));
}

Wide select(const Condition& p, const Wide& a, const Wide& b) {
  Emit& e = *a.e_;
  const Lanes y = b.registers().lanes();
  Wide d(e, e.fresh(2));
  if (a.number_) {
    const auto high = static_cast<std::uint32_t>(std::bit_cast<std::uint64_t>(a.value_) >> 32);
    e.each([&](unsigned i) {
      const VPred is = p(i);
      e.select(d.v_[i][0], kZero, y[i][0], is);
      e.select(d.v_[i][1], high, y[i][1], is);
    });
    return d;
  }
  const Lanes x = a.lanes();
  e.each([&](unsigned i) {
    const VPred is = p(i);
    for (unsigned k = 0; k < 2; ++k) e.select(d.v_[i][k], x[i][k], y[i][k], is);
  });
  return d;
}

Lanes Wide::lanes() const {
  if (number_) return registers().v_;
  if (!minus_) return v_;
  Lanes d = e_->fresh(2);
  e_->each([&](unsigned i) {
    e_->op(Op::MOV, {}, {d[i][0], v_[i][0]});
    e_->op(Op::LOP3, {Tok::LUT}, {d[i][1], v_[i][1], kSign, kZero, kXor, !kAlways});
  });
  return d;
}
Lanes Wide::low() const {
  Lanes out;
  e_->each([&](unsigned i) { out[i] = v_[i][0]; });
  return out;
}
Lanes Wide::high() const {
  Lanes out;
  e_->each([&](unsigned i) { out[i] = v_[i][1]; });
  return out;
}
Wide Wide::magnitude() const {
  Lanes d = e_->fresh(2);
  e_->each([&](unsigned i) {
    e_->op(Op::MOV, {}, {d[i][0], v_[i][0]});
    e_->op(Op::LOP3, {Tok::LUT}, {d[i][1], v_[i][1], 0x7fffffff, kZero, kAnd, !kAlways});
  });
  return {*e_, d};
}
Lanes Wide::to_single() const {
  Lanes d = e_->fresh();
  e_->each([&](unsigned i) { e_->op(Op::F2F, {Tok::F32, Tok::F64}, {d[i], arg(i)}); });
  return d;
}

Wide polynomial(const Wide& x, std::span<const double> c) {
  Wide p = fma(x, c[0], Wide::number(x.emit(), c[1]));
  for (const double k : c.subspan(2)) p = fma(p, x, k);
  return p;
}

namespace {

// The guess of 1 / b or 1 / sqrt b.
Wide guess(Tok what, const Wide& b) {
  Emit& e = b.emit();
  const Lanes high = b.high();
  Lanes r = e.fresh(2);
  e.each([&](unsigned i) { e.op(Op::MUFU, {what}, {r[i][1], high[i]}); });
  e.each([&](unsigned i) { e.op(Op::MOV, {}, {r[i][0], kZero}); });
  return {e, r};
}

}  // namespace

Wide inverse(const Wide& b) {
  Wide r = guess(Tok::RCP64H, b);
  for (int step = 0; step < 2; ++step) r = fma(r, fma(-b, r, 1.0), r);
  return r;
}

Wide quotient(const Wide& a, const Wide& b) {
  const Wide r = inverse(b);
  const Wide q = a * r;
  return fma(fma(-q, b, a), r, q);
}

Root root_parts(const Wide& v) {
  const Wide y = guess(Tok::RSQ64H, v);
  Wide g = v * y;
  Wide h = y * 0.5;
  for (int step = 0; step < 2; ++step) {
    const Wide r = fma(-g, h, 0.5);
    g = fma(g, r, g);
    h = fma(h, r, h);
  }
  return {g, h};
}

Wide root(const Wide& v) {
  const Root y = root_parts(v);
  const Wide g = fma(fma(-y.root, y.root, v), y.half_inverse, y.root);
  return select(v.compare(Tok::EQ, 0.0), v, g);
}

Wide nearest(const Wide& x, Lanes& n) {
  const Wide t = x + kMagic;
  n = t.low();
  return t - kMagic;
}

Wide power_of_two(Emit& e, const Lanes& n) {
  Lanes d = e.fresh(2);
  e.each([&](unsigned i) { e.op(Op::SHF, {Tok::L, Tok::U32}, {d[i][1], n[i], 20, kZero}); });
  e.each([&](unsigned i) { e.op(Op::IADD3, {}, {d[i][1], d[i][1], 0x3ff00000, kZero}); });
  e.each([&](unsigned i) { e.op(Op::MOV, {}, {d[i][0], kZero}); });
  return {e, d};
}

Wide scaled(const Wide& x, const Lanes& n) {
  Emit& e = x.emit();
  Lanes h = e.fresh();
  Lanes rest = e.fresh();
  e.each([&](unsigned i) { e.op(Op::SHF, {Tok::R, Tok::S32, Tok::HI}, {h[i], kZero, 1, n[i]}); });
  e.each([&](unsigned i) { e.op(Op::IADD3, {}, {rest[i], n[i], -Arg(h[i]), kZero}); });
  return x * power_of_two(e, h) * power_of_two(e, rest);
}

Wide from_single(Emit& e, const Lanes& x, bool magnitude) {
  Lanes d = e.fresh(2);
  e.each([&](unsigned i) {
    e.op(Op::F2F, {Tok::F64, Tok::F32}, {d[i], magnitude ? sass::magnitude(x[i]) : Arg(x[i])});
  });
  return {e, d};
}
Wide from_words(Emit& e, const Lanes& n) {
  Lanes d = e.fresh(2);
  e.each([&](unsigned i) { e.op(Op::I2F, {Tok::F64}, {d[i], n[i]}); });
  return {e, d};
}
Wide of_halves(Emit& e, const Lanes& low, const Lanes& high) {
  Lanes d = e.fresh(2);
  e.each([&](unsigned i) {
    e.op(Op::MOV, {}, {d[i][0], low[i]});
    e.op(Op::MOV, {}, {d[i][1], high[i]});
  });
  return {e, d};
}

Condition compare(Emit& e, Tok how, const Lanes& x, Arg y, bool magnitude) {
  return [&e, how, x, y, magnitude](unsigned i) {
    const VPred p = e.b.pred();
    e.op(Op::FSETP, {how, Tok::AND}, {p, kAlways, magnitude ? sass::magnitude(x[i]) : Arg(x[i]), y, kAlways});
    return p;
  };
}
Lanes choose(Emit& e, const Condition& p, Arg x, const Lanes& y) {
  Lanes d = e.fresh();
  e.each([&](unsigned i) { e.select(d[i], x, y[i], p(i)); });
  return d;
}
Lanes choose(Emit& e, const Condition& p, const Lanes& x, const Lanes& y) {
  Lanes d = e.fresh();
  e.each([&](unsigned i) { e.select(d[i], x[i], y[i], p(i)); });
  return d;
}
Lanes with_sign(Emit& e, const Lanes& x, const Lanes& y) {
  Lanes d = e.fresh();
  // (x & mask) | (y & ~mask)
  e.each([&](unsigned i) { e.op(Op::LOP3, {Tok::LUT}, {d[i], x[i], 0x7fffffff, y[i], 0xe2, !kAlways}); });
  return d;
}

Condition bit_of(Emit& e, const Lanes& k, int bit) {
  return [&e, k, bit](unsigned i) {
    const VReg masked = e.b.reg();
    const VPred p = e.b.pred();
    e.op(Op::LOP3, {Tok::LUT}, {masked, k[i], bit, kZero, 0xc0, !kAlways});
    e.op(Op::ISETP, {Tok::NE, Tok::U32, Tok::AND}, {p, kAlways, masked, kZero, kAlways});
    return p;
  };
}

Lanes plus(Emit& e, const Lanes& k, int by) {
  if (by == 0) return k;
  Lanes d = e.fresh();
  e.each([&](unsigned i) { e.op(Op::IADD3, {}, {d[i], k[i], by, kZero}); });
  return d;
}

Wide with_sign_of(const Wide& v, const Wide& x) {
  Emit& e = v.emit();
  return of_halves(e, v.low(), with_sign(e, v.high(), x.high()));
}

Wide bounded(const Wide& x, double low, double high) {
  Emit& e = x.emit();
  const Wide above = select(x.compare(Tok::LT, low), Wide::number(e, low), x);
  return select(above.compare(Tok::GT, high), Wide::number(e, high), above);
}

}  // namespace nervanagpu::fuse
