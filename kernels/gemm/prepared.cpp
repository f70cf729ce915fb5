#include "kernels/gemm/prepared.h"

#include <bit>
#include <cstring>

#include "kernels/gemm/gemm.h"
#include "kernels/gemm/hgemm.h"
#include "kernels/split_sum/split_sum.h"
#include "nervanagpu/error.hpp"
#include "src/arguments.h"

namespace nervanagpu::sgemm {
namespace {

std::uint16_t offset_of(const Kernel& kernel, std::string_view name, std::uint16_t none) {
  for (const sass::Param& p : kernel.manifest().params) {
    if (p.name == name) return p.offset;
  }
  return none;
}

template <class T>
void put(std::byte* block, std::uint16_t at, std::uint16_t none, T value) {
  if (at != none) std::memcpy(block + at, &value, sizeof value);
}

}  // namespace

std::uint32_t MapCache::get(Device& device, std::uint64_t address, std::byte* to) {
  constexpr std::uint64_t kEngine = 16;
  const auto first = static_cast<std::uint32_t>(address % kEngine / sizeof(float));
  const std::lock_guard lock(mutex_);
  const Entry* found = nullptr;
  for (const Entry& e : entries_) {
    if (e.address == address) found = &e;
  }
  if (found == nullptr) {
    Entry made = {address, {}};
    for (TensorMap form : forms_) {
      form.address = address - address % kEngine;
      form.sizes[0] += first;
      made.maps.push_back(device.encode_tensor_map(form));
    }
    entries_[oldest_] = std::move(made);
    found = &entries_[oldest_];
    oldest_ = (oldest_ + 1) % kEntries;
  }
  for (const EncodedTensorMap& map : found->maps) {
    std::memcpy(to, map.bytes.data(), sizeof map.bytes);
    to += sizeof map.bytes;
  }
  return first;
}

Prepared::Part Prepared::part_of(const Kernel& kernel, const Grid& grid, const Values& values) {
  Arguments arguments(kernel.manifest());
  values.pack(arguments);
  const auto block = arguments.block();
  if (block.size() > kMaxBlock) {
    throw Error("kernel " + kernel.name() + " has " + std::to_string(block.size()) +
                " bytes of parameters; a plan has " + std::to_string(kMaxBlock));
  }
  return {&kernel, grid, {block.begin(), block.end()}};
}

Prepared::Finish Prepared::finish_of(const Kernel& kernel, const char* out) {
  const auto at = [&](std::string_view name) { return offset_of(kernel, name, kNone); };
  return {at(out), at("bias"), at("alpha"), at("beta"), at("seed"), at("round_offset"), at("scale")};
}

Prepared::Prepared(Device& device, const GemmProblem& problem, const std::string& tile)
    : device_(device), c_type_(problem.c_type) {
  const Registry& registry = device.registry();
  const Plan plan = choose(registry, device.info().multiprocessors, problem, tile);
  main_ = part_of(*plan.kernel, plan.grid, values_of(plan, problem, nullptr));
  a_ = offset_of(*plan.kernel, "a", kNone);
  b_ = offset_of(*plan.kernel, "b", kNone);
  if (hgemm::is(*plan.kernel)) {
    const hgemm::Maps maps = hgemm::maps(*plan.kernel, problem);
    exchanged_ = maps.exchanged;
    map_a_ = std::make_unique<MapCache>(std::vector{maps.a});
    map_b_ = std::make_unique<MapCache>(std::vector{maps.b});
  }
  if (plan.ring) {
    GemmProblem aligned = problem;
    aligned.a = aligned.b = 0;
    const auto cache_of = [](const sgemm_ring::Maps& maps) {
      return std::make_unique<MapCache>(
          std::vector(maps.of.begin(), maps.of.begin() + static_cast<std::ptrdiff_t>(maps.count)));
    };
    exchanged_ = plan.ring->exchanged;
    map_a_ = cache_of(sgemm_ring::maps_a(*plan.kernel, aligned, exchanged_));
    map_b_ = cache_of(sgemm_ring::maps_b(*plan.kernel, aligned, exchanged_));
    first_a_ = offset_of(*plan.kernel, "a_first", kNone);
    first_b_ = offset_of(*plan.kernel, "b_first", kNone);
  }
  if (!finished_apart(plan, problem)) {
    finish_ = finish_of(*plan.kernel, "c");
    return;
  }
  const split_sum::Plan sum = split_sum::plan(registry, sum_of(problem, plan.splits));
  sum_ = part_of(*sum.kernel, sum.grid, sum.values);
  parts_ = offset_of(*plan.kernel, "c", kNone);
  sums_ = offset_of(*sum.kernel, "ws", kNone);
  finish_ = finish_of(*sum.kernel, "out");
  workspace_ = static_cast<std::size_t>(plan.splits * problem.m * problem.n) * 4;
}

void Prepared::put_finish(std::byte* block, const Finish& at, const Call& call) const {
  put(block, at.out, kNone, call.c);
  put(block, at.bias, kNone, call.bias);
  put(block, at.alpha, kNone, Values::scalar_bits(call.alpha, c_type_));
  put(block, at.beta, kNone, Values::scalar_bits(call.beta, c_type_));
  put(block, at.seed, kNone, call.seed);
  put(block, at.offset, kNone, call.rounding_offset);
  put(block, at.scale, kNone, call.scale);
}

void Prepared::launch(const Call& call, StreamId stream) const {
  alignas(64) std::array<std::byte, kMaxBlock> block;
  std::memcpy(block.data(), main_.block.data(), main_.block.size());
  const std::uint64_t a = exchanged_ ? call.b : call.a;
  const std::uint64_t b = exchanged_ ? call.a : call.b;
  if (map_a_ != nullptr) {
    put(block.data(), first_a_, kNone, map_a_->get(device_, a, block.data() + a_));
    put(block.data(), first_b_, kNone, map_b_->get(device_, b, block.data() + b_));
  } else {
    put(block.data(), a_, kNone, a);
    put(block.data(), b_, kNone, b);
  }
  if (!sum_) {
    put_finish(block.data(), finish_, call);
    device_.launch(*main_.kernel, main_.grid, {block.data(), main_.block.size()}, stream);
    return;
  }
  put(block.data(), parts_, kNone, call.workspace);
  device_.launch(*main_.kernel, main_.grid, {block.data(), main_.block.size()}, stream);
  std::memcpy(block.data(), sum_->block.data(), sum_->block.size());
  put(block.data(), sums_, kNone, call.workspace);
  put_finish(block.data(), finish_, call);
  device_.launch(*sum_->kernel, sum_->grid, {block.data(), sum_->block.size()}, stream);
}

}  // namespace nervanagpu::sgemm
