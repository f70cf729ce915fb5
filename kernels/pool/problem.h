// What a pooling problem may be, and the shapes of its tensors.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "nervanagpu/pool.hpp"
#include "nervanagpu/tensor.hpp"

namespace nervanagpu::pool_detail {

using Quad = std::array<std::int64_t, 4>;  // feature maps, depth, height, width

// Throws InvalidArgument or TypeError on anything that cannot be computed, an empty output included.
void check(const PoolProblem& p);

// Elements from pixel to pixel of x and dx, and whether these are slices of wider tensors; channels last.
std::int64_t pitch_of(const PoolProblem& p);
bool apart(const PoolProblem& p);

// Of x (channels and space as in p.in) or y (as in p.out()), with the last `spatial` (1, 2 or 3) of depth, height, width.
Shape shape_of(const PoolProblem& p, const Quad& lengths, int spatial);

std::int64_t volume(const Quad& q);
// Positions of a window.
inline std::int64_t positions(const PoolProblem& p) {
  return volume(p.window);
}

}  // namespace nervanagpu::pool_detail
