// The control flow of a Program, as schedule sees it: basic blocks, the edges between them, and how deep each block lies
// in loops. Label operands hold instruction indices here (program.h).
#pragma once

#include <cstdint>
#include <vector>

#include "sass/asm/program.h"
#include "sass/isa/access.h"

namespace nervanagpu::sass {

struct Block {
  std::uint32_t first = 0;  // instruction indices [first, last)
  std::uint32_t last = 0;
  std::vector<std::uint32_t> next, prev;  // block numbers
  std::uint32_t depth = 0;                // loops around it
};

struct Flow {
  std::vector<Block> blocks;           // in program order
  std::vector<std::uint32_t> block_of; // of each instruction
};

Flow flow_of(const Program& program);

// One number for every register that scheduling cares about: GPRs, uniform registers, predicates, CC.
inline constexpr std::uint32_t kRegisterIds = 256 + 64 + 8 + 8 + 1;
// Convergence barriers are interlocked: no number.
inline constexpr std::uint32_t kNoRegisterId = kRegisterIds;

constexpr std::uint32_t register_id(RegFile file, unsigned number) {
  switch (file) {
    case RegFile::kGpr: return number;
    case RegFile::kUGpr: return 256 + number;
    case RegFile::kPred: return 320 + number;
    case RegFile::kUPred: return 328 + number;
    case RegFile::kCc: return 336;
    case RegFile::kBarrier: break;
  }
  return kNoRegisterId;
}

}  // namespace nervanagpu::sass
