#include "kernels/conv/plan_cache.h"

#include <bit>

#include "kernels/conv/problem_facts.h"
#include "src/launch/plan_cache.h"
#include "src/mixed_hash.h"

namespace nervanagpu::conv_detail {
namespace {

struct Hash {
  std::size_t operator()(const Form& f) const {
    MixedHash h;
    h.add(hash_of(f.pass, f.problem)).add(f.device ^ std::uint64_t{f.beta} << 32 ^ f.alpha).add_each(f.alignments);
    return h
        .add((f.relu ? 1 : 0) | (f.tensor_cores ? 2 : 0) | (f.stochastic ? 4 : 0) | (f.x_made ? 8 : 0) |
             (f.y_made ? 16 : 0) | static_cast<std::uint64_t>(f.activation) << 5)
        .value();
  }
};

}  // namespace

Form form_of(const Device& device, ConvPass pass, const ConvProblem& p, const ConvPointers& pointers, const Epilogue& e,
             bool tensor_cores) {
  Form f;
  f.device = device.serial();
  f.pass = pass;
  f.problem = p;
  f.alignments = {form_alignment(pointers.in1),
                  form_alignment(pointers.in2),
                  form_alignment(pointers.out),
                  form_alignment(pointers.bias),
                  form_alignment(pointers.mask),
                  form_alignment(pointers.scale),
                  form_alignment(pointers.channel_sum),
                  form_alignment(pointers.channel_sum_squares),
                  form_alignment(pointers.workspace),
                  form_alignment(pointers.x_pieces.address),
                  form_alignment(pointers.y_pieces.address),
                  1,
                  1};
  f.bias_type = pointers.bias_type;
  f.ld_mask = e.ld_mask;
  f.alpha = std::bit_cast<std::uint32_t>(e.alpha);
  f.beta = std::bit_cast<std::uint32_t>(e.beta);
  f.activation = e.activation;
  f.clip_low = std::bit_cast<std::uint32_t>(e.clip_low);
  f.clip_high = std::bit_cast<std::uint32_t>(e.clip_high);
  f.relu = e.relu;
  f.tensor_cores = tensor_cores;
  f.x_made = pointers.x_pieces.made, f.y_made = pointers.y_pieces.made;
  f.stochastic = e.rounding.stochastic;
  f.round_bits = e.rounding.bits;
  return f;
}

KeptOperands operands_of(const ConvPointers& at, const Rounding& rounding) {
  return {at.in1,
          at.in2,
          at.out,
          at.bias,
          at.mask,
          at.scale,
          at.channel_sum,
          at.channel_sum_squares,
          at.workspace,
          at.x_pieces.address,
          at.y_pieces.address,
          rounding.seed,
          rounding.offset};
}

std::shared_ptr<const PlannedLaunches> kept(Device& device, const Form& form,
                                            const std::function<void(std::span<const std::uint64_t>)>& queue) {
  return cached_plan<Form, Hash>(device, form, queue);
}

}  // namespace nervanagpu::conv_detail
