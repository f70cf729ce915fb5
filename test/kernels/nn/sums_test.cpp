// Sums over positions and over a whole tensor: their order, their bits.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

#include "nervanagpu/expr.hpp"
#include "nervanagpu/nn.hpp"
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

class SumsTest : public test::OnEachDevice {
 protected:
  // Small integers: every sum is exact in whatever order.
  Operand integers(const Shape& shape, Dtype dtype) {
    std::int64_t n = 1;
    for (const std::int64_t s : shape) n *= s;
    std::vector<float> v(static_cast<std::size_t>(n));
    for (float& x : v) x = static_cast<float>(static_cast<int>(random_() % 9) - 4);
    return make_operand(v, shape, dtype);
  }
  [[nodiscard]] std::vector<Shape> shapes() const {
    std::vector<Shape> out = {{1, 1},  {1, 7},   {3, 5},    {7, 33},  {33, 4},    {100, 128},
                              {31, 3}, {32, 12}, {257, 10}, {5, 131}, {16, 3, 12}};
    if (!checked()) {
      out.insert(out.end(), {{1000, 64}, {3000, 5}, {2, 9001}, {3, 40960}, {30001, 1}, {1, 30001}, {260, 260}});
    }
    return out;
  }
};

NG_ON_EACH_DEVICE(SumsTest);

TEST_P(SumsTest, BiasGradientOfIntegersIsExact) {
  for (const Shape& shape : shapes()) {
    for (const Dtype dtype : {Dtype::float32, Dtype::float16}) {
      for (const Dtype out : {Dtype::float32, Dtype::float16}) {
        for (const bool last : {true, false}) {
          const auto channels = static_cast<std::size_t>(last ? shape.back() : shape.front());
          if (channels > 1000 && (dtype != out || dtype == Dtype::float16)) continue;
          const Operand dy = integers(shape, dtype);
          std::vector<double> sum(channels, 0.0);
          const std::size_t row = dy.bits.size() / static_cast<std::size_t>(shape.front());
          for (std::size_t i = 0; i < dy.bits.size(); ++i) {
            sum[last ? i % channels : i / row] += static_cast<double>(dy.value(i));
          }
          for (const Rounding& rounding : {Rounding{}, Rounding{true, 99, 7, 0}}) {
            if (rounding.stochastic && dy.bits.size() > 10000) continue;
            Operand db = integers({static_cast<std::int64_t>(channels)}, out);
            bias_grad(dy.t, last, db.t, 1.0F, 0.0F, rounding);
            ASSERT_EQ(mismatch(db, rounding, [&](std::size_t i) { return static_cast<float>(sum[i]); }), "")
                << shape.front() << " x " << shape.back() << (last ? ", last" : ", first");
            const Operand before = integers({static_cast<std::int64_t>(channels)}, out);
            test::Operand after = db;
            after.t.copy_from(before.t);
            bias_grad(dy.t, last, after.t, -0.5F, 2.0F, rounding);
            ASSERT_EQ(mismatch(after, rounding,
                               [&](std::size_t i) {
                                 return static_cast<float>(-0.5 * sum[i] + 2.0 * static_cast<double>(before.value(i)));
                               }),
                      "");
          }
        }
      }
    }
  }
}

// The same bits wherever the tensor lies: what is vectors there and single elements here is added in the same order.
TEST_P(SumsTest, BitsDoNotDependOnAlignment) {
  for (const bool last : {true, false}) {
    const Operand aligned = make_normal(random_, {300, 260}, Dtype::float32);
    std::vector<float> values(aligned.bits.size());
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = aligned.value(i);
    Tensor room = Tensor::zeros({300 * 260 + 1});
    Tensor shifted = room.slice(0, 1, 300 * 260 + 1).reshape({300, 260});
    shifted.copy_from(aligned.t);
    Tensor a = Tensor::zeros({last ? 260 : 300});
    Tensor b = Tensor::zeros({last ? 260 : 300});
    bias_grad(aligned.t, last, a);
    bias_grad(shifted, last, b);
    EXPECT_EQ(test::read_bits(a), test::read_bits(b));
    const Statistics sa = statistics(aligned.t);
    const Statistics sb = statistics(shifted);
    EXPECT_EQ(sa.mean_abs, sb.mean_abs);
    EXPECT_EQ(sa.max_abs, sb.max_abs);
  }
}

