// A pass chosen and packed once (nervanagpu/pool_plan.hpp): later calls check addresses and launch.
#include "nervanagpu/pool_plan.hpp"

#include <array>
#include <optional>
#include <utility>

#include "kernels/pool/argmax.h"
#include "kernels/pool/pool.h"
#include "kernels/pool/tensors.h"
#include "nervanagpu/error.hpp"
#include "src/device/placement.h"
#include "src/launch/planned_alignment.h"
#include "src/launch/planned_launches.h"
#include "src/tensor/tensor_form.h"

namespace nervanagpu {
namespace {

using namespace pool_detail;  // NOLINT(google-build-using-namespace)

constexpr const char* kPlan = "pool plan";

// What differs from launch to launch, as PlannedLaunches counts it.
enum Operand : std::size_t { kIn, kOut, kX, kArgmax, kRoundingOffset, kOperands };
constexpr std::size_t kTensors = kRoundingOffset;

Pass pass_of(PoolPass pass) {
  return pass == PoolPass::fprop ? Pass::fprop : Pass::bprop;
}

}  // namespace

struct PoolPlan::Impl {
  Impl(PoolPass pass, const PoolProblem& problem, const PoolAddresses& like, const PoolOptions& options);

  [[nodiscard]] const char* name(std::size_t operand) const {
    const bool forward = pass == PoolPass::fprop;
    switch (operand) {
      case kIn: return forward ? "x" : "dy";
      case kOut: return forward ? "y" : "dx";
      case kX: return "x";
      default: return "argmax";
    }
  }
  void check_given(bool argmax) const {
    if (argmax == (planned[kArgmax] != 0)) return;
    throw InvalidArgument(std::string(kPlan) +
                          (argmax ? ": argmax was not planned" : ": argmax is missing; one was planned"));
  }
  void launch(const PoolAddresses& at, StreamId stream) const;

  PoolPass pass;
  PoolProblem problem;
  std::array<std::uint64_t, kTensors> planned{};  // alignments; 0: the kernel has no use for it
  std::optional<PlannedLaunches> launches;
  std::vector<std::string> kernels;
  int device = get_device();
  std::array<std::optional<TensorForm>, kTensors> forms;  // of a plan of tensors
};

PoolPlan::Impl::Impl(PoolPass pass, const PoolProblem& problem, const PoolAddresses& like, const PoolOptions& options)
    : pass(pass), problem(problem) {
  PoolOptions recorded = options;
  recorded.stream = {};
  const bool argmax = like.argmax != 0;
  const std::array<std::uint64_t, kOperands> alignments = {planned_alignment(like.in), planned_alignment(like.out),
                                                           planned_alignment(like.x), planned_alignment(like.argmax),
                                                           1};
  check(problem);
  const Alignments needed = alignments_of(problem, argmax);
  for (std::size_t i = 0; i < kTensors; ++i) {
    const std::size_t least = i == kArgmax ? needed.argmax : needed.tensors;
    if (alignments[i] % least == 0) continue;
    throw InvalidArgument(std::string(kPlan) + ": " + name(i) + " is aligned to " + std::to_string(alignments[i]) +
                          "; needs a multiple of " + std::to_string(least));
  }
  launches.emplace(current_device(), alignments, [&](std::span<const std::uint64_t> at) {
    recorded.rounding.offset = at[kRoundingOffset] + options.rounding.offset;
    Pointers from;
    from.x = pass == PoolPass::fprop ? at[kIn] : at[kX];
    from.dy = at[kIn];
    from.out = at[kOut];
    from.argmax = argmax ? at[kArgmax] : 0;
    queue(current_device(), pass_of(pass), problem, from, recorded);
  });
  for (std::size_t i = 0; i < kTensors; ++i) planned[i] = launches->uses(i) ? alignments[i] : 0;
  kernels = launches->kernels();
}

void PoolPlan::Impl::launch(const PoolAddresses& at, StreamId stream) const {
  const std::array<std::uint64_t, kOperands> operands = {at.in, at.out, at.x, at.argmax, at.rounding_offset};
  check_given(at.argmax != 0);
  for (std::size_t i = 0; i < kTensors; ++i) {
    if (planned[i] != 0) check_planned_address(kPlan, name(i), operands[i], planned[i]);
  }
  launches->launch(operands, stream);
}

PoolPlan::PoolPlan(PoolPass pass, const PoolProblem& problem, const PoolAddresses& like, const PoolOptions& options)
    : impl_(std::make_shared<const Impl>(pass, problem, like, options)) {}

PoolPlan::PoolPlan(PoolPass pass, const PoolProblem& given, const Tensor& in, const Tensor& out,
                   const PoolOperands& like, const PoolOptions& options) {
  const Placed placed(kPlan,
                      {{"in", in}, {"out", out}, {"x", like.x}, {"argmax", like.argmax}, {"stream", options.stream}});
  const Operands of = {pass_of(pass), in, out, like.x, like.argmax};
  if (pass == PoolPass::fprop && like.x != nullptr) {
    throw InvalidArgument("pool plan: x is given for fprop; needs in alone");
  }
  if (pass == PoolPass::bprop && given.op != PoolOp::avg && like.x == nullptr && like.argmax == nullptr) {
    throw InvalidArgument("pool plan: neither x nor argmax is given for bprop; needs one of them");
  }
  const PoolProblem problem = describe(given, of);
  check_apart(of);
  const auto address = [](const Tensor* t) { return t == nullptr ? 0 : t->address(); };
  auto impl = std::make_shared<Impl>(
      pass, problem, PoolAddresses{in.address(), out.address(), address(like.x), address(like.argmax), 0}, options);
  const std::array<const Tensor*, kTensors> tensors = {&in, &out, like.x, like.argmax};
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i] != nullptr) impl->forms[i].emplace(*tensors[i]);
  }
  impl_ = std::move(impl);
}

