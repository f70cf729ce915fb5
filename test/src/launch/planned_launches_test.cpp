// What planned launches tell the driver, and what cannot be planned.
#include "src/launch/planned_launches.h"

#include <gtest/gtest.h>

#include <cstring>

#include "nervanagpu/nervanagpu.hpp"
#include "src/device/cuda_device.h"
#include "src/device/select_device.h"
#include "test/src/expect_error.h"
#include "test/src/fake_driver.h"

namespace nervanagpu {
namespace {

class PlannedLaunchesTest : public ::testing::Test {
 protected:
  PlannedLaunchesTest()
      : device_(fake_.table(), 0, embedded_cubins(), sass::Arch::sm_90a, false), before_(exchange_device(&device_)) {}
  ~PlannedLaunchesTest() override { exchange_device(before_); }
  PlannedLaunchesTest(const PlannedLaunchesTest&) = delete;
  PlannedLaunchesTest& operator=(const PlannedLaunchesTest&) = delete;

  using Operands = std::span<const std::uint64_t>;
  void refused(const PlannedLaunches::Call& call, const std::string& what) {
    const std::vector<std::uint64_t> alignments = {4, 4};
    expect_error<CannotBePlanned>(
        [&] { PlannedLaunches(device_, alignments, call); },
        "this call cannot be planned: " + what + " depends on more than the alignment of its operands");
  }

  test::FakeDriver fake_;
  CudaDevice device_;
  Device* before_;
};

TEST_F(PlannedLaunchesTest, WhatDependsOnMoreThanTheAlignmentIsRefused) {
  refused([&](Operands at) { device_.fill(at[0], 0, 4, at[0] % 16 == 4 ? 1 : 2, 0); }, "a fill");
  refused([&](Operands at) { device_.fill(at[0] + at[1], 0, 4, 1, 0); }, "where a fill begins");
  refused([&](Operands at) { device_.copy(at[0], 2 * at[1], 4, 0); }, "what is copied");
  refused(
      [&](Operands at) {
        for (std::uint64_t i = 0; i < at[1] % 16; ++i) device_.fill(at[0], 0, 4, 1, 0);
      },
      "the number of launches");
  refused(
      [&](Operands at) {
        if (at[0] % 16 == 4) device_.fill(at[0], 0, 4, 1, 0);
        if (at[0] % 16 != 4) device_.copy(at[0], at[1], 4, 0);
      },
      "the order of launches");
  // An address is part of what is computed.
  refused(
      [&](Operands at) {
        Tensor to = Tensor::wrap(at[1], {64}, {1}, Dtype::float16);
        convert(Tensor::wrap(at[0], {64}, {1}, at[0] % 16 == 4 ? Dtype::float32 : Dtype::float16), to);
      },
      "the choice of convert_f32_f16_1");
  EXPECT_TRUE(fake_.launches.empty());
}

TEST_F(PlannedLaunchesTest, ModulesAndOtherStreamsAreNotRecorded) {
  const std::vector<std::uint64_t> alignments = {4};
  const Stream stream = Stream::create();
  expect_error<Error>(
      [&] {
        PlannedLaunches(device_, alignments, [&](Operands at) { device_.fill(at[0], 0, 4, 1, stream.handle()); });
      },
      "what is recorded belongs to the default stream");
  const Module module(Cubin::assemble(".kernel k\n.arch sm_90a\n.param u64 p\n.threads 32\n  EXIT\n"));
  expect_error<Error>(
      [&] { PlannedLaunches(device_, alignments, [&](Operands at) { module.launch("k", {1}, {}, {at[0]}); }); },
      "a module's kernel is launched where launches are recorded");
  module.launch("k", {1}, {}, {std::uint64_t{16}});
  EXPECT_EQ(fake_.launches.size(), 1U);
}

// A launch of known addresses is one call of the driver for each kernel, and nothing else.
TEST_F(PlannedLaunchesTest, AConvolutionIsOneCallOfTheDriver) {
  ConvProblem p;
  p.n = 8, p.c = p.k = 64;
  p.in = {1, 14, 14}, p.filter = {1, 3, 3}, p.pad = {0, 1, 1};
  p.x_type = p.w_type = p.y_type = Dtype::float16;
  const ConvPlan plan(ConvPass::fprop, p);
  ASSERT_EQ(plan.kernels().size(), 1U);
  EXPECT_EQ(plan.workspace(), 0U);
  EXPECT_TRUE(fake_.launches.empty());
  const int made = fake_.calls("cuMemAlloc_v2");
  const std::uint64_t checked = needs_checked;
  for (std::uint64_t i = 0; i < 100; ++i) {
    plan.launch({0x10000000 + i % 8 * 0x100000, 0x80000000, 0x90000000});
    ASSERT_EQ(fake_.launches.size(), i + 1);
    EXPECT_EQ(fake_.launches.back().kernel, plan.kernels().front());
  }
  EXPECT_EQ(fake_.calls("cuTensorMapEncodeIm2col"), 8);
  EXPECT_EQ(fake_.calls("cuTensorMapEncodeTiled"), 1);
  EXPECT_EQ(fake_.calls("cuMemAlloc_v2"), made);
  EXPECT_EQ(needs_checked, checked);
  // The same parameters as those of conv().
  ConvPointers at;
  at.in1 = 0x10000000, at.in2 = 0x80000000, at.out = 0x90000000, at.workspace = 0xa0000000;
  conv(ConvPass::fprop, p, at);
  plan.launch({at.in1, at.in2, at.out});
  const std::size_t last = fake_.launches.size() - 1;
  EXPECT_EQ(fake_.launches[last].params, fake_.launches[last - 1].params);
  EXPECT_EQ(needs_checked, checked + 2);  // conv() keeps a plan, too: recorded twice
  conv(ConvPass::fprop, p, at);
  EXPECT_EQ(needs_checked, checked + 2);
}

}  // namespace
}  // namespace nervanagpu
