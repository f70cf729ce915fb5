// Float16 pieces that passes share: update with those that fprop and bprop have left, beside update of its own.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "kernels/conv/pieces/two_pieces.h"
#include "kernels/conv/tensor_cores.h"
#include "nervanagpu/conv.hpp"
#include "nervanagpu/error.hpp"
#include "test/kernels/conv/on_pieces.h"
#include "test/kernels/nn/elements.h"

namespace nervanagpu {
namespace {

using Floats = std::vector<float>;

std::size_t at(std::int64_t i) {
  return static_cast<std::size_t>(i);
}

// A layer's tensors, and passes of it from two pieces.
class Layer {
 public:
  Layer(Device& device, ConvProblem problem, std::mt19937& random) : device_(device), p(std::move(problem)) {
    p.precision = Precision::tensor;
    x = normal(p.x_elements(), random), w = normal(p.w_elements(), random), dy = normal(p.y_elements(), random);
  }

  Floats pass(ConvPass which, const ConvPieces& of_x = {}, const ConvPieces& of_y = {},
              const char* kernel = "_f16_128x128") {
    const conv_detail::Roles roles = conv_detail::roles_of(which);
    const Tensor in1 = upload(which == ConvPass::fprop ? x : dy);
    const Tensor in2 = upload(which == ConvPass::update ? x : w);
    Tensor out = Tensor::empty({elements_of(p, roles.out)}, Dtype::float32);
    conv_detail::Forced forced;
    forced.kernel = kernel, forced.splits = 1;
    const std::size_t bytes = conv_detail::tensor_cores::workspace(which, p, forced);
    const Tensor workspace = Tensor::empty({static_cast<std::int64_t>(bytes)}, Dtype::uint8);
    ConvPointers pointers;
    pointers.in1 = in1.address(), pointers.in2 = in2.address(), pointers.out = out.address();
    pointers.workspace = workspace.address();
    pointers.x_pieces = of_x, pointers.y_pieces = of_y;
    conv_detail::tensor_cores::queue(device_, which, p, pointers, {}, {}, forced);
    return out.to_host<float>();
  }
  // From three pieces: what is launched where two do not do.
  Floats in_three() { return pass(ConvPass::update, {}, {}, "_128x128"); }
  [[nodiscard]] Tensor room(bool of_x) const {
    const std::int64_t channels = of_x ? p.c : p.k;
    const std::size_t bytes = conv_pieces_bytes((of_x ? p.x_elements() : p.y_elements()) / channels, channels);
    return Tensor::empty({static_cast<std::int64_t>(bytes)}, Dtype::uint8);
  }
  // dw, with dx and y if they are wanted, from pieces made once.
  struct All {
    Floats y, dx, dw;
  };
  All shared(bool of_x, bool of_y) {
    const Tensor x_room = room(true), y_room = room(false);
    const ConvPieces x_at = {of_x ? x_room.address() : 0, false}, y_at = {of_y ? y_room.address() : 0, false};
    All out;
    out.y = pass(ConvPass::fprop, x_at, {});
    out.dx = pass(ConvPass::bprop, {}, y_at);
    out.dw = pass(ConvPass::update, {x_at.address, of_x}, {y_at.address, of_y});
    return out;
  }

 private:
  static Floats normal(std::int64_t count, std::mt19937& random) {
    std::normal_distribution<float> draw;
    Floats out(at(count));
    for (float& v : out) v = draw(random);
    return out;
  }
  static Tensor upload(const Floats& values) {
    return Tensor::from_host<float>(values, {static_cast<std::int64_t>(values.size())});
  }

  Device& device_;

