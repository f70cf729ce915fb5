// The bytes of an embedded cubin as the driver and read_cubin want them: decompressed, if the build compressed them.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "src/module/embedded.h"

namespace nervanagpu {

// One buffer for cubin after cubin. Not for several threads at once: each has its own.
class Unpacker {
 public:
  // The ELF image, aligned to 64 bytes; good until the next call. Throws Error for bytes that are damaged.
  std::span<const unsigned char> operator()(const EmbeddedCubin& cubin);

 private:
  struct Free {
    void operator()(unsigned char* p) const;
  };
  std::unique_ptr<unsigned char, Free> buffer_;
  std::size_t capacity_ = 0;
};

// Bytes of the ELF image; 0: they are damaged.
std::size_t image_size(const EmbeddedCubin& cubin);

}  // namespace nervanagpu
