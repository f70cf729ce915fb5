// How an operand of planned work is aligned, as an address tells it.
#pragma once

#include <cstdint>

namespace nervanagpu {

inline constexpr std::uint64_t kMostPlannedAlignment = 16;  // nothing asks for more

// Bytes: 0 promises the most, any other address what it has itself, up to the most.
constexpr std::uint64_t planned_alignment(std::uint64_t address) {
  const std::uint64_t low = address & (~address + 1);
  return low == 0 || low > kMostPlannedAlignment ? kMostPlannedAlignment : low;
}

}  // namespace nervanagpu
