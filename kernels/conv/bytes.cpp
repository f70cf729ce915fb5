#include "kernels/conv/bytes.h"

#include <algorithm>
#include <limits>

#include "kernels/conv/halo/halo_choice.h"
#include "kernels/conv/halo/resident_choice.h"
#include "kernels/conv/implicit/hconv_choice.h"
#include "kernels/conv/implicit/implicit_gemm.h"
#include "src/ceil_div.h"

namespace nervanagpu::conv_detail::bytes {
namespace {

double of_chains(const ConvProblem& p) {
  constexpr double kChains =
      8.6e6;                    // multiply-adds a microsecond: 64 a clock of 132 multiprocessors, 0.58 of them issued
  constexpr double kStart = 4;  // microseconds
  return kStart + p.flops() / 2 / kChains;
}

// Bytes of x, w and y.
double moved(const ConvProblem& p) {
  return static_cast<double>(p.x_elements() + p.w_elements() +
                             static_cast<std::int64_t>(size_of(p.y_type)) * p.y_elements());
}

double of_blocks(const ConvProblem& p) {
  const auto pairs = [](std::int64_t count) { return ceil_div(count, 2); };
  hconv::Work w = {'f', {}, pairs(p.c), pairs(p.k), 0};
  w.product.a_type = p.x_type;
  w.product.b_type = p.w_type;
  w.product.c_type = p.y_type;
  w.product.m = p.y_elements() / p.k;
  w.product.n = p.k;
  const std::int64_t block = block_of(p.x_type);
  w.product.k = p.filter[0] * p.filter[1] * p.filter[2] * ceil_div(p.c, block) * block;
  w.bytes = moved(p);
  return hconv::microseconds(w);
}

// By halo.sass or resident.sass, to which two bytes are a channel.
double of_patches(const ConvProblem& p) {
  constexpr double kNever = std::numeric_limits<double>::infinity();
  const auto all = gathers(ConvPass::fprop, p);
  std::optional<halo::Work> w;
  if (all && p.groups == 1) w = halo::work_of(ConvPass::fprop, p, all->front());
  if (!w) return kNever;
  w->bytes = moved(p);
  double least = kNever;
  if (const auto streams = halo::choose(*w, hgemm::kProcessors)) least = streams->microseconds;
  if (const auto keeps = resident::choose(*w, hgemm::kProcessors)) least = std::min(least, keeps->microseconds);
  return least;
}

}  // namespace

bool chains_are_faster(const ConvProblem& p) {
  constexpr std::int64_t kFew = 8;
  return p.groups == 1 && p.c < kFew && of_chains(p) < of_blocks(p);
}

double microseconds(const ConvProblem& p) {
  return std::min({of_chains(p), of_blocks(p), of_patches(p)});
}

bool exact_in_float16(const ConvProblem& p) {
  constexpr std::int64_t kExact = std::int64_t{1} << 24;
  const std::int64_t product = p.x_type == Dtype::uint8 ? 255 * 128 : 128 * 128;
  return p.filter[0] * p.filter[1] * p.filter[2] * p.c < kExact / product;
}

}  // namespace nervanagpu::conv_detail::bytes
