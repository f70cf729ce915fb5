// Tensor maps of the emulator: what UTMALDG and UTMASTG are told about a tensor, and where the bytes of a box lie in shared memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <type_traits>

#include "sass/result.h"

namespace nervanagpu::sass::emulate {

// In the driver's order, as everything that is numbered here.
enum class MapType : std::uint8_t {
  kU8,
  kU16,
  kU32,
  kS32,
  kU64,
  kS64,
  kF16,
  kF32,
  kF64,
  kBf16,
  kF32Ftz,
  kTf32,
  kTf32Ftz
};
enum class MapSwizzle : std::uint8_t { kNone, k32, k64, k128 };
enum class MapInterleave : std::uint8_t { kNone, k16, k32 };

// Columns of pixels instead of boxes: the base pixel of a filter goes through a box that is the tensor's extents (W, H, D)
// moved by `lower` at the low and by `upper` at the high end.
struct MapIm2col {
  std::span<const std::int32_t> lower, upper;  // innermost (W) first, rank - 2 of each
  std::uint32_t channels = 0;                  // of a pixel
  std::uint32_t pixels = 0;                    // of a column
};

// A description of a map, innermost dimension first.
struct MapSpec {
  MapType type = MapType::kU8;
  std::uint64_t address = 0;
  std::span<const std::uint64_t> sizes;            // elements; their number is the rank
  std::span<const std::uint64_t> strides;          // bytes, of all dimensions but the innermost
  std::span<const std::uint32_t> box;              // elements; none with im2col
  std::span<const std::uint32_t> element_strides;  // empty: 1; the innermost one is ignored
  MapSwizzle swizzle = MapSwizzle::kNone;
  bool fill_nan = false;  // outside the tensor; else zeros
  MapInterleave interleave = MapInterleave::kNone;
  const MapIm2col* im2col = nullptr;  // null: tiled
};

inline constexpr std::uint32_t kMaxMapRank = 5;

// Passed to kernels by value, on a multiple of 64 bytes.
struct alignas(64) TensorMap {
  static constexpr std::uint32_t kMagic = 0x70616d74;
  std::uint32_t magic = 0;
  MapType type = MapType::kU8;
  std::uint8_t rank = 0;
  MapSwizzle swizzle = MapSwizzle::kNone;
  bool fill_nan = false;
  std::uint64_t address = 0;
  std::array<std::uint64_t, kMaxMapRank> size{};
  std::array<std::uint64_t, kMaxMapRank - 1> stride{};
  std::array<std::uint16_t, kMaxMapRank> box{};  // im2col: channels, pixels
  std::array<std::int16_t, kMaxMapRank - 2> lower{}, upper{};
  std::array<std::uint8_t, kMaxMapRank> element_stride{};
  MapInterleave interleave = MapInterleave::kNone;
  bool im2col = false;
  std::array<std::uint8_t, 11> unused{};
};
static_assert(sizeof(TensorMap) == 128 && std::is_trivially_copyable_v<TensorMap>);

// The restrictions are those of cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col, and that a box fits in shared memory;
// the error names the argument.
Result<TensorMap> encode_tensor_map(const MapSpec& spec);

unsigned element_bytes(MapType type);
// Bytes that a box takes in shared memory, and that a load counts at its mbarrier.
std::uint32_t box_bytes(const TensorMap& map);
// From the start of its first row to the end of its last.
std::uint32_t shared_bytes(const TensorMap& map);
// Where byte `at` of shared memory goes: 16-byte chunks change places within 256, 512 or 1024 bytes.
constexpr std::uint32_t swizzled(MapSwizzle swizzle, std::uint32_t at) {
  switch (swizzle) {
    case MapSwizzle::k32: return at ^ (at >> 3 & 0x10);
    case MapSwizzle::k64: return at ^ (at >> 3 & 0x30);
    case MapSwizzle::k128: return at ^ (at >> 3 & 0x70);
    default: return at;
  }
}

// One row of a box: `bytes` at `offset` from the start of the box in shared memory (before the swizzle). Of these [from, to) lie
// inside the tensor, at `address` on.
struct BoxRow {
  std::uint32_t offset = 0;
  std::uint32_t bytes = 0;
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  std::uint64_t address = 0;
};
// Calls visit for all rows of the box at `at` (interleaved: units of 16 or 32 bytes) until one returns false. With im2col `at` is the first base pixel, and
// `offsets` (W, H, D) the place in the filter.
bool each_row(const TensorMap& map, std::span<const std::int32_t> at, std::span<const std::uint32_t> offsets,
              const std::function<bool(const BoxRow&)>& visit);

// What a load makes of elements inside the tensor: tfloat32 is rounded, all else is as it was.
void convert_loaded(MapType type, std::span<std::byte> bytes);

// The not-a-number that fills what lies outside of a tensor, whatever the type of its elements, if it is not zeros.
inline constexpr std::uint16_t kOutsideOfTensor = 0x7ff7;

// What stands outside the tensor. It is not converted.
void fill_outside(const TensorMap& map, std::span<std::byte> row);

}  // namespace nervanagpu::sass::emulate
