// Lines of CUDA C, as `nvcc -lineinfo` and NVRTC leave them: DWARF's .debug_line, versions 2 to 4.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "sass/cubin.h"
#include "sass/dis/elf.h"

namespace nervanagpu::sass {

// Gives each instruction of the kernels that have no lines yet its own, where the section tells. `kernel_of_symbol`:
// indices of `kernels`. What cannot be understood is left out: nothing but messages depends on it.
void read_debug_lines(const ElfView& elf, Arch arch, const std::map<std::uint32_t, std::size_t>& kernel_of_symbol,
                      std::vector<KernelImage>& kernels);

}  // namespace nervanagpu::sass
