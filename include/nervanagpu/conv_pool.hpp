// A convolution, its relu and the max pool after it: in one kernel, where there is one, which does not write what lies between.
#pragma once

#include <cstdint>

#include "nervanagpu/conv.hpp"
#include "nervanagpu/pool.hpp"

namespace nervanagpu {

// Of q only op, window, pad and stride are looked at: it is a max pool of p's result, in p's layout.
NG_API PoolProblem pool_behind(const ConvProblem& p, const PoolProblem& q);

// Whether one kernel computes it for operands that begin at multiples of 16 bytes: today first layers of at most four channels and 64
// filters with a stride of 1 and an even width, and windows of 2 x 2 with a stride of 2. A function of the problems, of
// options.relu, activation, mask and rounding, and of the device. Throws as conv() and pool_fprop() do.
NG_API bool conv_max_pool_is_one_kernel(const ConvProblem& p, const PoolProblem& q, const ConvOptions& options);

// y = max pool of conv_fprop's result; argmax: as of max_pool_fprop with PoolOptions::relu = options.relu, or null. One kernel's
// sums are narrow.sass's, of 16 products along a line, whichever kernel conv_fprop would take; rounding, maxima and codes are
// those of the two. Where it is not one kernel, what lies between is in memory of the library's pool. options.alpha is the
// convolution's; beta is 0, and there is no mask, no sums and no stochastic rounding. Queues kernels and returns; may be captured in a
// CUDA graph.
NG_API void conv_max_pool_fprop(const ConvProblem& p, const PoolProblem& q, const Tensor& x, const Tensor& w, Tensor& y,
                                Tensor* argmax, const ConvOptions& options);
// On device addresses: pointers.in1, in2, out and bias; argmax: 0: none.
NG_API void conv_max_pool_fprop(const ConvProblem& p, const PoolProblem& q, const ConvPointers& pointers,
                                std::uint64_t argmax, const ConvOptions& options);

}  // namespace nervanagpu
