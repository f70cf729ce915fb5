// Tensors as a GEMM problem.
#pragma once

#include <cstdint>
#include <optional>

#include "nervanagpu/gemm.hpp"
#include "src/device/placement.h"

namespace nervanagpu::sgemm {

// A matrix as a kernel takes it: rows of contiguous elements, or columns of them (transposed).
struct Matrix {
  bool transposed = false;
  std::int64_t leading = 0;
};
std::optional<Matrix> matrix_of(const Tensor& t);  // none: it must be copied

// `to`, of the same shape and dtype, becomes what `from` is after the work queued in `stream`.
void copy_elements(const Tensor& from, Tensor& to, const Stream& stream);

// Throws for operands that have no product.
void check_operands(const Tensor& a, const Tensor& b);
// The dtype of a * b, if no other is asked for. Throws TypeError for operands that do not go together.
Dtype product_type(const Tensor& a, const Tensor& b);
// And that the product may be written to c.
void check_types(const Tensor& a, const Tensor& b, const Tensor& c);

// What shapes, dtypes and options say of matrices; no addresses, layouts and bias.
GemmProblem problem_of(const Tensor& a, const Tensor& b, const Tensor& c, const GemmOptions& options);

// Where the product of these runs.
[[nodiscard]] Placed placed(const char* operation, const Tensor& a, const Tensor& b, const Tensor& c,
                            const GemmOptions& options);

// C^T = B^T A^T: for a C whose columns are contiguous. a and b are swapped by the caller.
void swap_operands(GemmProblem& p, Matrix& a, Matrix& b);

// A bias as contiguous memory; sets bias_per_row.
Tensor bias_of(const Tensor& bias, GemmProblem& p, const Stream& stream);

// Pieces of a and b that are kept.
struct Kept {
  PiecesAt a, b;
};

struct Described {
  GemmProblem problem;   // without a workspace
  bool swapped = false;  // C^T = B^T A^T: the problem's a and b are the tensors' b and a
};

// Throws what gemm(a, b, c, options) throws for these shapes, dtypes and views.
void check_product(const Tensor& a, const Tensor& b, const Tensor& c, const GemmOptions& options);

// As the tensors lie: nothing is copied. Throws InvalidArgument for one that no kernel can read so, and for what
// gemm(a, b, c, options) refuses.
Described describe(const Tensor& a, const Tensor& b, const Tensor& c, const GemmOptions& options,
                   const Kept& kept = {});

// The same of tensors as batched_dot() takes them.
Described describe_batch(const Tensor& a, const Tensor& b, const Tensor& c, const GemmOptions& options);

// gemm() with them, of operands that lie without gaps.
void multiply(const Tensor& a, const Tensor& b, Tensor& c, const GemmOptions& options, const Kept& kept);

// gemm() of it, with the workspace that it wants from the memory pool.
void run(GemmProblem problem, const GemmOptions& options);

// Sets mask and ld_mask for a result of shape `c`. Throws InvalidArgument or TypeError for a mask that is no such tensor, or
// shares memory with an operand.
void put_mask(GemmProblem& p, const Tensor* mask, const Tensor& a, const Tensor& b, const Tensor& c);

// Sets row_sum and the like for a matrix c, in the same way.
void put_sums(GemmProblem& p, const GemmOptions& options, const Tensor& a, const Tensor& b, const Tensor& c);
// The problem needs rows of C that are contiguous: what it says of them is told row by row.
bool along_rows(const GemmOptions& options);
// Those tensors have work in the options' stream.
void used_by_stream(const GemmOptions& options);

// Throws InvalidArgument if c shares memory with a, b or bias.
void check_apart(const Tensor& a, const Tensor& b, const Tensor& c, const Tensor* bias);

}  // namespace nervanagpu::sgemm
