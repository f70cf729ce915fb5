#include "src/tensor_map.h"

#include "nervanagpu/error.hpp"
#include "src/select_device.h"

namespace nervanagpu {
namespace {

constexpr std::array<std::string_view, 13> kTypeNames = {
    "uint8",   "uint16",  "uint32",   "int32",       "uint64",   "int64",       "float16",
    "float32", "float64", "bfloat16", "float32_ftz", "tfloat32", "tfloat32_ftz"};

MapType type_of(const Tensor& t) {
  switch (t.dtype()) {
    case Dtype::float16: return MapType::float16;
    case Dtype::bfloat16: return MapType::bfloat16;
    case Dtype::float32: return MapType::float32;
    case Dtype::float64: return MapType::float64;
    case Dtype::int16:
    case Dtype::uint16: return MapType::uint16;
    case Dtype::int32: return MapType::int32;
    case Dtype::int64: return MapType::int64;
    case Dtype::uint32: return MapType::uint32;
    case Dtype::uint64: return MapType::uint64;
    default: return MapType::uint8;
  }
}

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

TensorMap TensorMap::of(const Tensor& tensor, const std::vector<std::uint32_t>& box) {
  const std::size_t rank = tensor.shape().size();
  if (rank < 1 || rank > kMaxRank) {
    throw InvalidArgument("tensor map: the tensor has " + std::to_string(rank) + " dimensions; 1 to 5 are possible");
  }
  if (!box.empty() && box.size() != rank) {
    throw InvalidArgument("tensor map: the number of box sizes is " + std::to_string(box.size()) + "; needed are " +
                          std::to_string(rank));
  }
  TensorMap map;
  map.type = type_of(tensor);
  map.rank = static_cast<std::uint32_t>(rank);
  map.address = tensor.address();
  const auto width = static_cast<std::int64_t>(size_of(tensor.dtype()));
  for (std::size_t i = 0; i < rank; ++i) {
    const std::size_t axis = rank - 1 - i;
    map.sizes[i] = static_cast<std::uint64_t>(tensor.shape()[axis]);
    if (!box.empty()) map.box[i] = box[axis];
    const std::int64_t stride = tensor.strides()[axis] * width;
    if (i == 0 && stride != width && tensor.shape()[axis] != 1) {
      throw InvalidArgument("tensor map: the stride of the tensor's last axis is " +
                            std::to_string(tensor.strides()[axis]) + " elements; needs 1");
    }
    if (i > 0 && stride < 0) {
      throw InvalidArgument("tensor map: the stride of axis " + std::to_string(axis) + " is " +
                            std::to_string(tensor.strides()[axis]) + " elements; needs more than 0");
    }
    if (i > 0) map.strides[i - 1] = static_cast<std::uint64_t>(stride);
  }
  return map;
}

EncodedTensorMap encode_tensor_map(const TensorMap& map) {
  return current_device().encode_tensor_map(map);
}

}  // namespace nervanagpu
