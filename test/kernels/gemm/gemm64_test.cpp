// Products of float64 and int64 by every kernel of gemm64.h, by name: the bits of one chain of multiply-adds in ascending k, its
// bound, numbers that are not finite, and what is refused.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "kernels/gemm/gemm.h"
#include "kernels/gemm/wide/gemm64.h"
#include "nervanagpu/nervanagpu.hpp"
#include "test/kernels/bound.h"
#include "test/src/expect_error.h"
#include "test/src/on_emulator.h"

namespace nervanagpu {
namespace {

std::size_t at(std::int64_t i) {
  return static_cast<std::size_t>(i);
}

bool transposed(const Kernel& k, const char* side) {
  return k.manifest().variant.at(side) == "t";
}

class Gemm64Test : public ::testing::TestWithParam<sass::Arch> {
 protected:
  Gemm64Test()
      : device_(embedded_cubins(), GetParam(), true, std::size_t{1} << 26), before_(exchange_device(&device_)) {}
  ~Gemm64Test() override { exchange_device(before_); }

  // A problem of this kernel and no other of its tile; lengths that fill no tile.
  static GemmProblem made_for(const Kernel& k) {
    GemmProblem p;
    p.a_type = p.b_type = p.c_type = k.manifest().variant.at("T") == "f64" ? Dtype::float64 : Dtype::int64;
    p.a_transposed = transposed(k, "TA"), p.b_transposed = transposed(k, "TB");
    const bool pairs = k.number("V") == 2;
    p.m = k.number("BM") + (pairs ? 6 : 5), p.n = k.number("BN") + (pairs ? 4 : 3), p.k = pairs ? 70 : 69;
    p.lda = (p.a_transposed ? p.m : p.k) + (pairs ? 2 : 0);
    p.ldb = (p.b_transposed ? p.k : p.n) + (pairs ? 4 : 1);
    p.ldc = p.n + 3;
    return p;
  }

  template <class T>
  struct Operands {
    std::vector<T> a, b, c;
  };
  template <class T, class Draw>
  Operands<T> draw(const GemmProblem& p, const Draw& next) {
    Operands<T> out;
    out.a.resize(at((p.a_transposed ? p.k : p.m) * p.lda));
    out.b.resize(at((p.b_transposed ? p.n : p.k) * p.ldb));
    out.c.resize(at(p.m * p.ldc));
    for (auto* v : {&out.a, &out.b, &out.c}) {
      for (T& x : *v) x = next();
    }
    return out;
  }
  template <class T>
  static T a_of(const GemmProblem& p, const Operands<T>& x, std::int64_t i, std::int64_t l) {
    return x.a[at(p.a_transposed ? l * p.lda + i : i * p.lda + l)];
  }
  template <class T>
  static T b_of(const GemmProblem& p, const Operands<T>& x, std::int64_t l, std::int64_t j) {
    return x.b[at(p.b_transposed ? j * p.ldb + l : l * p.ldb + j)];
  }

  // C as this kernel leaves it.
  template <class T>
  std::vector<T> run(const Kernel& kernel, GemmProblem p, const Operands<T>& x) {
    const auto length = [](const std::vector<T>& v) { return Shape{static_cast<std::int64_t>(v.size())}; };
    const Tensor a = Tensor::from_host<T>(x.a, length(x.a)), b = Tensor::from_host<T>(x.b, length(x.b));
    const Tensor c = Tensor::from_host<T>(x.c, length(x.c));
    p.a = a.address(), p.b = b.address(), p.c = c.address();
    const std::string tile = std::to_string(kernel.number("BM")) + "x" + std::to_string(kernel.number("BN"));
    const auto plans = sgemm::plans(device_.registry(), 132, p, tile);
    if (plans.empty() || plans.front().kernel != &kernel) {
      ADD_FAILURE() << kernel.name() << " is not the first of tile " << tile;
      return {};
    }
    sgemm::launch(device_, plans.front(), p, 0);
    return c.to_host<T>();
  }
  [[nodiscard]] std::vector<const Kernel*> kernels() const { return gemm64::kernels(device_.registry()); }

