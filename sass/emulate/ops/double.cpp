// Double precision: DADD, DMUL, DFMA, DSETP, DSET, DMNMX. The directed roundings use the host's rounding mode.
#include <cfenv>
#include <cmath>
#include <cstdint>

#include "sass/emulate/ops/families.h"
#include "sass/emulate/ops/wide.h"
#include "sass/emulate/uop/words.h"

namespace nervanagpu::sass::emulate {
namespace {

enum class Operation : std::uint8_t { kAdd, kMul, kFma };

// Not inlined, on volatile values: the compiler may not move it across the change of the rounding mode.
[[gnu::noinline]] double compute(Operation op, double a, double b, double c) {
  const volatile double p = a;
  const volatile double q = b;
  const volatile double s = c;
  volatile double r = 0;
  switch (op) {
    case Operation::kAdd: r = p + q; break;
    case Operation::kMul: r = p * q; break;
    case Operation::kFma: r = std::fma(p, q, s); break;
  }
  return r;
}

int host_mode(u32 round) {
  switch (round) {
    case kDown: return FE_DOWNWARD;
    case kUp: return FE_UPWARD;
    case kZeroward: return FE_TOWARDZERO;
    default: return FE_TONEAREST;
  }
}

const Uop* arithmetic(Warp& w, const Uop* u) {
  const Detail& x = *u->x;
  const auto op = static_cast<Operation>(x.kind);
  const WideRow a = fetch_wide(w, x.src[0], 0);
  const WideRow b = fetch_wide(w, x.src[1], 2);
  const WideRow c = op == Operation::kFma ? fetch_wide(w, x.src[2], 4) : a;
  Row32 lo = result(w, x);
  Row32 hi = result(w, x, 1);
  const int before = std::fegetround();
  if (x.round != kNearest) std::fesetround(host_mode(x.round));
  for (unsigned l = 0; l < kLanes; ++l) {
    const std::uint64_t r = wide_bits(compute(op, a.value(l), b.value(l), c.value(l)));
    lo[l] = static_cast<u32>(r);
    hi[l] = static_cast<u32>(r >> 32);
  }
  if (x.round != kNearest) std::fesetround(before);
  finish(w, x, 2);
  return u + 1;
}

const Uop* dsetp(Warp& w, const Uop* u) {
  const Detail& x = *u->x;
  const WideRow a = fetch_wide(w, x.src[0], 0);
  const WideRow b = fetch_wide(w, x.src[1], 2);
  u32 m = 0;
  for (unsigned l = 0; l < kLanes; ++l) {
    const double p = a.value(l);
    const double q = b.value(l);
    const unsigned is = p < q ? 1 : p == q ? 2 : p > q ? 4 : 8;
    if ((x.kind & is) != 0) m |= 1u << l;
  }
  const u32 p = x.puse_count > 0 ? predicate(w, x.puse[0]) : kAllLanes;
  const auto combine = [&](u32 t) { return x.kind2 == 0 ? t & p : x.kind2 == 1 ? t | p : t ^ p; };
  if (x.flag2) {  // DSET
    Row32 o = result(w, x);
    const u32 truth = combine(m);
    for (unsigned l = 0; l < kLanes; ++l) o[l] = (truth >> l & 1) == 0 ? 0 : x.flag ? 0x3f800000u : ~0u;
    finish(w, x);
    return u + 1;
  }
  if (x.pdst_count > 0) set_predicate(w, x.pdst[0], combine(m));
  if (x.pdst_count > 1) set_predicate(w, x.pdst[1], combine(~m));
  return u + 1;
}

// DSETP.MIN and .MAX: which lanes take the first operand as the smaller or larger one, a NaN only where the other is one
// too; and which lanes have two NaNs.
const Uop* dsetp_pick(Warp& w, const Uop* u) {
  const Detail& x = *u->x;
  const WideRow a = fetch_wide(w, x.src[0], 0);
  const WideRow b = fetch_wide(w, x.src[1], 2);
  u32 first = 0;
  u32 nans = 0;
  for (unsigned l = 0; l < kLanes; ++l) {
    const double p = a.value(l);
    const double q = b.value(l);
    const bool less = p < q || (p == q && std::signbit(p) && !std::signbit(q));
    const bool more = p > q || (p == q && !std::signbit(p) && std::signbit(q));
    if (q != q || (p == p && (x.flag ? less : more))) first |= 1u << l;
    if (p != p && q != q) nans |= 1u << l;
  }
  const u32 with = x.puse_count > 0 ? predicate(w, x.puse[0]) : kAllLanes;
  if (x.pdst_count > 0) set_predicate(w, x.pdst[0], first & with);
  if (x.pdst_count > 1) set_predicate(w, x.pdst[1], nans & with);
  return u + 1;
}

const Uop* dmnmx(Warp& w, const Uop* u) {
  const Detail& x = *u->x;
  const WideRow a = fetch_wide(w, x.src[0], 0);
  const WideRow b = fetch_wide(w, x.src[1], 2);
  const u32 minimum = predicate(w, x.puse[0]);
  Row32 lo = result(w, x);
  Row32 hi = result(w, x, 1);
  for (unsigned l = 0; l < kLanes; ++l) {
    const double p = a.value(l);
    const double q = b.value(l);
    double r = 0;
    if (p != p || q != q) {
      r = p != p ? q : p;
    } else {
      const bool less = p < q || (p == q && std::signbit(p) && !std::signbit(q));
      r = less == ((minimum >> l & 1) != 0) ? p : q;
    }
    const std::uint64_t bits = wide_bits(r);
    lo[l] = static_cast<u32>(bits);
    hi[l] = static_cast<u32>(bits >> 32);
  }
  finish(w, x, 2);
  return u + 1;
}

unsigned accepted(const Inst& inst) {
  static constexpr Tok kOrder[] = {Tok::F,    Tok::LT,  Tok::EQ,  Tok::LE,  Tok::GT,  Tok::NE,  Tok::GE,  Tok::NUM,
                                   Tok::kNAN, Tok::LTU, Tok::EQU, Tok::LEU, Tok::GTU, Tok::NEU, Tok::GEU, Tok::T};
  for (unsigned i = 0; i < 16; ++i) {
    if (inst.has(Axis::kCmp, kOrder[i])) return i;
  }
  return 16;
}

}  // namespace

bool bind_double(const Inst& inst, Binding& b) {
  Detail& x = b.detail;
  switch (inst.op) {
    case Op::DADD: x.kind = static_cast<std::uint8_t>(Operation::kAdd); break;
    case Op::DMUL: x.kind = static_cast<std::uint8_t>(Operation::kMul); break;
    case Op::DFMA: x.kind = static_cast<std::uint8_t>(Operation::kFma); break;
    case Op::DMNMX: x.body = dmnmx; return true;
    case Op::DSET:
    case Op::DSETP: {
      if (says(inst, "MIN") || says(inst, "MAX")) {
        if (inst.op != Op::DSETP || !inst.has(Axis::kBool, Tok::AND)) b.refuse("comparison");
        x.flag = says(inst, "MIN");
        x.body = dsetp_pick;
        return true;
      }
      const unsigned accept = accepted(inst);
      if (accept > 15) b.refuse("comparison");
      x.kind = static_cast<std::uint8_t>(accept);
      x.kind2 = inst.has(Axis::kBool, Tok::OR) ? 1 : inst.has(Axis::kBool, Tok::XOR) ? 2 : 0;
      x.flag = says(inst, "BF");
      x.flag2 = inst.op == Op::DSET;
      x.body = dsetp;
      return true;
    }
    default: return false;
  }
  x.body = arithmetic;
  return true;
}

}  // namespace nervanagpu::sass::emulate
