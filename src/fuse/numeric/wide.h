// float64 values of all lanes, written as formulas. Every operation is emitted for each lane before the next operation,
// so that the lanes hide each other's latencies. Numbers whose lower 32 bits are zero cost no register.
#pragma once

#include <bit>
#include <functional>
#include <initializer_list>
#include <optional>
#include <span>

#include "src/fuse/numeric/emit.h"

namespace nervanagpu::fuse {

// A predicate for a lane, emitted where it is used: there are too few to keep one for each lane.
using Condition = std::function<VPred(unsigned lane)>;
inline Condition operator!(const Condition& c) {
  return [c](unsigned i) { return !c(i); };
}

class Wide {
 public:
  Wide(Emit& e, Lanes value, bool minus = false) : e_(&e), v_(value), minus_(minus) {}
  // The same number in every lane.
  static Wide number(Emit& e, double v);

  Wide operator-() const;
  friend Wide operator+(const Wide& a, const Wide& b);
  friend Wide operator-(const Wide& a, const Wide& b) { return a + -b; }
  friend Wide operator*(const Wide& a, const Wide& b);
  friend Wide operator+(const Wide& a, double b) { return a + number(*a.e_, b); }
  friend Wide operator-(const Wide& a, double b) { return a + number(*a.e_, -b); }
  friend Wide operator*(const Wide& a, double b) { return a * number(*a.e_, b); }
  friend Wide operator-(double a, const Wide& b) { return number(*b.e_, a) + -b; }
  friend Wide operator+(double a, const Wide& b) { return b + a; }
  friend Wide fma(const Wide& a, const Wide& b, const Wide& c);
  friend Wide fma(const Wide& a, const Wide& b, double c) { return fma(a, b, number(*a.e_, c)); }
  friend Wide fma(const Wide& a, double b, const Wide& c) { return fma(a, number(*a.e_, b), c); }

  // Comparisons; NaN: as the token says.
  [[nodiscard]] Condition compare(Tok how, double b) const;
  [[nodiscard]] Condition compare(Tok how, const Wide& b) const;
  friend Wide select(const Condition& p, const Wide& a, const Wide& b);

  // The pairs of registers; the sign is carried out.
  [[nodiscard]] Lanes lanes() const;
  [[nodiscard]] Arg arg(unsigned i) const { return minus_ ? -Arg(v_[i]) : Arg(v_[i]); }
  [[nodiscard]] Lanes low() const;
  [[nodiscard]] Lanes high() const;
  [[nodiscard]] Wide magnitude() const;
  [[nodiscard]] Wide registers() const;   // a number in registers, as any other value
  [[nodiscard]] Lanes to_single() const;  // rounded to float32
  [[nodiscard]] Emit& emit() const { return *e_; }

 private:
  explicit Wide(Emit& e) : e_(&e) {}
  [[nodiscard]] Arg operand(unsigned i) const;  // an immediate, or the registers