const std::vector<std::string>& PoolPlan::kernels() const {
  return impl_->kernels;
}
PoolPass PoolPlan::pass() const {
  return impl_->pass;
}
const PoolProblem& PoolPlan::problem() const {
  return impl_->problem;
}

void PoolPlan::launch(const PoolAddresses& addresses, const Stream& stream) const {
  const Placed placed(kPlan, {{"the plan", impl_->device}, {"stream", stream}});
  impl_->launch(addresses, stream.handle());
}

void PoolPlan::launch(const Tensor& in, Tensor& out, const PoolOperands& more, const Stream& stream) const {
  const Impl& p = *impl_;
  if (!p.forms[kOut]) throw InvalidArgument("pool plan: was made of addresses; needs a launch with addresses");
  const Placed placed(kPlan, {{"the plan", p.device},
                              {p.name(kIn), in},
                              {p.name(kOut), out},
                              {"x", more.x},
                              {"argmax", more.argmax},
                              {"stream", stream}});
  p.check_given(more.argmax != nullptr);
  const std::array<const Tensor*, kTensors> tensors = {&in, &out, more.x, more.argmax};
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i] != nullptr && p.forms[i]) check_like(kPlan, p.name(i), *tensors[i], *p.forms[i]);
  }
  if (p.planned[kX] != 0 && more.x == nullptr) throw InvalidArgument("pool plan: x is missing; one was planned");
  if (!p.forms[kX] && more.x != nullptr) throw InvalidArgument("pool plan: x was not planned");
  const Operands of = {pass_of(p.pass), in, out, more.x, more.argmax};
  check_apart(of);
  const auto address = [](const Tensor* t) { return t == nullptr ? 0 : t->address(); };
  p.launch({in.address(), out.address(), address(more.x), address(more.argmax), more.rounding_offset}, stream.handle());
  if (stream.handle() != 0) used_on(of, stream);
}

}  // namespace nervanagpu
