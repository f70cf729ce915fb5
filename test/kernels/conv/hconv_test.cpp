// hconv.sass by itself: its variants, its order of sums, and which convolutions reach it.
#include <gtest/gtest.h>

#include <array>
#include <random>
#include <string>
#include <vector>

#include "kernels/conv/bytes.h"
#include "kernels/conv/pass/pass.h"
#include "kernels/conv/problem_facts.h"
#include "kernels/conv/tensor_cores.h"
#include "nervanagpu/conv_plan.hpp"
#include "nervanagpu/gemm.hpp"
#include "src/ceil_div.h"
#include "test/kernels/conv/conv_case.h"
#include "test/kernels/conv/on_tensor_cores.h"
#include "test/kernels/conv/random_problem.h"
#include "test/kernels/nn/elements.h"
#include "test/kernels/nn/on_each_device.h"

namespace nervanagpu {
namespace {

using test::ConvCase;
using Bits = std::vector<std::uint32_t>;

class HconvTest : public test::OnTensorCores {
 protected:
  [[nodiscard]] std::vector<const Kernel*> kernels() const { return kernels_of("hconv"); }

  // Several tiles, none full, and two parts of the sums where the kernel stores float32.
  [[nodiscard]] ConvCase case_of(const Kernel& k) const {
    const auto& variant = k.manifest().variant;
    ConvCase c;
    const std::string& pass = variant.at("PASS");
    const bool half_blocks = pass == "h";
    c.pass = pass == "f" || half_blocks ? ConvPass::fprop : pass == "u" ? ConvPass::update : ConvPass::bprop;
    const bool bytes = of_bytes(k);
    take_types(k, c);
    c.p.n = 3, c.p.in = {1, 7, 9}, c.p.filter = {1, 3, 2}, c.p.pad = {0, 1, 1};
    if (pass == "c") c.p.in = {1, 13, 16}, c.p.stride = {1, 2, 2};
    const std::int64_t wide = k.number("BN") + 8;
    c.p.c = half_blocks ? 96 : c.pass == ConvPass::fprop ? (bytes ? 144 : 72) : c.pass == ConvPass::bprop ? wide : 64;
    c.p.k = c.pass == ConvPass::fprop ? wide : c.pass == ConvPass::bprop ? 72 : 136;
    c.forced.kernel = (half_blocks ? "_h" : "") + k.name().substr(k.name().rfind('_'));
    c.forced.splits = variant.at("YT") == "f32" && !bytes ? 2 : 1;
    return c;
  }
  static void set_bytes(ConvCase& c, Dtype x) {
    c.p.x_type = x, c.p.w_type = Dtype::int8, c.p.y_type = c.bias_type = Dtype::int32;
    c.size = 127;
  }
};
NG_ON_EACH_DEVICE(HconvTest);

TEST_P(HconvTest, EveryVariant) {
  for (const Kernel* k : kernels()) {
    ConvCase c = case_of(*k);
    const bool bytes = c.p.w_type == Dtype::int8;
    if (checked() || bytes) c.p.n = 1;
    ASSERT_EQ(judge_form(*k, c), "") << k->name();
    if (checked()) continue;
    if (c.p.y_type == Dtype::int32) c.forced.splits = 3;
    c.options.beta = -1.0F;
    c.options.alpha *= 2.0F;
    c.options.relu = c.bias = c.pass == ConvPass::fprop;
    c.scale = bytes && c.p.y_type != Dtype::int32;
    ASSERT_EQ(judge_form(*k, c), "") << k->name();
    if (c.pass != ConvPass::fprop || c.p.y_type == Dtype::int32) continue;
    c.options.relu = false;
    c.options.activation = GemmActivation::clip;
    c.options.clip_low = -3, c.options.clip_high = 11;
    ASSERT_EQ(judge_form(*k, c), "") << k->name();
  }
}

// Results that lie in classes are stored in their places: nothing is copied, in one to three dimensions, of groups, of slices.
TEST_P(HconvTest, ClassesNeedNoWorkspace) {
  if (kernels().empty()) return;
  int classes = 0;
  for (int turn = 0; turn < (checked() ? 4 : 12); ++turn) {
    ConvCase c;
    c.pass = ConvPass::bprop;
    c.p.x_type = c.p.w_type = c.p.y_type = turn % 2 == 0 ? Dtype::float16 : Dtype::bfloat16;
    c.p.n = 3, c.p.in = {1, 9, 10}, c.p.filter = {1, 3, 3}, c.p.pad = {0, 1, 1}, c.p.stride = {1, 2, 2};
    // A class has less than eight blocks, and so one part.
    if (turn % 4 == 1) c.p.in = {5, 6, 4}, c.p.filter = {2, 3, 3}, c.p.pad = {1, 1, 1}, c.p.stride = {2, 1, 2};
    if (turn % 4 == 2) c.p.in = {1, 1, 33}, c.p.filter = {1, 1, 4}, c.p.pad = {0, 0, 2}, c.p.stride = {1, 1, 4};
    c.p.c = c.p.k = 64;
    c.p.groups = turn % 4 == 3 ? 2 : 1;
    c.p.x_pitch = turn > 7 ? 80 : 0;
    c.options.beta = turn % 3 == 0 ? 1.0F : 0.0F;
    c.size = 1;
    ASSERT_EQ(test::judge(device_, random_, c), "") << turn;
    if (c.p.groups == 1 && c.p.x_pitch == 0 && !conv_detail::known(c.pass, c.p).by_cells) {
      ++classes;
      EXPECT_EQ(ConvPlan(c.pass, c.p).workspace(), 0U) << turn;
    }
  }
  EXPECT_GT(classes, 0);
}

// Whichever tile computes them.
TEST_P(HconvTest, EveryVariantGivesTheSameBits) {
  if (checked()) return;
  expect_the_same_bits(kernels(), 5, [&](const Kernel& k) {
    ConvCase c = case_of(k);
    if (k.manifest().variant.at("PASS") != "h") c.p.c = c.size == 1 ? 64 : 128;
    c.p.k = 72;
    return c;
  });
}

// The class "tensor": the bits are those of a product of the gathered matrix, 64 channels outside, taps inside.
TEST_P(HconvTest, SumsAreThoseOfTheGatheredProduct) {
  if (checked() || kernels().empty()) return;
  constexpr std::int64_t kBlock = 64;
  ConvCase c;
  c.p.n = 2, c.p.c = 136, c.p.k = 40, c.p.in = {1, 6, 5}, c.p.filter = {1, 2, 3}, c.p.pad = {0, 1, 1};
  c.p.stride = {1, 1, 2}, c.p.dilation = {1, 2, 1};
  c.forced.kernel = "_128x64x1";
  const std::int64_t taps = c.p.filter[1] * c.p.filter[2];
  const std::int64_t depth = ceil_div(c.p.c, kBlock) * taps * kBlock;
  const auto l_of = [&](std::int64_t line, std::int64_t column, std::int64_t channel) {
    return (channel / kBlock * taps + line * c.p.filter[2] + column) * kBlock + channel % kBlock;
  };
  expect_the_gathered_product(c, depth, l_of);
}

// PASS h: all taps outside, their channels inside. An odd number of half blocks ends with zeros.
TEST_P(HconvTest, SumsOfHalfBlocksAreThoseOfTheGatheredProduct) {
  if (checked() || kernels().empty()) return;
  ConvCase c;
  c.p.n = 2, c.p.c = 96, c.p.k = 40, c.p.in = {1, 6, 5}, c.p.filter = {1, 3, 3}, c.p.pad = {0, 1, 1};
  c.p.stride = {1, 1, 2}, c.p.dilation = {1, 2, 1};
  c.forced.kernel = "_h_128x64x1";
  constexpr std::int64_t kBlock = 64;
  const std::int64_t depth = ceil_div(c.p.c * c.p.filter[1] * c.p.filter[2], kBlock) * kBlock;
  const auto l_of = [&](std::int64_t line, std::int64_t column, std::int64_t channel) {
    return (line * c.p.filter[2] + column) * c.p.c + channel;
  };
  expect_the_gathered_product(c, depth, l_of);
}

// Whose blocks are padded with zeros that meet no element of x: an infinity reaches what its window reaches.
TEST_P(HconvTest, HalfBlocksOfInfinitiesAndNaN) {
  if (checked() || kernels().empty()) return;
  constexpr std::uint32_t kInfinity = 0x7c00, kNaN = 0x7e01;
  for (const ConvPass pass : {ConvPass::fprop, ConvPass::bprop}) {
    ConvCase c;
    c.pass = pass;
    c.p.x_type = c.p.w_type = c.p.y_type = Dtype::float16;
    c.p.n = 3, c.p.c = c.p.k = 32, c.p.in = {1, 9, 7}, c.p.filter = {1, 3, 3}, c.p.pad = {0, 1, 1};
    const bool forward = pass == ConvPass::fprop;
    Bits gathered(static_cast<std::size_t>(forward ? c.p.x_elements() : c.p.y_elements()));
    Bits w(static_cast<std::size_t>(c.p.w_elements()));
    std::mt19937 random(7);
    constexpr std::array<std::uint32_t, 3> kSmall = {0xbc00, 0, 0x3c00};  // -1, 0, 1: exact in any order
    for (auto& v : gathered) v = kSmall[random() % kSmall.size()];
    for (auto& v : w) v = kSmall[random() % kSmall.size()];
    for (const std::size_t at : {std::size_t{0}, std::size_t{777}, gathered.size() - 1}) gathered[at] = kInfinity;
    gathered[gathered.size() / 2] = kNaN;
    w[5] = kInfinity;
    c.forced.kernel = "_128x64x1";
    c.forced.splits = 1;
    const Bits blocks = test::run(device_, c, gathered, w);
    c.forced.kernel = "_h_128x64x1";
    EXPECT_EQ(test::run(device_, c, gathered, w), blocks) << (forward ? "fprop" : "bprop");
    EXPECT_TRUE(std::ranges::any_of(blocks, [](std::uint32_t v) { return (v & 0x7fff) > kInfinity; }));
    EXPECT_TRUE(std::ranges::any_of(blocks, [](std::uint32_t v) { return (v & 0x7fff) < kInfinity; }));
  }
}

// Corners of what the maps say: steps of taps beyond 127, in both directions; depth that is padding alone, of which one
// position is computed; steps that nobody makes.
TEST_P(HconvTest, FarTapsAndPaddedDepth) {
  struct Corner {
    std::array<std::int64_t, 3> in, filter, pad, stride, dilation;
    std::int64_t c, k;
  };
  const Corner corners[] = {
      {{1, 136, 1}, {1, 2, 1}, {0, 0, 0}, {1, 1, 1}, {1, 128, 1}, 16, 8},
      {{1, 70, 3}, {1, 3, 2}, {0, 100, 1}, {1, 3, 1}, {1, 127, 1}, 9, 5},
      {{1, 1, 140}, {1, 1, 2}, {0, 0, 64}, {1, 1, 1}, {1, 1, 255}, 8, 8},
      {{1, 4, 5}, {1, 3, 1}, {1, 1, 0}, {3, 1, 1}, {1, 1, 1}, 8, 8},
      {{1, 4, 5}, {1, 2, 2}, {2, 0, 1}, {9, 1, 2}, {1, 1, 1}, 3, 8},
      {{1, 4, 5}, {1, 2, 2}, {17, 0, 1}, {40, 1, 2}, {1, 1, 1}, 8, 8},
      {{2, 3, 1}, {1, 2, 1}, {0, 0, 0}, {1, 1, 1 << 26}, {1, 1, 1}, 8, 8},
  };
  for (const Corner& corner : corners) {
    for (const Dtype type : {Dtype::float16, Dtype::bfloat16, Dtype::int8, Dtype::uint8}) {
      for (const ConvPass pass : {ConvPass::fprop, ConvPass::bprop, ConvPass::update}) {
        const bool bytes = size_of(type) == 1;
        if (bytes && pass != ConvPass::fprop) continue;
        ConvCase c;
        c.pass = pass;
        c.p.n = checked() ? 1 : 2, c.p.c = corner.c, c.p.k = corner.k, c.p.in = corner.in, c.p.filter = corner.filter;
        c.p.pad = corner.pad, c.p.stride = corner.stride, c.p.dilation = corner.dilation;
        c.p.x_type = c.p.w_type = c.p.y_type = type;
        c.size = 1;
        if (bytes) set_bytes(c, type);
        ASSERT_EQ(test::judge(device_, random_, c), "");
      }
    }
  }
}

// Bytes of 8 channels or more: as they lie where pixels are multiples of 16, else by way of a copy. Of fewer where the copy
// engine's zeros cost less than chains of multiply-adds.
TEST_P(HconvTest, BytesReachTheTensorCores) {
  if (kernels().empty()) GTEST_SKIP();
  struct Row {
    std::int64_t c, k, groups;
    Layout layout;
    std::size_t launches;  // 0: of conv.sass
  };
  const Row rows[] = {
      {64, 40, 1, Layout::channels_last, 1},  {80, 7, 1, Layout::channels_last, 1},
      {24, 40, 1, Layout::channels_last, 3},  {9, 40, 1, Layout::channels_last, 3},
      {32, 40, 1, Layout::channels_first, 4}, {32, 40, 1, Layout::batch_last, 4},
      {64, 40, 2, Layout::channels_last, 2},  {48, 40, 2, Layout::channels_last, 2},
      {1, 16, 1, Layout::channels_last, 0},
  };
  for (const Row& row : rows) {
    for (const Dtype x : {Dtype::int8, Dtype::uint8}) {
      ConvCase c;
      c.p.n = 2, c.p.c = row.c, c.p.k = row.k, c.p.groups = row.groups, c.p.layout = row.layout;
      c.p.in = {1, 6, 7}, c.p.filter = {1, 3, 3}, c.p.pad = {0, 1, 1};
      set_bytes(c, x);
      c.bias = c.options.relu = true;
      c.options.alpha = -3, c.options.beta = 2;
      ASSERT_EQ(test::judge(device_, random_, c), "");
      const ConvPlan plan(ConvPass::fprop, c.p);
      std::size_t on_tensor_cores = 0;
      std::size_t launches = 0;  // but of what adds parts of the sums up
      for (const std::string& k : plan.kernels()) {
        on_tensor_cores += k.starts_with("hconv_f_") || k.starts_with("halo_f_") || k.starts_with("resident_") ? 1 : 0;
        launches += k.starts_with("split_sum_") ? 0 : 1;
      }
      EXPECT_EQ(on_tensor_cores, row.launches == 0 ? 0U : 1U) << row.c;
      EXPECT_TRUE(row.launches == 0 || launches == row.launches) << row.c << " " << row.k;
    }
  }
}

// First layers of bytes are cells of float16 where those are exact, whatever the layout and wherever x begins.
TEST_P(HconvTest, FirstLayersOfBytesAreCells) {
  if (kernels().empty()) GTEST_SKIP();
  struct Row {
    std::int64_t c, side, k, size, stride;
  };
  for (const Row& row : {Row{3, 19, 64, 11, 4}, Row{3, 18, 40, 7, 2}, Row{3, 12, 100, 3, 1}, Row{16, 9, 32, 5, 1}}) {
    for (const Dtype x : {Dtype::int8, Dtype::uint8}) {
      for (const Layout layout : {Layout::channels_last, Layout::channels_first, Layout::batch_last}) {
        ConvCase c;
        c.p.n = 2, c.p.c = row.c, c.p.k = row.k, c.p.layout = layout;
        c.p.in = {1, row.side, row.side + 1}, c.p.filter = {1, row.size, row.size};
        c.p.stride = {1, row.stride, row.stride}, c.p.pad = {0, 1, 2};
        set_bytes(c, x);
        c.size = 128;  // the largest there are
        c.forced.kernel =
            "_cells_resident_" + std::string(row.stride == 4 ? "128" : "32") + "_128x" + (row.k > 64 ? "128" : "64");
        ASSERT_EQ(test::judge(device_, random_, c), "");
        c.bias = c.options.relu = true;
        c.options.alpha = -3, c.options.beta = 2;
        ASSERT_EQ(test::judge(device_, random_, c), "");
        if (checked()) break;
      }
    }
  }
  // The library's own choice, of problems that are worth it; sums beyond 2^24 stay with the bytes.
  ConvProblem p;
  p.n = 64, p.c = 3, p.k = 64, p.in = {1, 112, 112}, p.filter = {1, 7, 7}, p.stride = {1, 2, 2};
  p.x_type = Dtype::uint8, p.w_type = Dtype::int8, p.y_type = Dtype::int32;
  const auto in_cells = [&] {
    const ConvPlan plan(ConvPass::fprop, p);
    const auto& kernels = plan.kernels();
    return kernels.size() == 3 && kernels[0] == "cells_u8" && kernels[1] == "cells_s8" &&
           kernels[2].starts_with("resident_f16_s32_");
  };
  EXPECT_TRUE(in_cells());
  p.filter = {1, 13, 13};  // 507 products
  EXPECT_TRUE(conv_detail::bytes::exact_in_float16(p));
  p.filter = {1, 13, 14};
  EXPECT_FALSE(conv_detail::bytes::exact_in_float16(p));
  EXPECT_FALSE(in_cells());
  if (checked()) return;
  p.n = 1, p.k = 16, p.in = {1, 17, 17}, p.filter = {1, 13, 13}, p.stride = {1, 4, 4};  // the largest sum of all
  Tensor x = Tensor::empty({1, 17, 17, 3}, Dtype::uint8), w = Tensor::empty({16, 13, 13, 3}, Dtype::int8);
  x.fill(255), w.fill(-128);
  const Tensor y = Tensor::empty({1, 2, 2, 16}, Dtype::int32);
  ConvPointers at;
  at.in1 = x.address(), at.in2 = w.address(), at.out = y.address();
  conv_detail::Forced forced;
  forced.kernel = "_cells_128x64";
  const std::size_t bytes = conv_detail::tensor_cores::workspace(ConvPass::fprop, p, forced);
  const Tensor workspace = Tensor::empty({static_cast<std::int64_t>(bytes)}, Dtype::uint8);
  at.workspace = workspace.address();
  conv_detail::tensor_cores::queue(device_, ConvPass::fprop, p, at, {}, {}, forced);
  for (const std::int32_t v : y.to_host<std::int32_t>()) EXPECT_EQ(v, -507 * 255 * 128);
}

// Integers go around, alpha and beta too.
TEST_P(HconvTest, SumsOfBytesAreModulo2To32) {
  if (kernels().empty()) GTEST_SKIP();
  ConvProblem p;
  p.c = 1024, p.k = 8;
  p.x_type = Dtype::uint8, p.w_type = Dtype::int8, p.y_type = Dtype::int32;
  const auto filled = [](const Shape& shape, Dtype type, double value) {
    Tensor t = Tensor::empty(shape, type);
    t.fill(value);
    return t;
  };
  const Tensor x = filled({1, 1, 1, 1024}, Dtype::uint8, 255), w = filled({8, 1, 1, 1024}, Dtype::int8, -128);
  Tensor y = filled({1, 1, 1, 8}, Dtype::int32, 1 << 30);
  ConvOptions options;
  options.alpha = 1000, options.beta = 3;
  conv_fprop(p, x, w, y, options);
  const std::int64_t exact = 1000 * (std::int64_t{1024} * 255 * -128) + 3 * (std::int64_t{1} << 30);
  for (const std::int32_t v : y.to_host<std::int32_t>()) EXPECT_EQ(v, static_cast<std::int32_t>(exact));
}

// A ReLU's bits cost no launch, forward or backward.
TEST_P(HconvTest, BitsOfReluAreTheEpilogues) {
  if (kernels().empty()) GTEST_SKIP();
  ConvProblem p;
  p.n = 2, p.c = 64, p.k = 96, p.in = {1, 12, 12};  // two blocks at most: nothing to split
  p.x_type = p.w_type = p.y_type = Dtype::float16;
  const Tensor x = Tensor::zeros({2, 12, 12, 64}, Dtype::float16);
  const Tensor w = Tensor::zeros({96, 1, 1, 64}, Dtype::float16);
  const Tensor of_x = Tensor::zeros({2, 12, 12, 2}, Dtype::uint32);
  const Tensor of_y = Tensor::zeros({2, 12, 12, 3}, Dtype::uint32);
  Tensor y = Tensor::zeros({2, 12, 12, 96}, Dtype::float16);
  Tensor dx = Tensor::zeros({2, 12, 12, 64}, Dtype::float16);
  const auto launches = [&](const Tensor* forward, const Tensor* backward) {
    const std::uint64_t before = kernels_launched;
    ConvOptions options;
    options.mask = backward;
    conv_bprop(p, y, w, dx, options);
    options.relu = true;
    options.mask = forward;
    conv_fprop(p, x, w, y, options);
    return kernels_launched - before;
  };
  EXPECT_EQ(launches(nullptr, nullptr), 2U);
  EXPECT_EQ(launches(&of_y, &of_x), 2U);
}

// Large images with few channels are not unfolded, whose windows would take more memory than there is; nor does a count of
// bytes overflow.
TEST(TensorCores, WorkspaceOfLargeImages) {
  ConvProblem p;
  p.x_type = p.w_type = p.y_type = Dtype::float16;
  p.n = 8, p.c = 1, p.k = 8, p.in = {1, 1, 1 << 24}, p.filter = {1, 1, 256};
  const std::size_t tensors = 2 * static_cast<std::size_t>(p.x_elements() + p.w_elements() + p.y_elements());
  for (const ConvPass pass : {ConvPass::fprop, ConvPass::update}) EXPECT_LT(conv_workspace(pass, p), 4 * tensors);
  constexpr std::int64_t kFar = 1 << 27;
  p.n = 64, p.k = 1, p.in = p.filter = {1, 1, 1}, p.pad = {0, kFar, kFar}, p.stride = {1, kFar, kFar};
  for (const ConvPass pass : {ConvPass::fprop, ConvPass::update}) EXPECT_LT(conv_workspace(pass, p), 1U << 20);
}

// The layers of networks, and less common ones, are not left to conv.sass.
TEST(TensorCores, TakeLayers) {
  struct Layer {
    std::int64_t c, k, in, filter, stride, pad, dilation, groups;
  };
  const Layer layers[] = {
      {3, 64, 224, 11, 4, 2, 1, 1},     {3, 64, 224, 3, 1, 1, 1, 1},   {3, 64, 224, 7, 2, 3, 1, 1},
      {64, 192, 27, 5, 1, 2, 1, 1},     {512, 512, 14, 3, 1, 1, 1, 1}, {832, 384, 7, 1, 1, 0, 1, 1},
      {256, 512, 56, 1, 2, 0, 1, 1},    {128, 128, 56, 3, 2, 1, 1, 1}, {512, 512, 28, 3, 1, 4, 4, 1},
      {2048, 256, 65, 3, 1, 36, 36, 1}, {96, 256, 27, 5, 1, 2, 1, 2},  {63, 65, 17, 3, 1, 1, 1, 1},
  };
  for (const Dtype type : {Dtype::float16, Dtype::bfloat16}) {
    for (const Layer& l : layers) {
      ConvProblem p;
      p.n = 32, p.c = l.c, p.k = l.k, p.groups = l.groups;
      p.in = {1, l.in, l.in}, p.filter = {1, l.filter, l.filter};
      p.stride = {1, l.stride, l.stride}, p.pad = {0, l.pad, l.pad}, p.dilation = {1, l.dilation, l.dilation};
      p.x_type = p.w_type = p.y_type = type;
      for (const ConvPass pass : {ConvPass::fprop, ConvPass::bprop, ConvPass::update}) {
        EXPECT_TRUE(conv_detail::tensor_cores::takes(pass, p)) << test::text_of(pass, p);
      }
    }
  }
}

// Which kernels a pass has, and so its bits and its workspace, does not depend on what is done to the sums.
TEST(TensorCores, EpiloguesChangeNoKernels) {
  std::mt19937 random(11);
  const auto pick = [&](auto... v) {
    const std::array all = {std::int64_t{v}...};
    return all[random() % all.size()];
  };
  const auto kernels = [](ConvPass pass, const ConvProblem& p, float beta, GemmActivation activation) {
    conv_detail::Epilogue e;
    e.beta = beta;
    e.activation = activation;
    std::vector<conv_detail::tensor_cores::Modelled> models;
    conv_detail::tensor_cores::Pass counted(nullptr, pass, p, {}, e, {}, {});
    counted.run(&models);
    std::string out = std::to_string(counted.workspace());
    for (const auto& m : models)
      if (m.kernel != "copy") out += " " + m.kernel.substr(0, m.kernel.rfind('_')) + "/" + std::to_string(m.splits);
    return out;
  };
  int seen = 0;
  for (int i = 0; i < 1500; ++i) {
    ConvProblem p;
    p.n = pick(1, 2, 8, 32), p.c = pick(16, 32, 64, 72, 96, 160, 256), p.k = pick(16, 32, 64, 96, 128, 160, 288);
    const std::int64_t side = pick(7, 8, 14, 15, 28, 33), filter = pick(1, 2, 3, 3, 5), stride = pick(1, 1, 2, 3);
    p.in = {1, side, side}, p.filter = {1, filter, filter}, p.stride = {1, stride, stride};
    p.pad = {0, filter / 2, filter / 2};
    if (i % 4 == 0) p.in[0] = 6, p.filter[0] = 3, p.pad[0] = 1;
    p.x_type = p.w_type = p.y_type = Dtype::float16;
    for (const ConvPass pass : {ConvPass::fprop, ConvPass::bprop}) {
      if (!conv_detail::tensor_cores::takes(pass, p)) continue;
      const std::string plain = kernels(pass, p, 0, GemmActivation::none);
      if (pass == ConvPass::fprop) {
        EXPECT_EQ(kernels(pass, p, 0, GemmActivation::gelu), plain) << test::text_of(pass, p);
      }
      // Positions without a tap, and those side by side, are copied with beta.
      EXPECT_EQ(kernels(pass, p, 1, GemmActivation::none), plain) << test::text_of(pass, p);
      ++seen;
      if (HasFailure()) return;
    }
  }
  EXPECT_GT(seen, 1000);
}

}  // namespace
}  // namespace nervanagpu