  Emit* e_;
  Lanes v_;
  bool minus_ = false;
  bool number_ = false;
  double value_ = 0;
};

// c[0] x^n + c[1] x^(n - 1) + ...
Wide polynomial(const Wide& x, std::span<const double> c);
// 1 / b for normal b and an inverse in the range of normal numbers, or NaN: within a unit in the last place.
Wide inverse(const Wide& b);
// a / b for normal b and a quotient in the range of normal numbers, or NaN: within a hair of half a unit.
Wide quotient(const Wide& a, const Wide& b);
// The root of a number >= 0 in the range of normal numbers, or of 0; below that NaN.
Wide root(const Wide& v);
struct Root {  // of a number > 0 in that range, and 1 / 2 root: within some units in the last place
  Wide root, half_inverse;
};
Root root_parts(const Wide& v);
// The nearest integer, also as 32-bit words in `n`. |x| < 2^31.
Wide nearest(const Wide& x, Lanes& n);
Wide power_of_two(Emit& e, const Lanes& n);  // -1022 <= n <= 1023
Wide scaled(const Wide& x, const Lanes& n);  // x 2^n for |n| <= 2040, rounded once
Wide from_single(Emit& e, const Lanes& x, bool magnitude = false);
Wide from_words(Emit& e, const Lanes& n);  // int32
Wide of_halves(Emit& e, const Lanes& low, const Lanes& high);

// Of words: where bit `bit` of k is set; k + by.
Condition bit_of(Emit& e, const Lanes& k, int bit);
Lanes plus(Emit& e, const Lanes& k, int by);

// ---- float32 lanes -----------------------------------------------------------------------------------------------------
Condition compare(Emit& e, Tok how, const Lanes& x, Arg y, bool magnitude = false);
Lanes choose(Emit& e, const Condition& p, Arg x, const Lanes& y);
Lanes choose(Emit& e, const Condition& p, const Lanes& x, const Lanes& y);
// |x| with the sign of y
Lanes with_sign(Emit& e, const Lanes& x, const Lanes& y);

// The float32 and the float64 functions beyond those of Emit; nullopt: there is no such one.
std::optional<Lanes> function_of(Emit& e, ExprOp op, Dtype dtype, const Lanes* const* in);

// By kind, for function_of(): float32 by way of float64.
Lanes sine(Emit& e, ExprOp op, const Lanes& x);            // sin, cos, tan
Lanes arc(Emit& e, ExprOp op, const Lanes& x);             // arcsin, arccos, arctan
Lanes arc2(Emit& e, const Lanes& y, const Lanes& x);       // arctan2
Lanes hyperbolic(Emit& e, ExprOp op, const Lanes& x);      // sinh, cosh, arcsinh, arccosh, arctanh
Lanes error_function(Emit& e, ExprOp op, const Lanes& x);  // erf, erfc, gelu
Lanes near_one(Emit& e, ExprOp op, const Lanes& x);        // expm1, log1p, log10
Lanes cube_root(Emit& e, const Lanes& x);
Lanes hypotenuse(Emit& e, const Lanes& x, const Lanes& y);
// float64 as it is.
Lanes exponential64(Emit& e, ExprOp op, const Lanes& x);     // exp, exp2, expm1, tanh, sig ..., sinh, cosh
Lanes logarithm64(Emit& e, ExprOp op, const Lanes& x);       // log, log2, log10, log1p, arcsinh, arccosh, arctanh
Lanes sine64(Emit& e, ExprOp op, const Lanes& x);            // sin, cos, tan
Lanes arc64(Emit& e, ExprOp op, const Lanes& x);             // arcsin, arccos, arctan
Lanes arc2_64(Emit& e, const Lanes& y, const Lanes& x);      // arctan2
Lanes error_function64(Emit& e, ExprOp op, const Lanes& x);  // erf, erfc, gelu
Lanes power64(Emit& e, const Lanes& x, const Lanes& y);
Lanes cube_root64(Emit& e, const Lanes& x);
Lanes hypotenuse64(Emit& e, const Lanes& x, const Lanes& y);

// Parts shared by several, as good as float32 needs them.
struct Exponential {  // e^x = 2^n (1 + r + tail), |tail| < r^2
  Wide r, tail;
  Lanes n;
  [[nodiscard]] Wide fraction() const { return r + tail; }
};
Exponential exponential_of(const Wide& x);
Wide exp_minus_one(const Wide& x);  // |x| <= 700
Wide log_one_plus(const Wide& x);   // x > -1, finite
// v = 2^n m, m in [sqrt(1/2), sqrt(2)); v normal
struct Split {
  Wide m;
  Lanes n;
};
Split split(const Wide& v);
Wide with_sign_of(const Wide& v, const Wide& x);       // |v| with the sign of x
Wide bounded(const Wide& x, double low, double high);  // NaN stays

}  // namespace nervanagpu::fuse
