// What ng_conv_*, ng_pool_* and ng_conv_max_pool_* have in common.
#pragma once

#include "nervanagpu/conv.hpp"
#include "nervanagpu/nervanagpu.h"
#include "nervanagpu/pool.hpp"

namespace nervanagpu::c_api {

struct ConvCall {
  ConvProblem problem;
  ConvPointers pointers;
  ConvOptions options;
};

ng_conv_options read_conv_options(const char* function, const ng_conv_options* options);
// The workspace is as it is given.
ConvCall conv_call_of(const char* function, const ng_conv_problem* problem, const ng_conv_options& options);
// name: of the argument.
PoolProblem pool_problem_of(const char* function, const ng_pool_problem* in, const char* name = "problem");

}  // namespace nervanagpu::c_api
