// Writes that in-place operators have asked for and that nobody has needed yet, so that `x *= 5; x *= x; x += x` is one
// kernel. They are done before any other work goes to the device, in their order: results are as if they had been done at
// once.
#pragma once

#include <atomic>

#include "src/expr/node.h"

namespace nervanagpu::expr {

inline std::atomic<bool> writes_wait{false};

void do_writes();  // all that wait
// To be called before work is given to a device, or the host looks at memory.
inline void before_work() {
  if (writes_wait.load(std::memory_order_acquire)) do_writes();
}

// What `tensor` will hold when all writes are done, if one of exactly this view waits. Writes that only overlap with it
// are done now.
NodePtr value_of(const Tensor& tensor);

}  // namespace nervanagpu::expr
