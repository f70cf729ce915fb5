// Pooling over windows of J feature maps x T x R x S positions, and its gradient.
//
//   max   the largest value of the window; padding does not take part; NaN wins
//   avg   the mean; `count_padding`: padding counts as zeros (divides by J T R S), else only what lies inside counts
//   l2    sqrt(sum of squares)
//
// The gradient of max goes to the first largest element in (j, t, r, s) order; that of l2 is dy x / y, and 0 where y is 0.
// max_pool_fprop saves where these elements are, so that max_pool_bprop reads no x.
// Overlapping windows add up in ascending order of the windows: the same bits every time.
//
// Shapes as in conv.hpp: x (N, D, H, W, C), y (N, M, P, Q, K) and so on, K = floor((C + 2 pad_j - J) / str_j) + 1,
// M, P, Q alike. A window must touch at least one element: pad < window.
#pragma once

#include <array>
#include <cstdint>

#include "nervanagpu/conv.hpp"

namespace nervanagpu {

enum class PoolOp : std::uint8_t { max, avg, l2 };

// Quadruples are (feature maps, depth, height, width).
struct PoolProblem {
  PoolOp op = PoolOp::max;
  Layout layout = Layout::channels_last;
  std::int64_t n = 1;
  std::array<std::int64_t, 4> in = {1, 1, 1, 1};      // C, D, H, W
  std::array<std::int64_t, 4> window = {1, 1, 1, 1};  // J, T, R, S
  std::array<std::int64_t, 4> pad = {0, 0, 0, 0};
  std::array<std::int64_t, 4> stride = {1, 1, 1, 1};
  bool count_padding = false;
  Dtype dtype = Dtype::float32;  // float32, float16 or bfloat16
  // channels_last: elements from pixel to pixel of x and dx, which are channels of wider tensors; 0: C. y and dy have no such.
  std::int64_t x_pitch = 0;

  bool operator==(const PoolProblem&) const = default;
  [[nodiscard]] NG_API std::array<std::int64_t, 4> out() const;  // K, M, P, Q; throws InvalidArgument if one is below 1
};

struct PoolOptions {
  float alpha = 1.0F;  // y = alpha * pool(x) + beta * y; the same for dx
  float beta = 0.0F;   // 0: the result's old content is not read
  Rounding rounding;
  Stream stream;
  // max_pool_fprop: x is the result of a ReLU, whose gradient max_pool_bprop shall take along: where the largest element is not above
  // 0 (or is NaN), nothing gets dy. y stays what it is.
  bool relu = false;
};

// On tensors, contiguous in the problem's layout; with channels last x and dx may be slices of the last axis of such, both
// alike where both are read or written. The result is written in place and shares no memory with the others; what lies beside a
// slice is neither read nor written. dx as a slice has no stochastic rounding.
NG_API void pool_fprop(const PoolProblem& p, const Tensor& x, Tensor& y, const PoolOptions& options = {});
// The window's largest element and its root are found again from x.
NG_API void pool_bprop(const PoolProblem& p, const Tensor& dy, const Tensor& x, Tensor& dx,
                       const PoolOptions& options = {});

// On device addresses: queues one kernel and returns; may be captured in a CUDA graph.
NG_API void pool_fprop(const PoolProblem& p, std::uint64_t x, std::uint64_t y, const PoolOptions& options = {});
NG_API void pool_bprop(const PoolProblem& p, std::uint64_t dy, std::uint64_t x, std::uint64_t dx,
                       const PoolOptions& options = {});

// max whose gradient needs no x: `argmax` has a code for each window, where its first largest element is. Windows of one feature
// map and of at most 255 positions. Results are the bits of pool_fprop and pool_bprop (with relu: and of relu's gradient after it).
//
// The codes of y's elements, in their order: 4 bits each, the first in the lower half of a byte, where windows have at most 15
// positions and C (channels last) or N (batch last) is a multiple of 8 (float32: of 4); x, y, dy and dx then begin at multiples
// of 16 bytes, and x_pitch is one. Else a byte each. A code is the position's number in (t, r, s) order, or all ones: none.
NG_API std::int64_t pool_argmax_bytes(const PoolProblem& p);
// argmax: uint8, contiguous, pool_argmax_bytes() of them.
NG_API void max_pool_fprop(const PoolProblem& p, const Tensor& x, Tensor& y, Tensor& argmax,
                           const PoolOptions& options = {});
NG_API void max_pool_bprop(const PoolProblem& p, const Tensor& dy, const Tensor& argmax, Tensor& dx,
                           const PoolOptions& options = {});
// On device addresses: one kernel, as above.
NG_API void max_pool_fprop(const PoolProblem& p, std::uint64_t x, std::uint64_t y, std::uint64_t argmax,
                           const PoolOptions& options = {});
NG_API void max_pool_bprop(const PoolProblem& p, std::uint64_t dy, std::uint64_t argmax, std::uint64_t dx,
                           const PoolOptions& options = {});

// Which elements of x these codes mean (of fprop without relu): int64, an element's number in its plane of depth, height and width.
// In y's order, contiguous.
NG_API void max_pool_indices(const PoolProblem& p, const Tensor& argmax, Tensor& indices, const Stream& stream = {});
NG_API void max_pool_indices(const PoolProblem& p, std::uint64_t argmax, std::uint64_t indices,
                             const Stream& stream = {});

}  // namespace nervanagpu
