// A convolution and the max pool after it: the bits of the two, whether by one kernel or not, and what is refused.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "nervanagpu/conv_pool.hpp"
#include "nervanagpu/error.hpp"
#include "nervanagpu/nn.hpp"
#include "test/kernels/conv/on_tensor_cores.h"
#include "test/kernels/nn/on_each_device.h"

namespace nervanagpu {
namespace {

using Bits = std::vector<std::uint32_t>;
using test::ConvCase;

struct Layer {
  ConvProblem conv;
  PoolProblem pool;
};

Layer first_layer(Dtype type, std::int64_t n, std::int64_t height, std::int64_t width, std::int64_t k,
                  std::int64_t size) {
  Layer l;
  l.conv.n = n, l.conv.c = 3, l.conv.k = k, l.conv.in = {1, height, width}, l.conv.filter = {1, size, size};
  l.conv.pad = {0, size / 2, size / 2};
  l.conv.x_type = l.conv.w_type = l.conv.y_type = type;
  l.pool.window = l.pool.stride = {1, 1, 2, 2};
  return l;
}

class ConvPoolTest : public test::OnTensorCores {
 protected:
  static Tensor of_bits(const Bits& bits, const Shape& shape, Dtype type) {
    Tensor t = Tensor::empty(shape, type);
    std::vector<std::uint16_t> halves(bits.begin(), bits.end());
    t.set(halves.data(), 2 * halves.size());
    return t;
  }
  static std::vector<std::uint16_t> halves_of(const Tensor& t) {
    std::vector<std::uint16_t> out(static_cast<std::size_t>(t.size()));
    t.get(out.data(), 2 * out.size());
    return out;
  }

