// Element types as the kernels of GEMM know them.
#pragma once

#include <string_view>

#include "nervanagpu/gemm.hpp"

namespace nervanagpu::sgemm {

inline bool byte(Dtype t) {
  return t == Dtype::int8 || t == Dtype::uint8;
}

// Stored in 16 bits, computed in float32.
inline bool half(Dtype t) {
  return t == Dtype::float16 || t == Dtype::bfloat16;
}

// Elements of 64 bits, which gemm64.h's kernels multiply: sums of the operands' own dtype, alpha and beta and nothing else.
inline bool wide(Dtype t) {
  return t == Dtype::float64 || t == Dtype::int64;
}

// Sums are integers that wrap, alpha and beta integers of 32 bits.
inline bool integral(Dtype t) {
  return t == Dtype::int32 || t == Dtype::int64;
}

// Sums of bytes become floats.
inline bool dequantizes(const GemmProblem& p) {
  return byte(p.a_type) && p.c_type != Dtype::int32;
}

// An activation of lib/activation.sass: relu and the mask have bits of their own.
inline bool has_function(const GemmProblem& p) {
  return p.activation > GemmActivation::relu && activation_row(p.activation)->reads != ActivationReads::mask;
}

// An epilogue that the kernels without tensor cores leave to split_sum.
inline bool needs_finish(const GemmProblem& p) {
  return dequantizes(p);
}

// The type of the sums, which is also that of splits. Of elements of 64 bits there are no splits.
inline Dtype sums_of(const GemmProblem& p) {
  return byte(p.a_type) || p.a_type == Dtype::int32 ? Dtype::int32 : Dtype::float32;
}

// What the kernels' names call a type; "": no kernel has it.
inline std::string_view word_of(Dtype type) {
  switch (type) {
    case Dtype::float32: return "f32";
    case Dtype::float16: return "f16";
    case Dtype::bfloat16: return "bf16";
    case Dtype::int8: return "s8";
    case Dtype::uint8: return "u8";
    case Dtype::int32: return "s32";
    case Dtype::int64: return "s64";
    case Dtype::float64: return "f64";
    default: return "";
  }
}

}  // namespace nervanagpu::sgemm
