// Element types. All of them can be stored, sliced and copied; each operation says which of them it computes with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "nervanagpu/export.hpp"

namespace nervanagpu {

enum class Dtype : std::uint8_t {
  float16,
  float32,
  float64,
  int8,
  int16,
  int32,
  int64,
  uint8,
  uint16,
  uint32,
  uint64,
  boolean,
  bfloat16  // the upper half of a float32
};

NG_API std::size_t size_of(Dtype dtype) noexcept;       // bytes
NG_API std::string_view name_of(Dtype dtype) noexcept;  // NumPy's: "float32", "bool"
NG_API std::optional<Dtype> dtype_from_name(std::string_view name) noexcept;

}  // namespace nervanagpu
