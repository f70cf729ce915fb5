// How many CTAs of a kernel one SM holds at a time, and what the limit is.
#pragma once

#include <cstdint>
#include <string_view>

#include "sass/isa/arch.h"

namespace nervanagpu::sass {

struct Occupancy {
  std::uint32_t ctas = 0;   // of an SM; 0: it does not fit
  std::uint32_t warps = 0;  // of an SM
  std::uint32_t most_warps = 0;
  std::string_view limit;  // "registers", "shared memory", "warps", "CTAs"
};

// The most registers that each of `threads` threads of a CTA can have: a scheduler has a quarter of the warps, rounded up, and
// of the registers. 288 threads can have 168, not 224 (an H200 refuses to launch 188).
std::uint32_t most_registers(std::uint32_t threads);

// `registers` as declared (REGCOUNT), `shared` bytes of a CTA, `threads` of a CTA.
Occupancy occupancy(Arch arch, std::uint32_t registers, std::uint32_t shared, std::uint32_t threads);

}  // namespace nervanagpu::sass
