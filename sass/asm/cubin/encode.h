// encode: instructions -> words, and what the loader must be told of them (registers, barriers). encode_kernel is
// declared in pipeline.h; here are its parts.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sass/asm/program.h"
#include "sass/isa/arch.h"
#include "sass/isa/word.h"
#include "sass/result.h"

namespace nervanagpu::sass {

// What ptxas puts after every kernel: a branch to itself, where a runaway warp stays, and NOPs, because the chip
// fetches ahead and the next kernel begins at a multiple of the alignment.
Result<std::vector<Word>> code_tail(Arch arch, std::size_t code_size);

// The register count to declare: one more than the highest register used, and on sm_70 and later two more, which the
// hardware takes for itself.
std::uint32_t registers_needed(Arch arch, std::span<const Line> lines);

// The most registers that a warp takes from its CTA's pool (USETMAXREG.TRY_ALLOC); 0: none does.
std::uint32_t registers_taken(std::span<const Line> lines);

// Named barriers to declare: one more than the highest used; all 16 if a register holds the number.
std::uint32_t barriers_needed(std::span<const Line> lines);

}  // namespace nervanagpu::sass
