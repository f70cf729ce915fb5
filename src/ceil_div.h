#pragma once

#include <cstdint>

namespace nervanagpu {

// a / b rounded up; a >= 0, b > 0.
constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

}  // namespace nervanagpu
