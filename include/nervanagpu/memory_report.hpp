// Who holds memory. Device memory: allocations of tensors by the place that asked for them; the caller names the places.
// Memory of generated kernels, which are kept by the structure of the expressions that they compute.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "nervanagpu/export.hpp"

namespace nervanagpu {

struct HeldMemory {
  std::string place;  // "train.py:12: y = ng.zeros(...)"; empty: not named
  std::size_t bytes = 0;
  std::size_t allocations = 0;  // that are held now
  int device = 0;
};

// What tensors, and memory that is cached for them, may take of the current device in all: more is refused as OutOfMemory.
// 0: there is no limit, as at first. What is taken already stays.
NG_API void set_memory_limit(std::size_t bytes);
NG_API std::size_t memory_limit();

// From now on allocations are recorded; false forgets those that were. Off at first.
NG_API void record_memory(bool on);
NG_API bool records_memory() noexcept;

// Whether this thread made recorded allocations since it last named some.
NG_API bool has_unnamed_memory() noexcept;
// These allocations are of `place`.
NG_API void name_memory(const std::string& place);

// What is held of all that was recorded, by place and device, the largest first.
NG_API std::vector<HeldMemory> held_memory();

// Kernels that were generated, and what finds them faster.
struct KernelCache {
  std::size_t entries = 0;      // that are kept now
  std::size_t bytes = 0;        // of them, estimated: on the host, and on the device what the driver was given
  std::size_t budget = 0;       // what `bytes` may be
  std::uint64_t evictions = 0;  // entries that went since the process began, for the budget
  std::size_t loaded = 0;       // bytes of kernels that a device has, those among them that went but may be in use
};
NG_API KernelCache kernel_cache();

// At most so many bytes from now on; 256 MiB, or NERVANAGPU_KERNEL_CACHE, at first. What was used longest ago goes first,
// but nothing that runs or that a graph holds, and comes again, the same, when it is needed.
NG_API void set_kernel_cache(std::size_t budget);

}  // namespace nervanagpu
