// Softmax, its loss and hits beside long double.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

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
using test::Operand;

class SoftmaxTest : public test::OnEachDevice {
 protected:
  // Probabilities and losses of one set of logits against long double.
  void check(std::int64_t rows, std::int64_t cols, Dtype dtype, float scale, bool in_place) {
    const auto r = static_cast<std::size_t>(rows);
    const auto n = static_cast<std::size_t>(cols);
    std::normal_distribution<float> normal(0, scale);
    std::vector<float> v(r * n);
    for (float& x : v) x = normal(random_);
    Operand x = make_operand(v, {rows, cols}, dtype);
    std::vector<std::uint32_t> labels(r);
    for (std::uint32_t& l : labels) l = static_cast<std::uint32_t>(random_() % n);
    const Tensor device_labels = test::from_bits(labels, {rows}, Dtype::int32);
    Operand probs = in_place ? x : make_operand(random_, {rows, cols}, dtype);
    Operand loss = make_operand(random_, {rows}, Dtype::float32);
    softmax_fprop(x.t, &device_labels, probs.t, &loss.t);
    const std::vector<std::uint32_t> got = test::read_bits(probs.t);
    const std::vector<float> got_loss = loss.t.to_host<float>();
    for (std::size_t i = 0; i < r; ++i) {
      long double most = -std::numeric_limits<long double>::infinity();
      for (std::size_t j = 0; j < n; ++j) most = std::max(most, static_cast<long double>(x.value(i * n + j)));
      long double sum = 0;
      for (std::size_t j = 0; j < n; ++j) sum += std::exp(static_cast<long double>(x.value(i * n + j)) - most);
      // x - m has half an ULP, the exponential 2, the sum of n / 32 in a chain 1 each, the quotient 1.
      const long double unit = std::ldexp(1.0L, -24);
      for (std::size_t j = 0; j < n; ++j) {
        const long double distance = most - static_cast<long double>(x.value(i * n + j));
        const long double reference = std::exp(-distance) / sum;
        const long double relative = (distance + 12 + static_cast<long double>(n) / 16) * unit;
        const long double last = dtype == Dtype::float16 ? std::ldexp(1.0L, -11) : 0.0L;
        const long double least = dtype == Dtype::float16 ? std::ldexp(1.0L, -25) : std::ldexp(1.0L, -148);
        const long double error =
            std::fabs(static_cast<long double>(test::value_of(dtype, got[i * n + j])) - reference);
        ASSERT_TRUE(error <= reference * (relative + last) + least) << rows << " x " << cols << ": " << i << ", " << j;
      }
      const long double reference = std::log(sum) + most - static_cast<long double>(x.value(i * n + labels[i]));
      const long double bound = (4 * std::fabs(reference) + 20 + static_cast<long double>(n) / 16) * unit;
      ASSERT_TRUE(std::fabs(static_cast<long double>(got_loss[i]) - reference) <= bound) << rows << " x " << cols;
    }
  }
};

NG_ON_EACH_DEVICE(SoftmaxTest);

TEST_P(SoftmaxTest, AgainstLongDouble) {
  for (const Dtype dtype : {Dtype::float32, Dtype::float16}) {
    for (const auto& [rows, cols] : {std::pair{1, 1},
                                     {3, 1},
                                     {1, 2},
                                     {5, 3},
                                     {4, 10},
                                     {7, 31},
                                     {9, 33},
                                     {2, 127},
                                     {3, 128},
                                     {5, 1000},
                                     {1, 2048},
                                     {2, 2049},
                                     {1, 5003}}) {
      if (checked() && cols > 2100) continue;
      for (const float scale : {1.0F, 30.0F}) check(rows, cols, dtype, scale, cols % 2 == 0);
    }
  }
}

// Rows that no CTA takes alone: several kernels, which leave x until the last one has read it.
TEST_P(SoftmaxTest, LongRows) {
  if (checked()) return;
  for (const bool in_place : {false, true}) check(1, (1 << 19) + 67, Dtype::float32, 1.0F, in_place);
}

TEST_P(SoftmaxTest, ProbabilitiesAndLossAreOneKernel) {
  for (const std::int64_t n : {10, 1000, 5003}) {
    Operand x = make_normal(random_, {5, n}, Dtype::float32);
    const Tensor labels = test::from_bits({0, 1, 2, 3, 4}, {5}, Dtype::int32);
    Tensor loss = Tensor::empty({5});
    const std::uint64_t before = launch_count();
    softmax_fprop(x.t, &labels, x.t, &loss);
    EXPECT_EQ(launch_count(), before + 1) << n;
  }
}

