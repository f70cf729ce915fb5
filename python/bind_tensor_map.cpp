// Tensor maps. nervanagpu/kernels/toolchain.py gives them their Python shape.
#include <pybind11/stl.h>

#include "nervanagpu/tensor_map.hpp"
#include "python/bind.h"

namespace nervanagpu::python {
namespace {

// The value at the place of `name` among `all`. Throws InvalidArgument that lists them.
template <class E, std::size_t N>
E chosen(const char* what, const std::string& name, const std::array<const char*, N>& all) {
  std::string list;
  for (std::size_t i = 0; i < N; ++i) {
    if (name == all[i]) return static_cast<E>(i);
    list += (list.empty() ? "" : ", ") + std::string(all[i]);
  }
  throw InvalidArgument("tensor map: " + std::string(what) + " is " + name + "; needs one of " + list);
}

// Of the tensor's axes, outermost first, to the innermost first.
template <class T, std::size_t N>
void reversed(const char* what, const std::vector<T>& from, std::size_t count, std::array<T, N>& to) {
  if (from.size() != count) {
    throw InvalidArgument("tensor map: " + std::string(what) + " has " + std::to_string(from.size()) +
                          " entries; needed are " + std::to_string(count));
  }
  for (std::size_t i = 0; i < count; ++i) to[i] = from[count - 1 - i];
}

// lower, upper, channels, pixels
using Im2col = std::tuple<std::vector<std::int32_t>, std::vector<std::int32_t>, std::uint32_t, std::uint32_t>;

py::bytes encode(const Tensor& tensor, const std::vector<std::uint32_t>& box, const std::string& type,
                 const std::vector<std::uint32_t>& steps, const std::string& swizzle, const std::string& interleave,
                 const std::string& promotion, const std::string& fill, const std::optional<Im2col>& im2col) {
  TensorMap map = TensorMap::of(tensor, box);
  if (!type.empty()) {
    const auto named = map_type_from_name(type);
    if (!named) throw InvalidArgument("tensor map: there is no element type " + type);
    map.type = *named;
  }
  if (!steps.empty()) reversed("steps", steps, map.rank, map.steps);
  map.swizzle = chosen<MapSwizzle, 4>("swizzle", swizzle, {"0", "32", "64", "128"});
  map.interleave = chosen<MapInterleave, 3>("interleave", interleave, {"0", "16", "32"});
  map.promotion = chosen<MapPromotion, 4>("promotion", promotion, {"0", "64", "128", "256"});
  map.fill = chosen<MapFill, 2>("fill", fill, {"zeros", "nan"});
  if (im2col) {
    const auto& [lower, upper, channels, pixels] = *im2col;
    if (map.rank < 3) {
      throw InvalidArgument("tensor map: the tensor has " + std::to_string(map.rank) +
                            " dimensions; 3 to 5 are possible with im2col");
    }
    TensorMap::Im2col to;
    reversed("lower", lower, map.rank - 2, to.lower);
    reversed("upper", upper, map.rank - 2, to.upper);
    to.channels = channels;
    to.pixels = pixels;
    map.im2col = to;
  }
  const EncodedTensorMap out = encode_tensor_map(map);
  return {reinterpret_cast<const char*>(out.bytes.data()), out.bytes.size()};
}

}  // namespace

void bind_tensor_map(py::module_& m) {
  m.def("encode_tensor_map", &encode, py::arg("tensor"), py::arg("box"), py::arg("type"), py::arg("steps"),
        py::arg("swizzle"), py::arg("interleave"), py::arg("promotion"), py::arg("fill"), py::arg("im2col"));
}

}  // namespace nervanagpu::python
