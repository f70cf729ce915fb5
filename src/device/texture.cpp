#include "src/device/texture.h"

#include <string>

#include "nervanagpu/error.hpp"
#include "src/device/device.h"
#include "src/device/select_device.h"

namespace nervanagpu {
namespace {

constexpr std::array<std::string_view, 7> kKindNames = {"1d", "2d", "3d", "1d_array", "2d_array", "cube", "cube_array"};
constexpr std::array<std::string_view, 4> kAddressNames = {"wrap", "clamp", "mirror", "border"};

template <class E, std::size_t N>
std::optional<E> by_name(const std::array<std::string_view, N>& names, std::string_view name) {
  for (std::size_t i = 0; i < N; ++i) {
    if (names[i] == name) return static_cast<E>(i);
  }
  return std::nullopt;
}

sass::emulate::TexelType texel_type(Dtype dtype) {
  using T = sass::emulate::TexelType;
  switch (dtype) {
    case Dtype::uint8: return T::kU8;
    case Dtype::uint16: return T::kU16;
    case Dtype::uint32: return T::kU32;
    case Dtype::int8: return T::kS8;
    case Dtype::int16: return T::kS16;
    case Dtype::int32: return T::kS32;
    case Dtype::float16: return T::kF16;
    case Dtype::float32: return T::kF32;
    default:
      throw InvalidArgument("image: dtype is " + std::string(name_of(dtype)) +
                            "; texels are integers of 8, 16 or 32 bits, float16 or float32");
  }
}

sass::emulate::Image form_of(const ImageSpec& spec) {
  if (static_cast<std::size_t>(spec.kind) >= kKindNames.size()) {
    throw InvalidArgument("image: kind is " + std::to_string(static_cast<unsigned>(spec.kind)) + "; there are 0 to 6");
  }
  sass::emulate::Image image;
  image.kind = static_cast<sass::emulate::ImageKind>(spec.kind);
  image.type = texel_type(spec.dtype);
  image.channels = static_cast<std::uint8_t>(spec.channels > 4 ? 0 : spec.channels);
  image.width = spec.width;
  image.height = spec.height;
  image.depth = spec.depth;
  image.layers = spec.layers;
  if (spec.channels > 4) {
    throw InvalidArgument("image: channels is " + std::to_string(spec.channels) + "; 1, 2 and 4 are possible");
  }
  return image;
}

// The last axis holds channels if there is one more than `rank`.
ImageSpec spec_of(const Tensor& t, std::size_t rank) {
  const Shape& shape = t.shape();
  const auto wrong = [&](const std::string& what) { throw InvalidArgument("texture: the tensor " + what); };
  if (shape.size() != rank && shape.size() != rank + 1) {
    wrong("has " + std::to_string(shape.size()) + " axes; needs " + std::to_string(rank) +
          ", or one more with channels");
  }
  ImageSpec spec;
  spec.dtype = t.dtype();
  const bool channels = shape.size() > rank;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] < 1 || shape[i] > std::int64_t{1} << 27)
      wrong("has " + std::to_string(shape[i]) + " elements along axis " + std::to_string(i) + "; needs 1 to 134217728");
  }
  spec.channels = channels ? static_cast<std::uint32_t>(shape.back()) : 1;
  if (channels && t.strides().back() != 1 && shape.back() != 1) wrong("has channels that are no neighbours");
  const std::size_t x = rank - 1;
  if (t.strides()[x] != spec.channels && shape[x] != 1)
    wrong("has texels that are no neighbours along axis " + std::to_string(x));
  spec.width = static_cast<std::uint32_t>(shape[x]);
  if (rank > 1) spec.height = static_cast<std::uint32_t>(shape[0]);
  return spec;
}

}  // namespace

std::string_view name_of(ImageKind kind) noexcept {
  const auto i = static_cast<std::size_t>(kind);
  return i < kKindNames.size() ? kKindNames[i] : "?";
}
std::optional<ImageKind> image_kind_from_name(std::string_view name) noexcept {
  return by_name<ImageKind>(kKindNames, name);
}
std::optional<TextureAddress> texture_address_from_name(std::string_view name) noexcept {
  return by_name<TextureAddress>(kAddressNames, name);
}

sass::emulate::Image emulated(const ImageSpec& spec) {
  const sass::emulate::Image image = form_of(spec);
  if (auto ok = sass::emulate::check_image(image); !ok) throw InvalidArgument("image: " + ok.error().message);
  return image;
}

sass::emulate::TextureObject emulated(const TexelSource& source, const TextureOptions& options) {
  sass::emulate::TextureObject object;
  object.image = form_of(source.spec);
  if (source.image == 0 && source.pitch == 0) object.image.kind = sass::emulate::ImageKind::kBuffer;
  object.image.pitch = source.pitch;
  object.image.address = source.address;
  for (std::size_t i = 0; i < 3; ++i) {
    if (static_cast<std::size_t>(options.address[i]) >= kAddressNames.size()) {
      throw InvalidArgument("texture: address[" + std::to_string(i) + "] is " +
                            std::to_string(static_cast<unsigned>(options.address[i])) + "; there are 0 to 3");
    }
    object.sampler.address[i] = static_cast<sass::emulate::TextureAddress>(options.address[i]);
  }
  object.sampler.linear = options.linear;
  object.sampler.normalized = options.normalized;
  object.sampler.raw = options.raw;
  object.sampler.border = options.border;
  if (auto ok = sass::emulate::check_texture(object.image, object.sampler); !ok) {
    throw InvalidArgument("texture: " + ok.error().message);
  }
  return object;
}

