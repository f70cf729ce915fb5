#include "src/fuse/kernels/reduce.h"

#include "src/expr/promote.h"

namespace nervanagpu::fuse {

using sass::kAlways;
using sass::kZero;

VReg Reducer::identity() {
  Emit e(b_, 1);
  const bool lowest = op_ == Reduction::max;
  const bool is_signed = expr::is_signed(dtype_);
  if (op_ == Reduction::sum) return registers_of(dtype_) == 2 ? e.constant64(0) : e.constant(0);
  if (op_ == Reduction::prod) {
    switch (form_of(dtype_)) {
      case Form::float32: return e.constant(0x3f800000);
      case Form::float64: return e.constant64(0x3ff0000000000000);
      case Form::int32: return e.constant(1);
      case Form::int64: return e.constant64(1);
    }
  }
  switch (form_of(dtype_)) {
    case Form::float32: return e.constant(lowest ? 0xff800000 : 0x7f800000);
    case Form::float64: return e.constant64(lowest ? 0xfff0000000000000 : 0x7ff0000000000000);
    case Form::int32: return e.constant(is_signed ? (lowest ? 0x80000000 : 0x7fffffff) : (lowest ? 0 : 0xffffffff));
    case Form::int64: break;
  }
  if (!is_signed) return e.constant64(lowest ? 0 : ~std::uint64_t{0});
  return e.constant64(lowest ? std::uint64_t{1} << 63 : (std::uint64_t{1} << 63) - 1);
}

void Reducer::multiply(VReg to, VReg v, VPred guard) {
  switch (form_of(dtype_)) {
    case Form::float32: b_.emit(Op::FMUL, {}, {to, to, v}, guard); return;
    case Form::float64: b_.emit(Op::DMUL, {}, {to, to, v}, guard); return;
    case Form::int32: b_.emit(Op::IMAD, {}, {to, to, v, kZero}, guard); return;
    case Form::int64: {
      const VReg w = b_.reg(2);
      b_.emit(Op::IMAD_WIDE, {Tok::U32}, {w, to[0], v[0], kZero});
      b_.emit(Op::IMAD, {}, {w[1], to[0], v[1], w[1]});
      b_.emit(Op::IMAD, {}, {w[1], to[1], v[0], w[1]});
      for (unsigned k = 0; k < 2; ++k) b_.emit(Op::MOV, {}, {to[k], w[k]}, guard);
      return;
    }
  }
}

void Reducer::combine(VReg to, VReg v, VPred guard) {
  if (op_ == Reduction::prod) {
    multiply(to, v, guard);
    return;
  }
  const bool sum = op_ == Reduction::sum;
  const bool larger = op_ == Reduction::max;
  const VPred way = larger ? !kAlways : kAlways;
  switch (form_of(dtype_)) {
    case Form::float32:
      if (sum) {
        b_.emit(Op::FADD, {}, {to, to, v}, guard);
      } else {
        b_.emit(Op::FMNMX, {Tok::kNAN}, {to, to, v, way}, guard);
      }
      return;
    case Form::float64: {
      if (sum) {
        b_.emit(Op::DADD, {}, {to, to, v}, guard);
        return;
      }
      const VPred take = b_.pred();
      b_.emit(Op::DSETP, {larger ? Tok::GT : Tok::LT, Tok::AND}, {take, kAlways, v, to, kAlways});
      b_.emit(Op::DSETP, {Tok::kNAN, Tok::OR}, {take, kAlways, v, v, take});
      for (unsigned k = 0; k < 2; ++k) b_.emit(Op::SEL, {}, {to[k], v[k], to[k], take}, guard);
      return;
    }
    case Form::int32:
      if (expr::is_signed(dtype_)) {
        b_.emit(Op::VIMNMX, {}, {to, to, v, way}, guard);
      } else {
        b_.emit(Op::VIMNMX, {Tok::U32}, {to, to, v, way}, guard);
      }
      return;
    case Form::int64: {
      const VPred p = b_.pred();
      if (sum) {
        // Both halves are made first, so that the carry has no guard.
        const VReg low = b_.reg(), high = b_.reg();
        b_.emit(Op::IADD3, {}, {low, p, to[0], v[0], kZero});
        b_.emit(Op::IADD3, {Tok::X}, {high, to[1], v[1], kZero, p, !kAlways});
        b_.emit(Op::MOV, {}, {to[0], low}, guard);
        b_.emit(Op::MOV, {}, {to[1], high}, guard);
        return;
      }
      const VPred low = b_.pred();
      const Tok how = larger ? Tok::GT : Tok::LT;
      b_.emit(Op::ISETP, {how, Tok::U32, Tok::AND}, {low, kAlways, v[0], to[0], kAlways});
      if (expr::is_signed(dtype_)) {
        b_.emit(Op::ISETP, {how, Tok::AND, Tok::EX}, {p, kAlways, v[1], to[1], kAlways, low});
      } else {
        b_.emit(Op::ISETP, {how, Tok::U32, Tok::AND, Tok::EX}, {p, kAlways, v[1], to[1], kAlways, low});
      }
      for (unsigned k = 0; k < 2; ++k) b_.emit(Op::SEL, {}, {to[k], v[k], to[k], p}, guard);
      return;
    }
  }
}

void Reducer::across(VReg v, unsigned apart) {
  const unsigned words = registers_of(dtype_);
  const VReg other = b_.reg(words);
  for (unsigned k = 0; k < words; ++k) {
    b_.emit(Op::SHFL, {Tok::BFLY}, {kAlways, other[k], v[k], std::int64_t{apart}, 0x1f});
  }
  combine(v, other);
}

void Reducer::over_lanes(VReg v, unsigned from) {
  for (unsigned apart = from; apart > 0; apart /= 2) across(v, apart);
}

void Reducer::over_warps(VReg v, VReg tid, unsigned warps, std::int64_t base) {
  const unsigned words = registers_of(dtype_);
  const VReg lane = b_.reg(), place = b_.reg();
  const VPred first = b_.pred();
  b_.emit(Op::LOP3, {Tok::LUT}, {lane, tid, 31, kZero, 0xc0, !kAlways});
  b_.emit(Op::ISETP, {Tok::EQ, Tok::U32, Tok::AND}, {first, kAlways, lane, kZero, kAlways});
  b_.emit(Op::SHF, {Tok::R, Tok::U32, Tok::HI}, {place, kZero, 5, tid});
  b_.emit(Op::SHF, {Tok::L, Tok::U32}, {place, place, 3, kZero});
  for (unsigned k = 0; k < words; ++k) b_.emit(Op::STS, {}, {sass::shared(place, base + 4 * k), v[k]}, first);
  b_.emit(Op::BAR, {Tok::SYNC, Tok::DEFER_BLOCKING}, {0});
  // Each warp folds the values of all warps.
  b_.emit(Op::LOP3, {Tok::LUT}, {place, tid, std::int64_t{warps - 1}, kZero, 0xc0, !kAlways});
  b_.emit(Op::SHF, {Tok::L, Tok::U32}, {place, place, 3, kZero});
  for (unsigned k = 0; k < words; ++k) b_.emit(Op::LDS, {}, {v[k], sass::shared(place, base + 4 * k)});
  over_lanes(v, warps / 2);
}

}  // namespace nervanagpu::fuse
