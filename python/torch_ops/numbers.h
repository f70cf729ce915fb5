// What a schema has as a number.
#pragma once

#include <cstdint>

#include "nervanagpu/nervanagpu.hpp"

namespace nervanagpu::python::torch {

Precision precision_of(std::int64_t number);
GemmActivation activation_of(std::int64_t number);  // none that needs more than the sum

}  // namespace nervanagpu::python::torch
