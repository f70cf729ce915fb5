// Pooling of tensors: shapes, dtypes, memory.
#include <string>

#include "kernels/pool/problem.h"
#include "nervanagpu/error.hpp"
#include "src/placement.h"
#include "src/shape.h"

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

void check_tensor(const PoolProblem& p, const char* name, const Quad& lengths, const Tensor& t) {
  if (t.dtype() != p.dtype) {
    throw TypeError(std::string("pool: ") + name + " has dtype " + std::string(name_of(t.dtype())) + "; needs " +
                    std::string(name_of(p.dtype)));
  }
  int spatial = t.ndim() - 2;
  if (spatial < 1 || spatial > 3 || !may_leave_out(p, 3 - spatial)) spatial = 3;
  const Shape needed = shape_of(p, lengths, spatial);
  if (t.shape() != needed) {
    throw InvalidArgument(std::string("pool: ") + name + " has shape " + text_of(t.shape()) + "; needs " +
                          text_of(needed));
  }
  if (!t.contiguous()) {
    throw InvalidArgument(std::string("pool: ") + name + " has strides " + text_of(t.strides()) +
                          "; needs contiguous memory (copy() makes it)");
  }
}

// Both are contiguous.
void check_apart(const char* out_name, const Tensor& out, const char* name, const Tensor& t) {
  if (out.address() < t.address() + t.nbytes() && t.address() < out.address() + out.nbytes()) {
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
}  // namespace pool_detail

void pool_fprop(const PoolProblem& p, const Tensor& x, Tensor& y, const PoolOptions& options) {
  const Placed placed("pool", {{"x", x}, {"y", y}, {"stream", options.stream}});
  using namespace pool_detail;
  check(p);
  check_tensor(p, "x", p.in, x);
  check_tensor(p, "y", p.out(), y);
  check_apart("y", y, "x", x);
  pool_fprop(p, x.address(), y.address(), options);
  for (const Tensor* t : {&x, static_cast<const Tensor*>(&y)}) t->used_on(options.stream);
}

void pool_bprop(const PoolProblem& p, const Tensor& dy, const Tensor& x, Tensor& dx, const PoolOptions& options) {
  const Placed placed("pool", {{"dy", dy}, {"x", x}, {"dx", dx}, {"stream", options.stream}});
  using namespace pool_detail;
  check(p);
  check_tensor(p, "dy", p.out(), dy);
  check_tensor(p, "x", p.in, x);
  check_tensor(p, "dx", p.in, dx);
  check_apart("dx", dx, "dy", dy);
  check_apart("dx", dx, "x", x);
  pool_bprop(p, dy.address(), x.address(), dx.address(), options);
  for (const Tensor* t : {&dy, &x, static_cast<const Tensor*>(&dx)}) t->used_on(options.stream);
}

void max_pool_fprop(const PoolProblem& p, const Tensor& x, Tensor& y, Tensor& argmax, const PoolOptions& options) {
  const Placed placed("pool", {{"x", x}, {"y", y}, {"argmax", argmax}, {"stream", options.stream}});
  using namespace pool_detail;
  check(p);
  check_tensor(p, "x", p.in, x);
  check_tensor(p, "y", p.out(), y);
  check_codes(p, argmax);
  check_apart("y", y, "x", x);
  check_apart("argmax", argmax, "x", x);
  check_apart("argmax", argmax, "y", y);
  max_pool_fprop(p, x.address(), y.address(), argmax.address(), options);
  for (const Tensor* t : {&x, static_cast<const Tensor*>(&y), static_cast<const Tensor*>(&argmax)}) {
    t->used_on(options.stream);
  }
}

void max_pool_bprop(const PoolProblem& p, const Tensor& dy, const Tensor& argmax, Tensor& dx,
                    const PoolOptions& options) {
  const Placed placed("pool", {{"dy", dy}, {"argmax", argmax}, {"dx", dx}, {"stream", options.stream}});
  using namespace pool_detail;
  check(p);
  check_tensor(p, "dy", p.out(), dy);
  check_codes(p, argmax);
  check_tensor(p, "dx", p.in, dx);
  check_apart("dx", dx, "dy", dy);
  check_apart("dx", dx, "argmax", argmax);
  max_pool_bprop(p, dy.address(), argmax.address(), dx.address(), options);
  for (const Tensor* t : {&dy, &argmax, static_cast<const Tensor*>(&dx)}) t->used_on(options.stream);
}

}  // namespace nervanagpu
