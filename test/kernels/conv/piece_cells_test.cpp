// cells_bf16x3.sass and conv_bf16x6.sass: float32 layers of few channels as cells in pieces.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "kernels/conv/pieces/piece_cells.h"
#include "kernels/conv/tensor_cores.h"
#include "nervanagpu/conv_plan.hpp"
#include "src/device/select_device.h"
#include "test/kernels/conv/conv_case.h"
#include "test/kernels/conv/on_tensor_cores.h"
#include "test/kernels/conv/random_problem.h"
#include "test/kernels/nn/elements.h"
#include "test/kernels/nn/on_each_device.h"

namespace nervanagpu {
namespace {

using test::ConvCase;
using Bits = std::vector<std::uint32_t>;

constexpr std::array kPasses = {ConvPass::fprop, ConvPass::update};

ConvProblem flat(std::int64_t n, std::array<std::int64_t, 2> in, std::int64_t c, std::int64_t k,
                 std::array<std::int64_t, 2> filter, std::array<std::int64_t, 2> stride,
                 std::array<std::int64_t, 2> pad) {
  ConvProblem p;
  p.precision = Precision::tensor;
  p.n = n, p.c = c, p.k = k;
  p.in = {1, in[0], in[1]}, p.filter = {1, filter[0], filter[1]};
  p.stride = {1, stride[0], stride[1]}, p.pad = {0, pad[0], pad[1]};
  return p;
}

// First layers as networks have them, of small maps; odd widths, a stride that is larger than the window, one image, one line, one
// channel and four, more channels.
std::vector<ConvProblem> layers() {
  return {flat(2, {35, 39}, 3, 64, {11, 11}, {4, 4}, {2, 2}), flat(1, {31, 37}, 3, 70, {11, 11}, {4, 4}, {0, 0}),
          flat(2, {21, 23}, 3, 64, {7, 7}, {2, 2}, {3, 3}),   flat(2, {13, 17}, 3, 64, {3, 3}, {1, 1}, {1, 1}),
          flat(1, {19, 19}, 1, 6, {5, 5}, {1, 1}, {2, 2}),    flat(3, {9, 26}, 2, 33, {2, 3}, {3, 5}, {0, 1}),
          flat(2, {15, 14}, 4, 20, {4, 9}, {2, 1}, {1, 5}),   flat(2, {1, 203}, 3, 16, {1, 25}, {1, 3}, {0, 11}),
          flat(1, {11, 12}, 16, 32, {5, 5}, {1, 1}, {2, 2}),  flat(1, {9, 10}, 24, 8, {3, 3}, {1, 1}, {1, 1})};
}

class PieceCellsTest : public test::OnTensorCores {
 protected:
  [[nodiscard]] bool absent() const { return kernels_of("cells_bf16x3").empty(); }

