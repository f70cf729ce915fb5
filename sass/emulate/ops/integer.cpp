// Integer arithmetic; the uniform forms too, which are the same with a scalar result.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>

#include "sass/emulate/ops/families.h"
#include "sass/emulate/state/warp.h"

#include "sass/emulate/ops/target_begin.h"

#include "sass/emulate/lanes/lanes.h"
#include "sass/emulate/uop/words.h"

namespace nervanagpu::sass::emulate::NG_TARGET {
namespace {

const Uop* mov(Warp& w, const Uop* u) {
  return map(w, u, [](u32 a) { return a; });
}

const Uop* sel(Warp& w, const Uop* u) {
  const Detail& x = *u->x;
  Row32 pick = unpacked(w, predicate(w, x.puse[0]));
  ConstRow a = fetch(w, x.src[0], 0);
  ConstRow b = fetch(w, x.src[1], 1);
  Row32 o = result(w, x);
  NG_LANES(l) o[l] = pick[l] != 0 ? a[l] : b[l];
  finish(w, x);
  return u + 1;
}

// a + b + c without carries: most of them.
const Uop* iadd3(Warp& w, const Uop* u) {
  return map(w, u, [](u32 a, u32 b, u32 c) { return a + b + c; });
}
const Uop* iadd2(Warp& w, const Uop* u) {
  return map(w, u, [](u32 a, u32 b) { return a + b; });
}

// With carries. The sum of three terms, the +1 of every negation and two carries in is at most 3 * 2^32 + 1: the first
// carry out says that bit 32 or 33 is set, the second that the sum reached 2 * 2^32.
const Uop* iadd3_carry(Warp& w, const Uop* u) {
  const Detail& x = *u->x;
  ConstRow in[3];
  u32 ones = 0;
  for (unsigned i = 0; i < 3; ++i) {
    Src s = x.src[i];
    ones += s.add;
    s.add = 0;
    in[i] = fetch(w, s, i);
  }
  Row32 p = w.scratch[6].data();
  Row32 q = w.scratch[kFlags].data();
  unpack(p, x.extended && x.puse_count > 0 ? predicate(w, x.puse[0]) : 0);
  unpack(q, x.extended && x.puse_count > 1 ? predicate(w, x.puse[1]) : 0);
  ConstRow a = in[0], b = in[1], c = in[2];
  Row32 o = result(w, x);
  NG_LANES(l) {
    const u64 sum = u64{a[l]} + b[l] + c[l] + ones + p[l] + q[l];
    p[l] = sum >> 32 >= 1 ? 1 : 0;
    q[l] = sum >> 32 >= 2 ? 1 : 0;
    o[l] = static_cast<u32>(sum);
  }
  if (x.pdst_count > 0) set_predicate(w, x.pdst[0], pack(p));
  if (x.pdst_count > 1) set_predicate(w, x.pdst[1], pack(q));
  finish(w, x);
  return u + 1;
}

// Sums of register pairs, of the uniform datapath; carries as above.
const Uop* iadd3_pair(Warp& w, const Uop* u) {
  const Detail& x = *u->x;
  const auto carry_in = [&](unsigned i) -> u64 {
    return x.extended && x.puse_count > i && predicate(w, x.puse[i]) != 0 ? 1 : 0;
  };
  u64 sum = 0;
  unsigned carries = 0;
  const auto add = [&](u64 v) {
    sum += v;
    carries += sum < v ? 1 : 0;
  };
  for (const Src& s : std::span(x.src).first(3)) {
    const bool flip = s.neg || s.inv;
    add((u64{scalar(w, s, 1)} << 32 | scalar(w, s)) ^ (flip ? ~u64{0} : 0));
    add(flip && !x.extended ? 1 : 0);
  }
  add(carry_in(0));
  add(carry_in(1));
  for (unsigned i = 0; i < x.pdst_count; ++i) set_predicate(w, x.pdst[i], carries > i ? 1 : 0);
  result(w, x)[0] = static_cast<u32>(sum);
  result(w, x, 1)[0] = static_cast<u32>(sum >> 32);
  finish(w, x, 2);
  return u + 1;
}

const Uop* imad(Warp& w, const Uop* u) {
  return map(w, u, [](u32 a, u32 b, u32 c) { return a * b + c; });
}
const Uop* imad_x(Warp& w, const Uop* u) {
  const Detail& x = *u->x;
  Row32 p = unpacked(w, x_carry(w, x));
  ConstRow a = fetch(w, x.src[0], 0);
  ConstRow b = fetch(w, x.src[1], 1);
  ConstRow c = fetch(w, x.src[2], 2);
  Row32 o = result(w, x);
  NG_LANES(l) o[l] = a[l] * b[l] + c[l] + p[l];
  finish(w, x);
  return u + 1;
}

// {d+1, d} = a * b + {c+1, c}, or its upper half (HI). The third source is a pair.
template <bool kSigned, bool kHigh>
const Uop* imad_wide(Warp& w, const Uop* u) {
  const Detail& x = *u->x;
  ConstRow a = fetch(w, x.src[0], 0);
  ConstRow b = fetch(w, x.src[1], 1);
  ConstRow c = fetch_raw(w, x.src[2], 2);
  ConstRow ch = fetch_raw(w, x.src[2], 3, 1);
  const bool minus = x.src[2].neg && !x.extended;
  const bool complement = x.src[2].inv || (x.src[2].neg && x.extended);
  const u64 flip = minus || complement ? ~u64{0} : 0;
  Row32 p = unpacked(w, x.extended ? x_carry(w, x) : 0);
  Row32 o = result(w, x);
  Row32 oh = result(w, x, kHigh ? 0 : 1);
  const bool carries = x.pdst_count > 0 && x.pdst[0] != preds::kDump;
  if (!carries && flip == 0 && !x.extended) {
    NG_LANES(l) {
      const u64 product =
          kSigned ? static_cast<u64>(i64{static_cast<i32>(a[l])} * static_cast<i32>(b[l])) : u64{a[l]} * b[l];
      const u64 sum = product + (u64{ch[l]} << 32 | c[l]);
      if (!kHigh) o[l] = static_cast<u32>(sum);
      oh[l] = static_cast<u32>(sum >> 32);
    }
  } else {
    for (unsigned l = 0; l < kLanes; ++l) {
      const u64 product =
          kSigned ? static_cast<u64>(i64{static_cast<i32>(a[l])} * static_cast<i32>(b[l])) : u64{a[l]} * b[l];
      const u64 add = (u64{ch[l]} << 32 | c[l]) ^ flip;
      u64 sum = 0;
      bool carry = __builtin_add_overflow(product, add, &sum);
      carry |= __builtin_add_overflow(sum, u64{p[l]} + (minus ? 1 : 0), &sum);
      p[l] = carry ? 1 : 0;
      if (!kHigh) o[l] = static_cast<u32>(sum);
      oh[l] = static_cast<u32>(sum >> 32);
    }
    if (carries) set_predicate(w, x.pdst[0], pack(p));
  }
  finish(w, x, kHigh ? 1 : 2);
  return u + 1;
}

// LEA: (a << n) + b. LEA.HI: the upper half of {c, a} << n, + b. kind2: the shift operand.
template <bool kHigh>
const Uop* lea(Warp& w, const Uop* u) {
  const Detail& x = *u->x;
  const Src& sa = x.src[0];
  ConstRow a = fetch_raw(w, sa, 0);
  const Src& sb = x.src[1];
  ConstRow b = fetch_raw(w, sb, 1);
  const bool sx32 = x.flag;
  ConstRow c = kHigh && !sx32 ? fetch(w, x.src[2], 2) : a;
  const u32 n = scalar(w, x.src[x.kind2]) & 31;
  const u64 flip_a = sa.neg || sa.inv ? ~u64{0} : 0;
  const u64 one_a = sa.neg && !sa.inv ? 1 : 0;
  const u32 flip_b = sb.neg || sb.inv ? ~0u : 0;
  const u64 one_b = sb.neg && !sb.inv && !x.extended ? 1 : 0;
  Row32 p = unpacked(w, x.extended ? x_carry(w, x) : 0);
  Row32 o = result(w, x);
  NG_LANES(l) {
    const u32 upper = !kHigh ? 0 : sx32 ? static_cast<u32>(static_cast<i32>(a[l]) >> 31) : c[l];
    const u64 value = ((u64{upper} << 32 | a[l]) ^ flip_a) + one_a;
    const u32 shifted = static_cast<u32>(kHigh ? value << n >> 32 : value << n);
    const u64 sum = u64{shifted} + (b[l] ^ flip_b) + one_b + p[l];
    p[l] = sum >> 32 != 0 ? 1 : 0;
    o[l] = static_cast<u32>(sum);
  }
  if (x.pdst_count > 0) set_predicate(w, x.pdst[0], pack(p));
  finish(w, x);
  return u + 1;
}

// d = p ? min(a, b) : max(a, b)
template <bool kSigned>
const Uop* imnmx(Warp& w, const Uop* u) {
  const Detail& x = *u->x;
  Row32 pick = unpacked(w, predicate(w, x.puse[0]));
  ConstRow a = fetch(w, x.src[0], 0);
  ConstRow b = fetch(w, x.src[1], 1);
  Row32 o = result(w, x);
  NG_LANES(l) {
    const bool less = kSigned ? static_cast<i32>(a[l]) < static_cast<i32>(b[l]) : a[l] < b[l];
    o[l] = less == (pick[l] != 0) ? a[l] : b[l];
  }
  finish(w, x);
  return u + 1;
}

template <bool kSigned>
const Uop* imnmx3(Warp& w, const Uop* u) {
  const Detail& x = *u->x;
  Row32 pick = unpacked(w, predicate(w, x.puse[0]));
  ConstRow a = fetch(w, x.src[0], 0);
  ConstRow b = fetch(w, x.src[1], 1);
  ConstRow c = fetch(w, x.src[2], 2);
  Row32 o = result(w, x);
  NG_LANES(l) {
    const bool minimum = pick[l] != 0;
    const auto less = [](u32 p, u32 q) { return kSigned ? static_cast<i32>(p) < static_cast<i32>(q) : p < q; };
    const u32 first = less(a[l], b[l]) == minimum ? a[l] : b[l];
    o[l] = less(first, c[l]) == minimum ? first : c[l];
  }
  finish(w, x);
  return u + 1;
}

// d = p ? min(a + b, c) : max(a + b, c)
template <bool kSigned>
const Uop* iaddmnmx(Warp& w, const Uop* u) {
  const Detail& x = *u->x;
  Row32 pick = unpacked(w, predicate(w, x.puse[0]));
  ConstRow a = fetch(w, x.src[0], 0);
  ConstRow b = fetch(w, x.src[1], 1);
  ConstRow c = fetch(w, x.src[2], 2);
  Row32 o = result(w, x);
  NG_LANES(l) {
    const u32 sum = a[l] + b[l];
    const bool less = kSigned ? static_cast<i32>(sum) < static_cast<i32>(c[l]) : sum < c[l];
    o[l] = less == (pick[l] != 0) ? sum : c[l];
  }
  finish(w, x);
  return u + 1;
}

const Uop* iabs(Warp& w, const Uop* u) {
  return map(w, u, [](u32 a) { return static_cast<i32>(a) < 0 ? 0 - a : a; });
}

inline u32 field(u32 v, unsigned bits, bool is_signed) {
  const u32 up = v << (32 - bits);
  return is_signed ? static_cast<u32>(static_cast<i32>(up) >> (32 - bits)) : up >> (32 - bits);
}

// c + the dot product of four bytes, or of two halves of a with two bytes of b. kind: bit 0 a signed, bit 1 b signed,
// bit 2 two-way, bit 3 the upper bytes of b.
inline u32 dot(unsigned kind, u32 a, u32 b, u32 c) {
  const bool two = (kind & 4) != 0;
  const unsigned n = two ? 2 : 4;
  const unsigned bits_a = two ? 16 : 8;
  if ((kind & 8) != 0) b >>= 16;
  u32 sum = c;
  for (unsigned i = 0; i < n; ++i) {
    sum += field(a >> (bits_a * i), bits_a, (kind & 1) != 0) * field(b >> (8 * i), 8, (kind & 2) != 0);
  }
  return sum;
}
// IDP.4A, the step of a GEMM of bytes: a loop that vectorizes.
template <bool kSignedA, bool kSignedB>
const Uop* idp4(Warp& w, const Uop* u) {
  return map(w, u, [](u32 a, u32 b, u32 c) {
    const auto byte = [](u32 v, unsigned at, bool is_signed) {
      return is_signed ? static_cast<i32>(v << (24 - at)) >> 24 : static_cast<i32>(v >> at & 255);
    };
    i32 sum = 0;
    for (unsigned at = 0; at < 32; at += 8) sum += byte(a, at, kSignedA) * byte(b, at, kSignedB);
    return c + static_cast<u32>(sum);
  });
}
const Uop* idp(Warp& w, const Uop* u) {
  const unsigned kind = u->x->kind;
  return map(w, u, [=](u32 a, u32 b, u32 c) { return dot(kind, a, b, c); });
}

// |a - b| + c, and of the four bytes: each, or .ACC their sum and c.
const Uop* vabsdiff(Warp& w, const Uop* u) {
  const bool is_signed = u->x->is_signed;
  return map(w, u, [=](u32 a, u32 b, u32 c) {
    const bool less = is_signed ? static_cast<i32>(a) < static_cast<i32>(b) : a < b;
    return (less ? b - a : a - b) + c;
  });
}
const Uop* vabsdiff4(Warp& w, const Uop* u) {
  const bool is_signed = u->x->is_signed;
  const bool sums = u->x->flag;
  return map(w, u, [=](u32 a, u32 b, u32 c) {
    u32 out = c;
    for (unsigned at = 0; at < 32; at += 8) {
      const u32 d = static_cast<u32>(
          std::abs(static_cast<i32>(field(a >> at, 8, is_signed)) - static_cast<i32>(field(b >> at, 8, is_signed))));
      out += sums ? d : d << at;
    }
    return out;
  });
}

// VIMNMX, VIMNMX3 and VIADDMNMX of packed halves, and with .RELU: kind 0 the first two, 1 all three, 2 the sum of the
// first two and the third.
template <bool kSigned, unsigned kWidth>
const Uop* packed_mnmx(Warp& w, const Uop* u) {
  const Detail& x = *u->x;
  const u32 pick = predicate(w, x.puse[0]);
  ConstRow a = fetch(w, x.src[0], 0);
  ConstRow b = fetch(w, x.src[1], 1);
  ConstRow c = fetch(w, x.src_count > 2 ? x.src[2] : x.src[1], 2);
  Row32 o = result(w, x);
  constexpr u32 kMask = kWidth == 32 ? ~0u : (1u << (kWidth % 32)) - 1;
  const auto part = [](u32 v, unsigned at) {
    const u32 raw = v >> at & kMask;
    return kSigned ? static_cast<std::int64_t>(static_cast<i32>(raw << (32 - kWidth)) >> (32 - kWidth))
                   : static_cast<std::int64_t>(raw);
  };
  for (unsigned l = 0; l < kLanes; ++l) {
    const bool minimum = (pick >> l & 1) != 0;
    const auto better = [&](std::int64_t p, std::int64_t q) { return minimum ? std::min(p, q) : std::max(p, q); };
    u32 out = 0;
    for (unsigned at = 0; at < 32; at += kWidth) {
      std::int64_t v = part(a[l], at);
      if (x.kind == 2) {
        v = part(static_cast<u32>(part(a[l], at) + part(b[l], at)), 0);
        v = better(v, part(c[l], at));
      } else {
        v = better(v, part(b[l], at));
        if (x.kind == 1) v = better(v, part(c[l], at));
      }
      if (x.flag && v < 0) v = 0;
      out |= (static_cast<u32>(v) & kMask) << at;
    }
    o[l] = out;
  }
  finish(w, x);
  return u + 1;
}

// True if it is one of these.
bool bind_packed_mnmx(const Inst& inst, Binding& b) {
  Detail& x = b.detail;
  const bool halves = says(inst, "U16x2") || says(inst, "S16x2");
  x.flag = says(inst, "RELU");
  if (!halves && !x.flag) return false;
  x.kind = inst.op == Op::VIMNMX ? 0 : inst.op == Op::VIMNMX3 ? 1 : 2;
  if (x.src_count != (x.kind == 0 ? 2 : 3) || x.puse_count != 1) b.refuse("operands");
  for (const Src& s : x.src) {
    if (halves && s.neg) b.refuse("a negated pair of halves");
  }
  signs_as_integer(x);
  if (halves) {
    x.body = says(inst, "S16x2") ? packed_mnmx<true, 16> : packed_mnmx<false, 16>;
  } else {
    x.body = x.is_signed ? packed_mnmx<true, 32> : packed_mnmx<false, 32>;
  }
  return true;
}

void bind_iadd3(Binding& b) {
  Detail& x = b.detail;
  if (x.extended) {  // with carries in, - of a source is ~
    for (Src& s : x.src) {
      s.inv = s.inv || s.neg;
      s.neg = false;
    }
  }
  signs_as_integer(x);
  const bool out = x.pdst[0] != preds::kDump || x.pdst[1] != preds::kDump;
  if (x.src_count == 2) {
    if (out || x.extended) b.refuse("carries of a sum of two");
    x.body = iadd2;
  } else {
    x.body = out || x.extended ? iadd3_carry : iadd3;
  }
}

void bind_iadd3_pair(Binding& b) {
  const Detail& x = b.detail;
  if (!x.to_uniform || x.src_count != 3) b.refuse("operands");
  // Found on an H200; nvdisasm prints it.
  const auto turned = [](const Src& s) { return s.neg || s.inv; };
  if (turned(x.src[0]) && turned(x.src[1])) b.refuse("the first two operands negated: an illegal instruction");
  b.detail.body = iadd3_pair;
}

void bind_imad(const Inst& inst, Binding& b) {
  Detail& x = b.detail;
  const bool is_signed = x.is_signed;
  const bool wide = inst.op == Op::IMAD_WIDE || inst.op == Op::UIMAD_WIDE;
  const bool high = inst.op == Op::IMAD_HI || inst.op == Op::UIMAD_HI || says(inst, "HI");
  if (wide || high) {
    const Src c = x.src[2];
    if (x.src[0].neg || x.src[1].neg) {
      // A negated factor negates the 64-bit product, which is not the product of negated 32-bit factors for -2^31.
      b.refuse("a negated factor of a 64-bit product");
    }
    x.src[2] = Src{};
    signs_as_integer(x);
    x.src[2] = c;
    if (wide) {
      x.body = is_signed ? imad_wide<true, false> : imad_wide<false, false>;
    } else {
      x.body = is_signed ? imad_wide<true, true> : imad_wide<false, true>;
    }
    return;
  }
  if (x.extended) {
    x.src[2].inv = x.src[2].inv || x.src[2].neg;
    x.src[2].neg = false;
  }
  signs_as_integer(x);
  x.body = x.extended ? imad_x : imad;
}

void bind_lea(const Inst& inst, Binding& b) {
  Detail& x = b.detail;
  const bool high = says(inst, "HI");
  x.flag = says(inst, "SX32");
  x.kind2 = static_cast<std::uint8_t>(x.src_count - 1);
  if (x.src[x.kind2].kind != Src::Kind::kImm) b.refuse("a shift that is not an immediate");
  if (x.extended) {
    x.src[1].inv = x.src[1].inv || x.src[1].neg;
    x.src[1].neg = false;
  }
  if (high && !x.flag && x.src_count < 4) b.refuse("operands");
  x.body = high ? lea<true> : lea<false>;
}

void bind_idp(const Inst& inst, Binding& b) {
  Detail& x = b.detail;
  unsigned kind = 0;
  const Tok a = inst.mod(Axis::kSigned);
  const Tok s = inst.mod(Axis::kSigned2);
  if (a == Tok::S8 || a == Tok::S16) kind |= 1;
  if (s == Tok::S8 || s == Tok::S16) kind |= 2;
  if (says(inst, "2A") || says(inst, "LO")) kind |= 4;
  if (says(inst, "HI")) kind |= 4 | 8;
  x.kind = static_cast<std::uint8_t>(kind);
  signs_as_integer(x);
  switch (kind) {
    case 0: x.body = idp4<false, false>; break;
    case 1: x.body = idp4<true, false>; break;
    case 2: x.body = idp4<false, true>; break;
    case 3: x.body = idp4<true, true>; break;
    default: x.body = idp; break;
  }
}

}  // namespace

bool bind_integer(const Inst& inst, Binding& b) {
  Detail& x = b.detail;
  switch (inst.op) {
    case Op::MOV:
    case Op::MOV32I:
    case Op::UMOV:
      if (x.src_count > 1 && x.src[1].bits != 15) b.refuse("a byte mask");
      x.body = mov;
      return true;
    case Op::SEL:
    case Op::USEL:
      signs_as_integer(x);
      x.body = sel;
      return true;
    case Op::IADD3:
    case Op::UIADD3:
    case Op::VIADD:
      if (says(inst, "16x2")) b.refuse("packed halves");
      if (inst.has(Axis::kSize, Tok::k64)) {
        bind_iadd3_pair(b);
      } else {
        bind_iadd3(b);
      }
      return true;
    case Op::IMAD:
    case Op::IMAD_WIDE:
    case Op::IMAD_HI:
    case Op::UIMAD:
    case Op::UIMAD_WIDE:
    case Op::UIMAD_HI: bind_imad(inst, b); return true;
    case Op::LEA:
    case Op::ULEA: bind_lea(inst, b); return true;
    case Op::IMNMX:
    case Op::VIMNMX:
      if (bind_packed_mnmx(inst, b)) return true;
      signs_as_integer(x);
      x.body = x.is_signed ? imnmx<true> : imnmx<false>;
      return true;
    case Op::VIMNMX3:
      if (bind_packed_mnmx(inst, b)) return true;
      if (x.src_count != 3 || x.puse_count != 1) b.refuse("operands");
      signs_as_integer(x);
      x.body = x.is_signed ? imnmx3<true> : imnmx3<false>;
      return true;
    case Op::VIADDMNMX:
      if (bind_packed_mnmx(inst, b)) return true;
      if (x.src_count != 3 || x.puse_count != 1) b.refuse("operands");
      signs_as_integer(x);
      x.body = x.is_signed ? iaddmnmx<true> : iaddmnmx<false>;
      return true;
    case Op::VABSDIFF:
    case Op::VABSDIFF4:
      x.is_signed = inst.op == Op::VABSDIFF ? x.is_signed : !says(inst, "U8");
      x.flag = says(inst, "ACC");
      if (x.pdst_count > 0 && x.pdst[0] != preds::kDump) b.refuse("a predicate result");
      x.body = inst.op == Op::VABSDIFF ? vabsdiff : vabsdiff4;
      return true;
    case Op::IABS: x.body = iabs; return true;
    case Op::IDP: bind_idp(inst, b); return true;
    default: return false;
  }
}

}  // namespace nervanagpu::sass::emulate::NG_TARGET

#include "sass/emulate/ops/target_end.h"
