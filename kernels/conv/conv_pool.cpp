// A convolution and the max pool after it: narrow_swapped.sass's variant for that, or the two one after the other.
#include "nervanagpu/conv_pool.hpp"

#include <array>
#include <optional>
#include <string>

#include "kernels/conv/launch.h"
#include "kernels/conv/narrow/narrow_swapped_choice.h"
#include "kernels/conv/problem.h"
#include "kernels/conv/problem_facts.h"
#include "kernels/conv/tensors.h"
#include "kernels/pool/tensors.h"
#include "nervanagpu/error.hpp"
#include "src/device/placement.h"
#include "src/device/select_device.h"
#include "src/memory/workspace.h"
#include "src/tensor/shape.h"

namespace nervanagpu {
namespace {

using conv_detail::Role;
namespace narrow = conv_detail::narrow;
namespace narrow_swapped = conv_detail::narrow_swapped;

constexpr std::uint64_t kAligned = 256;

bool is_two_by_two(const PoolProblem& q) {
  using Four = std::array<std::int64_t, 4>;
  return q.op == PoolOp::max && q.window == Four{1, 1, 2, 2} && q.stride == Four{1, 1, 2, 2} && q.pad == Four{};
}

void check_options(const ConvOptions& o) {
  const auto refuse = [](const char* what) {
    throw InvalidArgument(std::string("conv_max_pool: ") + what +
                          " is given; needs a convolution without, for its result is not kept");
  };
  if (o.mask != nullptr) refuse("mask");
  if (o.x_pieces != nullptr) refuse("x_pieces");
  if (o.channel_sum != nullptr || o.channel_sum_squares != nullptr) refuse("channel_sum");
  if (o.rounding.stochastic) refuse("rounding at random");
  if (o.beta != 0) refuse("beta");
}

struct OneKernel {
  narrow::Choice choice;
  narrow::Load load;
  const Kernel* kernel;
};

// Of operands that begin at such addresses; none: two kernels.
std::optional<OneKernel> in_one(const ConvProblem& p, const PoolProblem& q, const ConvOptions& o, std::uint64_t x,
                                std::uint64_t y, std::uint64_t argmax) {
  const bool plain =
      o.relu && o.alpha == 1 && o.activation == GemmActivation::none && o.scale == nullptr && o.tensor_cores;
  if (!plain || !is_two_by_two(q) || p.layout != Layout::channels_last || apart(p, Role::y)) return std::nullopt;
  const std::optional<narrow::Choice> c = narrow_swapped::choose_pooled(p);
  if (!c || y % 16 != 0 || argmax % 4 != 0) return std::nullopt;
  const narrow::Load load = narrow::load_of(p, *c, x);
  const Kernel* kernel = narrow_swapped::find(current_device().registry(), p.x_type, load, *c, true);
  return kernel == nullptr ? std::nullopt : std::optional<OneKernel>({*c, load, kernel});
}

PoolOptions of_pool(const ConvOptions& o) {
  PoolOptions out;
  out.stream = o.stream;
  return out;
}

}  // namespace

PoolProblem pool_behind(const ConvProblem& p, const PoolProblem& q) {
  conv_detail::check(ConvPass::fprop, p);
  PoolProblem out;
  out.op = q.op, out.window = q.window, out.pad = q.pad, out.stride = q.stride;
  out.layout = p.layout;
  out.n = p.n;
  const auto space = p.out();
  out.in = {p.k, space[0], space[1], space[2]};
  out.dtype = p.y_type;
  if (out.op != PoolOp::max) throw InvalidArgument("conv_max_pool: op is not max; needs a max pool");
  static_cast<void>(out.out());
  return out;
}

bool conv_max_pool_is_one_kernel(const ConvProblem& p, const PoolProblem& q, const ConvOptions& options) {
  static_cast<void>(pool_behind(p, q));
  if (options.mask != nullptr || options.rounding.stochastic || options.beta != 0) return false;
  return in_one(p, q, options, kAligned, kAligned, kAligned).has_value();
}

void conv_max_pool_fprop(const ConvProblem& p, const PoolProblem& q, const ConvPointers& pointers, std::uint64_t argmax,
                         const ConvOptions& options) {
  const PoolProblem behind = pool_behind(p, q);
  check_options(options);
  if (const auto one = in_one(p, behind, options, pointers.in1, pointers.out, argmax)) {
    conv_detail::check_operands(ConvPass::fprop, p, pointers);
    static_cast<void>(conv_detail::epilogue_of(ConvPass::fprop, p, pointers, options));
    const Workspace filters(static_cast<std::size_t>(narrow_swapped::filter_bytes(one->choice)), options.stream);
    const narrow_swapped::Operands operands = {.x = pointers.in1,
                                               .w = pointers.in2,
                                               .y = pointers.out,
                                               .bias = pointers.bias,
                                               .bias_type = pointers.bias_type,
                                               .relu = true,
                                               .pitch = p.k,
                                               .pooled = true,
                                               .codes = argmax,
                                               .filters = filters.address()};
    narrow_swapped::launch(current_device(), *one->kernel, p, one->choice, operands, one->load, options.stream);
    return;
  }
  const std::size_t bytes = static_cast<std::size_t>(p.y_elements()) * size_of(p.y_type);
  const std::size_t between = (bytes + kAligned - 1) / kAligned * kAligned;
  ConvProblem whole = p;
  whole.y_pitch = 0;
  const Workspace memory(between + conv_workspace(ConvPass::fprop, whole), options.stream);
  ConvPointers at = pointers;
  at.out = memory.address();
  at.workspace = memory.address() + between;
  conv(ConvPass::fprop, whole, at, options);
  if (argmax != 0) {
    PoolOptions with_codes = of_pool(options);
    with_codes.relu = options.relu;
    max_pool_fprop(behind, at.out, pointers.out, argmax, with_codes);
  } else {
    pool_fprop(behind, at.out, pointers.out, of_pool(options));
  }
}

void conv_max_pool_fprop(const ConvProblem& p, const PoolProblem& q, const Tensor& x, const Tensor& w, Tensor& y,
                         Tensor* argmax, const ConvOptions& options) {
  const Placed placed(
      "conv_max_pool",
      {{"x", x}, {"w", w}, {"y", y}, {"argmax", argmax}, {"bias", options.bias}, {"stream", options.stream}});
  const PoolProblem behind = pool_behind(p, q);
  check_options(options);
  // What lies between is looked at for its shape alone.
  const int axes = y.ndim() - 2;
  const Shape shape = conv_detail::y_shape(p, axes < 1 || axes > 3 ? 3 : axes);
  const Tensor between = Tensor::wrap(kAligned, shape, row_major_strides(shape), p.y_type);
  conv_detail::Described d = conv_detail::describe(ConvPass::fprop, p, x, w, between, options);
  const pool_detail::Operands of = {pool_detail::Pass::fprop, between, y, nullptr, argmax};
  static_cast<void>(pool_detail::describe(behind, of));
  check_apart(of);
  const conv_detail::More more = conv_detail::more_of(options);
  conv_detail::check_apart(ConvPass::fprop, x, w, y, more);
  if (argmax != nullptr) conv_detail::check_apart(ConvPass::fprop, x, w, *argmax, more);
  d.pointers.out = y.address();
  conv_max_pool_fprop(d.problem, q, d.pointers, argmax != nullptr ? argmax->address() : 0, options);
  for (const Tensor* t : {&x, &w, static_cast<const Tensor*>(&y), static_cast<const Tensor*>(argmax), options.bias}) {
    if (t != nullptr) t->used_on(options.stream);
  }
}

}  // namespace nervanagpu
