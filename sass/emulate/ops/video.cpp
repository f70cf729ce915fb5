// Video instructions of sm_50 .. sm_62, as PTX defines them: two parts of registers, widened; a result that may saturate; and
// what becomes of it with the third source.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iterator>

#include "sass/emulate/lanes/lanes.h"
#include "sass/emulate/ops/families.h"
#include "sass/emulate/uop/words.h"
#include "sass/isa/rows/row.h"

namespace nervanagpu::sass::emulate {
namespace {

enum class Operation : std::uint8_t { kAdd, kMinimum, kMaximum, kDifference, kSet, kLeft, kRight };

// The low `bits` bits of v as a number.
i64 extend(u32 v, unsigned bits, bool is_signed) {
  const u32 up = v << (32 - bits);
  return is_signed ? static_cast<std::int32_t>(up) >> (32 - bits) : i64{up >> (32 - bits)};
}

// Source i: Detail::imm has its bits and sign, one byte for each source; Src::part the byte that it starts at.
i64 source(const Detail& x, ConstRow row, unsigned i, unsigned lane) {
  const unsigned type = x.imm >> (8 * i) & 0xff;
  const Src& s = x.src[i];
  if (s.kind == Src::Kind::kImm) {  // 16 bits, which VADD can negate
    const auto v = static_cast<std::int32_t>(s.bits);
    if (!x.flag2) return extend(s.bits, 16, (type & 0x80) != 0);
    const i64 magnitude = extend(static_cast<u32>(std::abs(v)), 16, (type & 0x80) != 0);
    return v < 0 ? -magnitude : magnitude;
  }
  const i64 v = extend(row[lane] >> (8 * s.part), type & 0x7f, (type & 0x80) != 0);
  return s.neg ? -v : v;
}

i64 compute(const Detail& x, i64 a, i64 b) {
  switch (static_cast<Operation>(x.kind)) {
    case Operation::kAdd: return a + b;
    case Operation::kMinimum: return std::min(a, b);
    case Operation::kMaximum: return std::max(a, b);
    case Operation::kDifference: return std::abs(a - b);
    case Operation::kSet: return (x.imm2 >> (a < b ? 0 : a == b ? 1 : 2) & 1) != 0 ? 1 : 0;
    case Operation::kLeft: return x.flag ? a << (b & 31) : b > 31 ? 0 : a << b;
    case Operation::kRight: return a >> (x.flag ? b & 31 : std::min<i64>(b, 32));
  }
  return 0;
}

// What becomes of the result: it is added to the third source, compared with it, or goes to some bits of it.
enum class Then : std::uint8_t { kAdd, kMinimum, kMaximum, kPut };
struct Third {
  Tok tok;
  Then then;
  std::uint8_t bits, at;
};
constexpr Third kThird[] = {{Tok::kNone, Then::kPut, 32, 0},    {Tok::ACC, Then::kAdd, 32, 0},
                            {Tok::MIN, Then::kMinimum, 32, 0},  {Tok::MAX, Then::kMaximum, 32, 0},
                            {Tok::MRG_16H, Then::kPut, 16, 16}, {Tok::MRG_16L, Then::kPut, 16, 0},
                            {Tok::MRG_8B0, Then::kPut, 8, 0},   {Tok::MRG_8B2, Then::kPut, 8, 16}};

i64 saturate(i64 v, unsigned bits, bool is_signed) {
  const i64 least = is_signed ? -(i64{1} << (bits - 1)) : 0;
  const i64 most = (i64{1} << (is_signed ? bits - 1 : bits)) - 1;
  return std::clamp(v, least, most);
}

u32 third(const Third& t, bool is_signed, i64 v, u32 c) {
  const auto low = static_cast<u32>(static_cast<std::uint64_t>(v));
  const bool less = is_signed ? static_cast<std::int32_t>(low) < static_cast<std::int32_t>(c) : low < c;
  switch (t.then) {
    case Then::kAdd: return low + c;
    case Then::kMinimum: return less ? low : c;
    case Then::kMaximum: return less ? c : low;
    case Then::kPut: break;
  }
  const u32 mask = (t.bits == 32 ? ~0u : (1u << t.bits) - 1) << t.at;
  return (c & ~mask) | (low << t.at & mask);
}

const Uop* video(Warp& w, const Uop* u) {
  const Detail& x = *u->x;
  ConstRow a = fetch_raw(w, x.src[0], 0);
  ConstRow b = fetch_raw(w, x.src[1], 1);
  ConstRow c = fetch_raw(w, x.src[2], 2);
  const Third& t = kThird[x.kind2];
  u32 out[kLanes];
  for (unsigned l = 0; l < kLanes; ++l) {
    i64 v = compute(x, source(x, a, 0, l), source(x, b, 1, l));
    if (x.sat) v = saturate(v, t.bits, x.is_signed);
    out[l] = third(t, x.is_signed, v, c[l]);
  }
  Row32 o = result(w, x);
  std::copy_n(out, kLanes, o);
  finish(w, x);
  return u + 1;
}

// A product and the third source, shifted, then saturated. It is a signed number where a source is, or is subtracted.
const Uop* vmad(Warp& w, const Uop* u) {
  const Detail& x = *u->x;
  ConstRow a = fetch_raw(w, x.src[0], 0);
  ConstRow b = fetch_raw(w, x.src[1], 1);
  ConstRow c = fetch_raw(w, x.src[2], 2);
  const bool signed_sum = (x.imm & 0x8080) != 0 || x.src[0].neg;
  u32 out[kLanes];
  for (unsigned l = 0; l < kLanes; ++l) {
    // |a * b| may have 64 bits: the upper and the lower half of the sum are kept apart.
    __extension__ using Wide = __int128;
    const i64 addend = extend(c[l], 32, signed_sum);
    Wide v = static_cast<Wide>(source(x, a, 0, l)) * source(x, b, 1, l);
    v += x.src[2].neg ? -addend : addend;
    if (x.flag) v += 1;
    v >>= x.imm2;
    if (x.sat) {
      const bool is_signed = signed_sum || x.src[2].neg;
      const Wide least = is_signed ? -(Wide{1} << 31) : Wide{0};
      const Wide most = (Wide{1} << (is_signed ? 31 : 32)) - 1;
      v = std::clamp(v, least, most);
    }
    out[l] = static_cast<u32>(static_cast<std::uint64_t>(v));
  }
  Row32 o = result(w, x);
  std::copy_n(out, kLanes, o);
  finish(w, x);
  return u + 1;
}

// The differences of four bytes, each as it stands, or their sum and the third source.
const Uop* vabsdiff4(Warp& w, const Uop* u) {
  const Detail& x = *u->x;
  ConstRow a = fetch_raw(w, x.src[0], 0);
  ConstRow b = fetch_raw(w, x.src[1], 1);
  ConstRow c = fetch_raw(w, x.src[2], 2);
  u32 out[kLanes];
  for (unsigned l = 0; l < kLanes; ++l) {
    u32 sum = x.flag ? c[l] : 0;
    for (unsigned at = 0; at < 32; at += 8) {
      const i64 d = std::abs(extend(a[l] >> at, 8, x.is_signed) - extend(b[l] >> at, 8, x.is_signed));
      sum += static_cast<u32>(d) << (x.flag ? 0 : at);
    }
    out[l] = sum;
  }
  Row32 o = result(w, x);
  std::copy_n(out, kLanes, o);
  finish(w, x);
  return u + 1;
}

constexpr u32 kSigned = 0x80;

// Bits and sign of a type.
u32 type_of(Tok t) {
  switch (t) {
    case Tok::U8: return 8;
    case Tok::S8: return 8 | kSigned;
    case Tok::U16: return 16;
    case Tok::S16: return 16 | kSigned;
    case Tok::U32: return 32;
    default: return 32 | kSigned;
  }
}

// Types of both sources where one word says them, or none: signed, of 32 bits or a number of 16.
u32 types_of(const Inst& inst, bool number, bool shifts) {
  const u32 b = number ? 16 : 32;
  switch (inst.mod(Axis::kType)) {
    case Tok::U32_U32:
    case Tok::U32_U16: return 32 | b << 8;
    case Tok::S32_U32:
    case Tok::S32_U16: return 32 | kSigned | b << 8;
    case Tok::U32_S32:
    case Tok::U32_S16: return 32 | (b | kSigned) << 8;
    default: break;
  }
  if (inst.mod(Axis::kSigned) != Tok::kNone) {
    return type_of(inst.mod(Axis::kSigned)) | type_of(inst.mod(Axis::kSigned2)) << 8;
  }
  return 32 | kSigned | (b | (shifts ? 0 : kSigned)) << 8;
}

// Which of less, equal, greater a comparison accepts.
u32 accepted(Tok t) {
  switch (t) {
    case Tok::LT: return 1;
    case Tok::EQ: return 2;
    case Tok::LE: return 3;
    case Tok::GT: return 4;
    case Tok::NE: return 5;
    case Tok::GE: return 6;
    case Tok::T: return 7;
    default: return 0;
  }
}

void parts(Binding& b) {
  for (Src& s : b.detail.src) {
    s.part = s.sub == Tok::B1 ? 1 : s.sub == Tok::B2 || s.sub == Tok::H1 ? 2 : s.sub == Tok::B3 ? 3 : 0;
  }
}

}  // namespace

bool bind_video(const Inst& inst, Binding& b) {
  if (inst.row->encoding != Encoding::k64) return false;
  Detail& x = b.detail;
  Operation op = Operation::kAdd;
  switch (inst.op) {
    case Op::VADD: break;
    case Op::VMNMX: op = says(inst, "MX") ? Operation::kMaximum : Operation::kMinimum; break;
    case Op::VABSDIFF: op = Operation::kDifference; break;
    case Op::VSET: op = Operation::kSet; break;
    case Op::VSHL: op = Operation::kLeft; break;
    case Op::VSHR: op = Operation::kRight; break;
    case Op::VMAD:
    case Op::VABSDIFF4: break;
    default: return false;
  }
  if (x.src_count != 3) b.refuse("operands");
  parts(b);
  if (inst.op == Op::VABSDIFF4) {
    const Tok types = inst.mod(Axis::kType);
    if (types != Tok::U8_U8 && types != Tok::kNone) b.refuse("bytes of two types");
    if (says(inst, "SD") || x.sat) b.refuse("a signed or saturated result");
    x.is_signed = types == Tok::kNone;
    x.flag = says(inst, "ACC");
    x.body = vabsdiff4;
    return true;
  }
  const bool shifts = inst.op == Op::VSHL || inst.op == Op::VSHR;
  x.imm = types_of(inst, x.src[1].kind == Src::Kind::kImm, shifts);
  if (inst.op == Op::VMAD) {
    x.imm2 = says(inst, "SHR_7") ? 7 : says(inst, "SHR_15") ? 15 : 0;
    x.flag = says(inst, "PO");
    x.body = vmad;
    return true;
  }
  if (says(inst, "PO")) b.refuse("the sum plus one, .PO");
  if (inst.op == Op::VSHL && x.sat) b.refuse("a shift to the left that saturates");
  x.kind = static_cast<std::uint8_t>(op);
  x.imm2 = accepted(inst.mod(Axis::kCmp));
  x.flag = says(inst, "W");
  x.flag2 = inst.op == Op::VADD;
  // Differences are unsigned unless .SD says otherwise, what a comparison gives always.
  x.is_signed = op == Operation::kDifference ? says(inst, "SD") : op != Operation::kSet && !says(inst, "UD");
  const auto then = std::ranges::find(kThird, inst.mod(Axis::kFunction), &Third::tok);
  x.kind2 = static_cast<std::uint8_t>(then - std::begin(kThird));
  x.body = video;
  return true;
}

}  // namespace nervanagpu::sass::emulate
