// Tensor maps of tensors, and for the device that is in use.
#include "nervanagpu/error.hpp"
#include "nervanagpu/tensor_map.hpp"
#include "src/device/select_device.h"

namespace nervanagpu {
namespace {

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

}  // namespace

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
