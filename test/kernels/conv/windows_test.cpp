// window_filters.sass, and lines that bf16x3.sass and f16x2.sass split: float32 convolutions by windows of lines.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "kernels/conv/pieces/two_pieces.h"
#include "kernels/conv/pieces/windows.h"
#include "kernels/conv/tensor_cores.h"
#include "nervanagpu/conv_plan.hpp"
#include "test/kernels/conv/conv_case.h"
#include "test/kernels/conv/on_pieces.h"
#include "test/kernels/nn/elements.h"
#include "test/kernels/nn/on_each_device.h"

namespace nervanagpu {
namespace {

using test::ConvCase;
using test::kPasses;
using Bits = std::vector<std::uint32_t>;

constexpr std::array kBoth = {ConvPass::fprop, ConvPass::bprop};
constexpr std::array kKinds = {"_windows", "_f16_windows"};

using Pair = std::array<std::int64_t, 2>;
ConvProblem flat(std::int64_t n, Pair in, std::int64_t c, std::int64_t k, Pair filter, Pair pad, Pair stride = {1, 1},
                 std::int64_t dilation = 1) {
  ConvProblem p;
  p.precision = Precision::tensor;
  p.n = n, p.c = c, p.k = k;
  p.in = {1, in[0], in[1]}, p.filter = {1, filter[0], filter[1]};
  p.stride = {1, stride[0], stride[1]}, p.pad = {0, pad[0], pad[1]};
  p.dilation = {1, dilation, 1};
  return p;
}

// As networks have them, of small maps; windows of less than a block of channels and of several; no padding, more than a filter needs, one line,
// an even filter, lines that are far apart; strides, which fprop alone can have.
std::vector<ConvProblem> layers() {
  return {flat(2, {7, 12}, 16, 32, {5, 5}, {2, 2}),          flat(2, {6, 8}, 32, 96, {5, 5}, {2, 2}),
          flat(3, {7, 7}, 24, 64, {5, 5}, {2, 2}),           flat(1, {6, 10}, 96, 40, {3, 3}, {1, 1}),
          flat(1, {5, 6}, 208, 48, {3, 3}, {1, 1}),          flat(2, {9, 9}, 8, 8, {3, 6}, {0, 0}),
          flat(1, {1, 30}, 8, 72, {1, 25}, {0, 24}),         flat(2, {11, 12}, 40, 16, {2, 2}, {1, 1}, {1, 1}, 3),
          flat(1, {1, 331}, 8, 16, {1, 300}, {0, 20}),       flat(1, {2, 95}, 8, 16, {1, 20}, {0, 3}, {1, 12}),
          flat(2, {12, 17}, 16, 24, {5, 5}, {1, 2}, {2, 2}), flat(1, {9, 23}, 8, 16, {3, 4}, {2, 0}, {1, 3})};
}

class WindowsTest : public test::OnPieces {
 protected:
  WindowsTest() : OnPieces("_f16_windows") {}
  [[nodiscard]] bool absent() const { return kernels_of("window_filters").empty(); }

