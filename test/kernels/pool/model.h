// Pooling by its definition, in two ways: with every float32 operation in the order that the kernels promise, which gives
// their bits, and in float64 with the error that float32 may make.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "nervanagpu/pool.hpp"

namespace nervanagpu::test {

enum class PoolPass : std::uint8_t { fprop, bprop };

std::int64_t x_elements(const PoolProblem& p);
std::int64_t y_elements(const PoolProblem& p);

// What a pass adds up, before alpha, beta and rounding; x and dy in the problem's layout. dy is for bprop.
std::vector<float> pool_bits(PoolPass pass, const PoolProblem& p, const std::vector<float>& x,
                             const std::vector<float>& dy);

struct Bounded {
  std::vector<double> value;
  // What the kernels' `.bound` asks for: the sum of the absolute values of what is added (avg: of the means; fprop's l2 and
  // max: the absolute value), the most elements of a window, and the windows that give to an element.
  std::vector<double> size, terms, windows;
};
// For finite values of moderate size.
Bounded pool_exact(PoolPass pass, const PoolProblem& p, const std::vector<float>& x, const std::vector<float>& dy);

// Any layout, type and operation; windows over space, over feature maps too, larger than the input, apart, overlapping;
// lengths that are odd, prime, 1, or a multiple of 8.
PoolProblem random_pool(std::mt19937& random, std::int64_t most_elements);
std::string text_of(const PoolProblem& p);

}  // namespace nervanagpu::test
