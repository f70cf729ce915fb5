// Plans: the bits of gemm(), whatever the addresses; what a launch costs the driver; what is refused.
#include <gtest/gtest.h>

#include <random>
#include <thread>

#include "kernels/gemm/gemm.h"
#include "nervanagpu/nervanagpu.hpp"
#include "test/src/expect_error.h"
#include "test/src/on_emulator.h"

namespace nervanagpu {
namespace {

class PlanTest : public test::OnEmulator {
 protected:
  explicit PlanTest(bool checked = false) : OnEmulator(checked) {}

  // Memory of random small integers of `type`, `shift` elements after a multiple of 256 bytes.
  Tensor operand(std::int64_t count, Dtype type, std::int64_t shift = 0) {
    std::vector<float> host(static_cast<std::size_t>(count + shift));
    for (float& v : host) v = static_cast<float>(static_cast<int>(random_() % 7) - (type == Dtype::uint8 ? 0 : 3));
    const Tensor values = Tensor::from_host<float>(host, {count + shift});
    Tensor out = Tensor::empty({count + shift}, type);
    convert(values, out);
    return out.slice(0, shift, count + shift);
  }
  static std::vector<std::byte> bytes_of(const Tensor& t) {
    std::vector<std::byte> out(t.nbytes());
    t.get(out.data(), out.size());
    return out;
  }

  // One plan, three sets of addresses, beside a launch with each that keeps nothing.
  void same_bits(GemmProblem p, std::int64_t shift = 0) {
    p.lda = p.a_transposed ? p.m : p.k;
    p.ldb = p.b_transposed ? p.k : p.n;
    p.ldc = p.n;
    GemmProblem form = p;
    const auto lies = [&](Dtype type) {
      return shift == 0 ? 0 : 256 + static_cast<std::uint64_t>(shift) * size_of(type);
    };
    form.a = lies(p.a_type), form.b = lies(p.b_type), form.c = lies(p.c_type);
    form.bias = p.bias == 0 ? 0 : 4;
    const GemmPlan plan(form);
    EXPECT_EQ(plan.workspace(), gemm_workspace(p));
    const Tensor workspace = Tensor::empty({static_cast<std::int64_t>(plan.workspace()) / 4 + 1});
    std::vector<Tensor> kept;  // no two turns have the same addresses
    for (int turn = 0; turn < 3; ++turn) {
      const Tensor a = operand(p.m * p.k, p.a_type, shift);
      const Tensor b = operand(p.k * p.n, p.b_type, shift);
      const Tensor bias = operand(std::max(p.m, p.n), p.bias_type);
      const Tensor before = operand(p.m * p.n, p.c_type, shift);
      const Tensor one = before.copy();
      const Tensor other = before.copy();
      kept.insert(kept.end(), {a, b, bias, one, other});
      GemmProblem q = p;
      q.a = a.address(), q.b = b.address(), q.c = one.address();
      q.bias = p.bias == 0 ? 0 : bias.address();
      q.workspace = plan.workspace() == 0 ? 0 : workspace.address();
      q.rounding.offset += 5;
      sgemm::launch(device_, sgemm::choose(device_.registry(), 132, q), q, 0);  // keeps nothing
      plan.launch({q.a, q.b, other.address(), q.bias, q.workspace, 5});
      ASSERT_EQ(bytes_of(one), bytes_of(other)) << plan.kernel() << ", turn " << turn;
      ASSERT_NE(bytes_of(one), bytes_of(before)) << plan.kernel();
    }
  }

