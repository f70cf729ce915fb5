// What measuring products asks of a GPU: launches of each plan outside of captures, and all memory given back.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "kernels/gemm/choose/alternatives.h"
#include "kernels/gemm/choose/measure.h"
#include "kernels/gemm/choose/tuner.h"
#include "kernels/gemm/prepared.h"
#include "nervanagpu/nervanagpu.hpp"
#include "src/device/cuda_device.h"
#include "src/device/select_device.h"
#include "test/src/fake_driver.h"

namespace nervanagpu {
namespace {

using sgemm::Plan;

TEST(AutotuneOnGpu, MeasuresOutsideOfCaptures) {
  test::FakeDriver fake;
  fake.capacity = std::size_t{1} << 30;
  CudaDevice device(fake.table(), 0, embedded_cubins(), sass::Arch::sm_90a, false);
  Device* before = exchange_device(&device);
  int calls = 0;
  sgemm::Tuner tuner("", [&](Device&, const GemmProblem&, const std::vector<Plan>& all) {  // the last one wins
    ++calls;
    std::vector<double> out(all.size(), 10.0);
    out.back() = 1.0;
    return out;
  });
  sgemm::exchange_tuner(&tuner);
  set_autotune(true);
  GemmProblem form;
  form.m = 72, form.n = form.ldb = form.ldc = 88, form.k = form.lda = 160;
  form.a = form.b = form.c = 16;
  const GemmProblem p = sgemm::normal_form(form);
  const StreamId stream = device.create_stream();
  device.begin_capture(stream);
  const std::string own = sgemm::prepared(device, p, "", stream)->kernel().name();
  EXPECT_EQ(calls, 0);
  device.destroy_graph(device.end_capture(stream));
  EXPECT_NE(sgemm::prepared(device, p, "", stream)->kernel().name(), own);
  EXPECT_EQ(calls, 1);

  auto all = sgemm::alternatives(device.registry(), 132, p);
  ASSERT_GE(all.size(), 2U);
  all.resize(2);
  fake.launches.clear();
  const std::size_t in_use = device.memory_stats().in_use;
  const auto times = sgemm::microseconds_of(device, p, all);
  EXPECT_EQ(times.size(), all.size());
  std::set<std::string> launched;
  for (const auto& l : fake.launches) {
    launched.insert(l.kernel);
    EXPECT_NE(l.stream, 0U);
  }
  for (const Plan& x : all) EXPECT_TRUE(launched.contains(x.kernel->name())) << x.kernel->name();
  EXPECT_EQ(device.memory_stats().in_use, in_use);

  // Pieces of float32 operands lie in a workspace, whatever plan.
  GemmProblem pieces = p;
  pieces.precision = Precision::tensor, pieces.splits = 1, pieces.workspace = 16;
  all = sgemm::alternatives(device.registry(), 132, pieces);
  ASSERT_EQ(all.front().kernel->manifest().op, "bf16x6");
  fake.launches.clear();
  EXPECT_EQ(sgemm::microseconds_of(device, pieces, all).size(), all.size());
  const sass::Param* to = nullptr;
  for (const sass::Param& x : device.registry().find("bf16x3_44")->manifest().params) to = x.name == "to_a" ? &x : to;
  ASSERT_NE(to, nullptr);
  int splits = 0;
  for (const auto& l : fake.launches) {
    if (l.kernel != "bf16x3_44") continue;
    std::uint64_t address = 0;
    std::memcpy(&address, l.params.data() + to->offset, sizeof address);
    EXPECT_TRUE(std::ranges::any_of(
        fake.live, [&](const auto& block) { return address >= block.first && address < block.first + block.second; }));
    ++splits;
  }
  EXPECT_GT(splits, 0);

  GemmProblem vast = p;
  vast.m = vast.n = vast.k = vast.lda = vast.ldb = vast.ldc = 1 << 15;
  EXPECT_TRUE(sgemm::microseconds_of(device, vast, {sgemm::choose(device.registry(), 132, vast)}).empty());
  device.destroy_stream(stream);
  set_autotune(false);
  sgemm::exchange_tuner(nullptr);
  exchange_device(before);
}

}  // namespace
}  // namespace nervanagpu
