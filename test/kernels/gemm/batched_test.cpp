// Batches: exact integers of every kernel that may compute them, in each matrix, with C between guard zones.
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "kernels/gemm/gemm.h"
#include "nervanagpu/nervanagpu.hpp"
#include "test/src/expect_error.h"
#include "test/src/on_emulator.h"

namespace nervanagpu {
namespace {

struct Batched {
  Dtype type = Dtype::float32;
  Dtype result = Dtype::float32;
  std::int64_t batch = 2, m = 1, n = 1, k = 1;
  bool ta = false, tb = false;
  std::int64_t pad = 0;  // of rows, and after each matrix
  bool same_a = false, same_b = false, sum = false, side_by_side = false;
  float alpha = 1, beta = 0;
  int bias = 0;  // 1: for each column, 2: for each row
  bool relu = false;
  bool tensor_cores = true;
};

class BatchedTest : public test::OnEmulator {
 protected:
  explicit BatchedTest(bool checked = false, std::size_t memory = std::size_t{1} << 30) : OnEmulator(checked, memory) {}

  std::vector<float> integers(std::int64_t count, int least) {
    std::vector<float> out(static_cast<std::size_t>(count));
    for (float& v : out) v = static_cast<float>(least + static_cast<int>(random_() % 7));
    return out;
  }
  static Tensor put(const std::vector<float>& host, Dtype type) {
    const Tensor values = Tensor::from_host<float>(host, {static_cast<std::int64_t>(host.size())});
    Tensor out = Tensor::empty(values.shape(), type);
    convert(values, out);
    return out;
  }
  static std::vector<float> get(const Tensor& t) {
    Tensor out = Tensor::empty(t.shape());
    convert(t, out);
    return out.to_host<float>();
  }

