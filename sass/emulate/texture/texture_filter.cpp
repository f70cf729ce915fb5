#include "sass/emulate/texture/texture_filter.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace nervanagpu::sass::emulate {
namespace {

constexpr int kGuardBits = 4;  // of an aligned value, below its last bit
constexpr int kNone = -100000;

std::uint32_t eighths(std::uint32_t v) {  // v / 256, halves up
  return (v + 128) >> 8;
}

// A sum in units of 2^exponent.
struct Sum {
  std::int64_t value = 0;
  int exponent = kNone;
};

// Up to four corners: their values are aligned to the largest, and lose what lies below its guard bits.
Sum add(std::span<const std::uint32_t> weights, std::span<const float> values, const FloatShape& shape) {
  std::array<std::int64_t, 4> significand{};
  std::array<int, 4> exponent{};
  int most = kNone;
  for (std::size_t i = 0; i < values.size(); ++i) {
    int e = 0;
    significand[i] = static_cast<std::int64_t>(std::ldexp(std::frexp(values[i], &e), shape.significand));
    exponent[i] = e - shape.significand;
    if (weights[i] != 0 && significand[i] != 0) most = std::max(most, exponent[i]);
  }
  Sum sum{0, most - kGuardBits - 8};
  if (most == kNone) return {};
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (weights[i] == 0) continue;
    const int down = std::min(most - exponent[i], 62);
    const std::int64_t size = (std::abs(significand[i]) << kGuardBits) >> down;
    sum.value += static_cast<std::int64_t>(weights[i]) * (significand[i] < 0 ? -size : size);
  }
  return sum;
}

// To the larger unit, downwards.
Sum add(const Sum& a, const Sum& b) {
  if (a.exponent == kNone) return b;
  if (b.exponent == kNone) return a;
  const int unit = std::max(a.exponent, b.exponent);
  const auto at = [unit](const Sum& s) { return s.value >> std::min(unit - s.exponent, 63); };
  return {at(a) + at(b), unit};
}

// Halves away from zero.
float rounded(const Sum& sum, const FloatShape& shape) {
  auto size = static_cast<std::uint64_t>(std::abs(sum.value));
  int exponent = sum.exponent;
  const int drop = std::max(static_cast<int>(std::bit_width(size)) - shape.significand, shape.least - exponent);
  if (drop > 62) return 0;
  if (drop > 0) {
    size = (size + (std::uint64_t{1} << (drop - 1))) >> drop;
    exponent += drop;
  }
  const auto value = static_cast<float>(std::ldexp(static_cast<double>(size), exponent));
  return sum.value < 0 ? -value : value;
}

}  // namespace

std::array<std::uint32_t, 8> filter_weights(std::span<const std::uint32_t> fractions) {
  std::array<std::uint32_t, 8> out{};
  const bool volume = fractions.size() > 2;
  for (unsigned z = 0; z < (volume ? 2u : 1u); ++z) {
    const std::uint32_t slice = !volume ? 256 : z != 0 ? fractions[2] : 256 - fractions[2];
    const std::uint32_t right = eighths(slice * fractions[0]);
    const std::uint32_t left = slice - right;
    std::uint32_t* w = &out[4 * std::size_t{z}];
    if (fractions.size() < 2) {
      w[0] = left;
      w[1] = right;
      continue;
    }
    w[3] = eighths(right * fractions[1]);
    w[1] = right - w[3];
    w[0] = eighths(left * (256 - fractions[1]));
    w[2] = left - w[0];
  }
  return out;
}

std::int32_t filter_integers(std::span<const std::uint32_t> weights, std::span<const std::int32_t> values,
                             bool is_signed, bool snorm8) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < values.size(); ++i) sum += static_cast<std::int64_t>(weights[i]) * values[i];
  const std::int64_t least = is_signed ? -32767 : 0;
  const std::int64_t most = is_signed ? 32767 : 65535;
  // From 127 to 32767: 258 and 1/128, of which the last part has three bits.
  sum = snorm8 ? (sum * 129 + ((sum >> 12) << 4) + 64) >> 7 : (sum + 128) >> 8;
  return static_cast<std::int32_t>(std::clamp(sum, least, most));
}

float filter_floats(std::span<const std::uint32_t> weights, std::span<const float> values, std::uint32_t touched,
                    const FloatShape& shape) {
  std::array<float, 8> v{};
  bool nan = false, up = false, down = false, positive = false;
  for (std::size_t i = 0; i < values.size(); ++i) {
    v[i] = values[i];
    if (shape.flush && std::fpclassify(v[i]) == FP_SUBNORMAL) v[i] = std::copysign(0.0F, v[i]);
    if (!std::isfinite(v[i])) {
      const bool counts = (touched >> i & 1) != 0;
      nan = nan || (counts && std::isnan(v[i]));
      up = up || (counts && v[i] > 0);
      down = down || (counts && v[i] < 0);
      v[i] = 0;
    }
    positive = positive || ((touched >> i & 1) != 0 && !std::signbit(v[i]));
  }
  if (nan || (up && down)) return std::bit_cast<float>(shape.nan);
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  if (up || down) return up ? kInfinity : -kInfinity;
  const std::span<const float> all(v.data(), values.size());
  const std::size_t first = std::min<std::size_t>(all.size(), 4);
  Sum sum = add(weights.first(first), all.first(first), shape);
  if (all.size() > 4) sum = add(sum, add(weights.subspan(4, 4), all.subspan(4), shape));
  if (sum.value == 0) return positive ? 0.0F : -0.0F;
  return rounded(sum, shape);
}

}  // namespace nervanagpu::sass::emulate
