// What the products share with each other.
#pragma once

#include <cstdint>

#include "python/torch_ops/array.h"

namespace nervanagpu::python::torch {

// Throws unless a (m, k) and b (k, n) are matrices, or with 3 axes equally many.
void check_product(const Array& a, const Array& b, std::int64_t axes);

}  // namespace nervanagpu::python::torch
