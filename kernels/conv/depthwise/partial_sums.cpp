#include "kernels/conv/depthwise/partial_sums.h"

#include "kernels/conv/arena.h"
#include "kernels/split_sum/split_sum.h"
#include "src/ceil_div.h"

namespace nervanagpu::conv_detail::depthwise {
namespace {

enum Flags : std::uint32_t { kBeta = 1, kAtRandom = 16 };  // of split_sum.sass

std::int64_t bytes_of_parts(const PartialSums& parts) {
  return static_cast<std::int64_t>(aligned(static_cast<std::size_t>(4 * parts.count() * parts.elements)));
}

// The sum of `splits` matrices in each of `groups`.
split_sum::Sum sum_of(const PartialSums& parts, std::int64_t groups, std::int64_t splits, std::uint64_t from,
                      std::uint64_t to) {
  split_sum::Sum sum;
  sum.workspace = from;
  sum.out = to;
  sum.groups = groups;
  sum.splits = splits;
  sum.cols = sum.ld = sum.group_stride = parts.elements;
  return sum;
}

}  // namespace

std::size_t PartialSums::bytes() const {
  return static_cast<std::size_t>(bytes_of_parts(*this) + (runs > 1 ? 4 * runs * elements : 0));
}

PartialSums partial_sums_of(std::int64_t count, std::int64_t elements) {
  constexpr std::int64_t kLongest = 66;  // a thread adds them one after the other
  constexpr std::int64_t kRun = 16;
  if (count <= kLongest) return {count, 1, elements};
  return {kRun, ceil_div(count, kRun), elements};
}

void queue_sum(Device& device, const PartialSums& parts, Dtype type, const ConvPointers& pointers, const Epilogue& e,
               StreamId stream) {
  std::uint64_t from = pointers.workspace;
  std::int64_t splits = parts.run;
  split_sum::Plan runs;
  if (parts.runs > 1) {
    from += static_cast<std::uint64_t>(bytes_of_parts(parts));
    runs = split_sum::plan(device.registry(), sum_of(parts, parts.runs, parts.run, pointers.workspace, from));
    splits = parts.runs;
  }
  split_sum::Sum end = sum_of(parts, 1, splits, from, pointers.out);
  end.type = type;
  end.alpha = e.alpha;
  end.beta = e.beta;
  end.flags = (e.beta != 0.0F ? kBeta : 0U) | (e.rounding.stochastic ? kAtRandom : 0U);
  end.rounding = e.rounding;
  const split_sum::Plan last = split_sum::plan(device.registry(), end);
  if (runs.kernel != nullptr) runs.values.launch(device, *runs.kernel, runs.grid, stream);
  last.values.launch(device, *last.kernel, last.grid, stream);
}

}  // namespace nervanagpu::conv_detail::depthwise
