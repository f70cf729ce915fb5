// nervanagpu.h: groups, tables of addresses and matmul, beside the C++ functions.
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "nervanagpu/nervanagpu.h"
#include "nervanagpu/nervanagpu.hpp"
#include "test/src/on_emulator.h"

namespace nervanagpu {
namespace {

class CApiProducts : public test::OnEmulator {
 protected:
  // Exact in float32: integers from -3 to 3.
  static Tensor numbers(const Shape& shape, int seed) {
    std::int64_t count = 1;
    for (const std::int64_t s : shape) count *= s;
    std::vector<float> host;
    host.reserve(static_cast<std::size_t>(count));
    for (std::int64_t i = 0; i < count; ++i)
      host.push_back(static_cast<float>((i * 37 + i * i * 11 + seed * 5) % 7 - 3));
    return Tensor::from_host<float>(host, shape);
  }
  static ng_tensor view(const Tensor& t) {
    ng_tensor out = NG_TENSOR_INIT;
    out.address = t.address();
    out.ndim = static_cast<std::int32_t>(t.ndim());
    std::copy(t.shape().begin(), t.shape().end(), out.shape);
    std::copy(t.strides().begin(), t.strides().end(), out.strides);
    return out;
  }
  static ng_gemm_problem product(const Tensor& a, const Tensor& b, const Tensor& c) {
    ng_gemm_problem p = NG_GEMM_PROBLEM_INIT;
    p.a = a.address(), p.b = b.address(), p.c = c.address();
    p.m = c.shape()[0], p.n = p.ldb = p.ldc = c.shape()[1], p.k = p.lda = a.shape()[1];
    return p;
  }
  static void expect_refused(ng_status got, ng_status wanted, const std::string& text) {
    EXPECT_STREQ(ng_status_name(got), ng_status_name(wanted));
    EXPECT_EQ(ng_last_error(), text);
  }
};

TEST_F(CApiProducts, Groups) {
  std::vector<Tensor> a, b, c;
  std::vector<ng_gemm_problem> problems;
  for (int i = 0; i < 24; ++i) {  // two forms, in turns
    const std::int64_t m = i % 2 == 0 ? 5 : 12;
    a.push_back(numbers({m, 9}, i)), b.push_back(numbers({9, 7}, i + 1)), c.push_back(Tensor::zeros({m, 7}));
  }
  std::vector<const ng_gemm_problem*> all;
  problems.reserve(a.size()), all.reserve(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) problems.push_back(product(a[i], b[i], c[i]));
  for (const ng_gemm_problem& p : problems) all.push_back(&p);
  std::size_t bytes = 0;
  ASSERT_EQ(ng_gemm_grouped_workspace(all.data(), all.size(), &bytes), NG_OK) << ng_last_error();
  EXPECT_EQ(bytes, 24U * 3 * 8);
  const Tensor workspace = Tensor::empty({static_cast<std::int64_t>(bytes) / 4});
  ASSERT_EQ(ng_gemm_grouped(all.data(), all.size(), workspace.address(), bytes, 0), NG_OK) << ng_last_error();
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_EQ(c[i].to_host<float>(), dot(a[i], b[i]).to_host<float>()) << i;
  EXPECT_EQ(ng_gemm_grouped(nullptr, 0, 0, 0, 0), NG_OK);

  expect_refused(ng_gemm_grouped(all.data(), all.size(), workspace.address(), bytes - 1, 0), NG_INVALID_ARGUMENT,
                 "ng_gemm_grouped: workspace is of 575 bytes; needs 576 bytes (ng_gemm_grouped_workspace)");
  expect_refused(ng_gemm_grouped(nullptr, 3, 0, 0, 0), NG_INVALID_ARGUMENT,
                 "ng_gemm_grouped: problems is null; needs 3 pointers to problems");
  expect_refused(ng_gemm_grouped_workspace(all.data(), 1, nullptr), NG_INVALID_ARGUMENT,
                 "ng_gemm_grouped_workspace: bytes is null; needs where to put the number");
  problems[5].ldb = 3;
  const std::vector<float> before = c[0].to_host<float>();
  problems[0].alpha = 2;
  expect_refused(ng_gemm_grouped(all.data(), all.size(), 0, 0, 0), NG_INVALID_ARGUMENT,
                 "grouped_gemm: product 5: gemm: ldb is 3; needs at least 7, the length of a row (n)");
  EXPECT_EQ(c[0].to_host<float>(), before);  // nothing was queued
}

TEST_F(CApiProducts, TablesOfAddresses) {
  const Tensor a = numbers({3, 6, 8}, 1);
  const Tensor b = numbers({3, 8, 4}, 2);
  const Tensor c = Tensor::zeros({3, 6, 4});
  std::array<std::uint64_t, 9> host{};
  for (std::uint64_t i = 0; i < 3; ++i) {  // the products in another order than the matrices lie
    const std::uint64_t at = (i + 1) % 3;
    host[i] = a.address() + at * 6 * 8 * 4, host[3 + i] = b.address() + at * 8 * 4 * 4;
    host[6 + i] = c.address() + at * 6 * 4 * 4;
  }
  const Tensor tables = Tensor::empty({18});
  ASSERT_EQ(ng_upload(tables.address(), host.data(), sizeof host), NG_OK);
  ng_gemm_problem p = product(a.select(0, 0), b.select(0, 0), c.select(0, 0));
  p.a = tables.address(), p.b = tables.address() + 24, p.c = tables.address() + 48;
  p.batch = 3;
  p.pointers = 16;
  std::size_t bytes = 1;
  ASSERT_EQ(ng_gemm_workspace(&p, &bytes), NG_OK) << ng_last_error();
  EXPECT_EQ(bytes, 0U);
  ASSERT_EQ(ng_gemm(&p, 0), NG_OK) << ng_last_error();
  EXPECT_EQ(c.to_host<float>(), matmul(a, b).to_host<float>());
  p.pointers = 3;
  expect_refused(
      ng_gemm(&p, 0), NG_INVALID_ARGUMENT,
      "gemm: pointers is 3; needs a power of two that is at least 4, what the matrices' addresses are multiples of");
}

TEST_F(CApiProducts, Matmul) {
  const Tensor a = numbers({2, 1, 6, 8}, 1);
  const Tensor b = numbers({3, 4, 8}, 2).transpose({0, 2, 1});
  const Tensor c = Tensor::zeros({2, 3, 6, 4});
  const ng_tensor va = view(a), vb = view(b);
  ng_tensor vc = view(c);
  std::size_t bytes = 1;
  ASSERT_EQ(ng_matmul_workspace(&va, &vb, &vc, &bytes), NG_OK) << ng_last_error();
  EXPECT_EQ(bytes, 0U);
  ASSERT_EQ(ng_matmul(&va, &vb, &vc, 0, 0, 0), NG_OK) << ng_last_error();
  EXPECT_EQ(c.to_host<float>(), matmul(a, b).to_host<float>());

  const Tensor wide = numbers({160, 4096}, 3), tall = numbers({4096, 150}, 4), out = Tensor::zeros({160, 150});
  ng_tensor x = view(wide), y = view(tall), z = view(out);
  ASSERT_EQ(ng_matmul_workspace(&x, &y, &z, &bytes), NG_OK) << ng_last_error();
  const Tensor workspace = Tensor::empty({static_cast<std::int64_t>(bytes) / 4 + 1});
  ASSERT_EQ(ng_matmul(&x, &y, &z, bytes == 0 ? 0 : workspace.address(), bytes, 0), NG_OK) << ng_last_error();
  EXPECT_EQ(out.to_host<float>(), dot(wide, tall).to_host<float>());

  vc.shape[1] = 2;
  expect_refused(ng_matmul(&va, &vb, &vc, 0, 0, 0), NG_INVALID_ARGUMENT,
                 "matmul: out has shape (2, 2, 6, 4); needs (2, 3, 6, 4)");
  vc = view(c);
  vc.ndim = 1;
  expect_refused(ng_matmul(&va, &vb, &vc, 0, 0, 0), NG_INVALID_ARGUMENT, "ng_matmul: c.ndim is 1; needs 2 to 8");
  vc = view(c);
  vc.dtype = NG_INT32;
  EXPECT_EQ(ng_matmul(&va, &vb, &vc, 0, 0, 0), NG_TYPE_ERROR);
  expect_refused(ng_matmul(&va, nullptr, &vc, 0, 0, 0), NG_INVALID_ARGUMENT, "ng_matmul: b is null; needs a structure");
  ng_tensor strided = view(a);
  strided.strides[2] = 16, strided.strides[3] = 2, strided.shape[3] = 4, strided.shape[2] = 3;
  EXPECT_EQ(ng_matmul(&strided, &vb, &vc, 0, 0, 0), NG_INVALID_ARGUMENT);  // nothing is copied
}

TEST_F(CApiProducts, Autotune) {
  EXPECT_EQ(ng_gemm_autotune(1), NG_OK);
  EXPECT_TRUE(autotune());
  EXPECT_EQ(ng_gemm_autotune(0), NG_OK);
  EXPECT_FALSE(autotune());
  expect_refused(ng_gemm_autotune(2), NG_INVALID_ARGUMENT, "ng_gemm_autotune: on is 2; needs 0 or 1");
}

}  // namespace
}  // namespace nervanagpu
