#include "kernels/conv/launch.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "kernels/conv/problem.h"
#include "kernels/split_sum/split_sum.h"
#include "nervanagpu/error.hpp"
#include "src/ceil_div.h"
#include "src/launch/values.h"

namespace nervanagpu::conv_detail {
namespace {

enum Flags : std::uint32_t {
  kBeta = 1,
  kRelu = 2,
  kBiasJ = 4,
  kBiasF16 = 8,
  kStochastic = 16,
  kPartial = 32,
  kBiasI = 128,
  kScaleJ = 1 << 12,
  kScaleI = 1 << 13
};

constexpr std::array kOrders = {"llj", "ljj", "iji", "ili"};
constexpr std::int64_t kMostTilesN = 65535;  // of a grid's y

std::uint32_t flags_of(const Epilogue& e, bool bias, std::uint32_t along) {
  return (e.beta != 0.0F ? kBeta : 0U) | (e.relu ? kRelu : 0U) | (bias ? along : 0U) |
         (bias && e.bias_f16 ? kBiasF16 : 0U) | (e.rounding.stochastic ? kStochastic : 0U) |
         static_cast<std::uint32_t>(e.activation) << 8;
}

std::uint64_t moved(std::uint64_t address, std::int64_t elements, Dtype type) {
  return address + static_cast<std::uint64_t>(elements) * size_of(type);
}

Values values_of(const Call& call) {
  const Launch& l = call.launch;
  const Epilogue& e = call.epilogue;
  const Dtype c_type = l.partial ? Dtype::float32 : call.c_type;  // partial sums have four bytes in any case
  const Dtype bias_type = e.bias_f16 ? Dtype::float16 : Dtype::float32;
  const bool bias = call.bias != 0 && !l.partial;
  Values v;
  v.u64(moved(call.a, l.a_at, call.a_type)).u64(moved(call.b, l.b_at, call.b_type));
  v.u64(moved(call.c, l.c_at, c_type)).u64(bias ? moved(call.bias, l.bias_at, bias_type) : 0);
  v.u32(l.m).u32(l.n).u32(l.k).u32(l.kchunk).divisor(l.splits);
  for (const std::int64_t extent : l.ie) v.divisor(extent);
  for (const std::int64_t extent : l.le) v.divisor(extent);
  v.s32(l.ai_n).s32(l.al_n).each_s32(l.as).each_s32(l.mi).each_s32(l.ml).each_s32(l.origin);
  v.u32(l.dim[0]).u32(l.dim[1]).u32(l.dim[2]);
  v.s32(l.bl_n).each_s32(l.bl).s32(l.bj);
  v.s32(l.ci_n).each_s32(l.ci).s32(l.cj);
  v.u32(l.ga).u32(l.gb).u32(l.gc).u32(l.cs).u32(l.c0);
  v.scalar(e.alpha, call.c_type).scalar(e.beta, call.c_type);
  Rounding rounding = e.rounding;
  rounding.offset += l.round_skip;
  v.u32(l.partial ? kPartial : flags_of(e, bias, kBiasJ)).rounding(rounding, call.c_type);
  return v.f32(e.clip_low).f32(e.clip_high);
}

const char* short_name(Dtype t) {
  switch (t) {
    case Dtype::float32: return "f32";
    case Dtype::float16: return "f16";
    case Dtype::int8: return "s8";
    case Dtype::uint8: return "u8";
    default: return "s32";
  }
}

std::string prefix_of(const Call& call) {
  return std::string("conv_") + kOrders[static_cast<std::size_t>(call.launch.order)] + "_" + short_name(call.a_type) +
         "_" + short_name(call.b_type) + "_" + short_name(call.c_type) + "_";
}

// CTAs that a multiprocessor holds at once: registers come in units of 8 a thread, and each CTA costs 1 KB of shared memory
// more than it asks for.
std::int64_t residents(const Kernel& k) {
  const std::int64_t threads = std::max<std::int64_t>(k.manifest().threads, 32);
  const std::int64_t registers = std::max<std::int64_t>(ceil_div(k.image->registers, 8) * 8, 8);
  const std::int64_t shared = std::max(k.manifest().shared, k.image->shared) + 1024;
  return std::clamp<std::int64_t>(std::min(65536 / (threads * registers), 233472 / shared), 1, 8);
}

// The time of `tiles` CTAs on one multiprocessor, in units of one of many: those that remain after full waves of
// `at_once` leave latencies uncovered.
double waves(std::int64_t tiles, std::int64_t at_once) {
  const auto covered = [](std::int64_t n) { return n == 1 ? 0.55 : n == 2 ? 0.96 : 1.0; };
  const std::int64_t rest = tiles % at_once;
  return static_cast<double>(tiles - rest) / covered(at_once) +
         (rest == 0 ? 0.0 : static_cast<double>(rest) / covered(rest));
}

// Clocks until the busiest multiprocessor is done. It does 128 multiply-adds a clock; a small tile spends more of its issue
// slots on fragments, and elements copied one at a time take more of them, too. The shares were measured on an H200.
double cost_of(const Kernel& kernel, const Launch& l, std::int64_t tiles, int multiprocessors) {
  const double outputs = static_cast<double>(kernel.number("BM")) * kernel.number("BN");
  const double efficiency = outputs >= 16384 ? 0.80 : outputs >= 8192 ? 0.71 : 0.58;
  const std::int64_t on_one = ceil_div(tiles, std::max(multiprocessors, 1));
  const double copies = kernel.number("V") == 4 ? 1.0 : 1.4;
  const auto depth = static_cast<double>(std::max<std::int64_t>(std::min(l.k, l.kchunk), 8));
  constexpr double kStart = 3000.0;  // prologue and epilogue of a tile
  return waves(on_one, residents(kernel)) * (outputs * depth / 128.0 / efficiency * copies + kStart * outputs / 16384);
}

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

Plan choose(const Device& device, const Call& call, const std::string& end) {
  for (const Plan& plan : plans(device.registry(), device.info().multiprocessors, call)) {
    if (ends_with(plan.kernel->name(), end)) return plan;
  }
  std::string why;
  const std::string prefix = prefix_of(call);
  const Values values = values_of(call);
  for (const Kernel* k : device.registry().of_op("conv")) {
    if (k->name().compare(0, prefix.size(), prefix) != 0 || !ends_with(k->name(), end)) continue;
    const sass::Condition* unmet = k->unmet(values.numbers());
    if (unmet != nullptr) why += "\n  " + k->name() + " needs " + unmet->text();
  }
  throw InvalidArgument("conv: no kernel " + prefix + "*" + end + " for this problem" + why);
}

// Without the launch and the address of C.
Call call_of(ConvPass pass, const ConvProblem& p, const ConvPointers& pointers, const Epilogue& epilogue) {
  const Roles roles = roles_of(pass);
  Call call;
  // A is what is gathered: x, or in bprop dy.
  const bool swapped = pass == ConvPass::update;
  call.a = swapped ? pointers.in2 : pointers.in1;
  call.b = swapped ? pointers.in1 : pointers.in2;
  call.a_type = type_of(p, swapped ? roles.in2 : roles.in1);
  call.b_type = type_of(p, swapped ? roles.in1 : roles.in2);
  call.c_type = type_of(p, roles.out);
  call.bias = pointers.bias;
  call.epilogue = epilogue;
  return call;
}

}  // namespace

split_sum::Sum sum_of(const SplitSum& s, const ConvPointers& pointers, const Epilogue& e, Dtype type, Dtype sums) {
  split_sum::Sum sum;
  sum.type = type;
  sum.sums = sums;
  sum.workspace = pointers.workspace;
  sum.out = pointers.out;
  sum.bias = pointers.bias;
  sum.groups = s.groups;
  sum.rows = s.rows;
  sum.cols = s.cols;
  sum.splits = s.splits;
  sum.ld = s.ld;
  sum.group_stride = s.gc;
  sum.alpha = e.alpha;
  sum.beta = e.beta;
  sum.flags = flags_of(e, pointers.bias != 0, s.bias_along_rows ? kBiasI : kBiasJ);
  if (e.scale != 0) sum.flags |= s.bias_along_rows ? kScaleI : kScaleJ;
  sum.rounding = e.rounding;
  sum.scale = e.scale;
  sum.clip_low = e.clip_low;
  sum.clip_high = e.clip_high;
  return sum;
}

std::vector<Plan> plans(const Registry& registry, int multiprocessors, const Call& call) {
  const std::string prefix = prefix_of(call);
  const Values values = values_of(call);
  const Launch& l = call.launch;
  std::vector<Plan> out;
  for (const Kernel* k : registry.of_op("conv")) {
    if (k->name().compare(0, prefix.size(), prefix) != 0) continue;
    const int bm = k->number("BM");
    const int bn = k->number("BN");
    if (bm <= 0 || bn <= 0 || ceil_div(l.n, bn) > kMostTilesN || k->unmet(values.numbers()) != nullptr) continue;
    const Grid grid = {static_cast<std::uint32_t>(ceil_div(l.m, bm)), static_cast<std::uint32_t>(ceil_div(l.n, bn)),
                       static_cast<std::uint32_t>(l.groups * l.splits)};
    const std::int64_t tiles = std::int64_t{grid.x} * grid.y * grid.z;
    out.push_back({k, grid, cost_of(*k, l, tiles, multiprocessors)});
  }
  std::stable_sort(out.begin(), out.end(), [](const Plan& a, const Plan& b) { return a.cost < b.cost; });
  return out;
}

void launch(Device& device, const Plan& plan, const Call& call, StreamId stream) {
  values_of(call).launch(device, *plan.kernel, plan.grid, stream);
}

std::size_t partial_bytes(ConvPass pass, const ConvProblem& p, const Forced& forced) {
  return static_cast<std::size_t>(map(pass, p, forced.limits, forced.splits).sum.elements()) * 4;
}

void queue(Device& device, ConvPass pass, const ConvProblem& p, const ConvPointers& pointers, const Epilogue& epilogue,
           StreamId stream, const Forced& forced) {
  const Mapping mapping = map(pass, p, forced.limits, forced.splits);
  Call call = call_of(pass, p, pointers, epilogue);
  std::vector<Call> calls;
  std::vector<Plan> chosen;
  for (const Launch& l : mapping.launches) {
    if (epilogue.rounding.stochastic && !l.partial && l.c_at % 4 != 0) {
      throw InvalidArgument(
          "conv: stochastic rounding of a batch of 2^31 or more elements needs images of a multiple of 4");
    }
    call.launch = l;
    call.c = l.partial ? pointers.workspace : pointers.out;
    calls.push_back(call);
    chosen.push_back(choose(device, call, forced.kernel));
  }
  split_sum::Plan sum;
  if (mapping.sum.splits > 1)
    sum = split_sum::plan(device.registry(), sum_of(mapping.sum, pointers, epilogue, call.c_type, call.sums()));
  for (std::size_t i = 0; i < calls.size(); ++i) launch(device, chosen[i], calls[i], stream);
  if (sum.kernel != nullptr) sum.values.launch(device, *sum.kernel, sum.grid, stream);
}

void queue_if(Device& device, ConvPass pass, const ConvProblem& p, const ConvPointers& pointers,
              const Epilogue& epilogue, StreamId stream, std::uint64_t ranges, std::int64_t most_exponents,
              const bf16x6::Unless& unless) {
  Call call = call_of(pass, p, pointers, epilogue);
  call.c = pointers.out;
  const Mapping mapping = map(pass, p, {}, 1);
  for (const Launch& l : mapping.launches) {
    call.launch = l;
    Values values = values_of(call);
    unless.put(values.u64(ranges).u32(most_exponents));
    const Kernel* kernel = nullptr;
    for (const char* tile : {"_128x64_4", "_64x64_1"}) {
      const Kernel* k =
          device.registry().find("conv_if_" + std::string(kOrders[static_cast<std::size_t>(l.order)]) + tile);
      if (k == nullptr || k->unmet(values.numbers()) != nullptr) continue;
      kernel = k;
      break;
    }
    if (kernel == nullptr) throw InvalidArgument("conv: no kernel conv_if for this problem");
    constexpr std::int64_t kMost = 4 * 132;  // CTAs: a few a multiprocessor
    const std::int64_t columns = ceil_div(l.n, kernel->number("BN"));
    const std::int64_t beside = columns * l.groups * l.splits;
    const std::int64_t rows = std::min(ceil_div(l.m, kernel->number("BM")), std::max<std::int64_t>(kMost / beside, 1));
    Grid grid = {static_cast<std::uint32_t>(rows), static_cast<std::uint32_t>(columns),
                 static_cast<std::uint32_t>(l.groups * l.splits)};
    grid.early = unless.statistics != 0;
    values.launch(device, *kernel, grid, stream);
  }
}

}  // namespace nervanagpu::conv_detail
