// A pass of a convolution that was drawn for one kernel.
#pragma once

#include <cstddef>
#include <string>

#include "kernels/conv/launch.h"
#include "src/module/registry.h"
#include "test/gpu/numbers.h"

namespace nervanagpu::variants {

enum class Family : std::uint8_t { chains, depthwise, tensor_cores };

struct Convolution {
  ConvPass pass = ConvPass::fprop;
  ConvProblem p;
  Family family = Family::chains;
  conv_detail::Forced forced;
  std::size_t shift1 = 0, shift2 = 0;  // bytes by which the operands begin after a multiple of 256
  bool anywhere = false;               // pointers do not say which kernel it is
  double small = 1;                    // a factor of in1, whose inverse belongs to alpha

  [[nodiscard]] std::size_t workspace() const;
  [[nodiscard]] std::int64_t most_parts() const;  // of sums of channels
  // False: the family does not take it. parts: that the kernel has left of sums of channels.
  [[nodiscard]] bool queue(const ConvPointers& at, const conv_detail::Epilogue& e, std::int64_t* parts = nullptr) const;
};

// Random numbers through the kernel, beside float64: "" if each element is within the bound that the kernel's front matter
// states, and that bound would tell a sum that lacks a term. `of_bound`: of float32 results, the largest error in units of it.
std::string beyond_bound(gpu_test::Random& random, const Kernel& kernel, const Convolution& c, double& of_bound);

}  // namespace nervanagpu::variants
