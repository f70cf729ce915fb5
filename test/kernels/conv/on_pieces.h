// What the tests of float32 convolutions by pieces share.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>

#include "kernels/conv/tensor_cores.h"
#include "test/kernels/conv/conv_case.h"
#include "test/kernels/conv/on_tensor_cores.h"
#include "test/kernels/conv/random_problem.h"
#include "test/kernels/nn/elements.h"

namespace nervanagpu::test {

inline constexpr ConvPass kPasses[] = {ConvPass::fprop, ConvPass::bprop, ConvPass::update};

class OnPieces : public OnTensorCores {
 protected:
  // kind: what stands before a tile where a kernel is named.
  explicit OnPieces(std::string kind) : kind_(std::move(kind)) {}

  // Several tiles, none full, several chunks.
  [[nodiscard]] ConvCase case_of(ConvPass pass, std::int64_t columns, std::int64_t rows = 128) const {
    ConvCase c;
    c.pass = pass;
    c.p.precision = Precision::tensor;
    c.p.n = 3, c.p.in = {1, 7, 9}, c.p.filter = {1, 3, 2}, c.p.pad = {0, 1, 1};
    c.p.c = pass == ConvPass::fprop ? 70 : pass == ConvPass::bprop ? columns + 6 : 61;
    c.p.k = pass == ConvPass::fprop ? columns + 6 : pass == ConvPass::bprop ? 70 : 133;
    c.forced.kernel = kind_ + "_" + std::to_string(rows) + "x" + std::to_string(columns);
    c.forced.splits = 1;
    c.size = 180;
    return c;
  }
  [[nodiscard]] ConvCase case_of(const Kernel& k) const {
    const std::string& pass = k.manifest().variant.at("PASS");
    const bool backward = pass == "b" || pass == "c";
    ConvCase c = case_of(pass == "f" ? ConvPass::fprop
                         : backward  ? ConvPass::bprop
                                     : ConvPass::update,
                         std::stol(k.name().substr(k.name().rfind('x') + 1)), k.number("BM"));
    if (pass == "c") c.p.stride = {1, 2, 2};
    return c;
  }
  Bits first_of(const ConvCase& c) {
    return numbers(c.pass == ConvPass::fprop ? c.p.x_elements() : c.p.y_elements(), Dtype::float32);
  }
  Bits second_of(const ConvCase& c) {
    return numbers(c.pass == ConvPass::update ? c.p.x_elements() : c.p.w_elements(), Dtype::float32);
  }
  // By conv.sass, in one part.
  Bits strict(ConvCase c, const Bits& in1, const Bits& in2) {
    c.p.precision = Precision::strict;
    c.forced = {};
    c.forced.splits = 1;
    return run(device_, c, in1, in2);
  }

  // Exact integers by this kernel: plainly, in parts with an epilogue, and added to odd places.
  void expect_exact(const Kernel& k) {
    ConvCase c = case_of(k);
    if (checked()) c.p.n = 1;
    ASSERT_EQ(judge(device_, random_, c), "") << k.name();
    c.options.relu = c.pass == ConvPass::fprop;  // bits of it in the epilogue
    c.mask = c.pass != ConvPass::update;
    c.mask_gap = 2;
    ASSERT_EQ(judge(device_, random_, c), "") << k.name();
    if (checked()) return;
    c.forced.splits = 3;
    c.options.alpha = 2.0F;
    c.bias = c.options.relu;
    ASSERT_EQ(judge(device_, random_, c), "") << k.name();
    if (c.pass == ConvPass::update) c.p.c = 64;  // else left to conv.sass
    c.options.beta = -1.0F;
    c.shift = 3;
    c.p.x_pitch = c.p.c + 5;
    c.p.y_pitch = c.p.k + 3;
    ASSERT_EQ(judge(device_, random_, c), "") << k.name();
  }

  // 60 of what may come, by the kernel that is named, or by the library's choice.
  void expect_exact_at_random(const std::string& kernel) {
    int taken = 0;
    for (int i = 0; i < 400 && taken < 60; ++i) {
      ConvCase c;
      c.p = random_problem(random_, 3000);
      c.p.x_pitch = c.p.y_pitch = 0;
      if (c.p.groups != 1) continue;
      c.p.precision = Precision::tensor;
      c.pass = kPasses[i % 3];
      if (!conv_detail::gathers(c.pass, c.p)) continue;
      if (i % 2 == 0 && c.p.layout == Layout::channels_last) choose_pitches(random_, c.p);
      c.size = 60;
      if (!conv_detail::tensor_cores::fits(c.pass, c.p, {}, {})) continue;
      c.forced.kernel = kernel;
      c.forced.splits = i % 5 == 0 ? 1 + i % 4 : 1;
      ASSERT_EQ(judge(device_, random_, c), "") << i;
      ++taken;
    }
    EXPECT_EQ(taken, 60);
  }

  // The same numbers as conv.sass's, and NaN where it has one.
  void expect_strict(const ConvCase& c, const Bits& in1, const Bits& in2, float odd) {
    const Bits got = run(device_, c, in1, in2);
    const Bits want = strict(c, in1, in2);
    ASSERT_EQ(got.size(), want.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
      const double g = value_of(Dtype::float32, got[i]);
      const double w = value_of(Dtype::float32, want[i]);
      ASSERT_TRUE(got[i] == want[i] || (std::isnan(g) && std::isnan(w))) << odd << ", element " << i;
    }
  }

 private:
  std::string kind_;
};

// A layer of VGG's kind: 3x3, 64 images.
inline ConvProblem vgg_layer(std::int64_t c, std::int64_t side, std::int64_t k) {
  ConvProblem p;
  p.precision = Precision::tensor;
  p.n = 64, p.c = c, p.k = k;
  p.in = {1, side, side}, p.filter = {1, 3, 3}, p.pad = {0, 1, 1};
  return p;
}

}  // namespace nervanagpu::test
