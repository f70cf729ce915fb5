// nervanagpu.h: ng_conv_max_pool_*.
#include <algorithm>

#include "nervanagpu/conv_pool.hpp"
#include "src/c_api/c_api.h"
#include "src/c_api/c_api_conv.h"

namespace nervanagpu::c_api {
namespace {

ConvCall call_of(const char* function, const ng_conv_problem* problem, const ng_conv_options* options) {
  const ng_conv_options o = read_conv_options(function, options);
  if (o.mask != 0) refuse(function, "mask", "an address", "0: what lies between has no bits of relu");
  if ((o.x_pieces | o.y_pieces) != 0) {
    refuse(function, "x_pieces or y_pieces", "given", "a convolution without, for its result is not kept");
  }
  if ((o.channel_sum | o.channel_sum_squares) != 0) {
    refuse(function, "channel_sum", "an address", "0: what lies between has no sums");
  }
  return conv_call_of(function, problem, o);
}

}  // namespace
}  // namespace nervanagpu::c_api

using namespace nervanagpu;         // NOLINT(google-build-using-namespace)
using namespace nervanagpu::c_api;  // NOLINT(google-build-using-namespace)

extern "C" {

ng_status ng_conv_max_pool_behind(const ng_conv_problem* problem, ng_pool_problem* pool) {
  constexpr const char* kName = "ng_conv_max_pool_behind";
  return guarded([&] {
    const ng_conv_options init = NG_CONV_OPTIONS_INIT;
    const ConvProblem p = conv_call_of(kName, problem, init).problem;
    const PoolProblem behind = pool_behind(p, pool_problem_of(kName, pool, "pool"));
    pool->n = behind.n;
    std::ranges::copy(behind.in, pool->in);
    pool->layout = problem->layout;
    pool->dtype = problem->y_type;
    pool->x_pitch = 0;
  });
}

ng_status ng_conv_max_pool_is_one_kernel(const ng_conv_problem* problem, const ng_pool_problem* pool,
                                         const ng_conv_options* options, int32_t* one) {
  constexpr const char* kName = "ng_conv_max_pool_is_one_kernel";
  return guarded([&] {
    if (one == nullptr) refuse(kName, "one", "null", "where to put the answer");
    const ConvCall call = call_of(kName, problem, options);
    *one = conv_max_pool_is_one_kernel(call.problem, pool_problem_of(kName, pool, "pool"), call.options) ? 1 : 0;
  });
}

ng_status ng_conv_max_pool_fprop(const ng_conv_problem* problem, const ng_pool_problem* pool, uint64_t x, uint64_t w,
                                 uint64_t y, uint64_t argmax, const ng_conv_options* options) {
  constexpr const char* kName = "ng_conv_max_pool_fprop";
  return guarded([&] {
    ConvCall call = call_of(kName, problem, options);
    call.pointers.in1 = x;
    call.pointers.in2 = w;
    call.pointers.out = y;
    conv_max_pool_fprop(call.problem, pool_problem_of(kName, pool, "pool"), call.pointers, argmax, call.options);
  });
}

}  // extern "C"
