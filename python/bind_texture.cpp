// Textures and surfaces: thin, the Python package gives them their names.
#include <pybind11/stl.h>

#include "nervanagpu/error.hpp"
#include "nervanagpu/texture.hpp"
#include "python/bind.h"

namespace nervanagpu::python {
namespace {

TextureAddress address_from(const std::string& name) {
  const auto mode = texture_address_from_name(name);
  if (!mode) throw InvalidArgument("texture: address is '" + name + "'; there are wrap, clamp, mirror and border");
  return *mode;
}

TextureOptions options_from(const std::array<std::string, 3>& address, bool linear, bool normalized, bool raw,
                            const std::array<float, 4>& border) {
  TextureOptions options;
  for (std::size_t i = 0; i < 3; ++i) options.address[i] = address_from(address[i]);
  options.linear = linear;
  options.normalized = normalized;
  options.raw = raw;
  options.border = border;
  return options;
}

Image make_image(const std::string& kind, const std::array<std::uint32_t, 4>& size, const std::string& dtype,
                 std::uint32_t channels) {
  ImageSpec spec;
  const auto k = image_kind_from_name(kind);
  if (!k) {
    throw InvalidArgument("image: kind is '" + kind +
                          "'; there are 1d, 2d, 3d, 1d_array, 2d_array, cube and cube_array");
  }
  const auto type = dtype_from_name(dtype);
  if (!type) throw InvalidArgument("image: dtype is '" + dtype + "', which there is not");
  spec.kind = *k;
  spec.width = size[0];
  spec.height = size[1];
  spec.depth = size[2];
  spec.layers = size[3];
  spec.dtype = *type;
  spec.channels = channels;
  return Image(spec);
}

}  // namespace

void bind_texture(py::module_& m) {
  py::class_<Image>(m, "Image")
      .def(py::init(&make_image), py::arg("kind"), py::arg("size"), py::arg("dtype"), py::arg("channels"))
      .def("set",
           [](Image& image, const py::buffer& texels) {
             const py::buffer_info info = texels.request();
             image.set(info.ptr, static_cast<std::size_t>(info.size * info.itemsize));
           })
      .def("get", [](const Image& image) {
        std::string out(image.bytes(), '\0');
        image.get(out.data(), out.size());
        return py::bytes(out);
      });
  py::class_<Texture>(m, "Texture")
      .def_static(
          "of_image",
          [](const Image& image, const std::array<std::string, 3>& address, bool linear, bool normalized, bool raw,
             const std::array<float, 4>& border) {
            return Texture(image, options_from(address, linear, normalized, raw, border));
          },
          py::arg("image"), py::arg("address"), py::arg("linear"), py::arg("normalized"), py::arg("raw"),
          py::arg("border"))
      .def_static(
          "of_tensor",
          [](const Tensor& tensor, bool plane, const std::array<std::string, 3>& address, bool linear, bool normalized,
             bool raw, const std::array<float, 4>& border) {
            const TextureOptions options = options_from(address, linear, normalized, raw, border);
            return plane ? Texture::plane(tensor, options) : Texture::line(tensor, options);
          },
          py::arg("tensor"), py::arg("plane"), py::arg("address"), py::arg("linear"), py::arg("normalized"),
          py::arg("raw"), py::arg("border"))
      .def_property_readonly("_handle", &Texture::handle);
  py::class_<Surface>(m, "Surface")
      .def(py::init<const Image&>(), py::arg("image"))
      .def_property_readonly("_handle", &Surface::handle);
}

}  // namespace nervanagpu::python
