// nervanagpu.h: ng_conv_*.
#include <algorithm>
#include <cstddef>

#include "nervanagpu/conv.hpp"
#include "nervanagpu/conv_plan.hpp"
#include "src/c_api/c_api.h"
#include "src/c_api/c_api_conv.h"

namespace nervanagpu::c_api {
namespace {

ConvProblem problem_of(const char* function, const ng_conv_problem* in) {
  const ng_conv_problem init = NG_CONV_PROBLEM_INIT;
  const ng_conv_problem p = read(function, "problem", in, init, offsetof(ng_conv_problem, precision));
  ConvProblem out;
  out.layout = layout_of(function, "layout", p.layout);
  out.n = p.n;
  out.c = p.c;
  out.k = p.k;
  out.groups = p.groups;
  std::copy_n(p.in, 3, out.in.begin());
  std::copy_n(p.filter, 3, out.filter.begin());
  std::copy_n(p.pad, 3, out.pad.begin());
  std::copy_n(p.stride, 3, out.stride.begin());
  std::copy_n(p.dilation, 3, out.dilation.begin());
  out.x_pitch = p.x_pitch;
  out.y_pitch = p.y_pitch;
  out.x_type = dtype_of(function, "x_type", p.x_type);
  out.w_type = dtype_of(function, "w_type", p.w_type);
  out.y_type = dtype_of(function, "y_type", p.y_type);
  out.precision = precision_of(function, p.precision);
  zero_of(function, "problem.reserved", p.reserved);
  return out;
}

ConvPass pass_of(const char* function, ng_conv_pass pass) {
  const auto number = static_cast<int>(pass);
  if (number < NG_FPROP || number > NG_UPDATE) refuse(function, "pass", std::to_string(number), "an ng_conv_pass");
  return static_cast<ConvPass>(number);
}

}  // namespace

ConvCall conv_call_of(const char* function, const ng_conv_problem* problem, const ng_conv_options& o) {
  ConvCall call;
  call.problem = problem_of(function, problem);
  call.pointers.bias = o.bias;
  call.pointers.bias_type = dtype_of(function, "bias_type", o.bias_type);
  call.pointers.workspace = o.workspace;
  call.pointers.mask = o.mask;
  call.pointers.mask_pitch = o.mask_pitch;
  call.options.alpha = o.alpha;
  call.options.beta = o.beta;
  call.options.relu = flag_of(function, "relu", o.relu);
  call.options.rounding = rounding_of(function, "rounding", o.rounding);
  call.options.stream = Stream::from_handle(o.stream);
  call.options.precision = call.problem.precision;
  call.options.tensor_cores = !flag_of(function, "no_tensor_cores", o.no_tensor_cores);
  const auto activation = activation_row(o.activation);
  if (!activation || activation->reads == ActivationReads::mask) {
    refuse(function, "activation", std::to_string(o.activation), "an ng_gemm_activation other than NG_DRELU");
  }
  call.options.activation = activation->activation;
  call.options.clip_low = o.clip_low;
  call.options.clip_high = o.clip_high;
  call.pointers.scale = o.scale;
  call.pointers.channel_sum = o.channel_sum;
  call.pointers.channel_sum_squares = o.channel_sum_squares;
  call.pointers.x_pieces = {o.x_pieces, flag_of(function, "x_pieces_made", o.x_pieces_made)};
  call.pointers.y_pieces = {o.y_pieces, flag_of(function, "y_pieces_made", o.y_pieces_made)};
  return call;
}

ng_conv_options read_conv_options(const char* function, const ng_conv_options* options) {
  const ng_conv_options init = NG_CONV_OPTIONS_INIT;
  return options == nullptr ? init
                            : read(function, "options", options, init, offsetof(ng_conv_options, no_tensor_cores));
}

namespace {

ConvCall checked_call(const char* function, ConvPass pass, const ng_conv_problem* problem,
                      const ng_conv_options* options) {
  const ng_conv_options o = read_conv_options(function, options);
  ConvCall call = conv_call_of(function, problem, o);
  // Checked here, since only this interface is told how much there is.
  const bool sums = (o.channel_sum | o.channel_sum_squares) != 0;
  const std::size_t needed = conv_workspace(pass, call.problem, sums);
  if (needed != 0 && (o.workspace == 0 || o.workspace_bytes < needed)) {
    refuse(function, "workspace", o.workspace == 0 ? "0" : "of " + std::to_string(o.workspace_bytes) + " bytes",
           std::to_string(needed) + (sums ? " bytes (ng_conv_sums_workspace)" : " bytes (ng_conv_workspace)"));
  }
  return call;
}

ng_status run(const char* function, ConvPass pass, const ng_conv_problem* problem, std::uint64_t in1, std::uint64_t in2,
              std::uint64_t out, const ng_conv_options* options) {
  return guarded([&] {
    ConvCall call = checked_call(function, pass, problem, options);
    call.pointers.in1 = in1;
    call.pointers.in2 = in2;
    call.pointers.out = out;
    conv(pass, call.problem, call.pointers, call.options);
  });
}

ng_conv_addresses read_addresses(const char* function, const char* name, const ng_conv_addresses* in) {
  const ng_conv_addresses init = NG_CONV_ADDRESSES_INIT;
  return read(function, name, in, init, offsetof(ng_conv_addresses, scale));
}

}  // namespace
}  // namespace nervanagpu::c_api

struct ng_conv_plan {
  nervanagpu::ConvPlan plan;
};

using namespace nervanagpu;         // NOLINT(google-build-using-namespace)
using namespace nervanagpu::c_api;  // NOLINT(google-build-using-namespace)

