// The way into every bound function. Where pybind11 finds no overload for the arguments, it raises a list of C++ signatures;
// here that becomes a sentence that names the argument, what came and what is needed (nervanagpu/calls/refusals.py). For calls
// that pybind11 takes, this is one direct call more.
#include "python/bind.h"

namespace nervanagpu::python {
namespace {

constexpr int kFast = METH_FASTCALL | METH_KEYWORDS;  // pybind11 3
constexpr int kTuple = METH_VARARGS | METH_KEYWORDS;  // pybind11 2

using Fast = PyObject* (*)(PyObject*, PyObject* const*, Py_ssize_t, PyObject*);
using Tuple = PyObject* (*)(PyObject*, PyObject*, PyObject*);

// pybind11's, the same for all functions; one of them.
Fast fast_dispatcher = nullptr;
Tuple tuple_dispatcher = nullptr;

template <class To, class From>
To as(From f) {
  return reinterpret_cast<To>(reinterpret_cast<void (*)()>(f));
}

// In place of pybind11's list of signatures, if that is the error, one for `args` and `named`.
void reword(const py::tuple& args, const py::dict& named) {
  const py::error_already_set error;
  const py::object ours = in_python(
      [&] { return py::module_::import("nervanagpu.calls.refusals").attr("refusal")(error.value(), args, named); });
  PyErr_SetObject(py::type::handle_of(ours).ptr(), ours.ptr());
}

// What `call` returns, on the device of the first tensor among the arguments: what is made of host data on the way, and
// what has no tensor of its own, goes there.
template <class Call>
PyObject* where_tensors_are(PyObject* const* args, Py_ssize_t count, const Call& call) {
  const int device = other_devices_used() ? device_among(args, count) : -1;
  if (device < 0 || device == get_device()) return in_python(call);
  try {
    const OnDevice there(device);
    return in_python(call);
  } catch (const Error& e) {  // a graph of another device is being recorded
    PyErr_SetString(py::module_::import("nervanagpu._core").attr("Error").ptr(), e.what());
    return nullptr;
  }
}

PyObject* fast_entry(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  const Py_ssize_t all = count + (names != nullptr ? PyTuple_GET_SIZE(names) : 0);
  PyObject* out = where_tensors_are(args, all, [&] { return fast_dispatcher(self, args, count, names); });
  if (out != nullptr || PyErr_ExceptionMatches(PyExc_TypeError) == 0) return out;
  try {
    py::tuple positional(static_cast<std::size_t>(count));
    for (Py_ssize_t i = 0; i < count; ++i) positional[i] = py::handle(args[i]);
    py::dict named;
    for (Py_ssize_t i = 0; names != nullptr && i < PyTuple_GET_SIZE(names); ++i) {
      named[PyTuple_GET_ITEM(names, i)] = py::handle(args[count + i]);
    }
    reword(positional, named);
  } catch (py::error_already_set& e) {
    e.restore();
  }
  return nullptr;
}

PyObject* tuple_entry(PyObject* self, PyObject* args, PyObject* named) {
  PyObject* out = where_tensors_are(PySequence_Fast_ITEMS(args), PyTuple_GET_SIZE(args),
                                    [&] { return tuple_dispatcher(self, args, named); });
  if (out != nullptr || PyErr_ExceptionMatches(PyExc_TypeError) == 0) return out;
  try {
    reword(py::reinterpret_borrow<py::tuple>(args),
           named != nullptr ? py::reinterpret_borrow<py::dict>(named) : py::dict());
  } catch (py::error_already_set& e) {
    e.restore();
  }
  return nullptr;
}

void enter_by_ours(const py::handle& function) {
  if (PyCFunction_Check(function.ptr()) == 0) return;
  PyMethodDef& def = *reinterpret_cast<PyCFunctionObject*>(function.ptr())->m_ml;
  if (def.ml_flags == kFast && as<Fast>(def.ml_meth) == fast_dispatcher) {
    def.ml_meth = as<PyCFunction>(&fast_entry);
  } else if (def.ml_flags == kTuple && as<Tuple>(def.ml_meth) == tuple_dispatcher) {
    def.ml_meth = as<PyCFunction>(&tuple_entry);
  }
}

// A function, what is made of functions, or neither.
void enter_member(const py::handle& member) {
  if (PyInstanceMethod_Check(member.ptr()) != 0) {
    enter_by_ours(PyInstanceMethod_GET_FUNCTION(member.ptr()));
  } else if (Py_TYPE(member.ptr()) == &PyStaticMethod_Type) {
    enter_member(member.attr("__func__"));
  } else if (PyObject_TypeCheck(member.ptr(), &PyProperty_Type) != 0) {
    enter_member(member.attr("fget"));
    enter_member(member.attr("fset"));
  } else {
    enter_by_ours(member);
  }
}

}  // namespace

int device_among(PyObject* const* args, Py_ssize_t count) {
  for (Py_ssize_t i = 0; i < count; ++i) {
    int found = -1;
    if (const Lazy* l = lazy_of(args[i]); l != nullptr && !l->forced) {
      found = l->expr.device();
    } else if (py::isinstance<Tensor>(args[i])) {
      found = py::handle(args[i]).cast<const Tensor*>()->device();
    } else if (PyList_CheckExact(args[i]) != 0 || PyTuple_CheckExact(args[i]) != 0) {
      found = device_among(PySequence_Fast_ITEMS(args[i]), PySequence_Fast_GET_SIZE(args[i]));
    }
    if (found >= 0) return found;
  }
  return -1;
}

void bind_arguments(py::module_& m) {
  const py::object any = m.attr("version");
  const PyMethodDef& def = *reinterpret_cast<PyCFunctionObject*>(any.ptr())->m_ml;
  if (def.ml_flags == kFast) {
    fast_dispatcher = as<Fast>(def.ml_meth);
  } else if (def.ml_flags == kTuple) {
    tuple_dispatcher = as<Tuple>(def.ml_meth);
  } else {
    throw Error("pybind11's functions are not those of version 2 or 3");
  }
  for (const auto& [name, value] : m.attr("__dict__").cast<py::dict>()) {
    if (!PyType_Check(value.ptr())) {
      enter_member(value);
      continue;
    }
    for (const py::handle pair : value.attr("__dict__").attr("items")()) {
      enter_member(pair.cast<py::tuple>()[1]);
    }
  }
}

}  // namespace nervanagpu::python
