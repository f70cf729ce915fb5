// The op-tree after Expr. Every operand of a node has the dtype in which the operation computes: casts are nodes of
// their own, inserted where the tree is built.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "nervanagpu/expr.hpp"
#include "nervanagpu/precision.hpp"

namespace nervanagpu::expr {

using NodePtr = std::shared_ptr<Node>;

struct Node : std::enable_shared_from_this<Node> {
  ExprOp op = ExprOp::tensor;
  Dtype dtype = Dtype::float32;
  bool weak = false;    // a number that takes the dtype of what it meets
  bool beyond = false;  // ... an integer of more than 64 bits, as a float64
  Reduction reduction = Reduction::sum;
  bool keepdims = false;
  int ddof = 0;
  Shape shape;
  std::vector<NodePtr> inputs;
  std::vector<int> axes;           // reduced, ascending
  Tensor tensor{Tensor::Later{}};  // ExprOp::tensor
  std::uint64_t bits = 0;          // ExprOp::scalar: of its dtype; random: the seed
  std::uint64_t offset = 0;        // random: of the counter
  bool open = false;               // random: as large as the result of the tree
  bool borrowed = false;           // `tensor` is somebody's, who may overwrite it: a copy is made before that
  bool sole = false;               // of a copy for explain(): the original's `tensor` is nobody else's
  int device = -1;                 // of the tensors below; -1: of whatever device
  std::uint32_t weight = 1;        // nodes below, shared ones counted again
  std::atomic<int> handles{0};     // Exprs outside of trees
  Node* next = nullptr;            // list of pending nodes, see pending.h
  Node* prev = nullptr;
  bool listed = false;
  const void* graph = nullptr;              // recorded_graph of when it was listed
  bool made_as_product = false;             // never changes
  Precision precision = Precision::strict;  // of a product of float32
  const void* thread = nullptr;             // that wrote it; a product is begun before its work
  enum class Progress : std::uint8_t { open, running, done };
  std::atomic<Progress> progress{Progress::open};  // of a product: its thread and whoever evaluates it may meet here

  Node() = default;
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;
  ~Node();

  [[nodiscard]] bool leaf() const { return op == ExprOp::tensor || op == ExprOp::scalar; }
  [[nodiscard]] std::int64_t size() const {
    std::int64_t n = 1;
    for (const std::int64_t l : shape) n *= l;
    return n;
  }
};

// The graph that this thread records, or none. What is written while one is recorded is its own: other threads neither
// compute those expressions nor do those writes, which would then be missing in the graph, and the recording thread does
// not do theirs.
inline thread_local const void* recorded_graph = nullptr;

// Products that are not computed yet.
inline std::atomic<int> open_products{0};
void become_product(Node& node);
// A tensor as it lies in memory.
NodePtr leaf_of(const Tensor& tensor);
// What tells this thread from others.
inline const void* this_thread() {
  static thread_local const char here = 0;
  return &here;
}

// The node becomes a leaf with this value.
void settle(Node& node, const Tensor& value, bool borrowed = false);

}  // namespace nervanagpu::expr
