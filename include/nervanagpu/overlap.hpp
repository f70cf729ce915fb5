// Whether launches overlap. Not part of nervanagpu.hpp: it is for measurements.
#pragma once

#include "nervanagpu/export.hpp"

namespace nervanagpu {

// Kernels that are launched on a GPU from now on may start before the work ahead of them has ended, where their text says
// so (programmatic dependent launch), or not. On from the beginning. Results are the same; the emulator has no such thing.
NG_API void overlap_launches(bool on) noexcept;

}  // namespace nervanagpu
