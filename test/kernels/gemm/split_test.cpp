// k cut into parts: the sums of the parts, added in ascending order.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "kernels/gemm/cost/cost.h"
#include "nervanagpu/nervanagpu.hpp"
#include "test/kernels/gemm/gemm_case.h"
#include "test/src/expect_error.h"
#include "test/src/on_emulator.h"

namespace nervanagpu {
namespace {

using test::Epilogue;

class SplitTest : public test::OnEmulator {
 protected:
  explicit SplitTest(bool checked = false) : OnEmulator(checked) {}

  // Every kernel that may compute the problem in so many parts.
  void check(std::int64_t m, std::int64_t n, std::int64_t k, int layout, std::int64_t pad, const Epilogue& e,
             std::int64_t splits) {
    test::GemmCase c(random_, m, n, k, (layout & 1) != 0, (layout & 2) != 0, pad, e);
    c.split(splits);
    const std::vector<sgemm::Plan> plans = sgemm::plans(device_.registry(), 132, c.problem());
    ASSERT_FALSE(plans.empty());
    for (const sgemm::Plan& plan : plans) ASSERT_EQ(c.judge(device_, plan), "") << splits << " parts";
  }

  void check_all(const std::vector<std::array<std::int64_t, 3>>& shapes) {
    const Epilogue epilogues[] = {
        {}, {2, 0, 0, false}, {1, 1, 0, false}, {-1, 2, 1, true}, {1, 0, 2, true}, {0, -2, 1, false}};
    std::size_t turn = 0;
    for (const auto& [m, n, k] : shapes) {
      for (int layout = 0; layout < 4; ++layout) {
        for (const std::int64_t splits : {2, 3, 7}) {
          check(m, n, k, layout, static_cast<std::int64_t>(turn % 3) * 4 / 2, epilogues[turn % std::size(epilogues)],
                splits);
          if (HasFatalFailure()) return;
          ++turn;
        }
      }
    }
  }

