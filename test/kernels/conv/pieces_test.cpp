// conv_bf16x6.sass: every variant, random convolutions, the error of its sums, and what is out of its range.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "kernels/conv/pieces/pieces.h"
#include "kernels/conv/product.h"
#include "kernels/conv/tensor_cores.h"
#include "test/kernels/conv/conv_case.h"
#include "test/kernels/conv/on_pieces.h"
#include "test/kernels/nn/elements.h"
#include "test/kernels/nn/on_each_device.h"

namespace nervanagpu {
namespace {

using test::ConvCase;
using Bits = std::vector<std::uint32_t>;

using test::kPasses;

class PiecesTest : public test::OnPieces {
 protected:
  PiecesTest() : OnPieces("") {}
};
NG_ON_EACH_DEVICE(PiecesTest);

TEST_P(PiecesTest, EveryVariant) {
  for (const Kernel* k : kernels_of("conv_bf16x6")) {
    expect_exact(*k);
    if (HasFatalFailure()) return;
  }
}

TEST_P(PiecesTest, RandomConvolutions) {
  if (!checked() && !kernels_of("conv_bf16x6").empty()) expect_exact_at_random("");
}

// dy split by conv_split.sass: exact, the bits of bf16x3.sass's pieces, and the same pass by multiply-adds for what has none.
TEST_P(PiecesTest, OnTheWay) {
  for (const Kernel* k : kernels_of("conv_split")) {
    ConvCase c = case_of(ConvPass::update, 128, 64);
    c.p.k = 132;
    c.forced.kernel = "_split" + k->name().substr(k->name().rfind('_'));
    if (checked()) c.p.n = 1;
    for (const std::int64_t splits : {1, 2}) {
      c.forced.splits = splits;
      c.options.alpha = static_cast<float>(splits);
      ASSERT_EQ(test::judge(device_, random_, c), "") << k->name();
    }
    c.p.stride = {1, 2, 1};
    c.p.x_pitch = c.p.c + 3;
    c.p.y_pitch = c.p.k + 4;
    ASSERT_EQ(test::judge(device_, random_, c), "") << k->name();
    if (checked()) continue;
    c.options = {};
    c.forced.splits = 1;
    Bits dy = first_of(c);
    const Bits x = second_of(c);
    const Bits got = test::run(device_, c, dy, x);
    const std::string own = c.forced.kernel;
    c.forced.kernel = "_128x128";
    ASSERT_EQ(got, test::run(device_, c, dy, x));
    c.forced.kernel = own;
    dy[777] = test::bits_of(Dtype::float32, 1e-40);
    ASSERT_EQ(test::run(device_, c, dy, x), strict(c, dy, x));
  }
}

// Batch last and channels first go through copies, with all that an epilogue has; what is out of range, too.
TEST_P(PiecesTest, OtherLayouts) {
  if (kernels_of("conv_bf16x6").empty()) return;
  for (const Layout layout : {Layout::batch_last, Layout::channels_first}) {
    for (const ConvPass pass : kPasses) {
      ConvCase c = case_of(pass, 128);
      c.p.layout = layout;
      if (checked()) c.p.n = 1;
      if (pass == ConvPass::bprop) c.p.stride = {1, 2, 1};
      c.options.alpha = 2.0F;
      c.options.relu = c.bias = pass == ConvPass::fprop;
      if (pass != ConvPass::update) c.options.beta = -1.0F;
      c.shift = 1;
      ASSERT_EQ(test::judge(device_, random_, c), "");
      c.options.beta = 0;
      c.options.rounding = {true, 5, 7, 3};
      ASSERT_EQ(test::judge(device_, random_, c), "");
      if (checked()) continue;
      c.options = {};
      c.bias = false;
      const Bits in1 = first_of(c);
      Bits in2 = second_of(c);
      in2[3] = test::bits_of(Dtype::float32, 1e-40);
      const Bits got = test::run(device_, c, in1, in2);
      c.p.precision = Precision::strict;
      c.forced = {};
      c.size = 1;
      const Bits want = test::run(device_, c, in1, in2);
      for (std::size_t i = 0; i < got.size(); ++i) {  // sums of 500 products, in one part or several
        EXPECT_NEAR(test::value_of(Dtype::float32, got[i]), test::value_of(Dtype::float32, want[i]), 1e-3) << i;
      }
    }
  }
}

// A layout costs copies: those of channels first multiply-adds make, too.
TEST(PiecesChoice, TakesOtherLayouts) {
  ConvProblem p;
  p.precision = Precision::tensor;
  p.n = 64, p.c = 128, p.k = 256;
  p.in = {1, 56, 56}, p.filter = {1, 3, 3}, p.pad = {0, 1, 1};
  for (const Layout layout : {Layout::channels_last, Layout::batch_last, Layout::channels_first}) {
    p.layout = layout;
    for (const ConvPass pass : kPasses) EXPECT_TRUE(conv_detail::tensor_cores::takes(pass, p));
  }
  p.filter = {1, 1, 1}, p.pad = {0, 0, 0};
  p.c = p.k = 64;
  p.layout = Layout::batch_last;
  EXPECT_FALSE(conv_detail::tensor_cores::takes(ConvPass::fprop, p));
  p.precision = Precision::strict;
  EXPECT_FALSE(conv_detail::tensor_cores::takes(ConvPass::fprop, p));
}

// Filters of one tap by gemm(): exact, with all that an epilogue has, slices and odd addresses; what has no pieces as strict.
TEST_P(PiecesTest, AsProducts) {
  if (kernels_of("conv_bf16x6").empty()) return;
  for (const std::int64_t channels : {3, 64, 520}) {
    for (const ConvPass pass : kPasses) {
      ConvCase c;
      c.pass = pass;
      c.p.precision = Precision::tensor;
      c.p.n = 2, c.p.in = {2, 5, 7};
      c.p.c = channels, c.p.k = 75;
      c.forced.kernel = "_gemm";
      c.size = 60;
      ASSERT_EQ(test::judge(device_, random_, c), "") << channels;
      if (checked()) continue;
      c.options.alpha = 2.0F;
      c.options.beta = -1.0F;
      c.options.relu = c.bias = pass == ConvPass::fprop;
      c.shift = 1;
      c.p.x_pitch = c.p.c + 3;
      c.p.y_pitch = c.p.k + 2;
      ASSERT_EQ(test::judge(device_, random_, c), "") << channels;
      c.p.x_pitch = c.p.y_pitch = 0;
      c.options.rounding = {true, 5, 7, 3};
      ASSERT_EQ(test::judge(device_, random_, c), "") << channels;
    }
  }
  ConvCase odd;
  odd.p.filter = {1, 2, 1}, odd.p.in = {1, 4, 4};
  odd.p.precision = Precision::tensor;
  odd.forced.kernel = "_gemm";
  EXPECT_THROW(conv_detail::tensor_cores::workspace(odd.pass, odd.p, odd.forced), InvalidArgument);
}

// The kernels that the library launches for them, and that two pieces are worth it.
TEST(PiecesChoice, OneTapIsAProduct) {
  ConvProblem p;
  p.precision = Precision::tensor;
  p.n = 128, p.c = 1152, p.k = 448;
  p.in = {1, 14, 14};
  using conv_detail::product::of_float32;
  for (const ConvPass pass : {ConvPass::fprop, ConvPass::update}) EXPECT_TRUE(of_float32(pass, p));
  EXPECT_FALSE(of_float32(ConvPass::bprop, p));  // three pieces, by conv_bf16x6.sass
  p.c = 192;
  EXPECT_TRUE(of_float32(ConvPass::bprop, p));  // three pieces, by bf16x6_rs.sass
  p.c = 1152;
  for (const ConvPass pass : kPasses) EXPECT_TRUE(conv_detail::tensor_cores::takes(pass, p));
  p.k = 32;  // by multiply-adds
  for (const ConvPass pass : kPasses) EXPECT_TRUE(of_float32(pass, p));
  p.stride = {1, 2, 1};
  for (const ConvPass pass : kPasses) EXPECT_FALSE(of_float32(pass, p));
  p.stride = {1, 1, 1};
  p.layout = Layout::channels_first;
  for (const ConvPass pass : kPasses) EXPECT_FALSE(of_float32(pass, p));
}

// Within the class's bound, and closer to the sums than multiply-adds are.
TEST_P(PiecesTest, ErrorsAreSmall) {
  if (checked() || kernels_of("conv_bf16x6").empty()) return;
  int number = 0;
  for (const ConvPass pass : {kPasses[0], kPasses[1], kPasses[2], kPasses[0], kPasses[1], kPasses[2]}) {
    ConvCase c = case_of(pass, number++ < 3 ? 128 : 192);
    c.p.filter = {1, 1, 1}, c.p.pad = {0, 0, 0};  // a product of matrices
    c.p.c = 320, c.p.k = 200;
    const Bits in1 = first_of(c);
    const Bits in2 = second_of(c);
    const Bits got = test::run(device_, c, in1, in2);
    const Bits chains = strict(c, in1, in2);
    const std::int64_t positions = c.p.y_elements() / c.p.k;
    const std::int64_t rows = pass == ConvPass::update ? c.p.k : positions;
    const std::int64_t columns = pass == ConvPass::fprop ? c.p.k : c.p.c;
    const std::int64_t products = pass == ConvPass::fprop ? c.p.c : pass == ConvPass::bprop ? c.p.k : positions;
    const auto value = [](const Bits& bits, std::int64_t i) {
      return test::value_of(Dtype::float32, bits[static_cast<std::size_t>(i)]);
    };
    double squares = 0;
    double theirs = 0;
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t j = 0; j < columns; ++j) {
        double sum = 0;
        double magnitude = 0;
        for (std::int64_t l = 0; l < products; ++l) {
          const double a = value(in1, pass == ConvPass::update ? l * c.p.k + i : i * products + l);
          const double b = pass == ConvPass::fprop   ? value(in2, j * c.p.c + l)
                           : pass == ConvPass::bprop ? value(in2, l * c.p.c + j)
                                                     : value(in2, l * c.p.c + j);
          sum += a * b;
          magnitude += std::abs(a * b);
        }
        const double error = std::abs(value(got, i * columns + j) - sum);
        const double terms = 46 + std::ceil(static_cast<double>(products) / 64) + 1;
        ASSERT_LE(error, terms * 0x1p-24 / (1 - terms * 0x1p-24) * magnitude);
        squares += error * error;
        theirs += std::pow(value(chains, i * columns + j) - sum, 2);
      }
    }
    EXPECT_GT(squares, 0);
    EXPECT_LT(squares, theirs / 4);
  }
}

