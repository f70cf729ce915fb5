// Puts an address into an instruction of a cubin: what the linker left for the loader to do.
#pragma once

#include <cstdint>

#include "sass/cubin.h"

namespace nervanagpu::sass {

// kOther does nothing.
void relocate(Arch arch, Word& word, CodeRelocation::Field field, std::uint64_t address);

}  // namespace nervanagpu::sass
