// What the slots of the types share: the shortest way from Python to the tensor of an object, and back.
#pragma once

#include "python/bind.h"

namespace nervanagpu::python {

// The types of plain tensors and of expressions; set by bind_fast_slots().
inline PyTypeObject* tensor_slots = nullptr;
inline PyTypeObject* lazy_slots = nullptr;

// The C++ object of an instance whose type is exactly that: pybind11 keeps the pointer first.
template <class T>
T* object_of(PyObject* o) {
  const auto* i = reinterpret_cast<const py::detail::instance*>(o);
  return i->simple_layout ? static_cast<T*>(i->simple_value_holder[0])
                          : static_cast<T*>(i->nonsimple.values_and_holders[0]);
}

// In a handler: the exception becomes Python's, as that of any bound function does.
PyObject* raise_caught();

void bind_number_slots();
Reduction reduction_from(std::string_view name);

}  // namespace nervanagpu::python
