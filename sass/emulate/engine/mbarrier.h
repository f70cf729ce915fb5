// What instructions and copies do to mbarriers.
#pragma once

#include <cstdint>

#include "sass/emulate/state/mbarrier.h"
#include "sass/emulate/state/warp.h"

namespace nervanagpu::sass::emulate {

// Checked mode: whether there is an mbarrier at the shared address, in this CTA or `anywhere` in the cluster, or nobody is going
// to make one. If not, the instruction comes again: `return come_again(w, u)`.
bool mbarrier_awaited(Warp& w, std::uint32_t address, bool anywhere);
const Uop* come_again(Warp& w, const Uop* u);

// `count` bytes of an asynchronous copy have come: at the mbarrier with this shared address. False: fault.
bool complete_bytes(Warp& w, const Uop* u, std::uint32_t address, std::uint32_t count);

}  // namespace nervanagpu::sass::emulate
