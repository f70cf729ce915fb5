#include "sass/emulate/engine/tensor_map.h"

#include <algorithm>
#include <cstring>
#include <string>

namespace nervanagpu::sass::emulate {
namespace {

// Elements of the box along a dimension.
std::uint32_t extent(const TensorMap& map, unsigned d) {
  return d == 0 && map.interleave == MapInterleave::kNone
             ? map.box[0]
             : (map.box[d] + map.element_stride[d] - 1U) / map.element_stride[d];
}

std::uint32_t unit_bytes(const TensorMap& map) {
  return map.interleave == MapInterleave::k32 ? 32 : 16;
}

// With a swizzle rows begin at multiples of its span, however short they are.
std::uint32_t row_pitch(const TensorMap& map) {
  const std::uint32_t bytes = map.box[0] * element_bytes(map.type);
  return map.swizzle == MapSwizzle::kNone ? bytes : std::max(bytes, 16u << static_cast<unsigned>(map.swizzle));
}

// The row whose pixel is at `c`; `k` is its place.
BoxRow row_at(const TensorMap& map, std::int64_t first, std::span<const std::int64_t> c, std::uint32_t offset) {
  const unsigned element = element_bytes(map.type);
  const auto length = static_cast<std::int64_t>(map.box[0]);
  const std::int64_t from = std::clamp<std::int64_t>(-first, 0, length);
  const std::int64_t to = std::clamp<std::int64_t>(static_cast<std::int64_t>(map.size[0]) - first, from, length);
  bool inside = true;
  std::uint64_t address = map.address + static_cast<std::uint64_t>(first + from) * element;
  for (unsigned d = 1; d < map.rank; ++d) {
    inside = inside && c[d] >= 0 && static_cast<std::uint64_t>(c[d]) < map.size[d];
    if (inside) address += static_cast<std::uint64_t>(c[d]) * map.stride[d - 1];
  }
  BoxRow row;
  row.offset = offset;
  row.bytes = map.box[0] * element;
  row.from = static_cast<std::uint32_t>(from) * element;
  row.to = inside ? static_cast<std::uint32_t>(to) * element : row.from;
  row.address = address;
  return row;
}

// The base pixel of the next row of a column. `first`: the dimension of W.
void next_pixel(const TensorMap& map, std::array<std::int64_t, kMaxMapRank>& base, unsigned first) {
  unsigned i = 0;
  for (; i + 2 < map.rank; ++i) {
    std::int64_t& c = base[first + i];
    c += map.element_stride[first + i];
    if (c < static_cast<std::int64_t>(map.size[first + i]) + map.upper[i]) return;
    c = map.lower[i];
  }
  ++base[map.rank - 1U];
}

// NC/xHWCx: dimension 0 is W, of units of 16 or 32 bytes; the last but one counts slices of channels, of which a command
// takes one; the last is N.
bool each_unit(const TensorMap& map, std::span<const std::int32_t> at, std::span<const std::uint32_t> offsets,
               const std::function<bool(const BoxRow&)>& visit) {
  const std::uint32_t unit = unit_bytes(map);
  const unsigned slice = map.rank - 2U;
  std::array<std::int64_t, kMaxMapRank> base{};
  for (unsigned d = 0; d < map.rank; ++d) base[d] = at[d];
  std::array<std::uint32_t, kMaxMapRank> k{};
  for (BoxRow row;; row.offset += unit) {
    bool inside = true;
    row.address = map.address;
    for (unsigned d = 0; d < map.rank; ++d) {
      std::int64_t c = base[d] + static_cast<std::int64_t>(k[d]) * map.element_stride[d];
      if (map.im2col && d < slice) c += offsets[d];
      inside = inside && c >= 0 && static_cast<std::uint64_t>(c) < map.size[d];
      if (inside) row.address += static_cast<std::uint64_t>(c) * (d == 0 ? unit : map.stride[d - 1]);
    }
    row.bytes = unit;
    row.to = inside ? unit : 0;
    if (!visit(row)) return false;
    if (map.im2col) {
      if (row.offset + unit == box_bytes(map)) return true;
      next_pixel(map, base, 0);
      continue;
    }
    unsigned d = 0;
    while (d < map.rank && (d == slice || ++k[d] == extent(map, d))) k[d++] = 0;
    if (d == map.rank) return true;
  }
}

bool each_pixel(const TensorMap& map, std::span<const std::int32_t> at, std::span<const std::uint32_t> offsets,
                const std::function<bool(const BoxRow&)>& visit) {
  const unsigned spatial = map.rank - 2U;
  std::array<std::int64_t, kMaxMapRank> base{};
  for (unsigned d = 1; d < map.rank; ++d) base[d] = at[d];
  const std::uint32_t pitch = row_pitch(map);
  for (std::uint32_t p = 0; p < map.box[1]; ++p) {
    std::array<std::int64_t, kMaxMapRank> c = base;
    for (unsigned i = 0; i < spatial; ++i) c[i + 1] += offsets[i];
    if (!visit(row_at(map, at[0], c, p * pitch))) return false;
    next_pixel(map, base, 1);
  }
  return true;
}

}  // namespace

unsigned element_bytes(MapType type) {
  switch (type) {
    case MapType::kU8: return 1;
    case MapType::kU16:
    case MapType::kF16:
    case MapType::kBf16: return 2;
    case MapType::kU64:
    case MapType::kS64:
    case MapType::kF64: return 8;
    default: return 4;
  }
}

std::uint32_t box_bytes(const TensorMap& map) {
  const bool plain = map.interleave == MapInterleave::kNone;
  std::uint32_t n = plain ? element_bytes(map.type) : unit_bytes(map);
  if (map.im2col) return n * (plain ? map.box[0] : 1u) * map.box[1];
  for (unsigned d = 0; d < map.rank; ++d) n *= !plain && d + 2 == map.rank ? 1 : extent(map, d);
  return n;
}

std::uint32_t shared_bytes(const TensorMap& map) {
  const std::uint32_t row = map.box[0] * element_bytes(map.type);
  return map.interleave == MapInterleave::kNone ? box_bytes(map) / row * row_pitch(map) : box_bytes(map);
}

bool each_row(const TensorMap& map, std::span<const std::int32_t> at, std::span<const std::uint32_t> offsets,
              const std::function<bool(const BoxRow&)>& visit) {
  if (map.interleave != MapInterleave::kNone) return each_unit(map, at, offsets, visit);
  if (map.im2col) return each_pixel(map, at, offsets, visit);
  std::array<std::uint32_t, kMaxMapRank> k{};
  const std::uint32_t pitch = row_pitch(map);
  for (std::uint32_t offset = 0;; offset += pitch) {
    std::array<std::int64_t, kMaxMapRank> c{};
    for (unsigned d = 1; d < map.rank; ++d) c[d] = at[d] + static_cast<std::int64_t>(k[d]) * map.element_stride[d];
    if (!visit(row_at(map, at[0], c, offset))) return false;
    unsigned d = 1;
    while (d < map.rank && ++k[d] == extent(map, d)) k[d++] = 0;
    if (d >= map.rank) return true;
  }
}

void convert_loaded(MapType type, std::span<std::byte> bytes) {
  if (type != MapType::kTf32 && type != MapType::kTf32Ftz) return;
  for (std::size_t i = 0; i + 4 <= bytes.size(); i += 4) {
    std::uint32_t v = 0;
    std::memcpy(&v, bytes.data() + i, 4);
    const bool nan = (v & 0x7fffffff) > 0x7f800000;
    v = nan ? 0x7fffe000 : (v + 0xfff + (v >> 13 & 1)) & ~0x1fffu;  // 13 bits fewer, to nearest, halves to even
    std::memcpy(bytes.data() + i, &v, 4);
  }
}

void fill_outside(const TensorMap& map, std::span<std::byte> row) {
  std::fill(row.begin(), row.end(), std::byte{0});
  if (!map.fill_nan) return;
  for (std::size_t i = 0; i + 2 <= row.size(); i += 2) std::memcpy(row.data() + i, &kOutsideOfTensor, 2);
}

}  // namespace nervanagpu::sass::emulate