  std::mt19937 random_{11};
};

GemmProblem problem(Dtype type, std::int64_t m, std::int64_t n, std::int64_t k) {
  GemmProblem p;
  p.m = m, p.n = n, p.k = k;
  p.a_type = p.b_type = type;
  p.c_type = p.bias_type = type == Dtype::int8 ? Dtype::int32 : type;
  return p;
}

TEST_F(PlanTest, BitsAreThoseOfGemm) {
  for (const Dtype type : {Dtype::float32, Dtype::float16, Dtype::int8}) {
    for (int layout = 0; layout < 4; ++layout) {
      GemmProblem p = problem(type, 72, 40, 64);
      p.a_transposed = (layout & 1) != 0;
      p.b_transposed = (layout & 2) != 0;
      p.alpha = 2, p.beta = layout == 0 ? 0.0F : -3.0F;
      p.relu = layout == 1;
      p.bias = layout >= 2 ? 4 : 0;
      p.bias_per_row = layout == 3;
      same_bits(p);
      same_bits(p, 1);  // no vectors, no tensor cores
      if (HasFatalFailure()) return;
    }
  }
}

TEST_F(PlanTest, PartsOfK) {
  for (const Dtype type : {Dtype::float32, Dtype::float16, Dtype::int8}) {
    GemmProblem p = problem(type, 24, 32, 512);
    p.b_transposed = true;
    p.splits = 3;
    p.alpha = -1, p.beta = 2, p.bias = 4;
    same_bits(p);
  }
}

TEST_F(PlanTest, StochasticRoundingTakesTheOffset) {
  GemmProblem p = problem(Dtype::float16, 40, 48, 64);
  p.alpha = 0.0371F;
  p.rounding = {true, 7, 3, 4};
  same_bits(p);
  p.tensor_cores = false;
  same_bits(p);
  p.splits = 2;
  same_bits(p);
}

// gemm() itself keeps plans: what may change between calls of one form does change.
TEST_F(PlanTest, RepeatedCallsOfGemmTakeTheirOwnNumbers) {
  const Tensor a = operand(64 * 64, Dtype::float32);
  const Tensor b = operand(64 * 64, Dtype::float32);
  const Tensor c = Tensor::empty({64, 64});
  GemmProblem p = problem(Dtype::float32, 64, 64, 64);
  p.lda = p.ldb = p.ldc = 64;
  p.a = a.address(), p.b = b.address(), p.c = c.address();
  gemm(p);
  const std::vector<float> once = c.to_host<float>();
  p.alpha = 3, p.beta = 2;
  gemm(p);
  p.beta = -1;
  gemm(p);  // 3 AB - (3 AB + 2 AB)
  const std::vector<float> got = c.to_host<float>();
  for (std::size_t i = 0; i < got.size(); ++i) ASSERT_EQ(got[i], -2 * once[i]) << i;
}

TEST_F(PlanTest, ManyThreadsLaunchOnePlan) {
  GemmProblem p = problem(Dtype::float16, 64, 64, 64);
  p.lda = p.ldb = p.ldc = 64;
  const GemmPlan plan(p);
  const Tensor a = operand(64 * 64 * 16, Dtype::float16);
  const Tensor want = Tensor::zeros({64, 64}, Dtype::float16);
  std::vector<Tensor> results;
  results.reserve(32);
  for (int i = 0; i < 32; ++i) results.push_back(Tensor::zeros({64, 64}, Dtype::float16));
  const auto run = [&](int i, const Tensor& c) {
    const std::uint64_t from = a.address() + static_cast<std::uint64_t>(i % 16) * 64 * 64 * 2;
    plan.launch({from, a.address(), c.address()});
  };
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = t; i < 32; i += 4) run(i, results[static_cast<std::size_t>(i)]);
    });
  }
  for (std::thread& t : threads) t.join();
  for (int i = 0; i < 32; ++i) {
    GemmProblem q = p;
    q.a = a.address() + static_cast<std::uint64_t>(i % 16) * 64 * 64 * 2, q.b = a.address(), q.c = want.address();
    sgemm::launch(device_, sgemm::choose(device_.registry(), 132, q), q, 0);
    ASSERT_EQ(bytes_of(results[static_cast<std::size_t>(i)]), bytes_of(want)) << i;
  }
}

TEST_F(PlanTest, Tensors) {
  const Tensor a = operand(40 * 72, Dtype::float16).reshape({40, 72});
  const Tensor b = operand(72 * 24, Dtype::float16).reshape({72, 24});
  const Tensor bias = operand(24, Dtype::float16);
  for (const bool columns : {false, true}) {
    Tensor c = Tensor::zeros({columns ? 24 : 40, columns ? 40 : 24}, Dtype::float16);
    if (columns) c = c.transpose();
    GemmOptions o;
    o.bias = &bias;
    o.relu = true;
    const GemmPlan plan(a, b, c, o);
    plan.launch(a, b, c, &bias);
    EXPECT_EQ(bytes_of(c), bytes_of(dot(a, b, o))) << columns;
    expect_error<InvalidArgument>([&] { plan.launch(a, b, c); }, "gemm plan: bias is missing; one was planned");
    expect_error<InvalidArgument>(
        [&] { plan.launch(a.slice(0, 0, 39), b, c, &bias); },
        "gemm plan: a has shape (39, 72) and strides (72, 1); needs (40, 72) and (72, 1), as planned");
    expect_error<TypeError>(
        [&] {
          plan.launch(a, Tensor::zeros({72, 24}), c, &bias);
        },
        "gemm plan: b has dtype float32; needs float16, as planned");
  }
  Tensor inside = a.slice(1, 0, 40);
  GemmOptions none;
  expect_error<InvalidArgument>([&] { GemmPlan(a, a.transpose(), inside, none); },
                                "dot: out shares memory with a; needs memory of its own");
  const Tensor odd = operand(80 * 144, Dtype::float16).reshape({80, 144}).slice(1, 0, 144, 2);
  expect_error<InvalidArgument>(
      [&] {
        GemmPlan(odd, b, Tensor::zeros({80, 24}, Dtype::float16));
      },
      "dot: a has strides (144, 2); a plan needs rows or columns of contiguous elements, less "
      "than 2^29 apart");
}

TEST_F(PlanTest, RefusesWhatWasNotPlanned) {
  GemmProblem p = problem(Dtype::float32, 16, 16, 128);
  p.lda = 128, p.ldb = p.ldc = 16;
  p.splits = 3;
  const GemmPlan plan(p);
  EXPECT_EQ(plan.workspace(), 3U * 256 * 4);
  using A = GemmAddresses;
  expect_error<InvalidArgument>([&] { plan.launch(A{0, 16, 16, 0, 16}); }, "gemm plan: a is 0; needs a device address");
  expect_error<InvalidArgument>(
      [&] {
        plan.launch(A{16, 24, 16, 0, 16});
      },
      "gemm plan: address of b is 24; needs a multiple of 16, as planned");
  expect_error<InvalidArgument>(
      [&] {
        plan.launch(A{16, 16, 16, 4, 16});
      },
      "gemm plan: bias is 4; needs 0, none was planned");
  expect_error<InvalidArgument>(
      [&] {
        plan.launch(A{16, 16, 16});
      },
      "gemm plan: address of workspace is 0; needs 3072 bytes at a multiple of 16");
  p.lda = 1;
  expect_error<InvalidArgument>([&] { GemmPlan{p}; }, "gemm: lda is 1; needs at least 128, the length of a row (k)");
  p.m = 0;
  GemmPlan(p).launch({});  // nothing to compute
}

}  // namespace
}  // namespace nervanagpu
