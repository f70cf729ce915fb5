#include "sass/emulate/engine/reduce.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "sass/emulate/lanes/bits.h"
#include "sass/emulate/lanes/half_math.h"
#include "sass/emulate/uop/words.h"

namespace nervanagpu::sass::emulate {
namespace {

constexpr std::array<std::string_view, 8> kOps = {"ADD", "MIN", "MAX", "INC", "DEC", "AND", "OR", "XOR"};
constexpr std::array<std::string_view, 10> kTypes = {"uint32",   "int32",   "uint64",      "int64",   "float16",
                                                     "bfloat16", "float32", "float32_ftz", "float64", "such"};

template <class T>
T integer(T a, T b, Reduce op) {
  using U = std::make_unsigned_t<T>;
  switch (op) {
    case Reduce::kAdd: return static_cast<T>(static_cast<U>(a) + static_cast<U>(b));
    case Reduce::kMin: return b < a ? b : a;
    case Reduce::kMax: return a < b ? b : a;
    case Reduce::kInc: return a >= b ? 0 : a + 1;
    case Reduce::kDec: return a == 0 || a > b ? b : a - 1;
    case Reduce::kAnd: return a & b;
    case Reduce::kOr: return a | b;
    case Reduce::kXor: return a ^ b;
  }
  return a;
}

std::uint32_t add_single(std::uint32_t a, std::uint32_t b) {
  const float f = std::bit_cast<float>(a) + std::bit_cast<float>(b);
  return f != f ? 0x7fffffffu : std::bit_cast<std::uint32_t>(f);
}

std::uint64_t add_double(std::uint64_t a, std::uint64_t b) {
  const double d = std::bit_cast<double>(a) + std::bit_cast<double>(b);
  return d != d ? 0x7fffffffffffffffu : std::bit_cast<std::uint64_t>(d);
}

template <class From, class To>
std::uint16_t half(std::uint16_t a, std::uint16_t b, Reduce op, From from, To to) {
  const float p = from(a);
  const float q = from(b);
  if (op == Reduce::kAdd) return to(add_to_odd(p, q));
  if (p != p || q != q) return to(p != p ? q : p);
  const bool first = op == Reduce::kMin ? p < q || (p == q && std::signbit(p)) : p > q || (p == q && !std::signbit(p));
  return to(first ? p : q);
}

template <class Word, class Next>
void each(std::byte* to, const std::byte* from, std::uint32_t bytes, const Next& next) {
  for (std::uint32_t i = 0; i + sizeof(Word) <= bytes; i += sizeof(Word)) {
    Word value;
    std::memcpy(&value, from + i, sizeof value);
    Word* at = reinterpret_cast<Word*>(to + i);
    Word old = __atomic_load_n(at, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(at, &old, next(old, value), true, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {
    }
  }
}

}  // namespace

std::string_view name_of(Reduce op) {
  return kOps[static_cast<std::size_t>(op)];
}
std::string_view name_of(ReduceType type) {
  return kTypes[static_cast<std::size_t>(type)];
}

ReduceType reduce_type(MapType type) {
  switch (type) {
    case MapType::kU32: return ReduceType::kU32;
    case MapType::kS32: return ReduceType::kS32;
    case MapType::kU64: return ReduceType::kU64;
    case MapType::kS64: return ReduceType::kS64;
    case MapType::kF16: return ReduceType::kF16;
    case MapType::kBf16: return ReduceType::kBf16;
    case MapType::kF32: return ReduceType::kF32;
    case MapType::kF32Ftz: return ReduceType::kF32Ftz;
    case MapType::kF64: return ReduceType::kF64;
    default: return ReduceType::kNone;
  }
}

bool can_reduce(Reduce op, ReduceType type) {
  if (type == ReduceType::kNone) return false;
  switch (op) {
    case Reduce::kAdd: return true;
    case Reduce::kMin:
    case Reduce::kMax: return type < ReduceType::kF32;
    case Reduce::kInc:
    case Reduce::kDec: return type == ReduceType::kU32;
    default: return type < ReduceType::kF16;
  }
}

bool can_reduce_in_shared(Reduce op, ReduceType type) {
  const bool word = type == ReduceType::kU32 || (type == ReduceType::kS32 && op <= Reduce::kMax);
  return word || (type == ReduceType::kU64 && op == Reduce::kAdd);
}

void reduce(std::byte* to, const std::byte* from, std::uint32_t bytes, Reduce op, ReduceType type) {
  switch (type) {
    case ReduceType::kU32: return each<u32>(to, from, bytes, [=](u32 a, u32 b) { return integer(a, b, op); });
    case ReduceType::kS32:
      return each<std::int32_t>(to, from, bytes, [=](auto a, auto b) { return integer(a, b, op); });
    case ReduceType::kU64: return each<u64>(to, from, bytes, [=](u64 a, u64 b) { return integer(a, b, op); });
    case ReduceType::kS64:
      return each<std::int64_t>(to, from, bytes, [=](auto a, auto b) { return integer(a, b, op); });
    case ReduceType::kF16:
      return each<u16>(to, from, bytes,
                       [=](u16 a, u16 b) { return half(a, b, op, from_half, [](double v) { return to_half(v); }); });
    case ReduceType::kBf16:
      return each<u16>(to, from, bytes, [=](u16 a, u16 b) {
        return half(a, b, op, from_bfloat, [](double v) { return to_bfloat(v); });
      });
    case ReduceType::kF32: return each<u32>(to, from, bytes, [](u32 a, u32 b) { return add_single(a, b); });
    case ReduceType::kF32Ftz:
      return each<u32>(to, from, bytes, [](u32 a, u32 b) { return flush(add_single(flush(a), flush(b))); });
    case ReduceType::kF64: return each<u64>(to, from, bytes, [](u64 a, u64 b) { return add_double(a, b); });
    case ReduceType::kNone: return;
  }
}

}  // namespace nervanagpu::sass::emulate
