// Textures for devices: what both check, and a source of texels as either takes it.
#pragma once

#include "nervanagpu/texture.hpp"
#include "sass/emulate/memory/texture.h"

namespace nervanagpu {

using ImageId = std::uint64_t;

// What a texture reads: an image of the device, or memory.
struct TexelSource {
  ImageId image = 0;
  std::uint64_t address = 0;  // with image 0
  std::uint64_t pitch = 0;    // bytes between rows; 0: memory in a line
  ImageSpec spec;
};

// The emulator's own forms, without an address. Throw InvalidArgument for what cannot be.
sass::emulate::Image emulated(const ImageSpec& spec);
sass::emulate::TextureObject emulated(const TexelSource& source, const TextureOptions& options);

}  // namespace nervanagpu
