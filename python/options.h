// The keywords that operations have in common, as nervanagpu/calls/options.py types them. A dict of them becomes a Rounding or an
// Epilogue here and nowhere else; the casters' names stand in pybind11's signatures, where refusals.py finds them.
#pragma once

#include <pybind11/pybind11.h>

#include <string>
#include <string_view>

#include "nervanagpu/rounding.hpp"

namespace nervanagpu::python {

// What becomes of a result before it is stored: out = alpha * result + beta * out, rounded.
struct Epilogue {
  float alpha = 1.0F;
  float beta = 0.0F;  // 0: out is not read
  Rounding rounding;
};

// One keyword; false: there is none of this name, or it takes no such value.
bool load_keyword(std::string_view name, pybind11::handle value, bool convert, Rounding& to);
bool load_keyword(std::string_view name, pybind11::handle value, bool convert, Epilogue& to);

template <typename Options>
bool load_keywords(pybind11::handle source, bool convert, Options& to) {
  if (!pybind11::isinstance<pybind11::dict>(source)) return false;
  PyObject* key = nullptr;
  PyObject* value = nullptr;
  for (Py_ssize_t at = 0; PyDict_Next(source.ptr(), &at, &key, &value) != 0;) {
    Py_ssize_t length = 0;
    const char* name = PyUnicode_Check(key) != 0 ? PyUnicode_AsUTF8AndSize(key, &length) : nullptr;
    if (name == nullptr) {
      PyErr_Clear();
      return false;
    }
    if (!load_keyword({name, static_cast<std::size_t>(length)}, value, convert, to)) return false;
  }
  return true;
}

}  // namespace nervanagpu::python

namespace pybind11::detail {

template <>
struct type_caster<nervanagpu::Rounding> {
  PYBIND11_TYPE_CASTER(nervanagpu::Rounding, const_name("Rounding"));
  bool load(handle source, bool convert) { return nervanagpu::python::load_keywords(source, convert, value); }
};

template <>
struct type_caster<nervanagpu::python::Epilogue> {
  PYBIND11_TYPE_CASTER(nervanagpu::python::Epilogue, const_name("Epilogue"));
  bool load(handle source, bool convert) { return nervanagpu::python::load_keywords(source, convert, value); }
};

}  // namespace pybind11::detail
