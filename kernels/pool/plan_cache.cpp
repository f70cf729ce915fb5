#include "kernels/pool/plan_cache.h"

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <memory>
#include <span>

#include "kernels/pool/places.h"
#include "src/launch/launch_tape.h"
#include "src/launch/planned_launches.h"
#include "src/memo.h"

namespace nervanagpu::pool_detail {
namespace {

// What differs from call to call, in the order of PlannedLaunches.
enum Kept : std::uint8_t { kX, kDy, kOut, kArgmax, kSeed, kOffset, kKept };
constexpr std::size_t kTensors = kSeed;
using Operands = std::array<std::uint64_t, kKept>;

enum class Work : std::uint8_t { fprop, bprop, places };

// A call without that.
struct Form {
  std::uint64_t device = 0;  // its serial
  Work work = Work::fprop;
  PoolProblem problem;
  std::array<std::uint64_t, kTensors> alignments{};  // of operands, 1 to 16; 0: there is none
  std::uint32_t alpha = 0, beta = 0;                 // bits
  bool relu = false, stochastic = false;
  int round_bits = 0;
  bool operator==(const Form&) const = default;
};

struct Hash {
  std::size_t operator()(const Form& f) const {
    constexpr std::uint64_t kPrime = 0x9e3779b97f4a7c15;
    std::uint64_t h = 0;
    const auto add = [&](std::uint64_t v) { h = (h ^ v) * kPrime, h ^= h >> 29; };
    const auto number = [&](std::int64_t v) { add(static_cast<std::uint64_t>(v)); };
    const PoolProblem& p = f.problem;
    add(f.device << 32 | static_cast<std::uint64_t>(f.work) << 24 | static_cast<std::uint64_t>(p.op) << 16 |
        static_cast<std::uint64_t>(p.layout) << 8 | static_cast<std::uint64_t>(p.dtype));
    for (const std::int64_t v : {p.n, p.x_pitch}) number(v);
    for (const Quad* quad : {&p.in, &p.window, &p.pad, &p.stride}) {
      for (const std::int64_t v : *quad) number(v);
    }
    for (const std::uint64_t a : f.alignments) add(a);
    add(std::uint64_t{f.alpha} << 32 | f.beta);
    return h ^ (p.count_padding ? 1U : 0U) ^ (f.relu ? 2U : 0U) ^ (f.stochastic ? 4U : 0U);
  }
};

std::uint64_t alignment_of(std::uint64_t address) {
  constexpr std::uint64_t kMost = 16;  // nothing asks for more
  return std::min(address & (~address + 1), kMost);
}

Form form_of(const Device& device, Work work, const PoolProblem& p, const Operands& at) {
  Form f;
  f.device = device.serial();
  f.work = work;
  f.problem = p;
  std::transform(at.begin(), at.begin() + kTensors, f.alignments.begin(), alignment_of);
  return f;
}

// `queue` queues the work of a form for operands, in the default stream.
void launch(Device& device, const Form& form, const Operands& at, StreamId stream,
            const std::function<void(const Operands&)>& queue) {
  constexpr std::size_t kMost = 1024;
  static auto& all = *new Memo<Form, std::shared_ptr<const PlannedLaunches>, Hash, kMost>;
  const auto plan = all.get(form, [&] {
    Operands alignments{};
    std::copy(form.alignments.begin(), form.alignments.end(), alignments.begin());
    std::ranges::replace(alignments, 0, 1);
    return std::make_shared<const PlannedLaunches>(device, alignments, [&](std::span<const std::uint64_t> given) {
      Operands there{};
      for (std::size_t i = 0; i < kKept; ++i) there[i] = i >= kTensors || form.alignments[i] != 0 ? given[i] : 0;
      queue(there);
    });
  });
  plan->launch(at, stream);
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
  launch(device, form, at, options.stream.handle(), [&](const Operands& there) {
    PoolOptions recorded = options;
    recorded.stream = {};
    recorded.rounding.seed = there[kSeed];
    recorded.rounding.offset = there[kOffset];
    queue(device, pass, p, {there[kX], there[kDy], there[kOut], there[kArgmax]}, recorded);
  });
}

void places_planned(Device& device, const PoolProblem& p, std::uint64_t argmax, std::uint64_t places, StreamId stream) {
  if (LaunchTape::current() != nullptr) return queue_places(device, p, argmax, places, stream);
  check_places(p, argmax, places);
  const Operands at = {0, 0, places, argmax, 0, 0};
  launch(device, form_of(device, Work::places, p, at), at, stream,
         [&](const Operands& there) { queue_places(device, p, there[kArgmax], there[kOut], 0); });
}

}  // namespace nervanagpu::pool_detail
