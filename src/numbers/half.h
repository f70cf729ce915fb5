// float16 and bfloat16 bits from and to floats, to nearest even; the host has no such types in C++20.
#pragma once

#include <cstdint>

namespace nervanagpu {

std::uint16_t half_bits(double value);
double half_value(std::uint16_t bits);
// By way of float32, as ml_dtypes and the kernels do it.
std::uint16_t bfloat_bits(double value);
double bfloat_value(std::uint16_t bits);

}  // namespace nervanagpu
