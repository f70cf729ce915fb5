// Products from two float16 pieces: which they are, and what is launched for them, in order. Nothing is computed, so sizes cost nothing.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "kernels/gemm/pieces/f16x3.h"
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
  std::vector<std::uint32_t> ctas;

 private:
  using ForwardingDevice::start;
  void start(const Kernel& kernel, const Grid& grid, std::span<const std::byte> /*params*/,
             StreamId /*stream*/) override {
    names.push_back(kernel.name());
    ctas.push_back(grid.x);
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
    recorder_.ctas.clear();
    gemm(p, {}, tile);
    return recorder_.names;
  }

  EmulatorDevice device_;
  Recorder recorder_;
  Device* before_;
};

using Names = std::vector<std::string>;

TEST_F(F16x3Test, LaunchesOfALongProduct) {
  const Names all = {"f16x2_44", "f16x3_compensated_nn_128x128", "bf16x3_44", "bf16x6_nn_128x192",
                     "gemm_if_nn_128x128_4"};
  EXPECT_EQ(launched(problem(8192, 8192, 8192)), all);
  const GemmPlan plan(problem(8192, 8192, 8192));
  EXPECT_EQ(plan.kernel(), all[1]);
  GemmProblem p = problem(4095, 4097, 4099);
  p.a_transposed = true, p.lda = 4095;
  p.splits = 1;
  EXPECT_EQ(launched(p, "f16_128x192"),
            (Names{"f16x2_11", "f16x3_tn_128x192", "bf16x3_11", "bf16x6_tn_128x128", "gemm_if_tn_64x64_1"}));
  EXPECT_EQ(launched(problem(4095, 4097, 4099)).at(1), "f16x3_nn_128x192") << "rows of C begin anywhere";
  EXPECT_EQ(launched(problem(4095, 4096, 4099)).at(1), "f16x3_compensated_nn_128x128");
  const Names parts = launched(problem(2000, 2000, 40000));
  ASSERT_EQ(parts.size(), 6U);
  EXPECT_EQ(parts[1].substr(0, 21), "f16x3_compensated_nn_");
  EXPECT_EQ(parts.back().substr(0, 9), "split_sum");
}

// Launches that find nothing to do would be a good part of its time: multiply-adds follow at once.
TEST_F(F16x3Test, LaunchesOfAShortProduct) {
  const Names all = {"f16x2_44", "f16x3_compensated_nn_128x64", "gemm_if_nn_128x128_4"};
  EXPECT_EQ(launched(problem(1024, 1024, 1024)), all);
  EXPECT_EQ(launched(problem(1024, 1024, 1024), "f16_128x128+strict").size(), 3U);
  EXPECT_GT(launched(problem(1024, 1024, 1024), "f16_128x128").size(), 4U);
  EXPECT_THROW(launched(problem(1024, 1024, 1024), "128x128+strict"), InvalidArgument);
}

// The large operand is split by the kernel that multiplies it, if it begins where the copy engine wants it to.
TEST_F(F16x3Test, LaunchesOfFewRows) {
  GemmProblem p = problem(64, 4096, 4096);
  EXPECT_EQ(launched(p), (Names{"f16x2_44", "f16x3_rs_nn_b_64", "gemm_if_nn_128x128_4", "split_sum_f32_f32_4x4"}));
  const std::size_t bytes = gemm_workspace(p);
  EXPECT_LT(bytes, std::size_t{8} << 20) << "no pieces of the large operand";
  p.b += 4;
  const Names aside = launched(p);
  EXPECT_EQ(aside.at(1).substr(0, 9), "f16x3_nn_");
  const std::size_t more = gemm_workspace(p);
  EXPECT_GT(more, std::size_t{100} << 20);
  p.b = 0;
  EXPECT_EQ(gemm_workspace(p), more) << "where it begins is not known yet";
  std::swap(p.m, p.n);
  p.ldb = p.ldc = p.n, p.b = 2 * p.a;
  EXPECT_EQ(launched(p).at(1), "f16x3_rs_nn_a_64");
}

// 40 x 40 tiles are twelve waves of 132 multiprocessors and 16 more: the last row of them is another launch, in parts.
TEST_F(F16x3Test, WholeRoundsAndATail) {
  EXPECT_EQ(launched(problem(5120, 5120, 5120)),
            (Names{"f16x2_44", "f16x3_compensated_nn_128x128", "f16x3_compensated_nn_128x128",
                   "split_sum_if_f32_f32_4x4", "bf16x3_44", "bf16x6_nn_128x128", "gemm_if_nn_128x128_4"}));
  EXPECT_EQ(recorder_.ctas[1], 132U);
  EXPECT_EQ(recorder_.ctas[2], 120U);
  const auto rows = f16x3::tail_of(problem(5120, 5120, 5120));
  ASSERT_TRUE(rows);
  EXPECT_EQ(std::tuple(rows->columns, rows->at, rows->splits), std::tuple(false, 4992, 3));
  GemmProblem p = problem(2560, 11008, 4096);
  const auto columns = f16x3::tail_of(p);
  ASSERT_TRUE(columns);
  EXPECT_TRUE(columns->columns);
  EXPECT_EQ(columns->at % 64, 0);
  EXPECT_EQ(GemmPlan(p).workspace(), gemm_workspace(p));
  EXPECT_GT(gemm_workspace(p), bf16x6::room(p, 1).bytes);
  // Neither an epilogue nor a name of a tile, nor addresses: where sums are cut is the problem's.
  const std::string sum = launched(p)[3];
  p.beta = 1, p.bias = 5 << 20, p.activation = GemmActivation::gelu, p.c += 4;
  const auto also = f16x3::tail_of(p, "f16_128x128");
  ASSERT_TRUE(also);
  EXPECT_EQ(std::tuple(also->columns, also->at, also->splits), std::tuple(true, columns->at, columns->splits));
  EXPECT_EQ(sum, "split_sum_if_f32_f32_4x4");
  EXPECT_EQ(launched(p)[3], "split_sum_if_f32_f32_1x4");
  EXPECT_EQ(launched(p, "f16_128x128")[1], "f16x3_nn_128x128");
  EXPECT_EQ(launched(p, "f16_128x128")[2].substr(0, 9), "f16x3_nn_") << "sums of one class";
  // Of one part it has no sums to add up, and nothing is cut that otherwise would not be.
  p = problem(1024, 5120, 2048);
  const auto whole = f16x3::tail_of(p);
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->splits, 1);
  EXPECT_EQ(launched(p).size(), 6U);
  EXPECT_EQ(gemm_workspace(p), bf16x6::room(p, 1).bytes);
}

