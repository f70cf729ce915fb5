// A pass chosen and packed once (nervanagpu/conv_plan.hpp): later calls check addresses and launch.
#include "nervanagpu/conv_plan.hpp"

#include <array>
#include <optional>
#include <utility>

#include "kernels/conv/problem.h"
#include "kernels/conv/tensors.h"
#include "nervanagpu/error.hpp"
#include "src/device/placement.h"
#include "src/launch/planned_alignment.h"
#include "src/launch/planned_launches.h"
#include "src/memory/workspace.h"
#include "src/tensor/tensor_form.h"

namespace nervanagpu {
namespace {

using namespace conv_detail;  // NOLINT(google-build-using-namespace)

constexpr const char* kPlan = "conv plan";

// What differs from launch to launch, as PlannedLaunches counts it.
enum Operand : std::size_t {
  kIn1,
  kIn2,
  kOut,
  kBias,
  kMask,
  kScale,
  kSum,
  kSquares,
  kWorkspace,
  kRoundingOffset,
  kOperands
};
using Operands = std::array<std::uint64_t, kOperands>;

Operands operands_of(const ConvAddresses& at) {
  return {at.in1,         at.in2,
          at.out,         at.bias,
          at.mask,        at.scale,
          at.channel_sum, at.channel_sum_squares,
          at.workspace,   at.rounding_offset};
}

}  // namespace

struct ConvPlan::Impl {
  Impl(ConvPass pass, const ConvProblem& problem, const ConvPointers& pointers, const ConvOptions& options);

  [[nodiscard]] const char* name(std::size_t operand) const {
    const Roles roles = roles_of(pass);
    switch (operand) {
      case kIn1: return name_of(pass, roles.in1);
      case kIn2: return name_of(pass, roles.in2);
      case kOut: return name_of(pass, roles.out);
      case kBias: return "bias";
      case kMask: return "mask";
      case kScale: return "scale";
      case kSum: return "channel_sum";
      case kSquares: return "channel_sum_squares";
      default: return "workspace";
    }
  }
  void launch(const ConvAddresses& at, StreamId stream) const;
  void check_given(std::size_t operand, bool given) const;

  ConvPass pass;
  ConvProblem problem;
  Operands planned{};  // alignments; 0: there is none
  std::size_t workspace = 0;
  std::optional<PlannedLaunches> launches;
  std::vector<std::string> kernels;
  int device = get_device();
  // Of a plan of tensors: what is before the workspace.
  std::array<std::optional<TensorForm>, kWorkspace> forms;
};

ConvPlan::Impl::Impl(ConvPass pass, const ConvProblem& problem, const ConvPointers& pointers,
                     const ConvOptions& options)
    : pass(pass), problem(problem) {
  const bool shared = options.x_pieces != nullptr || options.dy_pieces != nullptr;
  if (shared || (pointers.x_pieces.address | pointers.y_pieces.address) != 0) {
    throw InvalidArgument("conv: a plan shares no pieces with other passes");
  }
  check(pass, problem);
  const Roles roles = roles_of(pass);
  planned = {planned_alignment(pointers.in1),
             planned_alignment(pointers.in2),
             planned_alignment(pointers.out),
             0,
             0,
             0,
             0,
             0,
             kMostPlannedAlignment,
             1};
  if (pointers.bias != 0) planned[kBias] = planned_alignment(pointers.bias);
  if (pointers.mask != 0) planned[kMask] = planned_alignment(pointers.mask);
  if (pointers.scale != 0) planned[kScale] = planned_alignment(pointers.scale);
  if (pointers.channel_sum != 0) planned[kSum] = planned_alignment(pointers.channel_sum);
  if (pointers.channel_sum_squares != 0) planned[kSquares] = planned_alignment(pointers.channel_sum_squares);
  const std::array<Dtype, kWorkspace> types = {type_of(problem, roles.in1),
                                               type_of(problem, roles.in2),
                                               type_of(problem, roles.out),
                                               pointers.bias_type,
                                               Dtype::uint32,
                                               Dtype::float32,
                                               Dtype::float32,
                                               Dtype::float32};
  for (std::size_t i = kIn1; i < kWorkspace; ++i) {
    if (planned[i] == 0 || planned[i] % size_of(types[i]) == 0) continue;
    throw InvalidArgument(std::string(kPlan) + ": " + name(i) + " is aligned to " + std::to_string(planned[i]) +
                          "; needs a multiple of " + std::to_string(size_of(types[i])));
  }
  ConvPointers from = pointers;
  ConvOptions recorded = options;
  recorded.bias = recorded.mask = recorded.scale = nullptr;
  recorded.channel_sum = recorded.channel_sum_squares = nullptr;
  recorded.stream = {};
  Operands alignments = planned;
  for (std::uint64_t& a : alignments) a = a == 0 ? 1 : a;
  launches.emplace(current_device(), alignments, [&](std::span<const std::uint64_t> at) {
    from.in1 = at[kIn1], from.in2 = at[kIn2], from.out = at[kOut];
    from.bias = planned[kBias] == 0 ? 0 : at[kBias];
    from.mask = planned[kMask] == 0 ? 0 : at[kMask];
    from.scale = planned[kScale] == 0 ? 0 : at[kScale];
    from.channel_sum = planned[kSum] == 0 ? 0 : at[kSum];
    from.channel_sum_squares = planned[kSquares] == 0 ? 0 : at[kSquares];
    from.workspace = at[kWorkspace];
    recorded.rounding.offset = at[kRoundingOffset] + options.rounding.offset;
    conv(pass, problem, from, recorded);
  });
  if (launches->uses(kWorkspace)) {
    workspace = conv_workspace(pass, problem, (planned[kSum] | planned[kSquares]) != 0);
  }
  if (workspace == 0) planned[kWorkspace] = 0;
  kernels = launches->kernels();
}

void ConvPlan::Impl::check_given(std::size_t operand, bool given) const {
  if (given == (planned[operand] != 0)) return;
  throw InvalidArgument(std::string(kPlan) + ": " + name(operand) +
                        (given ? " was not planned" : " is missing; one was planned"));
}

void ConvPlan::Impl::launch(const ConvAddresses& at, StreamId stream) const {
  const Operands operands = operands_of(at);
  check_given(kBias, at.bias != 0);
  check_given(kMask, at.mask != 0);
  check_given(kScale, at.scale != 0);
  check_given(kSum, at.channel_sum != 0);
  check_given(kSquares, at.channel_sum_squares != 0);
  for (std::size_t i = kIn1; i <= kWorkspace; ++i) {
    if (planned[i] != 0) check_planned_address(kPlan, name(i), operands[i], planned[i]);
  }
  launches->launch(operands, stream);
}

ConvPlan::ConvPlan(ConvPass pass, const ConvProblem& problem, const ConvPointers& pointers, const ConvOptions& options)
    : impl_(std::make_shared<const Impl>(pass, problem, pointers, options)) {}

ConvPlan::ConvPlan(ConvPass pass, const ConvProblem& problem, const Tensor& in1, const Tensor& in2, const Tensor& out,
                   const ConvOptions& options) {
  const Placed placed(kPlan, {{"in1", in1},
                              {"in2", in2},
                              {"out", out},
                              {"bias", options.bias},
                              {"mask", options.mask},
                              {"scale", options.scale},
                              {"channel_sum", options.channel_sum},
                              {"channel_sum_squares", options.channel_sum_squares},
                              {"stream", options.stream}});
  const Described d = describe(pass, problem, in1, in2, out, options);
  auto impl = std::make_shared<Impl>(pass, d.problem, d.pointers, options);
  const std::array<const Tensor*, kWorkspace> tensors = {
      &in1, &in2, &out, options.bias, options.mask, options.scale, options.channel_sum, options.channel_sum_squares};
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i] != nullptr) impl->forms[i].emplace(*tensors[i]);
  }
  impl_ = std::move(impl);
}

