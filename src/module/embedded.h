// The kernels that were assembled when the library was built, as cubin bytes inside it.
#pragma once

#include <cstddef>
#include <span>

namespace nervanagpu {

struct EmbeddedCubin {
  const char* name;            // "<template>.<arch>", e.g. "sgemm.sm_90a"
  const unsigned char* begin;  // an ELF image, or a zstd frame of one: src/module/unpack.h; 64-byte aligned
  std::size_t size;            // bytes from there
};

std::span<const EmbeddedCubin> embedded_cubins();

}  // namespace nervanagpu