  EmulatorDevice device_;
  Device* before_;
  std::mt19937_64 random_{7};
};

TEST_P(Gemm64Test, FloatsAreChainsWithinTheirBound) {
  std::normal_distribution<double> normal;
  int seen = 0;
  for (const Kernel* k : kernels()) {
    GemmProblem p = made_for(*k);
    if (p.a_type != Dtype::float64) continue;
    ++seen;
    p.alpha = seen % 2 != 0 ? 1.0F : -0.75F, p.beta = seen % 3 == 0 ? 0.5F : 0.0F;
    auto x = draw<double>(p, [&] { return std::ldexp(normal(random_), static_cast<int>(random_() % 9) - 4); });
    const double nan = std::numeric_limits<double>::quiet_NaN();
    if (p.beta == 0) std::ranges::fill(x.c, nan);  // is not read
    const std::vector<double> got = run(*k, p, x);
    ASSERT_EQ(got.size(), x.c.size());
    std::int64_t outside = 0;
    double largest = 0;
    for (std::int64_t i = 0; i < p.m; ++i) {
      for (std::int64_t j = 0; j < p.n; ++j) {
        double chain = 0, magnitude = 0, missing = 0;
        long double exact = 0;
        for (std::int64_t l = 0; l < p.k; ++l) {
          const double u = a_of(p, x, i, l), v = b_of(p, x, l, j);
          chain = std::fma(u, v, chain);
          exact += static_cast<long double>(u) * v;
          magnitude += std::fabs(u * v);
          if (l == p.k - 1) missing = u * v;
        }
        const double old = x.c[at(i * p.ldc + j)];
        const double want = p.beta == 0 ? p.alpha * chain : std::fma(p.beta, old, p.alpha * chain);
        const double is = got[at(i * p.ldc + j)];
        ASSERT_EQ(std::bit_cast<std::uint64_t>(is), std::bit_cast<std::uint64_t>(want))
            << k->name() << " (" << i << ", " << j << "): " << is << ", a chain gives " << want;
        const auto bound = test::bound_of(k->manifest().bound, {{"k", static_cast<double>(p.k)}, {"S", magnitude}});
        ASSERT_TRUE(bound) << k->name() << ": .bound " << k->manifest().bound;
        const auto error = static_cast<double>(std::fabs(chain - exact));
        ASSERT_TRUE(error <= *bound) << k->name() << ": " << error << " of " << *bound;
        largest = std::max(largest, error / *bound);
        if (std::fabs(missing) > *bound) ++outside;
      }
      for (std::int64_t j = p.n; j < p.ldc; ++j) {  // between the rows
        ASSERT_EQ(std::bit_cast<std::uint64_t>(got[at(i * p.ldc + j)]),
                  std::bit_cast<std::uint64_t>(x.c[at(i * p.ldc + j)]))
            << k->name();
      }
    }
    EXPECT_GE(outside * 4, p.m * p.n * 3) << k->name() << ": the bound hides a term that is missing";
    EXPECT_GE(largest, 1.0 / 1000) << k->name() << ": the bound is far from any error";
  }
  EXPECT_GE(seen, GetParam() == sass::Arch::sm_52 ? 8 : 32);
}

TEST_P(Gemm64Test, IntegersWrap) {
  int seen = 0;
  for (const Kernel* k : kernels()) {
    GemmProblem p = made_for(*k);
    if (p.a_type != Dtype::int64) continue;
    ++seen;
    p.alpha = seen % 2 != 0 ? 1.0F : -3.0F, p.beta = seen % 3 == 0 ? 7.0F : 0.0F;
    const auto x = draw<std::int64_t>(p, [&] { return static_cast<std::int64_t>(random_()); });
    const std::vector<std::int64_t> got = run(*k, p, x);
    ASSERT_EQ(got.size(), x.c.size());
    const auto word = [](std::int64_t v) { return static_cast<std::uint64_t>(v); };
    for (std::int64_t i = 0; i < p.m; ++i) {
      for (std::int64_t j = 0; j < p.n; ++j) {
        std::uint64_t sum = 0;
        for (std::int64_t l = 0; l < p.k; ++l) sum += word(a_of(p, x, i, l)) * word(b_of(p, x, l, j));
        sum *= word(static_cast<std::int64_t>(p.alpha));
        sum += word(static_cast<std::int64_t>(p.beta)) * word(x.c[at(i * p.ldc + j)]);
        ASSERT_EQ(word(got[at(i * p.ldc + j)]), sum) << k->name() << " (" << i << ", " << j << ")";
      }
    }
  }
  EXPECT_EQ(seen, 8);
}

// A number that is not finite reaches its row (a) or column (b) and nothing else, wherever it stands; a sum of -0 is +0.
TEST_P(Gemm64Test, SpecialNumbersStayInTheirRowsAndColumns) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const Kernel* k : kernels()) {
    const GemmProblem p = made_for(*k);
    if (p.a_type != Dtype::float64) continue;
    auto x = draw<double>(p, [&] { return 1.0 + static_cast<double>(random_() % 3); });
    const auto put_a = [&](std::int64_t i, std::int64_t l, double v) {
      x.a[at(p.a_transposed ? l * p.lda + i : i * p.lda + l)] = v;
    };
    const auto put_b = [&](std::int64_t l, std::int64_t j, double v) {
      x.b[at(p.b_transposed ? j * p.ldb + l : l * p.ldb + j)] = v;
    };
    put_a(1, 0, nan), put_a(p.m - 1, p.k - 1, kInfinity), put_a(3, 17, -kInfinity), put_a(3, 18, kInfinity);
    put_b(p.k - 1, p.n - 1, nan), put_b(5, 2, kInfinity);
    for (std::int64_t l = 0; l < p.k; ++l) put_a(0, l, l == 0 ? -0x1p-1074 : -0.0);  // a product that rounds to -0
    put_b(0, 0, 0x1p-3);
    const std::vector<double> got = run(*k, p, x);
    ASSERT_EQ(got.size(), x.c.size());
    for (std::int64_t i = 0; i < p.m; ++i) {
      for (std::int64_t j = 0; j < p.n; ++j) {
        double chain = 0;
        for (std::int64_t l = 0; l < p.k; ++l) chain = std::fma(a_of(p, x, i, l), b_of(p, x, l, j), chain);
        const double is = got[at(i * p.ldc + j)];
        ASSERT_TRUE(std::isnan(chain) ? std::isnan(is) : is == chain && !(is == 0 && std::signbit(is)))
            << k->name() << " (" << i << ", " << j << "): " << is << ", needs " << chain;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Arch, Gemm64Test, ::testing::Values(sass::Arch::sm_90a, sass::Arch::sm_80, sass::Arch::sm_52),
                         [](const auto& i) { return std::string(sass::info(i.param).name); });

class Gemm64Refusals : public test::OnEmulator {};

TEST_F(Gemm64Refusals, WhatNoKernelDoes) {
  const Tensor a = Tensor::zeros({4, 6}, Dtype::float64), b = Tensor::zeros({6, 5}, Dtype::float64);
  const Tensor bias = Tensor::zeros({5}, Dtype::float64);
  const auto refused = [&](const std::string& what, auto set) {
    GemmOptions options;
    set(options);
    expect_error<InvalidArgument>([&] { static_cast<void>(dot(a, b, options)); }, "gemm: " + what);
  };
  refused("bias is given for a product of float64 operands; needs none", [&](GemmOptions& o) { o.bias = &bias; });
  refused("an activation is asked for of a product of float64 operands; needs none",
          [](GemmOptions& o) { o.relu = true; });
  refused("rounding is stochastic for a product of float64 operands; needs nearest",
          [](GemmOptions& o) { o.rounding.stochastic = true; });
  refused("splits is above 1 for a product of float64 operands; needs 0 or 1", [](GemmOptions& o) { o.splits = 2; });
  const Tensor x = Tensor::zeros({3, 4, 6}, Dtype::float64), y = Tensor::zeros({3, 6, 5}, Dtype::float64);
  Tensor c = Tensor::zeros({4, 5}, Dtype::float64);
  expect_error<InvalidArgument>([&] { batched_dot(x, y, c); },
                                "gemm: sum_batch is true for matrices that are not one long k as they lie, of "
                                "float64 operands; needs a product each");
  const Tensor whole = Tensor::zeros({6, 5}, Dtype::int64);
  expect_error<TypeError>([&] { static_cast<void>(dot(a, whole)); }, "dot: b has dtype int64; needs float64, as a");
}

}  // namespace
}  // namespace nervanagpu
