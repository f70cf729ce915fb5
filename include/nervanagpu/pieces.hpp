// A float32 matrix that was split once, for products of Precision::tensor (docs/numerics.md): each of them would split both of
// its operands apart. What is worth it: a matrix that many products with few rows, or columns, share, such as weights in use.
//
// A product with Pieces has the bits of the same product with the matrix that they were made of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "nervanagpu/export.hpp"
#include "nervanagpu/gemm.hpp"
#include "nervanagpu/stream.hpp"
#include "nervanagpu/tensor.hpp"

namespace nervanagpu {

// How many pieces the product has of each element of its operands: 2 or 3; 0: it multiplies them as they are. A function of the
// problem alone (and of `tile`), on a device of sm_90a.
NG_API int gemm_pieces(const GemmProblem& problem, const std::string& tile = {});

// Device memory for `count` pieces of a matrix, 2 or 3.
NG_API std::size_t gemm_pieces_bytes(std::int64_t rows, std::int64_t columns, int count);

// Queues in `stream` what writes them, of `to.rows` rows of `to.columns` contiguous float32, `leading` elements apart, at address
// `matrix`. What they hold is the matrix as it is then: who writes it later calls this again.
NG_API void gemm_split(std::uint64_t matrix, std::int64_t leading, const PiecesAt& to, const Stream& stream = {});

// Those of a tensor, and a copy of it for products that want no pieces, or others: so it is a value, as a tensor of another
// dtype is, that no later write of the tensor changes. Copies of it are handles of one value, which nothing but set() changes.
class NG_API Pieces {
 public:
  // `matrix`: float32 of two axes, any view. count: 2 or 3, which is what gemm_pieces() says; a product that takes another number
  // splits the copy itself.
  explicit Pieces(const Tensor& matrix, int count = 2, const Stream& stream = {});
  // Of memory that is not copied: nobody writes `matrix`, which is contiguous, as long as this lives or a handle of it.
  static Pieces of_constant(const Tensor& matrix, int count, const Stream& stream = {});

  // What it is of from now on: work that is queued later sees it. In a graph that is being recorded each launch splits
  // what the matrix holds then. Of the same shape.
  void set(const Tensor& matrix, const Stream& stream = {});

  [[nodiscard]] Pieces transpose() const;  // the same memory
  [[nodiscard]] const Shape& shape() const;
  [[nodiscard]] int count() const;
  [[nodiscard]] std::size_t bytes() const;  // of device memory, the copy among them
  [[nodiscard]] Tensor copy() const;        // of the matrix

 private:
  friend struct PiecesAccess;
  struct Impl;
  explicit Pieces(std::shared_ptr<Impl> impl);
  std::shared_ptr<Impl> impl_;
  bool transposed_ = false;
};

// gemm() and dot() of tensors.
NG_API void gemm(const Tensor& a, const Pieces& b, Tensor& c, const GemmOptions& options = {});
NG_API void gemm(const Pieces& a, const Tensor& b, Tensor& c, const GemmOptions& options = {});
NG_API Tensor dot(const Tensor& a, const Pieces& b, const GemmOptions& options = {});
NG_API Tensor dot(const Pieces& a, const Tensor& b, const GemmOptions& options = {});

}  // namespace nervanagpu
