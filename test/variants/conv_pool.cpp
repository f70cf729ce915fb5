// The variant of narrow_swapped.sass that pools: random first layers of small integers, many of whose sums are alike.
#include <algorithm>

#include "kernels/conv/narrow/narrow_swapped_choice.h"
#include "nervanagpu/conv_pool.hpp"
#include "test/gpu/buffer.h"
#include "test/gpu/cases.h"
#include "test/gpu/reference.h"
#include "test/variants/other.h"

namespace nervanagpu::variants {
namespace {

using gpu_test::Buffer;
using gpu_test::Bytes;
using gpu_test::pick;
using gpu_test::Values;

ConvProblem draw(Random& random, Dtype type, std::int64_t tiles) {
  constexpr std::int64_t kEight = 8;
  ConvProblem p;
  p.x_type = p.w_type = p.y_type = type;
  for (;;) {
    p.n = pick(random, 1, 3), p.c = 3, p.k = kEight * pick(random, 1, 8);
    p.filter = {1, pick(random, 1, 5), pick(random, 1, 5)};
    p.in = {1, pick(random, 2, 40), kEight * pick(random, 1, 6)};
    p.pad = {0, pick(random, 0, p.filter[1] - 1), pick(random, 0, p.filter[2] - 1)};
    if (p.in[1] + 2 * p.pad[1] < p.filter[1]) continue;
    const auto out = p.out();
    PoolProblem two;
    two.window = two.stride = {1, 1, 2, 2};
    ConvOptions options;
    options.relu = true;
    if (out[1] < 2 || out[2] < 2 || !conv_max_pool_is_one_kernel(p, two, options)) continue;
    if (conv_detail::narrow_swapped::choose_pooled(p)->tiles >= tiles) return p;
  }
}

}  // namespace

Outcome convolve_and_pool(Random& random, const Kernel& kernel, const Limits& limits) {
  const Dtype type = kernel.manifest().variant.at("XT") == "f16" ? Dtype::float16 : Dtype::bfloat16;
  const ConvProblem p = draw(random, type, limits.in_turn ? 3 : 1);
  const Values x = gpu_test::integers(random, p.x_elements(), 3, type);
  const Values w = gpu_test::integers(random, p.w_elements(), 3, type);
  const bool has_bias = pick(random, 0, 1) == 1, has_codes = pick(random, 0, 3) > 0;
  const Dtype bias_type = pick(random, 0, 1) == 0 ? type : Dtype::float32;
  const Values bias = gpu_test::integers(random, p.k, 9, bias_type);
  Values y = gpu_test::convolution(ConvPass::fprop, p, x, w);
  for (std::size_t i = 0; i < y.size(); ++i) {
    const double offset = has_bias ? bias[i % static_cast<std::size_t>(p.k)] : 0;
    y[i] = gpu_test::decode(gpu_test::encode({std::max(y[i] + offset, 0.0)}, type), type)[0];
  }
  const auto out = p.out();
  const std::int64_t lines = out[1] / 2, columns = out[2] / 2, count = p.n * lines * columns * p.k;
  Values largest;
  Bytes codes(static_cast<std::size_t>(count / 2));
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t channel = i % p.k, column = i / p.k % columns, line = i / p.k / columns % lines;
    const std::int64_t image = i / p.k / columns / lines;
    double best = 0;
    std::int64_t code = 15;  // of nobody
    for (std::int64_t at = 0; at < 4; ++at) {
      const std::int64_t row = (image * out[1] + 2 * line + at / 2) * out[2] + 2 * column + at % 2;
      const double v = y[static_cast<std::size_t>(row * p.k + channel)];
      if (v > best) best = v, code = at;
    }
    largest.push_back(best);
    auto& byte = codes[static_cast<std::size_t>(i / 2)];
    byte = static_cast<std::uint8_t>(byte | code << i % 2 * 4);
  }
  const Buffer device_x(x, type), device_w(w, type), device_bias(bias, bias_type);
  const Buffer device_y = Buffer::poisoned(largest.size() * 2), device_codes = Buffer::poisoned(codes.size());
  ConvPointers at;
  at.in1 = device_x.address(), at.in2 = device_w.address(), at.out = device_y.address();
  at.bias = has_bias ? device_bias.address() : 0;
  at.bias_type = bias_type;
  PoolProblem two;
  two.window = two.stride = {1, 1, 2, 2};
  ConvOptions options;
  options.relu = true;
  conv_max_pool_fprop(p, two, at, has_codes ? device_codes.address() : 0, options);
  Outcome result;
  result.elements = count;
  result.problem = "conv and pool of " + gpu_test::text_of(p) + (has_bias ? " bias" : "") + (has_codes ? " codes" : "");
  result.features = {std::string(nervanagpu::name_of(type)) + " result", "relu"};
  if (has_bias) result.features.emplace_back("bias");
  result.wrong = gpu_test::difference(device_y, gpu_test::encode(largest, type), type);
  if (result.wrong.empty() && has_codes) {
    result.wrong = gpu_test::difference(device_codes, codes, Dtype::uint8);
    if (!result.wrong.empty()) result.wrong = "codes: " + result.wrong;
  }
  return result;
}

}  // namespace nervanagpu::variants
