// Instructions for the operations of expressions, on several elements (lanes) at a time: the steps of the lanes stand
// side by side, so that they hide each other's latency.
//
// How values stand in registers, one lane in one register or pair:
//   float32, 16-bit     float32                          bool, integers up to 32 bits    sign- or zero-extended
//   float64             pair                             int64, uint64                   pair
#pragma once

#include <array>
#include <cstdint>

#include "nervanagpu/expr.hpp"
#include "sass/asm/builder/builder.h"

namespace nervanagpu::fuse {

using sass::Arg;
using sass::Builder;
using sass::Op;
using sass::Tok;
using sass::VPred;
using sass::VReg;

// Truth tables of LOP3, for operands a, b and c: a & b, a | b, a ^ b, a ^ b ^ c, a & b | c
inline constexpr int kAnd = 0xc0, kOr = 0xfc, kXor = 0x3c, kXor3 = 0x96, kAndOr = 0xea;

inline constexpr unsigned kMostLanes = 16;
struct Lanes {
  std::array<VReg, kMostLanes> r{};
  VReg& operator[](unsigned i) { return r[i]; }
  const VReg& operator[](unsigned i) const { return r[i]; }
};

// What a value of this dtype is computed as.
enum class Form : std::uint8_t { float32, float64, int32, int64 };
Form form_of(Dtype d);
unsigned registers_of(Dtype d);  // of one lane

// What quotients by the same float32 share: the divisor; its magnitude and the inverse of that in float64; a rough inverse
// in float32.
struct Divisor {
  Lanes y, size, inverse, rough;
};

using RoundKeys = std::array<VReg, 20>;  // of Philox4x32-10, two a round

class Emit {
 public:
  Emit(Builder& b, unsigned lanes) : b(b), n(lanes) {}

  // d = op(in...), operands of dtype `d`; `from`: of the operand, where the operation's result has another.
  Lanes apply(ExprOp op, Dtype d, Dtype from, const Lanes* const* in);
  Lanes cast(Dtype from, Dtype to, const Lanes& x);

  // The keys of the ten rounds of Philox4x32-10 for a seed (a pair).
  RoundKeys round_keys(VReg seed);
  // A word of it for each lane: `index` (program.h: kIndexBase) is a pair, lane 0's, a multiple of the lanes (of 4, if
  // there are more), and lanes count up. `far` is added to the counter's upper word.
  Lanes random(const RoundKeys& keys, VReg index, VReg far);

  // x (float32) rounded stochastically by a word for each lane, to a float of `bits` mantissa bits or an integer (stochastic.cpp).
  Lanes stochastic_float(Dtype to, int bits, const Lanes& x, const Lanes& words);
  Lanes stochastic_integer(Dtype to, const Lanes& x, const Lanes& words);

  // Between memory words ("raw": lanes packed, little end first) and lanes.
  Lanes unpack(Dtype d, const Lanes& raw);
  Lanes pack(Dtype d, const Lanes& x);

  // ---- Steps, each for every lane ------------------------------------------------------------------------------------
  Lanes fresh(unsigned count = 1);
  VReg constant(std::uint32_t bits);
  VReg constant64(std::uint64_t bits);
  template <class F>
  void each(const F& f) {
    for (unsigned i = 0; i < n; ++i) f(i);
  }
  void op(Op o, std::initializer_list<Tok> mods, std::initializer_list<Arg> args, VPred guard = sass::kAlways) {
    b.emit(o, mods, args, guard);
  }
  // d = p ? x : y
  void select(VReg d, Arg x, Arg y, VPred p);
  VReg truth(VPred p);  // 1 or 0
  Lanes select(const Lanes& x, const Lanes& y, const std::array<VPred, kMostLanes>& p, unsigned count);

  // ---- float32 functions (functions.cpp) -----------------------------------------------------------------------------
  Lanes exp(const Lanes& x);
  Lanes exp2(const Lanes& x);
  Lanes log(const Lanes& x, bool base2);
  Lanes tanh(const Lanes& x);
  Lanes sigmoid(const Lanes& x, bool base2);
  Lanes sqrt(const Lanes& x);
  Lanes divide(const Lanes& x, const Lanes& y);
  Divisor divisor(const Lanes& y);
  Lanes divide(const Lanes& x, const Divisor& y);
  Lanes power(const Lanes& x, const Lanes& y);
  // ---- float64 -------------------------------------------------------------------------------------------------------
  Lanes divide64(const Lanes& x, const Lanes& y);
  Lanes sqrt64(const Lanes& x);
  VReg dfma(Arg x, Arg y, Arg z);

  Builder& b;
  const unsigned n;

 private:
  Lanes float32(ExprOp op, const Lanes* const* in);
  Lanes float64(ExprOp op, const Lanes* const* in);
  Lanes int32(ExprOp op, Dtype d, const Lanes* const* in);
  Lanes int64(ExprOp op, Dtype d, const Lanes* const* in);
  Lanes compare(ExprOp op, Dtype from, const Lanes* const* in);
  Lanes test(ExprOp op, Dtype from, const Lanes& x);
  Lanes narrow(Dtype d, const Lanes& x);  // to the width of an integer dtype, extended again
  VPred less64(const VReg& x, const VReg& y, bool is_signed);

  // Of functions.cpp.
  Lanes clamp(const Lanes& x, std::uint32_t low, std::uint32_t high);
  Lanes horner(const Lanes& p, const Lanes& x, std::uint32_t c);
  Lanes scaled_exp(const Lanes& r, const Lanes& t, bool wide);
  Lanes exp_core(const Lanes& x, bool wide);
  Lanes quotient(const Lanes& x, const Lanes& y, const Lanes* low);
};

// Comparison tokens: for floats NaN compares unequal.
Tok compare_token(ExprOp op, bool real);

}  // namespace nervanagpu::fuse
