// Results in double, of values that are doubles: exact where every sum is, and good to 2^-53 elsewhere.
#pragma once

#include "nervanagpu/conv.hpp"
#include "nervanagpu/gemm.hpp"
#include "nervanagpu/pool.hpp"
#include "test/gpu/numbers.h"

namespace nervanagpu::gpu_test {

// A[m,k] B[k,n] as m x n without gaps; `a` and `b` are stored as the problem says, from its first elements.
Values product(const GemmProblem& p, const Values& a, const Values& b);

// The pass without alpha, beta, bias and relu; operands and result in the problem's layout.
Values convolution(ConvPass pass, const ConvProblem& p, const Values& in1, const Values& in2);
// How many products one element of the result adds up, at most.
std::int64_t terms(ConvPass pass, const ConvProblem& p);

struct Pooled {
  Values value;
  Values size;             // what the error is relative to: the sum of absolute terms
  std::int64_t terms = 0;  // additions, multiplications, a division and a root: at most
};
Pooled pooling(const PoolProblem& p, const Values& x);
Pooled pooling_gradient(const PoolProblem& p, const Values& dy, const Values& x);
// What max_pool_fprop writes to argmax, in codes of 4 or 8 bits. x: finite.
Bytes pooling_places(const PoolProblem& p, const Values& x, bool relu, int bits);

// (outer, inner, spatial) without gaps to and from a layout: x with (N, C), y with (N, K), w with (K, C/groups).
Values to_first(const Values& in, Layout layout, std::int64_t outer, std::int64_t inner, std::int64_t spatial);
Values from_first(const Values& in, Layout layout, std::int64_t outer, std::int64_t inner, std::int64_t spatial);

}  // namespace nervanagpu::gpu_test
