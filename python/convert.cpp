// Between Python's values and ours.
#include "python/bind.h"

#include <limits>
#include <map>
#include <unordered_map>

#include "python/to_python.h"

namespace nervanagpu::python {
namespace {

// As messages of functions in Python have it.
std::string shown(const py::handle& h) {
  return py::str(py::module_::import("nervanagpu.calls.arguments").attr("shown")(h));
}

std::int64_t integer_from(const py::handle& h, const char* what) {
  std::int64_t value = 0;
  if (load_integer(h.ptr(), &value)) return value;
  if (PyIndex_Check(h.ptr()) == 0) throw TypeError(std::string(what) + " is " + type_name(h) + "; needs an integer");
  throw InvalidArgument(std::string(what) + " is " + shown(h) + "; needs less than 2^63");
}

// Python counts True as 1; NumPy's shapes do not.
void refuse_bool(const py::handle& h) {
  if (PyBool_Check(h.ptr()) != 0) throw TypeError("shape has " + std::string(py::str(h)) + "; needs integers");
}

// The limits of a Python slice on an axis of `length`, as Tensor::slice takes them.
Tensor take_slice(const Tensor& t, int axis, const py::slice& slice) {
  const std::int64_t length = t.shape()[static_cast<std::size_t>(axis)];
  py::ssize_t start = 0;
  py::ssize_t stop = 0;
  py::ssize_t step = 0;
  py::ssize_t count = 0;
  if (!slice.compute(length, &start, &stop, &step, &count)) throw py::error_already_set();
  if (count == 0) return t.slice(axis, 0, 0);
  // -1 is "before the first" here, and would count from the end there.
  if (stop < 0) stop = -length - 1;
  return t.slice(axis, start, stop, step);
}

Tensor take_one(const Tensor& t, int axis, const py::handle& index) {
  std::int64_t i = 0;
  if (!load_integer(index.ptr(), &i))
    throw py::index_error("index is " + shown(index) + ", out of range; needs less than 2^63");
  const std::int64_t length = t.shape()[static_cast<std::size_t>(axis)];
  if (i < -length || i >= length) {
    throw py::index_error("index " + std::to_string(i) + " is out of range for an axis of length " +
                          std::to_string(length));
  }
  return t.select(axis, i);
}

// What a program can do about a kind of dtype that tensors do not have.
const char* instead_of(char kind) {
  switch (kind) {
    case 'U':
    case 'S':
      return " (texts stay on the host; tensors hold numbers, such as numpy.unique(texts, return_inverse=True)[1])";
    case 'M':
    case 'm': return " (times stay on the host; tensors hold numbers, such as times.astype('int64'))";
    case 'O': return " (objects stay on the host; numpy.array(objects, float) makes numbers of those that are some)";
    case 'V': return " (records stay on the host; each field can be a tensor)";
    default: return "";
  }
}

// The dtype that NumPy makes of it.
Dtype asked_dtype(const py::object& dtype) {
  if (py::isinstance<py::str>(dtype) && dtype.equal(py::str("bfloat16"))) return Dtype::bfloat16;
  py::dtype d;
  try {
    d = py::dtype::from_args(dtype);
  } catch (py::error_already_set&) {
    const bool number = PyLong_Check(dtype.ptr()) != 0;  // zeros(3, 4)
    throw TypeError("dtype is " + std::string(py::repr(dtype)) + "; needs what numpy.dtype understands" +
                    (number ? " (a shape of several lengths is one argument, such as (3, 4))" : ""));
  }
  const auto ours = dtype_from_name(std::string(py::str(d.attr("name"))));
  if (!ours) {
    throw TypeError(
        "dtype is " + std::string(py::str(d)) +
        "; needs float16, bfloat16, float32, float64, complex64, complex128, bool or an integer type of 8 to "
        "64 bits" +
        instead_of(d.kind()));
  }
  return *ours;
}

}  // namespace

std::int64_t integer_from(const py::handle& h, const std::string& what) {
  return integer_from(h, what.c_str());
}

Scalar scalar_from(const py::handle& number, const char* what) {
  PyObject* p = number.ptr();
  if (PyBool_Check(p) != 0) return p == Py_True;
  if (PyFloat_Check(p) != 0) return PyFloat_AS_DOUBLE(p);
  if (PyComplex_Check(p) != 0) return std::complex<double>(PyComplex_RealAsDouble(p), PyComplex_ImagAsDouble(p));
  if (py::isinstance<Tensor>(number)) {
    return scalar_from(in_python([&] { return number.attr("get")().attr("item")(); }), what);
  }
  static const py::object& numpys = *new py::object(py::module_::import("numpy").attr("complexfloating"));
  if (py::isinstance(number, numpys)) {
    const Py_complex c = PyComplex_AsCComplex(p);
    return std::complex<double>(c.real, c.imag);
  }
  const py::object whole =
      py::reinterpret_steal<py::object>(in_python([&] { return PyIndex_Check(p) != 0 ? PyNumber_Index(p) : nullptr; }));
  if (!whole) {
    PyErr_Clear();
    const double real = in_python([&] { return PyFloat_AsDouble(p); });
    if (real != -1.0 || PyErr_Occurred() == nullptr) return real;
    PyErr_Clear();
    throw TypeError(std::string(what) + " is " + type_name(number) + "; needs a number");
  }
  int overflow = 0;
  const long long v = PyLong_AsLongLongAndOverflow(whole.ptr(), &overflow);
  if (overflow == 0) return v;
  if (overflow > 0) {
    const unsigned long long u = PyLong_AsUnsignedLongLong(whole.ptr());
    if (PyErr_Occurred() == nullptr) return u;
    PyErr_Clear();
  }
  double nearest = PyLong_AsDouble(whole.ptr());
  if (PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    nearest = overflow * std::numeric_limits<double>::infinity();
  }
  return Scalar::beyond(nearest);
}

py::dtype numpy_dtype(Dtype dtype) {
  if (dtype == Dtype::bfloat16) {  // no type of NumPy's own
    try {
      return py::dtype::from_args(py::module_::import("ml_dtypes").attr("bfloat16"));
    } catch (py::error_already_set& e) {
      if (!e.matches(PyExc_ImportError)) throw;
      throw TypeError(
          "NumPy has no bfloat16; needs the package ml_dtypes (pip install ml_dtypes), or "
          "nervanagpu.nn.convert(x, \"float32\")");
    }
  }
  static auto& made = *new std::map<Dtype, py::dtype>;
  const auto found = made.find(dtype);
  return found != made.end() ? found->second : made.emplace(dtype, std::string(name_of(dtype))).first->second;
}

py::array host_array(Dtype dtype, const Shape& shape) {
  const py::dtype kind = numpy_dtype(dtype);
  const std::vector<py::ssize_t> lengths(shape.begin(), shape.end());
  try {
    return {kind, lengths};
  } catch (py::error_already_set& e) {
    py::object bytes = py::int_(kind.itemsize());  // 64 bits may not hold them
    for (const py::ssize_t n : lengths) bytes = bytes * py::int_(n);
    const bool possible = bytes <= py::int_(std::numeric_limits<py::ssize_t>::max());
    if (possible && !e.matches(PyExc_MemoryError)) throw;
    throw out_of_host_memory(py::str(bytes));
  }
}

py::object dtype_object(Dtype dtype) {
  if (dtype == Dtype::bfloat16) {
    try {
      return numpy_dtype(dtype);
    } catch (const TypeError&) {
      return py::str("bfloat16");
    }
  }
  return numpy_dtype(dtype);
}

Dtype dtype_from(const py::object& dtype) {
  // Types, dtypes and words of programs are asked for again and again; kept, so that an address stays that of one.
  static auto& known = *new std::unordered_map<PyObject*, Dtype>;
  constexpr std::size_t kMost = 256;
  PyObject* p = dtype.ptr();
  const auto found = known.find(p);
  if (found != known.end()) return found->second;
  const Dtype ours = asked_dtype(dtype);
  const bool lasts = PyType_Check(p) != 0 || py::isinstance<py::dtype>(dtype) ||
                     (PyUnicode_CheckExact(p) != 0 && PyUnicode_CHECK_INTERNED(p) != 0);
  if (lasts && known.size() < kMost) known.emplace(dtype.inc_ref().ptr(), ours);
  return ours;
}

const Tensor& planned_tensor(const char* plan, const char* name, const py::handle& h) {
  if (Lazy* l = lazy_of(h)) l->force();
  if (!py::isinstance<Tensor>(h)) {
    throw TypeError(std::string(plan) + ": " + name + " is " + type_name(h) + "; needs GPUTensor");
  }
  return *h.cast<const Tensor*>();
}

Shape shape_from(const py::object& shape) {
  PyObject* p = shape.ptr();
  refuse_bool(shape);
  const bool is_list = PyTuple_Check(p) != 0 || PyList_Check(p) != 0;
  // Rows of numbers have __index__, too.
  const auto is_row = [&] { return py::hasattr(shape, "ndim") && shape.attr("ndim").cast<std::int64_t>() != 0; };
  if (!is_list && PyIndex_Check(p) != 0 && (PyLong_CheckExact(p) != 0 || !is_row())) {
    return {integer_from(shape, "shape")};
  }
  if (py::isinstance<py::str>(shape) || !py::isinstance<py::sequence>(shape)) {
    throw TypeError("shape is " + type_name(shape) + "; needs an integer or a sequence of integers");
  }
  Shape out;
  for (const py::handle item : shape) {  // the iterator holds it
    refuse_bool(item);
    out.push_back(integer_from(item, "a length of shape"));
  }
  return out;
}

void set_shape(Tensor& t, const py::object& shape) {
  const Shape lengths = shape_from(shape);
  try {
    t = t.reshape(lengths);
  } catch (const InvalidArgument& error) {
    const std::string words = error.what();
    if (words.find("contiguous") == std::string::npos) throw;
    throw py::attribute_error("shape: " + words);
  }
}

void set_dtype(const py::object& tensor, const py::object& dtype) {
  in_python([&] { return py::module_::import("nervanagpu.arrays.tensor_state").attr("set_dtype")(tensor, dtype); });
}

Tensor index(const Tensor& t, const py::object& key) {
  // The most frequent keys have no copies on their way.
  if (t.ndim() > 0 && PySlice_Check(key.ptr()) != 0) return take_slice(t, 0, py::reinterpret_borrow<py::slice>(key));
  if (t.ndim() > 0 && PyLong_CheckExact(key.ptr()) != 0) return take_one(t, 0, key);
  const py::tuple keys = py::isinstance<py::tuple>(key) ? key.cast<py::tuple>() : py::make_tuple(key);
  std::size_t used = 0;  // axes that the key names
  std::size_t dots = 0;
  for (const py::handle h : keys) {
    if (h.ptr() == Py_Ellipsis) {
      ++dots;
    } else if (!h.is_none()) {
      ++used;
    }
  }
  if (dots > 1) throw py::index_error("an index can have one ellipsis (...), found " + std::to_string(dots));
  const auto axes = static_cast<std::size_t>(t.ndim());
  if (used > axes) {
    throw py::index_error("too many indices: the tensor has " + std::to_string(axes) + " axes, " +
                          std::to_string(used) + " were indexed");
  }
  Tensor out = t;
  int axis = 0;  // of `out`
  for (const py::handle h : keys) {
    if (h.ptr() == Py_Ellipsis) {
      axis += static_cast<int>(axes - used);
    } else if (h.is_none()) {
      out = out.insert_axis(axis++);
    } else if (py::isinstance<py::slice>(h)) {
      out = take_slice(out, axis, py::reinterpret_borrow<py::slice>(h));
      ++axis;
    } else if (PyIndex_Check(h.ptr()) != 0 && PyBool_Check(h.ptr()) == 0) {
      out = take_one(out, axis, h);
    } else {
      throw py::index_error("index is " + type_name(h) + "; needs integers, slices, arrays, ... or None");
    }
  }
  return out;
}

}  // namespace nervanagpu::python
