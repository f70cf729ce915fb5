// Single-field mutants of a kernel's control codes: each differs from the right kernel in one field of one instruction.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sass/cubin.h"

namespace nervanagpu::test {

struct Mutant {
  std::uint32_t index = 0;  // instruction
  const char* field = "";   // stall, yield, write scoreboard, read scoreboard, wait, reuse
  int from = 0, to = 0;
  sass::Word word;  // the instruction with its mutated control code

  [[nodiscard]] sass::KernelImage of(const sass::KernelImage& right) const;
};

// All of them, in the order of the instructions. Only what weakens or moves: shorter stalls, scoreboards dropped or
// exchanged, waits dropped or moved, reuse and yield flipped.
std::vector<Mutant> mutants_of(sass::Arch arch, const sass::KernelImage& right);

}  // namespace nervanagpu::test
