// The mapping against the definition of the convolution, both in exact integers and without any kernel.
#include "kernels/conv/mapping.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "kernels/conv/problem.h"
#include "nervanagpu/error.hpp"
#include "test/kernels/conv/model.h"
#include "test/kernels/conv/random_problem.h"
#include "test/src/expect_error.h"

namespace nervanagpu {
namespace {

using conv_detail::Limits;
using conv_detail::Mapping;
using test::Integers;

Integers random_integers(std::mt19937& random, std::int64_t count) {
  std::uniform_int_distribution<int> value(-9, 9);
  Integers out(static_cast<std::size_t>(count));
  for (std::int64_t& v : out) v = value(random);
  return out;
}

class ConvMappingTest : public ::testing::Test {
 protected:
  void check(ConvPass pass, const ConvProblem& p, const Limits& limits, std::int64_t splits) {
    conv_detail::check(pass, p);
    const conv_detail::Roles roles = conv_detail::roles_of(pass);
    const Integers in1 = random_integers(random_, conv_detail::elements_of(p, roles.in1));
    const Integers in2 = random_integers(random_, conv_detail::elements_of(p, roles.in2));
    const Mapping mapping = conv_detail::map(pass, p, limits, splits);
    ASSERT_EQ(test::execute(pass, p, mapping, in1, in2), test::convolve(pass, p, in1, in2))
        << test::text_of(pass, p) << ", splits " << splits;
    launches_ += mapping.launches.size();
  }

  std::mt19937 random_{2015};
  std::size_t launches_ = 0;
};

constexpr ConvPass kPasses[] = {ConvPass::fprop, ConvPass::bprop, ConvPass::update};

TEST_F(ConvMappingTest, IsTheConvolution) {
  for (int turn = 0; turn < 3000; ++turn) {
    ConvProblem p = test::random_problem(random_, 3000);
    if (p.layout == Layout::channels_first) p.layout = Layout::batch_last;
    for (const ConvPass pass : kPasses) {
      check(pass, p, {}, turn % 3 == 0 ? 1 + turn % 5 : 0);
      if (HasFatalFailure()) return;
    }
  }
}

TEST_F(ConvMappingTest, CutsABatchAndManyGroups) {
  int cut = 0;
  for (int turn = 0; turn < 1000; ++turn) {
    ConvProblem p = test::random_problem(random_, 1000);
    p.layout = Layout::channels_last;
    const auto elements = std::max({p.x_elements() / p.n, p.y_elements() / p.n, p.w_elements()});
    Limits limits;
    limits.elements = elements * (1 + turn % 5) + 1;
    limits.grid_z = 1 + turn % 7;
    for (const ConvPass pass : kPasses) {
      launches_ = 0;
      check(pass, p, limits, turn % 2 == 0 ? 3 : 0);
      if (HasFatalFailure()) return;
    }
    cut += limits.elements <= p.x_elements() || limits.elements <= p.y_elements() ? 1 : 0;
  }
  EXPECT_GT(cut, 100);
}

TEST_F(ConvMappingTest, EveryClassOfPositionsOfABigStride) {
  ConvProblem p;
  p.layout = Layout::batch_last;
  p.in = {1, 7, 23};
  p.stride = {1, 4, 6};
  p.dilation = {1, 2, 9};
  p.filter = {1, 5, 3};
  p.pad = {0, 3, 5};
  p.n = 2, p.c = 3, p.k = 2;
  check(ConvPass::bprop, p, {}, 0);
  EXPECT_EQ(launches_, 24U);
}

TEST(ConvSplits, DependOnTheProblemAlone) {
  EXPECT_EQ(conv_detail::splits_of(1, 27, 64), 1);           // nothing to cut
  EXPECT_EQ(conv_detail::splits_of(100000, 1 << 20, 1), 1);  // enough tiles
  EXPECT_GT(conv_detail::splits_of(4, 64 * 224 * 224, 64 * 27), 30);
  for (const std::int64_t tiles : {1, 3, 36, 144, 1000}) {
    for (const std::int64_t k : {0, 1, 63, 64, 1000, 12544, 3000000}) {
      const std::int64_t s = conv_detail::splits_of(tiles, k, tiles * 16384);
      EXPECT_GE(s, 1);
      EXPECT_LE(s, 256);
      EXPECT_LE(s * tiles * 16384 * 4, std::int64_t{256} << 20);
    }
  }
}

TEST(ConvMappingLimits, SaysWhatIsTooLarge) {
  ConvProblem p;
  p.layout = Layout::batch_last;
  p.n = 1 << 10, p.c = p.k = 64, p.in = {1, 256, 256};
  expect_error<InvalidArgument>([&] { conv_detail::map(ConvPass::fprop, p); },
                                "conv: x has 4294967296 elements; needs less than 2147483648");
  p.layout = Layout::channels_last;
  const Mapping m = conv_detail::map(ConvPass::fprop, p);
  EXPECT_EQ(m.launches.size(), 3U);
  p.n = 1, p.in = {1, 1 << 14, 1 << 13};
  p.c = 16, p.k = 1;
  expect_error<InvalidArgument>([&] { conv_detail::map(ConvPass::fprop, p); },
                                "conv: one image has 2147483648 elements; needs less than 2147483648");
}

}  // namespace
}  // namespace nervanagpu
