// Slices of the channels of wider tensors beside copies of them: the same bits, and nothing else is written.
#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <vector>

#include "nervanagpu/nervanagpu.hpp"
#include "test/kernels/nn/on_each_device.h"
#include "test/src/expect_error.h"

namespace nervanagpu {
namespace {

class ConvSlicesTest : public test::OnEachDevice {
 protected:
  // Quarters, which all types have.
  Tensor numbers(const Shape& shape, Dtype type) {
    std::int64_t count = 1;
    for (const std::int64_t length : shape) count *= length;
    std::vector<float> host(static_cast<std::size_t>(count));
    for (float& v : host) v = static_cast<float>(std::uniform_int_distribution<int>(-8, 8)(random_)) / 4;
    Tensor out = Tensor::empty(shape, type);
    convert(Tensor::from_host<float>(host, shape), out);
    return out;
  }

  static std::vector<float> on_host(const Tensor& t) {
    Tensor wide = Tensor::empty(t.shape());
    convert(t, wide);
    return wide.to_host<float>();
  }

  static void expect_only(const Tensor& whole, const Tensor& before, std::int64_t first, std::int64_t count) {
    const std::int64_t wide = whole.shape().back();
    const std::vector<float> now = on_host(whole);
    const std::vector<float> then = on_host(before);
    for (std::size_t i = 0; i < now.size(); ++i) {
      const std::int64_t channel = static_cast<std::int64_t>(i) % wide;
      if (channel >= first && channel < first + count) continue;
      ASSERT_EQ(now[i], then[i]) << "element " << i;
    }
  }
};
NG_ON_EACH_DEVICE(ConvSlicesTest);

// Branches of an inception: channels that are gathered as they lie, and such as the copy engine cannot begin at.
TEST_P(ConvSlicesTest, BitsAreThoseOfCopies) {
  struct Case {
    std::int64_t c, k, taps, stride, at_x, wide_x, at_y, wide_y, groups;
  };
  const Case cases[] = {{64, 32, 1, 1, 8, 88, 16, 72, 1}, {24, 64, 3, 1, 96, 136, 64, 160, 1},
                        {16, 48, 5, 1, 0, 40, 48, 96, 1}, {72, 40, 3, 2, 4, 80, 3, 45, 1},
                        {3, 16, 3, 2, 1, 7, 8, 24, 1},    {16, 64, 3, 1, 8, 32, 64, 128, 2}};
  for (const Dtype type : {Dtype::float16, Dtype::bfloat16, Dtype::float32}) {
    for (const Case& c : cases) {
      if (checked() && c.c == 72) continue;
      ConvProblem p;
      p.n = 2, p.c = c.c, p.k = c.k, p.groups = c.groups;
      p.in = {1, 5, 6}, p.filter = {1, c.taps, c.taps}, p.pad = {0, c.taps / 2, c.taps / 2};
      p.stride = {1, c.stride, c.stride};
      p.x_type = p.w_type = p.y_type = type;
      const auto out = p.out();
      const Tensor wide_x = numbers({2, 5, 6, c.wide_x}, type);
      Tensor wide_y = numbers({2, out[1], out[2], c.wide_y}, type);
      const Tensor w = numbers({c.k, c.taps, c.taps, c.c / c.groups}, type);
      const Tensor x = wide_x.slice(3, c.at_x, c.at_x + c.c);
      Tensor y = wide_y.slice(3, c.at_y, c.at_y + c.k);
      const Shape words = {2, out[1], out[2], (c.k + 31) / 32};
      const std::int64_t of_y = words.back();
      Tensor wide_mask = Tensor::full({2, out[1], out[2], of_y + 3}, 0x33333333, Dtype::uint32);
      Tensor mask = wide_mask.slice(3, 1, 1 + of_y);
      Tensor other_mask = Tensor::empty(words, Dtype::uint32);
      ConvOptions options;
      options.relu = true;
      options.beta = 1.0F;
      options.mask = &other_mask;
      Tensor dense = y.copy();
      const Tensor before = wide_y.copy();
      conv_fprop(p, x.copy(), w, dense, options);
      options.mask = &mask;
      conv_fprop(p, x, w, y, options);
      EXPECT_EQ(on_host(y), on_host(dense)) << c.c;
      EXPECT_EQ(mask.to_host<std::uint32_t>(), other_mask.to_host<std::uint32_t>()) << c.c;
      expect_only(wide_y, before, c.at_y, c.k);
      for (const std::int64_t beside : {std::int64_t{0}, of_y + 1, of_y + 2}) {
        for (const std::uint32_t word : wide_mask.slice(3, beside, beside + 1).to_host<std::uint32_t>()) {
          ASSERT_EQ(word, 0x33333333U) << c.c;
        }
      }

      Tensor dw = numbers(w.shape(), type);
      Tensor other_dw = numbers(w.shape(), type);
      conv_update(p, y, x, dw);
      conv_update(p, y.copy(), x.copy(), other_dw);
      EXPECT_EQ(on_host(dw), on_host(other_dw)) << c.c;

      const Shape bits = {2, 5, 6, (c.c + 31) / 32};
      const Tensor of_x = Tensor::full(bits, 0x5a5a5a5a, Dtype::uint32);
      Tensor wide_bits = Tensor::zeros({2, 5, 6, bits.back() + 2}, Dtype::uint32);
      Tensor same_bits = wide_bits.slice(3, 1, 1 + bits.back());
      same_bits.fill(0x5a5a5a5a);
      for (const float beta : {0.0F, 1.0F}) {
        Tensor wide_dx = numbers(wide_x.shape(), type);
        Tensor dx = wide_dx.slice(3, c.at_x, c.at_x + c.c);
        Tensor other = dx.copy();
        const Tensor first = wide_dx.copy();
        ConvOptions back;
        back.beta = beta;
        back.mask = &same_bits;
        conv_bprop(p, y, w, dx, back);
        back.mask = &of_x;
        conv_bprop(p, y.copy(), w, other, back);
        EXPECT_EQ(on_host(dx), on_host(other)) << c.c << " beta " << beta;
        expect_only(wide_dx, first, c.at_x, c.c);
      }
    }
  }
}

// From one slice to the next of the same tensor; not to one that has channels of it.
TEST_P(ConvSlicesTest, NeighboursInOneTensor) {
  ConvProblem p;
  p.n = 2, p.c = 16, p.k = 8, p.in = {1, 4, 5}, p.x_type = p.w_type = p.y_type = Dtype::float16;
  Tensor wide = numbers({2, 4, 5, 32}, Dtype::float16);
  const Tensor before = wide.copy();
  const Tensor w = numbers({8, 1, 1, 16}, Dtype::float16);
  const Tensor x = wide.slice(3, 0, 16);
  Tensor y = wide.slice(3, 16, 24);
  Tensor dense = y.copy();
  conv_fprop(p, x.copy(), w, dense);
  conv_fprop(p, x, w, y);
  EXPECT_EQ(on_host(y), on_host(dense));
  expect_only(wide, before, 16, 8);
  Tensor over = wide.slice(3, 15, 23);
  expect_error<InvalidArgument>([&] { conv_fprop(p, x, w, over); },
                                "conv: y shares memory with x; needs memory of its own");
}

}  // namespace
}  // namespace nervanagpu
