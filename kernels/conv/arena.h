// A workspace in parts.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace nervanagpu::conv_detail {

// So that each part begins where any kernel can read.
constexpr std::size_t aligned(std::size_t bytes) {
  constexpr std::size_t kAlign = 256;
  return (bytes + kAlign - 1) / kAlign * kAlign;
}

// Memory of the workspace, from its start; nothing is given back but down to a mark.
class Arena {
 public:
  explicit Arena(std::uint64_t base) : base_(base) {}
  std::uint64_t take(std::int64_t bytes) {
    const std::uint64_t at = base_ + used_;
    used_ += aligned(static_cast<std::size_t>(bytes));
    most_ = std::max(most_, used_);
    return at;
  }
  [[nodiscard]] std::size_t mark() const { return used_; }
  void release(std::size_t mark) { used_ = mark; }
  [[nodiscard]] std::size_t most() const { return most_; }

 private:
  std::uint64_t base_;
  std::size_t used_ = 0, most_ = 0;
};

}  // namespace nervanagpu::conv_detail
