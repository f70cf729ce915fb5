// The shortest way to one number: x[i], x[i, j] and float(), int(), bool() of what has one element, straight from the types'
// slots. Loops over elements spend their time here. Anything else takes the ordinary way.
#include <array>
#include <cstring>

#include "python/tensor/slots.h"

namespace nervanagpu::python {
namespace {

binaryfunc ordinary_item = nullptr;  // what the types had, which is the same for both
unaryfunc ordinary_float = nullptr;
unaryfunc ordinary_int = nullptr;
inquiry ordinary_bool = nullptr;

// The tensor after an object of the two types; an expression is evaluated.
const Tensor* tensor_of(PyObject* o) {
  if (Py_TYPE(o) == tensor_slots) return object_of<Tensor>(o);
  if (Py_TYPE(o) != lazy_slots) return nullptr;
  Lazy* l = object_of<Lazy>(o);
  l->force();
  return l;
}

// How far after the first element the one at `index` lies on the axis; false: it is no plain integer, or there is none.
bool step_to(const Tensor& t, std::size_t axis, PyObject* index, std::int64_t* offset) {
  if (PyLong_CheckExact(index) == 0) return false;
  int overflow = 0;
  std::int64_t i = PyLong_AsLongLongAndOverflow(index, &overflow);
  const std::int64_t length = t.shape()[axis];
  if (i < 0) i += length;
  if (overflow != 0 || i < 0 || i >= length) return false;
  *offset += i * t.strides()[axis];
  return true;
}

// Whether `key` names one element by plain integers.
bool names_one(const Tensor& t, PyObject* key, std::int64_t* offset) {
  const auto axes = t.shape().size();
  if (PyTuple_CheckExact(key) == 0) return axes == 1 && step_to(t, 0, key, offset);
  if (static_cast<std::size_t>(PyTuple_GET_SIZE(key)) != axes || axes == 0) return false;
  for (std::size_t i = 0; i < axes; ++i) {
    if (!step_to(t, i, PyTuple_GET_ITEM(key, static_cast<Py_ssize_t>(i)), offset)) return false;
  }
  return true;
}

PyObject* item(PyObject* self, PyObject* key) {
  try {
    const Tensor* t = PyLong_CheckExact(key) != 0 || PyTuple_CheckExact(key) != 0 ? tensor_of(self) : nullptr;
    std::int64_t offset = 0;
    if (t == nullptr || !names_one(*t, key, &offset) || !can_evaluate()) return ordinary_item(self, key);
    return py::cast(Lazy::element(t->element(offset))).release().ptr();
  } catch (...) {
    return raise_caught();
  }
}

// One element on the host.
struct Element {
  Dtype dtype = Dtype::float32;
  std::array<std::byte, 16> bytes{};

  template <class T>
  [[nodiscard]] T as() const {
    T value;
    std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  }
};

// False: `o` has not one element. One that stands in a tensor is not copied on the device.
bool read(PyObject* o, Element* out) {
  if (Py_TYPE(o) == lazy_slots) {
    const Expr e = object_of<Lazy>(o)->expr;
    if (e.size() != 1) return false;
    out->dtype = e.dtype();
    const GilRelease release;
    e.get(out->bytes.data(), size_of(out->dtype));
    return true;
  }
  if (Py_TYPE(o) != tensor_slots || object_of<Tensor>(o)->size() != 1) return false;
  const Tensor t = *object_of<Tensor>(o);
  out->dtype = t.dtype();
  const GilRelease release;
  t.get(out->bytes.data(), size_of(out->dtype));
  return true;
}

// Calls `with` the number; false: Python has none of that dtype without further ado.
template <class F>
bool visit(const Element& e, const F& with) {
  switch (e.dtype) {
    case Dtype::float32: return with(e.as<float>()), true;
    case Dtype::float64: return with(e.as<double>()), true;
    case Dtype::int8: return with(e.as<std::int8_t>()), true;
    case Dtype::int16: return with(e.as<std::int16_t>()), true;
    case Dtype::int32: return with(e.as<std::int32_t>()), true;
    case Dtype::int64: return with(e.as<std::int64_t>()), true;
    case Dtype::uint8:
    case Dtype::boolean: return with(e.as<std::uint8_t>()), true;
    case Dtype::uint16: return with(e.as<std::uint16_t>()), true;
    case Dtype::uint32: return with(e.as<std::uint32_t>()), true;
    case Dtype::uint64: return with(e.as<std::uint64_t>()), true;
    default: return false;
  }
}

PyObject* to_float(PyObject* self) {
  try {
    Element e;
    PyObject* out = nullptr;
    if (read(self, &e) && visit(e, [&](auto v) { out = PyFloat_FromDouble(static_cast<double>(v)); })) return out;
  } catch (...) {
    return raise_caught();
  }
  return ordinary_float(self);
}

PyObject* to_int(PyObject* self) {
  try {
    Element e;
    PyObject* out = nullptr;
    const auto made = [&](auto v) {
      if constexpr (std::is_floating_point_v<decltype(v)>) {
        out = PyLong_FromDouble(static_cast<double>(v));
      } else if constexpr (std::is_signed_v<decltype(v)>) {
        out = PyLong_FromLongLong(v);
      } else {
        out = PyLong_FromUnsignedLongLong(v);
      }
    };
    if (read(self, &e) && visit(e, made)) return out;
  } catch (...) {
    return raise_caught();
  }
  return ordinary_int(self);
}

int to_bool(PyObject* self) {
  try {
    Element e;
    bool out = false;
    if (read(self, &e) && visit(e, [&](auto v) { out = v != 0; })) return out ? 1 : 0;
  } catch (...) {
    raise_caught();
    return -1;
  }
  return ordinary_bool(self);
}

void install(PyTypeObject* type) {
  type->tp_as_mapping->mp_subscript = item;
  type->tp_as_number->nb_float = to_float;
  type->tp_as_number->nb_int = to_int;
  type->tp_as_number->nb_bool = to_bool;
}

}  // namespace

void bind_number_slots() {
  ordinary_item = tensor_slots->tp_as_mapping->mp_subscript;
  ordinary_float = tensor_slots->tp_as_number->nb_float;
  ordinary_int = tensor_slots->tp_as_number->nb_int;
  ordinary_bool = tensor_slots->tp_as_number->nb_bool;
  install(tensor_slots);
  install(lazy_slots);
}

}  // namespace nervanagpu::python