  // Every kernel that may compute it, and gemm() itself.
  void check(const Batched& x) {
    GemmProblem p;
    p.m = x.m, p.n = x.n, p.k = x.k;
    p.a_transposed = x.ta, p.b_transposed = x.tb;
    p.lda = (x.ta ? x.m : x.k) + x.pad;
    p.ldb = (x.tb ? x.k : x.n) + x.pad;
    p.batch = x.batch;
    p.sum_batch = x.sum;
    p.stride_a = x.same_a ? 0 : (x.ta ? x.k : x.m) * p.lda + x.pad;
    p.stride_b = x.same_b ? 0 : (x.tb ? x.n : x.k) * p.ldb + x.pad;
    const std::int64_t results = x.sum ? 1 : x.batch;
    p.ldc = x.side_by_side ? x.batch * (x.n + x.pad) : x.n + x.pad;
    p.stride_c = x.sum ? 0 : x.side_by_side ? x.n + x.pad : x.m * p.ldc + x.pad;
    p.a_type = p.b_type = x.type;
    p.c_type = p.bias_type = x.result;
    p.alpha = x.alpha, p.beta = x.beta, p.relu = x.relu;
    p.bias_per_row = x.bias == 2;
    p.tensor_cores = x.tensor_cores;

    const int least = x.type == Dtype::uint8 ? 0 : -3;
    const std::int64_t rows_a = x.ta ? x.k : x.m;
    const std::int64_t rows_b = x.tb ? x.n : x.k;
    const std::vector<float> a = integers((x.batch - 1) * p.stride_a + rows_a * p.lda, least);
    const std::vector<float> b = integers((x.batch - 1) * p.stride_b + rows_b * p.ldb, least);
    const std::vector<float> bias = integers(std::max(x.m, x.n), -3);
    const std::int64_t guard = 64;
    std::vector<float> before = integers(2 * guard + (results - 1) * p.stride_c + x.m * p.ldc, -3);
    std::vector<float> want = before;
    for (std::int64_t r = 0; r < results; ++r) {
      for (std::int64_t i = 0; i < x.m; ++i) {
        for (std::int64_t j = 0; j < x.n; ++j) {
          float sum = 0;
          for (std::int64_t z = x.sum ? 0 : r; z < (x.sum ? x.batch : r + 1); ++z) {
            for (std::int64_t l = 0; l < x.k; ++l) {
              sum += a[static_cast<std::size_t>(z * p.stride_a + (x.ta ? l * p.lda + i : i * p.lda + l))] *
                     b[static_cast<std::size_t>(z * p.stride_b + (x.tb ? j * p.ldb + l : l * p.ldb + j))];
            }
          }
          float& c = want[static_cast<std::size_t>(guard + r * p.stride_c + i * p.ldc + j)];
          c = x.alpha * sum + (x.beta == 0 ? 0 : x.beta * c);
          if (x.bias != 0) c += bias[static_cast<std::size_t>(x.bias == 2 ? i : j)];
          if (x.relu) c = std::max(c, 0.0F);
        }
      }
    }
    const Tensor da = put(a, x.type);
    const Tensor db = put(b, x.type);
    const Tensor dbias = put(bias, x.result);
    p.a = da.address(), p.b = db.address();
    p.bias = x.bias == 0 ? 0 : dbias.address();
    p.c = 256;
    const std::size_t bytes = gemm_workspace(p);
    const Tensor workspace = Tensor::full({static_cast<std::int64_t>(bytes / 4 + 1)}, 1e30);
    p.workspace = bytes == 0 ? 0 : workspace.address();
    const auto judge = [&](const std::string& what, const auto& launch) {
      const Tensor dc = put(before, x.result);
      p.c = dc.address() + static_cast<std::uint64_t>(guard) * size_of(x.result);
      launch();
      const std::vector<float> got = get(dc);
      for (std::size_t i = 0; i < got.size(); ++i) {
        ASSERT_EQ(got[i], want[i]) << what << ": " << x.batch << " of " << x.m << " x " << x.n << " x " << x.k
                                   << ", element " << i << " with " << guard << " before C";
      }
    };
    judge("gemm", [&] { gemm(p); });
    judge("plan", [&] { GemmPlan(p).launch({p.a, p.b, p.c, p.bias, p.workspace}); });
    const GemmProblem q = sgemm::reduced(device_.registry(), p);
    if (q.batch == 0) return;
    const std::vector<sgemm::Plan> plans = sgemm::plans(device_.registry(), 132, q);
    ASSERT_FALSE(plans.empty());
    for (const sgemm::Plan& plan : plans) {
      judge(plan.kernel->name(), [&] {
        GemmProblem r = q;
        r.c = p.c;
        sgemm::launch(device_, plan, r, 0);
      });
      if (HasFatalFailure()) return;
    }
  }

