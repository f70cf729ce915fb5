// Complex nodes: a leaf of complex dtype, or ExprOp::complex of two real nodes. Nothing else of a tree is complex: where an
// operation takes complex operands, it is written of their parts.
#pragma once

#include <span>
#include <vector>

#include "src/expr/node.h"

namespace nervanagpu::expr {

struct Parts {
  NodePtr re, im;
};
// Of a complex node. Of a leaf they are leaves, views of its memory.
Parts parts_of(const NodePtr& n);

// re + i im, which have one float dtype, or are numbers.
NodePtr pair_of(const NodePtr& re, const NodePtr& im);

// The node as `to`, of which one is complex: real dtypes get the real part, bool whether either part is not 0.
NodePtr converted_complex(const NodePtr& n, Dtype to);

// apply(), where `d`, what the operands promote to, is complex. `where` has its condition in[0] as bool.
Expr apply_complex(ExprOp op, Dtype d, std::span<const NodePtr> in);
// reduce() of a complex node, and reduce_each().
Expr reduce_complex(Reduction op, const NodePtr& n, const std::vector<int>& axes, bool keepdims, int ddof);
Expr reduce_each_complex(Reduction op, const NodePtr& n, int ddof);

// While one lives, this thread's trees may grow to so many nodes before they are computed in parts.
class Whole {
 public:
  explicit Whole(std::uint32_t nodes) noexcept;
  ~Whole();
  Whole(const Whole&) = delete;
  Whole& operator=(const Whole&) = delete;

 private:
  std::uint32_t before_;
};
// Computes the expression now if it has too many nodes for a kernel.
Expr finished(NodePtr n);

}  // namespace nervanagpu::expr
