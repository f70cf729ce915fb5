// Whether products measure which of their kernels is the fastest here, instead of asking a model of an H200.
//
// The kernels that are measured are those of one order class: they split k alike and sum each split in the same order
// (docs/numerics.md), so a result has the same bits whichever of them wins, and whether this is on or off. The first product
// of a form (types, layouts, sizes, alignment, epilogue) then takes some milliseconds on operands of its own from the memory
// pool; the winner is kept in this process and in $XDG_CACHE_HOME/nervanagpu (or ~/.cache/nervanagpu), in one file of
// plain JSON for each GPU, driver and version of the library. Nothing is measured while a CUDA graph is captured, on the
// emulator, or where the operands do not fit beside what is there: choices that are known are taken, else the model's.
#pragma once

#include "nervanagpu/export.hpp"

namespace nervanagpu {

// For the products and plans that come after, in all threads. At first: NERVANAGPU_AUTOTUNE=1 says on, 0 or unset off.
NG_API void set_autotune(bool on);
// Throws InvalidArgument if NERVANAGPU_AUTOTUNE decides and means nothing.
NG_API bool autotune();

}  // namespace nervanagpu
