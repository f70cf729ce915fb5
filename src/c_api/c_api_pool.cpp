// nervanagpu.h: ng_pool_*.
#include <algorithm>

#include "nervanagpu/pool.hpp"
#include "nervanagpu/pool_plan.hpp"
#include "src/c_api/c_api.h"
#include "src/c_api/c_api_conv.h"

namespace nervanagpu::c_api {

PoolProblem pool_problem_of(const char* function, const ng_pool_problem* in, const char* name) {
  const ng_pool_problem init = NG_POOL_PROBLEM_INIT;
  const ng_pool_problem p = read(function, name, in, init);
  PoolProblem out;
  if (p.op < NG_POOL_MAX || p.op > NG_POOL_L2) {
    refuse(function, "op", std::to_string(p.op), "an ng_pool_op (0 to 2)");
  }
  out.op = static_cast<PoolOp>(p.op);
  out.layout = layout_of(function, "layout", p.layout);
  out.n = p.n;
  std::copy_n(p.in, 4, out.in.begin());
  std::copy_n(p.window, 4, out.window.begin());
  std::copy_n(p.pad, 4, out.pad.begin());
  std::copy_n(p.stride, 4, out.stride.begin());
  out.count_padding = flag_of(function, "count_padding", p.count_padding);
  out.dtype = dtype_of(function, "dtype", p.dtype);
  out.x_pitch = p.x_pitch;
  return out;
}

namespace {

PoolOptions options_of(const char* function, const ng_pool_options* in) {
  const ng_pool_options init = NG_POOL_OPTIONS_INIT;
  const ng_pool_options o = in == nullptr ? init : read(function, "options", in, init);
  PoolOptions out;
  out.alpha = o.alpha;
  out.beta = o.beta;
  out.rounding = rounding_of(function, "rounding", o.rounding);
  out.stream = Stream::from_handle(o.stream);
  out.relu = flag_of(function, "relu", o.relu);
  return out;
}

PoolAddresses addresses_of(const char* function, const char* name, const ng_pool_addresses* in) {
  const ng_pool_addresses init = NG_POOL_ADDRESSES_INIT;
  const ng_pool_addresses a = read(function, name, in, init);
  return {a.in, a.out, a.x, a.argmax, a.rounding_offset};
}

}  // namespace
}  // namespace nervanagpu::c_api

struct ng_pool_plan {
  nervanagpu::PoolPlan plan;
};

using namespace nervanagpu;         // NOLINT(google-build-using-namespace)
using namespace nervanagpu::c_api;  // NOLINT(google-build-using-namespace)

static_assert(static_cast<int>(PoolOp::max) == NG_POOL_MAX && static_cast<int>(PoolOp::avg) == NG_POOL_AVG &&
              static_cast<int>(PoolOp::l2) == NG_POOL_L2);

extern "C" {

ng_status ng_pool_out(const ng_pool_problem* problem, int64_t out[4]) {
  return guarded([&] {
    if (out == nullptr) refuse("ng_pool_out", "out", "null", "room for 4 numbers");
    const auto shape = pool_problem_of("ng_pool_out", problem).out();
    std::copy(shape.begin(), shape.end(), out);
  });
}

ng_status ng_pool_fprop(const ng_pool_problem* problem, uint64_t x, uint64_t y, const ng_pool_options* options) {
  return guarded([&] {
    const PoolProblem p = pool_problem_of("ng_pool_fprop", problem);
    pool_fprop(p, x, y, options_of("ng_pool_fprop", options));
  });
}

ng_status ng_pool_bprop(const ng_pool_problem* problem, uint64_t dy, uint64_t x, uint64_t dx,
                        const ng_pool_options* options) {
  return guarded([&] {
    const PoolProblem p = pool_problem_of("ng_pool_bprop", problem);
    pool_bprop(p, dy, x, dx, options_of("ng_pool_bprop", options));
  });
}

ng_status ng_pool_argmax_bytes(const ng_pool_problem* problem, int64_t* bytes) {
  return guarded([&] {
    if (bytes == nullptr) refuse("ng_pool_argmax_bytes", "bytes", "null", "room for a number");
    *bytes = pool_argmax_bytes(pool_problem_of("ng_pool_argmax_bytes", problem));
  });
}

ng_status ng_max_pool_fprop(const ng_pool_problem* problem, uint64_t x, uint64_t y, uint64_t argmax,
                            const ng_pool_options* options) {
  return guarded([&] {
    const PoolProblem p = pool_problem_of("ng_max_pool_fprop", problem);
    max_pool_fprop(p, x, y, argmax, options_of("ng_max_pool_fprop", options));
  });
}

ng_status ng_max_pool_bprop(const ng_pool_problem* problem, uint64_t dy, uint64_t argmax, uint64_t dx,
                            const ng_pool_options* options) {
  return guarded([&] {
    const PoolProblem p = pool_problem_of("ng_max_pool_bprop", problem);
    max_pool_bprop(p, dy, argmax, dx, options_of("ng_max_pool_bprop", options));
  });
}

ng_status ng_pool_plan_create(ng_pool_pass pass, const ng_pool_problem* problem, const ng_pool_addresses* like,
                              const ng_pool_options* options, ng_pool_plan** plan) {
  constexpr const char* kName = "ng_pool_plan_create";
  return guarded([&] {
    if (plan == nullptr) refuse(kName, "plan", "null", "where to put the plan");
    *plan = nullptr;
    if (pass != NG_POOL_FPROP && pass != NG_POOL_BPROP) {
      refuse(kName, "pass", std::to_string(pass), "an ng_pool_pass (0 or 1)");
    }
    const PoolProblem p = pool_problem_of(kName, problem);
    const PoolAddresses at = like == nullptr ? PoolAddresses{} : addresses_of(kName, "like", like);
    *plan = new ng_pool_plan{PoolPlan(static_cast<PoolPass>(pass), p, at, options_of(kName, options))};
  });
}

ng_status ng_pool_plan_launch(const ng_pool_plan* plan, const ng_pool_addresses* addresses, uint64_t stream) {
  constexpr const char* kName = "ng_pool_plan_launch";
  return guarded([&] {
    const PoolPlan& p = existing(kName, "plan", plan, "ng_pool_plan_create").plan;
    p.launch(addresses_of(kName, "addresses", addresses), Stream::from_handle(stream));
  });
}

void ng_pool_plan_destroy(ng_pool_plan* plan) {
  delete plan;
}

}  // extern "C"
