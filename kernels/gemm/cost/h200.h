// What the cost models know of the GPU they were fitted to. Bits must not depend on the one that is there.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>

namespace nervanagpu::h200 {

constexpr std::int64_t kProcessors = 132;

// Clusters of 1, 2, ... CTAs, one CTA a multiprocessor, that it holds: they do not cross its groups of multiprocessors.
constexpr std::array<std::int64_t, 8> kClusters = {132, 66, 39, 30, 22, 17, 15, 15};

// The time of two things that go on together and hinder each other a little. No pow(): equal on every machine.
inline double together(double x, double y) {
  x *= x;
  y *= y;
  return std::sqrt(std::sqrt(x * x + y * y));
}

}  // namespace nervanagpu::h200
