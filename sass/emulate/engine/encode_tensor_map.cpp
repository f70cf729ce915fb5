// The arguments of a tensor map, checked as the driver does.
#include <algorithm>
#include <string>

#include "sass/emulate/engine/tensor_map.h"

namespace nervanagpu::sass::emulate {
namespace {

constexpr std::uint64_t kMostBytes = 227 << 10;  // of shared memory that a CTA can have

std::uint32_t span_of(MapSwizzle s) {
  return s == MapSwizzle::kNone ? 0 : 16u << static_cast<unsigned>(s);
}

std::string nth(const char* name, std::size_t i) {
  return std::string(name) + "[" + std::to_string(i) + "]";
}

Diag bad(const std::string& argument, std::int64_t came, const std::string& needed) {
  return error("tensor map: " + argument + " is " + std::to_string(came) + "; " + needed);
}

template <class T>
bool within(T v, T low, T high) {
  return v >= low && v <= high;
}

Status check_counts(const MapSpec& spec) {
  const std::size_t rank = spec.sizes.size();
  const std::size_t least = spec.im2col != nullptr || spec.interleave != MapInterleave::kNone ? 3 : 1;
  const auto number = [&](const char* of, std::size_t came, std::size_t needed, const char* more = "") {
    return bad(std::string("the number of ") + of, static_cast<std::int64_t>(came),
               "needed are " + std::to_string(needed) + more);
  };
  if (!within(rank, least, std::size_t{kMaxMapRank})) {
    return bad("the number of sizes", static_cast<std::int64_t>(rank), std::to_string(least) + " to 5 are possible");
  }
  if (spec.strides.size() != rank - 1) return number("strides", spec.strides.size(), rank - 1);
  if (!spec.element_strides.empty() && spec.element_strides.size() != rank) {
    return number("element_strides", spec.element_strides.size(), rank, " or none");
  }
  const std::size_t boxes = spec.im2col == nullptr ? rank : 0;
  if (spec.box.size() != boxes) return number("box sizes", spec.box.size(), boxes);
  if (spec.im2col == nullptr) return Done{};
  if (spec.im2col->lower.size() != rank - 2) return number("lower corners", spec.im2col->lower.size(), rank - 2);
  if (spec.im2col->upper.size() != rank - 2) return number("upper corners", spec.im2col->upper.size(), rank - 2);
  return Done{};
}

Status check_tensor(const MapSpec& spec, TensorMap& map) {
  const unsigned align = spec.interleave == MapInterleave::k32 ? 32 : 16;
  const std::string multiple = "a multiple of " + std::to_string(align);
  if (spec.address == 0 || spec.address % align != 0) {
    return error("tensor map: address is " + std::to_string(spec.address) + "; " + multiple + " is needed");
  }
  map.address = spec.address;
  for (std::size_t i = 0; i < spec.sizes.size(); ++i) {
    const std::uint64_t size = spec.sizes[i];
    if (!within(size, std::uint64_t{1}, std::uint64_t{1} << 32)) {
      return error("tensor map: " + nth("sizes", i) + " is " + std::to_string(size) + "; 1 to 2^32 are possible");
    }
    map.size[i] = size;
    const std::uint32_t step = spec.element_strides.empty() ? 1 : spec.element_strides[i];
    if (!within(step, 1u, 8u)) return bad(nth("element_strides", i), step, "1 to 8 are possible");
    map.element_stride[i] = static_cast<std::uint8_t>(step);
    if (i == 0) continue;
    const std::uint64_t stride = spec.strides[i - 1];
    if (stride == 0 || stride % align != 0 || stride >= std::uint64_t{1} << 40) {
      return error("tensor map: " + nth("strides", i - 1) + " is " + std::to_string(stride) + "; " + multiple +
                   " below 2^40 is needed");
    }
    map.stride[i - 1] = stride;
  }
  return Done{};
}

Status check_box(const MapSpec& spec, TensorMap& map) {
  for (std::size_t i = 0; i < spec.box.size(); ++i) {
    if (!within(spec.box[i], 1u, 256u)) return bad(nth("box", i), spec.box[i], "1 to 256 are possible");
    map.box[i] = static_cast<std::uint16_t>(spec.box[i]);
  }
  return Done{};
}

Status check_im2col(const MapIm2col& spec, TensorMap& map) {
  constexpr std::array<std::int32_t, 3> kReach = {32768, 128, 16};  // by the number of corners
  const std::int32_t reach = kReach[map.rank - 3U];
  const std::string range = std::to_string(-reach) + " to " + std::to_string(reach - 1) + " are possible";
  map.im2col = true;
  for (std::size_t i = 0; i + 2 < map.rank; ++i) {
    if (!within(spec.lower[i], -reach, reach - 1)) return bad(nth("lower", i), spec.lower[i], range);
    if (!within(spec.upper[i], -reach, reach - 1)) return bad(nth("upper", i), spec.upper[i], range);
    const auto size = static_cast<std::int64_t>(map.size[i + 1]);
    if (size + spec.upper[i] - spec.lower[i] <= 0) {
      return bad("the extent of the box of base pixels, " + nth("sizes", i + 1) + " + " + nth("upper", i) + " - " +
                     nth("lower", i) + ",",
                 size + spec.upper[i] - spec.lower[i], "at least 1 is needed");
    }
    map.lower[i] = static_cast<std::int16_t>(spec.lower[i]);
    map.upper[i] = static_cast<std::int16_t>(spec.upper[i]);
  }
  if (!within(spec.channels, 1u, 256u)) return bad("channels", spec.channels, "1 to 256 are possible");
  if (!within(spec.pixels, 1u, 1024u)) return bad("pixels", spec.pixels, "1 to 1024 are possible");
  map.box[0] = static_cast<std::uint16_t>(spec.channels);
  map.box[1] = static_cast<std::uint16_t>(spec.pixels);
  return Done{};
}

Status check_row(const TensorMap& map) {
  const std::string inner = map.im2col ? "channels, in bytes," : "box[0], in bytes,";
  const std::uint32_t row = map.box[0] * element_bytes(map.type);
  const std::uint32_t span = span_of(map.swizzle);
  if (map.interleave == MapInterleave::k32 && map.swizzle != MapSwizzle::k32) {
    return bad("swizzle", span, "32 is needed with interleave 32");
  }
  if (row % 16 != 0) return bad(inner, row, "a multiple of 16 is needed");
  if (map.interleave == MapInterleave::kNone) {
    if (span != 0 && row > span) {
      return bad(inner, row, "with this swizzle " + std::to_string(span) + " are the most");
    }
  }
  if (map.interleave != MapInterleave::kNone) {
    std::uint64_t bytes = map.interleave == MapInterleave::k32 ? 32 : 16;  // of a unit; channels are a slice each
    for (unsigned d = 0; d < map.rank && bytes <= kMostBytes; ++d) {
      if (d + 2 != map.rank) bytes *= (map.box[d] + map.element_stride[d] - 1U) / map.element_stride[d];
    }
    if (!map.im2col && bytes > kMostBytes) return error("tensor map: box has more bytes than shared memory, 232448");
    return Done{};
  }
  std::uint64_t bytes = std::max(row, span);  // with a swizzle rows begin at multiples of its span
  for (unsigned d = 1; d < (map.im2col ? 2U : map.rank) && bytes <= kMostBytes; ++d) {
    const std::uint64_t step = map.im2col ? 1 : map.element_stride[d];
    bytes *= (map.box[d] + step - 1) / step;
  }
  if (bytes > kMostBytes) return error("tensor map: box has more bytes than shared memory, 232448");
  return Done{};
}

}  // namespace

Result<TensorMap> encode_tensor_map(const MapSpec& spec) {
  if (Status s = check_counts(spec); !s) return s.error();
  TensorMap map;
  map.magic = TensorMap::kMagic;
  map.type = spec.type;
  map.rank = static_cast<std::uint8_t>(spec.sizes.size());
  map.swizzle = spec.swizzle;
  map.fill_nan = spec.fill_nan;
  map.interleave = spec.interleave;
  if (spec.fill_nan && spec.type < MapType::kF16) return error("tensor map: fill_nan needs a floating-point type");
  if (Status s = check_tensor(spec, map); !s) return s.error();
  if (Status s = spec.im2col == nullptr ? check_box(spec, map) : check_im2col(*spec.im2col, map); !s) return s.error();
  if (Status s = check_row(map); !s) return s.error();
  return map;
}

}  // namespace nervanagpu::sass::emulate
