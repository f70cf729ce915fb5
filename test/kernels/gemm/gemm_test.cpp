// sgemm.sass: exact products over odd shapes, all variants alike, special values.
#include "kernels/gemm/gemm.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <set>

#include "nervanagpu/nervanagpu.hpp"
#include "test/kernels/gemm/gemm_case.h"
#include "test/src/expect_error.h"
#include "test/src/on_emulator.h"

namespace nervanagpu {
namespace {

using test::Epilogue;

class GemmTest : public test::OnEmulator {
 protected:
  explicit GemmTest(bool checked = false) : OnEmulator(checked) {}

  std::vector<float> integers(std::int64_t count, int size) { return test::integers(random_, count, size); }

  // Runs every kernel that may compute the problem.
  void check(std::int64_t m, std::int64_t n, std::int64_t k, bool ta, bool tb, std::int64_t pad, const Epilogue& e) {
    const test::GemmCase c(random_, m, n, k, ta, tb, pad, e);
    const std::vector<sgemm::Plan> plans = sgemm::plans(device_.registry(), 132, c.problem());
    ASSERT_FALSE(plans.empty());
    for (const sgemm::Plan& plan : plans) ASSERT_EQ(c.judge(device_, plan), "");
  }

  // Small shapes in all layouts, and each epilogue.
  void check_all(const std::vector<std::array<std::int64_t, 3>>& shapes) {
    const Epilogue epilogues[] = {
        {}, {2, 0, 0, false}, {1, 1, 0, false}, {-1, 2, 1, true}, {1, 0, 2, true}, {0, -2, 1, false}};
    std::size_t turn = 0;
    for (const auto& [m, n, k] : shapes) {
      for (int layout = 0; layout < 4; ++layout) {
        for (const std::int64_t pad : {0, 3, 4}) {
          check(m, n, k, (layout & 1) != 0, (layout & 2) != 0, pad, epilogues[turn++ % std::size(epilogues)]);
          if (HasFatalFailure()) return;
        }
      }
    }
  }

  std::mt19937 random_{1};
};

class CheckedGemmTest : public GemmTest {
 protected:
  CheckedGemmTest() : GemmTest(true) {}
};

TEST_F(GemmTest, ExactIntegersOverOddShapes) {
  std::vector<std::array<std::int64_t, 3>> shapes;
  const std::int64_t lengths[] = {1, 3, 17, 127, 129};
  for (const std::int64_t m : lengths) {
    for (const std::int64_t n : lengths) {
      for (const std::int64_t k : {0, 1, 3, 8, 9, 17, 33, 129}) {
        if ((m * 7 + n * 3 + k) % 4 == 0 || k == 0) shapes.push_back({m, n, k});
      }
    }
  }
  shapes.push_back({256, 192, 40});
  shapes.push_back({128, 128, 64});
  check_all(shapes);
}

TEST_F(CheckedGemmTest, NoFindingsInAnyVariant) {
  check_all({{1, 1, 0}, {1, 1, 1}, {3, 17, 5}, {64, 64, 32}, {65, 129, 41}, {132, 68, 24}, {129, 127, 8}});
}

TEST_F(GemmTest, EveryVariantIsTested) {
  // Aligned problems of the four layouts reach all of them.
  std::set<std::string> seen;
  for (int layout = 0; layout < 4; ++layout) {
    GemmProblem p;
    p.a_transposed = (layout & 1) != 0, p.b_transposed = (layout & 2) != 0;
    p.m = p.n = p.k = p.lda = p.ldb = p.ldc = 64;
    p.a = p.b = p.c = 256;
    for (const sgemm::Plan& plan : sgemm::plans(device_.registry(), 132, p)) seen.insert(plan.kernel->name());
  }
  for (const Kernel* k : device_.registry().of_op("sgemm")) EXPECT_EQ(seen.count(k->name()), 1U) << k->name();
}

TEST_F(GemmTest, AllVariantsAreOfOneOrderClass) {
  for (const Kernel* k : device_.registry().of_op("sgemm")) {
    EXPECT_EQ(k->manifest().accum, device_.registry().of_op("sgemm").front()->manifest().accum) << k->name();
  }
}

TEST_F(GemmTest, EveryVariantGivesTheSameBits) {
  const std::int64_t m = 132;
  const std::int64_t n = 68;
  const std::int64_t k = 100;
  std::normal_distribution<float> normal;
  std::vector<float> a(static_cast<std::size_t>(m * k));
  std::vector<float> b(static_cast<std::size_t>(k * n));
  for (float& x : a) x = normal(random_);
  for (float& x : b) x = normal(random_);
  // One FFMA chain in ascending k is the definition.
  std::vector<float> expected(static_cast<std::size_t>(m * n));
  std::vector<float> at(a.size());
  std::vector<float> bt(b.size());
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      float sum = 0;
      for (std::int64_t l = 0; l < k; ++l) {
        sum = std::fma(a[static_cast<std::size_t>(i * k + l)], b[static_cast<std::size_t>(l * n + j)], sum);
      }
      expected[static_cast<std::size_t>(i * n + j)] = sum;
    }
  }
  for (std::int64_t i = 0; i < m * k; ++i)
    at[static_cast<std::size_t>(i % k * m + i / k)] = a[static_cast<std::size_t>(i)];
  for (std::int64_t i = 0; i < k * n; ++i)
    bt[static_cast<std::size_t>(i % n * k + i / n)] = b[static_cast<std::size_t>(i)];
  const Tensor da[] = {Tensor::from_host<float>(a, {m, k}), Tensor::from_host<float>(at, {k, m})};
  const Tensor db[] = {Tensor::from_host<float>(b, {k, n}), Tensor::from_host<float>(bt, {n, k})};
  Tensor c = Tensor::empty({m, n});
  for (int layout = 0; layout < 4; ++layout) {
    GemmProblem p;
    p.m = m, p.n = n, p.k = k, p.ldc = n, p.c = c.address();
    p.a_transposed = (layout & 1) != 0, p.b_transposed = (layout & 2) != 0;
    p.a = da[layout & 1].address(), p.b = db[layout >> 1].address();
    p.lda = p.a_transposed ? m : k, p.ldb = p.b_transposed ? k : n;
    for (const sgemm::Plan& plan : sgemm::plans(device_.registry(), 132, p)) {
      c.fill(test::kPoison);
      sgemm::launch(device_, plan, p, 0);
      const std::vector<float> got = c.to_host<float>();
      EXPECT_EQ(std::memcmp(got.data(), expected.data(), got.size() * 4), 0) << plan.kernel->name();
    }
  }
}

