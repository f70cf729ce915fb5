// Expressions that somebody holds and nothing has computed yet, so that they can be computed before an operand changes.
#pragma once

#include <mutex>
#include <vector>

#include "src/expr/node.h"

namespace nervanagpu::expr {

void enlist(Node& node);
void delist(Node& node) noexcept;

// Those with a handle whose tree reads memory of `tensor`, other than `except`.
std::vector<NodePtr> readers_of(const Tensor& tensor, const Node* except);
std::vector<NodePtr> all_pending();
std::vector<NodePtr> pending_here();                     // that this thread wrote: two threads must not compute one
std::vector<NodePtr> held_products(const Node* except);  // of this thread

// What was written while `graph` was recorded and is not computed yet is like any other from now on.
void end_recording(const void* graph);

// Held while a node changes that other threads may find in the list.
std::recursive_mutex& tree_mutex();

// Throws what assign(out, x) refuses.
void check_assignable(const Tensor& out, const Expr& x);

// Whether two views share bytes, by the ranges that they span.
bool may_share_memory(const Tensor& a, const Tensor& b);
bool reads(const Node& node, const Tensor& tensor);
// Whether they are the same elements in the same order, of one dtype.
bool same_view(const Tensor& a, const Tensor& b);
// Whether a view is that of the real or of the imaginary parts of a complex tensor.
bool part_view(const Tensor& part, const Tensor& of);

}  // namespace nervanagpu::expr
