// The variables and shared constant banks of a cubin, and the addresses that loading has to put into them and into code.
#pragma once

#include "sass/cubin.h"
#include "sass/dis/code_layout.h"
#include "sass/dis/elf.h"

namespace nervanagpu::sass {

// `name_budget`: bytes of names that may be copied; string tables can share tails. image.kernels are those of `layout`.
Status read_data(const ElfView& elf, std::size_t name_budget, const CodeLayout& layout, CubinImage& image);

}  // namespace nervanagpu::sass
