// Sums of products as the tensor cores round them: terms aligned to the largest, what is below cut off.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "sass/emulate/tensor/tensor.h"
#include "sass/emulate/uop/words.h"

namespace nervanagpu::sass::emulate::tensor {
namespace {

struct Layout {
  unsigned exponent, fraction;  // bits
};

constexpr Layout layout_of(Type t) {
  switch (t) {
    case Type::kF16: return {5, 10};
    case Type::kBf16: return {8, 7};
    case Type::kTf32: return {8, 10};
    case Type::kE4m3: return {4, 3};
    default: return {5, 2};
  }
}

constexpr int kLowestTop = -133;  // sums are aligned to no lower exponent

constexpr float kNan = std::bit_cast<float>(0x7fffffffu);
constexpr float kInfinity = std::bit_cast<float>(0x7f800000u);

// A finite number as integer * 2^(exponent - places).
struct Term {
  i64 integer = 0;
  int exponent = kNoExponent;
  int places = 0;
};

Term term_of(u32 c, bool half) {
  const unsigned fraction = half ? 10 : 23;
  const int bias = half ? 15 : 127;
  const u32 field = c >> fraction & (half ? 31 : 255);
  i64 integer = c & ((1u << fraction) - 1);
  if (field != 0) integer |= i64{1} << fraction;
  if (integer == 0) return {};
  const bool negative = (c >> (half ? 15 : 31) & 1) != 0;
  return {negative ? -integer : integer, static_cast<int>(std::max(field, 1u)) - bias, static_cast<int>(fraction)};
}

// The part of a term above 2^(top - bits), in these units.
i64 aligned(const Term& t, int top, int bits) {
  const int shift = bits - t.places - (top - t.exponent);
  if (t.integer == 0 || shift < -62) return 0;
  const i64 size = std::abs(t.integer);
  const i64 cut = shift >= 0 ? size << shift : size >> -shift;
  return t.integer < 0 ? -cut : cut;
}

// sum * 2^unit with `fraction` bits cut, float32.
u32 cut_to_float(i64 sum, int unit, int fraction) {
  if (sum == 0) return 0;
  const u32 sign = sum < 0 ? 0x80000000u : 0;
  const u64 size = static_cast<u64>(std::abs(sum));
  const int leading = 63 - std::countl_zero(size) + unit;  // exponent
  if (leading > 127) return sign | 0x7f800000u;
  const int last = std::max(leading, -126) - fraction;  // exponent of the last place kept
  const int drop = last - unit;
  if (drop > 63) return 0;
  const u64 kept = drop >= 0 ? size >> drop : size << -drop;
  if (kept == 0) return 0;
  const u32 bits = static_cast<u32>(kept) << (23 - fraction);
  if (leading < -126) return sign | bits;
  return sign | static_cast<u32>(leading + 127) << 23 | (bits & 0x7fffff);
}

// sum * 2^unit to the nearest float16, ties to even.
u32 round_to_half(i64 sum, int unit) {
  if (sum == 0) return 0;
  const u32 sign = sum < 0 ? 0x8000u : 0;
  const u64 size = static_cast<u64>(std::abs(sum));
  const int leading = 63 - std::countl_zero(size) + unit;
  if (leading > 15) return sign | 0x7c00u;
  const int last = std::max(leading, -14) - 10;
  const int drop = last - unit;
  if (drop > 62) return 0;
  u64 kept = drop >= 0 ? size >> drop : size << -drop;
  if (drop > 0) {
    const u64 rest = size & ((u64{1} << drop) - 1);
    const u64 tie = u64{1} << (drop - 1);
    if (rest > tie || (rest == tie && (kept & 1) != 0)) ++kept;
  }
  if (kept == 0) return 0;
  // The leading bit adds one to the exponent field, and a carry out of the fraction another one.
  const u64 bits = (static_cast<u64>(last + 24) << 10) + kept;
  return sign | static_cast<u32>(std::min<u64>(bits, 0x7c00));
}

}  // namespace

Number decode(Type t, u32 bits) {
  const Layout l = layout_of(t);
  if (t == Type::kTf32) bits >>= 13;  // the chip does not look at these
  const u32 top = (1u << l.exponent) - 1;
  const u32 field = bits >> l.fraction & top;
  const u32 fraction = bits & ((1u << l.fraction) - 1);
  const bool negative = (bits >> (l.exponent + l.fraction) & 1) != 0;
  const int bias = static_cast<int>(top / 2);
  const auto signed_value = [&](float v) { return negative ? -v : v; };
  if (field == top && t == Type::kE4m3) {  // no infinity, one NaN
    if (fraction == 7) return {kNan, 0};
  } else if (field == top) {
    return {fraction != 0 ? kNan : signed_value(kInfinity), 0};
  }
  const u32 significand = field != 0 ? fraction | 1u << l.fraction : fraction;
  if (significand == 0) return {signed_value(0.0F), kNoExponent};
  const int exponent = static_cast<int>(std::max(field, 1u)) - bias;
  const float size = std::ldexp(static_cast<float>(significand), exponent - static_cast<int>(l.fraction));
  return {signed_value(size), static_cast<std::int16_t>(exponent)};
}

void Range::add(Number n) {
  if (!std::isfinite(n.value)) {
    special = true;
  } else if (n.exponent != kNoExponent) {
    low = std::min(low, n.exponent);
    high = std::max(high, n.exponent);
  }
}

u32 dot(const PanelA& a, const PanelB& b, unsigned m, unsigned n, unsigned k, u32 c, Mode mode) {
  constexpr int kPlaces = 10;  // of an operand's fraction, at most
  std::array<Term, kMaxK + 1> terms{};
  bool nan = false;
  bool up = false;
  bool down = false;
  const auto special = [&](float v) { (v != v ? nan : v > 0 ? up : down) = true; };
  for (unsigned i = 0; i < k; ++i) {
    const float x = a.value[m][i];
    const float y = b.value[i][n];
    const int ex = a.exponent[m][i];
    const int ey = b.exponent[i][n];
    if (!std::isfinite(x) || !std::isfinite(y)) {
      special(x * y);
    } else if (ex != kNoExponent && ey != kNoExponent) {
      const auto integer = [](float v, int e) { return static_cast<i64>(std::ldexp(v, kPlaces - e)); };
      terms[i] = {integer(x, ex) * integer(y, ey), ex + ey, 2 * kPlaces};
    }
  }
  const u32 all_ones = mode.half ? 31u << 10 : 255u << 23;
  if ((c & all_ones) == all_ones) {
    const bool is_nan = (c & ((mode.half ? 1u << 10 : 1u << 23) - 1)) != 0;
    special(is_nan ? kNan : (c >> (mode.half ? 15 : 31) & 1) != 0 ? -kInfinity : kInfinity);
  } else {
    terms[k] = term_of(c, mode.half);
  }
  if (nan || (up && down)) return mode.half ? 0x7fff : 0x7fffffff;
  if (up || down) return all_ones | (down ? (mode.half ? 0x8000u : 0x80000000u) : 0);
  int top = kNoExponent;
  for (unsigned i = 0; i <= k; ++i) top = std::max(top, terms[i].exponent);
  if (top == kNoExponent) return 0;
  top = std::max(top, kLowestTop);
  const int bits = mode.eight_bits ? 13 : 25;
  i64 sum = 0;
  for (unsigned i = 0; i <= k; ++i) sum += aligned(terms[i], top, bits);
  if (mode.half) return round_to_half(sum, top - bits);
  return cut_to_float(sum, top - bits, mode.eight_bits ? 13 : 23);
}

void multiply_plain(const PanelA& a, const PanelB& b, unsigned n, unsigned k, Accumulators& cd, Mode mode) {
  for (unsigned r = 0; r < kRows; ++r) {
    for (unsigned i = 0; i < n; ++i) cd[r][i] = dot(a, b, r, i, k, cd[r][i], mode);
  }
}

u64 fma_step(u64 a, u64 b, u64 c) {
  const double r = std::fma(std::bit_cast<double>(a), std::bit_cast<double>(b), std::bit_cast<double>(c));
  if (r == r) return std::bit_cast<u64>(r);
  constexpr u64 kQuiet = u64{1} << 51;
  for (const u64 v : {b, c, a}) {
    if (std::bit_cast<double>(v) != std::bit_cast<double>(v)) return v | kQuiet;
  }
  return 0xfff8000000000000u;
}

}  // namespace nervanagpu::sass::emulate::tensor
