// GPUTensor: made, read, written and viewed.
#include <pybind11/stl.h>

#include <algorithm>
#include <bit>
#include <cstdint>

#include "python/bind.h"
#include "python/to_python.h"

namespace nervanagpu::python {

// A tensor as an argument, and the object that it is in.
struct Held {
  py::handle object;
  const Tensor* tensor = nullptr;
};

}  // namespace nervanagpu::python

template <>
struct pybind11::detail::type_caster<nervanagpu::python::Held> {
  PYBIND11_TYPE_CASTER(nervanagpu::python::Held, make_caster<nervanagpu::Tensor>::name);
  bool load(handle src, bool convert) {
    make_caster<nervanagpu::Tensor> tensor;
    if (!tensor.load(src, convert)) return false;
    value = {src, &cast_op<const nervanagpu::Tensor&>(tensor)};
    return true;
  }
};

namespace nervanagpu::python {
namespace {

py::array get(const Tensor& t) {
  py::array out = host_array(t.dtype(), t.shape());
  void* data = out.mutable_data();
  const GilRelease release;
  t.get(data, t.nbytes());
  return out;
}

bool has_floats(const py::object& array) {
  const py::object dtype = array.attr("dtype");
  return dtype.attr("kind").cast<std::string>() == "f" || dtype.attr("name").cast<std::string>() == "bfloat16";
}

// Whether x[key] = value takes the array: of numbers, complex ones only from arrays, or one that becomes `kind` by same_kind.
bool assignable(const py::object& array, const py::object& value, const py::dtype& kind) {
  const char of = array.attr("dtype").attr("kind").cast<std::string>()[0];
  if (of == 'b' || of == 'u' || of == 'i' || has_floats(array)) return true;
  if (of == 'c' && py::hasattr(value, "dtype")) return true;
  return py::module_::import("numpy").attr("can_cast")(array.attr("dtype"), kind, "same_kind").cast<bool>();
}

// A number of Python's or NumPy's.
bool is_float(const py::object& value) {
  if (PyFloat_Check(value.ptr()) != 0) return true;
  static const py::object& numpys = *new py::object(py::module_::import("numpy").attr("floating"));
  return py::isinstance(value, numpys);
}

// What NumPy's assignments leave out of a value: leading axes of one element that the place does not have.
py::object without_leading_ones(const py::object& array, std::size_t ndim) {
  const auto shape = array.attr("shape").cast<Shape>();
  if (shape.size() <= ndim) return array;
  const auto more = static_cast<std::ptrdiff_t>(shape.size() - ndim);
  if (std::any_of(shape.begin(), shape.begin() + more, [](std::int64_t n) { return n != 1; })) return array;
  return in_python([&] { return array.attr("reshape")(tuple_of(Shape(shape.begin() + more, shape.end()))); });
}

// `value` as an array of t's shape that becomes one of `dtype`. `assigned`: by x[key] = value, where lengths may be
// repeated, and real numbers of any kind become the tensor's as astype has it.
py::object fitting(const Tensor& t, Dtype dtype, const py::object& value, bool assigned) {
  const py::module_ numpy = py::module_::import("numpy");
  const py::dtype wanted = numpy_dtype(dtype);
  const bool listed = PyList_Check(value.ptr()) != 0 || PyTuple_Check(value.ptr()) != 0;
  py::object array = in_python([&] {
    return listed ? py::module_::import("nervanagpu.arrays.dtypes").attr("from_list")(value, wanted)
                  : numpy.attr("asarray")(value);
  });
  if (assigned && is_float(value) && kind_rank(t.dtype()) < 3 && t.dtype() != Dtype::boolean) {
    array = in_python([&] { return numpy.attr("asarray")(py::int_(py::float_(value)), wanted); });  // NaN: ValueError
  }
  // ml_dtypes' own rule lets complex numbers through.
  const py::dtype kind = dtype == Dtype::bfloat16 ? py::dtype::of<float>() : wanted;
  const bool fits_kind = assigned ? assignable(array, value, kind)
                                  : numpy.attr("can_cast")(array.attr("dtype"), kind, "same_kind").cast<bool>();
  if (!fits_kind) {
    throw TypeError("value has dtype " + std::string(py::str(array.attr("dtype"))) + "; needs one that converts to " +
                    std::string(name_of(t.dtype())) + " (numpy.can_cast, same_kind)");
  }
  if (!is_complex(dtype) && array.attr("dtype").attr("kind").cast<std::string>() == "c") {
    warn_of_lost_parts(std::string(py::str(array.attr("dtype"))), t.dtype());
    if (t.dtype() != Dtype::boolean) array = py::object(array.attr("real"));
  }
  const py::tuple shape = tuple_of(t.shape());
  if (!py::object(array.attr("shape")).equal(shape)) {
    bool fits = assigned;
    if (fits) {
      if (!listed) array = without_leading_ones(array, t.ndim());
      try {
        array = in_python([&] { return numpy.attr("broadcast_to")(array, shape); });
      } catch (py::error_already_set& e) {
        if (!e.matches(PyExc_ValueError)) throw;
        fits = false;
      }
    }
    if (!fits) {
      throw InvalidArgument("value has shape " + std::string(py::str(array.attr("shape"))) + "; needs " +
                            std::string(py::str(shape)));
    }
  }
  return array;
}

// The array's elements by rows, in a tensor of that dtype.
py::array by_rows(const py::object& array, Dtype dtype) {
  return in_python([&] { return py::module_::import("numpy").attr("ascontiguousarray")(array, numpy_dtype(dtype)); })
      .cast<py::array>();
}

// t's elements are those of the array, which the device converts.
void assign_converted(const Tensor& t, const py::object& array, Dtype by) {
  const py::array data = by_rows(array, by);
  Tensor wide = Tensor::empty(t.shape(), by);
  wide.set(data.data(), wide.nbytes());
  assign(t, cast(Expr(wide), t.dtype()));
}

void set(Tensor& t, const py::object& value, bool assigned) {
  if (py::isinstance<py::str>(dtype_object(t.dtype()))) {  // bfloat16 without ml_dtypes: rounded on the device
    assign_converted(t, fitting(t, Dtype::float32, value, assigned), Dtype::float32);
    return;
  }
  const py::object array = fitting(t, t.dtype(), value, assigned);
  if (is_whole(t.dtype()) && has_floats(array) && can_evaluate()) {  // the host's processor has a rule of its own
    const bool wide = array.attr("dtype").attr("itemsize").cast<int>() > 4;
    assign_converted(t, array, wide ? Dtype::float64 : Dtype::float32);
    return;
  }
  const py::array data = by_rows(array, t.dtype());
  before_write(t);
  const void* from = data.data();
  const GilRelease release;
  t.set(from, t.nbytes());
}

bool is_plain_number(const py::object& value) {
  return PyFloat_Check(value.ptr()) != 0 || (PyLong_Check(value.ptr()) != 0 && PyBool_Check(value.ptr()) == 0);
}

// self[:] and self[...]
bool is_everything(const Tensor& t, const py::object& key) {
  if (key.ptr() == Py_Ellipsis) return true;
  if (PySlice_Check(key.ptr()) == 0 || t.ndim() == 0) return false;
  const auto* s = reinterpret_cast<const PySliceObject*>(key.ptr());
  return Py_IsNone(s->start) != 0 && Py_IsNone(s->stop) != 0 && Py_IsNone(s->step) != 0;
}

// Whether `value` is an evaluated tensor, and exactly this view.
bool is_view(const py::object& value, const Tensor& view) {
  if (lazy_of(value) != nullptr) return false;
  const auto& t = value.cast<const Tensor&>();
  return t.address() == view.address() && t.dtype() == view.dtype() && t.shape() == view.shape() &&
         t.strides() == view.strides();
}

// A result without axes, or an element.
bool is_number(const py::handle& h) {
  const Lazy* l = lazy_of(h);
  return l != nullptr && l->number();
}

// Whether a part of a key is an array, a sequence that becomes one, or a bool: what nervanagpu.arrays.indexing does.
bool is_array(const py::handle& part) {
  PyObject* p = part.ptr();
  if (PyLong_CheckExact(p) != 0 || PySlice_Check(p) != 0 || part.is_none() || p == Py_Ellipsis) return false;
  if (PyList_Check(p) != 0 || PyTuple_Check(p) != 0 || PyBool_Check(p) != 0 || PyRange_Check(p) != 0) return true;
  static const py::object& numpys = *new py::object(py::module_::import("numpy").attr("bool_"));
  // A whole number of a tensor is one as Python's: x[k[0]] is a view where x[1] is.
  if (is_number(part) && is_whole(lazy_of(part)->expr.dtype())) return false;
  return py::isinstance<Tensor>(part) || py::isinstance<py::array>(part) || py::isinstance(part, numpys);
}

bool names_elements(const py::handle& key) {
  if (PyTuple_Check(key.ptr()) == 0) return is_array(key);
  return std::ranges::any_of(py::reinterpret_borrow<py::tuple>(key), [](const py::handle& h) { return is_array(h); });
}

// What a view keeps alive, pybind11's patient: the tensor that it is a view of. Nothing: it is no view.
py::handle base_of(const py::handle& h) {
  if (!reinterpret_cast<const py::detail::instance*>(h.ptr())->has_patients) return {};
  const auto& patients = py::detail::get_internals().patients;
  const auto found = patients.find(h.ptr());
  return found == patients.end() ? py::handle() : py::handle(found->second.front());
}

bool has_views(const py::handle& h) {
  return std::ranges::any_of(py::detail::get_internals().patients, [&](const auto& view) {
    return std::ranges::find(view.second, h.ptr()) != view.second.end();
  });
}

// `view` as an object whose base is the tensor `self`, or what that is a view of.
py::object based_on(const Held& self, Tensor view) {
  py::object made = py::cast(std::move(view));
  const py::handle base = base_of(self.object);
  py::detail::add_patient(made.ptr(), (base ? base : self.object).ptr());
  return made;
}

// The same; of a number an element of its own: what is written there does not change it.
py::object view_of(const Held& self, Tensor view) {
  if (!is_number(self.object)) return based_on(self, std::move(view));
  return py::cast([&] {
    const GilRelease release;
    return view.copy();
  }());
}

bool has_ellipsis(const py::object& key) {
  const auto is = [](const py::handle& part) { return part.ptr() == Py_Ellipsis; };
  return is(key) || (PyTuple_Check(key.ptr()) != 0 && std::ranges::any_of(py::reinterpret_borrow<py::tuple>(key), is));
}

// One element, x[i] or x[i, j], is a number, not a view: what is written to x later does not change it. x[i, ...] is one.
py::object item(const Held& self, const py::object& key) {
  if (names_elements(key)) {
    return in_python(
        [&] { return py::module_::import("nervanagpu.arrays.indexing").attr("getitem")(self.object, key); });
  }
  Tensor view = index(*self.tensor, key);
  if (view.ndim() == 0 && can_evaluate() && !has_ellipsis(key)) {
    return py::cast(Lazy::element(view));
  }
  return view_of(self, std::move(view));
}

// The same of a tensor.
py::object without_leading_ones(const Tensor& view, const py::object& value) {
  const Lazy* open = lazy_of(value);  // whose shape is known without its elements
  const Shape& shape = open != nullptr ? open->expr.shape() : value.cast<const Tensor&>().shape();
  const auto more = static_cast<std::ptrdiff_t>(shape.size()) - static_cast<std::ptrdiff_t>(view.ndim());
  if (more <= 0 || std::any_of(shape.begin(), shape.begin() + more, [](std::int64_t n) { return n != 1; }))
    return value;
  py::tuple key(more + 1);
  for (std::size_t i = 0; i < key.size(); ++i) key[i] = py::int_(0);
  key[static_cast<std::size_t>(more)] = py::ellipsis();
  return value.attr("__getitem__")(key);
}

void write_item(Tensor& view, const py::object& given) {
  const py::object value = py::isinstance<Tensor>(given) ? without_leading_ones(view, given) : given;
  if (py::isinstance<Tensor>(value)) {
    if (is_view(value, view)) return;  // what x[1:] += 1 ends with
    Expr source = can_evaluate() ? rounded_into(view, expr_from(value)) : expr_from(value);
    if (kind_rank(source.dtype()) > kind_rank(view.dtype())) {  // as NumPy's assignments
      if (is_complex(source.dtype())) warn_of_lost_parts(std::string(name_of(source.dtype())), view.dtype());
      source = cast(source, view.dtype());
    }
    if (source.evaluated() && source.dtype() == view.dtype() && source.shape() == view.shape() && view.contiguous()) {
      const Tensor from = source.evaluate();
      if (from.contiguous()) {
        before_write(view);
        const GilRelease release;
        view.copy_from(from);
        return;
      }
    }
    if (!can_evaluate()) {  // by way of the host
      set(view, get(source.evaluate()), true);
      return;
    }
    const GilRelease release;
    assign(view, source);
    return;
  }
  before_write(view);
  const bool integers = kind_rank(view.dtype()) < 3;
  if (is_plain_number(value) && !(integers && PyFloat_Check(value.ptr()) != 0)) {
    const Scalar number = scalar_from(value, "value");
    const GilRelease release;
    view.fill(number);
    return;
  }
  set(view, value, true);
}

void assign_item(const py::object& object, const py::object& key, const py::object& value) {
  if (const Lazy* l = lazy_of(object); l != nullptr && l->taken) {  // x[i][...] = value would be lost
    throw TypeError("x[key] = value: x is an element of a tensor, a number; needs a tensor, as x[i, ...] is");
  }
  if (!py::isinstance<Tensor>(object)) {
    throw TypeError("x[key] = value: x is " + std::string(py::str(py::type::of(object).attr("__name__"))) +
                    "; needs GPUTensor");
  }
  const auto& self = object.cast<const Tensor&>();
  if (names_elements(key)) {
    in_python([&] { py::module_::import("nervanagpu.arrays.indexing").attr("setitem")(self, key, value); });
    if (checks_results()) check_result(py::cast(self));
    return;
  }
  Tensor view = is_everything(self, key) ? self : index(self, key);
  write_item(view, value);
  if (checks_results()) check_result(py::cast(view));
}

}  // namespace

int kind_rank(Dtype d) {
  if (is_complex(d)) return 4;
  switch (d) {
    case Dtype::boolean: return 0;
    case Dtype::uint8:
    case Dtype::uint16:
    case Dtype::uint32:
    case Dtype::uint64: return 1;
    case Dtype::int8:
    case Dtype::int16:
    case Dtype::int32:
    case Dtype::int64: return 2;
    default: return 3;
  }
}

void warn_of_lost_parts(const std::string& from, Dtype to) {
  if (to == Dtype::boolean) return;
  in_python([&] {
    const py::object category = py::module_::import("nervanagpu.exceptions").attr("ComplexWarning");
    const std::string words =
        "the value is " + from + ", of which " + std::string(name_of(to)) + " keeps the real parts alone";
    return py::module_::import("warnings").attr("warn")(words, category);
  });
}

py::object on_host(const py::array& array, const py::object& order, const py::object& out) {
  const bool by_rows = PyUnicode_Check(order.ptr()) != 0 && PyUnicode_CompareWithASCIIString(order.ptr(), "C") == 0;
  if (out.is_none() && by_rows) return array;
  return in_python([&] { return py::module_::import("nervanagpu.arrays.layout").attr("on_host")(array, order, out); });
}

namespace {

std::string text_of(const Tensor& t) {
  std::string out =
      "GPUTensor(shape=" + std::string(py::str(tuple_of(t.shape()))) + ", dtype=" + std::string(name_of(t.dtype()));
  if (!t.contiguous()) out += ", strides=" + std::string(py::str(tuple_of(t.strides())));
  if (!t.name().empty()) out += ", name=" + std::string(py::repr(py::str(t.name())));
  return out + ")";
}

py::object array_of(const Tensor& t, const py::object& dtype, const py::object& copy) {
  if (!copy.is_none() && !copy.cast<bool>()) {
    throw InvalidArgument("copy is False; a tensor in device memory becomes an array only by a copy");
  }
  if (dtype.is_none()) return get(t);
  if (t.dtype() != Dtype::bfloat16) return get(t).attr("astype")(dtype);
  return py::cast(t).attr("astype")("float32").attr("get")().attr("astype")(dtype);  // NumPy may have no such dtype
}

// Foreign code may write what it has the address of.
std::uint64_t exported(const Tensor& t) {
  before_sharing(t);
  return t.address();
}

py::object transpose(const Held& self, const py::args& axes) {
  if (is_number(self.object) && axes.empty()) return py::reinterpret_borrow<py::object>(self.object);
  if (axes.empty()) return view_of(self, self.tensor->transpose());
  const bool one_sequence = axes.size() == 1 && PyIndex_Check(axes[0].ptr()) == 0;
  std::vector<int> order;
  for (const std::int64_t a : shape_from(one_sequence ? py::object(axes[0]) : py::object(axes))) {
    order.push_back(static_cast<int>(a));
  }
  return view_of(self, self.tensor->transpose(order));
}

py::object reshape(const Held& self, const py::args& shape) {
  const Shape lengths = shape_from(shape.size() == 1 ? py::object(shape[0]) : py::object(shape));
  return view_of(self, self.tensor->reshape(lengths));
}

// The only element, as Python's number.
py::object number_in(const Tensor& t) {
  if (t.size() != 1) throw TypeError(text_of(t) + " is not one number");
  if (t.dtype() == Dtype::bfloat16) {  // NumPy may have no such dtype
    std::uint16_t bits = 0;
    {
      const GilRelease release;
      t.get(&bits, sizeof bits);
    }
    return py::float_(std::bit_cast<float>(std::uint32_t{bits} << 16));
  }
  return get(t).attr("item")();
}

void bind_creation(py::module_& m) {
  m.def(
      "shape", [](const py::object& shape) { return tuple_of(shape_from(shape)); }, py::arg("shape"),
      "An int or a sequence of ints as a tuple.");
  m.def(
      "dtype", [](const py::object& dtype) { return dtype_object(dtype_from(dtype)); }, py::arg("dtype"),
      "What a tensor of that dtype says it has.");
  m.def(
      "empty",
      [](const py::object& shape, const py::object& dtype) {
        Shape s = shape_from(shape);
        const Dtype d = dtype_from(dtype);
        const GilRelease release;
        return Tensor::empty(std::move(s), d);
      },
      py::arg("shape"), py::arg("dtype"));
  m.def(
      "full",
      [](const py::object& shape, const py::object& value, const py::object& dtype) {
        Shape s = shape_from(shape);
        const Dtype d = dtype_from(dtype);
        const Scalar number = scalar_from(value, "value");
        const GilRelease release;
        return Tensor::full(std::move(s), number, d);
      },
      py::arg("shape"), py::arg("value"), py::arg("dtype"));
  m.def(
      "wrap",
      [](std::uint64_t address, const py::object& shape, const py::object& strides, const py::object& dtype) {
        return Tensor::wrap(address, shape_from(shape), shape_from(strides), dtype_from(dtype));
      },
      py::arg("address"), py::arg("shape"), py::arg("strides"), py::arg("dtype"),
      "Device memory of the caller's, who keeps it alive. Strides in elements.");
}

}  // namespace

void bind_tensor(py::module_& m) {
  bind_creation(m);
  py::class_<Tensor> c(m, "GPUTensor",
                       "A strided array in device memory. Slices, .T and reshape are views of the same memory.");
  // A setter has no name of its own for messages.
  const auto setter = [&](const char* name, auto set) {
    return py::cpp_function(set, py::name(name), py::is_method(c), py::arg("value"));
  };
  c.def_property(
      "shape", [](const Tensor& t) { return tuple_of(t.shape()); }, setter("shape", &set_shape),
      "Lengths of the axes. Assigned, the elements of this very tensor in another shape; one length may be -1.");
  c.def_property_readonly(
      "element_strides", [](const Tensor& t) { return tuple_of(t.strides()); },
      "Elements (not bytes) from one index to the next, for each axis.");
  c.def_property(
      "dtype", [](const Tensor& t) { return dtype_object(t.dtype()); }, setter("dtype", &set_dtype),
      "NumPy's dtype. bfloat16: that of the package ml_dtypes, or the word \"bfloat16\" where it is not installed. "
      "Assigned, the bytes of this very tensor as that dtype.");
  c.def_property_readonly("ndim", &Tensor::ndim, "Number of axes.");
  c.def_property_readonly("size", &Tensor::size, "Number of elements.");
  c.def_property_readonly("nbytes", &Tensor::nbytes, "Bytes of the elements.");
  c.def_property_readonly("ptr", &exported, "Device address of the first element; 0 if there is none.");
  c.def_property_readonly("gpudata", &exported, "The same as ptr.");
  c.def_property_readonly("contiguous", &Tensor::contiguous, "True if the elements are row-major without gaps.");
  c.def_property("name", &Tensor::name, setter("name", &Tensor::set_name), "For messages; may be empty.");
  c.def_property(
      "rounding", &Tensor::rounding, setter("rounding", &Tensor::set_rounding),
      "How results that are written here are rounded: 0 to nearest, else stochastically to so many mantissa bits.");
  c.def_property_readonly(
      "T", [](const Held& self) { return transpose(self, py::args()); }, "The view with its axes reversed.");
  c.def(
      "get",
      [](const Tensor& t, const py::object& stream, const py::object& order, const py::object& out, bool) {
        wait_for(stream);
        return on_host(get(t), order, out);
      },
      py::arg("stream") = py::none(), py::arg("order") = py::str("C"), py::arg("out") = py::none(),
      py::arg("blocking") = true,
      "The elements as a NumPy array of the same shape and dtype, by rows, or by columns with order=\"F\"; `out`: the "
      "array\n"
      "that they are written to. Waits for the work before, and for that of `stream`; blocking=False waits, too.");
  c.def(
      "set",
      [](Tensor& t, const py::object& value, const py::object& /*device*/, const py::object& stream) {
        wait_for(stream);
        set(t, value, false);
      },
      py::arg("value"), py::arg("device") = py::none(), py::arg("stream") = py::none(),
      "Copy an array of the same shape into this tensor, whatever its strides. ValueError for another shape, "
      "TypeError\n"
      "for a dtype that loses its kind (float to int). `device` has no effect: there is one. Waits for the work of "
      "`stream`.");
  c.def(
      "share",
      [](const Held& self, const py::object& shape, const py::object& dtype, const std::optional<std::string>& name) {
        const Tensor& t = *self.tensor;
        Tensor out = t.share(shape_from(shape), dtype.is_none() ? t.dtype() : dtype_from(dtype));
        out.set_name(name.value_or(""));
        return view_of(self, std::move(out));
      },
      py::arg("shape"), py::arg("dtype") = py::none(), py::arg("name") = py::none(),
      "The memory of the first elements, with another shape and dtype: a view. ValueError for more bytes than there "
      "are,\n"
      "and if the tensor has gaps.");
  c.def_property_readonly(
      "base",
      [](const Held& self) -> py::object {
        const py::handle base = base_of(self.object);
        return base ? py::reinterpret_borrow<py::object>(base) : py::none();
      },
      "The tensor whose memory this is a view of, also if it is a view of a view; None for one that is no view.");
  c.def(
      "fill",
      [](Tensor& t, const py::object& value) {
        const Scalar number = scalar_from(value, "value");
        const GilRelease release;
        before_write(t);
        t.fill(number);
      },
      py::arg("value"), "Set every element to a number. OverflowError if the dtype cannot hold it.");
  c.def(
      "copy",
      [](const Held& self) {
        if (lazy_of(self.object) != nullptr && self.tensor->ndim() == 0) {  // nothing changes a number
          return py::reinterpret_borrow<py::object>(self.object);
        }
        return py::cast([&] {
          const GilRelease release;
          return self.tensor->copy();
        }());
      },
      "A contiguous copy in memory of its own.");
  c.def("transpose", &transpose, "The view with its axes in the given order; reversed without arguments.");
  c.def("reshape", &reshape, "A contiguous tensor's elements in another shape, as a view; one length may be -1.");
  c.def("__getitem__", &item, py::arg("key"));
  c.def("__setitem__", &assign_item, py::arg("key"), py::arg("value"));
  m.def("to", [](const Tensor& t, int device) {
    const GilRelease release;
    return t.to(device);
  });
  m.def(
      "has_views", [](const py::handle& tensor) { return has_views(tensor); }, py::arg("tensor"));
  m.def("based_on", [](const Held& base, const Tensor& view) { return based_on(base, view); });
  m.def("real_view", [](const Held& x) { return view_of(x, x.tensor->real()); });
  m.def("imag_view", [](const Held& x) { return view_of(x, x.tensor->imag()); });
  m.def("diagonal", [](const Held& x) { return view_of(x, x.tensor->diagonal()); });
  c.def("__len__", [](const Tensor& t) {
    if (t.ndim() == 0) throw TypeError("a tensor without axes has no length");
    return t.shape()[0];
  });
  c.def("__array__", &array_of, py::arg("dtype") = py::none(), py::arg("copy") = py::none());
  c.def("__float__", [](const Tensor& t) { return py::float_(number_in(t)); });
  c.def("__int__", [](const Tensor& t) {
    if (is_complex(t.dtype())) throw TypeError(text_of(t) + " is complex; needs a real number");
    return number_in(t).attr("__int__")();  // of bool an int, too
  });
  c.def("__matmul__", &product_of, py::is_operator());
  c.def("__repr__", &text_of);
  c.def("__str__", [](const Tensor& t) { return py::str(get(t)); });
  c.attr("__array_ufunc__") = py::none();  // NumPy's operators leave it to ours
  c.attr("__module__") = "nervanagpu";
}

}  // namespace nervanagpu::python
