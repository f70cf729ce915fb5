// Matrix multiplication:  C[m,n] = act(alpha * A[m,k] B[k,n] + beta * C + bias).
//
// Each element is one chain of multiply-adds in ascending k. Where that leaves multiprocessors idle, k is split (split-K):
// the splits are summed apart, then added in ascending order. Their number is a function of m, n, k and the types.
// So the bits of C depend on the problem alone, not on tile, device, layout or timing, with two exceptions:
// - Matrices of 16-bit floats whose rows begin at multiples of 16 bytes are multiplied by the tensor cores of sm_90a, 16
//   products at a time (docs/numerics.md). So are others that are large enough for copies to pay, unless `splits` is 1.
// - float32 with Precision::tensor has the sums of two float16 or three bfloat16 pieces, as the operands allow.
//
//   A, B                     C                    sums      alpha, beta           bias
//   float32                  float32              float32   any                   float32
//   float16                  float16 or float32   float32   any                   float32, or of C's type
//   bfloat16                 bfloat16 or float32  float32   any                   float32, or of C's type
//   float64; int64           the same             the same  any; 32-bit integers  none, nor splits, nor activations
//   int32; int8 or uint8     int32                modulo    integers of 32 bits   int32
//   int8 or uint8            float32 or int8      2^32      any                   float32
//
// B: as A, or the other of bytes. The last line's sums become float32, times alpha and `scale`; int8 saturates, NaN as 0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "nervanagpu/dtype.hpp"
#include "nervanagpu/export.hpp"
#include "nervanagpu/gemm_activation.hpp"
#include "nervanagpu/precision.hpp"
#include "nervanagpu/rounding.hpp"
#include "nervanagpu/stream.hpp"
#include "nervanagpu/tensor.hpp"

