// Functions that only the driver of a GPU has, called by their addresses: vprintf and __assertfail.
#pragma once

#include <cstdint>
#include <string>

#include "sass/emulate/state/warp.h"

namespace nervanagpu::sass::emulate {

// Registers R0 .. that a call may read or write: arguments and results from R4, the return address in R20 and R21.
inline constexpr unsigned kExternalRegisters = 24;

// The name of the function at jump target `target`, counted from the kernel's first instruction; nullptr: none is there.
// `narrow`: addresses of sm_50 .. sm_62.
const std::string* external_at(const Warp& w, bool narrow, std::uint64_t target);

// `lanes` execute the call *u, those of `callers` call `name`. All that return to the same place do so together; the
// others come again.
const Uop* call_external(Warp& w, const Uop* u, std::uint32_t lanes, std::uint32_t callers, const std::string& name);

}  // namespace nervanagpu::sass::emulate
