// Pieces of tensors, and products with them.
#include "kernels/gemm/tensors/pieces.h"

#include <string>
#include <utility>

#include "nervanagpu/error.hpp"
#include "src/device/placement.h"
#include "src/tensor/shape.h"

namespace nervanagpu {

struct Pieces::Impl {
  Tensor matrix;  // contiguous
  Tensor block{Tensor::Later{}};
  int count = 2;
  Shape transposed;

  void split(const Stream& stream) const {
    if (matrix.size() == 0) return;
    gemm_split(matrix.address(), matrix.shape()[1], at(), stream);
    block.used_on(stream);
    matrix.used_on(stream);
  }
  [[nodiscard]] PiecesAt at() const {
    return {matrix.size() == 0 ? 0 : block.address(), count, matrix.shape()[0], matrix.shape()[1]};
  }
};

namespace {

constexpr const char* kName = "pieces";

void check(const Tensor& matrix) {
  if (matrix.dtype() != Dtype::float32) {
    throw TypeError(std::string("pieces: the matrix has dtype ") + std::string(name_of(matrix.dtype())) +
                    "; needs float32");
  }
  if (matrix.ndim() != 2) {
    throw InvalidArgument("pieces: the matrix has shape " + text_of(matrix.shape()) + "; needs 2 axes, has " +
                          std::to_string(matrix.ndim()));
  }
}

}  // namespace

Pieces::Pieces(const Tensor& matrix, int count, const Stream& stream) : impl_(std::make_shared<Impl>()) {
  const Placed here(kName, {{"the matrix", matrix}, {"stream", stream}});
  check(matrix);
  const std::size_t bytes = gemm_pieces_bytes(matrix.shape()[0], matrix.shape()[1], count);
  impl_->count = count;
  impl_->transposed = {matrix.shape()[1], matrix.shape()[0]};
  impl_->matrix = Tensor::empty(matrix.shape());
  impl_->block = Tensor::empty({static_cast<std::int64_t>(bytes)}, Dtype::uint8);
  set(matrix, stream);
}

Pieces Pieces::of_constant(const Tensor& matrix, int count, const Stream& stream) {
  const Placed here(kName, {{"the matrix", matrix}, {"stream", stream}});
  check(matrix);
  if (!matrix.contiguous()) {
    throw InvalidArgument("pieces: the matrix has strides " + text_of(matrix.strides()) + "; needs it contiguous");
  }
  const std::size_t bytes = gemm_pieces_bytes(matrix.shape()[0], matrix.shape()[1], count);
  auto impl = std::make_shared<Impl>();
  impl->count = count;
  impl->transposed = {matrix.shape()[1], matrix.shape()[0]};
  impl->matrix = matrix;
  impl->block = Tensor::empty({static_cast<std::int64_t>(bytes)}, Dtype::uint8);
  impl->split(stream);
  return Pieces(std::move(impl));
}

Pieces::Pieces(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

void Pieces::set(const Tensor& matrix, const Stream& stream) {
  const Placed here(kName, {{"the matrix", matrix}, {"pieces", impl_->matrix}, {"stream", stream}});
  check(matrix);
  if (matrix.shape() != shape()) {
    throw InvalidArgument("pieces: the matrix has shape " + text_of(matrix.shape()) + "; needs " + text_of(shape()));
  }
  if (matrix.size() == 0) return;
  Tensor to = transposed_ ? impl_->matrix.transpose() : impl_->matrix;
  sgemm::copy_elements(matrix, to, stream);
  impl_->split(stream);
}

Pieces Pieces::transpose() const {
  Pieces out = *this;
  out.transposed_ = !transposed_;
  return out;
}

const Shape& Pieces::shape() const {
  return transposed_ ? impl_->transposed : impl_->matrix.shape();
}

int Pieces::count() const {
  return impl_->count;
}

std::size_t Pieces::bytes() const {
  return impl_->matrix.nbytes() + impl_->block.nbytes();
}

Tensor Pieces::copy() const {
  const Placed here(kName, {{"pieces", impl_->matrix}});
  return PiecesAccess::matrix(*this).copy();
}

Tensor PiecesAccess::matrix(const Pieces& p) {
  return p.transposed_ ? p.impl_->matrix.transpose() : p.impl_->matrix;
}

PiecesAt PiecesAccess::at(const Pieces& p) {
  return p.impl_->at();
}

void PiecesAccess::used_on(const Pieces& p, const Stream& stream) {
  p.impl_->block.used_on(stream);
  p.impl_->matrix.used_on(stream);
}

namespace {

// One of them, and the tensor in the other's place.
struct Operands {
  Tensor a, b;
  sgemm::Kept kept;
};
Operands of(const Tensor& a, const Pieces& b) {
  return {a, PiecesAccess::matrix(b), {{}, PiecesAccess::at(b)}};
}
Operands of(const Pieces& a, const Tensor& b) {
  return {PiecesAccess::matrix(a), b, {PiecesAccess::at(a), {}}};
}

void multiply(const Operands& x, const Pieces& pieces, Tensor& c, const GemmOptions& options) {
  sgemm::multiply(x.a, x.b, c, options, x.kept);
  PiecesAccess::used_on(pieces, options.stream);
}

Tensor product(const Operands& x, const Pieces& pieces, const GemmOptions& options) {
  const Placed here = sgemm::placed("dot", x.a, x.b, x.a, options);
  sgemm::check_operands(x.a, x.b);
  Tensor c = Tensor::empty({x.a.shape()[0], x.b.shape()[1]});
  if (options.beta != 0.0F) {
    throw InvalidArgument("dot: beta is " + std::to_string(options.beta) + " but there is no out to read");
  }
  multiply(x, pieces, c, options);
  return c;
}

}  // namespace

void gemm(const Tensor& a, const Pieces& b, Tensor& c, const GemmOptions& options) {
  multiply(of(a, b), b, c, options);
}
void gemm(const Pieces& a, const Tensor& b, Tensor& c, const GemmOptions& options) {
  multiply(of(a, b), a, c, options);
}
Tensor dot(const Tensor& a, const Pieces& b, const GemmOptions& options) {
  return product(of(a, b), b, options);
}
Tensor dot(const Pieces& a, const Tensor& b, const GemmOptions& options) {
  return product(of(a, b), a, options);
}

}  // namespace nervanagpu
