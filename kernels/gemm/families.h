// The families of kernels that multiply matrices: a row for each op of their manifests. What gemm.cpp, prepared.cpp and
// plan_cache.cpp want to know of a plan's kernel stands in its row.
#pragma once

#include <cstdint>
#include <string_view>

#include "kernels/gemm/gemm.h"
#include "kernels/gemm/pieces/bf16x6.h"
#include "kernels/gemm/tensor_cores/hgemm.h"
#include "nervanagpu/gemm.hpp"
#include "src/launch/values.h"

namespace nervanagpu::sgemm {

// How operands of float32 become pieces.
struct PiecesOf {
  int count = 0;  // of an element
  // The workspace; bytes: all that the plan wants of it.
  bf16x6::Room (*room)(const Plan&, const GemmProblem&) = nullptr;
  // The launch before the kernel's, which writes the pieces.
  bf16x6::Launch (*split)(const Registry&, const Plan&, const GemmProblem&) = nullptr;
  // Whether A is the large operand, which the kernel splits itself, on its way to registers; null: it splits neither.
  bool (*large_a)(const Kernel&) = nullptr;
  // Whether `split` looks at that operand, too; null: never.
  bool (*looks_at_large)(const GemmProblem&, std::int64_t splits) = nullptr;
};

struct Family {
  std::string_view op = {};
  // Which problems it takes, by the cheapest of its kernels: clocks, on the tensor cores microseconds. Null: sgemm_ring.h chooses.
  double (*cost)(const Kernel&, const GemmProblem&, std::int64_t splits, int multiprocessors) = nullptr;
  bool (*fits)(const Kernel&, const GemmProblem&, std::int64_t splits, std::string_view tile) = nullptr;
  Grid (*grid)(const Kernel&, const GemmProblem&, std::int64_t splits, int multiprocessors) = nullptr;
  // The kernel's parameters.
  Values (*values)(const Plan&, const GemmProblem&, Device*) = nullptr;
  hgemm::Maps (*maps)(const Plan&, const GemmProblem&) = nullptr;  // null: it takes addresses, or sgemm_ring.h's maps
  // What its epilogue does, which is otherwise left to kernels after it.
  bool adds_splits = false;
  bool scales_sums = false;  // of bytes: needs_finish()
  bool keeps_mask = false;   // of whole sums
  PiecesOf pieces = {};      // count 0: it multiplies operands as they are
};

const Family& family_of(const Kernel& kernel);

}  // namespace nervanagpu::sgemm
