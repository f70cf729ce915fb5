// What a product and a convolution make of a sum before they store it.
#pragma once

#include <cstdint>

namespace nervanagpu {

// What act is, of float32 numbers; kernels/lib/activation.sass says how exact. NaN stays NaN, and minus infinity gives the
// limit. An int32 result has none or relu.
enum class GemmActivation : std::uint8_t {
  none,
  relu,  // max(x, 0)
  tanh,
  sigmoid,    // 1 / (1 + e^-x)
  gelu,       // x (1 + erf(x / sqrt 2)) / 2
  gelu_tanh,  // x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2
  silu,       // x / (1 + e^-x)
  clip,       // x, between clip_low and clip_high
  drelu       // x where the mask's bit is 1, else 0: the gradient of relu. float32, float16 and bfloat16
};

}  // namespace nervanagpu
