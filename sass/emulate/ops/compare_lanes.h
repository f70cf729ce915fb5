// Comparisons over lanes, for the families that set predicates or registers from them. Included like lanes.h.
#pragma once

#include <bit>
#include <cstdint>

#include "sass/emulate/lanes/lanes.h"
#include "sass/emulate/uop/binding.h"
#include "sass/emulate/uop/words.h"

namespace nervanagpu::sass::emulate {
namespace {

// What a comparison accepts: less, equal, greater, unordered.
enum Accept : std::uint8_t { kLess = 1, kEqual = 2, kGreater = 4, kUnordered = 8 };

[[maybe_unused]] inline std::uint32_t combine(unsigned how, std::uint32_t a, std::uint32_t b) {
  return how == 0 ? a & b : how == 1 ? a | b : a ^ b;
}

// Both destinations: (test op p), (!test op p).
[[maybe_unused]] inline void set_pair(Warp& w, const Detail& x, std::uint32_t test) {
  const std::uint32_t p = x.puse_count > 0 ? predicate(w, x.puse[0]) : kAllLanes;
  if (x.pdst_count > 0) set_predicate(w, x.pdst[0], combine(x.kind2, test, p));
  if (x.pdst_count > 1) set_predicate(w, x.pdst[1], combine(x.kind2, ~test, p));
}

template <bool kSigned>
std::uint32_t integer_test(Warp& w, const Detail& x) {
  const auto accept = [&](auto f) { return test2(w, x, f); };
  const auto less = [](u32 a, u32 b) {
    return kSigned ? static_cast<std::int32_t>(a) < static_cast<std::int32_t>(b) : a < b;
  };
  switch (x.kind) {
    case 0: return 0;
    case kLess: return accept([=](u32 a, u32 b) { return less(a, b); });
    case kEqual: return accept([](u32 a, u32 b) { return a == b; });
    case kLess | kEqual: return accept([=](u32 a, u32 b) { return !less(b, a); });
    case kGreater: return accept([=](u32 a, u32 b) { return less(b, a); });
    case kLess | kGreater: return accept([](u32 a, u32 b) { return a != b; });
    case kGreater | kEqual: return accept([=](u32 a, u32 b) { return !less(a, b); });
    default: return kAllLanes;
  }
}

[[maybe_unused]] inline float flushed(std::uint32_t bits, bool ftz) {
  if (ftz && (bits & 0x7f800000u) == 0) bits &= 0x80000000u;
  return std::bit_cast<float>(bits);
}

[[maybe_unused]] inline std::uint32_t float_test(Warp& w, const Detail& x) {
  const bool ftz = x.ftz;
  const unsigned kind = x.kind;
  return test2(w, x, [=](std::uint32_t a, std::uint32_t b) {
    const float p = flushed(a, ftz);
    const float q = flushed(b, ftz);
    const unsigned is = (p < q ? 1u : 0u) | (p == q ? 2u : 0u) | (p > q ? 4u : 0u);
    return (kind & (is == 0 ? unsigned{kUnordered} : is)) != 0;
  });
}

inline constexpr std::uint8_t kNoComparison = 16;

// What `cmp` accepts, or kNoComparison.
[[maybe_unused]] inline std::uint8_t accepted_by(Tok cmp) {
  switch (cmp) {
    case Tok::F: return 0;
    case Tok::LT: return kLess;
    case Tok::EQ: return kEqual;
    case Tok::LE: return kLess | kEqual;
    case Tok::GT: return kGreater;
    case Tok::NE: return kLess | kGreater;
    case Tok::GE: return kGreater | kEqual;
    case Tok::NUM: return kLess | kEqual | kGreater;
    case Tok::kNAN: return kUnordered;
    case Tok::LTU: return kLess | kUnordered;
    case Tok::EQU: return kEqual | kUnordered;
    case Tok::LEU: return kLess | kEqual | kUnordered;
    case Tok::GTU: return kGreater | kUnordered;
    case Tok::NEU: return kLess | kGreater | kUnordered;
    case Tok::GEU: return kGreater | kEqual | kUnordered;
    case Tok::T: return kLess | kEqual | kGreater | kUnordered;
    default: return kNoComparison;
  }
}

[[maybe_unused]] inline std::uint8_t combination(Tok t) {
  return t == Tok::OR ? 1 : t == Tok::XOR ? 2 : 0;
}

// The comparison to x.kind, the combination with the predicate to x.kind2.
[[maybe_unused]] inline bool bind_condition(const Inst& inst, Binding& b) {
  Detail& x = b.detail;
  x.kind2 = combination(inst.mod(Axis::kBool, Tok::AND));
  x.kind = accepted_by(inst.mod(Axis::kCmp));
  if (x.kind == kNoComparison) b.refuse("comparison");
  return x.kind != kNoComparison;
}

}  // namespace
}  // namespace nervanagpu::sass::emulate
