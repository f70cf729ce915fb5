// The control flow of a Program, as schedule sees it: basic blocks, the edges between them, and how deep each block lies
// in loops. Label operands hold instruction indices here (program.h).
#pragma once

#include <cstdint>
#include <vector>

#include "sass/asm/program.h"

namespace nervanagpu::sass {

struct Block {
  std::uint32_t first = 0;  // instruction indices [first, last)
  std::uint32_t last = 0;
  std::vector<std::uint32_t> next, prev;  // block numbers
  std::uint32_t depth = 0;                // loops around it
};

struct Flow {
  std::vector<Block> blocks;            // in program order
  std::vector<std::uint32_t> block_of;  // of each instruction
};

Flow flow_of(const Program& program);

}  // namespace nervanagpu::sass
