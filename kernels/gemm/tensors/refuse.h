// Messages of products of tensors.
#pragma once

#include <string>

#include "nervanagpu/error.hpp"
#include "nervanagpu/tensor.hpp"

namespace nervanagpu::sgemm {

[[noreturn]] inline void refuse_type(const char* name, const Tensor& t, const std::string& needs) {
  throw TypeError(std::string("dot: ") + name + " has dtype " + std::string(name_of(t.dtype())) + "; needs " + needs);
}

}  // namespace nervanagpu::sgemm