TEST_P(SoftmaxTest, SpecialValues) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const std::size_t n : {std::size_t{3}, std::size_t{37}, std::size_t{2500}}) {
    for (std::size_t at = 0; at<n; at += n> 100 ? 311 : 1) {
      std::vector<float> v(6 * n, 0.0F);
      v[0 * n + at] = nan;    // everything is NaN
      v[1 * n + at] = kInf;   // inf - inf
      v[2 * n + at] = -kInf;  // probability 0
      v[3 * n + at] = 1e30F;  // probability 1
      for (std::size_t j = 0; j < n; ++j) v[4 * n + j] = -kInf;
      for (std::size_t j = 0; j < n; ++j) v[5 * n + j] = -1e38F;  // all alike, and far away
      const Operand x = make_operand(v, {6, static_cast<std::int64_t>(n)}, Dtype::float32);
      Tensor probs = Tensor::empty({6, static_cast<std::int64_t>(n)});
      softmax_fprop(x.t, nullptr, probs, nullptr);
      const std::vector<float> p = probs.to_host<float>();
      for (std::size_t j = 0; j < n; ++j) {
        EXPECT_TRUE(std::isnan(p[j]) && std::isnan(p[n + j]) && std::isnan(p[4 * n + j]));
        EXPECT_TRUE(std::fabs(p[2 * n + j] - (j == at ? 0.0F : 1.0F / static_cast<float>(n - 1))) <= 1e-6F);
        EXPECT_EQ(p[3 * n + j], j == at ? 1.0F : 0.0F);
        EXPECT_TRUE(std::fabs(p[5 * n + j] * static_cast<float>(n) - 1.0F) <= 1e-6F);
      }
    }
  }
}

// The first of equals counts; what is no number hits nothing.
TEST_P(SoftmaxTest, HitsAreThoseOfTheFirstLargest) {
  for (const Dtype dtype : {Dtype::float32, Dtype::float16}) {
    for (const std::int64_t cols : {1, 3, 10, 33, 1000, 2049}) {
      const std::int64_t rows = 17;
      std::vector<float> v(static_cast<std::size_t>(rows * cols));
      for (float& x : v) x = static_cast<float>(random_() % 4);  // ties
      v[v.size() - 1] = std::numeric_limits<float>::quiet_NaN();
      std::vector<std::uint32_t> labels;
      std::vector<float> want;
      for (std::int64_t i = 0; i < rows; ++i) {
        const auto row = v.begin() + i * cols;
        const auto best = static_cast<std::uint32_t>(std::max_element(row, row + cols) - row);
        labels.push_back(i % 3 == 0 ? static_cast<std::uint32_t>(random_()) % static_cast<std::uint32_t>(cols) : best);
        want.push_back(i + 1 < rows && labels.back() == best ? 1.0F : 0.0F);
      }
      const Operand probs = make_operand(v, {rows, cols}, dtype);
      Tensor hits = Tensor::full({rows}, 9);
      count_hits(probs.t, test::from_bits(labels, {rows}, Dtype::int32), hits);
      EXPECT_EQ(hits.to_host<float>(), want) << cols;
    }
  }
  const Tensor probs = Tensor::zeros({3, 4}), labels = Tensor::zeros({3}, Dtype::int32);
  Tensor four = Tensor::zeros({4});
  expect_error<InvalidArgument>([&] { count_hits(probs, labels, four); },
                                "count_hits: hits has shape (4,); needs (3,), one for each row of probs");
}

TEST_P(SoftmaxTest, ALabelOutsideGivesNan) {
  const Operand x = make_normal(random_, {4, 5}, Dtype::float32);
  const Tensor labels = test::from_bits({0, 5, 0xffffffff, 4}, {4}, Dtype::int32);
  Tensor probs = Tensor::empty({4, 5});
  Tensor loss = Tensor::empty({4});
  softmax_fprop(x.t, &labels, probs, &loss);
  const std::vector<float> got = loss.to_host<float>();
  EXPECT_FALSE(std::isnan(got[0]));
  EXPECT_TRUE(std::isnan(got[1]));
  EXPECT_TRUE(std::isnan(got[2]));
  EXPECT_FALSE(std::isnan(got[3]));
}

TEST_P(SoftmaxTest, Refusals) {
  const Tensor x = Tensor::zeros({3, 4});
  const Tensor labels = Tensor::zeros({3}, Dtype::int32);
  Tensor probs = Tensor::full({3, 4}, 7);
  Tensor loss = Tensor::zeros({3});
  Tensor half = Tensor::zeros({3, 4}, Dtype::float16);
  Tensor two = Tensor::zeros({2});
  expect_error<InvalidArgument>([&] { softmax_fprop(x, &labels, probs, nullptr); },
                                "softmax: there are labels but no loss; needs both or neither");
  expect_error<InvalidArgument>([&] { softmax_fprop(x, &labels, probs, &two); },
                                "softmax: loss has shape (2,); needs (3,), one for each row of logits");
  expect_error<TypeError>([&] { softmax_fprop(x, nullptr, half, nullptr); },
                          "softmax: probs has dtype float16; needs that of logits, float32");
  expect_error<InvalidArgument>(
      [&] { softmax_fprop(loss, nullptr, two, nullptr); },
      "softmax: logits has shape (3,); needs (rows, classes), 1 to 2^30 - 1 classes and less than 2^31 - 4 rows");
  EXPECT_EQ(probs.to_host<float>(), std::vector<float>(12, 7.0F));
  Tensor none = Tensor::zeros({0, 4});
  softmax_fprop(none, nullptr, none, nullptr);
}

}  // namespace
}  // namespace nervanagpu
