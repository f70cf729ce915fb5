// The operations of nn.hpp that map element to element, beside their definitions.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "nervanagpu/nn.hpp"
#include "src/numbers/philox.h"
#include "test/kernels/nn/elements.h"
#include "test/kernels/nn/on_each_device.h"
#include "test/kernels/nn/operands.h"
#include "test/src/expect_error.h"

namespace nervanagpu {
namespace {

using test::make_normal;
using test::make_operand;
using test::mismatch;
using test::Operand;

constexpr Dtype kFloats[] = {Dtype::float32, Dtype::float16};

// To nearest, and stochastically with a counter that carries into its upper word.
const Rounding kRoundings[] = {{}, {true, 0x1122334455667788, 0xfffffffe, 0}, {true, 3, 1, 4}};

class ElementwiseTest : public test::OnEachDevice {
 protected:
  // Calls f(dtype, count, shift, rounding).
  template <class F>
  void for_each_case(const F& f) {
    for (const Dtype dtype : kFloats) {
      for (const std::int64_t count : {1, 2, 3, 4, 31, 33, 127, 2048, 2053, 5000}) {
        for (const std::int64_t shift : {0, 1}) {
          for (const Rounding& rounding : kRoundings) {
            if ((checked() || rounding.stochastic) && count > 2100) continue;
            f(dtype, count, shift, rounding);
            if (HasFatalFailure()) return;
          }
        }
      }
    }
  }
};

NG_ON_EACH_DEVICE(ElementwiseTest);

TEST_P(ElementwiseTest, Add) {
  for_each_case([&](Dtype dtype, std::int64_t n, std::int64_t shift, const Rounding& rounding) {
    const Operand a = make_operand(random_, {n}, dtype, shift);
    const Operand b = make_operand(random_, {n}, dtype, shift);
    Operand y = make_operand(random_, {n}, dtype, shift);
    add(a.t, b.t, y.t, 1.5F, -0.25F, rounding);
    ASSERT_EQ(mismatch(y, rounding, [&](std::size_t i) { return std::fma(-0.25F, b.value(i), 1.5F * a.value(i)); }),
              "");
    add(a.t, b.t, y.t, -2.0F, 0.0F, rounding);  // b is not read
    ASSERT_EQ(mismatch(y, rounding, [&](std::size_t i) { return -2.0F * a.value(i); }), "");
  });
}

TEST_P(ElementwiseTest, AddInPlace) {
  Operand a = make_normal(random_, {777}, Dtype::float32);
  Operand b = make_normal(random_, {777}, Dtype::float32);
  add(a.t, b.t, a.t);
  EXPECT_EQ(mismatch(a, {}, [&](std::size_t i) { return b.value(i) + a.value(i); }), "");
  const std::vector<std::uint32_t> sum = test::read_bits(a.t);
  add(a.t, b.t, b.t, 1.0F, 2.0F);
  EXPECT_EQ(mismatch(b, {}, [&](std::size_t i) { return std::fma(2.0F, b.value(i), std::bit_cast<float>(sum[i])); }),
            "");
}

TEST_P(ElementwiseTest, ReluAndLeakyRelu) {
  for_each_case([&](Dtype dtype, std::int64_t n, std::int64_t shift, const Rounding& rounding) {
    const Operand x = make_operand(random_, {n}, dtype, shift);
    const Operand dy = make_operand(random_, {n}, dtype, shift);
    Operand y = make_operand(random_, {n}, dtype, shift);
    activation_fprop(Activation::relu, x.t, y.t, 0, rounding);
    ASSERT_EQ(mismatch(y, rounding, [&](std::size_t i) { return x.value(i) < 0 ? 0 : x.value(i) + 0.0F; }), "");
    activation_fprop(Activation::leaky_relu, x.t, y.t, 0.125F, rounding);
    ASSERT_EQ(mismatch(y, rounding, [&](std::size_t i) { return x.value(i) > 0 ? x.value(i) : 0.125F * x.value(i); }),
              "");
    activation_bprop(Activation::relu, x.t, dy.t, y.t, 0, rounding);
    ASSERT_EQ(mismatch(y, rounding, [&](std::size_t i) { return x.value(i) > 0 ? dy.value(i) : 0.0F; }), "");
    activation_bprop(Activation::leaky_relu, x.t, dy.t, y.t, 0.125F, rounding);
    ASSERT_EQ(mismatch(y, rounding, [&](std::size_t i) { return dy.value(i) * (x.value(i) > 0 ? 1.0F : 0.125F); }), "");
    activation_fprop(Activation::identity, x.t, y.t, 0, rounding);
    ASSERT_EQ(mismatch(y, rounding, [&](std::size_t i) { return x.value(i); }), "");
    activation_bprop(Activation::identity, x.t, dy.t, y.t, 0, rounding);
    ASSERT_EQ(mismatch(y, rounding, [&](std::size_t i) { return dy.value(i); }), "");
  });
}

// The functions themselves are measured in functions_test.cpp: here, that each element gets its own value.
TEST_P(ElementwiseTest, TanhAndSigmoid) {
  for_each_case([&](Dtype dtype, std::int64_t n, std::int64_t shift, const Rounding& rounding) {
    const Operand x = make_normal(random_, {n}, dtype, shift);
    const Operand dy = make_operand(random_, {n}, dtype, shift);
    Operand y = make_operand(random_, {n}, dtype, shift);
    std::vector<float> values;
    for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) values.push_back(x.value(i));
    const Operand x32 = make_operand(values, {n}, Dtype::float32);
    Operand y32 = make_operand(values, {n}, Dtype::float32);
    for (const Activation f : {Activation::tanh, Activation::sigmoid}) {
      const bool is_tanh = f == Activation::tanh;
      activation_fprop(f, x32.t, y32.t);
      const std::vector<float> exact = y32.t.to_host<float>();
      for (std::size_t i = 0; i < values.size(); ++i) {
        const double v = static_cast<double>(values[i]);
        const double reference = is_tanh ? std::tanh(v) : 1.0 / (1.0 + std::exp(-v));
        ASSERT_TRUE(std::fabs(static_cast<double>(exact[i]) - reference) <= 2.4e-7 * std::fabs(reference)) << v;
      }
      activation_fprop(f, x.t, y.t, 0, rounding);
      ASSERT_EQ(mismatch(y, rounding, [&](std::size_t i) { return exact[i]; }), "");
      activation_bprop(f, x.t, dy.t, y.t, 0, rounding);
      ASSERT_EQ(mismatch(y, rounding,
                         [&](std::size_t i) {
                           const float v = x.value(i);
                           return (is_tanh ? std::fma(-v, v, 1.0F) : std::fma(-v, v, v)) * dy.value(i);
                         }),
                "");
    }
  });
}

TEST_P(ElementwiseTest, BiasAdd) {
  for (const Dtype dtype : kFloats) {
    for (const Dtype bias_dtype : kFloats) {
      for (const Shape& shape : {Shape{7, 5}, Shape{3, 4, 8}, Shape{1, 1}, Shape{600, 12}, Shape{13}, Shape{33, 128}}) {
        for (const bool last : {true, false}) {
          for (const Rounding& rounding : kRoundings) {
            const Operand x = make_operand(random_, shape, dtype);
            const std::int64_t shift = static_cast<std::int64_t>(random_() % 2);
            const Operand bias = make_operand(random_, {last ? shape.back() : shape.front()}, bias_dtype, shift);
            Operand y = make_operand(random_, shape, dtype);
            bias_add(x.t, bias.t, last, y.t, rounding);
            const std::size_t row = last ? static_cast<std::size_t>(shape.back()) : x.bits.size() / bias.bits.size();
            ASSERT_EQ(
                mismatch(y, rounding, [&](std::size_t i) { return x.value(i) + bias.value(last ? i % row : i / row); }),
                "")
                << row << (last ? " last" : " first");
          }
        }
      }
    }
  }
}

TEST_P(ElementwiseTest, SoftmaxGradient) {
  for (const Dtype dtype : kFloats) {
    for (const Shape& shape : {Shape{7, 5}, Shape{300, 10}, Shape{64, 12}, Shape{1, 1}, Shape{2, 1003}}) {
      for (const Rounding& rounding : kRoundings) {
        const auto rows = static_cast<std::size_t>(shape[0]);
        const auto cols = static_cast<std::size_t>(shape[1]);
        const Operand probs = make_operand(random_, shape, dtype);
        std::vector<std::uint32_t> labels(rows);
        for (std::uint32_t& l : labels) l = static_cast<std::uint32_t>(random_() % (cols + 2)) - 1;  // some outside
        const Tensor device_labels = test::from_bits(labels, {shape[0]}, Dtype::int32);
        Operand d = make_operand(random_, shape, dtype);
        softmax_bprop(probs.t, device_labels, d.t, 0.3F, rounding);
        ASSERT_EQ(mismatch(d, rounding,
                           [&](std::size_t i) {
                             return (labels[i / cols] == i % cols ? probs.value(i) - 1 : probs.value(i)) * 0.3F;
                           }),
                  "");
      }
    }
  }
}

TEST_P(ElementwiseTest, DropoutsMaskIsPhilox) {
  for_each_case([&](Dtype dtype, std::int64_t n, std::int64_t shift, const Rounding& rounding) {
    const Operand x = make_operand(random_, {n}, dtype, shift);
    Operand y = make_operand(random_, {n}, dtype, shift);
    for (const float keep : {0.5F, 0.9F, 1.0F, 1e-3F}) {
      dropout(x.t, y.t, keep, 0xfeedfacecafebeef, 0xffffffffff, rounding);
      ASSERT_EQ(mismatch(y, rounding,
                         [&](std::size_t i) {
                           const std::uint32_t word = philox(0xfeedfacecafebeef, 0xffffffffff + i / 4)[i % 4];
                           return word < static_cast<double>(keep) * 4294967296.0 ? x.value(i) * (1.0F / keep) : 0.0F;
                         }),
                "")
          << keep;
      Tensor mask = Tensor::empty({n}, Dtype::uint8);
      dropout_mask(mask, keep, 0xfeedfacecafebeef, 0xffffffffff);
      Operand z = make_operand(random_, {n}, dtype, shift);
      dropout(x.t, mask, z.t, keep, rounding);
      ASSERT_EQ(test::read_bits(z.t), test::read_bits(y.t)) << keep;
    }
  });
}

TEST_P(ElementwiseTest, NothingToDo) {
  Tensor a = Tensor::zeros({0, 3});
  Tensor b = Tensor::zeros({3});
  add(a, a, a);
  activation_fprop(Activation::tanh, a, a);
  bias_add(a, b, true, a);
  dropout(a, a, 0.5F, 1, 2);
}

TEST_P(ElementwiseTest, Refusals) {
  Tensor a = Tensor::zeros({3, 4});
  Tensor half = Tensor::zeros({3, 4}, Dtype::float16);
  Tensor ints = Tensor::zeros({3, 4}, Dtype::int32);
  Tensor other = Tensor::zeros({4, 3});
  Tensor turned = other.transpose();
  Tensor bias = Tensor::zeros({3});
  Tensor labels = Tensor::zeros({3}, Dtype::int32);
  Tensor y = Tensor::full({3, 4}, 7);
  expect_error<TypeError>([&] { add(ints, ints, ints); }, "add: a has dtype int32; needs float32, float16 or bfloat16");
  expect_error<TypeError>([&] { add(a, half, y); }, "add: b has dtype float16; needs that of a, float32");
  expect_error<InvalidArgument>([&] { add(a, other, y); }, "add: b has shape (4, 3); needs that of a, (3, 4)");
  expect_error<InvalidArgument>([&] { add(a, turned, y); },
                                "add: b has shape (3, 4) and strides (1, 3); needs contiguous memory (a copy)");
  Tensor whole = Tensor::zeros({16});
  Tensor low = whole.slice(0, 0, 12);
  Tensor high = whole.slice(0, 4, 16);
  expect_error<InvalidArgument>([&] { add(low, low, high); },
                                "add: out shares a part of its memory with a; needs all of it, or memory of its own");
  expect_error<InvalidArgument>([&] { activation_fprop(Activation::leaky_relu, a, y, -1.0F); },
                                "activation: slope is -1.000000; needs a number, 0 or more");
  expect_error<InvalidArgument>([&] { bias_add(a, bias, true, y); },
                                "bias_add: bias has shape (3,); needs (4,), the length of the last axis");
  expect_error<InvalidArgument>([&] { dropout(a, y, 0.0F, 1, 1); },
                                "dropout: keep is 0.000000; needs more than 0 and at most 1");
  expect_error<TypeError>([&] { dropout(a, half, y, 0.5F); }, "dropout: mask has dtype float16; needs uint8");
  expect_error<InvalidArgument>([&] { dropout(a, Tensor::zeros({12}, Dtype::uint8), y, 0.5F); },
                                "dropout: mask has shape (12,); needs (3, 4), that of x");
  expect_error<InvalidArgument>(
      [&] {
        dropout(a, y, 1.0F, 1, 1, {true, 0, 0, 16});
      },
      "dropout: rounding bits is 16; needs 1 to 15 for float32, or 0 for the most");
  expect_error<TypeError>([&] { softmax_bprop(a, bias, y, 1); },
                          "softmax_bprop: labels has dtype float32; needs int32");
  expect_error<InvalidArgument>([&] { softmax_bprop(a, Tensor::zeros({4}, Dtype::int32), y, 1); },
                                "softmax_bprop: labels has shape (4,); needs (3,), one for each row of probs");
  EXPECT_EQ(y.to_host<float>(), std::vector<float>(12, 7.0F));
}

}  // namespace
}  // namespace nervanagpu
