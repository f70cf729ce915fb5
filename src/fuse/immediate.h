// Expressions that are computed at once and in a stream, as functions with results of their own need it.
#pragma once

#include <span>

#include "nervanagpu/expr.hpp"
#include "nervanagpu/stream.hpp"

namespace nervanagpu::fuse {

struct Write {
  Tensor out;
  Expr value;  // of out's dtype; of its shape, or elementwise and broadcast to it
};

// out = value for each: elementwise values of one shape in one kernel, and those that reduce the same rows, of the shape of
// the rows or with length 1 along them. A value may read an `out` if it needs no other elements of it than its own, and none
// that an earlier write of the list writes, unless all share a kernel. Work goes to `stream`, in a graph's capture too.
void run_now(std::span<const Write> writes, const Stream& stream);

}  // namespace nervanagpu::fuse