  static std::string named(const std::string& kind, std::int64_t results, const std::string& tile = "128x64") {
    return kind + std::to_string(results) + "_" + tile;
  }
  ConvCase by(const std::string& kernel, const ConvProblem& p, ConvPass pass) {
    ConvCase c;
    c.p = p;
    c.pass = pass;
    c.size = 60;
    c.forced.kernel = kernel;
    c.forced.splits = 1;
    return c;
  }
  // 5x5 filters over 32 channels, whose sums have 800 products.
  ConvCase of_800(ConvPass pass) {
    return by("_f16_windows2_128x64",
              flat(2, {6, 8}, pass == ConvPass::fprop ? 32 : 24, pass == ConvPass::fprop ? 24 : 32, {5, 5}, {2, 2}),
              pass);
  }
  // Three pieces, after which update has no multiply-adds at once.
  Bits three(ConvCase c, const Bits& in1, const Bits& in2) {
    c.forced.kernel = c.pass == ConvPass::update ? "_128x128" : "_128x64";
    return test::run(device_, c, in1, in2);
  }
  Bits run(const ConvCase& c, const Bits& in1, const Bits& in2) { return test::run(device_, c, in1, in2); }
  static std::uint32_t number(double v) { return test::bits_of(Dtype::float32, v); }
};
NG_ON_EACH_DEVICE(WindowsTest);

// Every number of results, of two pieces and of three, exact to the bit.
TEST_P(WindowsTest, EveryNumberOfResults) {
  if (absent()) return;
  int taken = 0;
  int count = 0;
  for (const ConvProblem& p : layers()) {
    for (const ConvPass pass : kPasses) {
      const auto all = conv_detail::windows::all(pass, p);
      const bool strided = p.stride[1] != 1 || p.stride[2] != 1;
      ASSERT_EQ(all.empty(), pass == ConvPass::bprop && strided) << test::text_of(pass, p);
      for (const auto& w : all) {
        for (const char* kind : kKinds) {
          if (pass == ConvPass::update && kind == kKinds[0]) continue;  // its sums are long
          if (checked() && count++ % 9 != 0) continue;
          ASSERT_EQ(test::judge(device_, random_,
                                by(named(kind, w.results, pass == ConvPass::update ? "64x128" : "128x64"), p, pass)),
                    "")
              << w.results << kind;
          ++taken;
        }
      }
    }
  }
  EXPECT_GE(taken, checked() ? 8 : 80);
}

// Every tile, and what an epilogue has.
TEST_P(WindowsTest, EveryTile) {
  if (absent() || checked()) return;
  int count = 0;
  for (const char* op : {"conv_bf16x6", "conv_f16x3"}) {
    for (const Kernel* k : kernels_of(op)) {
      if (k->manifest().variant.at("PASS") != "f") continue;
      for (const ConvPass pass : kBoth) {
        const std::string kind = op == std::string("conv_f16x3") ? kKinds[1] : kKinds[0];
        const std::string tile = k->name().substr(k->name().rfind('_') + 1);
        const std::int64_t results = count % 2 + 1;
        ConvCase c = by(named(kind, results, tile), flat(2, {6, 8}, 32, 96, {5, 5}, {2, 2}), pass);
        c.options.alpha = 2.0F;
        c.options.relu = c.bias = pass == ConvPass::fprop;
        c.mask = true;
        if (count % 3 == 1) c.mask_gap = 2;
        if (count % 3 == 2) c.p.c = 40, c.p.k = 56;  // bits of a pixel end inside a word
        ASSERT_EQ(test::judge(device_, random_, c), "") << k->name() << " " << results;
        c.mask = false;
        c.options.relu = false;
        c.options.beta = -1.0F;
        c.shift = 1 + count % 3;
        if (count % 4 != 1) c.p.x_pitch = c.p.c + 8, c.p.y_pitch = c.p.k + 4 + count % 2;
        ASSERT_EQ(test::judge(device_, random_, c), "") << k->name() << " " << results;
        ++count;
      }
    }
  }
  EXPECT_GE(count, 12);
}

// Tiles and parts of an update; pixels of dy lie apart.
TEST_P(WindowsTest, EveryTileOfUpdate) {
  if (absent() || checked()) return;
  int count = 0;
  for (const Kernel* k : kernels_of("conv_f16x3")) {
    if (k->manifest().variant.at("PASS") != "u") continue;
    const std::string tile = k->name().substr(k->name().rfind('_') + 1);
    for (const std::int64_t channels : {32, 64}) {  // windows of 160, and of whole blocks
      for (const std::int64_t splits : {1, 3}) {
        ConvCase c = by(named(kKinds[1], 1, tile), flat(3, {9, 8}, channels, 72, {5, 5}, {2, 2}), ConvPass::update);
        c.forced.splits = splits;
        c.options.alpha = -2.0F;
        c.options.beta = channels == 64 && splits == 1 ? 1.0F : 0.0F;
        c.p.y_pitch = splits == 1 ? 0 : c.p.k + 3;
        if (count % 2 == 1) c.p.x_pitch = c.p.c + 4;
        c.shift = splits;
        ASSERT_EQ(test::judge(device_, random_, c), "") << k->name();
        ++count;
      }
    }
  }
  EXPECT_GE(count, 12);
}

// Lost elements of x and dy are left out, and added; of more than two of a CTA three pieces compute the pass.
TEST_P(WindowsTest, LostElementsOfUpdate) {
  if (absent() || checked()) return;
  ConvCase c = by("_f16_windows1_64x128", flat(4, {12, 13}, 32, 40, {5, 5}, {2, 2}), ConvPass::update);
  Bits dy = first_of(c);
  Bits x = second_of(c);
  constexpr std::size_t kChannel = 7, kFilter = 9;  // of which only lost ones are left
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = i % 32 == kChannel ? 0 : x[i];
  for (std::size_t i = 0; i < dy.size(); ++i) dy[i] = i % 40 == kFilter ? 0 : dy[i];
  x[17 * 32 + kChannel] = number(1.234567e-10);
  x[300 * 32 + kChannel] = number(-7.654321e-16);
  dy[50 * 40 + kFilter] = number(3.141592e-11);
  const Bits got = run(c, dy, x);
  EXPECT_NE(got, three(c, dy, x));
  const Bits want = strict(c, dy, x);
  int tiny = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double v = test::value_of(Dtype::float32, want[i]);
    const bool small = std::abs(v) < 1e-8;
    ASSERT_NEAR(test::value_of(Dtype::float32, got[i]), v, small ? 1e-5 * std::abs(v) + 1e-25 : 1e-3) << i;
    tiny += v != 0 && small ? 1 : 0;
  }
  EXPECT_GT(tiny, 500);
  for (const std::size_t pixel : {18, 19, 20}) x[pixel * 32 + kChannel] = number(5e-13);
  EXPECT_EQ(run(c, dy, x), three(c, dy, x));
}

// Two pieces have computed it; sums are as near strict's as those of pieces that are split pixel by pixel.
TEST_P(WindowsTest, TwoPiecesAreNear) {
  if (absent() || checked()) return;
  for (const ConvPass pass : kBoth) {
    ConvCase c = of_800(pass);
    const Bits in1 = first_of(c);
    const Bits in2 = second_of(c);
    const Bits got = run(c, in1, in2);
    EXPECT_NE(got, three(c, in1, in2));
    const Bits want = strict(c, in1, in2);
    for (std::size_t i = 0; i < got.size(); ++i) {
      ASSERT_NEAR(test::value_of(Dtype::float32, got[i]), test::value_of(Dtype::float32, want[i]), 2e-4) << i;
    }
  }
}

// A lost element of x stays where its pixel has large ones beside it, and those of w too. Else multiply-adds compute the pass.
TEST_P(WindowsTest, LostElementsOfFprop) {
  if (absent() || checked()) return;
  ConvCase c = of_800(ConvPass::fprop);
  const Bits x = first_of(c);
  const Bits w = second_of(c);
  Bits some = x;
  some[5 * 32 + 7] = number(1e-11);
  EXPECT_NE(run(c, some, w), three(c, some, w));
  // 15 of 32 are zeros: too many beside w's share, which is that of blocks of 32 at the most.
  Bits alone = some;
  for (std::size_t i = 0; i < 32; ++i) alone[5 * 32 + i] = i == 7 ? number(1e-11) : 0;
  EXPECT_EQ(run(c, alone, w), strict(c, alone, w));
  // Pixels may lie apart.
  ConvCase apart = c;
  apart.p.x_pitch = 48;
  EXPECT_EQ(run(apart, some, w), run(c, some, w));
  EXPECT_EQ(run(apart, alone, w), strict(c, alone, w));
  // Another pixel's zeros do not matter, nor those of the same line.
  Bits beside = some;
  for (std::size_t i = 0; i < 32; ++i) beside[6 * 32 + i] = beside[4 * 32 + i] = 0;
  EXPECT_NE(run(c, beside, w), three(c, beside, w));
  // What stands beside one of w is not counted.
  Bits lost = w;
  lost[99] = number(1e-11);
  EXPECT_EQ(run(c, x, lost), strict(c, x, lost));
}

// Of a gradient they are left out, and added behind it.
TEST_P(WindowsTest, LostElementsOfBprop) {
  if (absent() || checked()) return;
  ConvCase c = of_800(ConvPass::bprop);
  Bits dy = first_of(c);
  Bits w = second_of(c);
  for (std::size_t i = 0; i < 32; ++i) dy[9 * 32 + i] = i == 7 ? number(3.14159e-11) : 0;
  w[50] = number(-2.71828e-10);
  w[51] = number(2.71828e-16);
  const Bits got = run(c, dy, w);
  EXPECT_NE(got, three(c, dy, w));
  const Bits want = strict(c, dy, w);
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double v = test::value_of(Dtype::float32, want[i]);
    ASSERT_NEAR(test::value_of(Dtype::float32, got[i]), v, 1e-4) << i;
  }
  // Only they reach a position: all of dy is zero but for one element.
  for (std::uint32_t& v : dy) v = 0;
  for (std::size_t i = 0; i < 32; ++i) dy[9 * 32 + i] = number(i == 3 ? 1.5e-12 : 0);
  dy[60 * 32] = number(1);
  const Bits few = run(c, dy, w);
  const Bits exact = strict(c, dy, w);
  int tiny = 0;
  for (std::size_t i = 0; i < few.size(); ++i) {
    const double v = test::value_of(Dtype::float32, exact[i]);
    ASSERT_NEAR(test::value_of(Dtype::float32, few[i]), v, 1e-5 * std::abs(v)) << i;
    tiny += v != 0 && std::abs(v) < 1e-10 ? 1 : 0;
  }
  EXPECT_GT(tiny, 50);
}

