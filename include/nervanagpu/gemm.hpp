// Matrix multiplication:  C[m,n] = act(alpha * A[m,k] B[k,n] + beta * C + bias),  fp32, one FFMA chain per element in
// ascending k: the bits of C depend on the problem alone, not on tile, device or layout.
#pragma once

#include <cstdint>
#include <string>

#include "nervanagpu/export.hpp"
#include "nervanagpu/stream.hpp"
#include "nervanagpu/tensor.hpp"

namespace nervanagpu {

struct GemmOptions {
  float alpha = 1.0F;
  float beta = 0.0F;             // 0: C is not read, whatever it holds
  const Tensor* bias = nullptr;  // (n,) or (1, n): one for each column; (m, 1): one for each row
  bool relu = false;             // act = max(x, 0), after beta and bias; NaN stays NaN
  Stream stream;
  std::string tile;  // "128x128": only kernels of this tile; empty: the library chooses
};

// C is written in place. A, B and C may be any views (a transposed matrix costs nothing; one without a unit stride is
// copied first, which waits); C must not overlap A, B or bias. k = 0 gives act(beta * C + bias).
NG_API void gemm(const Tensor& a, const Tensor& b, Tensor& c, const GemmOptions& options = {});

// A new C; beta must be 0.
NG_API Tensor dot(const Tensor& a, const Tensor& b, const GemmOptions& options = {});

// The same on raw device addresses. Row-major, leading dimensions in elements.
struct GemmProblem {
  bool a_transposed = false;  // A is stored as [k, m] with rows of lda
  bool b_transposed = false;  // B is stored as [n, k] with rows of ldb
  std::uint64_t a = 0, b = 0, c = 0, bias = 0;
  std::int64_t m = 0, n = 0, k = 0;
  std::int64_t lda = 0, ldb = 0, ldc = 0;
  float alpha = 1.0F, beta = 0.0F;
  bool bias_per_row = false;  // bias (if not 0) has m elements instead of n
  bool relu = false;
};

// Queues the kernel in `stream` and returns: no allocation, no copy, no waiting. May be captured in a CUDA graph.
NG_API void gemm(const GemmProblem& problem, const Stream& stream = {}, const std::string& tile = {});

}  // namespace nervanagpu