// NaN, infinities, what has no pieces, and sums that might overflow: the device finds them, and the result is conv.sass's.
TEST_P(PiecesTest, OutOfRange) {
  if (checked() || kernels_of("conv_bf16x6").empty()) return;
  constexpr float kOdd[] = {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(), 1e-40F,
                            3.4e38F};
  int number = 0;
  for (const ConvPass pass : kPasses) {
    for (const std::int64_t splits : {1, 2}) {
      for (const float odd : kOdd) {
        ConvCase c = case_of(pass, number % 2 == 0 ? 128 : 192);
        c.forced.splits = splits;
        if (number % 3 == 0) c.p.stride = {1, 2, 2};
        c.options.relu = pass == ConvPass::fprop;
        c.mask = pass != ConvPass::update;
        Bits in1 = first_of(c);
        Bits in2 = second_of(c);
        Bits& where = number % 2 == 0 ? in1 : in2;
        where[static_cast<std::size_t>(number * 37) % where.size()] = test::bits_of(Dtype::float32, odd);
        expect_strict(c, in1, in2, odd);
        if (HasFatalFailure()) return;
        ++number;
      }
    }
  }
}

// More rows than conv_if.sass has CTAs: each takes several tiles.
TEST_P(PiecesTest, OutOfRangeInManyRows) {
  if (checked() || kernels_of("conv_bf16x6").empty()) return;
  for (const std::int64_t channels : {4, 3}) {  // with vectors and without
    ConvCase c;
    c.p.precision = Precision::tensor;
    c.p.in = {1, 271, 511};
    c.p.c = c.p.k = channels;
    c.forced.kernel = "_128x64";
    c.forced.splits = 1;
    Bits x = first_of(c);
    const Bits w = second_of(c);
    x[1234] = test::bits_of(Dtype::float32, 1e-40);
    const Bits got = test::run(device_, c, x, w);
    const Bits want = strict(c, x, w);
    ASSERT_EQ(got, want);
  }
}

