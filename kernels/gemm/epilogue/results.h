// Which results and biases products of a type can have, and how the results of a batch may lie.
#pragma once

#include <cstdint>
#include <string>

#include "kernels/gemm/types.h"
#include "nervanagpu/gemm.hpp"

namespace nervanagpu::sgemm {

// Operands of this dtype are multiplied; b's may be the other one of bytes.
inline bool multiplies(Dtype a) {
  return a == Dtype::float32 || half(a) || byte(a) || a == Dtype::int32 || wide(a);
}
inline bool multiplies(Dtype a, Dtype b) {
  return multiplies(a) && (byte(a) ? byte(b) : a == b);
}
inline constexpr const char* kOperands = "float64, float32, float16, bfloat16, int64, int32, int8 or uint8";

// C of `c` for operands of dtype `a`.
inline bool gives(Dtype a, Dtype c) {
  if (byte(a)) return c == Dtype::int32 || c == Dtype::float32 || c == Dtype::int8;
  return c == a || (half(a) && c == Dtype::float32);
}
inline std::string results_of(Dtype a) {
  if (byte(a)) return "int32, float32 or int8";
  return std::string(name_of(a)) + (half(a) ? " or float32" : "");
}

// A bias of `bias` for C of dtype `c`.
inline bool takes_bias(Dtype c, Dtype bias) {
  if (c == Dtype::int8) return bias == Dtype::float32;
  return bias == c || (half(c) && bias == Dtype::float32);
}
inline std::string biases_of(Dtype c) {
  if (c == Dtype::int8) return "float32";
  return std::string(name_of(c)) + (half(c) ? " or float32" : "");
}

// Matrices of rows x columns do not share elements: one lies after the other, or the rows of all of them side by side.
struct Spread {
  std::int64_t rows = 0, columns = 0;
  std::int64_t leading = 0;  // from row to row
  std::int64_t matrices = 1;
  std::int64_t stride = 0;  // from matrix to matrix
};
inline std::int64_t length_of(const Spread& s) {  // of a matrix, in elements
  return (s.rows - 1) * s.leading + s.columns;
}
inline bool apart(const Spread& s) {
  const bool side_by_side = s.stride >= s.columns && s.leading >= (s.matrices - 1) * s.stride + s.columns;
  return s.matrices <= 1 || s.stride >= length_of(s) || side_by_side;
}
inline Spread spread_of(const GemmProblem& p) {
  return {p.m, p.n, p.ldc, p.batch, p.stride_c};
}

}  // namespace nervanagpu::sgemm
