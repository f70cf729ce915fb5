// Tensor maps: what the copy engine of sm_90a (UTMALDG, UTMASTG, UTMAREDG) is told about a tensor. A kernel takes one by
// value, as a parameter of type `map`:
//
//   ng::TensorMap m = ng::TensorMap::of(x, {64, 128});           // boxes of 64 rows of 128 elements
//   m.swizzle = ng::MapSwizzle::b128;
//   module.launch("gemm", {grid}, {}, {ng::encode_tensor_map(m), y, n});
//
// Everything here is innermost dimension first, as coordinates in the kernel are; `of` takes the tensor's own order.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "nervanagpu/export.hpp"
#include "nervanagpu/tensor.hpp"

namespace nervanagpu {

// In the driver's order, as all enumerations here.
enum class MapType : std::uint8_t {
  uint8,
  uint16,
  uint32,
  int32,
  uint64,
  int64,
  float16,
  float32,
  float64,
  bfloat16,
  float32_ftz,   // copied as float32: subnormal numbers stay
  tfloat32,      // loads round to TF32, ties to even; stores copy
  tfloat32_ftz,  // the same
};
enum class MapInterleave : std::uint8_t { none, b16, b32 };  // NC/8HWC8 and NC/16HWC16 of 2-byte channels
enum class MapSwizzle : std::uint8_t { none, b32, b64, b128 };
enum class MapPromotion : std::uint8_t { none, b64, b128, b256 };  // bytes that L2 fetches at a time
enum class MapFill : std::uint8_t { zeros, nan };                  // for what lies outside the tensor

struct TensorMap {
  static constexpr std::size_t kMaxRank = 5;

  MapType type = MapType::float32;
  std::uint32_t rank = 2;
  std::uint64_t address = 0;                                    // a multiple of 16
  std::array<std::uint64_t, kMaxRank> sizes{};                  // elements
  std::array<std::uint64_t, kMaxRank - 1> strides{};            // bytes, of all dimensions but the innermost; x 16
  std::array<std::uint32_t, kMaxRank> box{};                    // elements, at most 256 each
  std::array<std::uint32_t, kMaxRank> steps = {1, 1, 1, 1, 1};  // element strides; the innermost one is ignored
  MapInterleave interleave = MapInterleave::none;
  MapSwizzle swizzle = MapSwizzle::none;
  MapPromotion promotion = MapPromotion::none;
  MapFill fill = MapFill::zeros;

  // Columns of pixels instead of boxes, of a tensor (C, W, N), (C, W, H, N) or (C, W, H, D, N): the base pixel of a filter
  // goes through the spatial extents moved by `lower` at their low and by `upper` at their high ends.
  struct Im2col {
    std::array<std::int32_t, kMaxRank - 2> lower{}, upper{};  // W, H, D
    std::uint32_t channels = 0;                               // of a pixel, at most 256
    std::uint32_t pixels = 0;                                 // of a column, at most 1024
    bool operator==(const Im2col&) const = default;
  };
  std::optional<Im2col> im2col;  // then `box` is not used

  // Of a tensor whose innermost elements are neighbours; `box` in the tensor's order, outermost first.
  NG_API static TensorMap of(const Tensor& tensor, const std::vector<std::uint32_t>& box);
  bool operator==(const TensorMap&) const = default;
};

// What kernels take, opaque.
struct alignas(64) EncodedTensorMap {
  std::array<std::byte, 128> bytes{};
};

// For the device that is in use. Throws InvalidArgument that names the argument, what it is and what it may be, the same on
// every device; Error if the driver is too old. Nothing is allocated: it may be called before each launch.
NG_API EncodedTensorMap encode_tensor_map(const TensorMap& map);

NG_API std::string_view name_of(MapType type) noexcept;  // "bfloat16"
NG_API std::optional<MapType> map_type_from_name(std::string_view name) noexcept;

}  // namespace nervanagpu
