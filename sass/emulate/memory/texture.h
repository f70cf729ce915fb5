// Textures and surfaces of the emulator: what a handle stands for, and who knows all handles. Images lie in device memory, x first,
// then y, z or layers (a cube: six layers, +x, -x, +y, -y, +z, -z), rows one after the other unless a pitch says otherwise.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <shared_mutex>
#include <string>
#include <string_view>

#include "sass/result.h"

namespace nervanagpu::sass::emulate {

enum class TexelType : std::uint8_t { kU8, kU16, kU32, kS8, kS16, kS32, kF16, kF32 };
enum class ImageKind : std::uint8_t { k1D, k2D, k3D, k1DArray, k2DArray, kCube, kCubeArray, kBuffer };
enum class TextureAddress : std::uint8_t { kWrap, kClamp, kMirror, kBorder };

unsigned bytes_of(TexelType type);  // of one channel
bool is_float(TexelType type);
std::string_view name_of(ImageKind kind);  // "2D array", as messages say it
unsigned dimensions(ImageKind kind);       // without layers

struct Image {
  ImageKind kind = ImageKind::k2D;
  TexelType type = TexelType::kF32;
  std::uint8_t channels = 1;                       // 1, 2 or 4
  std::uint32_t width = 1, height = 1, depth = 1;  // texels
  std::uint32_t layers = 1;                        // of arrays and cubes; a cube has six
  std::uint64_t address = 0;
  std::uint64_t pitch = 0;  // bytes from row to row; 0: none between

  [[nodiscard]] unsigned texel_bytes() const { return channels * bytes_of(type); }
  [[nodiscard]] std::uint64_t row_bytes() const { return pitch != 0 ? pitch : std::uint64_t{width} * texel_bytes(); }
  [[nodiscard]] std::uint64_t bytes() const { return row_bytes() * height * depth * layers; }
};

struct Sampler {
  std::array<TextureAddress, 3> address{TextureAddress::kClamp, TextureAddress::kClamp, TextureAddress::kClamp};
  bool linear = false;      // else the texel that the coordinates lie in
  bool normalized = false;  // coordinates from 0 to 1
  bool raw = false;         // integers as they are; else those of 8 and 16 bits are read as fractions
  std::array<float, 4> border{};
};

struct TextureObject {
  Image image;
  Sampler sampler;
  bool surface = false;
};

// The restrictions are those of the driver; the error names the argument.
Status check_image(const Image& image);
Status check_texture(const Image& image, const Sampler& sampler);

// Handles of a memory's textures and surfaces. They are never used twice, so that one that was destroyed is known. Thread-safe.
class TextureTable {
 public:
  std::uint64_t create(const TextureObject& object);
  bool destroy(std::uint64_t handle);
  // null: no such object; *made says whether there ever was one.
  [[nodiscard]] std::shared_ptr<const TextureObject> find(std::uint64_t handle, bool* made) const;

 private:
  mutable std::shared_mutex mutex_;
  std::map<std::uint64_t, std::shared_ptr<const TextureObject>> objects_;
  std::uint64_t last_ = 0;
};

}  // namespace nervanagpu::sass::emulate
