#include "test/variants/epilogue.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "src/numbers/half.h"
#include "src/numbers/philox.h"
#include "src/numbers/round.h"
#include "test/gpu/activation_reference.h"
#include "test/gpu/numbers.h"

namespace nervanagpu::variants {
namespace {

constexpr double kUlp = 0x1p-23;    // of float32, the most that one can be of a value
constexpr double kTiny = 0x1p-126;  // below it results are 0 or subnormal
constexpr double kMargin = 1.01;    // for the double arithmetic here

Expected activated(const GemmProblem& p, double x, bool kept) {
  const GemmActivation a = p.relu ? GemmActivation::relu : p.activation;
  const auto exact = gpu_test::exact_activation<double>(a, x, p.clip_low, p.clip_high, kept);
  return {exact.value, exact.ulps == 0 ? 0 : kMargin * exact.ulps * kUlp * std::fabs(exact.value) + kTiny};
}

unsigned kept_bits(Dtype type, const Rounding& rounding) {
  if (rounding.bits != 0) return static_cast<unsigned>(rounding.bits);
  return type == Dtype::float16 ? 10 : type == Dtype::bfloat16 ? 7 : 15;
}

}  // namespace

Expected finish(const GemmProblem& p, double sum, double scale, double old, double bias, bool kept) {
  double y = sum * p.alpha * scale;
  if (p.relu_first) y = std::max(y, 0.0);
  y += p.beta * old;
  y += bias;
  return activated(p, y, kept);
}

double round_result(Dtype type, const Rounding& rounding, double value, std::int64_t at) {
  if (!rounding.stochastic) {
    if (type == Dtype::int8) return std::clamp(std::nearbyint(value), -128.0, 127.0);
    return gpu_test::round_to(value, type);
  }
  const auto element = static_cast<std::uint64_t>(at);
  const std::uint32_t random = philox(rounding.seed, rounding.offset + element / 4)[element % 4];
  const auto x = static_cast<float>(value);
  switch (type) {
    case Dtype::int8: return round_s8(x, random);
    case Dtype::float16: {
      const std::uint16_t bits = round_f16(x, random, kept_bits(type, rounding));
      return gpu_test::decode({static_cast<std::uint8_t>(bits), static_cast<std::uint8_t>(bits >> 8)}, type)[0];
    }
    case Dtype::bfloat16: return bfloat_value(round_bf16(x, random, kept_bits(type, rounding)));
    default: return round_f32(x, random, kept_bits(type, rounding));
  }
}

double allowed(const GemmProblem& p, const Expected& e) {
  const double size = std::fabs(e.value) + e.slack;
  double unit = 2 * gpu_test::rounding_error(size, p.c_type);  // of the last place
  if (p.c_type == Dtype::int8) unit = 1;
  if (p.rounding.stochastic && p.c_type != Dtype::int8) {
    const double last = p.c_type == Dtype::float16 ? 0x1p-24 : kTiny;  // of subnormal numbers
    unit = std::ldexp(size, -static_cast<int>(kept_bits(p.c_type, p.rounding))) + last;
  }
  return e.slack + (p.rounding.stochastic ? unit : unit / 2);
}

}  // namespace nervanagpu::variants
