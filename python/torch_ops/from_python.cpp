#include "python/torch_ops/from_python.h"

#include <algorithm>
#include <exception>

namespace nervanagpu::python::torch {
namespace {

// What Python converted a number to; -1 may be an error.
template <class T>
T converted(T out) {
  if (out == -1 && PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    throw NotHere();
  }
  return out;
}

}  // namespace

template <>
Array read<Array>(PyObject* object) {
  TensorObject* handle = nullptr;
  if (object == nullptr || object == Py_None || shim().from_python(object, &handle) != 0) throw NotHere();
  Array out(handle);
  out.look();
  return out;
}

template <>
std::optional<Array> read<std::optional<Array>>(PyObject* object) {
  if (object == nullptr || object == Py_None) return std::nullopt;
  return read<Array>(object);
}

template <>
std::vector<Array> read<std::vector<Array>>(PyObject* object) {
  if (object == nullptr || PyList_Check(object) == 0) throw NotHere();
  std::vector<Array> out(static_cast<std::size_t>(PyList_Size(object)));
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = read<Array>(PyList_GetItem(object, static_cast<Py_ssize_t>(i)));
  }
  return out;
}

template <>
std::int64_t read<std::int64_t>(PyObject* object) {
  if (object == nullptr) throw NotHere();
  return converted<std::int64_t>(PyLong_AsLongLong(object));
}

template <>
bool read<bool>(PyObject* object) {
  return object == Py_True;
}

template <>
double read<double>(PyObject* object) {
  if (object == nullptr) return 1;
  if (PyFloat_Check(object) == 0 && PyLong_Check(object) == 0) throw NotHere();
  return converted(PyFloat_AsDouble(object));
}

Ints Ints::read(PyObject* object) {
  Ints out;
  if (object == nullptr) return out;
  const Py_ssize_t count = PyList_Check(object) != 0 ? PyList_Size(object) : -1;
  if (count < 0 || count > static_cast<Py_ssize_t>(out.at.size())) throw NotHere();
  out.count = static_cast<std::size_t>(count);
  out.given = true;
  for (Py_ssize_t i = 0; i < count; ++i) {
    out.at[static_cast<std::size_t>(i)] = torch::read<std::int64_t>(PyList_GetItem(object, i));
  }
  return out;
}

Triple triple(const Ints& list, std::int64_t axes, std::int64_t least, std::int64_t missing) {
  Triple out{missing, missing, missing};
  if (!list.given) return out;
  if (list.count != 1 && list.count != static_cast<std::size_t>(axes)) throw NotHere();
  for (std::size_t i = 3, k = list.count; i-- > 3 - static_cast<std::size_t>(axes);) {
    out[i] = list.at[list.count == 1 ? 0 : --k];
    if (out[i] < least || out[i] >= 1 << 21) throw NotHere();  // longer ones are nobody's
  }
  return out;
}

// --- results ------------------------------------------------------------------------------------------------------------

namespace {

PyObject* one_in_python(const Array& t) {
  void* out = nullptr;
  if (t.handle() == nullptr) return Py_NewRef(Py_None);
  if (shim().to_python(t.handle(), nullptr, &out) != 0) throw NotHere();
  return static_cast<PyObject*>(out);
}

// Puts them into `all`, which is new.
PyObject* filled(PyObject* all, int (*set)(PyObject*, Py_ssize_t, PyObject*), std::span<Array> results) {
  if (all == nullptr) throw NotHere();
  for (std::size_t i = 0; i < results.size(); ++i) {
    try {
      set(all, static_cast<Py_ssize_t>(i), one_in_python(results[i]));
    } catch (...) {
      Py_DecRef(all);
      throw;
    }
  }
  return all;
}

}  // namespace

PyObject* in_python(std::span<Array> results) {
  if (results.size() == 1) return one_in_python(results[0]);
  return filled(PyTuple_New(static_cast<Py_ssize_t>(results.size())), PyTuple_SetItem, results);
}

PyObject* list_in_python(std::span<Array> results) {
  return filled(PyList_New(static_cast<Py_ssize_t>(results.size())), PyList_SetItem, results);
}

// --- entries ------------------------------------------------------------------------------------------------------------

namespace {

// Where the keyword stands among the arguments.
std::size_t place_of(const Entry& entry, PyObject* keyword) {
  for (std::size_t i = 0; i < entry.keywords.size() && entry.keywords[i] != nullptr; ++i) {
    if (PyUnicode_CompareWithASCIIString(keyword, entry.keywords[i]) == 0) return entry.positional + i;
  }
  throw NotHere();
}

// What a set of keys has as its method, as a function: a call of the method would make an object of both first.
PyObject* raw_repr(PyObject* keyset) {
  static PyObject* const function = [&] {
    PyObject* const method = PyObject_GetAttrString(keyset, "raw_repr");
    PyObject* const inside = method == nullptr ? nullptr : PyObject_GetAttrString(method, "__func__");
    PyErr_Clear();
    return inside;
  }();
  return function;
}

}  // namespace

bool has_keys(PyObject* keyset, std::uint64_t keys) {
  PyObject* const bits = PyObject_CallFunctionObjArgs(raw_repr(keyset), keyset, nullptr);
  if (bits == nullptr) {
    PyErr_Clear();
    return true;
  }
  const std::uint64_t raw = PyLong_AsUnsignedLongLongMask(bits);
  Py_DecRef(bits);
  return (raw & keys) != 0;
}

PyObject* attempted(const Entry& entry, const Given& given) {
  if (given.count < given.in_front) return nullptr;
  const auto positional = static_cast<std::size_t>(given.count - given.in_front);
  if (positional > entry.positional) return nullptr;
  Arguments arguments{};
  std::copy_n(given.all + given.in_front, positional, arguments.begin());
  try {
    const Py_ssize_t named = given.keywords == nullptr ? 0 : PyTuple_Size(given.keywords);
    for (Py_ssize_t i = 0; i < named; ++i) {
      arguments[place_of(entry, PyTuple_GetItem(given.keywords, i))] = given.all[given.count + i];
    }
    return entry.attempt(arguments);
  } catch (const NotHere&) {
  } catch (const std::exception&) {  // Python finds the same, and says it
  }
  return nullptr;
}

PyObject* handed_on(PyObject* other, const Given& given) {
  PyObject *const all = PyTuple_New(given.count), *const named = given.keywords == nullptr ? nullptr : PyDict_New();
  bool failed = all == nullptr || (given.keywords != nullptr && named == nullptr);
  for (Py_ssize_t i = 0; i < given.count && !failed; ++i) {
    failed = PyTuple_SetItem(all, i, Py_NewRef(given.all[i])) != 0;
  }
  for (Py_ssize_t i = 0; named != nullptr && !failed && i < PyTuple_Size(given.keywords); ++i) {
    failed = PyDict_SetItem(named, PyTuple_GetItem(given.keywords, i), given.all[given.count + i]) != 0;
  }
  PyObject* const out = failed ? nullptr : PyObject_Call(other, all, named);
  Py_XDECREF(all);
  Py_XDECREF(named);
  return out;
}

PyMethodDef method(std::string_view name, PyObject* (*function)(PyObject*, PyObject* const*, Py_ssize_t, PyObject*)) {
  const auto erased = reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
  return {name.data(), erased, METH_FASTCALL | METH_KEYWORDS, nullptr};
}

}  // namespace nervanagpu::python::torch
