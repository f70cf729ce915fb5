#include "kernels/conv/gather/columns.h"

#include <algorithm>

#include "kernels/conv/implicit/implicit_gemm.h"
#include "kernels/gemm/types.h"
#include "src/ceil_div.h"

namespace nervanagpu::conv_detail {
namespace {

// Fours of images, so that each part of the result begins at whole counters of random words.
constexpr std::int64_t kFour = 4;

// Of an image with what the windows reach around it.
std::int64_t padded_length(const ConvProblem& p, std::size_t axis) {
  return (p.out()[axis] - 1) * p.stride[axis] + p.dilation[axis] * (p.filter[axis] - 1) + 1;
}

std::int64_t pitch_of(const ConvProblem& p) {
  constexpr std::int64_t kEight = 8;
  return ceil_div(p.filter[1] * p.filter[2] * p.c, kEight) * kEight;
}

// In float64: lengths of any size.
bool affordable(const ConvProblem& p) {
  constexpr double kMostWindows = 1 << 30;  // bytes of the least images at a time
  constexpr double kMostPadded = 1U << 31;  // and of all images
  const auto real = [](std::int64_t v) { return static_cast<double>(v); };
  const auto out = p.out();
  const double windows = real(out[1]) * real(out[2]) * real(pitch_of(p));
  const double padded = real(padded_length(p, 1)) * real(padded_length(p, 2)) * real(p.c);
  return 2 * real(std::min(p.n, kFour)) * windows <= kMostWindows && 2 * real(p.n) * padded < kMostPadded;
}

}  // namespace

bool in_columns(ConvPass pass, const ConvProblem& p) {
  constexpr std::int64_t kFew = 8;
  return pass != ConvPass::bprop && !sgemm::byte(p.x_type) && p.c < kFew && p.groups == 1 && !volume(p) &&
         (p.dilation[2] == 1 || p.filter[2] == 1) && affordable(p);
}

Columns columns_of(const ConvProblem& p) {
  constexpr std::int64_t kBytes = std::int64_t{48} << 20;  // about what L2 holds
  const auto out = p.out();
  Columns c;
  c.rows = out[1] * out[2];
  c.columns = p.filter[1] * p.filter[2] * p.c;
  c.pitch = pitch_of(p);
  c.images = std::min(p.n, std::max<std::int64_t>(kBytes / (2 * c.rows * c.pitch) / kFour, 1) * kFour);
  c.padded = {padded_length(p, 1), padded_length(p, 2)};
  return c;
}

}  // namespace nervanagpu::conv_detail
