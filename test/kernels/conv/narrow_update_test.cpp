// narrow_update.sass: every variant and way of loading, its limits, layouts and epilogues, sums of many CTAs, and pixels that are
// not finite.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "kernels/conv/narrow/narrow_update_choice.h"
#include "kernels/conv/tensor_cores.h"
#include "test/kernels/conv/conv_case.h"
#include "test/kernels/conv/on_tensor_cores.h"
#include "test/kernels/conv/random_problem.h"
#include "test/kernels/nn/on_each_device.h"

namespace nervanagpu {
namespace {

using conv_detail::narrow::Load;
using test::ConvCase;
using Bits = std::vector<std::uint32_t>;

class NarrowUpdateTest : public test::OnTensorCores {
 protected:
  // Several tiles along both sides and several images, edges of x and y in the midst of tiles; more columns of dy than one CTA has.
  [[nodiscard]] ConvCase case_of(const Kernel& k) const {
    ConvCase c;
    const std::int64_t row = k.number("ROW");
    const std::int64_t taps = k.number("TR");
    const std::string& load = k.manifest().variant.at("LOAD");
    const bool pairs = row == 16 && taps != 7;
    c.pass = ConvPass::update;
    c.p.x_type = c.p.w_type = c.p.y_type = k.manifest().variant.at("XT") == "f16" ? Dtype::float16 : Dtype::bfloat16;
    c.p.n = checked() ? 1 : 3, c.p.c = load == "any" ? 2 : 3, c.p.k = 72;
    c.p.filter = {1, taps, row == 32 ? 11 : 5}, c.p.pad = {0, 2, 3};
    c.p.stride = {1, pairs ? 1 : 2, pairs ? 1 : row / 8};
    c.p.in = {1, 19, load == "boxes" ? 72 : 69 + (pairs ? 1 : 0)};
    if (load == "words" && c.p.in[1] * c.p.in[2] * c.p.n % 2 != 0) c.p.in[1] = 20;
    if (pairs && (c.p.in[2] + 2 * c.p.pad[2] - c.p.filter[2] + 1) % 2 != 0) ++c.p.in[2];
    if (pairs && load == "boxes") c.p.in[2] = 72, c.p.filter[2] = 3, c.p.pad[2] = 1;
    c.forced.kernel = "_narrowupdate_" + std::to_string(row) + "_" + std::to_string(taps);
    c.size = 1;
    return c;
  }
};
NG_ON_EACH_DEVICE(NarrowUpdateTest);

TEST_P(NarrowUpdateTest, EveryVariant) {
  std::set<std::string> loads;
  for (const Kernel* k : kernels_of("narrow_update")) {
    ConvCase c = case_of(*k);
    const auto choice = conv_detail::narrow_update::choose(c.p, c.forced);
    ASSERT_TRUE(choice) << k->name();
    const Load load = conv_detail::narrow::load_of(c.p, choice->patch, 256);
    ASSERT_EQ(conv_detail::narrow_update::find(device_.registry(), c.p.x_type, load, *choice), k) << k->name();
    loads.insert(k->manifest().variant.at("LOAD"));
    ASSERT_EQ(judge_form(*k, c), "") << k->name();
    if (checked()) continue;
    for (const int ctas : {1, 2}) {  // which have several tiles each
      c.forced.splits = ctas;
      ASSERT_EQ(judge_form(*k, c), "") << k->name();
    }
    c.options.alpha = 2.0F, c.options.beta = -1.0F;
    ASSERT_EQ(judge_form(*k, c), "") << k->name();
  }
  EXPECT_EQ(loads.size(), kernels_of("narrow_update").empty() ? 0U : 3U);
}

TEST_P(NarrowUpdateTest, Limits) {
  struct Shape {
    std::int64_t n, c, h, w, k, r, s, stride_h, stride_w, pad_h, pad_w;
  };
  constexpr Shape kShapes[] = {
      {1, 1, 1, 2, 8, 1, 1, 1, 1, 0, 0},       // one tap, a pair
      {1, 4, 3, 4, 8, 3, 3, 1, 1, 3, 3},       // more padding than the filter meets
      {1, 3, 2, 2, 16, 7, 7, 3, 2, 4, 4},      // a filter larger than the image
      {2, 2, 9, 33, 65, 3, 7, 1, 4, 0, 3},     // filters that are copied first; lines without a stride
      {1, 3, 40, 9, 200, 11, 12, 4, 4, 5, 5},  // four CTAs along the columns
      {2, 3, 8, 8, 136, 3, 7, 1, 1, 1, 3},     // pairs: three of them
      {1, 3, 17, 16, 8, 5, 3, 2, 1, 2, 1},     // lines with a stride, columns without
      {1, 1, 1, 1, 1, 1, 1, 2, 2, 0, 0},       // one of everything
  };
  for (const Shape& s : kShapes) {
    if (kernels_of("narrow_update").empty()) return;
    ConvCase c;
    c.pass = ConvPass::update;
    c.p.x_type = c.p.w_type = c.p.y_type = Dtype::float16;
    c.p.n = s.n, c.p.in = {1, s.h, s.w}, c.p.c = s.c, c.p.k = s.k, c.p.filter = {1, s.r, s.s};
    c.p.stride = {1, s.stride_h, s.stride_w}, c.p.pad = {0, s.pad_h, s.pad_w};
    c.size = 1;
    const auto choice = conv_detail::narrow_update::choose(c.p);
    ASSERT_TRUE(choice) << s.r << " x " << s.s;
    c.forced.kernel = "_" + conv_detail::narrow_update::name_of(*choice);
    EXPECT_EQ(test::judge(device_, random_, c), "") << s.r << " x " << s.s;
  }
}

TEST_P(NarrowUpdateTest, RandomProblemsOfEveryLayout) {
  if (kernels_of("narrow_update").empty()) return;
  int done = 0;
  while (done < drawn(60, 4)) {
    ConvCase c;
    c.p = test::random_first_layer(random_, checked() ? 1500 : 20000, done);
    c.pass = ConvPass::update;
    c.size = 1;
    if (c.p.stride[2] == 1) c.p.k = 8 * (1 + c.p.k / 8);
    const auto choice = conv_detail::narrow_update::choose(c.p);
    if (!choice || !conv_detail::tensor_cores::takes(c.pass, c.p)) continue;
    c.forced.kernel = "_" + conv_detail::narrow_update::name_of(*choice);
    if (done % 3 == 0) c.forced.splits = 1 + done % 5;
    ++done;
    test::choose_epilogue(random_, c);
    if (c.p.layout == Layout::channels_last) c.shift = 0;  // dy is the copy engine's
    ASSERT_EQ(test::judge(device_, random_, c), "");
  }
}

// However the pixels come, the sums are the same: those of products of 16 rows of a tile in ascending order, of a CTA's tiles.
TEST_P(NarrowUpdateTest, BitsDoNotDependOnTheLoads) {
  if (checked()) return;
  for (const Kernel* k : kernels_of("narrow_update")) {
    if (k->manifest().variant.at("LOAD") == "any") continue;
    ConvCase c = case_of(*k);
    const Bits dy = numbers(c.p.y_elements(), c.p.x_type);
    const Bits x = numbers(c.p.x_elements(), c.p.x_type);
    const Bits got = test::run(device_, c, dy, x);
    c.p.x_pitch = c.p.c + 1;  // pixels with a gap
    const auto choice = conv_detail::narrow_update::choose(c.p, c.forced);
    ASSERT_EQ(conv_detail::narrow::load_of(c.p, choice->patch, 256), Load::any);
    ASSERT_EQ(got, test::run(device_, c, dy, x)) << k->name();
  }
}

// Rows of tiles that are outside y meet pixels that others meet with other taps: their sums stay finite, as hconv.sass's do.
TEST_P(NarrowUpdateTest, PixelsThatAreNotFinite) {
  std::size_t turn = 0;
  for (const Kernel* k : kernels_of("narrow_update")) {
    if (checked() && turn >= 2) break;
    for (int i = 0; i < 4; ++i, ++turn) {
      ConvCase c = case_of(*k);
      c.p.n = 2, c.p.k = 24;
      const Bits dy = ones_and_twos(c.p.y_elements(), c.p.x_type);
      Bits x = ones_and_twos(c.p.x_elements(), c.p.x_type);
      const std::int64_t row = c.p.in[2] * c.p.c;
      const std::int64_t places[] = {0, row - 1, 5 * row + 7, c.p.x_elements() - 1, c.p.x_elements() / 2 - row - 1};
      x[static_cast<std::size_t>(places[turn % 5])] = not_finite(c.p.x_type, turn);
      c.forced.splits = turn % 2 == 0 ? 3 : 1;
      ConvCase other = c;
      other.forced.splits = 1;
      other.forced.kernel = "_128x64x1";
      ASSERT_EQ(test::run(device_, c, dy, x), test::run(device_, other, dy, x)) << k->name() << ", turn " << turn;
    }
  }
}

// It is what updates first layers; not where it would be slower, or cannot.
TEST(NarrowUpdateChoice, FirstLayers) {
  const auto taken = [](auto... sizes) {
    const ConvProblem p = test::square_layer(sizes...);
    const auto choice = conv_detail::narrow_update::choose(p);
    return choice && conv_detail::narrow_update::pays(p, *choice);
  };
  EXPECT_TRUE(taken(128, 3, 224, 64, 11, 4, 2));
  EXPECT_TRUE(taken(64, 3, 224, 64, 3, 1, 1));
  EXPECT_TRUE(taken(128, 3, 224, 64, 7, 2, 3));
  EXPECT_FALSE(taken(128, 3, 231, 96, 11, 4, 0));  // lines that are loaded by words, and two tiles of filters
  EXPECT_FALSE(taken(512, 4, 84, 32, 8, 4, 0));    // four channels, by elements
  EXPECT_FALSE(taken(128, 3, 224, 64, 7, 3, 3));   // a stride of no words
  EXPECT_FALSE(taken(128, 5, 224, 64, 7, 2, 3));   // five channels
  EXPECT_FALSE(taken(64, 3, 224, 60, 3, 1, 1));    // pairs that are no rows of 16 bytes
}

}  // namespace
}  // namespace nervanagpu
