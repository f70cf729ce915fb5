// Partial sums of a depthwise update in the workspace: how they are added up. The number of parts depends on the problem
// alone.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/conv/launch.h"
#include "src/device/device.h"

namespace nervanagpu::conv_detail::depthwise {

// `runs` runs of `run` parts each: float32 matrices of `elements`. The parts of a run are added in ascending order, then the
// runs. There may be a few parts more than were asked for, of no terms.
struct PartialSums {
  std::int64_t run = 1, runs = 1;
  std::int64_t elements = 0;
  [[nodiscard]] std::int64_t count() const { return runs * run; }
  [[nodiscard]] std::size_t bytes() const;
};

PartialSums partial_sums_of(std::int64_t count, std::int64_t elements);

// From the parts, from the workspace's begin on, to dw.
void queue_sum(Device& device, const PartialSums& parts, Dtype type, const ConvPointers& pointers,
               const Epilogue& epilogue, StreamId stream);

}  // namespace nervanagpu::conv_detail::depthwise
