// Lane accesses to the memory spaces, with their faults. Used by all memory handlers.
#pragma once

#include <cstdint>

#include "sass/emulate/state/warp.h"

namespace nervanagpu::sass::emulate {

enum class Space : std::uint8_t { kGlobal, kShared, kLocal };

// The host bytes of an access of `bytes` (1, 2, 4, 8, 16) by `lane`, or nullptr. nullptr means: in fast mode that the
// grid has faulted (return nullptr from the handler); in checked mode that a finding was noted and the access is to be
// skipped, a load giving kPoison.
std::byte* locate(Warp& w, const Uop* u, unsigned lane, Space space, std::uint64_t address, unsigned bytes,
                  Intent intent);

// Checked mode: what locate() does for accesses that were already found to be inside shared memory.
void note_shared(Warp& w, const Uop* u, unsigned lane, std::uint32_t address, unsigned bytes, Intent intent);

// Checked mode: an access to the shared memory of another CTA.
void note_remote(Warp& w, const Uop* u, unsigned lane, Cta& target, std::uint32_t address, unsigned bytes,
                 Intent intent);

}  // namespace nervanagpu::sass::emulate
