#include "kernels/conv/plan_cache.h"

#include <algorithm>
#include <bit>

#include "kernels/conv/problem_facts.h"
#include "src/memo.h"

namespace nervanagpu::conv_detail {
namespace {

constexpr std::uint64_t kMostAlignment = 16;  // nothing asks for more

struct Hash {
  std::size_t operator()(const Form& f) const {
    constexpr std::size_t kPrime = 0x9e3779b97f4a7c15;
    std::size_t h = hash_of(f.pass, f.problem);
    h = (h ^ f.device ^ (std::size_t{f.beta} << 32) ^ f.alpha) * kPrime;
    for (const std::uint64_t a : f.alignments) h = h * 31 + a;
    return h ^ (f.relu ? 1U : 0U) ^ (f.tensor_cores ? 2U : 0U) ^ (f.stochastic ? 4U : 0U);
  }
};

std::uint64_t alignment_of(std::uint64_t address) {
  return std::min(address & (~address + 1), kMostAlignment);
}

}  // namespace

Form form_of(const Device& device, ConvPass pass, const ConvProblem& p, const ConvPointers& pointers, const Epilogue& e,
             bool tensor_cores) {
  Form f;
  f.device = device.serial();
  f.pass = pass;
  f.problem = p;
  f.alignments = {alignment_of(pointers.in1),
                  alignment_of(pointers.in2),
                  alignment_of(pointers.out),
                  alignment_of(pointers.bias),
                  alignment_of(pointers.mask),
                  alignment_of(pointers.workspace),
                  0,
                  0};
  f.bias_type = pointers.bias_type;
  f.ld_mask = e.ld_mask;
  f.alpha = std::bit_cast<std::uint32_t>(e.alpha);
  f.beta = std::bit_cast<std::uint32_t>(e.beta);
  f.relu = e.relu;
  f.tensor_cores = tensor_cores;
  f.stochastic = e.rounding.stochastic;
  f.round_bits = e.rounding.bits;
  return f;
}

KeptOperands operands_of(const ConvPointers& at, const Rounding& rounding) {
  return {at.in1, at.in2, at.out, at.bias, at.mask, at.workspace, rounding.seed, rounding.offset};
}

std::shared_ptr<const PlannedLaunches> kept(Device& device, const Form& form,
                                            const std::function<void(std::span<const std::uint64_t>)>& queue) {
  constexpr std::size_t kMost = 1024;
  static auto& all = *new Memo<Form, std::shared_ptr<const PlannedLaunches>, Hash, kMost>;
  return all.get(form, [&] {
    KeptOperands alignments = form.alignments;
    std::ranges::replace(alignments, 0, 1);
    return std::make_shared<const PlannedLaunches>(device, alignments, [&](std::span<const std::uint64_t> at) {
      KeptOperands given{};  // what there is
      for (std::size_t i = 0; i < kKept; ++i) given[i] = i >= kSeed || form.alignments[i] != 0 ? at[i] : 0;
      queue(given);
    });
  });
}

}  // namespace nervanagpu::conv_detail
