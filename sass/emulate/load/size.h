// What a loaded kernel takes.
#pragma once

#include <cstddef>

namespace nervanagpu::sass::emulate {

class Kernel;

// Bytes of host memory.
std::size_t bytes_of(const Kernel& kernel);

}  // namespace nervanagpu::sass::emulate
