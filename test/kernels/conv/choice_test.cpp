// Which kernel a convolution gets: passes that are plain products, and the model that chooses.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kernels/conv/product.h"
#include "kernels/conv/tensor_cores.h"
#include "nervanagpu/conv_plan.hpp"
#include "nervanagpu/error.hpp"
#include "test/kernels/conv/conv_case.h"
#include "test/kernels/conv/on_tensor_cores.h"
#include "test/kernels/conv/random_problem.h"
#include "test/kernels/nn/on_each_device.h"

namespace nervanagpu {
namespace {

using conv_detail::Forced;
using conv_detail::kFitted;
using conv_detail::tensor_cores::Modelled;
using test::ConvCase;

// Padded, so that positions are as many as pixels where the stride is 1.
ConvProblem problem(std::int64_t n, std::int64_t c, std::int64_t side, std::int64_t k, std::int64_t size,
                    std::int64_t stride = 1) {
  return test::square_layer(n, c, side, k, size, stride, size / 2);
}

class ChoiceTest : public test::OnTensorCores {};
NG_ON_EACH_DEVICE(ChoiceTest);

// Each pass of a filter of one tap, with every epilogue, layout and pitch that it has.
TEST_P(ChoiceTest, ProductsAreExact) {
  if (kernels_of("hconv").empty()) return;
  int done = 0;
  while (done < drawn(60, 6)) {
    ConvCase c;
    c.p = test::random_problem(random_, checked() ? 1500 : 20000);
    c.pass = done % 3 == 0 ? ConvPass::fprop : done % 3 == 1 ? ConvPass::bprop : ConvPass::update;
    c.p.groups = 1, c.p.c = 8 + done % 70, c.p.k = 8 + 5 * done % 67;
    c.p.filter = c.p.stride = c.p.dilation = {1, 1, 1}, c.p.pad = {0, 0, 0};
    c.p.x_type = c.p.w_type = c.p.y_type = done % 2 == 0 ? Dtype::float16 : Dtype::bfloat16;
    c.size = 1;
    c.forced.kernel = "_gemm";
    if (!conv_detail::tensor_cores::takes(c.pass, c.p)) continue;
    ++done;
    test::choose_epilogue(random_, c);
    c.shift = 0;
    ASSERT_EQ(test::judge(device_, random_, c), "") << test::text_of(c.pass, c.p);
  }
}

TEST_P(ChoiceTest, MoreThanOneTapIsNoProduct) {
  if (kernels_of("hconv").empty()) return;
  for (const std::int64_t stride : {1, 2}) {
    const ConvProblem p = problem(2, 64, 9, 64, stride == 2 ? 1 : 3, stride);
    EXPECT_THROW(conv_detail::tensor_cores::modelled(ConvPass::fprop, p, {"_gemm", 0, {}, {}}), InvalidArgument);
  }
}

double cost_of(const std::vector<Modelled>& launches) {
  double out = 0;
  for (const Modelled& m : launches) out += m.microseconds(kFitted);
  return out;
}

// Nothing that can be asked for by name is cheaper, by the model, than what is launched.
TEST(Choice, IsTheCheapestByTheModel) {
  const ConvProblem problems[] = {
      problem(128, 832, 7, 160, 1),     problem(128, 832, 7, 48, 1), problem(64, 192, 28, 16, 1),
      problem(64, 64, 56, 64, 3),       problem(64, 64, 56, 256, 3), problem(32, 480, 24, 288, 3),
      problem(64, 1024, 12, 256, 1, 2), problem(128, 32, 28, 96, 5), problem(32, 128, 56, 16, 3)};
  const char* const names[] = {"_gemm",           "_128x64x1",       "_128x128x1",     "_128x256x1",    "_64x192x2",
                               "_halo_128x64",    "_halo_256x128",   "_halo_256x64",   "_haloupdate_3", "_128x192x1",
                               "_swapped_256x64", "_swapped_254x32", "_swapped_458x32"};
  for (const ConvProblem& p : problems) {
    for (const ConvPass pass : {ConvPass::fprop, ConvPass::bprop, ConvPass::update}) {
      const double own = cost_of(conv_detail::tensor_cores::modelled(pass, p));
      for (const char* name : names) {
        std::vector<Modelled> other;
        try {
          other = conv_detail::tensor_cores::modelled(pass, p, {name, 0, {}, {}});
        } catch (const InvalidArgument&) {
          continue;  // not of this problem
        }
        const double clearly = std::string(name).starts_with("_swapped") ? 0.97 : 1;  // else others are kept to
        EXPECT_LE(own, 1.0001 / clearly * cost_of(other)) << test::text_of(pass, p) << " by " << name;
      }
    }
  }
}

// What modelled() says is what a plan launches.
TEST_P(ChoiceTest, IsWhatAPlanLaunches) {
  if (kernels_of("hconv").empty() || checked()) return;
  for (const ConvProblem& p : {problem(64, 64, 28, 64, 3), problem(8, 128, 14, 96, 3), problem(128, 832, 7, 48, 1)}) {
    for (const ConvPass pass : {ConvPass::fprop, ConvPass::bprop, ConvPass::update}) {
      const std::vector<Modelled> said = conv_detail::tensor_cores::modelled(pass, p);
      ASSERT_EQ(said.size(), said[0].kernel == "copy" ? 2U : 1U);
      const std::vector<std::string> launched = ConvPlan(pass, p).kernels();
      ASSERT_FALSE(launched.empty());
      const std::string family = said.back().kernel.substr(0, said.back().kernel.find('_'));
      if (family == "gemm") {
        EXPECT_TRUE(launched[0].find("hgemm") != std::string::npos) << launched[0];
      } else if (family == "haloupdate") {
        EXPECT_TRUE(launched[0].starts_with("halo_update_")) << launched[0];
      } else if (family == "swapped") {
        EXPECT_EQ(launched.size(), said.size());
        EXPECT_EQ(launched.back().substr(launched.back().rfind('_')), said.back().kernel.substr(family.size()));
        EXPECT_TRUE(launched.back().starts_with("halo_swapped_")) << launched.back();
      } else {
        EXPECT_TRUE(launched[0].starts_with(family)) << launched[0] << " for " << said[0].kernel;
        EXPECT_TRUE(launched[0].ends_with(said[0].kernel.substr(said[0].kernel.rfind('_')))) << launched[0];
      }
      if (family == "hconv") {
        const bool sums = said[0].splits > 1 || (pass == ConvPass::update && p.c % 64 != 0);
        EXPECT_EQ(launched.size(), sums ? 2U : 1U);
      }
    }
  }
}

}  // namespace
}  // namespace nervanagpu
