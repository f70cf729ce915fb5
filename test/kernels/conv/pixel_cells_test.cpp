// Gradients of few channels without strides by cells of pixels: exact integers for cells of all sides, where the model takes them,
// what infinities meet, and what has none.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "kernels/conv/strided/by_cells.h"
#include "kernels/conv/strided/cells_of_pixels.h"
#include "nervanagpu/nervanagpu.hpp"
#include "test/kernels/conv/conv_case.h"
#include "test/kernels/conv/on_tensor_cores.h"
#include "test/kernels/conv/random_problem.h"
#include "test/kernels/nn/elements.h"
#include "test/kernels/nn/on_each_device.h"

namespace nervanagpu {
namespace {

using conv_detail::by_cells::Cells;
using conv_detail::by_cells::cells_of;
using conv_detail::by_cells::Flat;
using conv_detail::by_cells::of_pixels;
using test::ConvCase;

void set_types(ConvProblem& p, Dtype type) {
  p.x_type = p.w_type = p.y_type = type;
}

// Small layers that are faster by cells: of a video, and of images.
ConvProblem video() {
  ConvProblem p;
  p.n = 2, p.c = 3, p.k = 32, p.in = {8, 16, 16}, p.filter = {5, 5, 5}, p.pad = {2, 2, 2};
  set_types(p, Dtype::float16);
  return p;
}
ConvProblem image() {
  ConvProblem p;
  p.n = 4, p.c = 1, p.k = 64, p.in = {1, 40, 40}, p.filter = {1, 11, 11}, p.pad = {0, 5, 5};
  set_types(p, Dtype::float16);
  return p;
}

// The launches that make cells, by the first words of their names: one before the product, one after.
std::vector<std::string> launched(const ConvCase& c, const ConvPointers& at = {}) {
  std::vector<std::string> out;
  const ConvPlan plan(c.pass, c.p, at, c.options);
  for (const std::string& k : plan.kernels()) {
    if (k == "cell_filters" || k.starts_with("pixels_")) out.push_back(k.substr(0, k.find('_')));
  }
  return out;
}
const std::vector<std::string> kBoth = {"cell", "pixels"};
const std::vector<std::string> kNone;

class PixelCellsTest : public test::OnTensorCores {
 protected:
  int pick(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }
  [[nodiscard]] bool there() const { return !kernels_of("cell_filters").empty(); }

