// What messages and properties give to Python: shapes as tuples, names of types.
#pragma once

#include <pybind11/pybind11.h>

#include <string>

#include "nervanagpu/tensor.hpp"

namespace nervanagpu::python {

inline pybind11::tuple tuple_of(const Shape& s) {
  pybind11::tuple out(s.size());
  for (std::size_t i = 0; i < s.size(); ++i) out[i] = s[i];
  return out;
}

inline std::string type_name(const pybind11::handle& value) {
  return pybind11::str(pybind11::type::of(value).attr("__name__"));
}

}  // namespace nervanagpu::python