// The order that docs/nn.md describes, element by element.
TEST_P(SumsTest, TheOrderIsTheDocumentedOne) {
  const std::size_t rows = 700;
  const std::size_t cols = 36;
  const Operand dy =
      make_normal(random_, {static_cast<std::int64_t>(rows), static_cast<std::int64_t>(cols)}, Dtype::float32);
  Operand db = make_operand(random_, {static_cast<std::int64_t>(cols)}, Dtype::float32);
  bias_grad(dy.t, true, db.t);
  const auto column_sum = [](std::size_t n, const std::function<float(std::size_t)>& x) {
    float total = 0;
    for (std::size_t w = 0; w < 8; ++w) {
      float s = 0;
      for (std::size_t r = w; r < n; r += 8) s += x(r);
      total = w == 0 ? s : total + s;
    }
    return total;
  };
  EXPECT_EQ(mismatch(db, {},
                     [&](std::size_t j) {
                       return column_sum(3, [&](std::size_t c) {
                         return column_sum(c < 2 ? 256 : rows - 512,
                                           [&](std::size_t r) { return dy.value((256 * c + r) * cols + j); });
                       });
                     }),
            "");
}

TEST_P(SumsTest, SpecialValuesInEveryPlace) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const std::int64_t n : {1, 5, 131, 1030}) {
    for (std::int64_t at = 0; at<n; at += n> 200 ? 57 : 1) {
      std::vector<float> v(static_cast<std::size_t>(n), 1.0F);
      for (const float special : {nan, kInf, -kInf}) {
        v[static_cast<std::size_t>(at)] = special;
        const Operand x = make_operand(v, {1, n}, Dtype::float32);
        const Statistics s = statistics(x.t);
        EXPECT_EQ(std::isnan(s.max_abs), std::isnan(special));
        EXPECT_EQ(std::isnan(s.mean_abs), std::isnan(special));
        if (!std::isnan(special)) {
          EXPECT_EQ(s.max_abs, static_cast<double>(kInf));
        }
        Operand db = make_operand({0.0F}, {1}, Dtype::float32);
        bias_grad(x.t, false, db.t);
        EXPECT_EQ(mismatch(db, {}, [&](std::size_t) { return special; }), "");
      }
    }
  }
}

TEST_P(SumsTest, Statistics) {
  for (const Dtype dtype : {Dtype::float32, Dtype::float16}) {
    for (const std::int64_t n : {1, 2, 3, 4, 5, 31, 33, 1000, 4096, 4097, 50021}) {
      if (checked() && n > 5000) continue;
      const Operand x = make_normal(random_, {n}, dtype);
      double sum = 0;
      double most = 0;
      for (std::size_t i = 0; i < x.bits.size(); ++i) {
        const double a = std::fabs(static_cast<double>(x.value(i)));
        sum += a;
        most = std::max(most, a);
      }
      const Statistics s = statistics(x.t);
      EXPECT_EQ(s.max_abs, most);
      // Chains of at most chunk / 1024 additions, then 2 + 5 + 7.
      const double bound = 40 * std::ldexp(1.0, -24) * sum / static_cast<double>(n);
      EXPECT_TRUE(std::fabs(s.mean_abs - sum / static_cast<double>(n)) <= bound) << n;
    }
  }
  const Statistics none = statistics(Tensor::zeros({0}));
  EXPECT_EQ(none.mean_abs, 0.0);
  EXPECT_EQ(none.max_abs, 0.0);
}

