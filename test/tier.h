// The two tiers of tests: `make test` computes a part of what is drawn or crossed, always the same; `make test-long`
// (NERVANAGPU_TEST_LONG=1) all of it. Every kernel is launched in both.
#pragma once

#include <cstddef>
#include <cstdlib>

namespace nervanagpu::test {

inline bool long_tier() {
  static const char* const set = std::getenv("NERVANAGPU_TEST_LONG");
  return set != nullptr && *set != '\0';
}

// How many of `all` drawn problems.
inline int drawn(int all) {
  return long_tier() ? all : (all + 3) / 4;
}

// Whether the i-th of a crossing: in the short tier one of `of`.
inline bool in_tier(std::size_t i, std::size_t of) {
  return long_tier() || i % of == 0;
}

}  // namespace nervanagpu::test