// Three pieces, before multiply-adds: of a layer that these take long for, which is named here. Bits and epilogue are three pieces'.
TEST_P(WindowsTest, ThenThreePieces) {
  if (absent() || checked()) return;
  for (const ConvPass pass : kBoth) {
    ConvCase c = of_800(pass);
    c.forced.kernel += "+three";
    c.mask = true;
    c.mask_gap = 1;
    c.options.relu = pass == ConvPass::fprop;
    ASSERT_EQ(test::judge(device_, random_, c), "");
    Bits in1 = first_of(c);
    const Bits in2 = second_of(c);
    EXPECT_NE(run(c, in1, in2), three(c, in1, in2));
    in1[77] = number(1e30);
    EXPECT_EQ(run(c, in1, in2), three(c, in1, in2));
    in1[77] = number(std::numeric_limits<float>::infinity());
    expect_strict(c, in1, in2, 0);
    if (HasFatalFailure()) return;
  }
}

// What maps cannot say pixel by pixel: strides above 8, and filters that are wider than 256.
TEST(WindowsChoice, WhereNoOtherPiecesCan) {
  for (const auto& [width, filter, pad, stride] :
       {std::array<std::int64_t, 4>{10000, 20, 0, 10}, {2000, 300, 150, 1}, {1000, 300, 150, 1}}) {
    for (const std::int64_t n : {1, 16, 64}) {
      const ConvProblem p = flat(n, {1, width}, 64, 128, {1, filter}, {0, pad}, {1, stride});
      for (const ConvPass pass : kPasses) EXPECT_NO_THROW(static_cast<void>(conv_workspace(pass, p)));
    }
  }
}

