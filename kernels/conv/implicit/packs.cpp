#include "kernels/conv/implicit/packs.h"

#include "kernels/conv/implicit/implicit_gemm.h"

namespace nervanagpu::conv_detail {

Packs packs_of(ConvPass pass, const ConvProblem& p) {
  const std::int64_t block = block_of(p.x_type);  // fewer channels take as long
  const std::int64_t unit = block / 8;            // channels of 16 bytes
  const std::int64_t c = p.c / p.groups;
  const std::int64_t k = p.k / p.groups;
  const auto whole = [&](std::int64_t groups) {
    return groups == p.groups ||
           ((pass == ConvPass::bprop || groups * c % unit == 0) && (pass == ConvPass::fprop || groups * k % unit == 0));
  };
  std::int64_t groups = 1;
  for (std::int64_t g = 2; g * (pass == ConvPass::bprop ? k : c) <= block && g <= p.groups; ++g) {
    if (p.groups % g == 0 && whole(g) >= whole(groups)) groups = g;
  }
  return {p.groups / groups, groups, p.c / p.groups * groups, p.k / p.groups * groups};
}

}  // namespace nervanagpu::conv_detail
