// stochastic_round, of arguments that are read.
#pragma once

#include <cstdint>

#include "python/torch_ops/array.h"

namespace nervanagpu::python::torch {

// dtype: 0 to 2, float32, float16 and bfloat16.
Array stochastic_round(const Array& x, std::int64_t dtype, std::int64_t seed, std::int64_t offset, std::int64_t bits);

}  // namespace nervanagpu::python::torch
