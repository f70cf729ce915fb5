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

// `registers` as declared (REGCOUNT), `shared` bytes of a CTA, `threads` of a CTA.
Occupancy occupancy(Arch arch, std::uint32_t registers, std::uint32_t shared, std::uint32_t threads);

}  // namespace nervanagpu::sass
