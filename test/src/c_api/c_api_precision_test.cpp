// nervanagpu.h: precision of float32 products, beside C++.
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "nervanagpu/nervanagpu.h"
#include "nervanagpu/nervanagpu.hpp"
#include "test/src/expect_error.h"
#include "test/src/on_emulator.h"

namespace nervanagpu {
namespace {

class CApiPrecision : public test::OnEmulator {
 protected:
  CApiPrecision() : a_(numbers({140, 90}, 3)), b_(numbers({90, 75}, 5)), c_(Tensor::empty({140, 75})) {}

  static Tensor numbers(const Shape& shape, int seed) {
    std::vector<float> host(static_cast<std::size_t>(shape[0] * shape[1]));
    for (std::size_t i = 0; i < host.size(); ++i) {
      host[i] = 0.37F + static_cast<float>(i * 2654435761U * static_cast<unsigned>(seed) % 65521) / 65521.0F;
    }
    return Tensor::from_host<float>(host, shape);
  }
  [[nodiscard]] std::vector<float> by(Precision precision) const {
    GemmOptions options;
    options.precision = precision;
    options.splits = 1;
    return dot(a_, b_, options).to_host<float>();
  }
  [[nodiscard]] ng_gemm_problem problem(std::int32_t precision) const {
    ng_gemm_problem p = NG_GEMM_PROBLEM_INIT;
    p.a = a_.address(), p.b = b_.address(), p.c = c_.address();
    p.m = 140, p.n = p.ldb = p.ldc = 75, p.k = p.lda = 90;
    p.splits = 1;
    p.precision = precision;
    return p;
  }

  Tensor a_, b_, c_;
};

TEST_F(CApiPrecision, AProductAndAPlan) {
  ASSERT_NE(by(Precision::tensor), by(Precision::strict));
  ng_gemm_problem p = problem(NG_TENSOR);
  std::size_t bytes = 0;
  ASSERT_EQ(ng_gemm_workspace(&p, &bytes), NG_OK) << ng_last_error();
  // 2 KB of ranges, and 6 KB of f16x2.sass; three pieces of 140 x 96 and 90 x 80.
  EXPECT_EQ(bytes, 8192U + (3 * 140 * 96 * 2 + 255) / 256 * 256 + (3 * 90 * 80 * 2 + 255) / 256 * 256);
  EXPECT_EQ(ng_gemm(&p, 0), NG_INVALID_ARGUMENT);
  EXPECT_EQ(ng_last_error(),
            "gemm: splits is 1 and workspace is 0; needs gemm_workspace(), " + std::to_string(bytes) + " bytes");
  const Tensor workspace = Tensor::empty({static_cast<std::int64_t>(bytes / 4)});
  p.workspace = workspace.address(), p.workspace_bytes = bytes;
  ASSERT_EQ(ng_gemm(&p, 0), NG_OK) << ng_last_error();
  EXPECT_EQ(c_.to_host<float>(), by(Precision::tensor));

  c_.copy_from(Tensor::zeros({140, 75}));
  ng_gemm_plan* plan = nullptr;
  const ng_gemm_problem form = problem(NG_TENSOR);
  ASSERT_EQ(ng_gemm_plan_create(&form, &plan), NG_OK) << ng_last_error();
  ng_gemm_addresses at = NG_GEMM_ADDRESSES_INIT;
  at.a = p.a, at.b = p.b, at.c = p.c, at.workspace = p.workspace, at.workspace_bytes = bytes;
  EXPECT_EQ(ng_gemm_plan_launch(plan, &at, 0), NG_OK) << ng_last_error();
  ng_gemm_plan_destroy(plan);
  EXPECT_EQ(c_.to_host<float>(), by(Precision::tensor));
}

TEST_F(CApiPrecision, StrictUnlessAskedFor) {
  const ng_gemm_problem p = problem(NG_STRICT);
  ASSERT_EQ(ng_gemm(&p, 0), NG_OK) << ng_last_error();
  EXPECT_EQ(c_.to_host<float>(), by(Precision::strict));
}

TEST_F(CApiPrecision, OfAThread) {
  EXPECT_EQ(precision(), Precision::strict);
  ASSERT_EQ(ng_set_precision(NG_TENSOR), NG_OK);
  EXPECT_EQ(precision(), Precision::tensor);
  EXPECT_EQ(GemmOptions().precision, Precision::tensor);
  std::int32_t asked = -1;
  ASSERT_EQ(ng_get_precision(&asked), NG_OK);
  EXPECT_EQ(asked, NG_TENSOR);
  EXPECT_EQ(GemmProblem().precision, Precision::strict);
  ASSERT_EQ(ng_set_precision(NG_STRICT), NG_OK);
  EXPECT_EQ(GemmOptions().precision, Precision::strict);
  ASSERT_EQ(ng_get_precision(&asked), NG_OK);
  EXPECT_EQ(asked, NG_STRICT);
  EXPECT_EQ(ng_get_precision(nullptr), NG_INVALID_ARGUMENT);
}

TEST_F(CApiPrecision, ChainsOfSixteenBits) {
  const Tensor a = cast(numbers({128, 256}, 3), Dtype::float16).evaluate();
  const Tensor b = cast(numbers({256, 128}, 5), Dtype::float16).evaluate();
  Tensor c = Tensor::empty({128, 128});
  std::array<std::vector<float>, 2> found;
  for (const std::size_t chains : {0U, 1U}) {
    ng_gemm_problem p = NG_GEMM_PROBLEM_INIT;
    p.a = a.address(), p.b = b.address(), p.c = c.address();
    p.m = p.n = p.ldb = p.ldc = 128, p.k = p.lda = 256, p.splits = 1;
    p.a_type = p.b_type = NG_FLOAT16;
    p.no_tensor_cores = static_cast<std::int32_t>(chains);
    ASSERT_EQ(ng_gemm(&p, 0), NG_OK) << ng_last_error();
    found[chains] = c.to_host<float>();
    GemmOptions options;
    options.tensor_cores = chains == 0;
    options.splits = 1;
    gemm(a, b, c, options);
    EXPECT_EQ(found[chains], c.to_host<float>()) << chains;
  }
  EXPECT_NE(found[0], found[1]);
}

TEST_F(CApiPrecision, Refusals) {
  EXPECT_EQ(ng_set_precision(2), NG_INVALID_ARGUMENT);
  EXPECT_STREQ(ng_last_error(), "ng_set_precision: precision is 2; needs NG_STRICT (0) or NG_TENSOR (1)");
  ng_gemm_problem p = problem(-1);
  EXPECT_EQ(ng_gemm(&p, 0), NG_INVALID_ARGUMENT);
  EXPECT_STREQ(ng_last_error(), "ng_gemm: precision is -1; needs NG_STRICT (0) or NG_TENSOR (1)");
  p = problem(NG_TENSOR), p.no_tensor_cores = 2;
  EXPECT_EQ(ng_gemm(&p, 0), NG_INVALID_ARGUMENT);
  expect_error<InvalidArgument>([] { set_precision(static_cast<Precision>(7)); },
                                "precision is 7; needs Precision::strict or Precision::tensor");
}

}  // namespace
}  // namespace nervanagpu
