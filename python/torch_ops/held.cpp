#include "python/torch_ops/held.h"

namespace nervanagpu::python::torch {
namespace {

PyObject* tensor_in_python(const Array& tensor) {
  void* out = nullptr;
  if (shim().to_python(tensor.handle(), nullptr, &out) != 0) return nullptr;
  return static_cast<PyObject*>(out);
}

// Only dense memory of a processor or a GPU.
void look_at_plain(Array& tensor) {
  std::int32_t layout = 0, type = 0;
  const Shim& s = shim();
  const bool plain = s.get_layout(tensor.handle(), &layout) == 0 && layout == s.strided &&
                     s.get_device_type(tensor.handle(), &type) == 0 && (type == s.cpu || type == s.cuda);
  if (!plain) throw NotHere();
  tensor.look();
}

// What becomes an error of Python's class again.
class PythonError : public ::torch::PyTorchError {
 public:
  PythonError(PyObject* type, std::string text) : type_(type), text_(std::move(text)) {}
  [[nodiscard]] const char* what() const noexcept override { return text_.c_str(); }
  PyObject* python_type() override { return type_; }

 private:
  PyObject* type_;  // which is never given back: classes of errors live long
  std::string text_;
};

}  // namespace

void throw_python_error() {
  PyObject *type = nullptr, *error = nullptr, *trace = nullptr;
  PyErr_Fetch(&type, &error, &trace);
  PyErr_NormalizeException(&type, &error, &trace);
  std::string words = "an error of Python";
  PyObject* const text = error == nullptr ? nullptr : PyObject_Str(error);
  PyObject* const bytes = text == nullptr ? nullptr : PyUnicode_AsUTF8String(text);
  if (bytes != nullptr) words = PyBytes_AsString(bytes);
  PyErr_Clear();
  Py_XDECREF(bytes);
  Py_XDECREF(text);
  Py_XDECREF(error);
  Py_XDECREF(trace);
  throw PythonError(type == nullptr ? Py_NewRef(PyExc_RuntimeError) : type, std::move(words));
}

const Array& Held<Array>::value() {
  look_at_plain(tensor_);
  return tensor_;
}

PyObject* Held<Array>::in_python() const {
  return tensor_in_python(tensor_);
}

Held<std::optional<Array>>::Held(Value value) {
  const auto [handle, there] = taken_if_there(value);
  if (!there) return;
  tensor_ = taken<Array>(handle);
  bool defined = false;  // torch's own calls say of a bias that is missing that it is there, and no tensor
  if (shim().is_defined(tensor_->handle(), &defined) != 0 || !defined) tensor_.reset();
}

const std::optional<Array>& Held<std::optional<Array>>::value() {
  if (tensor_) look_at_plain(*tensor_);
  return tensor_;
}

PyObject* Held<std::optional<Array>>::in_python() const {
  return tensor_ ? tensor_in_python(*tensor_) : Py_NewRef(Py_None);
}

std::pair<Value, bool> taken_if_there(Value value) {
  const auto* const there = reinterpret_cast<Value*>(value);  // NOLINT(performance-no-int-to-ptr): ours to delete
  if (there == nullptr) return {0, false};
  const Value out = *there;
  delete there;
  return {out, true};
}

HeldList::~HeldList() {
  if (list_ != nullptr) static_cast<void>(shim().delete_list(list_));
}

Ints HeldList::numbers() const {
  const Shim& s = shim();
  Ints out;
  if (s.list_size(list_, &out.count) != 0 || out.count > out.at.size()) throw NotHere();
  out.given = true;
  for (std::size_t i = 0; i < out.count; ++i) {
    Value value = 0;
    if (s.list_item(list_, i, &value) != 0) throw NotHere();
    out.at[i] = taken<std::int64_t>(value);
  }
  return out;
}

PyObject* HeldList::in_python(bool bools) const {
  if (list_ == nullptr) return Py_NewRef(Py_None);
  const Shim& s = shim();
  std::size_t count = 0;
  if (s.list_size(list_, &count) != 0) return nullptr;
  PyObject* const out = PyList_New(static_cast<Py_ssize_t>(count));
  for (std::size_t i = 0; out != nullptr && i < count; ++i) {
    Value value = 0;
    if (s.list_item(list_, i, &value) != 0) {
      Py_DecRef(out);
      return nullptr;
    }
    PyObject* const number =
        bools ? PyBool_FromLong(taken<bool>(value) ? 1 : 0) : PyLong_FromLongLong(taken<std::int64_t>(value));
    PyList_SetItem(out, static_cast<Py_ssize_t>(i), number);
  }
  return out;
}

void put(std::span<Array> results, Value* stack) {
  for (Array& t : results) {
    TensorObject* handle = t.release();
    if (handle == nullptr && shim().new_uninitialized_tensor(&handle) != 0) throw NotHere();
    *stack++ = reinterpret_cast<Value>(handle);
  }
}

void put_python(PyObject* other, std::span<PyObject*> arguments, std::size_t results, Value* stack) {
  PyObject* const all = PyTuple_New(static_cast<Py_ssize_t>(arguments.size()));
  bool failed = all == nullptr;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    failed = failed || arguments[i] == nullptr;
    if (!failed) {
      PyTuple_SetItem(all, static_cast<Py_ssize_t>(i), arguments[i]);
    } else {
      Py_XDECREF(arguments[i]);
    }
  }
  PyObject* const out = failed ? nullptr : PyObject_CallObject(other, all);
  Py_XDECREF(all);
  if (out == nullptr) throw_python_error();
  std::array<Array, 3> found;
  bool right = results == 1 || (PyTuple_Check(out) != 0 && PyTuple_Size(out) == static_cast<Py_ssize_t>(results));
  for (std::size_t i = 0; right && i < results; ++i) {
    PyObject* const one = results == 1 ? out : PyTuple_GetItem(out, static_cast<Py_ssize_t>(i));
    TensorObject* handle = nullptr;
    right = one == Py_None || shim().from_python(one, &handle) == 0;
    found[i] = Array(handle);
  }
  Py_DecRef(out);
  if (!right) refuse("an override of aten's gave back no tensors");
  put(std::span(found).first(results), stack);
}

}  // namespace nervanagpu::python::torch
