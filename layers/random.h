// Numbers on the host that depend on a seed alone: initial weights and the order of samples.
#pragma once

#include <cstdint>
#include <vector>

namespace nervanagpu::layers {

// A seed for one of many purposes.
std::uint64_t mix(std::uint64_t seed, std::uint64_t purpose);

// Uniform in (-bound, bound): word i % 4 of Philox4x32-10(seed, i / 4), in whole steps of bound / 2^23.
void fill_uniform(std::vector<float>& values, double bound, std::uint64_t seed);

// 0 .. count - 1 in an order of its own for each seed.
std::vector<std::int64_t> shuffled(std::int64_t count, std::uint64_t seed);

}  // namespace nervanagpu::layers
