// The operands and results of the small operations as expressions: float32 inside, rounded where they are stored.
#pragma once

#include "nervanagpu/expr.hpp"
#include "nervanagpu/rounding.hpp"
#include "nervanagpu/stream.hpp"
#include "src/fuse/immediate.h"

namespace nervanagpu::nn {

Expr as_float(const Tensor& t);  // float32
// The elements of a contiguous tensor as float32, in one row or in `shape`.
Expr values(const Tensor& t);
Expr values(const Tensor& t, const Shape& shape);
// out = x: rounded as `rounding` says, where element i takes word i. x has the shape of `out`, or broadcasts to it if it
// is rounded to nearest.
fuse::Write write_of(const Tensor& out, const Expr& x, const Rounding& rounding = {});
// The same, done now; `out` is seen in the shape of x.
void write(const Tensor& out, const Expr& x, const Rounding& rounding, const Stream& stream);

}  // namespace nervanagpu::nn
