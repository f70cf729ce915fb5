// Products of matrices as operands of expressions.
#include "kernels/gemm/dot.h"
#include "nervanagpu/expr.hpp"
#include "src/expr/later.h"
#include "src/expr/node.h"
#include "src/expr/pending.h"

namespace nervanagpu {

using expr::Node;
using expr::NodePtr;

namespace {

NodePtr matrix(const Tensor& t) {
  auto n = std::make_shared<Node>();
  n->dtype = t.dtype();
  n->shape = t.shape();
  n->tensor = t;
  return n;
}

}  // namespace

Expr product(const Tensor& a, const Tensor& b) {
  sgemm::check_operands(a, b);
  expr::before_work();  // so that nobody's write of a or b waits, and a product before this one is begun
  auto n = std::make_shared<Node>();
  expr::become_product(*n);
  n->dtype = sgemm::product_type(a, b);
  n->shape = {a.shape()[0], b.shape()[1]};
  n->inputs = {matrix(a), matrix(b)};
  n->weight = 3;
  expr::enlist(*n);
  return Expr(std::move(n));
}

}  // namespace nervanagpu
