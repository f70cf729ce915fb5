// Pooling of tensors: shapes, dtypes, memory.
#include "kernels/pool/tensors.h"

#include <string>

#include "kernels/pool/problem.h"
#include "nervanagpu/error.hpp"
#include "src/device/placement.h"
#include "src/tensor/pixel_pitch.h"
#include "src/tensor/shape.h"
#include "src/tensor/shares_memory.h"

namespace nervanagpu {
namespace pool_detail {
namespace {

// The leading spatial axes that a tensor leaves out must have length 1.
bool may_leave_out(const PoolProblem& p, int axes) {
  const Quad out = p.out();
  for (std::size_t d = 1; d <= static_cast<std::size_t>(axes); ++d) {
    if (p.in[d] != 1 || p.window[d] != 1 || out[d] != 1) return false;
  }
  return true;
}

// of_x: x and dx, which may be slices of the last axis.
void check_tensor(const PoolProblem& p, const char* name, bool of_x, const Tensor& t) {
  if (t.dtype() != p.dtype) {
    throw TypeError(std::string("pool: ") + name + " has dtype " + std::string(name_of(t.dtype())) + "; needs " +
                    std::string(name_of(p.dtype)));
  }
  int spatial = t.ndim() - 2;
  if (spatial < 1 || spatial > 3 || !may_leave_out(p, 3 - spatial)) spatial = 3;
  const Shape needed = shape_of(p, of_x ? p.in : p.out(), spatial);
  if (t.shape() != needed) {
    throw InvalidArgument(std::string("pool: ") + name + " has shape " + text_of(t.shape()) + "; needs " +
                          text_of(needed));
  }
  const bool sliceable = of_x && p.layout == Layout::channels_last;
  if (!t.contiguous() && !(sliceable && pixel_pitch(t) != 0)) {
    throw InvalidArgument(std::string("pool: ") + name + " has strides " + text_of(t.strides()) +
                          "; needs contiguous memory (copy() makes it)" +
                          (sliceable ? ", or a slice of the last axis of such" : ""));
  }
}

// Of x or dx, which has been checked; 0: it is contiguous.
std::int64_t pitch_in(const Tensor& t) {
  return t.contiguous() ? 0 : pixel_pitch(t);
}

void check_apart(const char* out_name, const Tensor& out, const char* name, const Tensor& t) {
  if (shares_memory(out, t)) {
    throw InvalidArgument(std::string("pool: ") + out_name + " shares memory with " + name +
                          "; needs memory of its own");
  }
}

void check_codes(const PoolProblem& p, const Tensor& argmax) {
  const std::int64_t needed = pool_argmax_bytes(p);
  if (argmax.dtype() != Dtype::uint8) {
    throw TypeError("pool: argmax has dtype " + std::string(name_of(argmax.dtype())) + "; needs uint8");
  }
  if (argmax.shape() != Shape{needed}) {
    throw InvalidArgument("pool: argmax has shape " + text_of(argmax.shape()) + "; needs " + text_of(Shape{needed}));
  }
  if (!argmax.contiguous()) {
    throw InvalidArgument("pool: argmax has strides " + text_of(argmax.strides()) + "; needs contiguous memory");
  }
}

}  // namespace

PoolProblem describe(const PoolProblem& given, const Operands& of) {
  const bool forward = of.pass == Pass::fprop;
  check(given);
  check_tensor(given, of.in_name(), forward, of.in);
  if (of.x != nullptr) check_tensor(given, "x", true, *of.x);
  check_tensor(given, of.out_name(), !forward, of.out);
  if (of.argmax != nullptr) check_codes(given, *of.argmax);
  const Tensor& like_x = forward ? of.in : of.out;
  PoolProblem p = given;
  p.x_pitch = pitch_in(like_x);
  if (given.x_pitch != 0 && pitch_of(given) != pitch_of(p)) {
    throw InvalidArgument(std::string("pool: ") + (forward ? "x" : "dx") + " has strides " + text_of(like_x.strides()) +
                          "; needs " + std::to_string(given.x_pitch) +
                          " elements from pixel to pixel, as the problem says");
  }
  // Kernels know one of both; the mean's gradient reads no x.
  if (of.x != nullptr && p.op != PoolOp::avg && of.argmax == nullptr && pitch_in(*of.x) != p.x_pitch) {
    throw InvalidArgument("pool: x has strides " + text_of(of.x->strides()) + "; needs those of dx, " +
                          text_of(of.out.strides()));
  }
  return p;
}

void check_apart(const Operands& of) {
  check_apart(of.out_name(), of.out, of.in_name(), of.in);
  if (of.x != nullptr) check_apart(of.out_name(), of.out, "x", *of.x);
  if (of.argmax == nullptr) return;
  if (of.pass == Pass::fprop) check_apart("argmax", *of.argmax, "x", of.in);
  check_apart(of.out_name(), of.out, "argmax", *of.argmax);
}

void used_on(const Operands& of, const Stream& stream) {
  for (const Tensor* t : {&of.in, &of.out, of.x, of.argmax}) {
    if (t != nullptr) t->used_on(stream);
  }
}

}  // namespace pool_detail

using pool_detail::Operands;
using pool_detail::Pass;

void pool_fprop(const PoolProblem& given, const Tensor& x, Tensor& y, const PoolOptions& options) {
  const Placed placed("pool", {{"x", x}, {"y", y}, {"stream", options.stream}});
  const Operands of = {Pass::fprop, x, y};
  const PoolProblem p = describe(given, of);
  check_apart(of);
  pool_fprop(p, x.address(), y.address(), options);
  used_on(of, options.stream);
}

void pool_bprop(const PoolProblem& given, const Tensor& dy, const Tensor& x, Tensor& dx, const PoolOptions& options) {
  const Placed placed("pool", {{"dy", dy}, {"x", x}, {"dx", dx}, {"stream", options.stream}});
  const Operands of = {Pass::bprop, dy, dx, &x};
  const PoolProblem p = describe(given, of);
  check_apart(of);
  pool_bprop(p, dy.address(), x.address(), dx.address(), options);
  used_on(of, options.stream);
}

void max_pool_fprop(const PoolProblem& given, const Tensor& x, Tensor& y, Tensor& argmax, const PoolOptions& options) {
  const Placed placed("pool", {{"x", x}, {"y", y}, {"argmax", argmax}, {"stream", options.stream}});
  const Operands of = {Pass::fprop, x, y, nullptr, &argmax};
  const PoolProblem p = describe(given, of);
  check_apart(of);
  max_pool_fprop(p, x.address(), y.address(), argmax.address(), options);
  used_on(of, options.stream);
}

void max_pool_bprop(const PoolProblem& given, const Tensor& dy, const Tensor& argmax, Tensor& dx,
                    const PoolOptions& options) {
  const Placed placed("pool", {{"dy", dy}, {"argmax", argmax}, {"dx", dx}, {"stream", options.stream}});
  const Operands of = {Pass::bprop, dy, dx, nullptr, &argmax};
  const PoolProblem p = describe(given, of);
  check_apart(of);
  max_pool_bprop(p, dy.address(), argmax.address(), dx.address(), options);
  used_on(of, options.stream);
}

}  // namespace nervanagpu
