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
  bfloat16,   // the upper half of a float32
  complex64,  // two float32: the real part and, after it, the imaginary one
  complex128
};

NG_API std::size_t size_of(Dtype dtype) noexcept;       // bytes
NG_API std::string_view name_of(Dtype dtype) noexcept;  // NumPy's: "float32", "bool"
NG_API std::size_t alignment_of(Dtype dtype) noexcept;  // of an element's address: its bytes, of complex ones a part's
NG_API std::optional<Dtype> dtype_from_name(std::string_view name) noexcept;

constexpr bool is_complex(Dtype dtype) noexcept {
  return dtype == Dtype::complex64 || dtype == Dtype::complex128;
}
// float32 of complex64, float64 of complex128; others as they are.
constexpr Dtype part_of(Dtype dtype) noexcept {
  return dtype == Dtype::complex64 ? Dtype::float32 : dtype == Dtype::complex128 ? Dtype::float64 : dtype;
}
// Whose parts hold the numbers of a real dtype of 32 bits or less, or of 64.
constexpr Dtype complex_of(Dtype part) noexcept {
  return part == Dtype::float64 ? Dtype::complex128 : Dtype::complex64;
}

}  // namespace nervanagpu