extern "C" {

ng_status ng_conv_out(const ng_conv_problem* problem, int64_t out[3]) {
  return guarded([&] {
    if (out == nullptr) refuse("ng_conv_out", "out", "null", "room for 3 numbers");
    const auto shape = problem_of("ng_conv_out", problem).out();
    std::copy(shape.begin(), shape.end(), out);
  });
}

ng_status ng_conv_workspace(ng_conv_pass pass, const ng_conv_problem* problem, size_t* bytes) {
  constexpr const char* kName = "ng_conv_workspace";
  return guarded([&] {
    if (bytes == nullptr) refuse(kName, "bytes", "null", "where to put the number");
    *bytes = conv_workspace(pass_of(kName, pass), problem_of(kName, problem));
  });
}

ng_status ng_conv_sums_workspace(ng_conv_pass pass, const ng_conv_problem* problem, size_t* bytes) {
  constexpr const char* kName = "ng_conv_sums_workspace";
  return guarded([&] {
    if (bytes == nullptr) refuse(kName, "bytes", "null", "where to put the number");
    *bytes = conv_workspace(pass_of(kName, pass), problem_of(kName, problem), true);
  });
}

ng_status ng_conv_pieces_bytes(int64_t pixels, int64_t channels, size_t* bytes) {
  constexpr const char* kName = "ng_conv_pieces_bytes";
  return guarded([&] {
    constexpr std::int64_t kMost = std::int64_t{1} << 31;
    if (bytes == nullptr) refuse(kName, "bytes", "null", "where to put the number");
    if (channels < 1 || channels >= kMost) refuse(kName, "channels", std::to_string(channels), "1 to 2^31 - 1");
    if (pixels < 1 || pixels > (kMost - 1) / channels) {
      refuse(kName, "pixels", std::to_string(pixels), "at least 1, and less than 2^31 elements");
    }
    *bytes = conv_pieces_bytes(pixels, channels);
  });
}

ng_status ng_conv_makes_pieces(ng_conv_pass pass, const ng_conv_problem* problem, const ng_conv_options* options,
                               int32_t* makes) {
  constexpr const char* kName = "ng_conv_makes_pieces";
  return guarded([&] {
    if (makes == nullptr) refuse(kName, "makes", "null", "where to put the answer");
    const ConvCall call = conv_call_of(kName, problem, read_conv_options(kName, options));
    *makes = conv_makes_pieces(pass_of(kName, pass), call.problem, call.pointers, call.options) ? 1 : 0;
  });
}

ng_status ng_conv_fprop(const ng_conv_problem* problem, uint64_t x, uint64_t w, uint64_t y,
                        const ng_conv_options* options) {
  return run("ng_conv_fprop", ConvPass::fprop, problem, x, w, y, options);
}

ng_status ng_conv_bprop(const ng_conv_problem* problem, uint64_t dy, uint64_t w, uint64_t dx,
                        const ng_conv_options* options) {
  return run("ng_conv_bprop", ConvPass::bprop, problem, dy, w, dx, options);
}

ng_status ng_conv_update(const ng_conv_problem* problem, uint64_t dy, uint64_t x, uint64_t dw,
                         const ng_conv_options* options) {
  return run("ng_conv_update", ConvPass::update, problem, dy, x, dw, options);
}

ng_status ng_conv_plan_create(ng_conv_pass pass, const ng_conv_problem* problem, const ng_conv_addresses* like,
                              const ng_conv_options* options, ng_conv_plan** plan) {
  constexpr const char* kName = "ng_conv_plan_create";
  return guarded([&] {
    if (plan == nullptr) refuse(kName, "plan", "null", "where to put the plan");
    *plan = nullptr;
    const ConvPass which = pass_of(kName, pass);
    ConvCall call = conv_call_of(kName, problem, read_conv_options(kName, options));
    if (like != nullptr) {
      const ng_conv_addresses at = read_addresses(kName, "like", like);
      call.pointers.in1 = at.in1;
      call.pointers.in2 = at.in2;
      call.pointers.out = at.out;
    }
    *plan = new ng_conv_plan{ConvPlan(which, call.problem, call.pointers, call.options)};
  });
}

ng_status ng_conv_plan_workspace(const ng_conv_plan* plan, size_t* bytes) {
  constexpr const char* kName = "ng_conv_plan_workspace";
  return guarded([&] {
    if (bytes == nullptr) refuse(kName, "bytes", "null", "where to put the number");
    *bytes = existing(kName, "plan", plan, "ng_conv_plan_create").plan.workspace();
  });
}

ng_status ng_conv_plan_launch(const ng_conv_plan* plan, const ng_conv_addresses* addresses, uint64_t stream) {
  constexpr const char* kName = "ng_conv_plan_launch";
  return guarded([&] {
    const ConvPlan& p = existing(kName, "plan", plan, "ng_conv_plan_create").plan;
    const ng_conv_addresses at = read_addresses(kName, "addresses", addresses);
    if (at.workspace_bytes < p.workspace()) {
      refuse(kName, "workspace", "of " + std::to_string(at.workspace_bytes) + " bytes",
             std::to_string(p.workspace()) + " bytes (ng_conv_plan_workspace)");
    }
    p.launch({at.in1, at.in2, at.out, at.bias, at.mask, at.workspace, at.rounding_offset, at.scale, at.channel_sum,
              at.channel_sum_squares},
             Stream::from_handle(stream));
  });
}

void ng_conv_plan_destroy(ng_conv_plan* plan) {
  delete plan;
}

}  // extern "C"