  std::mt19937 random_{17};
};

class CheckedBatchedTest : public BatchedTest {
 protected:
  CheckedBatchedTest() : BatchedTest(true) {}
};

constexpr Dtype kTypes[] = {Dtype::float32, Dtype::float16, Dtype::int8, Dtype::bfloat16};

Batched with(Dtype type, int turn) {
  Batched x;
  x.type = type;
  x.result = type == Dtype::int8 ? Dtype::int32 : (type == Dtype::float16 && turn % 3 == 0) ? Dtype::float32 : type;
  if (type == Dtype::bfloat16) x.result = Dtype::float32;  // holds the sums
  x.ta = (turn & 1) != 0;
  x.tb = (turn & 2) != 0;
  if (type == Dtype::int8 && turn % 4 != 3) x.ta = false, x.tb = true;
  constexpr float kAlpha[] = {1, 2, -1};
  constexpr float kBeta[] = {0, 1, -2, 0};
  x.alpha = kAlpha[turn % 3];
  x.beta = kBeta[turn % 4];
  x.bias = turn % 3;
  x.relu = turn % 5 == 0;
  return x;
}

TEST_F(BatchedTest, ExactIntegers) {
  int turn = 0;
  for (const Dtype type : kTypes) {
    const std::int64_t unit = 16 / static_cast<std::int64_t>(size_of(type));
    for (const auto& [batch, m, n, k] : std::vector<std::array<std::int64_t, 4>>{
             {3, 32, 48, 32}, {2, 136, 72, 80}, {5, 17, 33, 20}, {4, 1, 9, 7}, {2, 64, 64, 144}}) {
      for (int layout = 0; layout < 2; ++layout, ++turn) {
        Batched x = with(type, turn);
        x.batch = batch, x.m = m, x.n = n, x.k = k;
        x.pad = turn % 3 == 0 ? unit : turn % 3 == 1 ? 0 : 3;
        x.same_a = turn % 4 == 1;
        x.same_b = turn % 5 == 1;
        x.side_by_side = turn % 7 == 3;
        check(x);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST_F(BatchedTest, Sums) {
  int turn = 0;
  for (const Dtype type : kTypes) {
    const std::int64_t unit = 16 / static_cast<std::int64_t>(size_of(type));
    for (const auto& [batch, m, n, k] : std::vector<std::array<std::int64_t, 4>>{
             {3, 32, 48, 32}, {7, 24, 40, 80}, {5, 17, 33, 20}, {4, 1, 9, 7}, {30, 64, 64, 144}}) {
      for (int layout = 0; layout < 2; ++layout, ++turn) {
        Batched x = with(type, turn);
        x.sum = true;
        x.batch = batch, x.m = m, x.n = n, x.k = k;
        x.pad = turn % 3 == 0 ? unit : turn % 3 == 1 ? 0 : 3;
        x.same_a = turn % 4 == 1;
        x.same_b = turn % 3 == 1;
        check(x);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST_F(CheckedBatchedTest, NoFindings) {
  int turn = 0;
  for (const Dtype type : kTypes) {
    for (const bool sum : {false, true}) {
      Batched x = with(type, turn++);
      x.sum = sum;
      x.batch = 3, x.m = 40, x.n = 24, x.k = 48;
      x.same_b = sum;
      check(x);
      x.k = 21, x.pad = 1;
      check(x);
      if (HasFatalFailure()) return;
    }
  }
}

TEST_F(BatchedTest, NothingToDo) {
  for (const Dtype type : kTypes) {
    for (const bool sum : {false, true}) {
      Batched x = with(type, 2);
      x.sum = sum;
      x.m = 8, x.n = 16;
      x.batch = 3, x.k = 0;
      check(x);  // act(beta C + bias)
      x.k = 16, x.batch = 1;
      check(x);
    }
  }
  GemmProblem p;
  p.m = p.n = p.k = p.lda = p.ldb = p.ldc = 4;
  const Tensor t = Tensor::ones({3, 4, 4});
  p.a = t.address(), p.b = p.a + 64, p.c = p.a + 128;
  p.batch = 0;
  gemm(p);
  EXPECT_EQ(t.to_host<float>(), std::vector<float>(48, 1.0F));
  p.sum_batch = true;
  p.beta = 3;
  gemm(p);
  EXPECT_EQ(t.to_host<float>()[32], 3.0F);
}

// Each matrix gets its own random numbers: those of its place after the first.
TEST_F(BatchedTest, StochasticRoundingGoesOn) {
  for (const bool tensor_cores : {false, true}) {
    const Tensor a = put(integers(3 * 16 * 32, -3), Dtype::float16);
    const Tensor b = put(integers(32 * 24, -3), Dtype::float16);
    const Tensor all = Tensor::zeros({3, 16, 24}, Dtype::float16);
    const Tensor one = Tensor::zeros({3, 16, 24}, Dtype::float16);
    GemmProblem p;
    p.a_type = p.b_type = p.c_type = p.bias_type = Dtype::float16;
    p.m = 16, p.n = p.ldb = p.ldc = 24, p.k = p.lda = 32;
    p.a = a.address(), p.b = b.address(), p.c = all.address();
    p.alpha = 0.0371F;
    p.rounding = {true, 5, 100, 3};
    p.tensor_cores = tensor_cores;
    p.batch = 3, p.stride_a = 16 * 32, p.stride_c = 16 * 24;
    gemm(p);
    p.batch = 1;
    for (std::uint64_t i = 0; i < 3; ++i) {
      GemmProblem q = p;
      q.a += i * 16 * 32 * 2;
      q.c = one.address() + i * 16 * 24 * 2;
      q.rounding.offset += i * 16 * 24 / 4;
      gemm(q);
    }
    EXPECT_EQ(get(all), get(one));
  }
}

class FarBatchedTest : public BatchedTest {
 protected:
  FarBatchedTest() : BatchedTest(false, std::size_t{1} << 37) {}  // reserved, not touched
};

// Matrices more than 2^32 elements apart: memory of which only the matrices are touched.
TEST_F(FarBatchedTest, StridesBeyond32Bits) {
  constexpr std::int64_t kStride = (std::int64_t{1} << 32) + 4096;
  constexpr std::int64_t kSize = 24;
  constexpr std::int64_t kBatch = 2;
  for (const Dtype type : {Dtype::float32, Dtype::float16, Dtype::int8}) {
    const Dtype result = type == Dtype::int8 ? Dtype::int32 : type;
    const Tensor a = Tensor::empty({kStride + kSize * kSize}, type);
    const Tensor b = Tensor::empty({kStride + kSize * kSize}, type);
    const Tensor c = Tensor::empty({kStride + kSize * kSize}, result);
    std::vector<float> want;
    for (std::int64_t z = 0; z < kBatch; ++z) {
      const auto at = [&](const Tensor& t) { return t.slice(0, z * kStride, z * kStride + kSize * kSize); };
      const std::vector<float> x = integers(kSize * kSize, -3);
      const std::vector<float> y = integers(kSize * kSize, -3);
      at(a).copy_from(put(x, type));
      at(b).copy_from(put(y, type));
      for (std::int64_t i = 0; i < kSize * kSize; ++i) {
        float sum = 0;
        for (std::int64_t l = 0; l < kSize; ++l) {
          sum +=
              x[static_cast<std::size_t>(i / kSize * kSize + l)] * y[static_cast<std::size_t>(i % kSize * kSize + l)];
        }
        want.push_back(sum);
      }
    }
    GemmProblem p;
    p.m = p.n = p.k = p.lda = p.ldb = p.ldc = kSize;
    p.b_transposed = true;
    p.a_type = p.b_type = type;
    p.c_type = p.bias_type = result;
    p.a = a.address(), p.b = b.address(), p.c = c.address();
    p.batch = kBatch, p.stride_a = p.stride_b = p.stride_c = kStride;
    for (const sgemm::Plan& plan : sgemm::plans(device_.registry(), 132, p)) {
      sgemm::launch(device_, plan, p, 0);
      std::vector<float> got;
      for (std::int64_t z = 0; z < kBatch; ++z) {
        const Tensor one = c.slice(0, z * kStride, z * kStride + kSize * kSize);
        const std::vector<float> part = get(one);
        got.insert(got.end(), part.begin(), part.end());
        Tensor::wrap(one.address(), one.shape(), one.strides(), one.dtype()).fill(99);
      }
      ASSERT_EQ(got, want) << plan.kernel->name();
    }
  }
}

TEST_F(BatchedTest, Refusals) {
  const Tensor t = Tensor::ones({4096});
  GemmProblem p;
  p.m = p.n = p.k = p.lda = p.ldb = p.ldc = 8;
  p.a = p.b = t.address(), p.c = t.address() + 8192;
  p.batch = 3;
  p.stride_c = 63;
  expect_error<InvalidArgument>([&] { gemm(p); },
                                "gemm: stride_c is 63; needs at least 64: matrices of c must not overlap");
  p.stride_c = 64, p.stride_a = -1;
  expect_error<InvalidArgument>([&] { gemm(p); }, "gemm: stride_a is -1; needs 0 or more and less than 2^40");
  p.stride_a = 0, p.batch = 65536;
  expect_error<InvalidArgument>([&] { gemm(p); }, "gemm: batch is 65536; needs 0 to 65535");
  p.batch = 3, p.splits = 2;
  expect_error<InvalidArgument>([&] { gemm(p); }, "gemm: splits is 2; needs 0 or 1 for a batch of products");
  p.splits = 0, p.sum_batch = true;
  EXPECT_EQ(gemm_workspace(p), 3U * 64 * 4);
  expect_error<InvalidArgument>([&] { gemm(p); },
                                "gemm: sum_batch is true and workspace is 0; needs gemm_workspace(), 768 bytes");
}

}  // namespace
}  // namespace nervanagpu
