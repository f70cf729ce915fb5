// convolution and its two gradients, one by one and together.
#include "python/torch_ops/convolution.h"

#include <algorithm>
#include <array>
#include <optional>

#include "python/torch_ops/numbers.h"
#include "python/torch_ops/operators.h"

namespace nervanagpu::python::torch {
namespace {

// Of an x and a weight of these shapes, which need be no tensors. Throws what torch shall say.
ConvProblem problem_of(const PerAxis& x, const PerAxis& weight, const Geometry& g, Dtype dtype, bool last) {
  const auto axes = static_cast<std::int64_t>(weight.size()) - 2;
  if (axes < 1 || axes > 3) refuse(std::to_string(axes) + " spatial axes; needs 1 to 3");
  if (x.size() != weight.size()) {
    refuse("x has " + std::to_string(x.size()) + " axes; needs " + std::to_string(axes + 2));
  }
  ConvProblem p;
  p.stride = g.stride, p.pad = g.padding, p.dilation = g.dilation;
  if (g.groups < 1 || x[1] / g.groups != weight[1] || x[1] % g.groups != 0 || weight[0] % g.groups != 0 ||
      weight[0] < 1) {
    refuse("x " + shown(x) + " does not fit weight " + shown(weight) + " in " + std::to_string(g.groups) + " groups");
  }
  p.groups = g.groups;
  p.layout = layout_of(last);
  p.n = x[0], p.c = x[1], p.k = weight[0];
  p.in = lengths(x), p.filter = lengths(weight);
  p.x_type = p.w_type = p.y_type = dtype;
  return p;
}

PerAxis result_sizes(const ConvProblem& p, const PerAxis& x, const PerAxis& weight) {
  PerAxis out(x.size());
  out[0] = x[0], out[1] = weight[0];
  for (std::size_t i = 3 - (x.size() - 2), k = 2; i < 3; ++i, ++k) {
    const std::int64_t room = p.in[i] + 2 * p.pad[i] - p.dilation[i] * (p.filter[i] - 1) - 1;
    if (room < 0) refuse("x " + shown(x) + " is less than a window of weight " + shown(weight));
    out[k] = room / p.stride[i] + 1;
  }
  return out;
}

void check_gradient(const Array& grad, const PerAxis& needed) {
  if (grad.sizes() != needed) refuse("the gradient is " + shown(grad.sizes()) + "; needs " + shown(needed));
}

ConvOptions options_of(const Call& call) {
  ConvOptions options;  // with the thread's precision
  options.stream = call.stream();
  return options;
}

// p is of x and weight, in the layout of the result. pieces: of grad, which both gradients share; null: it is one alone.
Array gradient_of_x(const Call& call, const ConvProblem& p, const Array& grad, const Array& weight,
                    const PerAxis& sizes, SharedPieces* pieces = nullptr) {
  const bool last = p.layout == Layout::channels_last;
  Array out = empty_in(grad, sizes, last);
  if (out.elements() == 0 || grad.elements() == 0) return zeroed(std::move(out));
  Array kept_grad, kept_weight, none;
  Tensor dx = arranged(out, last, none);
  ConvOptions options = options_of(call);
  options.dy_pieces = pieces;
  conv_bprop(p, arranged(grad, last, kept_grad), arranged(weight, last, kept_weight), dx, options);
  return out;
}

Array gradient_of_weight(const Call& call, const ConvProblem& p, const Array& grad, const Array& x,
                         const PerAxis& filter, SharedPieces* pieces = nullptr) {
  const bool last = p.layout == Layout::channels_last;
  Array out = empty_in(grad, filter, last);
  if (out.elements() == 0 || grad.elements() == 0) return zeroed(std::move(out));
  Array kept_grad, kept_x, none;
  Tensor dw = arranged(out, last, none);
  ConvOptions options = options_of(call);
  options.dy_pieces = pieces;
  conv_update(p, arranged(grad, last, kept_grad), arranged(x, last, kept_x), dw, options);
  return out;
}

}  // namespace

Array convolve(const Array& x, const Array& weight, const Array* bias, const Geometry& g, std::int64_t activation) {
  const Call call{&x, &weight, bias};
  const GemmActivation act = activation_of(activation);
  const bool last = any_channels_last({&x, &weight});
  const PerAxis sizes = x.sizes(), filter = weight.sizes();
  const ConvProblem p = problem_of(sizes, filter, g, x.dtype(), last);
  if (bias != nullptr && (bias->axes() != 1 || bias->size(0) != p.k)) {
    refuse("bias " + shown(bias->sizes()) + "; needs " + shown({p.k}));
  }
  Array out = empty_in(x, result_sizes(p, sizes, filter), last);
  if (out.elements() == 0) return out;
  if (x.elements() == 0 || weight.elements() == 0) {
    refuse("x " + shown(sizes) + " and weight " + shown(filter) + " without elements");
  }
  Array kept_x, kept_weight, kept_bias, none;
  ConvOptions options = options_of(call);
  options.activation = act;
  Tensor shift;
  if (bias != nullptr) {
    shift = Call::ours(contiguous(*bias, kept_bias));
    options.bias = &shift;
  }
  Tensor y = arranged(out, last, none);
  conv_fprop(p, arranged(x, last, kept_x), arranged(weight, last, kept_weight), y, options);
  return out;
}

Array gradient_of_input(const Array& grad, const Array& weight, const PerAxis& sizes, const Geometry& g, bool last) {
  const Call call{&grad, &weight};
  const PerAxis filter = weight.sizes();
  const ConvProblem p = problem_of(sizes, filter, g, grad.dtype(), last);
  check_gradient(grad, result_sizes(p, sizes, filter));
  return gradient_of_x(call, p, grad, weight, sizes);
}

Array gradient_of_filter(const Array& grad, const Array& x, const PerAxis& filter, const Geometry& g, bool last) {
  const Call call{&grad, &x};
  const PerAxis sizes = x.sizes();
  const ConvProblem p = problem_of(sizes, filter, g, grad.dtype(), last);
  check_gradient(grad, result_sizes(p, sizes, filter));
  return gradient_of_weight(call, p, grad, x, filter);
}

std::array<Array, 2> both_gradients(const Array& grad, const Array& x, const Array& weight, const Geometry& g) {
  const Call call{&grad, &x, &weight};
  const PerAxis sizes = x.sizes(), filter = weight.sizes();
  const bool last = any_channels_last({&x, &weight});
  const ConvProblem p = problem_of(sizes, filter, g, grad.dtype(), last);
  check_gradient(grad, result_sizes(p, sizes, filter));
  Array kept;
  const Array& dy = laid(grad, last, kept);
  std::optional<SharedPieces> pieces;
  if (nervanagpu::precision() == Precision::tensor) pieces.emplace();
  SharedPieces* shared = pieces ? &*pieces : nullptr;
  Array dx = gradient_of_x(call, p, dy, weight, sizes, shared);
  return {std::move(dx), gradient_of_weight(call, p, dy, x, filter, shared)};
}

// --- entered with numbers of 21 bits ------------------------------------------------------------------------------------

namespace {

using Int = std::int64_t;

// Of an x and a weight, or what has as many axes.
Geometry geometry(const Array& x, const Array& weight, Int stride, Int padding, Int dilation, Int groups) {
  const Int axes = weight.axes() - 2;
  if (axes < 1 || axes > 3) refuse(std::to_string(axes) + " spatial axes; needs 1 to 3");
  if (x.axes() != weight.axes()) {
    refuse("x has " + std::to_string(x.axes()) + " axes; needs " + std::to_string(axes + 2));
  }
  return {unpacked("stride", axes, stride, 1, 1), unpacked("padding", axes, padding, 0, 0),
          unpacked("dilation", axes, dilation, 1, 1), groups};
}

// (N, C, ...) of as many axes as `like` has: the last of the three.
PerAxis sizes_of(const Array& like, Int n, Int c, const Triple& spatial) {
  const Int axes = spatial_axes("the gradient", like);
  PerAxis out(static_cast<std::size_t>(axes) + 2);
  out[0] = n, out[1] = c;
  std::copy(spatial.end() - axes, spatial.end(), out.begin() + 2);
  return out;
}

Array convolution(const Array& x, const Array& weight, const std::optional<Array>& bias, Int stride, Int padding,
                  Int dilation, Int groups, Int activation) {
  return convolve(x, weight, bias ? &*bias : nullptr, geometry(x, weight, stride, padding, dilation, groups),
                  activation);
}

Array convolution_input(const Array& grad, const Array& weight, Int n, Int c, Int in0, Int in1, Int in2, Int stride,
                        Int padding, Int dilation, Int groups) {
  return gradient_of_input(grad, weight, sizes_of(grad, n, c, {in0, in1, in2}),
                           geometry(grad, weight, stride, padding, dilation, groups),
                           any_channels_last({&grad, &weight}));
}

Array convolution_weight(const Array& grad, const Array& x, Int k, Int c, Int f0, Int f1, Int f2, Int stride,
                         Int padding, Int dilation, Int groups) {
  return gradient_of_filter(grad, x, sizes_of(grad, k, c, {f0, f1, f2}),
                            geometry(x, grad, stride, padding, dilation, groups), any_channels_last({&grad, &x}));
}

std::array<Array, 2> convolution_gradients(const Array& grad, const Array& x, const Array& weight, Int stride,
                                           Int padding, Int dilation, Int groups) {
  return both_gradients(grad, x, weight, geometry(x, weight, stride, padding, dilation, groups));
}

#define NG_TRIPLE(name) "int " name "0, int " name "1, int " name "2"
#define NG_GEOMETRY "int stride, int padding, int dilation, int groups"
constexpr std::array kConvolutions{
    Operator{"convolution(Tensor x, Tensor weight, Tensor? bias, " NG_GEOMETRY ", int activation) -> Tensor",
             boxed<convolution>},
    Operator{"convolution_input(Tensor grad, Tensor weight, int n, int c, " NG_TRIPLE("in") ", " NG_GEOMETRY
                                                                                            ") -> Tensor",
             boxed<convolution_input>},
    Operator{"convolution_weight(Tensor grad, Tensor x, int k, int c, " NG_TRIPLE("filter") ", " NG_GEOMETRY
                                                                                            ") -> Tensor",
             boxed<convolution_weight>},
    Operator{"convolution_gradients(Tensor grad, Tensor x, Tensor weight, " NG_GEOMETRY ") -> (Tensor, Tensor)",
             boxed<convolution_gradients>}};
#undef NG_GEOMETRY
#undef NG_TRIPLE

}  // namespace

std::span<const Operator> convolutions() {
  return kConvolutions;
}

}  // namespace nervanagpu::python::torch
