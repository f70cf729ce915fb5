// What waits for the next work. Writes that in-place operators have asked for and that nobody has needed yet, so that
// `x *= 5; x *= x; x += x` is one kernel; they are done before any other work goes to the device, in their order: results are
// as if they had been done at once. And products of matrices, which wait for what may become their epilogue.
#pragma once

#include <atomic>
#include <mutex>
#include <optional>

#include "src/expr/node.h"

namespace nervanagpu::expr {

inline std::atomic<bool> writes_wait{false};

// Products that somebody holds are begun, but for `except`, and writes are done.
void do_waiting(const Node* except);
// Called in two gates, and nowhere else: before work is given to a device (src/launch/gate.cpp), and before anybody looks at
// expressions (what follows here).
inline void before_work(const Node* except = nullptr) {
  if (writes_wait.load(std::memory_order_acquire) || open_products.load(std::memory_order_acquire) != 0) {
    do_waiting(except);
  }
}

// Forgets the writes that were asked for while `graph` was recorded.
void drop_writes(const void* graph);

// Held while expressions are computed and writes are done, from the look at what waits on. Else two threads may compute one
// node, or one thread's write comes between another's look and its launch, which then reads what was written later. Taken
// before any other lock but the interpreter's.
std::recursive_mutex& computing_mutex();

// How whoever computes expressions begins: no other thread does meanwhile, and what waits is done, but for `except`.
class Entry {
 public:
  explicit Entry(const Node* except = nullptr) : lock_(computing_mutex()) { before_work(except); }

 private:
  std::lock_guard<std::recursive_mutex> lock_;
};

// While one lives, this thread computes expressions: its work is not what products are begun before.
class Computing {
 public:
  Computing() : lock_(computing_mutex()) { ++depth; }
  ~Computing() { --depth; }
  Computing(const Computing&) = delete;
  Computing& operator=(const Computing&) = delete;
  static bool now() noexcept { return depth != 0; }

 private:
  static inline thread_local int depth = 0;
  std::lock_guard<std::recursive_mutex> lock_;
};

// A leaf that reads memory when all that waits is done: no waiting write is fused into its kernel.
NodePtr stored_leaf(const Tensor& tensor);

// Where the value of a borrowed leaf stands after all that waits; nothing: it is none, or none any more.
std::optional<Tensor> lender_of(const Node& node);

// Computes what this thread wrote and nobody has computed yet.
void evaluate_own();

// What `tensor` will hold when all writes are done, if one of exactly this view waits. Writes that only overlap with it
// are done now.
NodePtr value_of(const Tensor& tensor);

}  // namespace nervanagpu::expr