// The gradient of relu with the bias's: the bits of the two, in one pass. Along rows its sums have an order of their own.
TEST_P(SumsTest, ReluAndBiasTogether) {
  for (const Shape& shape : {Shape{1, 1}, Shape{5, 131}, Shape{7, 33}, Shape{300, 36}, Shape{511, 8}, Shape{512, 12},
                             Shape{1000, 64}, Shape{9, 8191}, Shape{3, 8192}, Shape{2, 9001}, Shape{60, 5, 12}}) {
    if (checked() && shape[0] * shape.back() > 20000) continue;
    for (const Dtype dtype : {Dtype::float32, Dtype::float16}) {
      for (const bool last : {true, false}) {
        for (const std::int64_t shift : {0, 1}) {
          const Operand y = make_operand(random_, shape, dtype, shift);
          Operand apart = last ? make_normal(random_, shape, dtype, shift) : integers(shape, dtype);
          Operand together = last ? make_normal(random_, shape, dtype, shift) : integers(shape, dtype);
          together.t.copy_from(apart.t);
          const std::int64_t channels = last ? shape.back() : shape.front();
          Tensor db = Tensor::zeros({channels}), both = Tensor::full({channels}, 7);
          activation_bprop(Activation::relu, y.t, apart.t, apart.t);
          bias_grad(apart.t, last, db);
          const std::uint64_t before = launch_count();
          relu_bias_bprop(y.t, together.t, last, both);
          if (shift == 0 && shape[0] < 512 && shape.back() < 8192) {
            EXPECT_EQ(launch_count(), before + 1) << shape[0];
          }
          ASSERT_EQ(test::read_bits(together.whole), test::read_bits(apart.whole)) << shape[0] << " x " << shape.back();
          ASSERT_EQ(test::read_bits(both), test::read_bits(db)) << shape[0] << " x " << shape.back() << " " << last;
        }
      }
    }
  }
  Tensor dy = Tensor::zeros({3, 4}), db = Tensor::zeros({4});
  expect_error<InvalidArgument>([&] { relu_bias_bprop(dy, dy, true, db); },
                                "relu_bias_bprop: dy shares memory with y; needs memory of its own");
  Tensor none = Tensor::zeros({0, 4});
  Tensor sevens = Tensor::full({4}, 7);
  relu_bias_bprop(none, none, true, sevens);
  EXPECT_EQ(sevens.to_host<float>(), std::vector<float>(4, 0.0F));
}

TEST_P(SumsTest, NothingToSum) {
  const Tensor dy = Tensor::zeros({0, 3});
  Operand db = make_operand({5, 6, 7}, {3}, Dtype::float32);
  bias_grad(dy, true, db.t, 1.0F, 2.0F);
  EXPECT_EQ(mismatch(db, {}, [](std::size_t i) { return 10.0F + 2.0F * static_cast<float>(i); }), "");
  bias_grad(Tensor::zeros({3, 0}), false, db.t);
  EXPECT_EQ(mismatch(db, {}, [](std::size_t) { return 0.0F; }), "");
  Tensor empty = Tensor::zeros({0});
  bias_grad(Tensor::zeros({4, 0}), true, empty);
}

TEST_P(SumsTest, Refusals) {
  const Tensor dy = Tensor::zeros({3, 4});
  Tensor db = Tensor::full({4}, 7);
  Tensor three = Tensor::zeros({3});
  expect_error<InvalidArgument>([&] { bias_grad(dy, true, three); },
                                "bias_grad: db has shape (3,); needs (4,), the length of the last axis");
  expect_error<InvalidArgument>([&] { bias_grad(dy, false, db); },
                                "bias_grad: db has shape (4,); needs (3,), the length of the first axis");
  expect_error<InvalidArgument>([&] { bias_grad(dy.transpose(), true, three); },
                                "bias_grad: dy has shape (4, 3) and strides (1, 4); needs contiguous memory (a copy)");
  expect_error<TypeError>(
      [&] {
        bias_grad(Tensor::zeros({3, 4}, Dtype::int8), true, db);
      },
      "bias_grad: dy has dtype int8; needs float32, float16 or bfloat16");
  expect_error<TypeError>([&] { statistics(Tensor::zeros({3}, Dtype::int32)); },
                          "statistics: x has dtype int32; needs float32, float16 or bfloat16");
  Tensor part = dy.reshape({12}).slice(0, 0, 4);
  expect_error<InvalidArgument>([&] { bias_grad(dy, true, part); },
                                "bias_grad: db shares memory with dy; needs memory of its own");
  EXPECT_EQ(db.to_host<float>(), std::vector<float>(4, 7.0F));
}

}  // namespace
}  // namespace nervanagpu
