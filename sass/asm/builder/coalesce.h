// Copies that need not be made: where a value is moved into a group of registers only to stand beside others (for a wide
// store), it is computed there at once.
#pragma once

#include <vector>

#include "sass/asm/builder/assign.h"

namespace nervanagpu::sass {

// Removes such moves from `code`, whose targets stay right.
void coalesce(std::vector<Draft>& code, const std::vector<VirtualGroup>& groups);

}  // namespace nervanagpu::sass
