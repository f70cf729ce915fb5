#include "kernels/nn/checks.h"

#include <string>

#include "nervanagpu/error.hpp"
#include "src/tensor/shape.h"
#include "src/tensor/shares_memory.h"

namespace nervanagpu::nn {
namespace {

std::string start(const Named& a) {
  return std::string(a.op) + ": " + a.name;
}

}  // namespace

void check_float(const Named& a) {
  const Dtype d = a.t.dtype();
  if (d != Dtype::float32 && d != Dtype::float16 && d != Dtype::bfloat16) {
    throw TypeError(start(a) + " has dtype " + std::string(name_of(d)) + "; needs float32, float16 or bfloat16");
  }
}

void check_dtype(const Named& a, Dtype dtype) {
  if (a.t.dtype() != dtype) {
    throw TypeError(start(a) + " has dtype " + std::string(name_of(a.t.dtype())) + "; needs " +
                    std::string(name_of(dtype)));
  }
}

void check_like(const Named& a, const Named& b) {
  if (a.t.dtype() != b.t.dtype()) {
    throw TypeError(start(a) + " has dtype " + std::string(name_of(a.t.dtype())) + "; needs that of " + b.name + ", " +
                    std::string(name_of(b.t.dtype())));
  }
  if (a.t.shape() != b.t.shape()) {
    throw InvalidArgument(start(a) + " has shape " + text_of(a.t.shape()) + "; needs that of " + b.name + ", " +
                          text_of(b.t.shape()));
  }
}

void check_shape(const Named& a, const Shape& shape, const char* why) {
  if (a.t.shape() != shape) {
    throw InvalidArgument(start(a) + " has shape " + text_of(a.t.shape()) + "; needs " + text_of(shape) + ", " + why);
  }
}

void check_contiguous(const Named& a) {
  if (!a.t.contiguous()) {
    throw InvalidArgument(start(a) + " has shape " + text_of(a.t.shape()) + " and strides " + text_of(a.t.strides()) +
                          "; needs contiguous memory (a copy)");
  }
}

void check_apart(const Named& out, const Named& in) {
  if (shares_memory(out.t, in.t)) {
    throw InvalidArgument(start(out) + " shares memory with " + in.name + "; needs memory of its own");
  }
}

void check_apart_or_same(const Named& out, const Named& in) {
  if (out.t.address() != in.t.address() && shares_memory(out.t, in.t)) {
    throw InvalidArgument(start(out) + " shares a part of its memory with " + in.name +
                          "; needs all of it, or memory of its own");
  }
}

}  // namespace nervanagpu::nn
