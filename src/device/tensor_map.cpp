#include "src/device/tensor_map.h"

#include "nervanagpu/error.hpp"

namespace nervanagpu {
namespace {

constexpr std::array<std::string_view, 13> kTypeNames = {
    "uint8",   "uint16",  "uint32",   "int32",       "uint64",   "int64",       "float16",
    "float32", "float64", "bfloat16", "float32_ftz", "tfloat32", "tfloat32_ftz"};

template <class E>
bool known(E value, E last) {
  return static_cast<unsigned>(value) <= static_cast<unsigned>(last);
}

}  // namespace

std::string_view name_of(MapType type) noexcept {
  return known(type, MapType::tfloat32_ftz) ? kTypeNames[static_cast<std::size_t>(type)] : "?";
}

std::optional<MapType> map_type_from_name(std::string_view name) noexcept {
  for (std::size_t i = 0; i < kTypeNames.size(); ++i) {
    if (kTypeNames[i] == name) return static_cast<MapType>(i);
  }
  return std::nullopt;
}

sass::emulate::TensorMap emulated(const TensorMap& map) {
  const auto refuse = [](const std::string& argument, std::uint64_t came, const std::string& needed) {
    throw InvalidArgument("tensor map: " + argument + " is " + std::to_string(came) + "; " + needed);
  };
  if (map.rank < 1 || map.rank > TensorMap::kMaxRank) refuse("rank", map.rank, "1 to 5 are possible");
  if (!known(map.type, MapType::tfloat32_ftz)) refuse("type", static_cast<unsigned>(map.type), "there are 0 to 12");
  if (!known(map.interleave, MapInterleave::b32)) {
    refuse("interleave", static_cast<unsigned>(map.interleave), "there are 0 to 2");
  }
  if (!known(map.swizzle, MapSwizzle::b128)) refuse("swizzle", static_cast<unsigned>(map.swizzle), "there are 0 to 3");
  if (!known(map.promotion, MapPromotion::b256)) {
    refuse("promotion", static_cast<unsigned>(map.promotion), "there are 0 to 3");
  }
  if (!known(map.fill, MapFill::nan)) refuse("fill", static_cast<unsigned>(map.fill), "there are 0 and 1");
  const std::size_t rank = map.rank;
  const std::size_t spatial = rank < 3 ? 0 : rank - 2;
  sass::emulate::MapIm2col im2col;
  sass::emulate::MapSpec spec;
  spec.type = static_cast<sass::emulate::MapType>(map.type);
  spec.address = map.address;
  spec.sizes = std::span(map.sizes).first(rank);
  spec.strides = std::span(map.strides).first(rank - 1);
  spec.element_strides = std::span(map.steps).first(rank);
  spec.swizzle = static_cast<sass::emulate::MapSwizzle>(map.swizzle);
  spec.fill_nan = map.fill == MapFill::nan;
  spec.interleave = static_cast<sass::emulate::MapInterleave>(map.interleave);
  if (map.im2col) {
    im2col = {std::span(map.im2col->lower).first(spatial), std::span(map.im2col->upper).first(spatial),
              map.im2col->channels, map.im2col->pixels};
    spec.im2col = &im2col;
  } else {
    spec.box = std::span(map.box).first(rank);
  }
  const auto encoded = sass::emulate::encode_tensor_map(spec);
  if (!encoded.ok()) throw InvalidArgument(encoded.error().message);
  return *encoded;
}

}  // namespace nervanagpu
