// float -> float16 bits, round to nearest even; the host has no such type in C++20.
#pragma once

#include <cstdint>

namespace nervanagpu {

std::uint16_t half_bits(double value);

}  // namespace nervanagpu
