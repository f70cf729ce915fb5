// A set of small numbers, sized at run time.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace nervanagpu::sass {

class Bits {
 public:
  Bits() = default;
  explicit Bits(std::size_t n) : words_((n + 63) / 64, 0) {}

  [[nodiscard]] bool test(std::size_t i) const { return words_[i / 64] >> (i % 64) & 1; }
  void set(std::size_t i) { words_[i / 64] |= std::uint64_t{1} << (i % 64); }
  void reset(std::size_t i) { words_[i / 64] &= ~(std::uint64_t{1} << (i % 64)); }

  // Adds the members of `other`, a set of the same size; true if any was new.
  bool merge(const Bits& other) {
    std::uint64_t fresh = 0;
    for (std::size_t w = 0; w < words_.size(); ++w) {
      fresh |= other.words_[w] & ~words_[w];
      words_[w] |= other.words_[w];
    }
    return fresh != 0;
  }

  template <class F>
  void each(const F& f) const {
    for (std::size_t w = 0; w < words_.size(); ++w) {
      for (std::uint64_t rest = words_[w]; rest != 0; rest &= rest - 1) {
        f(static_cast<std::uint32_t>(w * 64 + static_cast<unsigned>(std::countr_zero(rest))));
      }
    }
  }

 private:
  std::vector<std::uint64_t> words_;
};

}  // namespace nervanagpu::sass
