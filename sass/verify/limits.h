// How many registers a thread has at each instruction: what the kernel declares, until its warp trades some.
#pragma once

#include <cstdint>
#include <vector>

#include "sass/verify/code.h"

namespace nervanagpu::sass::verify_detail {

// By instruction, and where warps trade without the chip's own; 0: no limit is known. Where paths meet the fewer count. USETMAXREG.TRY_ALLOC counts as granted: code goes
// back to it until it is.
std::vector<std::uint32_t> register_limits(const Code& code);

}  // namespace nervanagpu::sass::verify_detail
