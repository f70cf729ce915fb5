// What the products share with each other.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "python/torch_ops/array.h"

namespace nervanagpu::python::torch {

// Throws unless a (m, k) and b (k, n) are matrices, or with 3 axes equally many.
void check_product(const Array& a, const Array& b, std::int64_t axes);

Array mm(const Array& a, const Array& b, std::int64_t precision);
Array bmm(const Array& a, const Array& b, std::int64_t precision);
Array addmm(const Array& bias, const Array& a, const Array& b, double beta, double alpha, std::int64_t precision);
Array linear(const Array& x, const Array& weight, const std::optional<Array>& bias, std::int64_t activation,
             std::int64_t precision);
// a[i] b[i] of matrices of any shapes.
std::vector<Array> grouped_mm(const std::vector<Array>& a, const std::vector<Array>& b, std::int64_t precision);

}  // namespace nervanagpu::python::torch
