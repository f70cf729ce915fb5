// Max and average pooling, and their gradients.
#include "python/torch_ops/pooling.h"

#include <array>

#include "python/torch_ops/operators.h"

namespace nervanagpu::python::torch {
namespace {

using Int = std::int64_t;

PoolProblem problem_of(PoolOp op, const Array& x, const Windows& w, bool last) {
  static_cast<void>(spatial_axes("x", x));
  PoolProblem p;
  p.op = op;
  p.layout = layout_of(last);
  p.dtype = x.dtype();
  p.n = x.size(0);
  p.in[0] = x.size(1);
  const Triple in = lengths(x.sizes());
  for (std::size_t i = 0; i < 3; ++i) {
    if (2 * w.padding[i] > w.size[i])
      refuse("padding " + std::to_string(w.padding[i]) + " is more than half the kernel");
    p.in[i + 1] = in[i], p.window[i + 1] = w.size[i], p.stride[i + 1] = w.stride[i], p.pad[i + 1] = w.padding[i];
  }
  return p;
}

PerAxis result_sizes(const PoolProblem& p, const Array& x) {
  PerAxis out(static_cast<std::size_t>(x.axes()));
  out[0] = x.size(0), out[1] = x.size(1);
  for (std::size_t i = 4 - static_cast<std::size_t>(x.axes() - 2), k = 2; i < 4; ++i, ++k) {
    const Int room = p.in[i] + 2 * p.pad[i] - p.window[i];
    if (room < 0) refuse("x " + shown(x.sizes()) + " is less than a window");
    out[k] = room / p.stride[i] + 1;
  }
  return out;
}

PoolOptions options_of(const Call& call) {
  PoolOptions options;
  options.stream = call.stream();
  return options;
}

}  // namespace

Array pool(PoolOp op, const Array& x, const Windows& w, bool count_padding) {
  const Call call{&x};
  const bool last = x.channels_last();
  PoolProblem p = problem_of(op, x, w, last);
  p.count_padding = count_padding;
  Array out = empty_in(x, result_sizes(p, x), last);
  if (out.elements() == 0) return out;
  Array kept, none;
  Tensor y = arranged(out, last, none);
  pool_fprop(p, arranged(x, last, kept), y, options_of(call));
  return out;
}

std::array<Array, 2> max_and_indices(const Array& x, const Windows& w) {
  const Call call{&x};
  const bool last = x.channels_last();
  const PoolProblem p = problem_of(PoolOp::max, x, w, last);
  const PerAxis sizes = result_sizes(p, x);
  const std::int32_t type = shim().int64;
  std::array<Array, 2> out{empty_in(x, sizes, last),
                           last ? empty_channels_last(x, sizes, type) : empty(x, sizes, type)};
  const Int count = out[0].elements();
  if (count == 0) return out;
  const PerAxis bytes = {pool_argmax_bytes(p)};
  const Array codes = empty(x, bytes, shim().uint8);
  Array kept, none;
  Tensor y = arranged(out[0], last, none), argmax = Call::ours(codes, bytes, {1}, Dtype::uint8);
  max_pool_fprop(p, arranged(x, last, kept), y, argmax, options_of(call));
  Tensor indices = Call::ours(out[1], {count}, {1}, Dtype::int64);
  max_pool_indices(p, argmax, indices, call.stream());
  return out;
}

Array pool_gradient(PoolOp op, const Array& grad, const Array& x, const Windows& w, bool count_padding) {
  const Call call{&grad, &x};
  const bool last = x.channels_last();
  PoolProblem p = problem_of(op, x, w, last);
  p.count_padding = count_padding;
  const PerAxis needed = result_sizes(p, x);
  if (grad.sizes() != needed) refuse("the gradient is " + shown(grad.sizes()) + "; needs " + shown(needed));
  Array out = empty_in(x, x.sizes(), last);
  if (out.elements() == 0) return out;
  Array kept_grad, kept_x, none;
  Tensor dx = arranged(out, last, none);
  pool_bprop(p, arranged(grad, last, kept_grad), arranged(x, last, kept_x), dx, options_of(call));
  return out;
}

// --- entered with numbers of 21 bits ------------------------------------------------------------------------------------

namespace {

Windows windows(const Array& x, Int size, Int stride, Int padding) {
  const Int axes = spatial_axes("x", x);
  return {unpacked("kernel", axes, size, 1, 1), unpacked("stride", axes, stride, 1, 1),
          unpacked("padding", axes, padding, 0, 0)};
}

Array max_pool(const Array& x, Int kernel, Int stride, Int padding) {
  return pool(PoolOp::max, x, windows(x, kernel, stride, padding), false);
}

std::array<Array, 2> max_pool_with_indices(const Array& x, Int kernel, Int stride, Int padding) {
  return max_and_indices(x, windows(x, kernel, stride, padding));
}

Array max_pool_backward(const Array& grad, const Array& x, Int kernel, Int stride, Int padding) {
  return pool_gradient(PoolOp::max, grad, x, windows(x, kernel, stride, padding), false);
}

Array avg_pool(const Array& x, Int kernel, Int stride, Int padding, bool count) {
  return pool(PoolOp::avg, x, windows(x, kernel, stride, padding), count);
}

Array avg_pool_backward(const Array& grad, const Array& x, Int kernel, Int stride, Int padding, bool count) {
  return pool_gradient(PoolOp::avg, grad, x, windows(x, kernel, stride, padding), count);
}

#define NG_WINDOWS "int kernel, int stride, int padding"
constexpr std::array kPools{
    Operator{"max_pool(Tensor x, " NG_WINDOWS ") -> Tensor", boxed<max_pool>},
    Operator{"max_pool_with_indices(Tensor x, " NG_WINDOWS ") -> (Tensor, Tensor)", boxed<max_pool_with_indices>},
    Operator{"max_pool_backward(Tensor grad, Tensor x, " NG_WINDOWS ") -> Tensor", boxed<max_pool_backward>},
    Operator{"avg_pool(Tensor x, " NG_WINDOWS ", bool count_include_pad) -> Tensor", boxed<avg_pool>},
    Operator{"avg_pool_backward(Tensor grad, Tensor x, " NG_WINDOWS ", bool count_include_pad) -> Tensor",
             boxed<avg_pool_backward>}};
#undef NG_WINDOWS

}  // namespace

std::span<const Operator> pools() {
  return kPools;
}

}  // namespace nervanagpu::python::torch
