// Expressions into kernels.
#include <algorithm>

#include "nervanagpu/error.hpp"
#include "nervanagpu/expr.hpp"
#include "src/expr/pending.h"
#include "src/expr/promote.h"
#include "src/fuse/elementwise.h"
#include "src/fuse/kernel.h"
#include "src/fuse/program.h"
#include "src/shape.h"

namespace nervanagpu {

using expr::Node;
using expr::NodePtr;
using fuse::Target;

namespace {

void run(const std::vector<Target>& targets, const Shape& shape) {
  fuse::run_elementwise(fuse::program_of(targets, shape));
}

// Whether element i of the result needs other elements of `out` than its own: then it cannot be computed in place.
bool clashes(const Node& n, const Tensor& out, const Shape& shape) {
  if (n.op == ExprOp::tensor) {
    if (!expr::overlap(n.tensor, out)) return false;
    return n.tensor.address() != out.address() || n.tensor.dtype() != out.dtype() || n.tensor.shape() != shape ||
           n.tensor.strides() != out.strides();
  }
  return std::ranges::any_of(n.inputs, [&](const NodePtr& in) { return clashes(*in, out, shape); });
}

NodePtr clone(const NodePtr& n) {
  auto out = std::make_shared<Node>();
  out->op = n->op;
  out->dtype = n->dtype;
  out->reduction = n->reduction;
  out->keepdims = n->keepdims;
  out->ddof = n->ddof;
  out->shape = n->shape;
  out->axes = n->axes;
  out->tensor = n->tensor;
  out->bits = n->bits;
  for (const NodePtr& in : n->inputs) out->inputs.push_back(clone(in));
  return out;
}

}  // namespace

Tensor Expr::evaluate() const {
  if (!evaluated()) nervanagpu::evaluate(std::span(this, 1));
  return node_->tensor;
}

void evaluate(std::span<const Expr> all) {
  std::vector<NodePtr> open;
  for (const Expr& e : all) {
    if (!e.evaluated() && std::ranges::find(open, e.node()) == open.end()) open.push_back(e.node());
  }
  while (!open.empty()) {
    const Shape shape = open.front()->shape;
    std::vector<Target> targets;
    for (const NodePtr& n : open) {
      if (n->shape == shape && targets.size() < 8) targets.push_back({n, Tensor::empty(n->shape, n->dtype)});
    }
    run(targets, shape);
    for (const Target& t : targets) {
      expr::settle(*t.node, t.to);
      std::erase(open, t.node);
    }
  }
}

void assign(const Tensor& out, const Expr& x) {
  const NodePtr node = x.node();
  if (!node->weak && !expr::same_kind(node->dtype, out.dtype())) {
    throw TypeError("value has dtype " + std::string(name_of(node->dtype)) + "; needs one that converts to " +
                    std::string(name_of(out.dtype())) + " (numpy.can_cast, same_kind)");
  }
  const Shape& from = node->shape;
  bool fits = from.size() <= out.shape().size();
  for (std::size_t i = 0; fits && i < from.size(); ++i) {
    const std::int64_t to = out.shape()[out.shape().size() - from.size() + i];
    fits = from[i] == to || from[i] == 1;
  }
  if (!fits) {
    throw InvalidArgument("value has shape " + text_of(from) + "; needs one that broadcasts to " +
                          text_of(out.shape()));
  }
  if (!distinct(out.shape(), out.strides())) {
    throw InvalidArgument("a tensor " + text_of(out.shape()) + " with strides " + text_of(out.strides()) +
                          " has elements in the same memory and cannot be written");
  }
  // Who else reads what is about to change is computed first.
  std::vector<Expr> readers;
  for (NodePtr& n : expr::readers_of(out, node.get())) readers.emplace_back(std::move(n));
  evaluate(readers);
  readers.clear();
  const bool same = node->shape == out.shape() && node->dtype == out.dtype();
  const bool open = !node->leaf() || node->borrowed;
  const bool reads = open && expr::reads(*node, out);
  if (clashes(*node, out, out.shape()) || (reads && (!same || node->borrowed))) {
    if (node->leaf() && !node->borrowed) {
      const Tensor copy = node->tensor.copy();
      run({{cast(Expr(copy), out.dtype()).node(), out}}, out.shape());
      return;
    }
    static_cast<void>(x.evaluate());
  }
  const NodePtr value = cast(x, out.dtype()).node();
  run({{value, out}}, out.shape());
  // The expression now is what stands in `out`, as long as nobody overwrites it.
  if (open && !x.evaluated() && same) expr::settle(*node, out, true);
}

std::string explain(const Expr& x) {
  if (x.evaluated()) return "evaluated: " + std::string(name_of(x.dtype())) + " " + text_of(x.shape()) + "\n";
  const fuse::Rehearsal rehearsal;
  const NodePtr copy = clone(x.node());
  run({{copy, Tensor::empty(copy->shape, copy->dtype)}}, copy->shape);
  return rehearsal.text();
}

}  // namespace nervanagpu
