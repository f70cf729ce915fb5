#include "src/expr/pending.h"

#include <string>

#include "nervanagpu/error.hpp"
#include "src/expr/promote.h"
#include "src/tensor/shape.h"

namespace nervanagpu::expr {
namespace {

Node* head = nullptr;  // of the list, guarded by tree_mutex()

struct Bytes {
  std::uint64_t begin = 0, end = 0;
};
Bytes bytes_of(const Tensor& t) {
  if (t.size() == 0) return {};
  const Extent e = extent_of(t.shape(), t.strides());
  const auto width = static_cast<std::int64_t>(size_of(t.dtype()));
  return {t.address() + static_cast<std::uint64_t>(e.low * width),
          t.address() + static_cast<std::uint64_t>((e.high + 1) * width)};
}

template <class Keep>
std::vector<NodePtr> collect(const Keep& keep) {
  std::vector<NodePtr> out;
  const std::lock_guard lock(tree_mutex());
  for (Node* n = head; n != nullptr; n = n->next) {
    if (n->handles.load() > 0 && n->graph == recorded_graph && keep(*n)) out.push_back(n->weak_from_this().lock());
  }
  std::erase(out, nullptr);
  return out;
}

}  // namespace

std::recursive_mutex& tree_mutex() {
  static auto* m = new std::recursive_mutex;  // outlives every expression
  return *m;
}

void enlist(Node& node) {
  const std::lock_guard lock(tree_mutex());
  if (node.listed) return;
  node.prev = nullptr;
  node.next = head;
  if (head != nullptr) head->prev = &node;
  head = &node;
  node.listed = true;
  node.graph = recorded_graph;
  if (node.thread == nullptr) node.thread = this_thread();
}

void delist(Node& node) noexcept {
  const std::lock_guard lock(tree_mutex());
  if (!node.listed) return;
  (node.prev != nullptr ? node.prev->next : head) = node.next;
  if (node.next != nullptr) node.next->prev = node.prev;
  node.listed = false;
}

void end_recording(const void* graph) {
  const std::lock_guard lock(tree_mutex());
  for (Node* n = head; n != nullptr; n = n->next) {
    if (n->graph == graph) n->graph = nullptr;
  }
}

void check_assignable(const Tensor& out, const Expr& x) {
  check_writable(out);
  const NodePtr& node = x.node();
  if ((!node->weak || is_complex(node->dtype)) && !same_kind(node->dtype, out.dtype())) {
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
}

bool may_share_memory(const Tensor& a, const Tensor& b) {
  const Bytes x = bytes_of(a);
  const Bytes y = bytes_of(b);
  return x.begin < y.end && y.begin < x.end;
}

// Strides along axes of one element say nothing.
bool same_view(const Tensor& a, const Tensor& b) {
  if (a.address() != b.address() || a.dtype() != b.dtype() || a.shape() != b.shape()) return false;
  for (std::size_t i = 0; i < a.shape().size(); ++i) {
    if (a.strides()[i] != b.strides()[i] && a.shape()[i] > 1) return false;
  }
  return true;
}

bool part_view(const Tensor& part, const Tensor& of) {
  return same_view(part, of.real()) || same_view(part, of.imag());
}

bool reads(const Node& node, const Tensor& tensor) {
  if (node.op == ExprOp::tensor) return may_share_memory(node.tensor, tensor);
  for (const NodePtr& in : node.inputs) {
    if (reads(*in, tensor)) return true;
  }
  return false;
}

std::vector<NodePtr> readers_of(const Tensor& tensor, const Node* except) {
  return collect([&](const Node& n) { return &n != except && reads(n, tensor); });
}
std::vector<NodePtr> all_pending() {
  return collect([](const Node&) { return true; });
}
std::vector<NodePtr> pending_here() {
  return collect([](const Node& n) { return n.thread == this_thread(); });
}
std::vector<NodePtr> held_products(const Node* except) {
  return collect([&](const Node& n) { return n.op == ExprOp::product && n.thread == this_thread() && &n != except; });
}

}  // namespace nervanagpu::expr
