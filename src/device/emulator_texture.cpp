// Images, textures and surfaces of the emulator: an image is memory of its own.
#include <cstring>

#include "nervanagpu/error.hpp"
#include "src/device/emulator_device.h"

namespace nervanagpu {

ImageId EmulatorDevice::create_image(const ImageSpec& spec) {
  return allocate(emulated(spec).bytes(), 0);
}

void EmulatorDevice::destroy_image(ImageId image) noexcept {
  free(image, {});
}

void EmulatorDevice::upload_image(ImageId image, const ImageSpec& spec, const void* texels) {
  upload(image, texels, emulated(spec).bytes());
}

void EmulatorDevice::download_image(void* texels, ImageId image, const ImageSpec& spec) {
  download(texels, image, emulated(spec).bytes());
}

std::uint64_t EmulatorDevice::create_texture(const TexelSource& source, const TextureOptions& options) {
  sass::emulate::TextureObject object = emulated(source, options);
  if (source.image != 0) object.image.address = source.image;
  return memory_.textures().create(object);
}

std::uint64_t EmulatorDevice::create_surface(ImageId image, const ImageSpec& spec) {
  sass::emulate::TextureObject object;
  object.image = emulated(spec);
  object.image.address = image;
  object.surface = true;
  return memory_.textures().create(object);
}

void EmulatorDevice::destroy_texture(std::uint64_t handle) noexcept {
  memory_.textures().destroy(handle);
}

void EmulatorDevice::destroy_surface(std::uint64_t handle) noexcept {
  memory_.textures().destroy(handle);
}

}  // namespace nervanagpu
