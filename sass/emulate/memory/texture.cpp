#include "sass/emulate/memory/texture.h"

#include <algorithm>
#include <mutex>

namespace nervanagpu::sass::emulate {
namespace {

// Handles take 32 bits in an instruction. The first ones are left to kernels that pass small numbers by mistake.
constexpr std::uint64_t kFirstHandle = 0x7e0'0000;

struct Limits {
  std::uint32_t width, height, depth, layers;
};
// Of compute capability 5.0 and later.
constexpr std::array<Limits, 8> kLimits = {{{131072, 1, 1, 1},
                                            {131072, 65536, 1, 1},
                                            {16384, 16384, 16384, 1},
                                            {32768, 1, 1, 2048},
                                            {32768, 32768, 1, 2048},
                                            {32768, 32768, 1, 6},
                                            {32768, 32768, 1, 2046},
                                            {1u << 27, 1, 1, 1}}};

Diag wrong(const char* argument, std::uint64_t came, const std::string& needed) {
  return error(std::string(argument) + " is " + std::to_string(came) + "; " + needed);
}

Status check_extent(const char* argument, std::uint32_t came, std::uint32_t limit, ImageKind kind) {
  if (came >= 1 && came <= limit) return Done{};
  return wrong(argument, came, "of a " + std::string(name_of(kind)) + " image it is 1 to " + std::to_string(limit));
}

}  // namespace

unsigned bytes_of(TexelType type) {
  constexpr std::array<std::uint8_t, 8> kBytes = {1, 2, 4, 1, 2, 4, 2, 4};
  return kBytes[static_cast<std::size_t>(type)];
}

bool is_float(TexelType type) {
  return type == TexelType::kF16 || type == TexelType::kF32;
}

std::string_view name_of(ImageKind kind) {
  constexpr std::array<std::string_view, 8> kNames = {"1D",       "2D",   "3D",         "1D array",
                                                      "2D array", "cube", "cube array", "buffer"};
  return kNames[static_cast<std::size_t>(kind)];
}

unsigned dimensions(ImageKind kind) {
  constexpr std::array<std::uint8_t, 8> kDimensions = {1, 2, 3, 1, 2, 2, 2, 1};
  return kDimensions[static_cast<std::size_t>(kind)];
}

Status check_image(const Image& image) {
  const Limits& most = kLimits[static_cast<std::size_t>(image.kind)];
  if (image.channels != 1 && image.channels != 2 && image.channels != 4) {
    return wrong("channels", image.channels, "1, 2 and 4 are possible");
  }
  if (auto ok = check_extent("width", image.width, most.width, image.kind); !ok) return ok.error();
  if (auto ok = check_extent("height", image.height, most.height, image.kind); !ok) return ok.error();
  if (auto ok = check_extent("depth", image.depth, most.depth, image.kind); !ok) return ok.error();
  if (auto ok = check_extent("layers", image.layers, most.layers, image.kind); !ok) return ok.error();
  const bool cube = image.kind == ImageKind::kCube || image.kind == ImageKind::kCubeArray;
  if (cube && image.width != image.height) {
    return wrong("height", image.height, "a cube's is its width, " + std::to_string(image.width));
  }
  if (cube && image.layers % 6 != 0) return wrong("layers", image.layers, "a cube has six, several cubes six each");
  if (image.pitch != 0 && image.pitch < std::uint64_t{image.width} * image.texel_bytes()) {
    return wrong("pitch", image.pitch, "a row has " + std::to_string(image.width * image.texel_bytes()) + " bytes");
  }
  return Done{};
}

Status check_texture(const Image& image, const Sampler& sampler) {
  if (auto ok = check_image(image); !ok) return ok.error();
  const bool fractions = !sampler.raw && bytes_of(image.type) < 4;
  if (sampler.linear && !is_float(image.type) && !fractions) {
    return error(
        "filter is linear; integers have none unless they are read as fractions, which those of 8 and 16 bits can be");
  }
  if (image.kind == ImageKind::kBuffer && (sampler.linear || sampler.normalized)) {
    return error(std::string(sampler.linear ? "filter is linear" : "coordinates are normalized") +
                 "; memory in a line is read by integer coordinates");
  }
  const bool cube = image.kind == ImageKind::kCube || image.kind == ImageKind::kCubeArray;
  if (cube && !sampler.normalized) return error("coordinates are not normalized; those of a cube are directions");
  return Done{};
}

std::uint64_t TextureTable::create(const TextureObject& object) {
  const std::unique_lock lock(mutex_);
  const std::uint64_t handle = kFirstHandle + ++last_;
  objects_[handle] = std::make_shared<const TextureObject>(object);
  return handle;
}

bool TextureTable::destroy(std::uint64_t handle) {
  const std::unique_lock lock(mutex_);
  return objects_.erase(handle) != 0;
}

std::shared_ptr<const TextureObject> TextureTable::find(std::uint64_t handle, bool* made) const {
  const std::shared_lock lock(mutex_);
  *made = handle > kFirstHandle && handle <= kFirstHandle + last_;
  const auto it = objects_.find(handle);
  return it == objects_.end() ? nullptr : it->second;
}

}  // namespace nervanagpu::sass::emulate
