#include "sass/emulate/tensor_map.h"

#include <algorithm>
#include <cstring>
#include <string>

namespace nervanagpu::sass::emulate {
namespace {

std::uint32_t span_of(MapSwizzle s) {
  return s == MapSwizzle::kNone ? 0 : 16u << static_cast<unsigned>(s);
}

// Elements of the box along a dimension.
std::uint32_t extent(const TensorMap& map, unsigned d) {
  return d == 0 ? map.box[0] : (map.box[d] + map.element_stride[d] - 1U) / map.element_stride[d];
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

Result<TensorMap> encode_tensor_map(const MapSpec& spec) {
  const auto bad = [](const std::string& argument, std::uint64_t came, const std::string& needed) {
    return error("tensor map: " + argument + " is " + std::to_string(came) + "; " + needed);
  };
  const auto nth = [](const char* name, std::size_t i) { return std::string(name) + "[" + std::to_string(i) + "]"; };
  const std::size_t rank = spec.sizes.size();
  if (rank < 1 || rank > kMaxMapRank) return bad("the number of sizes", rank, "1 to 5 are possible");
  if (spec.strides.size() != rank - 1) {
    return bad("the number of strides", spec.strides.size(), "needed are " + std::to_string(rank - 1));
  }
  if (spec.box.size() != rank) {
    return bad("the number of box sizes", spec.box.size(), "needed are " + std::to_string(rank));
  }
  if (!spec.element_strides.empty() && spec.element_strides.size() != rank) {
    return bad("the number of element_strides", spec.element_strides.size(),
               "needed are " + std::to_string(rank) + " or none");
  }
  if (spec.address == 0 || spec.address % 16 != 0) return bad("address", spec.address, "a multiple of 16 is needed");
  TensorMap map;
  map.magic = TensorMap::kMagic;
  map.type = spec.type;
  map.rank = static_cast<std::uint8_t>(rank);
  map.swizzle = spec.swizzle;
  map.fill_nan = spec.fill_nan;
  map.address = spec.address;
  const unsigned element = element_bytes(spec.type);
  const bool is_float = spec.type >= MapType::kF16;
  if (spec.fill_nan && !is_float) return error("tensor map: fill_nan needs a floating-point type");
  for (std::size_t i = 0; i < rank; ++i) {
    const std::uint64_t size = spec.sizes[i];
    if (size == 0 || size > std::uint64_t{1} << 32) return bad(nth("sizes", i), size, "1 to 2^32 are possible");
    map.size[i] = size;
    if (spec.box[i] == 0 || spec.box[i] > 256) return bad(nth("box", i), spec.box[i], "1 to 256 are possible");
    map.box[i] = static_cast<std::uint16_t>(spec.box[i]);
    const std::uint32_t step = spec.element_strides.empty() ? 1 : spec.element_strides[i];
    if (step == 0 || step > 8) return bad(nth("element_strides", i), step, "1 to 8 are possible");
    map.element_stride[i] = static_cast<std::uint8_t>(step);
    if (i == 0) continue;
    const std::uint64_t stride = spec.strides[i - 1];
    if (stride == 0 || stride % 16 != 0 || stride >= std::uint64_t{1} << 40) {
      return bad(nth("strides", i - 1), stride, "a multiple of 16 below 2^40 is needed");
    }
    map.stride[i - 1] = stride;
  }
  const std::uint32_t row = map.box[0] * element;
  if (row % 16 != 0) return bad("box[0], in bytes,", row, "a multiple of 16 is needed");
  const std::uint32_t span = span_of(spec.swizzle);
  if (span != 0 && row != span) {
    return bad("box[0], in bytes,", row, "with this swizzle " + std::to_string(span) + " are needed");
  }
  return map;
}

std::uint32_t box_bytes(const TensorMap& map) {
  std::uint32_t n = element_bytes(map.type);
  for (unsigned d = 0; d < map.rank; ++d) n *= extent(map, d);
  return n;
}

bool each_row(const TensorMap& map, std::span<const std::int32_t> at, const std::function<bool(const BoxRow&)>& visit) {
  const unsigned element = element_bytes(map.type);
  std::array<std::uint32_t, kMaxMapRank> k{};
  const std::int64_t first = at[0];
  const std::int64_t from = std::clamp<std::int64_t>(-first, 0, map.box[0]);
  const std::int64_t to = std::clamp<std::int64_t>(static_cast<std::int64_t>(map.size[0]) - first, from, map.box[0]);
  BoxRow row;
  row.bytes = map.box[0] * element;
  while (true) {
    bool inside = true;
    std::uint64_t address = map.address + static_cast<std::uint64_t>(first + from) * element;
    for (unsigned d = 1; d < map.rank; ++d) {
      const std::int64_t c = at[d] + static_cast<std::int64_t>(k[d]) * map.element_stride[d];
      inside = inside && c >= 0 && static_cast<std::uint64_t>(c) < map.size[d];
      if (inside) address += static_cast<std::uint64_t>(c) * map.stride[d - 1];
    }
    row.from = static_cast<std::uint32_t>(from) * element;
    row.to = inside ? static_cast<std::uint32_t>(to) * element : row.from;
    row.address = address;
    if (!visit(row)) return false;
    row.offset += row.bytes;
    unsigned d = 1;
    while (d < map.rank && ++k[d] == extent(map, d)) k[d++] = 0;
    if (d >= map.rank) return true;
  }
}

void fill_outside(const TensorMap& map, std::span<std::byte> row) {
  std::fill(row.begin(), row.end(), std::byte{0});
  if (!map.fill_nan) return;
  const unsigned element = element_bytes(map.type);
  const std::uint64_t nan = map.type == MapType::kF64   ? 0x7fffffffffffffff
                            : map.type == MapType::kF32 ? 0x7fffffff
                                                        : 0x7fff;
  for (std::size_t i = 0; i + element <= row.size(); i += element) std::memcpy(row.data() + i, &nan, element);
}

}  // namespace nervanagpu::sass::emulate
