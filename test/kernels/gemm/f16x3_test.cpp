// Products from two float16 pieces: which they are, and what is launched for them, in order. Nothing is computed, so sizes cost nothing.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "nervanagpu/nervanagpu.hpp"
#include "src/device/device.h"
#include "src/device/emulator_device.h"
#include "src/device/select_device.h"
#include "test/forwarding_device.h"

namespace nervanagpu {
namespace {

class Recorder final : public test::ForwardingDevice {
 public:
  using ForwardingDevice::ForwardingDevice;
  std::vector<std::string> names;

 private:
  using ForwardingDevice::start;
  void start(const Kernel& kernel, const Grid& /*grid*/, std::span<const std::byte> /*params*/,
             StreamId /*stream*/) override {
    names.push_back(kernel.name());
  }
};

class F16x3Test : public ::testing::Test {
 protected:
  F16x3Test()
      : device_(embedded_cubins(), sass::Arch::sm_90a, false, std::size_t{1} << 20),
        recorder_(device_),
        before_(exchange_device(&recorder_)) {}
  ~F16x3Test() override { exchange_device(before_); }

  static GemmProblem problem(std::int64_t m, std::int64_t n, std::int64_t k) {
    constexpr std::uint64_t kFar = std::uint64_t{1} << 40;  // from each other
    GemmProblem p;
    p.m = m, p.n = n, p.k = k, p.lda = k, p.ldb = n, p.ldc = n;
    p.a = kFar, p.b = 2 * kFar, p.c = 3 * kFar, p.workspace = 4 * kFar;
    p.a_type = p.b_type = p.c_type = Dtype::float32;
    p.precision = Precision::tensor;
    return p;
  }
  std::vector<std::string> launched(const GemmProblem& p, const std::string& tile = {}) {
    recorder_.names.clear();
    gemm(p, {}, tile);
    return recorder_.names;
  }

  EmulatorDevice device_;
  Recorder recorder_;
  Device* before_;
};

using Names = std::vector<std::string>;

TEST_F(F16x3Test, LaunchesOfALongProduct) {
  const Names all = {"f16x2_44", "f16x3_nn_128x128", "bf16x3_44", "bf16x6_nn_128x128", "gemm_if_nn_128x128_4"};
  EXPECT_EQ(launched(problem(4096, 4096, 4096)), all);
  const GemmPlan plan(problem(4096, 4096, 4096));
  EXPECT_EQ(plan.kernel(), all[1]);
  GemmProblem p = problem(4095, 4097, 4099);
  p.a_transposed = true, p.lda = 4095;
  EXPECT_EQ(launched(p, "f16_128x192"),
            (Names{"f16x2_11", "f16x3_tn_128x192", "bf16x3_11", "bf16x6_tn_128x128", "gemm_if_tn_64x64_1"}));
  const Names parts = launched(problem(2000, 2000, 40000));
  ASSERT_EQ(parts.size(), 6U);
  EXPECT_EQ(parts[1].substr(0, 9), "f16x3_nn_");
  EXPECT_EQ(parts.back().substr(0, 9), "split_sum");
}

TEST_F(F16x3Test, OtherProductsHaveThreePieces) {
  const auto first = [&](const GemmProblem& p) { return launched(p).front().substr(0, 6); };
  EXPECT_EQ(first(problem(4096, 4096, 4096)), "f16x2_");
  EXPECT_EQ(first(problem(4096, 4096, 512)), "f16x2_");
  EXPECT_EQ(first(problem(4096, 4096, 508)), "bf16x3") << "a short sum";
  EXPECT_EQ(first(problem(1024, 1024, 1024)), "bf16x3") << "a short one, and few tiles";
  EXPECT_NE(first(problem(256, 256, 8192)), "f16x2_") << "not sooner done";
  GemmProblem p = problem(4096, 4096, 4096);
  p.splits = 1;
  EXPECT_EQ(first(p), "bf16x3") << "a row must not depend on the others";
  p = problem(4096, 4096, 4096);
  p.batch = 3, p.stride_a = p.stride_b = p.stride_c = 4096 * 4096;
  EXPECT_EQ(first(p), "f16x2_");
}

}  // namespace
}  // namespace nervanagpu
