// What a product and a convolution make of a sum before they store it.
#pragma once

#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>

namespace nervanagpu {

// What act is, of float32 numbers: activations.inc says which is what. NaN stays NaN, and minus infinity gives the limit. An
// int32 result has none or relu; drelu is of float32, float16 and bfloat16.
enum class GemmActivation : std::uint8_t {
#define NG_ACTIVATION(name, c_name, reads, value, ulps, ...) name,
#include "nervanagpu/activations.inc"
#undef NG_ACTIVATION
};

// What an activation is a function of: the sum alone, or also bounds or a mask.
enum class ActivationReads : std::uint8_t { sum, bounds, mask };

struct ActivationRow {
  GemmActivation activation;
  std::string_view name;
  ActivationReads reads;
};
// All of them, in the order of their numbers.
inline constexpr ActivationRow kActivations[] = {
#define NG_ACTIVATION(name, c_name, reads, value, ulps, ...) {GemmActivation::name, #name, ActivationReads::reads},
#include "nervanagpu/activations.inc"
#undef NG_ACTIVATION
};

// None for what is no activation's number, or name.
constexpr std::optional<ActivationRow> activation_row(std::int64_t number) noexcept {
  if (number < 0 || number >= std::int64_t{std::size(kActivations)}) return std::nullopt;
  return kActivations[number];
}
constexpr std::optional<ActivationRow> activation_row(GemmActivation a) noexcept {
  return activation_row(static_cast<std::int64_t>(a));
}
constexpr std::optional<ActivationRow> activation_row(std::string_view name) noexcept {
  for (const ActivationRow& row : kActivations) {
    if (row.name == name) return row;
  }
  return std::nullopt;
}

}  // namespace nervanagpu
