// Products of matrices as operands of expressions.
#include <functional>
#include <numeric>

#include "kernels/gemm/tensors/dot.h"
#include "kernels/gemm/tensors/run_products.h"
#include "nervanagpu/error.hpp"
#include "nervanagpu/expr.hpp"
#include "src/device/placement.h"
#include "src/expr/deferred.h"
#include "src/expr/node.h"
#include "src/expr/pending.h"
#include "src/tensor/shape.h"

namespace nervanagpu {

using expr::Node;

namespace {

// The rows of all matrices below each other.
Tensor rows_of(const Tensor& t) {
  const Shape& s = t.shape();
  if (!t.contiguous()) {
    throw InvalidArgument("product: a has shape " + text_of(s) + " and strides " + text_of(t.strides()) +
                          "; of more than 2 axes it must be contiguous");
  }
  return t.reshape({std::accumulate(s.begin(), s.end() - 1, std::int64_t{1}, std::multiplies<>()), s.back()});
}

Expr product_of(const Tensor& a, const Tensor& b, Shape shape) {
  const Placed placed("product", {{"a", a}, {"b", b}});
  sgemm::check_operands(a, b);
  std::vector<expr::NodePtr> operands = {expr::stored_leaf(a), expr::stored_leaf(b)};
  fuse::run_products.store(&sgemm::run_products, std::memory_order_release);
  auto n = std::make_shared<Node>();
  expr::become_product(*n);
  n->precision = precision();
  n->dtype = sgemm::product_type(a, b);
  n->shape = std::move(shape);
  n->shape.back() = b.shape()[1];
  n->inputs = std::move(operands);
  n->weight = 3;
  n->device = a.device();
  expr::enlist(*n);
  return Expr(std::move(n));
}

}  // namespace

Expr product(const Tensor& a, const Tensor& b) {
  if (a.ndim() > 2) return product_of(rows_of(a), b, a.shape());
  return product_of(a, b, a.shape());
}

}  // namespace nervanagpu