// What the model takes for layers of VGG: a function of the problem alone.
TEST(PiecesChoice, TakesUpdatesOfLargeMaps) {
  constexpr std::int64_t kLongest = 80;  // chunks of a part
  for (const ConvProblem& p : {test::vgg_layer(64, 112, 128), test::vgg_layer(128, 112, 128),
                               test::vgg_layer(64, 224, 64), test::vgg_layer(256, 56, 256)}) {
    ASSERT_TRUE(conv_detail::tensor_cores::takes(ConvPass::update, p)) << p.c << " " << p.k;
    conv_detail::hconv::Work w;
    w.pass = 'u', w.c = p.c, w.k = p.k;
    w.product.a_type = w.product.b_type = Dtype::bfloat16;
    w.product.c_type = Dtype::float32;
    w.product.m = p.k, w.product.n = 9 * p.c, w.product.k = p.y_elements() / p.k;
    const auto choice = conv_detail::pieces::choose(w, 132, false, {});
    EXPECT_LE(w.product.k / 64, choice.splits * kLongest);
    EXPECT_EQ(choice.tile.bm, p.k == 64 ? 64 : 128);
  }
}

TEST(PiecesChoice, SixtyFourChannelsTakeSixtyFourColumns) {
  const ConvProblem p = test::vgg_layer(64, 112, 128);
  ASSERT_TRUE(conv_detail::tensor_cores::takes(ConvPass::bprop, p));
  conv_detail::hconv::Work w;
  w.pass = 'b', w.c = p.c, w.k = p.k;
  w.product.a_type = w.product.b_type = Dtype::bfloat16;
  w.product.c_type = Dtype::float32;
  w.product.m = p.x_elements() / p.c, w.product.n = p.c, w.product.k = 9 * p.k;
  EXPECT_EQ(conv_detail::pieces::choose(w, 132, false, {}).tile.bn, 64);
}

}  // namespace
}  // namespace nervanagpu
