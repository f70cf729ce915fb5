// Elementwise programs as one kernel each.
#pragma once

#include <memory>

#include "src/fuse/kernel_cache.h"
#include "src/fuse/program.h"

namespace nervanagpu::fuse {

class Generated;

// The most elements of a launch, for indices have 32 bits; larger programs run in parts. Tests make it smaller (64 at
// least) to see the parts meet; gives what it was.
std::int64_t most_elements() noexcept;
std::int64_t exchange_most_elements(std::int64_t most) noexcept;

// Runs `p`, which has no reduction. Its outputs have p.shape; each element is read before it is written, so that an
// output may be a tensor of the program with the same strides.
void run_elementwise(const Program& p);

// CTAs of a walk through elements that stand side by side, and what they take.
struct FlatGrid {
  std::uint64_t tail_ctas = 0, tail = 0, ctas = 0;
};
// The kernel of a program whose tensors all lie like its one result, without gaps. Its parameters: tail_ctas, tail and
// the number of elements as u32; the addresses; the numbers.
struct FlatKernel : Keepable {
  std::shared_ptr<const Generated> kernel;
  unsigned lanes = 1, unroll = 1, threads = 128;
  void touch(std::uint64_t now) const;
  [[nodiscard]] FlatGrid grid(std::int64_t size) const;
};
// nullptr if `p` is no such program.
std::shared_ptr<const FlatKernel> flat_kernel(const Program& p);

}  // namespace nervanagpu::fuse