TEST_F(GemmTest, SpecialValuesPropagate) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  // Row i of A is one special value, then ones; B is ones.
  const std::vector<float> specials = {nan, kInf, -kInf, 1e38F, -0.0F, std::numeric_limits<float>::denorm_min()};
  const auto m = static_cast<std::int64_t>(specials.size());
  std::vector<float> a(static_cast<std::size_t>(m * 2), 0.0F);
  for (std::size_t i = 0; i < specials.size(); ++i) a[2 * i] = specials[i];
  const Tensor da = Tensor::from_host<float>(a, {m, 2});
  const Tensor db = Tensor::ones({2, 5});
  for (const bool relu : {false, true}) {
    GemmOptions o;
    o.relu = relu;
    const std::vector<float> c = dot(da, db, o).to_host<float>();
    for (std::size_t i = 0; i < specials.size(); ++i) {
      for (std::size_t j = 0; j < 5; ++j) {
        const float got = c[i * 5 + j];
        if (std::isnan(specials[i])) {
          EXPECT_TRUE(std::isnan(got)) << "relu " << relu;
        } else {
          EXPECT_EQ(got, relu && specials[i] < 0 ? 0.0F : specials[i]) << "relu " << relu;
        }
      }
    }
  }
}

TEST_F(GemmTest, BetaZeroDoesNotReadC) {
  const Tensor a = Tensor::ones({5, 4});
  const Tensor b = Tensor::ones({4, 3});
  Tensor c = Tensor::full({5, 3}, NAN);
  gemm(a, b, c);
  EXPECT_EQ(c.to_host<float>(), std::vector<float>(15, 4.0F));
}

TEST_F(GemmTest, KZeroIsTheEpilogueAlone) {
  Tensor c = Tensor::full({2, 3}, 5.0);
  const Tensor bias = Tensor::full({3}, -11.0);
  GemmOptions o;
  o.beta = 2;
  o.bias = &bias;
  gemm(Tensor::zeros({2, 0}), Tensor::zeros({0, 3}), c, o);
  EXPECT_EQ(c.to_host<float>(), std::vector<float>(6, -1.0F));
  o.relu = true;
  gemm(Tensor::zeros({2, 0}), Tensor::zeros({0, 3}), c, o);
  EXPECT_EQ(c.to_host<float>(), std::vector<float>(6, 0.0F));
}