  // Both ways; special: with NaN and infinities. Empty: alike.
  std::string compare(const Layer& l, bool bias, Dtype bias_type, bool codes, bool special) {
    const PoolProblem q = pool_behind(l.conv, l.pool);
    const Dtype type = l.conv.x_type;
    Bits in = ones_and_twos(l.conv.x_elements(), type);  // small sums, of which many are alike
    const Bits filters = ones_and_twos(l.conv.w_elements(), type);
    if (special) {
      for (std::size_t i = 0; i < in.size(); i += 211) in[i] = not_finite(type, i);
    }
    const Tensor x = of_bits(in, {l.conv.n, l.conv.in[1], l.conv.in[2], l.conv.c}, type);
    const Tensor w = of_bits(filters, {l.conv.k, l.conv.filter[1], l.conv.filter[2], l.conv.c}, type);
    std::vector<float> offsets(static_cast<std::size_t>(l.conv.k));
    for (float& b : offsets) b = static_cast<float>(random_() % 9) - 4.0F;
    const Tensor wide = Tensor::from_host<float>(offsets, {l.conv.k});
    Tensor b = Tensor::empty({l.conv.k}, bias_type);
    convert(wide, b);
    ConvOptions options;
    options.relu = true;
    if (bias) options.bias = &b;

    const auto space = l.conv.out();
    Tensor between = Tensor::empty({l.conv.n, space[1], space[2], l.conv.k}, type);
    conv_fprop(l.conv, x, w, between, options);
    if (special && !bias) {  // a NaN reaches as many positions as narrow.sass has in a group of four
      ConvCase c;
      c.p = l.conv, c.options.relu = true, c.forced.kernel = "_narrow_16_128";
      between = of_bits(test::run(device_, c, in, filters), between.shape(), type);
    }
    const auto pooled = q.out();
    const Shape shape = {q.n, pooled[2], pooled[3], pooled[0]};
    Tensor want = Tensor::empty(shape, type), got = Tensor::empty(shape, type);
    PoolOptions of_relu;
    of_relu.relu = true;
    Tensor want_codes = Tensor::empty({pool_argmax_bytes(q)}, Dtype::uint8);
    Tensor got_codes = Tensor::empty({pool_argmax_bytes(q)}, Dtype::uint8);
    max_pool_fprop(q, between, want, want_codes, of_relu);
    conv_max_pool_fprop(l.conv, l.pool, x, w, got, codes ? &got_codes : nullptr, options);
    if (halves_of(want) != halves_of(got)) return "the largest differ";
    if (codes && want_codes.to_host<std::uint8_t>() != got_codes.to_host<std::uint8_t>()) return "codes differ";
    return "";
  }
};
NG_ON_EACH_DEVICE(ConvPoolTest);

TEST_P(ConvPoolTest, OneKernelHasTheBitsOfTwo) {
  for (const Dtype type : {Dtype::float16, Dtype::bfloat16}) {
    for (const std::int64_t height : {16, 21, 7}) {
      const Layer l = first_layer(type, checked() ? 1 : 2, height, 40,
                                  height == 7    ? 8
                                  : height == 21 ? 40
                                                 : 64,
                                  height == 7 ? 5 : 3);
      const bool one = !kernels_of("narrow_swapped").empty();
      ConvOptions options;
      options.relu = true;
      ASSERT_EQ(conv_max_pool_is_one_kernel(l.conv, l.pool, options), one);
      EXPECT_EQ(compare(l, false, Dtype::float32, true, false), "") << height;
      if (checked()) continue;
      EXPECT_EQ(compare(l, true, Dtype::float32, true, false), "") << height;
      EXPECT_EQ(compare(l, true, type, false, false), "") << height;
      if (one) {
        EXPECT_EQ(compare(l, false, type, true, true), "") << height;
      }
    }
  }
}

// Windows, strides and layers that no kernel pools, and images that begin in the midst of 16 bytes.
TEST_P(ConvPoolTest, OthersAreTwoKernels) {
  if (checked()) return;
  Layer l = first_layer(Dtype::float16, 1, 15, 20, 16, 3);
  ConvOptions options;
  options.relu = true;
  l.pool.window = {1, 1, 3, 3};
  EXPECT_FALSE(conv_max_pool_is_one_kernel(l.conv, l.pool, options));
  EXPECT_EQ(compare(l, true, Dtype::float32, true, false), "");
  l = first_layer(Dtype::float16, 1, 15, 19, 16, 3);  // an odd width
  EXPECT_FALSE(conv_max_pool_is_one_kernel(l.conv, l.pool, options));
  EXPECT_EQ(compare(l, false, Dtype::float32, true, false), "");
  l = first_layer(Dtype::float16, 1, 16, 16, 80, 3);  // too many filters
  EXPECT_FALSE(conv_max_pool_is_one_kernel(l.conv, l.pool, options));
  EXPECT_EQ(compare(l, false, Dtype::float32, true, false), "");
  l = first_layer(Dtype::float16, 1, 16, 20, 16, 3);  // lines that are no multiples of 16 bytes
  EXPECT_EQ(compare(l, false, Dtype::float32, true, false), "");
}

TEST_P(ConvPoolTest, WhatIsRefused) {
  const Layer l = first_layer(Dtype::float16, 1, 16, 16, 16, 3);
  const Tensor x = Tensor::empty({1, 16, 16, 3}, Dtype::float16), w = Tensor::empty({16, 3, 3, 3}, Dtype::float16);
  Tensor y = Tensor::empty({1, 8, 8, 16}, Dtype::float16);
  Tensor mask = Tensor::empty({1, 16, 16, 1}, Dtype::uint32);
  ConvOptions options;
  options.relu = true;
  options.mask = &mask;
  EXPECT_THROW(conv_max_pool_fprop(l.conv, l.pool, x, w, y, nullptr, options), InvalidArgument);
  options.mask = nullptr;
  options.beta = 1;
  EXPECT_THROW(conv_max_pool_fprop(l.conv, l.pool, x, w, y, nullptr, options), InvalidArgument);
  options.beta = 0;
  Tensor small = Tensor::empty({1, 8, 7, 16}, Dtype::float16);
  EXPECT_THROW(conv_max_pool_fprop(l.conv, l.pool, x, w, small, nullptr, options), InvalidArgument);
  Tensor codes = Tensor::empty({1}, Dtype::uint8);
  EXPECT_THROW(conv_max_pool_fprop(l.conv, l.pool, x, w, y, &codes, options), InvalidArgument);
  PoolProblem average = l.pool;
  average.op = PoolOp::avg;
  EXPECT_THROW(conv_max_pool_fprop(l.conv, average, x, w, y, nullptr, options), InvalidArgument);
  Tensor inside = Tensor::wrap(x.address(), {1, 8, 8, 16}, {1024, 128, 16, 1}, Dtype::float16);
  EXPECT_THROW(conv_max_pool_fprop(l.conv, l.pool, x, w, inside, nullptr, options), InvalidArgument);
}

}  // namespace
}  // namespace nervanagpu