namespace nervanagpu {

struct GemmOptions {
  float alpha = 1.0F;
  float beta = 0.0F;             // 0: C is not read, whatever it holds
  const Tensor* bias = nullptr;  // (n,) or (1, n): one for each column; (m, 1): one for each row
  bool relu = false;             // act = max(x, 0), after beta and bias; NaN stays NaN
  bool relu_first = false;       // C = max(alpha * A B, 0) + beta * C + bias instead, as the 2015 library has it
  GemmActivation activation = GemmActivation::none;  // act, instead of relu
  float clip_low = 0.0F, clip_high = 0.0F;           // of GemmActivation::clip
  const Tensor* scale = nullptr;  // float32, of bytes' sums: (n,) or (1, n), one for each column; (m, 1), for each row
  // Bits of a float C, uint32 or int32 (m, ceil(n / 32)) with contiguous words, of a batch (batch, m, ceil(n / 32)): bit j % 32
  // of word j / 32 of row i. relu writes there whether the stored C[i, j] is above 0 (not for NaN; past n: 0), drelu reads.
  const Tensor* mask = nullptr;
  // Written, float32: of each row (m,) or (m, 1), of each column (n,) or (1, n) of the stored C, a float, the sum and the largest
  // magnitude, in an order that m and n alone decide. NaN is larger than all. Not of a batch's products.
  const Tensor *row_sum = nullptr, *column_sum = nullptr, *row_max_abs = nullptr, *column_max_abs = nullptr;
  Rounding rounding;  // of a float or int8 C
  std::int64_t splits =
      0;  // of k (split-K); 0: the library chooses. 1: row i of C does not depend on m, nor column j on n
  bool tensor_cores = true;  // false: 16-bit floats have chains of multiply-adds, bytes (the same bits) too
  Precision precision = nervanagpu::precision();  // of float32 operands
  Stream stream;
  std::string tile;  // "128x128": only kernels of this tile; empty: the library chooses
};

// C is written in place. A, B and C may be any views (a transposed matrix costs nothing; one without a unit stride is
// copied first); C must not overlap A, B or bias. k = 0 gives act(beta * C + bias).
NG_API void gemm(const Tensor& a, const Tensor& b, Tensor& c, const GemmOptions& options = {});

// A new C, of A's dtype, or of bytes int32, float32 if there is a scale; beta must be 0.
NG_API Tensor dot(const Tensor& a, const Tensor& b, const GemmOptions& options = {});

// A batch of products in one launch, or one for each 65535. a and b have three axes, the first of which counts the matrices; one of two axes, or of
// one matrix, is the same for all. c of three axes: a product each. c of two: the sum of all products, in ascending order.
// `bias` is that of each matrix, `splits` are of a sum's k; a product of a batch is not cut.
NG_API void batched_dot(const Tensor& a, const Tensor& b, Tensor& c, const GemmOptions& options = {});

// A new tensor, as NumPy's matmul: axes before the last two are a batch and are broadcast, a tensor of one axis is a row of
// a or a column of b that is not there in the result. beta must be 0.
NG_API Tensor matmul(const Tensor& a, const Tensor& b, const GemmOptions& options = {});

// Pieces of a float32 matrix that were made before (pieces.hpp), for products of Precision::tensor.
struct PiecesAt {
  std::uint64_t address = 0;           // of gemm_pieces_bytes(), aligned to 16; 0: there are none
  int count = 0;                       // of an element, 2 or 3
  std::int64_t rows = 0, columns = 0;  // of the matrix as it lies, rows of contiguous elements
  friend bool operator==(const PiecesAt&, const PiecesAt&) = default;
};

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
  bool relu_first = false;
  GemmActivation activation = GemmActivation::none;
  float clip_low = 0.0F, clip_high = 0.0F;
  std::uint64_t scale = 0;     // float32; 0: none
  bool scale_per_row = false;  // scale has m elements instead of n
  std::uint64_t mask = 0;      // relu: written; drelu: read (GemmOptions). Rows of the next matrix follow; 0: none
  std::int64_t ld_mask = 0;    // words from row to row
  std::uint64_t row_sum = 0, column_sum = 0, row_max_abs = 0, column_max_abs = 0;  // float32, written; 0: not asked for
  Dtype a_type = Dtype::float32, b_type = Dtype::float32, c_type = Dtype::float32, bias_type = Dtype::float32;
  Rounding rounding;
  std::int64_t splits = 0;  // of k (split-K); 0: the library chooses, none that need a workspace if there is none
  bool tensor_cores = true;
  // Of float32 operands. Products of Precision::tensor want a workspace and must have it; those in tables are strict, and a sum over
  // a batch unless the matrices are one long k as they lie.
  Precision precision = Precision::strict;
  // A batch of products, of matrices that lie `stride` elements apart; 0: all have this A, or B. bias is that of each.
  std::int64_t batch = 1;
  std::int64_t stride_a = 0, stride_b = 0, stride_c = 0;
  // Not 0: a, b and c are tables in device memory, of the addresses of `batch` matrices each, which are multiples of so many
  // bytes (a power of two; 16 allows the quickest accesses). Strides are 0, C's matrices do not overlap, rounding is to nearest.
  // Each sum is one chain of multiply-adds, as with splits = 1 and tensor_cores = false.
  std::int64_t pointers = 0;
  bool sum_batch = false;       // A B is the sum of the batch's products in ascending order, C one matrix
  std::uint64_t workspace = 0;  // gemm_workspace() bytes, aligned to 16; 0: none
  // Of what A, B are now, each one matrix. Read instead of being made again by a product that takes so many (gemm_pieces()); others
  // do not look at them. The bits are the same.
  PiecesAt a_pieces, b_pieces;
  friend bool operator==(const GemmProblem&, const GemmProblem&) = default;
};

// Bytes of device memory for partial sums that the problem wants (with its `splits`, and with that tile); 0: none. A problem
// with float32 or int8 of bytes, or with sums of C, or that the tensor cores compute from float32, must have them.
NG_API std::size_t gemm_workspace(const GemmProblem& problem, const std::string& tile = {});

// Queues the kernel in `stream` and returns: no allocation, no copy, no waiting. May be captured in a CUDA graph.
NG_API void gemm(const GemmProblem& problem, const Stream& stream = {}, const std::string& tile = {});

}  // namespace nervanagpu