// Views of every kind as each operand, against the same product of contiguous copies.
TEST_F(GemmTest, AnyViewsMultiply) {
  const auto view = [&](std::int64_t rows, std::int64_t columns, int kind) {
    Tensor t;
    switch (kind) {
      case 0: return Tensor::from_host<float>(integers(rows * columns, 8), {rows, columns});
      case 1: return Tensor::from_host<float>(integers(rows * columns, 8), {columns, rows}).transpose();
      case 2:
        t = Tensor::from_host<float>(integers(rows * (columns + 5), 8), {rows, columns + 5});
        return t.slice(1, 3, 3 + columns);
      case 3:
        t = Tensor::from_host<float>(integers(rows * columns * 2, 8), {rows, columns * 2});
        return t.slice(1, 0, 2 * columns, 2);
      case 4:
        t = Tensor::from_host<float>(integers(rows * columns, 8), {rows, columns});
        return t.slice(0, rows - 1, -rows - 1, -1);
      default:
        t = Tensor::from_host<float>(integers(rows * 3 * columns, 8), {3 * rows, columns});
        return t.slice(0, 1, 3 * rows, 3);
    }
  };
  for (int ka = 0; ka < 6; ++ka) {
    for (int kb = 0; kb < 6; ++kb) {
      const Tensor a = view(13, 9, ka);
      const Tensor b = view(9, 7, kb);
      Tensor c = view(13, 7, (ka + kb) % 6);
      const Tensor bias = ka % 2 == 0 ? Tensor::from_host<float>(integers(7, 8), {7})
                                      : Tensor::from_host<float>(integers(26, 8), {13, 2}).slice(1, 1, 2);
      const std::vector<float> ha = a.to_host<float>();
      const std::vector<float> hb = b.to_host<float>();
      const std::vector<float> hbias = bias.to_host<float>();
      std::vector<float> expected = c.to_host<float>();
      for (std::size_t i = 0; i < 13; ++i) {
        for (std::size_t j = 0; j < 7; ++j) {
          float sum = 3 * expected[i * 7 + j] + hbias[ka % 2 == 0 ? j : i];
          for (std::size_t l = 0; l < 9; ++l) sum += 2 * ha[i * 9 + l] * hb[l * 7 + j];
          expected[i * 7 + j] = sum;
        }
      }
      GemmOptions o;
      o.alpha = 2;
      o.beta = 3;
      o.bias = &bias;
      gemm(a, b, c, o);
      EXPECT_EQ(c.to_host<float>(), expected) << "a " << ka << " b " << kb;
    }
  }
}

TEST_F(GemmTest, HalvesOfOneMatrixDoNotOverlap) {
  Tensor all = Tensor::ones({8, 16});
  const Tensor a = all.slice(1, 0, 8);
  Tensor c = all.slice(1, 8, 16);
  gemm(a, Tensor::ones({8, 8}), c);
  EXPECT_EQ(c.to_host<float>(), std::vector<float>(64, 8.0F));
  EXPECT_EQ(a.to_host<float>(), std::vector<float>(64, 1.0F));
}

