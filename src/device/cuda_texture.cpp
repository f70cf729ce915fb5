// Images, textures and surfaces of the GPU: CUDA arrays, and the driver's objects.
#include <cstddef>

#include "nervanagpu/error.hpp"
#include "src/device/cuda_bound.h"
#include "src/device/cuda_device.h"

namespace nervanagpu {
namespace {

static_assert(sizeof(cuda::ResourceDescription) == 144 && sizeof(cuda::TextureDescription) == 104);
static_assert(offsetof(cuda::ResourceDescription, flags) == 136);
static_assert(sizeof(cuda::Copy3d) == 200 && sizeof(cuda::ArrayDescription) == 40);

int format_of(Dtype dtype) {
  switch (dtype) {
    case Dtype::uint8: return 0x01;
    case Dtype::uint16: return 0x02;
    case Dtype::uint32: return 0x03;
    case Dtype::int8: return 0x08;
    case Dtype::int16: return 0x09;
    case Dtype::int32: return 0x0a;
    case Dtype::float16: return 0x10;
    default: return 0x20;
  }
}

bool layered(ImageKind kind) {
  return kind == ImageKind::d1_array || kind == ImageKind::d2_array || kind == ImageKind::cube_array;
}

// Heights and depths that an image does not have are 0 to the driver; layers and faces are depths.
cuda::ArrayDescription description_of(const ImageSpec& s) {
  const bool cube = s.kind == ImageKind::cube || s.kind == ImageKind::cube_array;
  const bool line = s.kind == ImageKind::d1 || s.kind == ImageKind::d1_array;
  cuda::ArrayDescription d;
  d.width = s.width;
  d.height = line ? 0 : s.height;
  d.depth = layered(s.kind) || cube ? s.layers : s.kind == ImageKind::d3 ? s.depth : 0;
  d.format = format_of(s.dtype);
  d.channels = s.channels;
  d.flags = cuda::kArraySurface | (layered(s.kind) ? cuda::kArrayLayered : 0) | (cube ? cuda::kArrayCube : 0) |
            (s.kind == ImageKind::d2 ? cuda::kArrayGather : 0);
  return d;
}

cuda::Array array_of(ImageId image) {
  return reinterpret_cast<cuda::Array>(image);  // NOLINT(performance-no-int-to-ptr)
}

cuda::Copy3d whole(const ImageSpec& s) {
  cuda::Copy3d copy;
  copy.width = std::size_t{s.width} * s.channels * size_of(s.dtype);
  copy.height = s.height;
  copy.depth = std::size_t{s.depth} * s.layers;
  return copy;
}

void host_side(cuda::CopySide& side, const void* texels, const cuda::Copy3d& copy) {
  side.type = cuda::kHostMemory;
  side.host = texels;
  side.pitch = copy.width;
  side.height = copy.height;
}

void array_side(cuda::CopySide& side, ImageId image) {
  side.type = cuda::kArrayMemory;
  side.array = array_of(image);
}

}  // namespace

ImageId CudaDevice::create_image(const ImageSpec& spec) {
  static_cast<void>(emulated(spec));  // the same checks and errors as there
  ready();
  if (driver_.array_create == nullptr || driver_.texture_create == nullptr) {
    throw Error("the driver has no cuArray3DCreate: it is too old for textures");
  }
  const Bound bound(*this);
  const cuda::ArrayDescription description = description_of(spec);
  cuda::Array array = nullptr;
  check(driver_.array_create(&array, &description), "cuArray3DCreate");
  return reinterpret_cast<ImageId>(array);
}

void CudaDevice::destroy_image(ImageId image) noexcept {
  if (!alive()) return;
  const Bound bound(*this);
  static_cast<void>(driver_.array_destroy(array_of(image)));
}

void CudaDevice::upload_image(ImageId image, const ImageSpec& spec, const void* texels) {
  synchronize();
  const Bound bound(*this);
  cuda::Copy3d copy = whole(spec);
  host_side(copy.from, texels, copy);
  array_side(copy.to, image);
  check(driver_.copy_3d(&copy), "cuMemcpy3D");
}

void CudaDevice::download_image(void* texels, ImageId image, const ImageSpec& spec) {
  synchronize();
  const Bound bound(*this);
  cuda::Copy3d copy = whole(spec);
  array_side(copy.from, image);
  host_side(copy.to, texels, copy);
  check(driver_.copy_3d(&copy), "cuMemcpy3D");
}

std::uint64_t CudaDevice::create_texture(const TexelSource& source, const TextureOptions& options) {
  static_cast<void>(emulated(source, options));
  ready();
  if (driver_.texture_create == nullptr) throw Error("the driver has no cuTexObjectCreate: it is too old for textures");
  cuda::ResourceDescription resource{};
  const ImageSpec& s = source.spec;
  if (source.image != 0) {
    resource.type = cuda::kResourceArray;
    resource.array = array_of(source.image);
  } else if (source.pitch == 0) {
    resource.type = cuda::kResourceLinear;
    resource.linear = {source.address, format_of(s.dtype), s.channels,
                       std::size_t{s.width} * s.channels * size_of(s.dtype)};
  } else {
    resource.type = cuda::kResourcePitch;
    resource.plane = {source.address, format_of(s.dtype), s.channels, s.width, s.height, source.pitch};
  }
  cuda::TextureDescription texture;
  for (std::size_t i = 0; i < 3; ++i) texture.address[i] = static_cast<int>(options.address[i]);
  texture.filter = options.linear ? 1 : 0;
  texture.flags = (options.raw ? cuda::kReadAsInteger : 0) | (options.normalized ? cuda::kNormalizedCoordinates : 0);
  for (std::size_t i = 0; i < 4; ++i) texture.border[i] = options.border[i];
  const Bound bound(*this);
  std::uint64_t handle = 0;
  check(driver_.texture_create(&handle, &resource, &texture, nullptr), "cuTexObjectCreate");
  return handle;
}

std::uint64_t CudaDevice::create_surface(ImageId image, const ImageSpec& /*spec*/) {
  ready();
  const Bound bound(*this);
  cuda::ResourceDescription resource{};
  resource.type = cuda::kResourceArray;
  resource.array = array_of(image);
  std::uint64_t handle = 0;
  check(driver_.surface_create(&handle, &resource), "cuSurfObjectCreate");
  return handle;
}

void CudaDevice::destroy_texture(std::uint64_t handle) noexcept {
  if (!alive()) return;
  const Bound bound(*this);
  static_cast<void>(driver_.context_synchronize());
  static_cast<void>(driver_.texture_destroy(handle));
}

void CudaDevice::destroy_surface(std::uint64_t handle) noexcept {
  if (!alive()) return;
  const Bound bound(*this);
  static_cast<void>(driver_.context_synchronize());
  static_cast<void>(driver_.surface_destroy(handle));
}

}  // namespace nervanagpu
