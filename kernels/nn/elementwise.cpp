// The element-wise operations of nn.hpp: what their tensors mean, as expressions.
#include <cmath>
#include <iterator>
#include <string>
#include <string_view>

#include "kernels/nn/checks.h"
#include "kernels/nn/expressions.h"
#include "kernels/nn/launch.h"
#include "nervanagpu/error.hpp"
#include "nervanagpu/nn.hpp"
#include "src/device/placement.h"

namespace nervanagpu {
namespace {

using nn::Named;
using nn::values;

// Checks of y = op(a, ...) with y like a.
void check_result(const Named& a, const Named& y, const Rounding& rounding) {
  nn::check_float(a);
  nn::check_contiguous(a);
  nn::check_like(y, a);
  nn::check_contiguous(y);
  nn::check_rounding(a.op, rounding, y.t.dtype());
  nn::check_apart_or_same(y, a);
}

Expr where(const Expr& condition, const Expr& x, const Expr& y) {
  return apply(ExprOp::where, {condition, x, y});
}
Expr positive(const Expr& x) {
  return apply(ExprOp::greater, {x, 0});
}
Expr maximum(const Expr& x, const Expr& y) {
  return apply(ExprOp::maximum, {x, y});
}
Expr tanh(const Expr& x) {
  return apply(ExprOp::tanh, {x});
}
Expr sig(const Expr& x) {
  return apply(ExprOp::sig, {x});
}

// Of leaky_relu the sign of y must tell the sign of x.
void check_function(const char* op, Activation f, float slope) {
  if (static_cast<std::size_t>(f) >= std::size(kActivationNames)) {
    throw InvalidArgument(std::string(op) + ": f is " + std::to_string(static_cast<int>(f)) + "; needs an Activation");
  }
  if (f == Activation::leaky_relu && !(slope >= 0.0F && std::isfinite(slope))) {
    throw InvalidArgument(std::string(op) + ": slope is " + std::to_string(slope) + "; needs a number, 0 or more");
  }
}

Expr value_of(Activation f, const Expr& x, float slope) {
  switch (f) {
#define NG_NN_ACTIVATION(name, value, gradient) \
  case Activation::name:                        \
    return value;
#include "nervanagpu/nn_activations.inc"
#undef NG_NN_ACTIVATION
  }
  return x;
}
Expr gradient_of(Activation f, const Expr& y, const Expr& dy, float slope) {
  switch (f) {
#define NG_NN_ACTIVATION(name, value, gradient) \
  case Activation::name:                        \
    return gradient;
#include "nervanagpu/nn_activations.inc"
#undef NG_NN_ACTIVATION
  }
  return dy;
}

// b is one axis of x, the last or the first; the length of its rows.
std::int64_t check_axis(const Named& x, const char* name, const Tensor& b, bool last) {
  if (x.t.ndim() == 0) throw InvalidArgument(std::string(x.op) + ": " + x.name + " has no axis; needs 1 or more");
  const Shape wanted = {last ? x.t.shape().back() : x.t.shape().front()};
  nn::check_shape({x.op, name, b}, wanted, last ? "the length of the last axis" : "the length of the first axis");
  return last ? wanted[0] : (wanted[0] == 0 ? 0 : x.t.size() / wanted[0]);
}

// Which elements are kept: the largest word that is less than keep * 2^32, which a double holds exactly.
Expr kept(std::int64_t count, float keep, std::uint64_t seed, std::uint64_t offset) {
  const auto most = static_cast<std::int64_t>(std::ceil(static_cast<double>(keep) * 4294967296.0) - 1.0);
  return apply(ExprOp::less_equal, {random_words({count}, seed, offset), most});
}
void check_keep(float keep) {
  if (keep > 0.0F && keep <= 1.0F) return;
  throw InvalidArgument("dropout: keep is " + std::to_string(keep) + "; needs more than 0 and at most 1");
}

}  // namespace

Activation activation_named(std::string_view name) {
  constexpr std::size_t kCount = std::size(kActivationNames);
  std::string all;
  for (std::size_t i = 0; i < kCount; ++i) {
    if (kActivationNames[i] == name) return static_cast<Activation>(i);
    all.append(i == 0 ? "" : i + 1 == kCount ? " or " : ", ").append(kActivationNames[i]);
  }
  throw InvalidArgument("activation is '" + std::string(name) + "'; needs " + all);
}

void add(const Tensor& a, const Tensor& b, Tensor& out, float alpha, float beta, const Rounding& rounding,
         const Stream& stream) {
  const Placed placed("add", {{"a", a}, {"b", b}, {"out", out}, {"stream", stream}});
  const Named na = {"add", "a", a};
  check_result(na, {"add", "out", out}, rounding);
  nn::check_like({"add", "b", b}, na);
  nn::check_contiguous({"add", "b", b});
  nn::check_apart_or_same({"add", "out", out}, {"add", "b", b});
  if (a.size() == 0) return;
  const Expr scaled = values(a) * alpha;
  nn::write(out, beta == 0.0F ? scaled : fma(values(b), beta, scaled), rounding, stream);
}

void activation_fprop(Activation f, const Tensor& x, Tensor& y, float slope, const Rounding& rounding,
                      const Stream& stream) {
  const Placed placed("activation", {{"x", x}, {"y", y}, {"stream", stream}});
  check_result({"activation", "x", x}, {"activation", "y", y}, rounding);
  check_function("activation", f, slope);
  if (x.size() == 0) return;
  nn::write(y, value_of(f, values(x), slope), rounding, stream);
}

void activation_bprop(Activation f, const Tensor& y, const Tensor& dy, Tensor& dx, float slope,
                      const Rounding& rounding, const Stream& stream) {
  const Placed placed("activation_bprop", {{"y", y}, {"dy", dy}, {"dx", dx}, {"stream", stream}});
  const Named named = {"activation_bprop", "y", y};
  check_result(named, {"activation_bprop", "dx", dx}, rounding);
  nn::check_like({"activation_bprop", "dy", dy}, named);
  nn::check_contiguous({"activation_bprop", "dy", dy});
  nn::check_apart_or_same({"activation_bprop", "dx", dx}, {"activation_bprop", "dy", dy});
  check_function("activation_bprop", f, slope);
  if (y.size() == 0) return;
  nn::write(dx, gradient_of(f, values(y), values(dy), slope), rounding, stream);
}

void bias_add(const Tensor& x, const Tensor& bias, bool channel_last, Tensor& y, const Rounding& rounding,
              const Stream& stream) {
  const Placed placed("bias_add", {{"x", x}, {"bias", bias}, {"y", y}, {"stream", stream}});
  const Named nx = {"bias_add", "x", x};
  const Named nb = {"bias_add", "bias", bias};
  check_result(nx, {"bias_add", "y", y}, rounding);
  nn::check_float(nb);
  const std::int64_t row = check_axis(nx, "bias", bias, channel_last);
  nn::check_contiguous(nb);
  nn::check_apart({"bias_add", "y", y}, nb);
  if (x.size() == 0 || row == 0) return;
  const Shape rows = {x.size() / row, row};
  nn::write(y, values(x, rows) + values(bias, {channel_last ? 1 : rows[0], channel_last ? row : 1}), rounding, stream);
}

void softmax_bprop(const Tensor& probs, const Tensor& labels, Tensor& dlogits, float scale, const Rounding& rounding,
                   const Stream& stream) {
  const Placed placed("softmax_bprop",
                      {{"probs", probs}, {"labels", labels}, {"dlogits", dlogits}, {"stream", stream}});
  const Named np = {"softmax_bprop", "probs", probs};
  const Named nl = {"softmax_bprop", "labels", labels};
  check_result(np, {"softmax_bprop", "dlogits", dlogits}, rounding);
  if (probs.ndim() != 2 || probs.shape()[1] >= std::int64_t{1} << 30) {
    throw InvalidArgument("softmax_bprop: probs has " + std::to_string(probs.ndim()) +
                          " axes; needs 2, (rows, classes), and less than 2^30 classes");
  }
  nn::check_dtype(nl, Dtype::int32);
  nn::check_shape(nl, {probs.shape()[0]}, "one for each row of probs");
  nn::check_contiguous(nl);
  nn::check_apart({"softmax_bprop", "dlogits", dlogits}, nl);
  if (probs.size() == 0) return;
  const Expr p = values(probs, probs.shape());
  const Expr label = Expr(labels.reshape({labels.size(), 1}));
  const Expr hit = apply(ExprOp::equal, {label, indices(probs.shape()[1])});
  nn::write(dlogits, where(hit, p - 1, p) * scale, rounding, stream);
}

void dropout(const Tensor& x, Tensor& y, float keep, std::uint64_t seed, std::uint64_t offset, const Rounding& rounding,
             const Stream& stream) {
  const Placed placed("dropout", {{"x", x}, {"y", y}, {"stream", stream}});
  check_result({"dropout", "x", x}, {"dropout", "y", y}, rounding);
  check_keep(keep);
  if (x.size() == 0) return;
  nn::write(y, where(kept(x.size(), keep, seed, offset), values(x) * (1.0F / keep), 0), rounding, stream);
}

void dropout_mask(Tensor& mask, float keep, std::uint64_t seed, std::uint64_t offset, const Stream& stream) {
  const Placed placed("dropout", {{"mask", mask}, {"stream", stream}});
  const Named nm = {"dropout", "mask", mask};
  nn::check_dtype(nm, Dtype::uint8);
  nn::check_contiguous(nm);
  check_keep(keep);
  if (mask.size() == 0) return;
  const fuse::Write one = {mask.reshape({mask.size()}), cast(kept(mask.size(), keep, seed, offset), Dtype::uint8)};
  fuse::run_now({&one, 1}, stream);
}

void dropout(const Tensor& x, const Tensor& mask, Tensor& y, float keep, const Rounding& rounding,
             const Stream& stream) {
  const Placed placed("dropout", {{"x", x}, {"mask", mask}, {"y", y}, {"stream", stream}});
  const Named nx = {"dropout", "x", x};
  const Named nm = {"dropout", "mask", mask};
  check_result(nx, {"dropout", "y", y}, rounding);
  nn::check_dtype(nm, Dtype::uint8);
  nn::check_shape(nm, x.shape(), "that of x");
  nn::check_contiguous(nm);
  nn::check_apart({"dropout", "y", y}, nm);
  check_keep(keep);
  if (x.size() == 0) return;
  const Expr stays = apply(ExprOp::not_equal, {Expr(mask.reshape({mask.size()})), 0});
  nn::write(y, where(stays, values(x) * (1.0F / keep), 0), rounding, stream);
}

}  // namespace nervanagpu
