// How an operand of a product lies in memory.
#pragma once

#include <cstdint>

#include "nervanagpu/gemm.hpp"

namespace nervanagpu::sgemm {

// `length` rows of op(A), or columns of op(B).
struct Operand {
  std::uint64_t address = 0;
  std::int64_t length = 0;
  std::int64_t leading = 0;
  bool k_inside = false;  // k is the contiguous axis
};

inline Operand a_of(const GemmProblem& p) {
  return {p.a, p.m, p.lda, !p.a_transposed};
}
inline Operand b_of(const GemmProblem& p) {
  return {p.b, p.n, p.ldb, p.b_transposed};
}

// As a kernel takes them: swapped, C^T = B^T A^T.
struct Operands {
  Operand a, b;
};
inline Operands operands_of(const GemmProblem& p, bool swapped) {
  return swapped ? Operands{b_of(p), a_of(p)} : Operands{a_of(p), b_of(p)};
}

}  // namespace nervanagpu::sgemm
