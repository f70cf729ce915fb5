// What a planned product asks of the driver.
#include <gtest/gtest.h>

#include <cstring>

#include "nervanagpu/nervanagpu.hpp"
#include "src/device/cuda_device.h"
#include "src/device/select_device.h"
#include "test/src/fake_driver.h"

namespace nervanagpu {
namespace {

// On a GPU a launch of known addresses is one call of the driver and nothing else.
TEST(PlanOnCuda, LaunchesCallTheDriverOnce) {
  test::FakeDriver fake;
  CudaDevice device(fake.table(), 0, embedded_cubins(), sass::Arch::sm_90a, false);
  Device* before = exchange_device(&device);
  GemmProblem p;
  p.m = p.n = p.k = 256;
  p.a_type = p.b_type = p.c_type = p.bias_type = Dtype::float16;
  p.lda = p.ldb = p.ldc = 256;
  const GemmPlan plan(p);
  EXPECT_EQ(fake.calls("cuTensorMapEncodeTiled"), 0);
  const int made = fake.calls("cuMemAlloc_v2");
  for (std::uint64_t i = 0; i < 100; ++i) {
    plan.launch({0x10000 + i % 8 * 4096, 0x80000, 0x90000 + i * 4096});
    ASSERT_EQ(fake.launches.size(), i + 1);
    std::uint64_t c = 0;
    std::memcpy(&c, fake.launches.back().params.data() + 0x30 + 256, 8);
    ASSERT_EQ(c, 0x90000 + i * 4096);
  }
  EXPECT_EQ(fake.calls("cuTensorMapEncodeTiled"), 8 + 1);
  EXPECT_EQ(fake.calls("cuMemAlloc_v2"), made);
  exchange_device(before);
}

// Products at equal distances are one launch.
TEST(GroupOnCuda, RunsAreBatches) {
  test::FakeDriver fake;
  CudaDevice device(fake.table(), 0, embedded_cubins(), sass::Arch::sm_90a, false);
  Device* before = exchange_device(&device);
  const auto at = [](std::uint64_t address) { return Tensor::wrap(address, {64, 64}, {64, 1}, Dtype::float16); };
  const auto launches = [&](const std::vector<std::uint64_t>& places) {
    std::vector<GroupedProduct> group;
    group.reserve(places.size());
    for (const std::uint64_t p : places) {
      group.push_back({at(0x1000000 + p * 8192), at(0x100000), at(0x2000000 + p * 8192)});
    }
    fake.launches.clear();
    grouped_dot(group);
    return fake.launches.size();
  };
  EXPECT_EQ(launches({0, 1, 2, 3, 4, 5}), 1U);
  EXPECT_EQ(launches({0, 2, 4, 6}), 1U);
  EXPECT_EQ(launches({0, 1, 2, 10, 20, 30}), 2U);
  EXPECT_EQ(launches({0, 1, 3, 7, 15}), 3U);  // pairs, and what is left
  EXPECT_EQ(launches({3, 2, 1, 0}), 4U);
  EXPECT_EQ(launches({7}), 1U);
  EXPECT_EQ(launches({}), 0U);
  exchange_device(before);
}

}  // namespace
}  // namespace nervanagpu
