// The parameter block of one launch: typed values, checked against the kernel's manifest.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "nervanagpu/tensor_map.hpp"
#include "sass/asm/program.h"

namespace nervanagpu {

class Arguments {
 public:
  static constexpr std::size_t kMaxBytes = 4096;  // what cuLaunchKernel takes

  explicit Arguments(const sass::Manifest& manifest) : manifest_(&manifest) {}

  // The next parameter, in order. Throws Error if the kernel has no more, or wants another type.
  template <class T>
  Arguments& add(T value) {
    put(&value, sizeof value, kind<T>());
    return *this;
  }
  // The packed block. Throws Error if parameters are missing.
  [[nodiscard]] std::span<const std::byte> block() const;

 private:
  template <class T>
  static constexpr sass::ParamType kind() {
    if constexpr (std::is_same_v<T, std::uint64_t>) return sass::ParamType::u64;
    if constexpr (std::is_same_v<T, std::int64_t>) return sass::ParamType::s64;
    if constexpr (std::is_same_v<T, std::uint32_t>) return sass::ParamType::u32;
    if constexpr (std::is_same_v<T, std::int32_t>) return sass::ParamType::s32;
    if constexpr (std::is_same_v<T, float>) return sass::ParamType::f32;
    if constexpr (std::is_same_v<T, double>) return sass::ParamType::f64;
    if constexpr (std::is_same_v<T, EncodedTensorMap>) return sass::ParamType::map;
  }
  void put(const void* value, std::size_t bytes, sass::ParamType type);

  const sass::Manifest* manifest_;
  std::size_t next_ = 0;
  std::size_t used_ = 0;
  alignas(64) std::array<std::byte, kMaxBytes> bytes_;
};

}  // namespace nervanagpu