std::size_t ConvPlan::workspace() const {
  return impl_->workspace;
}
const std::vector<std::string>& ConvPlan::kernels() const {
  return impl_->kernels;
}
ConvPass ConvPlan::pass() const {
  return impl_->pass;
}
const ConvProblem& ConvPlan::problem() const {
  return impl_->problem;
}

void ConvPlan::launch(const ConvAddresses& addresses, const Stream& stream) const {
  const Placed placed(kPlan, {{"the plan", impl_->device}, {"stream", stream}});
  impl_->launch(addresses, stream.handle());
}

void ConvPlan::launch(const Tensor& in1, const Tensor& in2, Tensor& out, const ConvOperands& more,
                      const Stream& stream) const {
  const Impl& p = *impl_;
  if (!p.forms[kOut]) throw InvalidArgument("conv plan: was made of addresses; needs a launch with addresses");
  const Placed placed(kPlan, {{"the plan", p.device},
                              {p.name(kIn1), in1},
                              {p.name(kIn2), in2},
                              {p.name(kOut), out},
                              {"bias", more.bias},
                              {"mask", more.mask},
                              {"scale", more.scale},
                              {"channel_sum", more.channel_sum},
                              {"channel_sum_squares", more.channel_sum_squares},
                              {"workspace", more.workspace},
                              {"stream", stream}});
  p.check_given(kBias, more.bias != nullptr);
  p.check_given(kMask, more.mask != nullptr);
  p.check_given(kScale, more.scale != nullptr);
  p.check_given(kSum, more.channel_sum != nullptr);
  p.check_given(kSquares, more.channel_sum_squares != nullptr);
  const std::array<const Tensor*, kWorkspace> tensors = {
      &in1, &in2, &out, more.bias, more.mask, more.scale, more.channel_sum, more.channel_sum_squares};
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i] != nullptr) check_like(kPlan, p.name(i), *tensors[i], *p.forms[i]);
  }
  check_apart(p.pass, in1, in2, out, {more.bias, more.mask, more.scale, more.channel_sum, more.channel_sum_squares});
  const bool given = more.workspace != nullptr;
  if (given && (!more.workspace->contiguous() || more.workspace->nbytes() < p.workspace)) {
    throw InvalidArgument("conv plan: workspace has " + std::to_string(more.workspace->nbytes()) +
                          " bytes; needs contiguous memory of " + std::to_string(p.workspace));
  }
  const Workspace own(given ? 0 : p.workspace, stream);
  const auto address = [](const Tensor* t) { return t == nullptr ? 0 : t->address(); };
  p.launch({in1.address(), in2.address(), out.address(), address(more.bias), address(more.mask),
            given ? more.workspace->address() : own.address(), more.rounding_offset, address(more.scale),
            address(more.channel_sum), address(more.channel_sum_squares)},
           stream.handle());
  if (stream.handle() == 0) return;
  for (const Tensor* t : tensors) {
    if (t != nullptr) t->used_on(stream);
  }
  if (given) more.workspace->used_on(stream);
}

}  // namespace nervanagpu
