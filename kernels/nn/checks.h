// What the small operations ask of their tensors. Messages: "OP: NAME ...; needs ...".
#pragma once

#include "nervanagpu/tensor.hpp"

namespace nervanagpu::nn {

struct Named {
  const char* op;    // the operation
  const char* name;  // the argument
  const Tensor& t;
};

void check_float(const Named& a);  // float32 or float16
void check_dtype(const Named& a, Dtype dtype);
void check_like(const Named& a, const Named& b);  // the dtype and the shape of b
void check_shape(const Named& a, const Shape& shape, const char* why);
void check_contiguous(const Named& a);
void check_apart(const Named& out, const Named& in);          // no common memory
void check_apart_or_same(const Named& out, const Named& in);  // or the very same elements

}  // namespace nervanagpu::nn
