#include "kernels/pool/plan_cache.h"

#include <algorithm>
#include <array>
#include <bit>
#include <span>

#include "kernels/pool/indices.h"
#include "src/launch/launch_tape.h"
#include "src/launch/plan_cache.h"
#include "src/mixed_hash.h"

namespace nervanagpu::pool_detail {
namespace {

// What differs from call to call, in the order of PlannedLaunches.
enum Kept : std::uint8_t { kX, kDy, kOut, kArgmax, kSeed, kOffset, kKept };
using Operands = std::array<std::uint64_t, kKept>;

enum class Work : std::uint8_t { fprop, bprop, indices };

// A call without that.
struct Form {
  std::uint64_t device = 0;  // its serial
  Work work = Work::fprop;
  PoolProblem problem;
  Operands alignments{};              // of src/launch/plan_cache.h
  std::uint32_t alpha = 0, beta = 0;  // bits
  bool relu = false, stochastic = false;
  int round_bits = 0;
  bool operator==(const Form&) const = default;
};

struct Hash {
  std::size_t operator()(const Form& f) const {
    const PoolProblem& p = f.problem;
    MixedHash h;
    h.add(f.device << 32 | static_cast<std::uint64_t>(f.work) << 24 | static_cast<std::uint64_t>(p.op) << 16 |
          static_cast<std::uint64_t>(p.layout) << 8 | static_cast<std::uint64_t>(p.dtype));
    h.add(p.n).add(p.x_pitch);
    for (const Quad* quad : {&p.in, &p.window, &p.pad, &p.stride}) h.add_each(*quad);
    h.add_each(f.alignments).add(std::uint64_t{f.alpha} << 32 | f.beta);
    return h.add((p.count_padding ? 1 : 0) | (f.relu ? 2 : 0) | (f.stochastic ? 4 : 0)).value();
  }
};

Form form_of(const Device& device, Work work, const PoolProblem& p, const Operands& at) {
  Form f;
  f.device = device.serial();
  f.work = work;
  f.problem = p;
  std::transform(at.begin(), at.begin() + kSeed, f.alignments.begin(), form_alignment);
  f.alignments[kSeed] = f.alignments[kOffset] = 1;
  return f;
}

}  // namespace

void queue_planned(Device& device, Pass pass, const PoolProblem& p, const Pointers& pointers,
                   const PoolOptions& options) {
  if (LaunchTape::current() != nullptr) return queue(device, pass, p, pointers, options);
  check_call(pass, p, pointers, options);
  const Operands at = {pointers.x,      pointers.dy,           pointers.out,
                       pointers.argmax, options.rounding.seed, options.rounding.offset};
  Form form = form_of(device, pass == Pass::fprop ? Work::fprop : Work::bprop, p, at);
  form.alpha = std::bit_cast<std::uint32_t>(options.alpha);
  form.beta = std::bit_cast<std::uint32_t>(options.beta);
  form.relu = options.relu;
  form.stochastic = options.rounding.stochastic;
  form.round_bits = options.rounding.bits;
  const auto plan = cached_plan<Form, Hash>(device, form, [&](std::span<const std::uint64_t> there) {
    PoolOptions recorded = options;
    recorded.stream = {};
    recorded.rounding.seed = there[kSeed];
    recorded.rounding.offset = there[kOffset];
    queue(device, pass, p, {there[kX], there[kDy], there[kOut], there[kArgmax]}, recorded);
  });
  if (plan == nullptr) return queue(device, pass, p, pointers, options);
  plan->launch(at, options.stream.handle());
}

void indices_planned(Device& device, const PoolProblem& p, std::uint64_t argmax, std::uint64_t indices,
                     StreamId stream) {
  if (LaunchTape::current() != nullptr) return queue_indices(device, p, argmax, indices, stream);
  check_indices(p, argmax, indices);
  const Operands at = {0, 0, indices, argmax, 0, 0};
  const auto plan = cached_plan<Form, Hash>(
      device, form_of(device, Work::indices, p, at),
      [&](std::span<const std::uint64_t> there) { queue_indices(device, p, there[kArgmax], there[kOut], 0); });
  if (plan == nullptr) return queue_indices(device, p, argmax, indices, stream);
  plan->launch(at, stream);
}

}  // namespace nervanagpu::pool_detail
