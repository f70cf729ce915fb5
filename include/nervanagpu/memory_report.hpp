// Who holds device memory: allocations of tensors by the place that asked for them. The caller names the places.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "nervanagpu/export.hpp"

namespace nervanagpu {

struct HeldMemory {
  std::string place;  // "train.py:12: y = ng.zeros(...)"; empty: not named
  std::size_t bytes = 0;
  std::size_t allocations = 0;  // that are held now
};

// From now on allocations are recorded; false forgets those that were. Off at first.
NG_API void record_memory(bool on);
NG_API bool records_memory() noexcept;

// Whether this thread made recorded allocations since it last named some.
NG_API bool has_unnamed_memory() noexcept;
// These allocations are of `place`.
NG_API void name_memory(const std::string& place);

// What is held of all that was recorded, by place, the largest first.
NG_API std::vector<HeldMemory> held_memory();

}  // namespace nervanagpu
