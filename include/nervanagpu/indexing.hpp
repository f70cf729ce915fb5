// Elements at computed places, and running sums.
#pragma once

#include "nervanagpu/export.hpp"
#include "nervanagpu/expr.hpp"
#include "nervanagpu/tensor.hpp"

namespace nervanagpu {

// result[i] = the element of `from` that lies offset[i] elements after its first one, in memory (int64, may be negative).
// Offsets are not checked: every one must be that of an element.
NG_API Tensor gather(const Tensor& from, const Expr& offset);

// What happens to the element that is there.
enum class Scatter : std::uint8_t {
  set,  // it becomes the value; of several for one place any may win, unless they are equal
  add,  // the value is added: int32, uint32, int64, uint64
  most  // it becomes the larger of both: int32
};
// to[offset[i]] = value[i], as gather() counts; an offset of -2^62 is nowhere. The value broadcasts to the offsets' shape
// and is converted as on assignment. TypeError for dtypes that the operation does not take.
NG_API void scatter(const Tensor& to, const Expr& offset, const Expr& value, Scatter how = Scatter::set);

// Sums of the elements up to and with each one along an axis, in a fixed order. Integers and bool give int64 or uint64;
// 16-bit floats are summed in float32 and rounded at the end. InvalidArgument for an axis that does not exist.
NG_API Tensor cumsum(const Expr& x, int axis);

}  // namespace nervanagpu
