// Expressions into kernels.
#include <algorithm>

#include "nervanagpu/error.hpp"
#include "nervanagpu/expr.hpp"
#include "src/expr/pending.h"
#include "src/expr/promote.h"
#include "src/fuse/elementwise.h"
#include "src/fuse/kernel.h"
#include "src/fuse/program.h"
#include "src/fuse/rows.h"
#include "src/shape.h"

namespace nervanagpu {

using expr::Node;
using expr::NodePtr;
using fuse::Target;

namespace {

bool reduces(const Node& n) {
  return n.op == ExprOp::reduce || std::ranges::any_of(n.inputs, [](const NodePtr& in) { return reduces(*in); });
}

// A reduction that has no other below it.
NodePtr deepest_reduction(const NodePtr& n) {
  for (const NodePtr& in : n->inputs) {
    if (NodePtr found = deepest_reduction(in)) return found;
  }
  return n->op == ExprOp::reduce ? n : nullptr;
}

// The rows that a whole tree can share: those of its deepest reduction.
struct Rows {
  Shape shape;
  std::vector<int> axes;
  Shape kept, dropped;  // of one value for each row, with and without the reduced axes

  explicit Rows(const Node& reduction) : shape(reduction.inputs[0]->shape), axes(reduction.axes), kept(shape) {
    for (std::size_t i = 0; i < shape.size(); ++i) {
      if (std::ranges::find(axes, static_cast<int>(i)) == axes.end()) {
        dropped.push_back(shape[i]);
      } else {
        kept[i] = 1;
      }
    }
  }

  // Whether every reduction of the tree is one of these rows, seen in `shape` (full), or in the shape without the axes.
  [[nodiscard]] bool holds(const Node& n, bool full) const {
    if (n.op == ExprOp::reduce) {
      return n.axes == axes && n.inputs[0]->shape == shape && n.keepdims == full && holds(*n.inputs[0], true);
    }
    return std::ranges::all_of(n.inputs, [&](const NodePtr& in) { return holds(*in, full); });
  }
};

void run(const NodePtr& node, const Tensor& to);

// The node becomes a leaf.
void materialise(const NodePtr& node) {
  const Tensor to = Tensor::empty(node->shape, node->dtype);
  run(node, to);
  expr::settle(*node, to);
}

// A reduction alone: where its rows are no walk with one step, its operand is first laid out so.
void run_reduction(const NodePtr& node, const Tensor& to) {
  const Rows rows(*node);
  if (element_count(rows.shape) == 0) {
    if (to.size() > 0) Tensor(to).fill(0);  // sums of nothing
    return;
  }
  if (fuse::run_rows(fuse::row_program_of({node, to}, rows.shape, rows.axes, !node->keepdims))) return;
  std::vector<int> order;
  for (int i = 0; i < static_cast<int>(rows.shape.size()); ++i) {
    if (std::ranges::find(rows.axes, i) == rows.axes.end()) order.push_back(i);
  }
  order.insert(order.end(), rows.axes.begin(), rows.axes.end());
  Shape shape;
  std::vector<int> back(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    shape.push_back(rows.shape[static_cast<std::size_t>(order[i])]);
    back[static_cast<std::size_t>(order[i])] = static_cast<int>(i);
  }
  const NodePtr in = node->inputs[0];
  const Tensor laid = Tensor::empty(shape, in->dtype).transpose(back);
  fuse::run_elementwise(fuse::program_of({{in, laid}}, rows.shape));
  auto again = std::make_shared<Node>();
  again->op = ExprOp::reduce;
  again->reduction = node->reduction;
  again->keepdims = node->keepdims;
  again->axes = node->axes;
  again->dtype = node->dtype;
  again->shape = node->shape;
  again->inputs = {Expr(laid).node()};
  if (!fuse::run_rows(fuse::row_program_of({again, to}, rows.shape, rows.axes, !node->keepdims))) {
    throw Error("fuse: a row of " + text_of(rows.shape) + " has no single step");
  }
}

void run(const NodePtr& node, const Tensor& to) {
  while (const NodePtr reduction = deepest_reduction(node)) {
    if (reduction == node) return run_reduction(node, to);
    const Rows rows(*reduction);
    const bool full = node->shape == rows.shape || node->shape == rows.kept;
    const bool dropped = !full && node->shape == rows.dropped;
    if ((full || dropped) && rows.holds(*node, full) && element_count(rows.shape) > 0 &&
        fuse::run_rows(fuse::row_program_of({node, to}, rows.shape, rows.axes, dropped))) {
      return;
    }
    materialise(reduction);
  }
  fuse::run_elementwise(fuse::program_of({{node, to}}, to.shape()));
}

void run(const std::vector<Target>& targets, const Shape& shape) {
  std::vector<Target> plain;
  for (const Target& t : targets) {
    if (reduces(*t.node)) {
      run(t.node, t.to);
    } else {
      plain.push_back(t);
    }
  }
  if (!plain.empty()) fuse::run_elementwise(fuse::program_of(plain, shape));
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
