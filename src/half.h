// float16 bits from and to floats, to nearest even; the host has no such type in C++20.
#pragma once

#include <cstdint>

namespace nervanagpu {

std::uint16_t half_bits(double value);
double half_value(std::uint16_t bits);

}  // namespace nervanagpu
