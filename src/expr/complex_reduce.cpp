// Reductions of complex numbers. Sums and means are those of the parts; variances are means of squared magnitudes; products
// halve the axis until one element is left.
#include <algorithm>
#include <optional>
#include <string>

#include "nervanagpu/complex.hpp"
#include "nervanagpu/error.hpp"
#include "src/expr/complex.h"
#include "src/tensor/shape.h"

namespace nervanagpu::expr {
namespace {

[[noreturn]] void refuse(Reduction op, const NodePtr& n) {
  throw TypeError(std::string(name_of(op)) + ": the operand is " + std::string(name_of(n->dtype)) + " " +
                  text_of(n->shape) + "; needs real numbers");
}

Expr magnitude_squared(const Expr& z) {
  return apply(ExprOp::add, {apply(ExprOp::square, {real(z)}), apply(ExprOp::square, {imag(z)})});
}

// The product along an axis, which stays with length 1.
Tensor product_along(Tensor x, int axis) {
  const auto length = [&] { return x.shape()[static_cast<std::size_t>(axis)]; };
  if (length() == 0) {
    Shape shape = x.shape();
    shape[static_cast<std::size_t>(axis)] = 1;
    return Tensor::ones(shape, x.dtype());
  }
  std::optional<Tensor> odd;  // what had no partner
  for (std::int64_t n = length(); n > 1; n = length()) {
    if (n % 2 != 0) {
      const Tensor last = x.slice(axis, n - 1, n);
      odd = odd ? apply(ExprOp::multiply, {last, *odd}).evaluate() : last;
    }
    x = apply(ExprOp::multiply, {x.slice(axis, 0, n / 2), x.slice(axis, n / 2, n / 2 * 2)}).evaluate();
  }
  return odd ? apply(ExprOp::multiply, {x, *odd}).evaluate() : x;
}

}  // namespace

Expr reduce_complex(Reduction op, const NodePtr& n, const std::vector<int>& axes, bool keepdims, int ddof) {
  const Expr z(n);
  const auto rank = static_cast<int>(n->shape.size());
  switch (op) {
    case Reduction::sum:
    case Reduction::mean:
      return finished(pair_of(reduce(op, real(z), axes, keepdims).node(), reduce(op, imag(z), axes, keepdims).node()));
    case Reduction::var:
    case Reduction::std: {
      const Expr apart = apply(ExprOp::subtract, {z, reduce(Reduction::mean, z, axes, true)});
      std::int64_t count = 1;
      for (int a = 0; a < rank; ++a) {
        const bool reduced = axes.empty() || std::ranges::any_of(axes, [&](int b) { return b == a || b + rank == a; });
        if (reduced) count *= n->shape[static_cast<std::size_t>(a)];
      }
      const auto over = static_cast<double>(std::max<std::int64_t>(count - ddof, 0));
      const Expr variance = reduce(Reduction::sum, magnitude_squared(apart), axes, keepdims) / over;
      return op == Reduction::var ? variance : apply(ExprOp::sqrt, {variance});
    }
    case Reduction::prod: {
      Tensor x = z.evaluate();
      Shape shape;
      for (int a = 0; a < rank; ++a) {
        const bool reduced = axes.empty() || std::ranges::any_of(axes, [&](int b) { return b == a || b + rank == a; });
        if (reduced) x = product_along(std::move(x), a);
        if (!reduced || keepdims) shape.push_back(reduced ? 1 : n->shape[static_cast<std::size_t>(a)]);
      }
      return cast(x.reshape(shape), n->dtype);
    }
    default: refuse(op, n);
  }
}

Expr reduce_each_complex(Reduction op, const NodePtr& n, int ddof) {
  const Expr z(n);
  switch (op) {
    case Reduction::sum:
    case Reduction::mean:
    case Reduction::prod: return apply_complex(ExprOp::positive, n->dtype, std::span(&n, 1));
    case Reduction::var:
    case Reduction::std: {
      const Expr apart = apply(ExprOp::subtract, {z, z});
      const Expr variance = magnitude_squared(apart) / static_cast<double>(std::max(1 - ddof, 0));
      return op == Reduction::var ? variance : apply(ExprOp::sqrt, {variance});
    }
    default: refuse(op, n);
  }
}

}  // namespace nervanagpu::expr
