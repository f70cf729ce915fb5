// The condition code CC of sm_50 .. sm_62: what R4.CC leaves, and the tests on it. A lane's four flags are the bits of
// four masks of Warp::pred.
#pragma once

#include <cstdint>

#include "sass/emulate/lanes/lanes.h"

namespace nervanagpu::sass::emulate {
namespace {

[[maybe_unused]] inline void set_flag(Warp& w, std::uint8_t index, std::uint32_t mask) {
  std::uint32_t& p = w.pred[index];
  p = (p & ~w.exec) | (mask & w.exec);
}

struct Flags {
  std::uint32_t zero = 0, sign = 0, carry = 0, overflow = 0;
};

[[maybe_unused]] inline void set_cc(Warp& w, const Flags& f) {
  set_flag(w, preds::kZero, f.zero);
  set_flag(w, preds::kSign, f.sign);
  set_flag(w, preds::kCarry, f.carry);
  set_flag(w, preds::kOverflow, f.overflow);
}

// The lanes in which a result row is zero, or has its sign bit set.
[[maybe_unused]] inline Flags flags_of(Warp& w, ConstRow v) {
  Flags f;
  Row32 bit = w.scratch[kFlags].data();
  NG_LANES(l) bit[l] = v[l] == 0 ? 1u : 0u;
  f.zero = pack(bit);
  NG_LANES(l) bit[l] = v[l] >> 31;
  f.sign = pack(bit);
  return f;
}

// The lanes for which the condition holds; a subtraction leaves a carry where it did not borrow.
[[maybe_unused]] inline std::uint32_t test_cc(const Warp& w, Tok condition) {
  const std::uint32_t z = w.pred[preds::kZero];
  const std::uint32_t s = w.pred[preds::kSign];
  const std::uint32_t c = w.pred[preds::kCarry];
  const std::uint32_t o = w.pred[preds::kOverflow];
  switch (condition) {
    case Tok::F: return 0;
    case Tok::LT: return (s & ~z) ^ o;
    case Tok::EQ: return z & ~s;
    case Tok::LE: return s ^ (z | o);
    case Tok::GT: return ~z & ~(s ^ o);
    case Tok::NE: return ~z;
    case Tok::GE: return ~(s ^ o);
    case Tok::NUM: return ~z | ~s;
    case Tok::kNAN: return z & s;
    case Tok::LTU: return s ^ o;
    case Tok::EQU: return z;
    case Tok::LEU: return z | (s ^ o);
    case Tok::GTU: return ~s ^ (z | o);
    case Tok::NEU: return ~z | s;
    case Tok::GEU: return (~s | z) ^ o;
    case Tok::OFF: return ~o;
    case Tok::OFT: return o;
    case Tok::LO: return ~c;
    case Tok::HS: return c;
    case Tok::SFF: return ~s;
    case Tok::SFT: return s;
    case Tok::LS: return z | ~c;
    case Tok::HI: return c & ~z;
    default: return kAllLanes;  // T
  }
}

}  // namespace
}  // namespace nervanagpu::sass::emulate
