// How Python's values become the C++ types of arguments, where pybind11's own way takes too much: its integers take whatever
// has __int__ (numpy.float32(2.7) becomes 2). The names of the types stand in pybind11's signatures, where refusals.py
// finds them when it says what an argument needs.
#pragma once

#include <pybind11/pybind11.h>

#include <concepts>
#include <cstdint>
#include <limits>

namespace nervanagpu::python {

// What operator.index takes, if T holds it.
template <std::integral T>
bool load_integer(PyObject* source, T* out) {
  PyObject* index = PyNumber_Index(source);
  if (index == nullptr) {
    PyErr_Clear();
    return false;
  }
  bool fits = false;
  if constexpr (std::unsigned_integral<T>) {
    const unsigned long long value = PyLong_AsUnsignedLongLong(index);
    fits = PyErr_Occurred() == nullptr && value <= std::numeric_limits<T>::max();
    *out = static_cast<T>(value);
  } else {
    const long long value = PyLong_AsLongLong(index);
    fits =
        PyErr_Occurred() == nullptr && value >= std::numeric_limits<T>::min() && value <= std::numeric_limits<T>::max();
    *out = static_cast<T>(value);
  }
  PyErr_Clear();
  Py_DECREF(index);
  return fits;
}

}  // namespace nervanagpu::python

namespace pybind11::detail {

template <>
struct type_caster<int> {
  PYBIND11_TYPE_CASTER(int, const_name("int32"));
  bool load(handle source, bool /*convert*/) { return nervanagpu::python::load_integer(source.ptr(), &value); }
  static handle cast(int source, return_value_policy /*policy*/, handle /*parent*/) { return PyLong_FromLong(source); }
};

template <>
struct type_caster<std::int64_t> {
  PYBIND11_TYPE_CASTER(std::int64_t, const_name("int64"));
  bool load(handle source, bool /*convert*/) { return nervanagpu::python::load_integer(source.ptr(), &value); }
  static handle cast(std::int64_t source, return_value_policy /*policy*/, handle /*parent*/) {
    return PyLong_FromLongLong(source);
  }
};

template <>
struct type_caster<std::uint64_t> {
  PYBIND11_TYPE_CASTER(std::uint64_t, const_name("uint64"));
  bool load(handle source, bool /*convert*/) { return nervanagpu::python::load_integer(source.ptr(), &value); }
  static handle cast(std::uint64_t source, return_value_policy /*policy*/, handle /*parent*/) {
    return PyLong_FromUnsignedLongLong(source);
  }
};

}  // namespace pybind11::detail
