// The parameter block of a launch from arguments that are only known when it runs.
#pragma once

#include <string>
#include <vector>

#include "nervanagpu/module.hpp"
#include "sass/cubin.h"

namespace nervanagpu {

// Throws InvalidArgument or TypeError that names the argument, what came and what is needed.
std::vector<std::byte> pack_arguments(const sass::KernelImage& kernel, const std::vector<Argument>& args);

// What the parameter's type is called: "f32", or "4 bytes" in cubins that do not say more.
std::string type_text(const sass::KernelImage& kernel, const sass::Param& param);

}  // namespace nervanagpu
