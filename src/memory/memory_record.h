// What storage tells the memory report.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace nervanagpu {

extern std::atomic<bool> memory_recorded;

void note_taken(std::uint64_t address, std::size_t bytes, int device);
void note_given(std::uint64_t address) noexcept;

}  // namespace nervanagpu
