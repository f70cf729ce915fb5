// MUFU: a table in the chip, here the function in double, rounded once. The results are within the chip's error but not
// its bits: kernels use MUFU as a seed whose error they remove. Subnormal inputs count as zeros of their sign.
#include <bit>
#include <cmath>
#include <cstdint>

#include "sass/emulate/lanes/lanes.h"
#include "sass/emulate/ops/families.h"
#include "sass/emulate/uop/words.h"

namespace nervanagpu::sass::emulate {
namespace {

enum Function : std::uint8_t { kRcp, kRsq, kSqrt, kEx2, kLg2, kSin, kCos, kTanh, kRcp64H, kRsq64H };

constexpr double kTurn = 6.283185307179586476925286766559;  // SIN and COS take turns, not radians

double evaluate(unsigned f, double v) {
  switch (f) {
    case kRcp: return 1.0 / v;
    case kRsq: return v == 0 ? 1.0 / v : 1.0 / std::sqrt(v);
    case kSqrt: return std::sqrt(v);
    case kEx2: return std::exp2(v);
    case kLg2: return v == 0 ? -HUGE_VAL : std::log2(v);
    case kSin: return std::isinf(v) ? std::nan("") : std::sin((v - std::nearbyint(v)) * kTurn);
    case kCos: return std::isinf(v) ? std::nan("") : std::cos((v - std::nearbyint(v)) * kTurn);
    default: return std::tanh(v);
  }
}

u32 single(unsigned f, u32 bits) {
  if ((bits & 0x7f800000u) == 0) bits &= 0x80000000u;
  const float r = static_cast<float>(evaluate(f, std::bit_cast<float>(bits)));
  return r != r ? 0x7fffffffu : std::bit_cast<u32>(r);
}

u32 saturated(u32 bits) {
  const float v = std::bit_cast<float>(bits);
  return v > 0 ? (v < 1 ? bits : 0x3f800000u) : 0;
}

// The upper word of a double in, the upper word of the result out.
u32 upper_half(unsigned f, u32 hi) {
  if ((hi & 0x7ff00000u) == 0) hi &= 0x80000000u;
  const double v = std::bit_cast<double>(u64{hi} << 32);
  double r = 0;
  if (f == kRcp64H) {
    r = 1.0 / v;
  } else {
    r = v == 0 ? 1.0 / v : 1.0 / std::sqrt(v);
  }
  return r != r ? 0x7fffffffu : static_cast<u32>(std::bit_cast<u64>(r) >> 32);
}

const Uop* mufu(Warp& w, const Uop* u) {
  const Detail& x = *u->x;
  ConstRow a = fetch(w, x.src[0], 0);
  Row32 o = result(w, x);
  const unsigned f = x.kind;
  for (unsigned l = 0; l < kLanes; ++l) {
    if ((w.exec >> l & 1) == 0 && w.exec != kAllLanes) continue;
    const u32 v = f >= kRcp64H ? upper_half(f, a[l]) : single(f, a[l]);
    o[l] = x.sat ? saturated(v) : v;
  }
  finish(w, x);
  return u + 1;
}

}  // namespace

bool bind_mufu(const Inst& inst, Binding& b) {
  if (inst.op != Op::MUFU) return false;
  Detail& x = b.detail;
  static constexpr std::string_view kNames[] = {"RCP", "RSQ", "SQRT", "EX2",    "LG2",
                                                "SIN", "COS", "TANH", "RCP64H", "RSQ64H"};
  bool known = false;
  for (unsigned i = 0; i < std::size(kNames); ++i) {
    if (!says(inst, kNames[i])) continue;
    x.kind = static_cast<std::uint8_t>(i);
    known = true;
  }
  if (!known || says(inst, "F16")) b.refuse("the function");
  signs_as_float(x);
  x.body = mufu;
  return true;
}

}  // namespace nervanagpu::sass::emulate
