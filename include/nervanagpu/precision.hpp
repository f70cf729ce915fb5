// How float32 operands are multiplied.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "nervanagpu/export.hpp"

namespace nervanagpu {

enum class Precision : std::uint8_t {
  strict,  // by fused multiply-adds of float32: the same bits on every device
  // By the tensor cores of sm_90a, on ordinary data no less exact (docs/numerics.md): three products of two float16 pieces,
  // or six of three bfloat16 pieces; elsewhere strict.
  tensor
};

NG_API std::string_view name_of(Precision precision);  // "strict" or "tensor"
NG_API std::optional<Precision> precision_from_name(std::string_view name);

// What GemmOptions and products of expressions that this thread makes from now on ask for. At first strict.
NG_API Precision precision() noexcept;
// Throws InvalidArgument for a number that is none of them.
NG_API void set_precision(Precision precision);

}  // namespace nervanagpu
