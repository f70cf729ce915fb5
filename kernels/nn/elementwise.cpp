// The element-wise operations of nn.hpp: what their tensors mean, as launches of map.sass.
#include <cmath>
#include <string>

#include "kernels/nn/checks.h"
#include "kernels/nn/launch.h"
#include "kernels/nn/map.h"
#include "nervanagpu/error.hpp"
#include "nervanagpu/nn.hpp"
#include "src/select_device.h"

namespace nervanagpu {
namespace {

using nn::Map;
using nn::Named;

// Checks of y = op(a, ...) with y like a.
void check_result(const Named& a, const Named& y, const Rounding& rounding) {
  nn::check_float(a);
  nn::check_contiguous(a);
  nn::check_like(y, a);
  nn::check_contiguous(y);
  nn::check_rounding(a.op, rounding, y.t.dtype());
  nn::check_apart_or_same(y, a);
}

Map map_of(const std::string& op, const Tensor& a, const Tensor& y, const Rounding& rounding) {
  Map m;
  m.op = op;
  m.dtype = m.b_dtype = a.dtype();
  m.a = a.address();
  m.y = y.address();
  m.elements = a.size();
  m.rounding = rounding;
  return m;
}

void launch(const Map& m, const Stream& stream, std::initializer_list<const Tensor*> used) {
  nn::run(current_device(), m, stream.handle());
  for (const Tensor* t : used) t->used_on(stream);
}

const char* word_of(Activation f) {
  switch (f) {
    case Activation::relu: return "relu";
    case Activation::leaky_relu: return "leaky";
    case Activation::tanh: return "tanh";
    case Activation::sigmoid: return "sigmoid";
    default: return "add";
  }
}

// The sign of y must tell the sign of x.
void check_slope(const char* op, Activation f, float slope) {
  if (f == Activation::leaky_relu && !(slope >= 0.0F && std::isfinite(slope))) {
    throw InvalidArgument(std::string(op) + ": slope is " + std::to_string(slope) + "; needs a number, 0 or more");
  }
}

// b is one axis of x, the last or the first; the length of its rows.
std::int64_t check_axis(const Named& x, const char* name, const Tensor& b, bool last) {
  if (x.t.ndim() == 0) throw InvalidArgument(std::string(x.op) + ": " + x.name + " has no axis; needs 1 or more");
  const Shape wanted = {last ? x.t.shape().back() : x.t.shape().front()};
  nn::check_shape({x.op, name, b}, wanted, last ? "the length of the last axis" : "the length of the first axis");
  return last ? wanted[0] : (wanted[0] == 0 ? 0 : x.t.size() / wanted[0]);
}

}  // namespace

void add(const Tensor& a, const Tensor& b, Tensor& out, float alpha, float beta, const Rounding& rounding,
         const Stream& stream) {
  const Named na = {"add", "a", a};
  check_result(na, {"add", "out", out}, rounding);
  nn::check_like({"add", "b", b}, na);
  nn::check_contiguous({"add", "b", b});
  nn::check_apart_or_same({"add", "out", out}, {"add", "b", b});
  Map m = map_of("add", a, out, rounding);
  m.b = b.address();
  m.alpha = alpha;
  m.beta = beta;
  launch(m, stream, {&a, &b, &out});
}

void activation_fprop(Activation f, const Tensor& x, Tensor& y, float slope, const Rounding& rounding,
                      const Stream& stream) {
  check_result({"activation", "x", x}, {"activation", "y", y}, rounding);
  check_slope("activation", f, slope);
  Map m = map_of(word_of(f), x, y, rounding);
  m.b = m.a;
  m.alpha = f == Activation::leaky_relu ? slope : 1.0F;
  m.beta = 0.0F;  // identity: only a of add
  launch(m, stream, {&x, &y});
}

void activation_bprop(Activation f, const Tensor& y, const Tensor& dy, Tensor& dx, float slope,
                      const Rounding& rounding, const Stream& stream) {
  const Named named = {"activation_bprop", "y", y};
  check_result(named, {"activation_bprop", "dx", dx}, rounding);
  nn::check_like({"activation_bprop", "dy", dy}, named);
  nn::check_contiguous({"activation_bprop", "dy", dy});
  nn::check_apart_or_same({"activation_bprop", "dx", dx}, {"activation_bprop", "dy", dy});
  check_slope("activation_bprop", f, slope);
  const bool identity = f == Activation::identity;
  Map m = map_of(identity ? "add" : std::string(word_of(f)) + "_grad", identity ? dy : y, dx, rounding);
  m.b = dy.address();
  m.alpha = f == Activation::leaky_relu ? slope : 1.0F;
  m.beta = 0.0F;
  launch(m, stream, {&y, &dy, &dx});
}

void bias_add(const Tensor& x, const Tensor& bias, bool channel_last, Tensor& y, const Rounding& rounding,
              const Stream& stream) {
  const Named nx = {"bias_add", "x", x};
  const Named nb = {"bias_add", "bias", bias};
  check_result(nx, {"bias_add", "y", y}, rounding);
  nn::check_float(nb);
  const std::int64_t row = check_axis(nx, "bias", bias, channel_last);
  nn::check_contiguous(nb);
  nn::check_apart({"bias_add", "y", y}, nb);
  if (x.size() == 0) return;
  Map m = map_of(channel_last ? "bias_last" : "bias_first", x, y, rounding);
  m.b = bias.address();
  m.b_dtype = bias.dtype();
  m.divisor = row;
  launch(m, stream, {&x, &bias, &y});
}

void softmax_bprop(const Tensor& probs, const Tensor& labels, Tensor& dlogits, float scale, const Rounding& rounding,
                   const Stream& stream) {
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
  Map m = map_of("onehot_grad", probs, dlogits, rounding);
  m.b = labels.address();
  m.b_dtype = Dtype::int32;
  m.divisor = probs.shape()[1];
  m.alpha = scale;
  launch(m, stream, {&probs, &labels, &dlogits});
}

void dropout(const Tensor& x, Tensor& y, float keep, std::uint64_t seed, std::uint64_t offset, const Rounding& rounding,
             const Stream& stream) {
  check_result({"dropout", "x", x}, {"dropout", "y", y}, rounding);
  if (!(keep > 0.0F && keep <= 1.0F)) {
    throw InvalidArgument("dropout: keep is " + std::to_string(keep) + "; needs more than 0 and at most 1");
  }
  Map m = map_of("dropout", x, y, rounding);
  m.alpha = 1.0F / keep;
  // The largest word that is less than keep * 2^32, which a double holds exactly.
  m.keep = static_cast<std::uint32_t>(std::ceil(static_cast<double>(keep) * 4294967296.0) - 1.0);
  m.mask_seed = seed;
  m.mask_counter = offset;
  launch(m, stream, {&x, &y});
}

}  // namespace nervanagpu
