#include "src/expr/complex.h"

#include <algorithm>
#include <array>
#include <utility>

#include "nervanagpu/complex.hpp"
#include "nervanagpu/error.hpp"
#include "src/device/placement.h"
#include "src/expr/complex_parts.h"
#include "src/expr/deferred.h"
#include "src/expr/pending.h"
#include "src/expr/promote.h"
#include "src/tensor/shape.h"

namespace nervanagpu {
namespace expr {
namespace {

// What memory holds is what the last write left there, also one that waits.
NodePtr settled(const Expr& e) {
  if (writes_wait.load(std::memory_order_acquire) && e.evaluated()) {
    if (NodePtr value = value_of(e.node()->tensor)) return value;
  }
  return e.node();
}

Shape common_shape(const Shape& a, const Shape& b) {
  Shape out = a.size() < b.size() ? b : a;
  const Shape& other = a.size() < b.size() ? a : b;
  for (std::size_t i = 0; i < other.size(); ++i) {
    std::int64_t& l = out[out.size() - other.size() + i];
    if (l == 1) l = other[i];
  }
  return out;
}

}  // namespace

Parts parts_of(const NodePtr& n) {
  if (n->op == ExprOp::complex) return {n->inputs[0], n->inputs[1]};
  return {leaf_of(n->tensor.real()), leaf_of(n->tensor.imag())};
}

NodePtr pair_of(const NodePtr& re, const NodePtr& im) {
  auto n = std::make_shared<Node>();
  n->op = ExprOp::complex;
  n->dtype = complex_of(re->dtype);
  n->shape = common_shape(re->shape, im->shape);
  n->device = Placed::agreed("complex", std::array<Placed::Operand, 2>{{{"re", re->device}, {"im", im->device}}});
  n->inputs = {re, im};
  n->weight = std::min(1 + re->weight + im->weight, 1U << 20);
  enlist(*n);
  return n;
}

NodePtr converted_complex(const NodePtr& n, Dtype to) {
  const auto as = [](const NodePtr& part, Dtype dtype) { return as_dtype(Expr(part), dtype).node(); };
  if (!is_complex(n->dtype)) return pair_of(as(n, part_of(to)), as_dtype(Expr(0), part_of(to)).node());
  const auto [re, im] = parts_of(n);
  if (to == Dtype::boolean) return either(as_dtype(Expr(re), to), as_dtype(Expr(im), to)).node();
  return is_complex(to) ? pair_of(as(re, part_of(to)), as(im, part_of(to))) : as(re, to);
}

}  // namespace expr

using expr::NodePtr;

namespace {

// One part, of the number's shape, of which the other part may have more.
Expr part_of(const NodePtr& n, bool real) {
  const auto [re, im] = expr::parts_of(n);
  const NodePtr& part = real ? re : im;
  return part->shape == n->shape ? Expr(part) : expr::where(real, Expr(re), Expr(im));
}

}  // namespace

Expr real(const Expr& x) {
  const NodePtr n = expr::settled(x);
  return is_complex(n->dtype) ? part_of(n, true) : Expr(n);
}
Expr imag(const Expr& x) {
  const NodePtr n = expr::settled(x);
  if (is_complex(n->dtype)) return part_of(n, false);
  return expr::where(false, Expr(n), as_dtype(Expr(0), n->dtype));
}
Expr conjugate(const Expr& x) {
  if (!is_complex(x.dtype())) return cast(x, x.dtype());
  return expr::finished(expr::pair_of(real(x).node(), (-imag(x)).node()));
}
Expr angle(const Expr& x) {
  if (is_complex(x.dtype())) return apply(ExprOp::arctan2, {imag(x), real(x)});
  return apply(ExprOp::arctan2, {expr::where(apply(ExprOp::isnan, {x}), x, 0), x});
}
Expr complex_from(const Expr& re, const Expr& im) {
  const Expr sum = apply(ExprOp::add, {re, im});  // checks the shapes
  if (is_complex(sum.dtype())) {
    throw TypeError("complex_from: parts are " + std::string(name_of(re.dtype())) + " and " +
                    std::string(name_of(im.dtype())) + "; needs real numbers");
  }
  const Dtype part = part_of(expr::promote(sum.dtype(), Dtype::complex64));
  return expr::finished(expr::pair_of(as_dtype(re, part).node(), as_dtype(im, part).node()));
}

}  // namespace nervanagpu
