#include "kernels/conv/implicit/byte_results.h"

#include "kernels/conv/arena.h"
#include "kernels/conv/problem.h"
#include "kernels/conv/problem_facts.h"
#include "kernels/gemm/types.h"
#include "kernels/split_sum/split_sum.h"
#include "nervanagpu/nn.hpp"

namespace nervanagpu::conv_detail::byte_results {
namespace {

// Parts of the workspace, from `base` on.
struct Places {
  std::uint64_t sums = 0, bias = 0, scale = 0;  // bias, scale: of each image's channels
  std::uint64_t result = 0;                     // without what lies between its pixels
  std::uint64_t inner = 0;                      // the sums' own workspace
};

Places places_of(const ConvProblem& p, std::uint64_t base) {
  Arena arena(base);
  Places at;
  at.sums = arena.take(4 * p.y_elements());
  if (p.layout == Layout::channels_first) at.bias = arena.take(4 * p.n * p.k), at.scale = arena.take(4 * p.n * p.k);
  if (apart(p, Role::y)) at.result = arena.take(width_of(p.y_type) * p.y_elements());
  at.inner = arena.take(0);
  return at;
}

// The sums as a matrix, or as one of each image.
SplitSum matrix_of(const ConvProblem& p) {
  SplitSum s;
  const std::int64_t places = p.y_elements() / p.k;
  if (p.layout == Layout::channels_last) {
    s.rows = places, s.cols = p.k;
  } else {
    s.groups = p.layout == Layout::channels_first ? p.n : 1;
    s.rows = p.k, s.cols = places / s.groups;
    s.bias_along_rows = true;
  }
  s.ld = s.cols;
  s.gc = s.rows * s.cols;
  return s;
}

// A number of each channel, for each image.
std::uint64_t repeated(const ConvProblem& p, std::uint64_t from, std::uint64_t to, const Stream& stream) {
  if (from == 0 || p.layout != Layout::channels_first) return from;
  Tensor out = Tensor::wrap(to, {p.n, p.k}, {p.k, 1}, Dtype::float32);
  convert(Tensor::wrap(from, {p.n, p.k}, {0, 1}, Dtype::float32), out, {}, stream);
  return to;
}

}  // namespace

bool asked(const ConvProblem& p) {
  return sgemm::byte(p.x_type) && p.w_type == Dtype::int8 && p.y_type != Dtype::int32;
}

ConvProblem sums_of(const ConvProblem& p) {
  ConvProblem q = p;
  q.y_type = Dtype::int32;
  q.y_pitch = 0;
  return q;
}

std::size_t workspace(const ConvProblem& p) {
  return places_of(p, 0).inner + known(ConvPass::fprop, sums_of(p)).workspace;
}

void queue(Device& device, const ConvProblem& p, const ConvPointers& pointers, const Epilogue& e, const Inner& inner,
           const Stream& stream) {
  const Places at = places_of(p, pointers.workspace);
  ConvPointers q;
  q.in1 = pointers.in1, q.in2 = pointers.in2, q.out = at.sums, q.workspace = at.inner;
  inner(sums_of(p), q);

  ConvPointers r = pointers;
  Epilogue own = e;
  r.workspace = at.sums;
  r.bias = repeated(p, pointers.bias, at.bias, stream);
  own.scale = repeated(p, e.scale, at.scale, stream);
  SplitSum matrix = matrix_of(p);
  // Stochastic rounding counts the elements of a result, not what lies between its pixels.
  const bool copied = apart(p, Role::y) && e.rounding.stochastic;
  if (!copied && p.layout == Layout::channels_last) matrix.ld = pitch_of(p, Role::y);
  Tensor wide = Tensor::wrap(pointers.out, shape_of(p, Role::y), laid_out(p, Role::y).strides, p.y_type);
  if (copied) r.out = at.result;
  Tensor side_by_side = Tensor::wrap(r.out, wide.shape(), as_laid_out(p.layout, wide.shape()).strides, p.y_type);
  if (copied && e.beta != 0) convert(wide, side_by_side, {}, stream);
  const split_sum::Plan sum = split_sum::plan(device.registry(), sum_of(matrix, r, own, p.y_type, Dtype::int32));
  sum.values.launch(device, *sum.kernel, sum.grid, stream.handle());
  if (copied) convert(side_by_side, wide, {}, stream);
}

}  // namespace nervanagpu::conv_detail::byte_results