 public:
  ConvProblem p;
  Floats x, w, dy;
};

ConvProblem problem_of(std::int64_t n, std::int64_t c, std::int64_t k, std::int64_t side, std::int64_t taps,
                       std::int64_t stride = 1) {
  ConvProblem p;
  p.n = n, p.c = c, p.k = k, p.in = {1, side, side}, p.filter = {1, taps, taps};
  p.pad = {0, taps / 2, taps / 2}, p.stride = {1, stride, stride};
  return p;
}

class SharedPiecesTest : public test::OnPieces {
 protected:
  SharedPiecesTest() : OnPieces("_f16") {}
  [[nodiscard]] bool idle() const { return kernels_of("conv_f16x3").empty(); }
};
NG_ON_EACH_DEVICE(SharedPiecesTest);

// Of one operand, of the other, of both: no bit is another, of any pass.
TEST_P(SharedPiecesTest, BitsOfPassesApart) {
  if (idle()) return;
  for (const ConvProblem& p : {problem_of(3, 68, 36, 9, 3), problem_of(2, 12, 200, 7, 1),
                               problem_of(2, 132, 64, 8, 3, 2), problem_of(5, 64, 128, 5, 5)}) {
    Layer layer(device_, p, random_);
    const Layer::All apart = layer.shared(false, false);
    for (const int kinds : {1, 2, 3}) {
      const Layer::All got = layer.shared((kinds & 1) != 0, (kinds & 2) != 0);
      EXPECT_EQ(got.y, apart.y) << kinds;
      EXPECT_EQ(got.dx, apart.dx) << kinds;
      EXPECT_EQ(got.dw, apart.dw) << kinds;
    }
    if (checked()) return;
  }
}

// update does take them: it does not see what dy and x have become.
TEST_P(SharedPiecesTest, UpdateReadsPieces) {
  if (checked() || idle()) return;
  Layer layer(device_, problem_of(3, 68, 36, 9, 3), random_);
  const Floats want = layer.pass(ConvPass::update);
  const Tensor x_room = layer.room(true), y_room = layer.room(false);
  layer.pass(ConvPass::fprop, {x_room.address(), false}, {});
  layer.pass(ConvPass::bprop, {}, {y_room.address(), false});
  layer.x.assign(layer.x.size(), 1.0F), layer.dy.assign(layer.dy.size(), 1.0F);
  EXPECT_EQ(layer.pass(ConvPass::update, {x_room.address(), true}, {y_room.address(), true}), want);
  EXPECT_NE(layer.pass(ConvPass::update, {x_room.address(), true}, {}), want);
  EXPECT_NE(layer.pass(ConvPass::update, {}, {y_room.address(), true}), want);
}

// Channels that are no fours are not shared, and what is said to be made is not read.
TEST_P(SharedPiecesTest, OddChannels) {
  if (checked() || idle()) return;
  Layer layer(device_, problem_of(3, 66, 37, 9, 3), random_);
  const Floats want = layer.pass(ConvPass::update);
  EXPECT_EQ(layer.shared(true, true).dw, want);
}

// Single elements without good pieces: beside large ones, where bprop's pieces keep them, and alone. update leaves all of them out, and adds
// their products.
TEST_P(SharedPiecesTest, LostElements) {
  if (idle()) return;
  Layer layer(device_, problem_of(2, 20, 36, 8, 3), random_);
  constexpr std::int64_t kChannel = 7, kFilter = 9;  // of which lost elements alone are left
  const auto only = [](Floats& v, std::int64_t columns, std::int64_t column) {
    for (std::size_t i = at(column); i < v.size(); i += at(columns)) v[i] = 0;
  };
  only(layer.x, 20, kChannel);
  only(layer.dy, 36, kFilter);
  layer.x[at(23 * 20 + kChannel)] = 1.234567e-10F;
  layer.x[at(90 * 20 + kChannel)] = -7.654321e-13F;
  layer.dy[at(11 * 36 + kFilter)] = 3.141592e-11F;
  for (std::int64_t i = 0; i < 36; ++i) {
    if (i != 3) layer.dy[at(60 * 36 + i)] = 0;
  }
  layer.dy[at(60 * 36 + 3)] = 5e-11F;  // a pixel of small elements: bprop leaves it out, too
  const Layer::All apart = layer.shared(false, false);
  EXPECT_NE(apart.dw, layer.in_three());
  for (const int kinds : {1, 2, 3}) {
    const Layer::All got = layer.shared((kinds & 1) != 0, (kinds & 2) != 0);
    EXPECT_EQ(got.dx, apart.dx) << kinds;
    EXPECT_EQ(got.dw, apart.dw) << kinds;
  }
  if (checked()) return;
  // More than CTAs have room for: three pieces.
  for (std::int64_t i = 0; i < 30; ++i) layer.dy[at((12 + i) * 36 + kFilter)] = 3e-11F;
  EXPECT_EQ(layer.shared(true, true).dw, layer.in_three());
}

// What two pieces cannot hold: the passes fall back, each by what it finds.
TEST_P(SharedPiecesTest, OutOfRange) {
  if (checked() || idle()) return;
  for (const float v : {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN(), 3e38F}) {
    Layer layer(device_, problem_of(2, 20, 36, 8, 3), random_);
    layer.dy[at(777)] = v;
    const Floats want = layer.pass(ConvPass::update);
    const Floats got = layer.shared(true, true).dw;
    for (std::size_t i = 0; i < want.size(); ++i) {
      ASSERT_TRUE(want[i] == got[i] || (std::isnan(want[i]) && std::isnan(got[i]))) << i;
    }
  }
}

// The library's own choice: who makes pieces says so.
TEST_P(SharedPiecesTest, Choice) {
  if (checked() || idle()) return;
  ConvProblem p = problem_of(1, 256, 512, 14, 3);
  p.precision = Precision::tensor;
  ConvPointers at;
  at.in1 = at.in2 = at.out = at.workspace = std::uint64_t{1} << 20;
  while (p.n < 256 && !conv_detail::two_pieces::chosen(ConvPass::update, p)) ++p.n;
  p.n *= 2;
  for (const ConvPass pass : test::kPasses) {
    EXPECT_TRUE(conv_makes_pieces(pass, p, at));
    ConvOptions stochastic;
    stochastic.rounding = {true, 1, 2, 10};
    EXPECT_EQ(conv_makes_pieces(pass, p, at, stochastic), pass == ConvPass::fprop);
    ConvProblem other = p;
    other.precision = Precision::strict;
    EXPECT_FALSE(conv_makes_pieces(pass, other, at));
    other = p;
    other.layout = Layout::batch_last;
    EXPECT_FALSE(conv_makes_pieces(pass, other, at));
    other = p;
    other.n = 1, other.in = {1, 2, 2};
    EXPECT_FALSE(conv_makes_pieces(pass, other, at));
  }
}

}  // namespace
}  // namespace nervanagpu
