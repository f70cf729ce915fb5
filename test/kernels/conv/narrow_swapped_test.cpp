// narrow_swapped.sass: every variant, its epilogue, edges, bits that are narrow.sass's, special values, and what stays narrow.sass's.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kernels/conv/narrow/narrow_swapped_choice.h"
#include "kernels/conv/tensor_cores.h"
#include "nervanagpu/conv_plan.hpp"
#include "test/kernels/conv/conv_case.h"
#include "test/kernels/conv/on_tensor_cores.h"
#include "test/kernels/conv/random_problem.h"
#include "test/kernels/nn/on_each_device.h"

namespace nervanagpu {
namespace {

using test::ConvCase;
using Bits = std::vector<std::uint32_t>;

class NarrowSwappedTest : public test::OnTensorCores {
 protected:
  // Several tiles along both sides and several images, edges of x and of y in the midst of tiles, filters past the last.
  [[nodiscard]] ConvCase case_of(const Kernel& k) const {
    ConvCase c;
    const std::int64_t row = k.number("ROW");
    take_types(k, c);
    c.p.n = checked() ? 1 : 3, c.p.c = 3, c.p.k = 40;
    c.p.filter = {1, 3, row == 32 ? 11 : 5}, c.p.pad = {0, 2, 3};
    c.p.stride = {1, 2, row / 8};
    c.p.in = {1, 43, 72};
    if (k.number("M") == 128) c.p.stride = {1, 1, 1};  // pairs
    const std::string tile = k.name().substr(k.name().rfind('_'));
    c.forced.kernel = "_narrowswapped_" + std::to_string(row) + tile;
    return c;
  }
  // Those whose results are not pooled: conv_pool_test.cpp has the others.
  [[nodiscard]] std::vector<const Kernel*> kernels() const {
    std::vector<const Kernel*> out = kernels_of("narrow_swapped");
    std::erase_if(out, [](const Kernel* k) { return k->manifest().variant.at("RESULT") == "pool"; });
    return out;
  }
  static std::string narrow_of(const Kernel& k) {
    return "_narrow_" + std::to_string(k.number("ROW")) + (k.number("M") == 128 ? "_128" : "_64");
  }
};
NG_ON_EACH_DEVICE(NarrowSwappedTest);

TEST_P(NarrowSwappedTest, EveryVariant) {
  for (const Kernel* k : kernels()) {
    ConvCase c = case_of(*k);
    const auto choice = conv_detail::narrow_swapped::choose(c.p, c.forced);
    ASSERT_TRUE(choice) << k->name();
    const auto load = conv_detail::narrow::load_of(c.p, *choice, 256);
    ASSERT_EQ(conv_detail::narrow_swapped::find(device_.registry(), c.p.x_type, load, *choice), k) << k->name();
    ASSERT_EQ(judge_form(*k, c), "") << k->name();
    if (checked()) continue;
    c.options.relu = true;
    ASSERT_EQ(judge_form(*k, c), "") << k->name();
    for (const Dtype type : {c.p.x_type, Dtype::float32}) {
      c.bias = true;
      c.bias_type = type;
      ASSERT_EQ(judge_form(*k, c), "") << k->name();
    }
    c.options.relu = false;
    ASSERT_EQ(judge_form(*k, c), "") << k->name();
  }
}

// Every number of steps, filters and lines of y up to what there is room for.
TEST_P(NarrowSwappedTest, EveryNumberOfSteps) {
  if (checked()) return;
  for (const Kernel* k : kernels()) {
    ConvCase c = case_of(*k);
    int done = 0;
    for (std::int64_t lines = 1; lines <= 16; ++lines) {
      for (std::int64_t width = 1; width <= 14; ++width) {
        c.p.n = 1, c.p.k = 8 * (1 + static_cast<std::int64_t>(random_() % 8));
        c.p.filter = {1, lines, width};
        c.p.in = {1, lines + static_cast<std::int64_t>(random_() % 40), 24};
        c.p.pad = {0, static_cast<std::int64_t>(random_()) % lines, static_cast<std::int64_t>(random_()) % width};
        c.p.stride[1] = 1 + static_cast<std::int64_t>(random_() % 3);
        if (k->number("M") == 128 && (c.p.in[2] + 2 * c.p.pad[2] - width + 1) % 2 != 0) continue;
        const auto choice = conv_detail::narrow_swapped::choose(c.p, c.forced);
        if (!choice || conv_detail::narrow::load_of(c.p, *choice, 256) != conv_detail::narrow::Load::boxes) continue;
        ++done;
        ASSERT_EQ(test::judge(device_, random_, c), "") << k->name() << ", steps " << choice->steps;
      }
    }
    EXPECT_GE(done, 20) << k->name();
  }
}

TEST_P(NarrowSwappedTest, BitsAreThoseOfNarrow) {
  if (checked()) return;
  for (const Kernel* k : kernels()) {
    ConvCase c = case_of(*k);
    c.p.k = 64;
    Bits x = numbers(c.p.x_elements(), c.p.x_type);
    const Bits w = numbers(c.p.w_elements(), c.p.x_type);
    for (int special = 0; special < 2; ++special) {
      if (special == 1) {
        for (std::size_t i = 0; i < x.size(); i += 997) x[i] = not_finite(c.p.x_type, i);
      }
      const Bits got = test::run(device_, c, x, w);
      ConvCase other = c;
      other.forced.kernel = narrow_of(*k);
      ASSERT_EQ(got, test::run(device_, other, x, w)) << k->name();
    }
  }
}

TEST_P(NarrowSwappedTest, RandomProblems) {
  if (kernels_of("narrow_swapped").empty()) return;
  int done = 0;
  for (int turn = 0; done < drawn(60, 4); ++turn) {
    ConvCase c;
    c.p = test::random_first_layer(random_, checked() ? 1500 : 20000, turn);
    c.pass = ConvPass::fprop;
    c.size = 1;
    c.p.k = 8 * ((c.p.k + 7) / 8), c.p.c = 3, c.p.in[2] = 8 * ((c.p.in[2] + 7) / 8);
    const auto choice = conv_detail::narrow_swapped::choose(c.p);
    if (!choice || !conv_detail::tensor_cores::takes(c.pass, c.p)) continue;
    c.forced.kernel = "_" + conv_detail::narrow_swapped::launched(*choice);
    ++done;
    test::choose_epilogue(random_, c);
    ASSERT_EQ(test::judge(device_, random_, c), "");
  }
}

// Filters that there is no room for are not its; nor are results that more is asked of than bias and relu.
TEST_P(NarrowSwappedTest, WhatIsNotItsOwn) {
  const auto possible = [](std::int64_t k, std::int64_t size, std::int64_t stride) {
    ConvProblem p;
    p.n = 128, p.c = 3, p.k = k, p.in = {1, 224, 224}, p.filter = {1, size, size}, p.stride = {1, stride, stride};
    p.x_type = p.w_type = p.y_type = Dtype::float16;
    return conv_detail::narrow_swapped::choose(p).has_value();
  };
  EXPECT_TRUE(possible(64, 7, 2));
  EXPECT_TRUE(possible(8, 11, 4));
  EXPECT_FALSE(possible(72, 7, 2));
  EXPECT_FALSE(possible(60, 7, 2));
  EXPECT_FALSE(possible(64, 9, 2));
  EXPECT_FALSE(possible(64, 13, 4));
  EXPECT_TRUE(possible(64, 3, 1));
  EXPECT_FALSE(possible(64, 7, 1));
  if (kernels_of("narrow_swapped").empty() || checked()) return;
  ConvProblem p;
  p.n = 128, p.c = 3, p.k = 64, p.in = {1, 224, 224}, p.filter = {1, 7, 7}, p.stride = {1, 2, 2}, p.pad = {0, 3, 3};
  p.x_type = p.w_type = p.y_type = Dtype::float16;
  const auto launched = [&](const ConvOptions& options) {
    return ConvPlan(ConvPass::fprop, p, {}, options).kernels().back();
  };
  ConvOptions options;
  EXPECT_TRUE(launched(options).starts_with("narrow_swapped_")) << launched(options);
  options.relu = true;
  EXPECT_TRUE(launched(options).starts_with("narrow_swapped_")) << launched(options);
  options.alpha = 2;
  EXPECT_FALSE(launched(options).starts_with("narrow_swapped_")) << launched(options);
}

}  // namespace
}  // namespace nervanagpu