  static std::string forced(const conv_detail::piece_cells::Cells& c, const ConvProblem& p, const std::string& tile) {
    const std::int64_t steps = (c.size[0] + p.stride[1] - 1) / p.stride[1];
    return "_cells" + std::to_string(steps) + "_" + tile;
  }
  // By conv.sass, in one part.
  Bits strict(ConvCase c, const Bits& in1, const Bits& in2) {
    c.p.precision = Precision::strict;
    c.forced = {};
    c.forced.splits = 1;
    return test::run(device_, c, in1, in2);
  }
  Bits first_of(const ConvCase& c) {
    return numbers(c.pass == ConvPass::fprop ? c.p.x_elements() : c.p.y_elements(), Dtype::float32);
  }
  Bits second_of(const ConvCase& c) {
    return numbers(c.pass == ConvPass::update ? c.p.x_elements() : c.p.w_elements(), Dtype::float32);
  }
};
NG_ON_EACH_DEVICE(PieceCellsTest);

// Cells of every height, exact to the bit.
TEST_P(PieceCellsTest, EveryCell) {
  if (absent()) return;
  int number = 0;
  for (const ConvProblem& p : layers()) {
    for (const ConvPass pass : kPasses) {
      const auto all = conv_detail::piece_cells::all(pass, p);
      ASSERT_FALSE(all.empty()) << test::text_of(pass, p);
      for (const auto& cells : all) {
        if (checked() && number++ % 7 != 0) continue;
        ConvCase c;
        c.p = p;
        c.pass = pass;
        c.size = 100;
        c.forced.kernel = forced(cells, p, pass == ConvPass::fprop ? "128x64" : "64x128");
        c.forced.splits = 1;
        ASSERT_EQ(test::judge(device_, random_, c), "");
      }
    }
  }
}

// Every tile, several parts, and what an epilogue has.
TEST_P(PieceCellsTest, EveryTile) {
  if (absent() || checked()) return;
  for (const Kernel* k : kernels_of("conv_bf16x6")) {
    const std::string& pass = k->manifest().variant.at("PASS");
    if (pass == "b" || pass == "c") continue;
    ConvCase c;
    c.pass = pass == "f" ? ConvPass::fprop : ConvPass::update;
    c.p = layers()[c.pass == ConvPass::fprop ? 1 : 2];
    c.forced.kernel = "_cells" + k->name().substr(k->name().rfind('_'));
    c.size = 100;
    for (const std::int64_t splits : {1, 3}) {
      c.forced.splits = splits;
      c.options.alpha = 2.0F;
      c.options.relu = c.bias = c.pass == ConvPass::fprop;
      c.options.beta = c.pass == ConvPass::fprop ? -1.0F : 0.0F;
      c.p.x_pitch = splits == 1 ? 0 : c.p.c + 2;
      c.p.y_pitch = splits == 1 ? 0 : c.p.k + 3;
      c.shift = splits;
      ASSERT_EQ(test::judge(device_, random_, c), "") << k->name();
    }
  }
}

// dy split on the way: exact, with the bits of bf16x3.sass's pieces, and the same pass by multiply-adds for what has none.
TEST_P(PieceCellsTest, OnTheWay) {
  if (absent()) return;
  for (const Kernel* k : kernels_of("conv_split")) {
    const std::string tile = k->name().substr(k->name().rfind('_'));
    for (const ConvProblem& p : layers()) {
      if (p.k % 4 != 0 || (checked() && p.in[2] > 20)) continue;
      for (const std::int64_t splits : {1, 3}) {
        ConvCase c;
        c.p = p;
        c.pass = ConvPass::update;
        c.size = 100;
        c.options.alpha = -2.0F;
        c.p.y_pitch = splits == 1 ? 0 : p.k + 8;
        c.forced.splits = splits;
        c.forced.kernel = "_cells_split" + tile;
        ASSERT_EQ(test::judge(device_, random_, c), "") << k->name();
        if (checked()) continue;
        const Bits dy = first_of(c);
        Bits x = second_of(c);
        const Bits got = test::run(device_, c, dy, x);
        c.forced.kernel = "_cells_64x128";
        ASSERT_EQ(got, test::run(device_, c, dy, x)) << k->name();
        if (splits != 1 || p.y_elements() > 20000) continue;
        c.forced.kernel = "_cells_split" + tile;
        Bits odd = dy;
        odd[odd.size() / 3] = test::bits_of(Dtype::float32, 1e-40);
        ASSERT_EQ(test::run(device_, c, odd, x), strict(c, odd, x)) << k->name();
        odd[odd.size() / 3] = test::bits_of(Dtype::float32, 3.4e38);
        ASSERT_EQ(test::run(device_, c, odd, x), strict(c, odd, x)) << k->name();
        x[x.size() / 5] = test::bits_of(Dtype::float32, 1e-40);
        ASSERT_EQ(test::run(device_, c, dy, x), strict(c, dy, x)) << k->name();
      }
    }
  }
}

TEST_P(PieceCellsTest, RandomLayers) {
  if (absent() || checked()) return;
  int taken = 0;
  for (int i = 0; i < 4000 && taken < 80; ++i) {
    ConvCase c;
    c.p = test::random_problem(random_, 3000);
    c.p.precision = Precision::tensor;
    c.p.groups = 1, c.p.c = 1 + i % 6;
    c.p.x_pitch = c.p.y_pitch = 0;
    c.p.in[0] = c.p.filter[0] = c.p.stride[0] = c.p.dilation[0] = 1, c.p.pad[0] = 0;
    c.pass = kPasses[static_cast<std::size_t>(i) % 2];
    if (conv_detail::piece_cells::all(c.pass, c.p).empty()) continue;
    if (i % 3 == 0 && c.p.layout == Layout::channels_last) test::choose_pitches(random_, c.p);
    c.size = 60;
    test::choose_epilogue(random_, c);
    if (c.pass == ConvPass::update) c.options.beta = 0;
    if (c.pass == ConvPass::update && c.p.layout == Layout::channels_last) c.options.rounding = {};
    if (c.p.y_pitch != 0) c.options.rounding = {};
    c.forced.kernel = c.pass == ConvPass::fprop ? "_cells_128x64" : "_cells_128x128";
    c.forced.splits = 1 + i % 3;
    ASSERT_EQ(test::judge(device_, random_, c), "") << i;
    ++taken;
  }
  EXPECT_EQ(taken, 80);
}

// Within the bound of the class, and closer to the sums than multiply-adds are.
TEST_P(PieceCellsTest, ErrorsAreSmall) {
  if (absent() || checked()) return;
  for (const ConvPass pass : kPasses) {
    ConvCase c;
    c.pass = pass;
    c.p = layers()[0];
    c.p.k = 8;
    c.forced.kernel = pass == ConvPass::fprop ? "_cells_128x64" : "_cells_64x256";
    c.forced.splits = 1;
    const Bits in1 = first_of(c);
    const Bits in2 = second_of(c);
    const Bits got = test::run(device_, c, in1, in2);
    const Bits chains = strict(c, in1, in2);
    const auto value = [](const Bits& bits, std::int64_t i) {
      return static_cast<double>(test::value_of(Dtype::float32, bits[static_cast<std::size_t>(i)]));
    };
    std::vector<double> sums(got.size()), magnitudes(got.size());
    const auto out = c.p.out();
    for (std::int64_t row = 0; row < c.p.n * out[1] * out[2]; ++row) {
      const std::int64_t n = row / (out[1] * out[2]);
      for (std::int64_t tap = 0; tap < c.p.filter[1] * c.p.filter[2]; ++tap) {
        const std::int64_t h = row / out[2] % out[1] * c.p.stride[1] - c.p.pad[1] + tap / c.p.filter[2];
        const std::int64_t w = row % out[2] * c.p.stride[2] - c.p.pad[2] + tap % c.p.filter[2];
        if (h < 0 || h >= c.p.in[1] || w < 0 || w >= c.p.in[2]) continue;
        for (std::int64_t channel = 0; channel < c.p.c; ++channel) {
          const std::int64_t of_x = ((n * c.p.in[1] + h) * c.p.in[2] + w) * c.p.c + channel;
          for (std::int64_t k = 0; k < c.p.k; ++k) {
            const std::int64_t of_w = (k * c.p.filter[1] * c.p.filter[2] + tap) * c.p.c + channel;
            const std::int64_t of_y = row * c.p.k + k;
            const bool forward = pass == ConvPass::fprop;
            const double product = forward ? value(in1, of_x) * value(in2, of_w) : value(in1, of_y) * value(in2, of_x);
            const auto at = static_cast<std::size_t>(forward ? of_y : of_w);
            sums[at] += product;
            magnitudes[at] += std::abs(product);
          }
        }
      }
    }
    const std::int64_t positions = c.p.n * out[1] * out[2];
    const double chunks = pass == ConvPass::fprop ? 9 : std::ceil(static_cast<double>(positions) / 64);
    const double terms = 46 + chunks + 1;
    double squares = 0;
    double theirs = 0;
    for (std::size_t i = 0; i < got.size(); ++i) {
      const double error = std::abs(value(got, static_cast<std::int64_t>(i)) - sums[i]);
      ASSERT_LE(error, terms * 0x1p-24 / (1 - terms * 0x1p-24) * magnitudes[i]);
      squares += error * error;
      theirs += std::pow(value(chains, static_cast<std::int64_t>(i)) - sums[i], 2);
    }
    EXPECT_GT(squares, 0);
    EXPECT_LT(squares, theirs / 2);
  }
}

// What has no pieces, at places of every kind: the device finds it, and the result is conv.sass's.
TEST_P(PieceCellsTest, OutOfRange) {
  if (absent() || checked()) return;
  constexpr std::array kOdd = {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
                               -std::numeric_limits<float>::infinity(), 1e-40F, 3.4e38F};
  constexpr std::size_t kApart = 5;  // no divisor of the eight elements of a thread
  std::size_t number = 0;
  for (const ConvPass pass : kPasses) {
    ConvCase c;
    c.pass = pass;
    c.p = flat(1, {6, 5}, 3, 4, {3, 3}, {2, 2}, {1, 1});
    c.forced.kernel = pass == ConvPass::fprop ? "_cells_128x64" : "_cells_64x128";
    c.forced.splits = 1;
    const Bits in1 = first_of(c);
    const Bits in2 = second_of(c);
    for (const bool first : {true, false}) {
      for (std::size_t at = 0; at < (first ? in1 : in2).size(); at += kApart) {
        Bits a = in1;
        Bits b = in2;
        (first ? a : b)[at] = test::bits_of(Dtype::float32, kOdd[number++ % kOdd.size()]);
        const Bits got = test::run(device_, c, a, b);
        const Bits want = strict(c, a, b);
        ASSERT_EQ(got.size(), want.size());
        for (std::size_t i = 0; i < got.size(); ++i) {
          const double g = test::value_of(Dtype::float32, got[i]);
          const double w = test::value_of(Dtype::float32, want[i]);
          ASSERT_TRUE(got[i] == want[i] || (std::isnan(g) && std::isnan(w)))
              << (first ? "first" : "second") << " operand, element " << at << ": element " << i;
        }
      }
    }
  }
}

// Where sums are near to overflow one kernel computes the pass, and one alone: both ask for the same exponents.
TEST_P(PieceCellsTest, OneKernelComputes) {
  if (absent() || checked()) return;
  for (const bool in_cells : {true, false}) {
    for (const ConvPass pass : {ConvPass::fprop, ConvPass::bprop, ConvPass::update}) {
      if (in_cells && pass == ConvPass::bprop) continue;
      for (int exponent = 118; exponent <= 127; ++exponent) {
        ConvCase c;
        c.pass = pass;
        c.p = flat(1, {9, 9}, 3, 70, {3, 3}, {pass == ConvPass::bprop ? 2 : 1, 1}, {1, 1});
        if (!in_cells) c.p.c = 70, c.p.k = 5;
        const bool update = pass == ConvPass::update;
        c.forced.kernel = std::string(in_cells ? "_cells" : "") + (update ? "_64x128" : "_128x64");
        c.forced.splits = 1;
        // Few elements that are not zero: sums are exact, and far from overflow.
        Bits in1 = first_of(c);
        Bits in2 = second_of(c);
        for (std::size_t i = 0; i < in1.size(); ++i) in1[i] = test::bits_of(Dtype::float32, i % 97 == 5 ? 1.0F : 0.0F);
        for (std::size_t i = 0; i < in2.size(); ++i) in2[i] = test::bits_of(Dtype::float32, i % 89 == 7 ? 1.0F : 0.0F);
        in1[5] = test::bits_of(Dtype::float32, std::ldexp(1.0F, exponent));
        ASSERT_EQ(test::run(device_, c, in1, in2), strict(c, in1, in2)) << "2^" << exponent;
      }
    }
  }
}

// What the model takes of the networks' first layers, and by which kernels.
TEST_P(PieceCellsTest, FirstLayersOfNetworks) {
  if (absent() || checked()) return;
  struct Expected {
    ConvProblem p;
    std::int64_t rows, channels, taps;
    std::int64_t rows_of_update, channels_of_update, taps_of_update;
    bool on_the_way;  // dy in pieces
  };
  const std::array<Expected, 4> networks = {
      Expected{flat(128, {224, 224}, 3, 64, {11, 11}, {4, 4}, {2, 2}), 4, 64, 9, 4, 64, 9, true},
      Expected{flat(128, {231, 231}, 3, 96, {11, 11}, {4, 4}, {0, 0}), 4, 64, 9, 4, 64, 9, false},
      Expected{flat(64, {224, 224}, 3, 64, {3, 3}, {1, 1}, {1, 1}), 3, 16, 1, 2, 8, 2, true},
      Expected{flat(128, {224, 224}, 3, 64, {7, 7}, {2, 2}, {3, 3}), 2, 16, 4, 2, 16, 4, true}};
  for (const Expected& e : networks) {
    for (const ConvPass pass : kPasses) {
      ASSERT_TRUE(conv_detail::tensor_cores::takes(pass, e.p));
      const auto cells = conv_detail::piece_cells::choose(pass, e.p);
      ASSERT_TRUE(cells.has_value()) << test::text_of(pass, e.p);
      const bool update = pass == ConvPass::update;
      EXPECT_EQ(cells->size[0], update ? e.rows_of_update : e.rows) << test::text_of(pass, e.p);
      EXPECT_EQ(cells->channels, update ? e.channels_of_update : e.channels);
      EXPECT_EQ(cells->taps.all_taps(), update ? e.taps_of_update : e.taps);
      const std::vector<std::string> launched = ConvPlan(pass, e.p).kernels();
      const auto count = [&](const std::string& name) {
        return std::ranges::count_if(launched, [&](const std::string& l) { return l.starts_with(name); });
      };
      EXPECT_EQ(count("cells_bf16x3"), update ? 1 : 2);
      const bool split = update && e.on_the_way;
      EXPECT_EQ(count("bf16x3"), update && !split ? 1 : 0) << test::text_of(pass, e.p);
      EXPECT_EQ(count("conv_bf16x6"), split ? 0 : 1);
      EXPECT_EQ(count("conv_split"), split ? 1 : 0);
      EXPECT_EQ(count("conv_if"), 1);
    }
  }
  const ConvProblem small = flat(1, {20, 20}, 3, 8, {3, 3}, {1, 1}, {1, 1});
  EXPECT_FALSE(conv_detail::piece_cells::choose(ConvPass::fprop, small).has_value());
  ConvProblem dilated = networks[0].p;
  dilated.dilation = {1, 1, 2};
  EXPECT_TRUE(conv_detail::piece_cells::all(ConvPass::fprop, dilated).empty());
}

}  // namespace
}  // namespace nervanagpu
