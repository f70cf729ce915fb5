// A filter for each channel: depthwise*.sass.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "kernels/conv/depthwise.h"
#include "test/kernels/conv/conv_case.h"
#include "test/kernels/conv/model.h"
#include "test/kernels/conv/random_problem.h"
#include "test/kernels/nn/elements.h"
#include "test/kernels/nn/on_each_device.h"

namespace nervanagpu {
namespace {

using test::ConvCase;
using Bits = std::vector<std::uint32_t>;

constexpr ConvPass kPasses[] = {ConvPass::fprop, ConvPass::bprop, ConvPass::update};
constexpr Dtype kTypes[] = {Dtype::float32, Dtype::float16, Dtype::bfloat16};

class DepthwiseTest : public test::OnEachDevice {
 protected:
  std::int64_t pick(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random_);
  }

  // Maps of all sizes beside the filter's, more than a strip wide and high, and channels that fill no warp, one or two.
  ConvCase random_case(ConvPass pass) {
    constexpr std::int64_t kSides[] = {3, 3, 5, 7};
    for (;;) {
      ConvCase c;
      c.pass = pass;
      c.p.x_type = c.p.w_type = c.p.y_type = kTypes[pick(0, 2)];
      c.p.n = pick(1, 3);
      c.p.c = pick(0, 5) == 0 ? pick(60, 80) : pick(1, 12);
      if (c.p.x_type != Dtype::float32) c.p.c *= 2;
      c.p.k = c.p.groups = c.p.c;
      const std::int64_t side = kSides[pick(0, 3)];
      c.p.filter = {1, side, side};
      const std::int64_t stride = pick(1, 2);
      c.p.stride = {1, stride, stride};
      if (pick(0, 3) == 0) c.p.in[0] = pick(2, 3);
      for (const std::size_t axis : {1U, 2U}) {
        c.p.in[axis] = pick(1, pick(0, 2) == 0 ? 30 : 9);
        c.p.pad[axis] = pick(0, 1) == 0 ? side / 2 : pick(0, side + 2);
      }
      if (pick(0, 2) == 0) c.p.x_pitch = c.p.c + 2 * pick(0, 3), c.p.y_pitch = c.p.c + 2 * pick(0, 3);
      if (c.p.in[1] + 2 * c.p.pad[1] < side || c.p.in[2] + 2 * c.p.pad[2] < side) continue;
      if (c.p.y_elements() * side * side > (checked() ? 60000 : 300000)) continue;
      c.size = 3;
      return c;
    }
  }
};
NG_ON_EACH_DEVICE(DepthwiseTest);

TEST_P(DepthwiseTest, ExactIntegers) {
  int taken = 0;
  for (int turn = 0; turn < (checked() ? 20 : 120); ++turn) {
    ConvCase c = random_case(kPasses[turn % 3]);
    taken += conv_detail::depthwise::takes(c.pass, c.p) ? 1 : 0;
    test::choose_epilogue(random_, c);
    c.shift = pick(0, 3) == 0 ? 2 : 0;
    if (pick(0, 3) != 0) c.options.rounding = {};
    ASSERT_EQ(test::judge(device_, random_, c), "") << turn;
  }
  EXPECT_GT(taken, checked() ? 5 : 40);
}

}  // namespace
}  // namespace nervanagpu
