// Gradients of strided convolutions by cells: exact integers in every layout and type, where zeros may not be, and what is refused.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <set>
#include <string>

#include "kernels/conv/problem_facts.h"
#include "kernels/conv/strided/by_cells.h"
#include "kernels/conv/tensor_cores.h"
#include "nervanagpu/nervanagpu.hpp"
#include "test/kernels/conv/conv_case.h"
#include "test/kernels/conv/on_tensor_cores.h"
#include "test/kernels/conv/random_problem.h"
#include "test/kernels/nn/on_each_device.h"

namespace nervanagpu {
namespace {

using conv_detail::by_cells::cells_of;
using test::ConvCase;

class StridedTest : public test::OnTensorCores {
 protected:
  int pick(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }

  // Of few channels, with strides along height, width or both.
  ConvCase draw() {
    constexpr Layout kLayouts[] = {Layout::channels_last, Layout::channels_last, Layout::batch_last,
                                   Layout::channels_first};
    constexpr Dtype kTypes[] = {Dtype::float16, Dtype::bfloat16, Dtype::float32};
    for (;;) {
      ConvCase c;
      c.pass = ConvPass::bprop;
      ConvProblem& p = c.p;
      p.layout = kLayouts[pick(0, 3)];
      p.x_type = p.w_type = p.y_type = kTypes[pick(0, 2)];
      p.n = pick(1, 3), p.c = pick(1, pick(0, 1) == 0 ? 4 : 40), p.k = pick(1, 33);
      if (pick(0, 3) == 0) p.filter[0] = pick(1, 3), p.stride[0] = pick(1, 2), p.in[0] = pick(3, 5);
      for (const std::size_t axis : {1U, 2U}) {
        p.stride[axis] = pick(0, 3) == 0 ? 1 : pick(2, 5);
        p.filter[axis] = pick(0, 1) == 0 ? p.stride[axis] * pick(1, 2) : pick(1, 7);
        p.pad[axis] = pick(0, static_cast<int>(p.filter[axis]));
        p.in[axis] = std::max<std::int64_t>(p.filter[axis] - 2 * p.pad[axis], 1) + pick(0, 14);
      }
      if (pick(0, 3) == 0 && p.layout == Layout::channels_last) test::choose_pitches(random_, p);
      if (cells_of(c.pass, p)) return c;
    }
  }
};
NG_ON_EACH_DEVICE(StridedTest);

TEST_P(StridedTest, ExactIntegers) {
  std::set<Layout> layouts;
  std::set<Dtype> types;
  int zeros = 0;
  for (int i = 0; i < drawn(120, 6); ++i) {
    ConvCase c = draw();
    layouts.insert(c.p.layout), types.insert(c.p.x_type);
    zeros += cells_of(c.pass, c.p)->zeros_meet ? 1 : 0;
    c.options.alpha = pick(0, 1) == 0 ? 1.0F : -2.0F;
    if (c.p.x_type == Dtype::float32 && pick(0, 1) == 0) c.p.precision = Precision::tensor;
    if (pick(0, 3) == 0) c.shift = pick(1, 3);
    // Left to classes: what the copy does not know.
    if (pick(0, 5) == 0) c.options.beta = 1.0F;
    if (pick(0, 5) == 0) c.options.rounding = {true, random_(), random_(), 0};
    ASSERT_EQ(test::judge(device_, random_, c), "") << i;
  }
  if (checked()) return;
  EXPECT_EQ(layouts.size(), 3U);
  EXPECT_EQ(types.size(), 3U);
  EXPECT_GT(zeros, test::drawn(10));
}

// A layer that makes patches, in one launch and not 256; the sums are those of the classes.
TEST_P(StridedTest, PatchesAreOneProduct) {
  ConvProblem p;
  p.n = 2, p.c = 3, p.k = 48, p.in = {1, 32, 48}, p.filter = {1, 16, 16}, p.stride = {1, 16, 16};
  for (const Dtype type : {Dtype::float16, Dtype::bfloat16, Dtype::float32}) {
    p.x_type = p.w_type = p.y_type = type;
    const auto cells = cells_of(ConvPass::bprop, p);
    ASSERT_TRUE(cells.has_value());
    EXPECT_FALSE(cells->zeros_meet);
    EXPECT_EQ(cells->problem.c, 768);
    EXPECT_EQ(cells->problem.filter, (std::array<std::int64_t, 3>{1, 1, 1}));
    EXPECT_TRUE(conv_detail::known(ConvPass::bprop, p).by_cells);
    ConvCase c;
    c.pass = ConvPass::bprop, c.p = p;
    ASSERT_EQ(test::judge(device_, random_, c), "");
  }
}

// Zeros after the last taps would make NaN of infinities: they may on the tensor cores, in 16 bits, and nowhere else.
TEST_P(StridedTest, InfinitiesMeetTheWindowAlone) {
  ConvProblem p;
  p.n = 1, p.c = 1, p.k = 1, p.in = {1, 1, 17}, p.filter = {1, 1, 5}, p.stride = {1, 1, 4};
  for (const Dtype type : {Dtype::float16, Dtype::float32}) {
    for (const bool on_tensor_cores : {false, true}) {
      p.x_type = p.w_type = p.y_type = type;
      Tensor dy = Tensor::empty({1, 1, 4, 1}, type);
      Tensor w = Tensor::empty({1, 1, 5, 1}, type);
      Tensor dx = Tensor::empty({1, 1, 17, 1}, type);
      const std::vector<float> one_infinite = {0, std::numeric_limits<float>::infinity(), 0, 0};
      convert(Tensor::from_host<float>(one_infinite, {1, 1, 4, 1}), dy);
      convert(Tensor::ones({1, 1, 5, 1}), w);
      ConvOptions options;
      options.tensor_cores = on_tensor_cores;
      conv_bprop(p, dy, w, dx, options);
      Tensor wide = Tensor::empty({1, 1, 17, 1});
      convert(dx, wide);
      const std::vector<float> got = wide.to_host<float>();
      const bool zeros_may = type == Dtype::float16 && on_tensor_cores;
      for (std::size_t i = 0; i < got.size(); ++i) {
        const bool met = i >= 4 && i < 9;
        if (zeros_may && i >= 9 && i < 12) continue;  // the rest of the second cell
        ASSERT_EQ(got[i], met ? std::numeric_limits<float>::infinity() : 0.0F) << i;
      }
    }
  }
}

// The model keeps classes where there are many channels, and groups, dilations and other passes have no cells.
TEST_P(StridedTest, WhatHasNoCells) {
  ConvProblem p;
  p.n = 32, p.c = 128, p.k = 128, p.in = {1, 56, 56}, p.filter = {1, 3, 3}, p.stride = {1, 2, 2}, p.pad = {0, 1, 1};
  p.x_type = p.w_type = p.y_type = Dtype::float16;
  EXPECT_FALSE(cells_of(ConvPass::bprop, p).has_value());
  p.c = 4, p.filter = {1, 8, 8}, p.stride = {1, 8, 8}, p.pad = {0, 0, 0};
  EXPECT_TRUE(cells_of(ConvPass::bprop, p).has_value());
  EXPECT_FALSE(cells_of(ConvPass::fprop, p).has_value());
  EXPECT_FALSE(cells_of(ConvPass::update, p).has_value());
  ConvProblem other = p;
  other.groups = 2;
  EXPECT_FALSE(cells_of(ConvPass::bprop, other).has_value());
  other = p;
  other.dilation = {1, 2, 2};
  EXPECT_FALSE(cells_of(ConvPass::bprop, other).has_value());
  other = p;
  other.stride = {1, 1, 1}, other.c = 8;
  EXPECT_FALSE(cells_of(ConvPass::bprop, other).has_value());
  other = p;
  other.x_type = other.w_type = other.y_type = Dtype::float32;
  other.filter = {1, 7, 7};
  EXPECT_FALSE(cells_of(ConvPass::bprop, other).has_value());
}

}  // namespace
}  // namespace nervanagpu
