#include "kernels/conv/columns.h"

#include <algorithm>

#include "kernels/conv/implicit_gemm.h"
#include "src/ceil_div.h"

namespace nervanagpu::conv_detail {

bool in_columns(ConvPass pass, const ConvProblem& p) {
  constexpr std::int64_t kFew = 8;
  return pass != ConvPass::bprop && p.c < kFew && p.groups == 1 && !volume(p) &&
         (p.dilation[2] == 1 || p.filter[2] == 1);
}

Columns columns_of(const ConvProblem& p) {
  constexpr std::int64_t kBytes = std::int64_t{48} << 20;  // about what L2 holds
  constexpr std::int64_t kEight = 8;
  const auto out = p.out();
  Columns c;
  c.rows = out[1] * out[2];
  c.columns = p.filter[1] * p.filter[2] * p.c;
  c.pitch = ceil_div(c.columns, kEight) * kEight;
  // Fours, so that each part of the result begins at whole counters of random words.
  constexpr std::int64_t kFour = 4;
  c.pictures = std::min(p.n, std::max<std::int64_t>(kBytes / (2 * c.rows * c.pitch) / kFour, 1) * kFour);
  for (std::size_t axis = 0; axis < 2; ++axis) {
    c.padded[axis] = (out[axis + 1] - 1) * p.stride[axis + 1] + p.dilation[axis + 1] * (p.filter[axis + 1] - 1) + 1;
  }
  return c;
}

}  // namespace nervanagpu::conv_detail