  std::mt19937 random_{5};
};

class CheckedSplitTest : public SplitTest {
 protected:
  CheckedSplitTest() : SplitTest(true) {}
};

TEST_F(SplitTest, ExactIntegersOverOddShapes) {
  check_all({{1, 1, 33}, {3, 130, 100}, {17, 65, 129}, {64, 32, 112}, {35, 67, 160}, {129, 16, 48}, {16, 300, 97}});
}

// Eight parts and fewer are added by one kernel, more by another one, 16 at a time: each end of its rounds, whole rows and not.
TEST_F(SplitTest, ManyParts) {
  const Epilogue epilogues[] = {{}, {2, 0, 0, false}, {1, 1, 0, false}, {-1, 2, 1, true}};
  for (const std::int64_t splits : {8, 9, 12, 13, 16, 17, 20, 21, 32, 33, 50}) {
    for (const std::int64_t columns : {12, 7}) {
      check(5, columns, 16 * splits, 0, columns, epilogues[static_cast<std::size_t>(splits) % std::size(epilogues)],
            splits);
      if (HasFatalFailure()) return;
    }
  }
}

TEST_F(CheckedSplitTest, NoFindings) {
  check_all({{5, 33, 50}, {33, 70, 64}});
  check(3, 20, 16 * 21, 0, 0, {}, 21);
}

// The definition, in plain C++: chunks of a multiple of 16, each one chain of multiply-adds, added in ascending order.
TEST_F(SplitTest, TheOrderOfTheSumIsTheDocumentedOne) {
  const std::int64_t m = 37;
  const std::int64_t n = 68;
  std::normal_distribution<float> normal;
  for (const auto& [k, splits, part] : {std::array<std::int64_t, 3>{204, 4, 64}, {600, 19, 32}}) {
    std::vector<float> a(static_cast<std::size_t>(m * k));
    std::vector<float> b(static_cast<std::size_t>(k * n));
    for (float& x : a) x = normal(random_);
    for (float& x : b) x = normal(random_);
    const std::int64_t chunk = sgemm::chunk_of(k, splits);
    EXPECT_EQ(chunk, part);
    std::vector<float> expected(static_cast<std::size_t>(m * n));
    for (std::int64_t i = 0; i < m; ++i) {
      for (std::int64_t j = 0; j < n; ++j) {
        float all = 0;
        for (std::int64_t from = 0; from < k; from += chunk) {
          float sum = 0;
          for (std::int64_t l = from; l < std::min(k, from + chunk); ++l) {
            sum = std::fma(a[static_cast<std::size_t>(i * k + l)], b[static_cast<std::size_t>(l * n + j)], sum);
          }
          all += sum;
        }
        expected[static_cast<std::size_t>(i * n + j)] = all;
      }
    }
    GemmOptions o;
    o.splits = splits;
    const Tensor da = Tensor::from_host<float>(a, {m, k});
    const Tensor db = Tensor::from_host<float>(b, {k, n});
    for (const char* tile : {"", "128x128", "64x256", "128x64", "64x128", "64x64", "128x32", "32x128", "64x32", "32x64",
                             "16x64", "16x32"}) {
      o.tile = tile;
      o.splits = splits;
      Tensor c = Tensor::empty({m, n});
      gemm(da, db, c, o);
      const std::vector<float> got = c.to_host<float>();
      EXPECT_EQ(std::memcmp(got.data(), expected.data(), got.size() * 4), 0) << tile << ", " << splits << " parts";
    }
  }
}

TEST_F(SplitTest, ChoiceDependsOnTheProblemAlone) {
  const auto splits = [](std::int64_t m, std::int64_t n, std::int64_t k) {
    GemmProblem p;
    p.m = m, p.n = n, p.k = k;
    return sgemm::best_splits(p);
  };
  EXPECT_EQ(splits(4096, 4096, 4096), 1);
  EXPECT_EQ(splits(128, 128, 32), 1);
  EXPECT_GT(splits(128, 4096, 9216), 4);
  EXPECT_GT(splits(16, 4096, 4096), 8);
  for (const std::int64_t m : {1, 16, 64, 100, 1000}) {
    for (const std::int64_t k : {16, 100, 1000, 100000}) {
      const std::int64_t s = splits(m, 333, k);
      EXPECT_EQ(s, splits(333, m, k));  // C^T has the same bits
      EXPECT_EQ((k + sgemm::chunk_of(k, s) - 1) / sgemm::chunk_of(k, s), s);
    }
  }
}

TEST_F(SplitTest, WithOnePartARowDoesNotDependOnTheOthers) {
  std::normal_distribution<float> normal;
  std::vector<float> a(static_cast<std::size_t>(64 * 2000));
  std::vector<float> b(static_cast<std::size_t>(2000 * 40));
  for (float& x : a) x = normal(random_);
  for (float& x : b) x = normal(random_);
  const Tensor da = Tensor::from_host<float>(a, {64, 2000});
  const Tensor db = Tensor::from_host<float>(b, {2000, 40});
  GemmOptions one;
  one.splits = 1;
  const std::vector<float> all = dot(da, db, one).to_host<float>();
  const std::vector<float> row = dot(da.slice(0, 9, 10), db, one).to_host<float>();
  for (std::size_t j = 0; j < 40; ++j) EXPECT_EQ(row[j], all[9 * 40 + j]) << j;
}

TEST_F(SplitTest, RefusesWithoutWorkspace) {
  const Tensor t = Tensor::ones({4096});
  GemmProblem p;
  p.m = p.n = 16, p.k = 128, p.lda = 128, p.ldb = p.ldc = 16;
  p.a = p.b = t.address(), p.c = t.address() + 8192;
  EXPECT_EQ(gemm_workspace(p), 0U);  // too small to cut
  p.splits = 3;
  EXPECT_EQ(gemm_workspace(p), 3U * 256 * 4);
  expect_error<InvalidArgument>([&] { gemm(p); },
                                "gemm: splits is 3 and workspace is 0; needs gemm_workspace(), 3072 bytes");
  p.workspace = 8;
  expect_error<InvalidArgument>([&] { gemm(p); }, "gemm: address of workspace is 8; needs a multiple of 16");
  p.workspace = 0;
  p.splits = -1;
  expect_error<InvalidArgument>([&] { gemm(p); }, "gemm: splits is -1; needs 0 to 65535");
}

}  // namespace
}  // namespace nervanagpu
