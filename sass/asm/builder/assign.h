// Register assignment for generated code: places for virtual registers by linear scan, in one pass over live ranges.
// allocate.h serves hand-written text, where a better packing is worth a slower search.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sass/isa/access.h"
#include "sass/isa/inst.h"
#include "sass/result.h"

namespace nervanagpu::sass {

inline constexpr std::uint32_t kNoVirtual = ~std::uint32_t{0};

// Consecutive registers that stand together, aligned to their number.
struct VirtualGroup {
  RegFile file = RegFile::kGpr;
  std::uint8_t count = 1;
  std::uint32_t first = 0;  // number of its first register among all virtual ones
};

// An instruction whose operands may name virtual registers: `reg[i]` is that of operand i (of kAddr: its base).
struct Draft {
  Inst inst;
  std::array<std::uint32_t, Inst::kMaxOperands> reg{};
  std::uint32_t guard = kNoVirtual;
  std::uint32_t label = kNoVirtual;   // of the label operand
  std::uint32_t target = kNoVirtual;  // the instruction it stands for
  std::uint32_t line = 0;
};

// Puts numbers below `limit` (general-purpose) and 7 (predicates) into the operands of every draft. Fails where they do
// not suffice, or where a virtual register is read that nothing has written.
Status assign_registers(std::vector<Draft>& code, const std::vector<VirtualGroup>& groups, std::uint32_t limit);

}  // namespace nervanagpu::sass
