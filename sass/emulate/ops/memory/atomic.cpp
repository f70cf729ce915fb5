// ATOM, ATOMG, ATOMS, RED. Lanes take their turns in ascending order; between CTAs each operation is one atomic step of
// the host.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <utility>

#include "sass/emulate/lanes/bits.h"
#include "sass/emulate/lanes/half_math.h"
#include "sass/emulate/lanes/lanes.h"
#include "sass/emulate/machine/access_lane.h"
#include "sass/emulate/ops/families.h"
#include "sass/emulate/ops/memory/memory_forms.h"
#include "sass/emulate/uop/words.h"
#include "sass/isa/op_facts.h"

namespace nervanagpu::sass::emulate {
namespace {

enum class Function : std::uint8_t { kAdd, kMin, kMax, kInc, kDec, kAnd, kOr, kXor, kExch, kCas, kCast };
enum class Type : std::uint8_t { kUnsigned, kSigned, kFloat, kDouble, kHalf2, kBfloat2 };

u64 add_float(u64 a, u64 b, bool ftz) {
  u32 p = static_cast<u32>(a);
  u32 q = static_cast<u32>(b);
  if (ftz) {
    p = flush(p);
    q = flush(q);
  }
  const float f = std::bit_cast<float>(p) + std::bit_cast<float>(q);
  const u32 r = f != f ? 0x7fffffffu : std::bit_cast<u32>(f);
  return ftz ? flush(r) : r;
}

u64 add_double(u64 a, u64 b) {
  const double d = std::bit_cast<double>(a) + std::bit_cast<double>(b);
  return d != d ? 0x7fffffffffffffffu : std::bit_cast<u64>(d);
}

template <class From, class To>
u64 packed(u64 a, u64 b, From from, To to, Function f) {
  u64 r = 0;
  for (unsigned i = 0; i < 2; ++i) {
    const float p = from(static_cast<std::uint16_t>(a >> (16 * i)));
    const float q = from(static_cast<std::uint16_t>(b >> (16 * i)));
    double v = 0;
    if (f == Function::kAdd) {
      v = add_to_odd(p, q);
    } else if (p != p || q != q) {
      v = p != p ? q : p;
    } else if (f == Function::kMin) {
      v = p < q || (p == q && std::signbit(p)) ? p : q;
    } else {
      v = p > q || (p == q && !std::signbit(p)) ? p : q;
    }
    r |= u64{to(v)} << (16 * i);
  }
  return r;
}

// The new value of memory that holds `old`; `wide` says 64 bits.
u64 apply(const Detail& x, u64 old, u64 value, u64 swap) {
  const auto f = static_cast<Function>(x.kind);
  const auto type = static_cast<Type>(x.kind2);
  const bool wide = x.bytes == 8;
  const auto less = [&](u64 a, u64 b) {
    if (type == Type::kSigned) {
      return wide ? static_cast<std::int64_t>(a) < static_cast<std::int64_t>(b)
                  : static_cast<std::int32_t>(a) < static_cast<std::int32_t>(b);
    }
    return a < b;
  };
  if (type == Type::kHalf2) {
    return packed(
        old, value, from_half, [](double v) { return to_half(v); }, f);
  }
  if (type == Type::kBfloat2) {
    return packed(
        old, value, from_bfloat, [](double v) { return to_bfloat(v); }, f);
  }
  switch (f) {
    case Function::kAdd:
      if (type == Type::kFloat) return add_float(old, value, x.ftz);
      if (type == Type::kDouble) return add_double(old, value);
      return old + value;
    case Function::kMin: return less(value, old) ? value : old;
    case Function::kMax: return less(old, value) ? value : old;
    case Function::kInc: return old >= value ? 0 : old + 1;
    case Function::kDec: return old == 0 || old > value ? value : old - 1;
    case Function::kAnd: return old & value;
    case Function::kOr: return old | value;
    case Function::kXor: return old ^ value;
    case Function::kExch: return value;
    case Function::kCas:
    case Function::kCast: return old == value ? swap : old;
  }
  return old;
}

template <class Int>
u64 update(std::byte* p, const Detail& x, u64 value, u64 swap) {
  Int* at = reinterpret_cast<Int*>(p);
  Int old = __atomic_load_n(at, __ATOMIC_RELAXED);
  while (true) {
    const Int next = static_cast<Int>(apply(x, old, value, swap));
    if (__atomic_compare_exchange_n(at, &old, next, true, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) return old;
  }
}

// Several floats of 32 bits a register, each an atomic step of its own.
const Uop* atomic_vector(Warp& w, const Uop* u) {
  const Detail& x = *u->x;
  const unsigned parts = x.imm;
  Detail one = x;
  one.bytes = 4;
  for (unsigned l = 0; l < kLanes; ++l) {
    if ((w.exec >> l & 1) == 0) continue;
    std::byte* p = locate(w, u, l, Space::kGlobal, lane_address(w, x.address[0], l), 4 * parts, Intent::kAtomic);
    if (p == nullptr && w.checker == nullptr) return nullptr;
    std::array<u32, 4> old{};
    old.fill(kPoison);
    std::array<u32, 4> value{};
    for (unsigned i = 0; i < parts; ++i) value[i] = fetch_raw(w, x.src[0], 0, i)[l];
    for (unsigned i = 0; i < parts && p != nullptr; ++i)
      old[i] = static_cast<u32>(update<u32>(p + 4 * i, one, value[i], 0));
    for (unsigned i = 0; i < parts && x.flag2; ++i) w.row(static_cast<std::uint16_t>(x.dst + i))[l] = old[i];
  }
  return u + 1;
}

// EXCH and CAS of 128 bits. One lock for all: the host has no such operation everywhere.
template <Space kSpace>
const Uop* atomic_wide(Warp& w, const Uop* u) {
  static std::mutex mutex;
  const Detail& x = *u->x;
  using Wide = std::array<u32, 4>;
  const auto row = [&](unsigned i, unsigned l) {
    Wide v{};
    for (unsigned k = 0; k < 4; ++k) v[k] = fetch_raw(w, x.src[i], 0, k)[l];
    return v;
  };
  for (unsigned l = 0; l < kLanes; ++l) {
    if ((w.exec >> l & 1) == 0) continue;
    std::byte* p = locate(w, u, l, kSpace, lane_address(w, x.address[0], l), 16, Intent::kAtomic);
    if (p == nullptr && w.checker == nullptr) return nullptr;
    Wide old{};
    old.fill(kPoison);
    if (p != nullptr) {
      const Wide value = row(0, l);
      const bool swaps = x.kind == static_cast<std::uint8_t>(Function::kCas);
      const Wide next = swaps ? row(1, l) : value;
      const std::lock_guard lock(mutex);
      std::memcpy(old.data(), p, 16);
      if (!swaps || old == value) std::memcpy(p, next.data(), 16);
    }
    for (unsigned k = 0; k < 4; ++k) w.row(static_cast<std::uint16_t>(x.dst + k))[l] = old[k];
  }
  return u + 1;
}

bool in_window(u64 address) {
  return address >> 32 == kSharedWindow >> 32 || address >> 32 == kLocalWindow >> 32;
}

// QSPC.S: which generic addresses lie in shared memory.
const Uop* qspc(Warp& w, const Uop* u) {
  const Detail& x = *u->x;
  u32 shared = 0;
  for (unsigned l = 0; l < kLanes; ++l) {
    if (lane_address(w, x.address[0], l) >> 32 == kSharedWindow >> 32) shared |= 1u << l;
  }
  set_predicate(w, x.pdst[0], shared);
  return u + 1;
}

template <Space kSpace>
const Uop* atomic(Warp& w, const Uop* u) {
  const Detail& x = *u->x;
  const bool wide = x.bytes == 8;
  const bool swaps =
      x.kind == static_cast<std::uint8_t>(Function::kCas) || x.kind == static_cast<std::uint8_t>(Function::kCast);
  ConstRow value = fetch_raw(w, x.src[0], 0);
  ConstRow value_hi = fetch_raw(w, x.src[0], 1, wide ? 1 : 0);
  ConstRow swap = fetch_raw(w, x.src[1], 2);
  ConstRow swap_hi = fetch_raw(w, x.src[1], 3, wide ? 1 : 0);
  if (!swaps) swap = swap_hi = value;
  u32 old_lo[kLanes] = {};
  u32 old_hi[kLanes] = {};
  // With a predicate result: what shared and local memory cannot do is left to the code that follows.
  const bool reports = x.pdst_count > 0 && x.pdst[0] != preds::kDump;
  u32 done = 0;
  for (unsigned l = 0; l < kLanes; ++l) {
    if ((w.exec >> l & 1) == 0) continue;
    if (reports && in_window(lane_address(w, x.address[0], l))) continue;
    done |= 1u << l;
    old_lo[l] = old_hi[l] = kPoison;
    std::byte* p = locate(w, u, l, kSpace, lane_address(w, x.address[0], l), x.bytes, Intent::kAtomic);
    if (p == nullptr) {
      if (w.checker == nullptr) return nullptr;
      continue;
    }
    u64 v = value[l];
    u64 s = swap[l];
    if (wide) {
      v |= u64{value_hi[l]} << 32;
      s |= u64{swap_hi[l]} << 32;
    }
    if (x.flag) v = 1;  // POPC.INC counts lanes
    u64 old = wide ? update<u64>(p, x, v, s) : update<u32>(p, x, v, s);
    if (x.kind == static_cast<std::uint8_t>(Function::kCast)) old = old == v ? 1 : 0;  // whether it swapped
    old_lo[l] = static_cast<u32>(old);
    old_hi[l] = static_cast<u32>(old >> 32);
  }
  if (reports) set_predicate(w, x.pdst[0], done);
  if (!x.flag2) return u + 1;
  blend(w.row(x.dst), old_lo, w.exec);
  if (wide) blend(w.row(static_cast<std::uint16_t>(x.dst + 1)), old_hi, w.exec);
  return u + 1;
}

// Registers of a vector.
constexpr std::pair<std::string_view, std::uint8_t> kVectors[] = {{"F16x4", 2},  {"F16x8", 4}, {"BF16x4", 2},
                                                                  {"BF16x8", 4}, {"F32x2", 2}, {"F32x4", 4}};

bool function_of(const Inst& inst, Detail& x) {
  static constexpr struct {
    std::string_view text;
    Function f;
  } kTable[] = {{"CAST", Function::kCast}, {"CAS", Function::kCas}, {"EXCH", Function::kExch}, {"MIN", Function::kMin},
                {"MAX", Function::kMax},   {"AND", Function::kAnd}, {"OR", Function::kOr},     {"XOR", Function::kXor},
                {"POPC", Function::kAdd},  {"INC", Function::kInc}, {"DEC", Function::kDec},   {"ADD", Function::kAdd}};
  x.flag = says(inst, "POPC");
  if (x.flag) {
    x.kind = static_cast<std::uint8_t>(Function::kAdd);
    return true;
  }
  for (const auto& e : kTable) {
    if (!says(inst, e.text)) continue;
    x.kind = static_cast<std::uint8_t>(e.f);
    return true;
  }
  return false;
}

}  // namespace

void bind_reduction(const Inst& inst, Binding& b) {
  if (!function_of(inst, b.detail)) b.refuse("a function");
  b.detail.kind2 = static_cast<std::uint8_t>(inst.mod(Axis::kType) == Tok::S32 ? Type::kSigned : Type::kUnsigned);
}

void reduce(const Detail& x, std::byte* at, std::uint64_t value) {
  if (x.bytes == 8) {
    update<u64>(at, x, value, 0);
  } else {
    update<u32>(at, x, value, 0);
  }
}

bool bind_atomic(const Inst& inst, Binding& b) {
  Detail& x = b.detail;
  switch (inst.op) {
    case Op::ATOM:
    case Op::ATOMG:
    case Op::RED:
    case Op::REDG: x.body = atomic<Space::kGlobal>; break;
    case Op::ATOMS: x.body = atomic<Space::kShared>; break;
    case Op::QSPC:
      if (x.dst != rows::kDump || x.pdst_count != 1 || x.address_count != 1) b.refuse("operands");
      x.body = qspc;
      return true;
    default: return false;
  }
  if (!function_of(inst, x)) b.refuse("an atomic function");
  x.flag2 = memory_of(inst.op).reads != 0;  // the old value comes back
  x.bytes = 4;
  Type type = Type::kUnsigned;
  if (says(inst, "64") || says(inst, "U64") || says(inst, "S64")) x.bytes = 8;
  if (says(inst, "128")) {
    x.bytes = 16;
    x.body = inst.op == Op::ATOMS ? atomic_wide<Space::kShared> : atomic_wide<Space::kGlobal>;
  }
  for (const auto& [text, registers] : kVectors) {
    if (!says(inst, text)) continue;
    x.imm = registers;
    x.bytes = static_cast<std::uint8_t>(4 * registers);
    x.body = atomic_vector;
  }
  if (says(inst, "S32") || says(inst, "S64")) type = Type::kSigned;
  if (says(inst, "F32") || says(inst, "F32x2") || says(inst, "F32x4")) type = Type::kFloat;
  if (says(inst, "F64")) {
    type = Type::kDouble;
    x.bytes = 8;
  }
  if (says(inst, "F16x2") || says(inst, "F16x4") || says(inst, "F16x8")) type = Type::kHalf2;
  if (says(inst, "BF16x2") || says(inst, "BF16_V2") || says(inst, "BF16x4") || says(inst, "BF16x8")) {
    type = Type::kBfloat2;
  }
  x.ftz = x.ftz || says(inst, "FTZ");
  x.kind2 = static_cast<std::uint8_t>(type);
  if (x.address_count != 1) b.refuse("operands");
  if (says(inst, "POPC") && x.dst != rows::kDump) b.refuse("a register result");
  return true;
}

}  // namespace nervanagpu::sass::emulate
