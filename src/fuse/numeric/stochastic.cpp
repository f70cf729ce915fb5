// Stochastic rounding (include/nervanagpu/rounding.hpp), the same bits as src/numbers/round.h and kernels/lib/round.sass.
#include <algorithm>

#include "src/expr/promote.h"
#include "src/fuse/numeric/emit.h"

namespace nervanagpu::fuse {

using sass::kAlways;
using sass::kZero;

namespace {

constexpr std::uint32_t kMantissa = 0x7fffff, kLeading = 0x800000, kSign = 0x80000000;

// Whether the magnitude u (float bits), of whose significand the lower j bits go, is to be rounded up: if these, as a
// fraction of the last place in 32 bits, exceed the random word. From `largest` on it is rounded to nearest.
VPred up(Emit& e, VReg u, VReg j, VReg word, std::uint32_t largest) {
  Builder& b = e.b;
  const VReg m = b.reg(), by = b.reg(), f = b.reg(), kept = b.reg(), limit = b.reg(), against = b.reg();
  e.op(Op::LOP3, {Tok::LUT}, {m, u, kMantissa, kZero, kAnd, !kAlways});
  e.op(Op::LOP3, {Tok::LUT}, {m, m, kLeading, kZero, kOr, !kAlways});
  // One of the two shifts is by 32 or more and gives 0, or both are by 0.
  e.op(Op::IADD3, {}, {by, -Arg(j), 32, kZero});
  e.op(Op::SHF, {Tok::L, Tok::U32}, {f, m, by, kZero});
  e.op(Op::IADD3, {}, {by, j, -32, kZero});
  e.op(Op::SHF, {Tok::R, Tok::U32, Tok::HI}, {m, kZero, by, m});
  e.op(Op::LOP3, {Tok::LUT}, {f, f, m, kZero, kOr, !kAlways});
  e.op(Op::SHF, {Tok::R, Tok::U32, Tok::HI}, {kept, kZero, j, u});
  e.op(Op::SHF, {Tok::R, Tok::U32, Tok::HI}, {limit, kZero, j, e.constant(largest)});
  const VPred within = b.pred(), beyond = b.pred(), result = b.pred();
  e.op(Op::ISETP, {Tok::LT, Tok::U32, Tok::AND}, {within, kAlways, j, 24, kAlways});
  e.op(Op::ISETP, {Tok::GE, Tok::U32, Tok::AND}, {beyond, kAlways, kept, limit, within});
  e.select(against, 0x7fffffff, word, beyond);
  e.op(Op::ISETP, {Tok::GT, Tok::U32, Tok::AND}, {result, kAlways, f, against, kAlways});
  return result;
}

VReg magnitude_of(Emit& e, VReg x) {
  const VReg u = e.b.reg();
  e.op(Op::LOP3, {Tok::LUT}, {u, x, 0x7fffffff, kZero, kAnd, !kAlways});
  return u;
}

}  // namespace

// As float32 values that the dtype can keep.
Lanes Emit::stochastic_float(Dtype to, int bits, const Lanes& x, const Lanes& words) {
  const bool half = to == Dtype::float16;
  const std::uint32_t largest = half ? 0x477fffff : 0x7f7fffff;
  Lanes out = fresh();
  each([&](unsigned i) {
    const VReg u = magnitude_of(*this, x[i]), j = b.reg(), small_j = b.reg(), step = b.reg(), kept = b.reg();
    const VPred small = b.pred();
    if (half) {  // below 2^-14 the last place is 2^-24
      const VReg exponent = b.reg();
      op(Op::SHF, {Tok::R, Tok::U32, Tok::HI}, {exponent, kZero, 23, u});
      op(Op::ISETP, {Tok::LT, Tok::U32, Tok::AND}, {small, kAlways, exponent, 0x71, kAlways});
      op(Op::IADD3, {}, {small_j, -Arg(exponent), 126, kZero});
    } else {  // subnormal numbers have the last place of their dtype
      op(Op::ISETP, {Tok::LT, Tok::U32, Tok::AND}, {small, kAlways, u, kLeading, kAlways});
      op(Op::MOV, {}, {small_j, to == Dtype::bfloat16 ? 16 : 0});
    }
    op(Op::MOV, {}, {j, 23 - bits});
    select(j, small_j, j, small);
    const VPred grows = up(*this, u, j, words[i], largest);
    op(Op::SHF, {Tok::R, Tok::U32, Tok::HI}, {kept, kZero, j, u});
    op(Op::SHF, {Tok::L, Tok::U32}, {kept, kept, j, kZero});
    op(Op::SHF, {Tok::L, Tok::U32}, {step, constant(1), j, kZero});
    if (half) {  // below 2^-24 nothing is kept
      const VPred none = b.pred();
      op(Op::ISETP, {Tok::GE, Tok::U32, Tok::AND}, {none, kAlways, j, 24, kAlways});
      select(step, 0x33800000, step, none);
      select(kept, kZero, kept, none);
    }
    select(step, step, kZero, grows);
    op(Op::IADD3, {}, {kept, kept, step, kZero});
    const VReg sign = b.reg();
    op(Op::LOP3, {Tok::LUT}, {sign, x[i], kSign, kZero, kAnd, !kAlways});
    op(Op::LOP3, {Tok::LUT}, {kept, kept, sign, kZero, kOr, !kAlways});
    const VPred nan = b.pred();
    op(Op::FSETP, {Tok::kNAN, Tok::AND}, {nan, kAlways, x[i], x[i], kAlways});
    select(out[i], 0x7fffffff, kept, nan);
  });
  return out;
}

// Towards zero, and one further from it where the word says so; saturated, NaN is 0.
Lanes Emit::stochastic_integer(Dtype to, const Lanes& x, const Lanes& words) {
  const bool is_signed = expr::is_signed(to);
  const auto width = static_cast<int>(8 * size_of(to));
  Lanes within = fresh();
  each([&](unsigned i) {
    const float low = is_signed ? -static_cast<float>(std::int64_t{1} << (width - 1)) : 0.0F;
    op(Op::FMNMX, {Tok::kNAN}, {within[i], x[i], low, !kAlways});
    if (width < 32) {
      const auto high = static_cast<float>((std::int64_t{1} << (is_signed ? width - 1 : width)) - 1);
      op(Op::FMNMX, {Tok::kNAN}, {within[i], within[i], high, kAlways});
    }
  });
  Lanes out = cast(Dtype::float32, to, within);
  Lanes moved = fresh();
  each([&](unsigned i) {
    const VReg u = magnitude_of(*this, within[i]), j = b.reg(), step = b.reg(), minus = b.reg();
    op(Op::SHF, {Tok::R, Tok::U32, Tok::HI}, {j, kZero, 23, u});
    op(Op::IADD3, {}, {j, -Arg(j), 150, kZero});
    const VPred grows = up(*this, u, j, words[i], 0x7fffffff);
    const VPred negative = b.pred(), number = b.pred();
    op(Op::ISETP, {Tok::LT, Tok::AND}, {negative, kAlways, within[i], kZero, kAlways});
    op(Op::FSETP, {Tok::NUM, Tok::AND}, {number, kAlways, x[i], x[i], grows});
    op(Op::MOV, {}, {minus, 1});
    select(minus, 0xffffffff, minus, negative);
    select(step, minus, kZero, number);
    op(Op::IADD3, {}, {moved[i], out[i], step, kZero});
  });
  return moved;
}

}  // namespace nervanagpu::fuse
