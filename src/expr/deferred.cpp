#include "src/expr/deferred.h"

#include <algorithm>
#include <exception>
#include <mutex>

#include "nervanagpu/error.hpp"
#include "src/expr/pending.h"
#include "src/expr/promote.h"

namespace nervanagpu {
namespace expr {
namespace {

struct Write {
  Tensor to;
  Expr value;
  const void* graph = recorded_graph;
};

bool here(const Write& one) {
  return one.graph == recorded_graph;
}

// Trees above this weight are computed at once: they would soon be cut into parts.
constexpr std::uint32_t kMostWeight = 40;

struct Waiting {  // guarded by computing_mutex()
  std::vector<Write> writes;
  bool doing = false;
};
Waiting& waiting() {
  static auto* w = new Waiting;  // outlives every tensor
  return *w;
}

// What cannot be computed now is told to who wants its elements.
void begin_products(const Node* except) {
  const Computing here;
  for (NodePtr& n : held_products(except)) {
    try {
      static_cast<void>(Expr(std::move(n)).evaluate());
    } catch (...) {  // NOLINT(bugprone-empty-catch)
    }
  }
}

void do_writes() {
  Waiting& w = waiting();
  const std::lock_guard lock(computing_mutex());
  if (w.doing) return;  // this is their own work
  w.doing = true;
  std::exception_ptr first;
  std::exception_ptr full;
  while (std::ranges::any_of(w.writes, here) && !full) {
    const std::vector<Write> all = std::move(w.writes);
    w.writes.clear();
    for (const Write& one : all) {
      if (!here(one)) {
        w.writes.push_back(one);
        continue;
      }
      try {
        assign(one.to, one.value);
      } catch (const OutOfMemory&) {  // nothing was written: it waits until there is room
        w.writes.push_back(one);
        full = std::current_exception();
      } catch (...) {
        if (!first) first = std::current_exception();
      }
    }
  }
  writes_wait.store(!w.writes.empty(), std::memory_order_release);
  w.doing = false;
  if (first) std::rethrow_exception(first);
  if (full) std::rethrow_exception(full);
}

}  // namespace

std::recursive_mutex& computing_mutex() {
  static auto* m = new std::recursive_mutex;  // outlives every tensor
  return *m;
}

void do_waiting(const Node* except) {
  if (open_products.load(std::memory_order_acquire) != 0 && !Computing::now()) begin_products(except);
  if (writes_wait.load(std::memory_order_acquire)) do_writes();
}

NodePtr stored_leaf(const Tensor& tensor) {
  before_work();
  return leaf_of(tensor);
}

std::optional<Tensor> lender_of(const Node& node) {
  before_work(&node);
  const std::lock_guard lock(tree_mutex());
  if (node.op != ExprOp::tensor || !node.borrowed) return std::nullopt;
  return node.tensor;
}

namespace {

// Those that `list` finds when all that waits is done.
template <class List>
void evaluate_all(const List& list) {
  const Entry entry;
  std::vector<Expr> all;
  for (NodePtr& n : list()) all.emplace_back(std::move(n));
  evaluate(all);
}

}  // namespace

void evaluate_own() {
  evaluate_all(pending_here);
}

void drop_writes(const void* graph) {
  Waiting& w = waiting();
  const std::lock_guard lock(computing_mutex());
  std::erase_if(w.writes, [&](const Write& one) { return one.graph == graph; });
  writes_wait.store(!w.writes.empty(), std::memory_order_release);
}

NodePtr value_of(const Tensor& tensor) {
  Waiting& w = waiting();
  const std::lock_guard lock(computing_mutex());
  if (w.doing) return nullptr;
  for (const Write& one : w.writes) {
    if (!here(one)) continue;
    if (same_view(one.to, tensor)) return one.value.node();
    if (may_share_memory(one.to, tensor)) {
      do_writes();
      return nullptr;
    }
  }
  return nullptr;
}

}  // namespace expr

void before_sharing(const Tensor& tensor) {
  expr::evaluate_all([&] { return expr::readers_of(tensor, nullptr); });
}
void evaluate_pending() {
  expr::evaluate_all(expr::all_pending);
}

void assign_later(const Tensor& out, const Expr& x) {
  using namespace expr;
  check_assignable(out, x);
  if (is_complex(out.dtype()) || (x.device() >= 0 && out.device() >= 0 && x.device() != out.device())) {
    return assign(out, x);
  }
  Expr value = as_dtype(x, out.dtype());
  // Between statements 16-bit floats are rounded, as they are where they are stored.
  if (kind_of(out.dtype()) == Kind::real && size_of(out.dtype()) == 2) {
    value = cast(cast(value, Dtype::float32), out.dtype());
  }
  if (value.shape() != out.shape() || value.node()->leaf() || value.node()->weight > kMostWeight || out.exposed()) {
    return assign(out, x);
  }
  Waiting& w = waiting();
  const std::lock_guard lock(computing_mutex());
  const auto same =
      std::ranges::find_if(w.writes, [&](const Write& one) { return here(one) && same_view(one.to, out); });
  if (same != w.writes.end()) {
    same->value = value;
    return;
  }
  if (std::ranges::any_of(w.writes, [&](const Write& one) { return here(one) && may_share_memory(one.to, out); }))
    do_writes();
  w.writes.push_back({out, value});
  writes_wait.store(true, std::memory_order_release);
}

}  // namespace nervanagpu
