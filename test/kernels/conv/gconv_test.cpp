// gconv.sass by itself: its variants, its order of sums, and which convolutions reach it.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "kernels/conv/few_channels.h"
#include "kernels/conv/gather/gconv_choice.h"
#include "kernels/conv/tensor_cores.h"
#include "nervanagpu/gemm.hpp"
#include "test/kernels/conv/conv_case.h"
#include "test/kernels/conv/on_tensor_cores.h"
#include "test/kernels/conv/random_problem.h"
#include "test/kernels/nn/elements.h"
#include "test/kernels/nn/on_each_device.h"

namespace nervanagpu {
namespace {

using test::ConvCase;
using Bits = std::vector<std::uint32_t>;

class GconvTest : public test::OnTensorCores {
 protected:
  [[nodiscard]] std::vector<const Kernel*> kernels() const { return kernels_of("gconv"); }

  // Several tiles, none full, and two parts of the sums where the kernel stores float32.
  [[nodiscard]] ConvCase case_of(const Kernel& k) const {
    const auto& variant = k.manifest().variant;
    ConvCase c;
    c.pass = variant.at("PASS") == "f" ? ConvPass::fprop : ConvPass::update;
    c.p.x_type = c.p.w_type = c.p.y_type = variant.at("XT") == "f16" ? Dtype::float16 : Dtype::bfloat16;
    c.p.n = 3, c.p.in = {1, 7, 9}, c.p.filter = {1, 3, 2}, c.p.pad = {0, 1, 1}, c.p.stride = {1, 1, 2};
    c.p.c = k.number("V") == 1 ? 13 : k.number("V") == 4 ? 12 : 24;
    c.p.k = c.pass == ConvPass::fprop ? k.number("BN") + 8 : 136;
    c.forced.kernel = "_" + variant.at("V") + k.name().substr(k.name().rfind('_'));
    c.forced.splits = variant.at("YT") == "f32" ? 2 : 1;
    c.size = 1;
    return c;
  }
};
NG_ON_EACH_DEVICE(GconvTest);

TEST_P(GconvTest, EveryVariant) {
  for (const Kernel* k : kernels()) {
    ConvCase c = case_of(*k);
    if (checked()) c.p.n = 1;
    if (checked() && c.forced.splits == 2 && c.pass == ConvPass::update) c.p.n = 2;
    ASSERT_EQ(judge_form(*k, c), "") << k->name();
    if (checked()) continue;
    c.options.beta = -1.0F;
    c.options.alpha = 2.0F;
    c.options.relu = c.bias = c.pass == ConvPass::fprop;
    c.shift = k->number("V") == 1 && c.pass == ConvPass::fprop ? 1 : 0;
    ASSERT_EQ(judge_form(*k, c), "") << k->name();
  }
}

// Whatever the tile, and however many channels a load brings.
TEST_P(GconvTest, EveryVariantGivesTheSameBits) {
  if (checked()) return;
  expect_the_same_bits(kernels(), 9, [&](const Kernel& k) {
    ConvCase c = case_of(k);
    c.p.c = 16, c.p.k = 72;
    return c;
  });
}

// The class "tensor": the bits are those of a product of the gathered matrix, whose columns are taps with their channels.
TEST_P(GconvTest, SumsAreThoseOfTheGatheredProduct) {
  if (checked() || kernels().empty()) return;
  ConvCase c;
  c.p.n = 2, c.p.c = 5, c.p.k = 40, c.p.in = {1, 6, 5}, c.p.filter = {1, 4, 3}, c.p.pad = {0, 2, 1};
  c.p.stride = {1, 1, 2}, c.p.dilation = {1, 2, 1};
  c.forced.kernel = "_1_128x64";
  constexpr std::int64_t kDepth = 64;  // of taps and channels, which are 60
  const auto l_of = [&](std::int64_t line, std::int64_t column, std::int64_t channel) {
    return (line * c.p.filter[2] + column) * c.p.c + channel;
  };
  expect_the_gathered_product(c, kDepth, l_of);
}

// Every pass, layout and number of dimensions, with groups, dilation, epilogues and tensors that begin anywhere.
TEST_P(GconvTest, RandomProblems) {
  if (kernels().empty()) return;
  int gathered = 0;
  const int wanted = checked() ? 20 : 150;
  while (gathered < wanted) {
    ConvCase c;
    c.p = test::random_problem(random_, checked() ? 1500 : 8000);
    c.pass = static_cast<ConvPass>(gathered % 3);
    c.p.x_type = c.p.w_type = c.p.y_type = gathered % 2 == 0 ? Dtype::float16 : Dtype::bfloat16;
    c.size = 1;
    if (!conv_detail::gconv::gathers_rows(c.pass, c.p) || !conv_detail::tensor_cores::takes(c.pass, c.p)) continue;
    ++gathered;
    test::choose_epilogue(random_, c);
    ASSERT_EQ(test::judge(device_, random_, c), "");
  }
}

// What lies beyond the limits of the copy engine's columns, and at those of the table and of the taps' bits.
TEST_P(GconvTest, Limits) {
  if (kernels().empty()) return;
  struct Corner {
    std::array<std::int64_t, 3> in, filter, pad, stride, dilation;
    std::int64_t c, k;
    bool gathered;
  };
  const Corner corners[] = {
      {{1, 1, 700}, {1, 1, 2}, {0, 0, 300}, {1, 1, 9}, {1, 1, 600}, 3, 8, true},
      {{1, 30, 3}, {1, 28, 2}, {0, 1, 1}, {1, 1, 1}, {1, 1, 1}, 2, 8, true},
      {{1, 30, 3}, {1, 29, 2}, {0, 1, 1}, {1, 1, 1}, {1, 1, 1}, 2, 8, false},
      {{1, 14, 15}, {1, 12, 13}, {0, 0, 0}, {1, 1, 1}, {1, 1, 1}, 6, 8, true},
      {{1, 14, 15}, {1, 12, 13}, {0, 0, 0}, {1, 1, 1}, {1, 1, 1}, 7, 8, false},
      {{3, 4, 5}, {2, 3, 3}, {1, 1, 2}, {2, 1, 3}, {2, 1, 1}, 3, 8, true},
  };
  for (const Corner& corner : corners) {
    for (const ConvPass pass : {ConvPass::fprop, ConvPass::update}) {
      ConvCase c;
      c.pass = pass;
      c.p.n = checked() ? 1 : 2, c.p.c = corner.c, c.p.k = corner.k, c.p.in = corner.in, c.p.filter = corner.filter;
      c.p.pad = corner.pad, c.p.stride = corner.stride, c.p.dilation = corner.dilation;
      c.p.x_type = c.p.w_type = c.p.y_type = Dtype::float16;
      c.size = 1;
      EXPECT_EQ(conv_detail::gconv::gathers_rows(pass, c.p), corner.gathered) << test::text_of(pass, c.p);
      ASSERT_EQ(test::judge(device_, random_, c), "");
    }
  }
}

// First layers, and 5x5 ones of 16 channels; not what fills the copy engine's blocks, nor what halo.sass is faster at.
TEST(Gconv, TakesLayersOfFewChannels) {
  struct Layer {
    std::int64_t c, k, in, filter, stride, pad;
    bool fprop, bprop, update;
  };
  const Layer layers[] = {
      {3, 64, 224, 3, 1, 1, true, false, true},    {3, 64, 224, 11, 4, 2, true, false, true},
      {3, 64, 224, 7, 2, 3, true, false, true},    {3, 96, 231, 11, 4, 0, true, false, true},
      {16, 32, 28, 5, 1, 2, true, false, false},   {32, 96, 28, 5, 1, 2, false, false, false},
      {64, 192, 56, 3, 1, 1, false, false, false}, {512, 512, 14, 3, 1, 1, false, false, false},
      {72, 128, 28, 3, 1, 1, false, false, false}, {96, 128, 28, 3, 1, 1, false, false, false},
  };
  for (const Layer& l : layers) {
    ConvProblem p;
    p.n = 128, p.c = l.c, p.k = l.k, p.in = {1, l.in, l.in}, p.filter = {1, l.filter, l.filter};
    p.stride = {1, l.stride, l.stride}, p.pad = {0, l.pad, l.pad};
    p.x_type = p.w_type = p.y_type = Dtype::float16;
    EXPECT_EQ(conv_detail::gconv::gathers_rows(ConvPass::fprop, p), l.fprop) << test::text_of(ConvPass::fprop, p);
    EXPECT_EQ(conv_detail::gconv::gathers_rows(ConvPass::bprop, p), l.bprop) << test::text_of(ConvPass::bprop, p);
    EXPECT_EQ(conv_detail::gconv::gathers_rows(ConvPass::update, p), l.update) << test::text_of(ConvPass::update, p);
    // No window is ever copied: what is needed beside partial sums and copies of w are cells of images, 16 channels for 3.
    EXPECT_LT(conv_workspace(ConvPass::fprop, p), std::size_t{l.c < 8 ? 220U : 4U} << 20);
  }
}

}  // namespace
}  // namespace nervanagpu
