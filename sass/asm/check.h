// What every program must fulfil beyond the fields of each instruction, which the codec checks: the register
// limit and the end of the code. Part of parse.
#pragma once

#include <vector>

#include "sass/asm/program.h"

namespace nervanagpu::sass {

// `sources` has the expanded line of each instruction, for places and backtraces; it may be empty.
Status check(const Program& program, const std::vector<const TextLine*>& sources);

}  // namespace nervanagpu::sass