TEST_F(GemmTest, RefusesWithoutWriting) {
  const Tensor a = Tensor::ones({4, 3});
  const Tensor b = Tensor::ones({3, 5});
  Tensor c = Tensor::full({4, 5}, 7.0);
  GemmOptions o;
  const auto refused = [&](const auto& f, const std::string& text) {
    expect_error<InvalidArgument>(f, text);
    EXPECT_EQ(c.to_host<float>(), std::vector<float>(20, 7.0F));
  };
  refused([&] { gemm(a, a, c); },
          "dot: a has shape (4, 3) and b (4, 3); a's columns (3) must be as many as b's rows (4)");
  refused([&] { gemm(a, b.reshape({15}), c); }, "dot: b has shape (15,); needs 2 axes, has 1");
  refused(
      [&] {
        Tensor t = c.transpose();
        gemm(a, b, t);
      },
      "dot: out has shape (5, 4); needs (4, 5)");
  refused([&] { gemm(c.slice(1, 0, 3), b, c); }, "dot: out shares memory with a; needs memory of its own");
  refused([&] { gemm(a, c.slice(0, 0, 3), c); }, "dot: out shares memory with b; needs memory of its own");
  const Tensor bias4 = Tensor::ones({4});
  o.bias = &bias4;
  refused([&] { gemm(a, b, c, o); },
          "dot: bias has shape (4,); needs (5,) or (1, 5), one for each column, or (4, 1), one for each row");
  const Tensor row = c.select(0, 0);
  o.bias = &row;
  refused([&] { gemm(a, b, c, o); }, "dot: out shares memory with bias; needs memory of its own");
  refused(
      [&] {
        Tensor t = Tensor::wrap(c.address(), {4, 5}, {0, 1}, Dtype::float32);
        gemm(a, b, t);
      },
      "dot: out has strides (0, 1): several of its elements are the same memory");
  GemmOptions tile;
  tile.tile = "7x7";
  refused([&] { gemm(a, b, c, tile); }, "gemm: no kernel with tile 7x7 for m 4, n 5, k 3");
  GemmOptions reads;
  reads.beta = 1;
  refused([&] { static_cast<void>(dot(a, b, reads)); }, "dot: beta is 1.000000 but there is no out to read");
  expect_error<TypeError>(
      [&] {
        static_cast<void>(dot(Tensor::ones({4, 3}, Dtype::float16), b));
      },
      "dot: b has dtype float32; needs float16, as a");
  GemmOptions half;
  const Tensor half_bias = Tensor::ones({5}, Dtype::float16);
  half.bias = &half_bias;
  expect_error<TypeError>([&] { static_cast<void>(dot(a, b, half)); }, "dot: bias has dtype float16; needs float32");
}

TEST_F(GemmTest, RefusesRawProblems) {
  const Tensor t = Tensor::ones({64});
  GemmProblem good;
  good.m = good.n = good.k = good.lda = good.ldb = good.ldc = 4;
  good.a = good.b = t.address();
  good.c = t.address() + 128;
  sgemm::check(good);
  const auto refused = [&](const auto& change, const std::string& text) {
    GemmProblem p = good;
    change(p);
    expect_error<InvalidArgument>([&] { gemm(p); }, text);
  };
  refused([](GemmProblem& p) { p.m = -1; }, "gemm: m is -1; needs 0 or more and less than 2^31");
  refused([](GemmProblem& p) { p.k = std::int64_t{1} << 31; },
          "gemm: k is 2147483648; needs 0 or more and less than 2^31");
  refused([](GemmProblem& p) { p.lda = 3; }, "gemm: lda is 3; needs at least 4, the length of a row (k)");
  refused([](GemmProblem& p) { p.a_transposed = true, p.m = 5; },
          "gemm: lda is 4; needs at least 5, the length of a row (m)");
  refused([](GemmProblem& p) { p.ldb = 1 << 29; }, "gemm: ldb is 536870912; needs less than 2^29");
  refused([](GemmProblem& p) { p.ldc = 2; }, "gemm: ldc is 2; needs at least 4, the length of a row (n)");
  refused([](GemmProblem& p) { p.c = 0; }, "gemm: c is 0; needs a device address");
  refused([](GemmProblem& p) { p.a = 6; }, "gemm: address of a is 6; needs a multiple of 4");
}

TEST_F(GemmTest, EmptyProblemsDoNothing) {
  GemmProblem p;
  p.m = 0, p.n = 5, p.k = 3;
  gemm(p);
  EXPECT_EQ(dot(Tensor::zeros({0, 3}), Tensor::zeros({3, 5})).shape(), (Shape{0, 5}));
  EXPECT_EQ(dot(Tensor::zeros({4, 3}), Tensor::zeros({3, 0})).shape(), (Shape{4, 0}));
}

TEST_F(GemmTest, ManyColumnTilesFoldIntoZ) {
  GemmProblem p;
  p.m = 1, p.k = 1, p.lda = 1;
  p.n = p.ldb = p.ldc = 300'000'000;
  p.a = p.b = p.c = 256;
  for (const sgemm::Plan& plan : sgemm::plans(device_.registry(), 132, p)) {
    const std::int64_t bn = plan.kernel->number("BN");
    EXPECT_LE(plan.grid.y, 32768U);
    EXPECT_LE(plan.grid.z, 65535U);
    EXPECT_GE(static_cast<std::int64_t>(plan.grid.y) * plan.grid.z * bn, p.n);
  }
}

}  // namespace
}  // namespace nervanagpu