TEST_F(F16x3Test, ProductsWithoutATail) {
  GemmProblem p = problem(4096, 4096, 4096);
  p.splits = 1;
  EXPECT_FALSE(f16x3::tail_of(p)) << "in one part, as it was said";
  p = problem(4096, 4096, 4096);
  p.batch = 2, p.stride_a = p.stride_b = p.stride_c = 4096 * 4096;
  EXPECT_FALSE(f16x3::tail_of(p)) << "a batch is not cut";
  EXPECT_FALSE(f16x3::tail_of(problem(8192, 8192, 8192))) << "20.8 of 21 waves";
  EXPECT_FALSE(f16x3::tail_of(problem(2048, 2048, 2048))) << "1.9 of 2";
  EXPECT_FALSE(f16x3::tail_of(problem(2000, 2000, 40000))) << "in parts anyway";
  EXPECT_FALSE(f16x3::tail_of(problem(1024, 1024, 1024))) << "less than a round";
}

// What is predicted is less than what whole waves take, by more than two launches; every tail is whole waves and a rest.
TEST_F(F16x3Test, TailsOfManyProducts) {
  std::mt19937 random(3);
  int found = 0;
  for (int i = 0; i < 400; ++i) {
    const auto length = [&] { return static_cast<std::int64_t>(random() % 7000 + 600); };
    const GemmProblem p = problem(length(), length(), length());
    const auto tail = f16x3::tail_of(p);
    if (!tail) continue;
    ++found;
    const GemmProblem head = f16x3::head_part(p, tail), rest = f16x3::tail_part(p, *tail);
    EXPECT_EQ(head.m * head.n + rest.m * rest.n, p.m * p.n);
    EXPECT_GT(rest.m, 0);
    EXPECT_GT(rest.n, 0);
    EXPECT_EQ(rest.c - p.c, 4U * static_cast<std::uint64_t>(tail->columns ? tail->at : tail->at * p.ldc));
    const auto least = [&](const GemmProblem& q, std::int64_t splits) {
      double out = 1e30;
      for (const auto& w : f16x3::widths_of(p))
        out = std::min(out, bf16x6::microseconds(q, w, splits, 132, f16x3::kPieces));
      return out;
    };
    EXPECT_LT(least(head, 1) + least(rest, tail->splits) + 4,
              bf16x6::best(p, f16x3::widths_of(p), f16x3::kPieces).product);
  }
  EXPECT_GT(found, 40);
  EXPECT_LT(found, 360);
}

TEST_F(F16x3Test, OtherProductsHaveThreePieces) {
  const auto first = [&](const GemmProblem& p) { return launched(p).front().substr(0, 6); };
  EXPECT_EQ(first(problem(4096, 4096, 4096)), "f16x2_");
  EXPECT_EQ(first(problem(4096, 4096, 704)), "f16x2_");
  EXPECT_EQ(first(problem(4096, 4096, 700)), "bf16x3") << "a short sum";
  EXPECT_EQ(first(problem(1024, 1024, 1024)), "f16x2_");
  EXPECT_EQ(first(problem(128, 4096, 4096)), "f16x2_") << "faster than by multiply-adds, though not from three";
  EXPECT_NE(first(problem(512, 512, 2048)), "f16x2_") << "multiply-adds have shorter chains";
  EXPECT_EQ(first(problem(1280, 1280, 1024)), "bf16x3") << "multiply-adds have eight parts";
  EXPECT_EQ(launched(problem(1280, 1280, 2048)).back().substr(0, 9), "split_sum") << "so two pieces have two";
  EXPECT_NE(first(problem(256, 256, 8192)), "f16x2_") << "not faster";
  GemmProblem p = problem(4096, 4096, 4096);
  p.splits = 1;
  EXPECT_EQ(first(p), "bf16x3") << "a row must not depend on the others";
  p = problem(4096, 4096, 4096);
  p.batch = 3, p.stride_a = p.stride_b = p.stride_c = 4096 * 4096;
  EXPECT_EQ(first(p), "f16x2_");
}

}  // namespace
}  // namespace nervanagpu
