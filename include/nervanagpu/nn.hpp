// The small operations that layers need besides GEMM, convolution and pooling, each one kernel, or few for sums.
// Tensors are contiguous, float32, float16 or bfloat16 unless said otherwise; arithmetic is float32; results are written in place.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "nervanagpu/export.hpp"
#include "nervanagpu/rounding.hpp"
#include "nervanagpu/stream.hpp"
#include "nervanagpu/tensor.hpp"

namespace nervanagpu {

// to[i0, i1, ...] = from[i0, i1, ...] with conversion (float16, float32, int8, uint8, int32): both of the same shape, up to
// 5 axes, any strides (so: transposes and layout changes). Floats to integers truncate and saturate; NaN becomes 0.
NG_API void convert(const Tensor& from, Tensor& to, const Rounding& rounding = {}, const Stream& stream = {});

// out = alpha * a + beta * b; a, b, out of one shape; out may be a or b. beta = 0: b is not read.
NG_API void add(const Tensor& a, const Tensor& b, Tensor& out, float alpha = 1.0F, float beta = 1.0F,
                const Rounding& rounding = {}, const Stream& stream = {});

enum class Activation : std::uint8_t {
#define NG_NN_ACTIVATION(name, value, gradient) name,
#include "nervanagpu/nn_activations.inc"
#undef NG_NN_ACTIVATION
};
// Their names, in that order.
inline constexpr std::string_view kActivationNames[] = {
#define NG_NN_ACTIVATION(name, value, gradient) #name,
#include "nervanagpu/nn_activations.inc"
#undef NG_NN_ACTIVATION
};
// Throws InvalidArgument, which lists them, for another one.
NG_API Activation activation_named(std::string_view name);

// y = f(x); y may be x. `slope`: of leaky_relu for x < 0.
NG_API void activation_fprop(Activation f, const Tensor& x, Tensor& y, float slope = 0.01F,
                             const Rounding& rounding = {}, const Stream& stream = {});
// dx = dy * f'(x), found from y = f(x); dx may be dy. relu: the gradient at 0 is 0.
NG_API void activation_bprop(Activation f, const Tensor& y, const Tensor& dy, Tensor& dx, float slope = 0.01F,
                             const Rounding& rounding = {}, const Stream& stream = {});

// y[.., j] = x[.., j] + bias[j] along the last axis (channel_last) or y[i, ..] = x[i, ..] + bias[i] along the first.
NG_API void bias_add(const Tensor& x, const Tensor& bias, bool channel_last, Tensor& y, const Rounding& rounding = {},
                     const Stream& stream = {});
// db = alpha * (sum of dy over all axes but that one) + beta * db, in a fixed order.
NG_API void bias_grad(const Tensor& dy, bool channel_last, Tensor& db, float alpha = 1.0F, float beta = 0.0F,
                      const Rounding& rounding = {}, const Stream& stream = {});

// activation_bprop of relu in place, dy = dy * relu'(y), then bias_grad of it, but dy is read once.
NG_API void relu_bias_bprop(const Tensor& y, Tensor& dy, bool channel_last, Tensor& db, const Stream& stream = {});

// g = grad + weight_decay * w; v = momentum * v + g; w = w - lr * v.
// master (float32, may be null): the weights that are updated; w is then their rounded copy.
// `rate` (float32, one element, may be null): takes the place of lr and is read when the work is done, so that a graph that
// is replayed has another one.
struct SgdOptions {
  float lr = 0.01F, momentum = 0.0F, weight_decay = 0.0F;
  Rounding rounding;  // of w
  Stream stream;
  const Tensor* rate = nullptr;
};
NG_API void sgd_update(Tensor& w, Tensor* master, Tensor& velocity, const Tensor& grad, const SgdOptions& options);

// Rows of `logits` (rows, classes): probs = softmax; loss[row] = -log(probs[row, label[row]]) (float32). labels: int32.
// A label outside 0 .. classes - 1 gives a NaN loss. `loss` and `labels` may be null (then only probs).
NG_API void softmax_fprop(const Tensor& logits, const Tensor* labels, Tensor& probs, Tensor* loss,
                          const Stream& stream = {});
// hits[row] = 1 where the first largest element of the row is number labels[row], else 0 (float32, (rows,)). A row that has a NaN
// hits nothing.
NG_API void count_hits(const Tensor& probs, const Tensor& labels, Tensor& hits, const Stream& stream = {});
// dlogits = scale * (probs - onehot(label)).
NG_API void softmax_bprop(const Tensor& probs, const Tensor& labels, Tensor& dlogits, float scale,
                          const Rounding& rounding = {}, const Stream& stream = {});

// y[i] = x[i] / keep where element i is kept (probability keep), else 0; the same (seed, offset) gives the same mask, so
// this is the gradient too. Element i is kept if word i % 4 of Philox4x32-10(seed, offset + i / 4) < keep * 2^32.
NG_API void dropout(const Tensor& x, Tensor& y, float keep, std::uint64_t seed, std::uint64_t offset,
                    const Rounding& rounding = {}, const Stream& stream = {});

// The same in two parts, for a graph that is replayed with other random numbers: mask (uint8, of x's shape) = 1 where element i
// is kept, else 0; and y[i] = x[i] / keep where the mask is not 0, else 0.
NG_API void dropout_mask(Tensor& mask, float keep, std::uint64_t seed, std::uint64_t offset, const Stream& stream = {});
NG_API void dropout(const Tensor& x, const Tensor& mask, Tensor& y, float keep, const Rounding& rounding = {},
                    const Stream& stream = {});

// Mean and largest absolute value; waits.
struct Statistics {
  double mean_abs = 0.0;
  double max_abs = 0.0;  // NaN if there is one
};
NG_API Statistics statistics(const Tensor& x, const Stream& stream = {});

}  // namespace nervanagpu
