// What ng_gemm and the functions beside it have in common.
#pragma once

#include <cstddef>
#include <cstdint>

#include "nervanagpu/gemm.hpp"
#include "nervanagpu/nervanagpu.h"

namespace nervanagpu::c_api {

ng_gemm_problem read_problem(const ng_gemm_problem* in, const char* function);
GemmProblem problem_of(const ng_gemm_problem& problem);
// Refuses a workspace of fewer bytes than `query` says.
void check_workspace(const char* function, std::uint64_t bytes, std::size_t needed, const char* query);

}  // namespace nervanagpu::c_api