namespace {
[[noreturn]] void no_textures() {
  throw Error("this device has no textures");
}
}  // namespace

ImageId Device::create_image(const ImageSpec& /*spec*/) {
  no_textures();
}
void Device::upload_image(ImageId /*image*/, const ImageSpec& /*spec*/, const void* /*texels*/) {
  no_textures();
}
void Device::download_image(void* /*texels*/, ImageId /*image*/, const ImageSpec& /*spec*/) {
  no_textures();
}
std::uint64_t Device::create_texture(const TexelSource& /*source*/, const TextureOptions& /*options*/) {
  no_textures();
}
std::uint64_t Device::create_surface(ImageId /*image*/, const ImageSpec& /*spec*/) {
  no_textures();
}

struct Image::Data {
  explicit Data(const ImageSpec& s)
      : spec(s), bytes(emulated(s).bytes()), device(current_device()), id(device.create_image(s)) {}
  ~Data() { device.destroy_image(id); }
  Data(const Data&) = delete;
  Data& operator=(const Data&) = delete;

  ImageSpec spec;
  std::size_t bytes;
  Device& device;
  ImageId id;
};

Image::Image(const ImageSpec& spec) : data_(std::make_shared<Data>(spec)) {}
const ImageSpec& Image::spec() const noexcept {
  return data_->spec;
}
std::size_t Image::bytes() const noexcept {
  return data_->bytes;
}

namespace {
void check_texels(const void* texels, std::size_t came, std::size_t needed) {
  if (came != needed) {
    throw InvalidArgument("image: bytes is " + std::to_string(came) + "; all its texels have " +
                          std::to_string(needed));
  }
  if (texels == nullptr) throw InvalidArgument("image: texels is null; needs host memory");
}
}  // namespace

void Image::set(const void* texels, std::size_t bytes) {
  check_texels(texels, bytes, data_->bytes);
  data_->device.upload_image(data_->id, data_->spec, texels);
}
void Image::get(void* texels, std::size_t bytes) const {
  check_texels(texels, bytes, data_->bytes);
  data_->device.download_image(texels, data_->id, data_->spec);
}

struct Texture::Data {
  Data(Device& on, const TexelSource& source, const TextureOptions& options, std::shared_ptr<Image::Data> of,
       Tensor keep)
      : device(on), image(std::move(of)), tensor(std::move(keep)), handle(on.create_texture(source, options)) {}
  ~Data() { device.destroy_texture(handle); }
  Data(const Data&) = delete;
  Data& operator=(const Data&) = delete;

  Device& device;
  std::shared_ptr<Image::Data> image;
  Tensor tensor;
  std::uint64_t handle;
};

Texture::Texture(const Image& image, const TextureOptions& options)
    : data_(std::make_shared<Data>(image.data_->device, TexelSource{image.data_->id, 0, 0, image.data_->spec}, options,
                                   image.data_, Tensor())) {}

Texture Texture::line(const Tensor& tensor, const TextureOptions& options) {
  TexelSource source;
  source.spec = spec_of(tensor, 1);
  source.spec.kind = ImageKind::d1;
  source.address = tensor.address();
  return Texture(std::make_shared<Data>(open_device(tensor.device()), source, options, nullptr, tensor));
}

Texture Texture::plane(const Tensor& tensor, const TextureOptions& options) {
  TexelSource source;
  source.spec = spec_of(tensor, 2);
  source.address = tensor.address();
  constexpr std::uint64_t kPitch = 32, kAddress = 512;
  const auto width = static_cast<std::uint64_t>(size_of(tensor.dtype()));
  const std::int64_t stride = tensor.shape()[0] == 1
                                  ? static_cast<std::int64_t>(source.spec.width) * source.spec.channels
                                  : tensor.strides()[0];
  source.pitch = static_cast<std::uint64_t>(stride) * width;
  if (tensor.shape()[0] == 1) source.pitch = (source.pitch + kPitch - 1) / kPitch * kPitch;
  if (stride < 0 || source.pitch % kPitch != 0 || source.pitch == 0) {
    throw InvalidArgument("texture: the tensor's rows are " +
                          std::to_string(stride * static_cast<std::int64_t>(width)) +
                          " bytes apart; needs a multiple of " + std::to_string(kPitch));
  }
  if (source.address % kAddress != 0) {
    throw InvalidArgument("texture: the tensor's address is " + std::to_string(source.address) +
                          "; needs a multiple of " + std::to_string(kAddress));
  }
  return Texture(std::make_shared<Data>(open_device(tensor.device()), source, options, nullptr, tensor));
}

std::uint64_t Texture::handle() const noexcept {
  return data_->handle;
}

struct Surface::Data {
  explicit Data(std::shared_ptr<Image::Data> of)
      : image(std::move(of)), handle(image->device.create_surface(image->id, image->spec)) {}
  ~Data() { image->device.destroy_surface(handle); }
  Data(const Data&) = delete;
  Data& operator=(const Data&) = delete;

  std::shared_ptr<Image::Data> image;
  std::uint64_t handle;
};

Surface::Surface(const Image& image) : data_(std::make_shared<Data>(image.data_)) {}
std::uint64_t Surface::handle() const noexcept {
  return data_->handle;
}

}  // namespace nervanagpu
