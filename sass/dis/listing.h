// How a kernel image is shown: by `as --dump encode`, `as --dump link` and `dis`.
#pragma once

#include <string>

#include "sass/cubin.h"

namespace nervanagpu::sass {

// Name, registers, shared memory, parameters and manifest, as comment lines.
std::string header_of(Arch arch, const KernelImage& kernel);
// One instruction a line: address, control codes, text; with the encoded words in front if `words`.
std::string code_of(Arch arch, const KernelImage& kernel, bool words);

}  // namespace nervanagpu::sass
