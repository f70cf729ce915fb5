// The linear filter of textures: corner weights, and sums of integers and floats.
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace nervanagpu::sass::emulate {

// Weights of 2, 4 or 8 corners in 1/256, corner i lying at bit 0, 1, 2 of i along x, y, z. They add up to 256.
std::array<std::uint32_t, 8> filter_weights(std::span<const std::uint32_t> fractions);

// Of fractions: of `max` 65535 and 32767 the value that is 1; snorm8 are the 8 bits themselves.
std::int32_t filter_integers(std::span<const std::uint32_t> weights, std::span<const std::int32_t> values,
                             bool is_signed, bool snorm8);

struct FloatShape {
  int significand;    // bits
  int least;          // exponent of the smallest subnormal number
  bool flush;         // subnormal numbers count as zeros
  std::uint32_t nan;  // what a sum of NaNs is
};
inline constexpr FloatShape kFilterF32{24, -149, true, 0x7fffffff};
inline constexpr FloatShape kFilterF16{11, -24, false, 0x7fffe000};

// Of float32 numbers, which are float16 numbers if the shape says so. A corner whose bit in `touched` is set counts for
// infinities, NaNs and the sign of zero, even if its weight has become 0.
float filter_floats(std::span<const std::uint32_t> weights, std::span<const float> values, std::uint32_t touched,
                    const FloatShape& shape);

}  // namespace nervanagpu::sass::emulate
