// A hash of several numbers, for keys of unordered maps. Where numbers are told apart by equality any mixing will do.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace nervanagpu {

class MixedHash {
 public:
  template <class T>
  requires std::integral<T> || std::is_enum_v<T> MixedHash& add(T v) {
    constexpr std::uint64_t kPrime = 0x9e3779b97f4a7c15;
    constexpr int kHalf = 29;
    h_ = (h_ ^ static_cast<std::uint64_t>(v)) * kPrime;
    h_ ^= h_ >> kHalf;
    return *this;
  }
  template <class Range>
  MixedHash& add_each(const Range& all) {
    for (const auto& v : all) add(v);
    return *this;
  }
  [[nodiscard]] std::size_t value() const { return static_cast<std::size_t>(h_); }

 private:
  std::uint64_t h_ = 0;
};

}  // namespace nervanagpu
