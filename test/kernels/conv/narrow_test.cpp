// narrow.sass: every variant and way of loading, epilogues, results that it stores by copies or not, layouts, and special values.
#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "kernels/conv/narrow/narrow_choice.h"
#include "kernels/conv/tensor_cores.h"
#include "test/kernels/conv/conv_case.h"
#include "test/kernels/conv/gathered_product.h"
#include "test/kernels/conv/on_tensor_cores.h"
#include "test/kernels/conv/random_problem.h"
#include "test/kernels/nn/on_each_device.h"

namespace nervanagpu {
namespace {

using conv_detail::narrow::Load;
using test::ConvCase;
using Bits = std::vector<std::uint32_t>;

class NarrowTest : public test::OnTensorCores {
 protected:
  [[nodiscard]] static std::string end_of(const Kernel& k) {
    return "_narrow_" + k.manifest().variant.at("ROW") + "_" + k.manifest().variant.at("BN");
  }
  [[nodiscard]] static Dtype type_of(const Kernel& k) {
    return k.manifest().variant.at("XT") == "f16" ? Dtype::float16 : Dtype::bfloat16;
  }

  // Several tiles along both sides and several images, edges of x in the midst of tiles.
  [[nodiscard]] ConvCase case_of(const Kernel& k) const {
    ConvCase c;
    const std::int64_t row = k.number("ROW");
    const std::string& load = k.manifest().variant.at("LOAD");
    const bool pairs = row == 16 && k.number("BN") == 128;
    c.p.x_type = c.p.w_type = c.p.y_type = type_of(k);
    c.p.n = checked() ? 1 : 3, c.p.c = load == "any" ? 2 : 3, c.p.k = pairs ? 40 : k.number("BN") - 16;
    c.p.filter = {1, 3, row == 32 ? 11 : 5}, c.p.pad = {0, 2, 3};
    c.p.stride = {1, pairs ? 1 : 2, pairs ? 1 : row / 8};
    c.p.in = {1, 19, load == "boxes" ? 72 : 69 + (pairs ? 1 : 0)};
    if (load == "words" && c.p.in[1] * c.p.in[2] * c.p.n % 2 != 0) c.p.in[1] = 20;
    if (pairs && (c.p.in[2] + 2 * c.p.pad[2] - c.p.filter[2] + 1) % 2 != 0) ++c.p.in[2];
    c.forced.kernel = end_of(k);
    c.size = 1;
    return c;
  }
};
NG_ON_EACH_DEVICE(NarrowTest);

TEST_P(NarrowTest, EveryVariant) {
  std::set<std::string> loads;
  for (const Kernel* k : kernels_of("narrow")) {
    ConvCase c = case_of(*k);
    const auto choice = conv_detail::narrow::choose(c.p, c.forced);
    ASSERT_TRUE(choice) << k->name();
    const Load load = conv_detail::narrow::load_of(c.p, *choice, 256);
    ASSERT_EQ(conv_detail::narrow::find(device_.registry(), c.p.x_type, load, *choice), k) << k->name();
    loads.insert(k->manifest().variant.at("LOAD"));
    ASSERT_EQ(judge_form(*k, c), "") << k->name();
    if (checked()) continue;
    c.options.relu = true;
    ASSERT_EQ(judge_form(*k, c), "") << k->name();
    c.bias = true;
    ASSERT_EQ(judge_form(*k, c), "") << k->name();
    c.options.beta = -1.0F;
    c.options.alpha = 2.0F;
    ASSERT_EQ(judge_form(*k, c), "") << k->name();
  }
  EXPECT_EQ(loads.size(), kernels_of("narrow").empty() ? 0U : 3U);
}

// However the pixels come: the sums are the same.
TEST_P(NarrowTest, BitsDoNotDependOnTheLoads) {
  if (checked()) return;
  for (const Kernel* k : kernels_of("narrow")) {
    if (k->manifest().variant.at("LOAD") == "any") continue;
    ConvCase c = case_of(*k);
    const Bits x = numbers(c.p.x_elements(), c.p.x_type);
    const Bits w = numbers(c.p.w_elements(), c.p.x_type);
    const Bits got = test::run(device_, c, x, w);
    c.shift = 1;  // x begins in the midst of a word
    const auto choice = conv_detail::narrow::choose(c.p, c.forced);
    ASSERT_EQ(conv_detail::narrow::load_of(c.p, *choice, 2), Load::any);
    ASSERT_EQ(got, test::run(device_, c, x, w)) << k->name();
  }
}

// The class "tensor": the bits are those of a product whose sums run over lines of taps, four pixels of four channels at a time. At
// stride 1 the second of a pair has its taps a pixel further on.
TEST_P(NarrowTest, SumsAreThoseOfTheGatheredProduct) {
  if (checked() || kernels_of("narrow").empty()) return;
  constexpr std::int64_t kFour = 4;
  for (const std::int64_t stride : {1, 2, 4}) {
    ConvCase c;
    c.p.x_type = c.p.w_type = c.p.y_type = Dtype::float16;
    c.p.n = 2, c.p.c = 3, c.p.k = 24, c.p.in = {1, 12, 29 + stride % 2}, c.p.filter = {1, 3, 7}, c.p.pad = {0, 1, 3};
    c.p.stride = {1, 2, stride};
    c.forced.kernel = "_narrow_" + std::to_string(stride == kFour ? 32 : 16) + "_64";
    const Bits x = numbers(c.p.x_elements(), Dtype::float16);
    const Bits w = numbers(c.p.w_elements(), Dtype::float16);
    const Bits got = test::run(device_, c, x, w);
    const std::int64_t line = 8 * kFour;  // seven taps, or eight pixels of a pair
    for (std::int64_t second = 0; second < (stride == 1 ? 2 : 1); ++second) {
      const auto l_of = [&](std::int64_t r, std::int64_t s, std::int64_t channel) {
        return r * line + (s + second) * kFour + channel;
      };
      const Bits wanted = test::gathered_product(c.p, x, w, c.p.filter[1] * line, l_of);
      ASSERT_EQ(got.size(), wanted.size());
      for (std::size_t i = 0; i < got.size(); ++i) {
        const std::int64_t column = static_cast<std::int64_t>(i) / c.p.k % c.p.out()[2];
        if (stride == 1 && column % 2 != second) continue;
        ASSERT_EQ(got[i], wanted[i]) << "stride " << stride << ", element " << i;
      }
    }
  }
}

TEST_P(NarrowTest, RandomProblemsOfEveryLayout) {
  if (kernels_of("narrow").empty()) return;
  int done = 0;
  while (done < drawn(60, 4)) {
    ConvCase c;
    c.p = test::random_first_layer(random_, checked() ? 1500 : 20000, done);
    c.pass = ConvPass::fprop;
    c.size = 1;
    const auto choice = conv_detail::narrow::choose(c.p);
    if (!choice || !conv_detail::tensor_cores::takes(c.pass, c.p)) continue;
    c.forced.kernel = "_narrow_" + std::to_string(choice->row) + "_" + std::to_string(choice->tile.bn);
    ++done;
    test::choose_epilogue(random_, c);
    ASSERT_EQ(test::judge(device_, random_, c), "");
  }
}

// A NaN reaches the outputs whose pixels, padded to groups of four, it is one of: docs/convolution.md.
TEST_P(NarrowTest, NanStaysInTheGroupsOfFour) {
  if (checked() || kernels_of("narrow").empty()) return;
  for (const std::int64_t stride : {1, 2, 4}) {
    ConvCase c;
    c.p.n = 1, c.p.c = 3, c.p.k = 8, c.p.in = {1, 23, 28}, c.p.filter = {1, 3, 5}, c.p.pad = {0, 1, 2};
    c.p.stride = {1, 2, stride};
    c.p.x_type = c.p.w_type = c.p.y_type = Dtype::float16;
    c.forced.kernel = "_narrow_" + std::to_string(stride == 4 ? 32 : 16) + "_64";
    const Bits w = numbers(c.p.w_elements(), Dtype::float16);
    const auto out = c.p.out();
    for (const std::int64_t column : {0, 9, 12, 27}) {
      constexpr std::int64_t kRow = 7;
      Bits x(static_cast<std::size_t>(c.p.x_elements()), 0x3c00);  // 1
      x[static_cast<std::size_t>((kRow * c.p.in[2] + column) * c.p.c)] = 0x7e00;
      const Bits got = test::run(device_, c, x, w);
      for (std::int64_t p = 0; p < out[1]; ++p) {
        for (std::int64_t q = 0; q < out[2]; ++q) {
          const std::int64_t r = kRow - p * c.p.stride[1] + c.p.pad[1];
          const std::int64_t s = column - q * stride + c.p.pad[2];
          const std::int64_t from = stride == 1 ? s + q % 2 : s;  // of a pair's first
          const bool in_groups = r >= 0 && r < c.p.filter[1] && from >= 0 && from < 8;
          const bool nan = (got[static_cast<std::size_t>((p * out[2] + q) * c.p.k)] & 0x7fff) > 0x7c00;
          EXPECT_EQ(nan, in_groups) << "stride " << stride << ", NaN at " << column << ": output " << p << ", " << q;
        }
      }
    }
  }
}

// It is what runs first layers; not where it would be slower, or cannot.
TEST(NarrowChoice, FirstLayers) {
  const auto taken = [](auto... sizes) {
    const ConvProblem p = test::square_layer(sizes...);
    const auto choice = conv_detail::narrow::choose(p);
    return choice && conv_detail::narrow::pays(p, *choice);
  };
  EXPECT_TRUE(taken(128, 3, 224, 64, 11, 4, 2));
  EXPECT_TRUE(taken(128, 3, 231, 96, 11, 4, 0));
  EXPECT_TRUE(taken(64, 3, 224, 64, 3, 1, 1));
  EXPECT_TRUE(taken(128, 3, 224, 64, 7, 2, 3));
  EXPECT_FALSE(taken(128, 3, 224, 64, 7, 3, 3));  // a stride of no words
  EXPECT_FALSE(taken(128, 5, 224, 64, 7, 2, 3));  // five channels
  EXPECT_FALSE(taken(64, 3, 224, 128, 3, 1, 1));  // 256 columns of pairs
  EXPECT_FALSE(taken(64, 3, 224, 64, 23, 4, 2));  // filters that do not fit
}

}  // namespace
}  // namespace nervanagpu