  // In one to three dimensions, of sides that are no multiples of a cell's.
  ConvCase draw() {
    constexpr Layout kLayouts[] = {Layout::channels_last, Layout::channels_last, Layout::batch_last,
                                   Layout::channels_first};
    for (;;) {
      ConvCase c;
      c.pass = ConvPass::bprop;
      ConvProblem& p = c.p;
      p.layout = kLayouts[pick(0, 3)];
      set_types(p, pick(0, 1) == 0 ? Dtype::float16 : Dtype::bfloat16);
      p.n = pick(1, 3), p.c = pick(1, pick(0, 2) == 0 ? 7 : 4), p.k = pick(0, 1) == 0 ? pick(1, 33) : 8 * pick(1, 9);
      for (std::size_t axis = pick(0, 2); axis < 3; ++axis) {
        p.filter[axis] = pick(1, axis == 0 ? 3 : 5);
        p.in[axis] = pick(1, axis == 0 ? 4 : 19);
        if (pick(0, 3) == 0) p.dilation[axis] = pick(2, 3);
        // Also more than the filter reaches.
        p.pad[axis] = pick(0, static_cast<int>(p.dilation[axis] * (p.filter[axis] - 1)) + (axis == 0 ? 0 : 3));
      }
      const auto reaches = [&](std::size_t axis) {
        return p.in[axis] + 2 * p.pad[axis] > p.dilation[axis] * (p.filter[axis] - 1);
      };
      if (!reaches(0) || !reaches(1) || !reaches(2)) continue;
      if (pick(0, 3) == 0) test::choose_pitches(random_, p);
      const std::vector<Cells> all = of_pixels(p);
      if (all.empty()) continue;
      const Cells& one = all[static_cast<std::size_t>(pick(0, static_cast<int>(all.size()) - 1))];
      c.forced.kernel = "_bycells_" + std::to_string(one.step[0]) + "_" + std::to_string(one.step[1]);
      c.options.alpha = pick(0, 1) == 0 ? 1.0F : -2.0F;
      ConvPointers at;
      at.in1 = 256 + 2 * static_cast<std::uint64_t>(c.shift = pick(0, 3));
      if (!conv_detail::by_cells::fits(one, p, at, {}, true)) c.shift = 0;
      return c;
    }
  }
};
NG_ON_EACH_DEVICE(PixelCellsTest);

TEST_P(PixelCellsTest, ExactIntegersOfAllSides) {
  if (!there()) GTEST_SKIP();
  std::set<std::string> sides;
  std::set<std::int64_t> channels;
  std::set<Layout> layouts;
  int deep = 0, dilated = 0, beyond = 0, cut = 0;
  for (int i = 0; i < drawn(200, 12); ++i) {
    const ConvCase c = draw();
    const ConvProblem& p = c.p;
    const Cells cells = conv_detail::by_cells::named(p, c.forced).value();
    sides.insert(c.forced.kernel), channels.insert(p.c), layouts.insert(p.layout);
    deep += p.in[0] > 1 ? 1 : 0;
    dilated += p.dilation != std::array<std::int64_t, 3>{1, 1, 1} ? 1 : 0;
    beyond += p.pad[1] > p.dilation[1] * (p.filter[1] - 1) || p.pad[2] > p.dilation[2] * (p.filter[2] - 1) ? 1 : 0;
    cut += p.in[1] % cells.step[0] != 0 || p.in[2] % cells.step[1] != 0 ? 1 : 0;
    ASSERT_EQ(test::judge(device_, random_, c), "") << i;
  }
  if (checked()) return;
  EXPECT_EQ(sides.size(), 8U);
  EXPECT_EQ(channels.size(), 7U);
  EXPECT_EQ(layouts.size(), 3U);
  for (const int seen : {deep, dilated, beyond, cut}) EXPECT_GT(seen, test::drawn(10));
}

TEST_P(PixelCellsTest, TheModelTakesThem) {
  if (checked() && !there()) GTEST_SKIP();
  for (const ConvProblem& layer : {video(), image()}) {
    const auto cells = cells_of(ConvPass::bprop, layer);
    ASSERT_TRUE(cells.has_value());
    EXPECT_EQ(cells->pass, ConvPass::fprop);
    EXPECT_EQ(cells->problem.stride, (std::array<std::int64_t, 3>{1, cells->step[0], cells->step[1]}));
    ConvCase c;
    c.pass = ConvPass::bprop, c.p = layer, c.size = 1;
    EXPECT_EQ(launched(c), there() ? kBoth : kNone);
    if (!there()) continue;  // conv.sass, which conv_test.cpp judges
    ASSERT_EQ(test::judge(device_, random_, c), "");
  }
  if (checked() || !there()) return;
  ConvCase c;
  c.pass = ConvPass::bprop, c.p = video(), c.size = 1;
  set_types(c.p, Dtype::bfloat16);
  for (const Layout layout : {Layout::channels_last, Layout::batch_last, Layout::channels_first}) {
    c.p.layout = layout;
    EXPECT_EQ(launched(c), kBoth);
    ASSERT_EQ(test::judge(device_, random_, c), "");
  }
}

// What the copy after does not know, operands that the copy engine cannot read, and multiply-adds.
TEST_P(PixelCellsTest, LeftAsTheyAre) {
  if (checked() || !there()) GTEST_SKIP();
  ConvCase as_it_is;
  as_it_is.pass = ConvPass::bprop, as_it_is.p = image(), as_it_is.p.n = 2, as_it_is.size = 1;
  ASSERT_EQ(launched(as_it_is), kBoth);
  ConvCase c = as_it_is;
  c.options.beta = 1;
  EXPECT_EQ(launched(c), kNone);
  ASSERT_EQ(test::judge(device_, random_, c), "");
  c = as_it_is;
  c.options.rounding = {true, random_(), random_(), 0};
  EXPECT_EQ(launched(c), kNone);
  ASSERT_EQ(test::judge(device_, random_, c), "");
  c = as_it_is;
  c.options.tensor_cores = false;
  EXPECT_EQ(launched(c), kNone);
  ASSERT_EQ(test::judge(device_, random_, c), "");
  c = as_it_is;
  c.shift = 1;
  EXPECT_EQ(launched(c, {.in1 = 2}), kNone);
  ASSERT_EQ(test::judge(device_, random_, c), "");
}

// Whether the plan is new or kept, and wherever the operands lie.
TEST_P(PixelCellsTest, TheSameBitsAgain) {
  if (checked() || !there()) GTEST_SKIP();
  ConvCase c;
  c.pass = ConvPass::bprop, c.p = image();
  const Bits dy = numbers(c.p.y_elements(), c.p.y_type);
  const Bits w = numbers(c.p.w_elements(), c.p.w_type);
  const Bits first = test::run(device_, c, dy, w);
  for (int i = 0; i < 3; ++i) ASSERT_EQ(test::run(device_, c, dy, w), first);
  // Pixels of dx one by one: another copy follows.
  c.p.x_pitch = 3;
  ASSERT_EQ(test::run(device_, c, dy, w), first);
}

TEST_P(PixelCellsTest, BitsOfRelu) {
  if (checked()) GTEST_SKIP();
  ConvProblem p = video();
  if (!there()) p.n = 1, p.in = {3, 6, 7};  // by multiply-adds, whatever its size
  const Shape shape = {p.n, p.in[0], p.in[1], p.in[2], p.c};
  const Tensor dy = Tensor::ones({p.n, p.in[0], p.in[1], p.in[2], p.k}, Dtype::float16);
  const Tensor w = Tensor::ones({p.k, 5, 5, 5, p.c}, Dtype::float16);
  const Tensor mask = Tensor::from_host<std::uint32_t>(
      [&] {
        std::vector<std::uint32_t> bits(static_cast<std::size_t>(p.x_elements() / p.c));
        for (std::uint32_t& b : bits) b = random_() % 8;
        return bits;
      }(),
      {p.n, p.in[0], p.in[1], p.in[2], 1});
  const auto gradient = [&](const Tensor* bits) {
    Tensor dx = Tensor::empty(shape, Dtype::float16);
    ConvOptions options;
    options.mask = bits;
    conv_bprop(p, dy, w, dx, options);
    Tensor wide = Tensor::empty(shape);
    convert(dx, wide);
    return wide.to_host<float>();
  };
  const std::vector<float> all = gradient(nullptr);
  const std::vector<float> some = gradient(&mask);
  const std::vector<std::uint32_t> bits = mask.to_host<std::uint32_t>();
  const auto channels = static_cast<std::size_t>(p.c);
  for (std::size_t i = 0; i < all.size(); ++i) {
    ASSERT_GT(all[i], 0.0F);
    ASSERT_EQ(some[i], (bits[i / channels] >> i % channels & 1) != 0 ? all[i] : 0.0F) << i;
  }
}

// Zeros of moved filters make NaN in cells that meet an infinity, and nowhere else; multiply-adds have no such zeros.
TEST_P(PixelCellsTest, InfinitiesStayInTheirCells) {
  if (checked()) GTEST_SKIP();
  ConvProblem p = image();
  p.n = 2;
  const Flat step = cells_of(ConvPass::bprop, p).value().step;
  const Flat before = cells_of(ConvPass::bprop, p).value().before;
  const std::array<std::int64_t, 2> at = {17, 22};  // of the second image
  for (const bool on_tensor_cores : {false, true}) {
    if (on_tensor_cores && !there()) continue;  // the same kernel
    std::vector<float> one_infinite(static_cast<std::size_t>(p.y_elements()), 0.0F);
    one_infinite[static_cast<std::size_t>(((40 + at[0]) * 40 + at[1]) * p.k + 9)] =
        std::numeric_limits<float>::infinity();
    Tensor dy = Tensor::empty({p.n, 40, 40, p.k}, Dtype::float16);
    Tensor dx = Tensor::empty({p.n, 40, 40, 1}, Dtype::float16);
    convert(Tensor::from_host<float>(one_infinite, {p.n, 40, 40, p.k}), dy);
    ConvOptions options;
    options.tensor_cores = on_tensor_cores;
    conv_bprop(p, dy, Tensor::ones({p.k, 11, 11, 1}, Dtype::float16), dx, options);
    Tensor wide = Tensor::empty({p.n, 40, 40, 1});
    convert(dx, wide);
    const std::vector<float> got = wide.to_host<float>();
    std::int64_t not_met = 0;
    for (std::int64_t i = 0; i < p.n * 40 * 40; ++i) {
      const std::array<std::int64_t, 2> pixel = {i / 40 % 40, i % 40};
      bool met = i / 1600 == 1;
      bool beside = met;  // in the reach of the cell
      for (const std::size_t axis : {0U, 1U}) {
        const std::int64_t first = (pixel[axis] + before[axis]) / step[axis] * step[axis] - before[axis];
        met = met && std::abs(pixel[axis] - at[axis]) <= 5;
        beside = beside && at[axis] >= first - 5 && at[axis] < first + step[axis] + 5;
      }
      const float v = got[static_cast<std::size_t>(i)];
      if (met) {
        ASSERT_EQ(v, std::numeric_limits<float>::infinity()) << i;
      } else if (!on_tensor_cores || !there() || !beside) {
        ASSERT_EQ(v, 0.0F) << i;
      } else {
        ASSERT_NE(v, v) << i;
        ++not_met;
      }
    }
    EXPECT_EQ(not_met > 0, on_tensor_cores && there());
  }
}

TEST_P(PixelCellsTest, WhatHasNone) {
  ConvProblem p = image();
  EXPECT_EQ(of_pixels(p).size(), 8U);
  EXPECT_FALSE(cells_of(ConvPass::fprop, p).has_value());
  EXPECT_FALSE(cells_of(ConvPass::update, p).has_value());
  ConvProblem other = p;
  other.c = 8;
  EXPECT_TRUE(of_pixels(other).empty());
  other = p;
  other.c = 2, other.groups = 2;
  EXPECT_TRUE(of_pixels(other).empty());
  other = p;
  other.in[0] = 3, other.stride[0] = 2;
  EXPECT_TRUE(of_pixels(other).empty());
  other = p;
  other.stride[2] = 2;
  EXPECT_TRUE(of_pixels(other).empty());
  other = p;
  other.dilation = {1, 2, 2};
  EXPECT_TRUE(of_pixels(other).empty());
  other.dilation = {1, 2, 1};  // along lines, which cells of one line have
  EXPECT_EQ(of_pixels(other).size(), 3U);
  other = p;
  set_types(other, Dtype::float32);
  EXPECT_TRUE(of_pixels(other).empty());
  other = p;
  other.n = 1, other.in = {1, 8, 8}, other.filter = {1, 3, 3}, other.pad = {0, 1, 1};  // two launches more are its time
  EXPECT_FALSE(of_pixels(other).empty());
  EXPECT_FALSE(cells_of(ConvPass::bprop, other).has_value());
}

}  // namespace
}  // namespace nervanagpu
