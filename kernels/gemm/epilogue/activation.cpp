#include "kernels/gemm/epilogue/activation.h"

#include <string>

#include "kernels/gemm/types.h"
#include "nervanagpu/error.hpp"

namespace nervanagpu::sgemm {

void check_activation(const char* op, const Activated& a) {
  const std::string of = std::string(op) + ": ";
  if (a.function == GemmActivation::none) return;
  if (!activation_row(a.function)) {
    throw InvalidArgument(of + "activation is " + std::to_string(static_cast<int>(a.function)) +
                          "; needs a GemmActivation");
  }
  if (a.relu) throw InvalidArgument(of + "relu is set and there is an activation; needs one of them");
  if (a.function != GemmActivation::relu && integral(a.result)) {
    throw TypeError(of + "the result is " + std::string(name_of(a.result)) +
                    ", which has no activation but relu; needs a float or int8 result");
  }
  if (a.function == GemmActivation::clip && !(a.clip_low <= a.clip_high)) {
    throw InvalidArgument(of + "clip_low is " + std::to_string(a.clip_low) + " and clip_high " +
                          std::to_string(a.clip_high) + "; needs clip_low <= clip_high");
  }
}

}  // namespace nervanagpu::sgemm
