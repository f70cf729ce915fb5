// Textures and surfaces: memory that kernels read by coordinates, with wrapping and linear filters (TEX, TLD, TLD4), and read and
// write by texel (SULD, SUST, SURED). Kernels take a handle, a 64-bit parameter:
//
//   ng::Image image({.width = 64, .height = 48, .dtype = ng::Dtype::uint8, .channels = 4});
//   image.set(pixels.data(), pixels.size());
//   ng::Texture texture(image, {.linear = true, .normalized = true});
//   module.launch("resize", {grid}, {}, {texture, y, n});
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "nervanagpu/dtype.hpp"
#include "nervanagpu/export.hpp"
#include "nervanagpu/tensor.hpp"

namespace nervanagpu {

enum class ImageKind : std::uint8_t { d1, d2, d3, d1_array, d2_array, cube, cube_array };
NG_API std::string_view name_of(ImageKind kind) noexcept;  // "1d", "2d_array", "cube"
NG_API std::optional<ImageKind> image_kind_from_name(std::string_view name) noexcept;

// Sizes in texels. A cube has six layers, +x, -x, +y, -y, +z, -z; a cube_array six for each cube.
struct ImageSpec {
  ImageKind kind = ImageKind::d2;
  std::uint32_t width = 1, height = 1, depth = 1, layers = 1;
  Dtype dtype = Dtype::float32;  // integers of 8, 16 or 32 bits, float16, float32
  std::uint32_t channels = 1;    // 1, 2 or 4
};

// Memory for textures and surfaces, on a GPU a CUDA array. Copies share it; texture and surface keep it alive.
class NG_API Image {
 public:
  // Throws InvalidArgument that names the size, what it is and what it may be; OutOfMemory.
  explicit Image(const ImageSpec& spec);

  [[nodiscard]] const ImageSpec& spec() const noexcept;
  [[nodiscard]] std::size_t bytes() const noexcept;
  // All texels: channels together, then x, y, z or layer. `bytes` must be bytes(). Both wait for the work before them.
  void set(const void* texels, std::size_t bytes);
  void get(void* texels, std::size_t bytes) const;

 private:
  friend class Texture;
  friend class Surface;
  struct Data;
  std::shared_ptr<Data> data_;
};

enum class TextureAddress : std::uint8_t { wrap, clamp, mirror, border };
NG_API std::optional<TextureAddress> texture_address_from_name(std::string_view name) noexcept;

struct TextureOptions {
  // Outside the image, along x, y, z. wrap and mirror want normalized coordinates, and are clamp without. Of a cube within its face.
  std::array<TextureAddress, 3> address{TextureAddress::clamp, TextureAddress::clamp, TextureAddress::clamp};
  bool linear = false;            // the mean of the nearest texels, else the one at the coordinates
  bool normalized = false;        // coordinates from 0 to 1; a cube's must be
  bool raw = false;               // integers of 8 and 16 bits as they are, else from 0 or -1 to 1
  std::array<float, 4> border{};  // colour of the border
};

// What a kernel reads from. It may be destroyed when no work that uses it is left; this waits for the device.
class NG_API Texture {
 public:
  explicit Texture(const Image& image, const TextureOptions& options = {});
  // Memory of a tensor whose elements are neighbours, not copied: of shape (n,) or (n, channels), read by integer coordinates
  // (TLD).
  static Texture line(const Tensor& tensor, const TextureOptions& options = {});
  // Of shape (h, w) or (h, w, channels): rows 32 bytes apart or a multiple, the first at a multiple of 512.
  static Texture plane(const Tensor& tensor, const TextureOptions& options = {});

  [[nodiscard]] std::uint64_t handle() const noexcept;

 private:
  struct Data;
  explicit Texture(std::shared_ptr<Data> data) : data_(std::move(data)) {}
  std::shared_ptr<Data> data_;
};

// What a kernel reads from and writes to.
class NG_API Surface {
 public:
  explicit Surface(const Image& image);
  [[nodiscard]] std::uint64_t handle() const noexcept;

 private:
  struct Data;
  std::shared_ptr<Data> data_;
};

}  // namespace nervanagpu
