// The parts of the module nervanagpu._core, one file each.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include "nervanagpu/nervanagpu.hpp"

namespace nervanagpu::python {

namespace py = pybind11;

void bind_errors(py::module_& m);
void bind_device(py::module_& m);
void bind_stream(py::module_& m);
void bind_tensor(py::module_& m);
void bind_toolchain(py::module_& m);
void bind_tensor_map(py::module_& m);
void bind_gemm(py::module_& m);
void bind_conv(py::module_& m);
void bind_nn(py::module_& m);
void bind_pool(py::module_& m);
void bind_layers(py::module_& m);

// NumPy's dtype <-> ours. Throws TypeError for one that tensors cannot hold.
py::dtype numpy_dtype(Dtype dtype);
Dtype dtype_from(const py::object& dtype);

// An int or a sequence of ints. Throws TypeError otherwise.
Shape shape_from(const py::object& shape);

// self[key]: ints, slices, ... and None, as NumPy's basic indexing.
Tensor index(const Tensor& t, const py::object& key);

// "nearest" or "stochastic" with its seed, counter offset and mantissa bits (0: all of the dtype's).
Rounding rounding_from(const std::string& mode, std::uint64_t seed, std::uint64_t offset, int bits);

// The stream that None or a Stream names.
Stream stream_from(const py::object& stream);

}  // namespace nervanagpu::python
