#include "sass/emulate/tensor_map.h"

#include <algorithm>
#include <cstring>
#include <string>

namespace nervanagpu::sass::emulate {
namespace {

// Elements of the box along a dimension.
std::uint32_t extent(const TensorMap& map, unsigned d) {
  return d == 0 ? map.box[0] : (map.box[d] + map.element_stride[d] - 1U) / map.element_stride[d];
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

bool each_pixel(const TensorMap& map, std::span<const std::int32_t> at, std::span<const std::uint32_t> offsets,
                const std::function<bool(const BoxRow&)>& visit) {
  const unsigned spatial = map.rank - 2U;
  std::array<std::int64_t, kMaxMapRank> base{};
  for (unsigned d = 1; d < map.rank; ++d) base[d] = at[d];
  const std::uint32_t bytes = map.box[0] * element_bytes(map.type);
  for (std::uint32_t p = 0; p < map.box[1]; ++p) {
    std::array<std::int64_t, kMaxMapRank> c = base;
    for (unsigned i = 0; i < spatial; ++i) c[i + 1] += offsets[i];
    if (!visit(row_at(map, at[0], c, p * bytes))) return false;
    unsigned d = 1;
    for (; d <= spatial; ++d) {
      base[d] += map.element_stride[d];
      if (base[d] < static_cast<std::int64_t>(map.size[d]) + map.upper[d - 1]) break;
      base[d] = map.lower[d - 1];
    }
    if (d > spatial) ++base[d];
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
  std::uint32_t n = element_bytes(map.type);
  if (map.im2col) return n * map.box[0] * map.box[1];
  for (unsigned d = 0; d < map.rank; ++d) n *= extent(map, d);
  return n;
}

bool each_row(const TensorMap& map, std::span<const std::int32_t> at, std::span<const std::uint32_t> offsets,
              const std::function<bool(const BoxRow&)>& visit) {
  if (map.im2col) return each_pixel(map, at, offsets, visit);
  std::array<std::uint32_t, kMaxMapRank> k{};
  const std::uint32_t bytes = map.box[0] * element_bytes(map.type);
  for (std::uint32_t offset = 0;; offset += bytes) {
    std::array<std::int64_t, kMaxMapRank> c{};
    for (unsigned d = 1; d < map.rank; ++d) c[d] = at[d] + static_cast<std::int64_t>(k[d]) * map.element_stride[d];
    if (!visit(row_at(map, at[0], c, offset))) return false;
    unsigned d = 1;
    while (d < map.rank && ++k[d] == extent(map, d)) k[d++] = 0;
    if (d >= map.rank) return true;
  }
}

void fill_outside(const TensorMap& map, std::span<std::byte> row) {
  std::fill(row.begin(), row.end(), std::byte{0});
  if (!map.fill_nan) return;
  const unsigned element = element_bytes(map.type);
  const std::uint64_t nan = map.type == MapType::kF64 ? 0x7fffffffffffffff : element == 4 ? 0x7fffffff : 0x7fff;
  for (std::size_t i = 0; i + element <= row.size(); i += element) std::memcpy(row.data() + i, &nan, element);
}

}  // namespace nervanagpu::sass::emulate