// NaN, infinities, what has no pieces: strict's numbers.
TEST_P(WindowsTest, OutOfRange) {
  if (absent() || checked()) return;
  constexpr float kOdd[] = {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(), 1e-40F,
                            3.4e38F};
  int count = 0;
  for (const char* kind : kKinds) {
    for (const ConvPass pass : kBoth) {
      for (const float odd : kOdd) {
        if (kind == kKinds[1] && odd > 0 && odd < 1) continue;  // lost, or beside large ones
        ConvCase c = of_800(pass);
        c.forced.kernel = named(kind, 1 + count % 2);
        c.options.relu = pass == ConvPass::fprop;
        c.mask = true;
        Bits in1 = first_of(c);
        Bits in2 = second_of(c);
        Bits& where = count % 3 == 0 ? in2 : in1;
        where[static_cast<std::size_t>(count * 37) % where.size()] = number(odd);
        expect_strict(c, in1, in2, odd);
        if (HasFatalFailure()) return;
        ++count;
      }
    }
  }
}

// Whatever comes, by the library's choice among numbers of results.
TEST_P(WindowsTest, RandomConvolutions) {
  if (absent() || checked()) return;
  int taken = 0;
  for (int i = 0; i < 4000 && taken < 60; ++i) {
    ConvCase c;
    c.p = test::random_problem(random_, 3000);
    c.p.groups = 1;
    c.p.c = 8 * (1 + c.p.c % 9), c.p.k = 8 * (1 + c.p.k % 9);
    c.p.x_pitch = i % 3 == 0 ? c.p.c + i % 7 : 0;
    c.p.y_pitch = i % 3 != 1 ? c.p.k + i % 5 : 0;
    c.p.precision = Precision::tensor;
    c.p.layout = Layout::channels_last;
    c.pass = kBoth[static_cast<std::size_t>(i) % 2];
    if (conv_detail::windows::all(c.pass, c.p).empty() || !conv_detail::tensor_cores::fits(c.pass, c.p, {}, {}))
      continue;
    c.size = 60;
    c.forced.kernel = std::string(kKinds[static_cast<std::size_t>(i / 2) % 2]) + "_128x64";
    c.forced.splits = 1;
    ASSERT_EQ(test::judge(device_, random_, c), "") << i;
    ++taken;
  }
  EXPECT_EQ(taken, 60);
}

// Functions of the problem alone, as the model has it.
TEST(WindowsChoice, FewChannelsShareWindows) {
  using conv_detail::windows::choose;
  namespace pieces = conv_detail::pieces;
  const auto results = [](ConvPass pass, const ConvProblem& p, const pieces::Kind& kind) {
    const auto w = choose(pass, p, kind);
    return w ? w->results : 0;
  };
  const ConvProblem narrow = flat(128, {28, 28}, 16, 32, {5, 5}, {2, 2});
  EXPECT_GE(results(ConvPass::fprop, narrow, pieces::kThree), 2);
  EXPECT_GE(results(ConvPass::bprop, narrow, pieces::kTwo), 2);
  EXPECT_FALSE(conv_detail::two_pieces::chosen(ConvPass::fprop, narrow));  // 400 products
  EXPECT_TRUE(conv_detail::two_pieces::chosen(ConvPass::bprop, narrow));
  EXPECT_GE(results(ConvPass::fprop, flat(128, {14, 14}, 96, 208, {3, 3}, {1, 1}), pieces::kTwo), 1);
  EXPECT_EQ(results(ConvPass::fprop, flat(64, {56, 56}, 256, 256, {3, 3}, {1, 1}), pieces::kTwo), 0);
}

}  // namespace
}  // namespace nervanagpu
