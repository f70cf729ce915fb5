// The variables and shared constant banks of a cubin, with the addresses that loading has to put into them.
#pragma once

#include "sass/cubin.h"
#include "sass/dis/elf.h"

namespace nervanagpu::sass {

// `name_budget`: bytes of names that may be copied; string tables can share tails.
Status read_data(const ElfView& elf, std::size_t name_budget, ModuleData& data);

}  // namespace nervanagpu::sass
