// halo_update.sass: every variant, shapes at its limits, and pixels that are not finite.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kernels/conv/tensor_cores.h"
#include "test/kernels/conv/conv_case.h"
#include "test/kernels/conv/on_tensor_cores.h"
#include "test/kernels/nn/on_each_device.h"

namespace nervanagpu {
namespace {

using test::ConvCase;
using Bits = std::vector<std::uint32_t>;

class HaloUpdateTest : public test::OnTensorCores {
 protected:
  // Several splits, none full; two planes, the second one's channels fewer than 16.
  [[nodiscard]] static ConvCase update_case(const Kernel& k) {
    ConvCase c;
    c.pass = ConvPass::update;
    c.p.x_type = c.p.w_type = c.p.y_type = k.manifest().variant.at("XT") == "f16" ? Dtype::float16 : Dtype::bfloat16;
    c.p.n = 3, c.p.in = {1, 11, 13}, c.p.filter = {1, 3, k.number("TS")}, c.p.pad = {0, 2, 1};
    c.p.c = 24, c.p.k = 72;
    c.forced.kernel = "_haloupdate_" + std::to_string(k.number("TS"));
    c.size = 1;
    return c;
  }
};
NG_ON_EACH_DEVICE(HaloUpdateTest);

TEST_P(HaloUpdateTest, EveryVariant) {
  for (const Kernel* k : kernels_of("halo_update")) {
    ConvCase c = update_case(*k);
    ASSERT_EQ(judge_form(*k, c), "") << k->name();
    if (checked()) continue;
    c.options.alpha = 2.0F, c.options.beta = -1.0F;
    ASSERT_EQ(judge_form(*k, c), "") << k->name();
  }
}

TEST_P(HaloUpdateTest, Limits) {
  struct Shape {
    std::int64_t n, c, h, w, k, r, s, pad_h, pad_w, dil_h, dil_w;
  };
  constexpr Shape kShapes[] = {
      {1, 1, 1, 2, 1, 1, 2, 0, 0, 1, 1},      // one channel, position and filter
      {1, 3, 2, 1, 5, 4, 3, 3, 2, 1, 1},      // a filter larger than the image
      {2, 16, 5, 7, 64, 3, 3, 5, 6, 1, 1},    // more padding than the filter meets
      {2, 17, 9, 11, 65, 3, 2, 1, 2, 3, 4},   // dilation; a filter and a channel more than whole ones
      {1, 80, 6, 5, 8, 5, 5, 2, 2, 1, 1},     // five planes of five lines of taps: several CTAs
      {3, 8, 4, 3, 9, 1, 3, 0, 1, 1, 1},      // one line of taps
      {3, 8, 4, 3, 9, 3, 1, 1, 0, 1, 1},      // one tap a line
      {1, 4, 19, 33, 3, 14, 7, 13, 6, 1, 1},  // more lines than a CTA takes
  };
  for (const Shape& s : kShapes) {
    for (const Kernel* k : kernels_of("halo_update")) {
      if (k->number("TS") < s.s || k->manifest().variant.at("XT") != "f16") continue;
      ConvCase c = update_case(*k);
      c.p.n = s.n, c.p.in = {1, s.h, s.w}, c.p.c = s.c, c.p.k = s.k, c.p.filter = {1, s.r, s.s};
      c.p.pad = {0, s.pad_h, s.pad_w}, c.p.dilation = {1, s.dil_h, s.dil_w};
      for (const std::int64_t splits : {0, 1}) {
        if (checked() && splits == 0) continue;
        c.forced.splits = splits;
        EXPECT_EQ(test::judge(device_, random_, c), "") << k->name();
      }
    }
  }
}

// Corners and borders are met by some taps alone: the others' sums are finite, as hconv.sass's are.
TEST_P(HaloUpdateTest, PixelsThatAreNotFinite) {
  std::size_t turn = 0;
  for (const Kernel* k : kernels_of("halo_update")) {
    if (checked() && turn >= 2) break;
    for (int i = 0; i < 2; ++i, ++turn) {
      ConvCase c = update_case(*k);
      c.p.n = 2;
      const Bits dy = ones_and_twos(c.p.y_elements(), c.p.x_type);
      Bits x = ones_and_twos(c.p.x_elements(), c.p.x_type);
      const std::int64_t row = c.p.in[2] * c.p.c;
      const std::int64_t places[] = {0, row - 1, 5 * row + 7, c.p.x_elements() - 1};
      x[static_cast<std::size_t>(places[turn % 4])] = not_finite(c.p.x_type, turn);
      c.forced.splits = turn % 5 == 0 ? 3 : 1;
      ConvCase other = c;
      other.forced.kernel = "_128x64x1";
      ASSERT_EQ(test::run(device_, c, dy, x), test::run(device_, other, dy, x)) << k->name() << ", turn " << turn;
    }
  }
}

}  // namespace
}  // namespace nervanagpu
