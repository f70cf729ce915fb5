// Expressions into kernels.
#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "nervanagpu/error.hpp"
#include "nervanagpu/expr.hpp"
#include "src/ceil_div.h"
#include "src/device/placement.h"
#include "src/expr/complex.h"
#include "src/expr/deferred.h"
#include "src/expr/pending.h"
#include "src/expr/promote.h"
#include "src/fuse/immediate.h"
#include "src/fuse/kernel.h"
#include "src/fuse/kernels/elementwise.h"
#include "src/fuse/kernels/flat.h"
#include "src/fuse/kernels/rows.h"
#include "src/fuse/products.h"
#include "src/fuse/program.h"
#include "src/fuse/replay.h"
#include "src/tensor/shape.h"

namespace nervanagpu {

using expr::Node;
using expr::NodePtr;
using fuse::Target;
using fuse::temporary;

namespace {

// A tree like it. What has other owners than the tree has one here, too: `held`.
class Copy {
 public:
  explicit Copy(const NodePtr& root) : root_(of(root)) {}
  [[nodiscard]] const NodePtr& root() const { return root_; }

 private:
  NodePtr of(const NodePtr& n);

  std::map<const Node*, std::weak_ptr<Node>> made_;
  std::vector<NodePtr> held_;
  NodePtr root_;
};

NodePtr Copy::of(const NodePtr& n) {
  std::weak_ptr<Node>& made = made_[n.get()];
  if (NodePtr known = made.lock()) return known;
  auto out = std::make_shared<Node>();
  made = out;
  if (n->handles.load() > 0) held_.push_back(out);
  out->op = n->op;
  if (n->op == ExprOp::product) expr::become_product(*out), out->precision = n->precision;
  out->dtype = n->dtype;
  out->reduction = n->reduction;
  out->keepdims = n->keepdims;
  out->ddof = n->ddof;
  out->shape = n->shape;
  out->axes = n->axes;
  out->sole = n->tensor.alone();
  out->tensor = n->tensor;
  out->bits = n->bits;
  out->offset = n->offset;
  out->device = n->device;
  out->open = n->open;
  for (const NodePtr& in : n->inputs) out->inputs.push_back(of(in));
  return out;
}

bool reduces(const Node& n) {
  return n.op == ExprOp::reduce || std::ranges::any_of(n.inputs, [](const NodePtr& in) { return reduces(*in); });
}

bool is_random(const Node& n) {
  return n.op == ExprOp::random || std::ranges::any_of(n.inputs, [](const NodePtr& in) { return is_random(*in); });
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

  // Results without the reduced axes broadcast as those with them.
  [[nodiscard]] bool leading() const { return axes.empty() || axes.back() + 1 == static_cast<int>(axes.size()); }

  // Whether every reduction of the tree is one of these rows, seen in `shape` (full), or in the shape without the axes.
  [[nodiscard]] bool holds(const Node& n, bool full) const {
    if (n.op == ExprOp::reduce) {
      return n.axes == axes && n.inputs[0]->shape == shape && (n.keepdims == full || (full && leading())) &&
             holds(*n.inputs[0], true);
    }
    return std::ranges::all_of(n.inputs, [&](const NodePtr& in) { return holds(*in, full); });
  }
};

void run(const NodePtr& node, const Tensor& to);

// The node becomes a leaf.
void materialise(const NodePtr& node) {
  const Tensor to = temporary(node->shape, node->dtype);
  run(node, to);
  expr::settle(*node, to);
}

NodePtr reduction_of(const Node& like, const Tensor& of, std::vector<int> axes, bool keepdims, Shape shape) {
  auto out = std::make_shared<Node>();
  out->op = ExprOp::reduce;
  out->reduction = like.reduction;
  out->keepdims = keepdims;
  out->axes = std::move(axes);
  out->dtype = like.dtype;
  out->shape = std::move(shape);
  out->inputs = {Expr(of).node()};
  return out;
}

// Few long rows: pieces of them are reduced on all of the chip. The node becomes the reduction of the pieces, in their
// order, which may share a kernel with what is computed of it.
void cut(Node& node, const Rows& rows, std::int64_t pieces) {
  const bool half = expr::kind_of(node.dtype) == expr::Kind::real && size_of(node.dtype) == 2;
  const Dtype dtype = half ? Dtype::float32 : node.dtype;
  const std::int64_t step = element_count(rows.dropped);
  const auto alone = std::make_shared<Node>();
  alone->op = ExprOp::reduce;
  alone->reduction = node.reduction;
  alone->dtype = dtype;
  alone->axes = node.axes;
  alone->shape = rows.dropped;
  alone->inputs = node.inputs;
  std::int64_t length = 1;
  for (const int a : rows.axes) length *= rows.shape[static_cast<std::size_t>(a)];
  // The pieces have whole vectors.
  const std::int64_t chunk = ceil_div(ceil_div(length, pieces), 64) * 64;
  const std::int64_t count = ceil_div(length, chunk);
  Shape shape = rows.dropped;
  shape.insert(shape.begin(), count);
  const Tensor parts = temporary(shape, dtype);
  const fuse::Program program = fuse::row_program_of({{alone, parts.select(0, 0)}}, rows.shape, rows.axes, true);
  const fuse::Walk walk(program);
  const std::int64_t whole = length / chunk;
  if (whole > 0) walk.chunks(0, whole, chunk, step).run();
  if (whole < count) walk.chunks(whole, 1, chunk, step).run();
  Shape kept = node.shape;
  kept.insert(kept.begin(), count);
  const NodePtr rest = reduction_of(node, parts.reshape(kept), {0}, false, node.shape);
  rest->dtype = dtype;
  if (node.dtype == dtype) {
    node.axes = rest->axes;
    node.keepdims = false;
    node.inputs = rest->inputs;
  } else {
    node.op = ExprOp::cast;
    node.inputs = {rest};
  }
}

// A reduction alone whose rows are no walk with one step: its operand is first laid out so.
void lay_out(const NodePtr& node, const Tensor& to) {
  const Rows rows(*node);
  if (element_count(rows.shape) == 0) {
    return run(as_dtype(Expr(node->reduction == Reduction::prod ? 1 : 0), to.dtype()).node(), to);  // of nothing
  }
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
  const Tensor laid = temporary(shape, in->dtype).transpose(back);
  fuse::run_elementwise(fuse::program_of({{in, laid}}, rows.shape));
  run(reduction_of(*node, laid, node->axes, node->keepdims, node->shape), to);
}

// Kernels of reductions make no random numbers: these become tensors, as large as the rows.
void materialise_random(const NodePtr& node, const Shape& rows) {
  for (NodePtr& in : node->inputs) {
    if (in->op != ExprOp::random) {
      materialise_random(in, rows);
      continue;
    }
    const Copy copy(in);
    const NodePtr& words = copy.root();
    if (words->open) words->shape = rows;
    words->open = false;
    const Tensor to = temporary(words->shape, words->dtype);
    fuse::run_elementwise(fuse::program_of({{words, to}}, to.shape()));
    in = Expr(to).node();
  }
}

void run(const NodePtr& node, const Tensor& to);

// The products of the tree; true: it was one, with its epilogue, and stands in `to`, or is a leaf now.
bool products_of(const NodePtr& node, const Tensor* to) {
  const bool any = node->made_as_product || expr::open_products.load(std::memory_order_relaxed) != 0;
  if (!any) return false;
  const fuse::RunProducts products = fuse::run_products.load(std::memory_order_acquire);
  return products != nullptr && products(node, to, &run);
}

void run_anew(const NodePtr& node, const Tensor& to);

void run(const NodePtr& node, const Tensor& to) {
  if (products_of(node, &to)) return;
  if (fuse::run_flat(*node, to)) return;
  const fuse::Replay::Result result{node.get(), &to};
  fuse::Replay replay(std::span(&result, 1));
  if (replay.done()) return;
  run_anew(node, to);
  replay.keep();
}

void run_anew(const NodePtr& node, const Tensor& to) {
  if (const NodePtr reduction = deepest_reduction(node)) materialise_random(node, reduction->inputs[0]->shape);
  while (const NodePtr reduction = deepest_reduction(node)) {
    const Rows rows(*reduction);
    const bool full = reduction == node ? node->keepdims : node->shape == rows.shape || node->shape == rows.kept;
    const bool dropped = !full && node->shape == rows.dropped;
    if ((full || dropped) && rows.holds(*node, full) && element_count(rows.shape) > 0) {
      const fuse::Program program = fuse::row_program_of({{node, to}}, rows.shape, rows.axes, dropped);
      const fuse::Walk walk(program);
      if (walk.possible() && !(reduction != node && walk.reads_again())) {
        const std::int64_t pieces = walk.pieces();
        if (pieces == 1) return walk.run();
        cut(*reduction, rows, pieces);
        continue;
      }
    }
    if (reduction == node) return lay_out(node, to);
    materialise(reduction);
  }
  fuse::run_elementwise(fuse::program_of({{node, to}}, to.shape()));
}

std::vector<fuse::Replay::Result> results_of(const std::vector<Target>& targets) {
  std::vector<fuse::Replay::Result> out;
  out.reserve(targets.size());
  for (const Target& t : targets) out.push_back({t.node.get(), &t.to});
  return out;
}

void run(const std::vector<Target>& targets, const Shape& shape) {
  if (targets.size() == 1) return run(targets[0].node, targets[0].to);
  std::vector<Target> plain;
  for (const Target& t : targets) products_of(t.node, nullptr);
  fuse::Replay replay(results_of(targets));
  if (replay.done()) return;
  for (const Target& t : targets) {
    if (reduces(*t.node)) {
      run(t.node, t.to);
    } else {
      plain.push_back(t);
    }
  }
  if (!plain.empty()) fuse::run_elementwise(fuse::program_of(plain, shape));
  replay.keep();
}

// Several results, all of rows that they share, in one kernel; false: they do not share them, and nothing was done.
bool run_rows(const std::vector<Target>& targets) {
  NodePtr reduction;
  for (const Target& t : targets) {
    if (!reduction) reduction = deepest_reduction(t.node);
  }
  if (!reduction || element_count(reduction->inputs[0]->shape) == 0) return false;
  const Rows rows(*reduction);
  const bool dropped =
      targets[0].node->shape == rows.dropped && rows.dropped != rows.shape && rows.dropped != rows.kept;
  for (const Target& t : targets) {
    const Shape& s = t.node->shape;
    if (dropped ? s != rows.dropped : s != rows.shape && s != rows.kept) return false;
    if (!rows.holds(*t.node, !dropped) || is_random(*t.node)) return false;
  }
  const fuse::Program program = fuse::row_program_of(targets, rows.shape, rows.axes, dropped);
  const fuse::Walk walk(program);
  if (!walk.possible() || walk.reads_again() || walk.pieces() > 1) return false;
  walk.run();
  return true;
}

// A complex node: its parts are two results, of one kernel if they have no reductions or the same rows.
void run_complex(const NodePtr& node, const Tensor& to) {
  const auto [re, im] = expr::parts_of(node);
  const std::vector<Target> targets{{re, to.real()}, {im, to.imag()}};
  for (const Target& t : targets) {
    products_of(t.node, nullptr);
    // Kernels of reductions write each result once: repeating it is another kernel's work.
    if (t.node->shape != to.shape() && reduces(*t.node)) materialise(t.node);
  }
  if (!reduces(*re) && !reduces(*im)) return run(targets, to.shape());
  if (re->shape != im->shape || !run_rows(targets)) run(targets, to.shape());
}

// It stands in `to` now, and so do its parts, of which nobody else has one.
void settle_complex(const NodePtr& node, const Tensor& to, bool borrowed = false) {
  const expr::Parts parts = node->op == ExprOp::complex ? expr::parts_of(node) : expr::Parts{};
  expr::settle(*node, to, borrowed);
  if (borrowed || parts.re == parts.im) return;
  const auto settle = [](const NodePtr& part, const Tensor& at) {
    if (!part->leaf() && part->handles.load() == 0 && part->shape == at.shape()) expr::settle(*part, at);
  };
  settle(parts.re, to.real());
  settle(parts.im, to.imag());
}

void run_any(const NodePtr& node, const Tensor& to) {
  return is_complex(node->dtype) ? run_complex(node, to) : run(node, to);
}

// Whether element i of the result needs other elements of `out` than its own: then it cannot be computed in place.
bool clashes(const Node& n, const Tensor& out, const Shape& shape) {
  if (n.op == ExprOp::tensor) {
    if (!expr::may_share_memory(n.tensor, out)) return false;
    if (is_complex(out.dtype()) && expr::part_view(n.tensor, out) && n.tensor.shape() == shape) return false;
    return n.tensor.address() != out.address() || n.tensor.dtype() != out.dtype() || n.tensor.shape() != shape ||
           n.tensor.strides() != out.strides();
  }
  if (n.op == ExprOp::product) return false;  // computed before anything is written
  return std::ranges::any_of(n.inputs, [&](const NodePtr& in) { return clashes(*in, out, shape); });
}

}  // namespace

Tensor Expr::evaluate() const {
  if (!evaluated()) nervanagpu::evaluate(std::span(this, 1));
  return node_->tensor;
}

void Expr::get(void* host, std::size_t bytes) const {
  if (const std::optional<Tensor> there = expr::lender_of(*node_)) {
    there->get(host, bytes);
    if (expr::lender_of(*node_)) return;  // nobody has begun to overwrite it meanwhile
  }
  evaluate().get(host, bytes);
}

namespace {

// Those of one device, which is the current one.
void evaluate_here(std::span<const Expr> all) {
  const expr::Computing here;
  if (all.size() == 1) {  // a copy of one element takes no kernel
    const NodePtr& node = all[0].node();
    if (const std::optional<Tensor> there = expr::lender_of(*node); there && there->ndim() == 0) {
      return expr::settle(*node, there->copy());
    }
  }
  std::vector<NodePtr> open;
  for (const Expr& e : all) {
    if (e.evaluated() || std::ranges::find(open, e.node()) != open.end()) continue;
    if (is_complex(e.dtype())) {
      const Tensor to = Tensor::empty(e.shape(), e.dtype());
      run_complex(e.node(), to);
      settle_complex(e.node(), to);
      continue;
    }
    if (!products_of(e.node(), nullptr)) open.push_back(e.node());
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

}  // namespace

void evaluate(std::span<const Expr> all) {
  const expr::Entry entry(all.empty() ? nullptr : all[0].node().get());
  std::vector<Expr> left;  // of other devices than the first
  const int device = all.empty() ? -1 : all[0].device();
  for (const Expr& e : all) {
    if (e.device() != device) left.push_back(e);
  }
  {
    const OnDevice here(device);
    if (left.empty()) return evaluate_here(all);
    std::vector<Expr> own;
    for (const Expr& e : all) {
      if (e.device() == device) own.push_back(e);
    }
    evaluate_here(own);
  }
  evaluate(left);
}

namespace {

void assign_and(const Tensor& out, const Expr& x, bool last) {
  const NodePtr& node = x.node();
  const expr::Entry entry(node.get());
  if (x.device() >= 0 && out.device() >= 0 && x.device() != out.device()) {  // moved: the statement says where to
    expr::check_assignable(out, x);
    return assign_and(out, x.evaluate().to(out.device()), true);
  }
  const OnDevice there(out.device());
  const expr::Computing here;
  expr::check_assignable(out, x);
  // Who else reads what is about to change is computed first.
  if (std::vector<NodePtr> found = expr::readers_of(out, node.get()); !found.empty()) {
    std::vector<Expr> readers;
    readers.reserve(found.size());
    for (NodePtr& n : found) readers.emplace_back(std::move(n));
    found.clear();
    evaluate(readers);
  }
  const bool same = node->shape == out.shape() && node->dtype == out.dtype();
  const bool open = !node->leaf() || node->borrowed;
  const bool reads = open && expr::reads(*node, out);
  // Both parts read what either of them overwrites: in place they must share a kernel.
  const bool apart = is_complex(out.dtype()) && reduces(*node) && expr::reads(*node, out);
  if (apart || clashes(*node, out, out.shape()) || (reads && (!same || node->borrowed))) {
    if (node->leaf() && !node->borrowed) {
      const Tensor copy = Tensor::empty(node->shape, node->dtype);
      run_any(node, copy);
      run_any(as_dtype(Expr(copy), out.dtype()).node(), out);
      return;
    }
    static_cast<void>(x.evaluate());
  }
  // Kernels of reductions write each result once: repeating it is another kernel's work.
  if (node->shape != out.shape() && reduces(*node)) static_cast<void>(x.evaluate());
  const NodePtr value = as_dtype(x, out.dtype()).node();
  run_any(value, out);
  // The expression now is what stands in `out`, as long as nobody overwrites it.
  if (last || !open || x.evaluated() || !same) return;
  if (is_complex(out.dtype())) {
    settle_complex(node, out, true);
  } else {
    expr::settle(*node, out, true);
  }
}

}  // namespace

namespace {

void mark(const Node& n, const Stream& stream) {
  if (n.op == ExprOp::tensor || n.op == ExprOp::gather) n.tensor.used_on(stream);
  for (const NodePtr& in : n.inputs) mark(*in, stream);
}

}  // namespace

void fuse::settle_for_elementwise(const NodePtr& node) {
  products_of(node, nullptr);
  while (const NodePtr reduction = deepest_reduction(node)) materialise(reduction);
}

void fuse::run_now(std::span<const Write> writes, const Stream& stream) {
  const expr::Entry entry;
  int device = stream.device();
  for (const Write& w : writes) {
    device = Placed::agreed(
        "write", std::array<Placed::Operand, 3>{{{"stream", device}, {"out", w.out}, {"value", w.value.device()}}});
  }
  const OnDevice there(device);
  const expr::Computing computing;
  const OnStream here(stream);
  std::vector<Target> targets;
  bool reduced = false, alike = true;
  for (const Write& w : writes) {
    if (w.out.size() == 0) continue;
    const NodePtr& node = w.value.node();
    targets.push_back({node, w.out});
    reduced = reduced || reduces(*node);
    alike = alike && w.out.shape() == targets[0].to.shape();
    if (stream.handle() == 0) continue;
    mark(*node, stream);
    w.out.used_on(stream);
  }
  if (targets.empty()) return;
  if (targets.size() == 1) return run(targets[0].node, targets[0].to);
  for (const Target& t : targets) products_of(t.node, nullptr);
  Replay replay(results_of(targets));
  if (replay.done()) return;
  if (!reduced && alike) {
    run_elementwise(program_of(targets, targets[0].to.shape()));
    return replay.keep();
  }
  if (run_rows(targets)) return replay.keep();
  // What they share is computed once.
  for (const Target& t : targets) {
    while (const NodePtr reduction = deepest_reduction(t.node)) {
      if (reduction == t.node) break;
      materialise(reduction);
    }
  }
  for (const Target& t : targets) run(t.node, t.to);
  replay.keep();
}

void assign(const Tensor& out, const Expr& x) {
  assign_and(out, x, false);
}
void assign_last(const Tensor& out, const Expr& x) {
  assign_and(out, x, true);
}

std::string explain(const Expr& x) {
  if (x.evaluated()) return "evaluated: " + std::string(name_of(x.dtype())) + " " + text_of(x.shape()) + "\n";
  const expr::Entry entry;  // what waits is no part of the dry run
  const OnDevice there(x.device());
  const expr::Computing here;
  const Copy copy(x.node());
  const NodePtr& node = copy.root();
  const fuse::DryRun dry_run;
  if (!products_of(node, nullptr)) run_any(node, Tensor::empty(node->shape, node->dtype));
  return dry_run.text();
}

}  // namespace nervanagpu
