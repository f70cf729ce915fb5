// Which results and biases products of a type can have.
#pragma once

#include <string>

#include "kernels/gemm/types.h"

namespace nervanagpu::sgemm {

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

}  // namespace nervanagpu::sgemm
