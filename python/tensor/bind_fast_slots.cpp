// The shortest way for what small arrays spend their time on: `x + 1` and `y[:] = x + 1`, straight from the type's slots,
// and products, without a search for the method, its overloads and the C++ types of its arguments. Anything but plain
// tensors, expressions and numbers takes the ordinary way.
#include <exception>

#include "python/tensor/slots.h"

namespace nervanagpu::python {
namespace {

constexpr long kNoAxis = -1000;  // below what any tensor has

PyObject* rethrow_function = nullptr;
std::exception_ptr caught;  // under the GIL

bool is_plain(PyObject* o) {
  return Py_TYPE(o) == lazy_slots || Py_TYPE(o) == tensor_slots || PyFloat_CheckExact(o) != 0 ||
         PyLong_CheckExact(o) != 0;
}

Expr plain_expr(PyObject* o) {
  if (Py_TYPE(o) == lazy_slots) return object_of<Lazy>(o)->expr;
  if (Py_TYPE(o) == tensor_slots) return *object_of<Tensor>(o);
  return expr_from(o);
}

objobjargproc ordinary_assign = nullptr;  // what the types had, which is the same for both

// As Python does it: a's method, then b's reflected one.
// "(O)": a tuple that is an operand is one argument, too.
PyObject* by_method(PyObject* a, PyObject* b, const char* name, const char* reflected) {
  if (PyObject_TypeCheck(a, tensor_slots) != 0) {
    PyObject* out = PyObject_CallMethod(a, name, "(O)", b);
    if (out != Py_NotImplemented) return out;
    Py_DECREF(out);
  }
  if (PyObject_TypeCheck(b, tensor_slots) != 0) return PyObject_CallMethod(b, reflected, "(O)", a);
  Py_RETURN_NOTIMPLEMENTED;
}

constexpr const char* kNames[][2] = {
    {"__add__", "__radd__"}, {"__sub__", "__rsub__"}, {"__mul__", "__rmul__"}, {"__truediv__", "__rtruediv__"}};

// [0] * n repeats the list where n is a whole number of no axes, as with NumPy's scalars.
bool repeats(PyObject* list, PyObject* n) {
  if ((PyList_Check(list) == 0 && PyTuple_Check(list) == 0) || Py_TYPE(n) != lazy_slots) return false;
  const Lazy& l = *object_of<Lazy>(n);
  return l.number() && is_whole(l.expr.dtype());
}

template <ExprOp op, int name>
PyObject* binary(PyObject* a, PyObject* b) {
  if (!is_plain(a) || !is_plain(b)) {
    if (op == ExprOp::multiply && (repeats(a, b) || repeats(b, a))) Py_RETURN_NOTIMPLEMENTED;
    return by_method(a, b, kNames[name][0], kNames[name][1]);
  }
  try {
    const Expr operands[] = {plain_expr(a), plain_expr(b)};
    return applied(op, operands, a, b).release().ptr();
  } catch (...) {
    return raise_caught();
  }
}

bool is_full_slice(PyObject* key) {
  if (PySlice_Check(key) == 0) return false;
  const auto* s = reinterpret_cast<const PySliceObject*>(key);
  return s->start == Py_None && s->stop == Py_None && s->step == Py_None;
}

int assign_item(PyObject* self, PyObject* key, PyObject* value) {
  if (value == nullptr) {
    PyErr_SetString(PyExc_ValueError,
                    "del x[key]: elements of a tensor cannot be deleted; nervanagpu.delete gives one without them");
    return -1;
  }
  const bool short_way =
      Py_TYPE(value) == lazy_slots && Py_TYPE(self) == tensor_slots && is_full_slice(key) && !checks_results();
  if (!short_way) return ordinary_assign(self, key, value);
  try {
    const Lazy& source = *object_of<Lazy>(value);
    const Tensor& to = *object_of<Tensor>(self);
    if (source.forced || source.expr.evaluated() || to.ndim() == 0 || to.rounding() != 0 || !can_evaluate() ||
        kind_rank(source.expr.dtype()) > kind_rank(to.dtype())) {
      return ordinary_assign(self, key, value);
    }
    const bool last = Py_REFCNT(value) == 1;  // nobody will ask for it again
    const GilRelease release;
    if (last) {
      assign_last(to, source.expr);
    } else {
      assign(to, source.expr);
    }
    return 0;
  } catch (...) {
    raise_caught();
    return -1;
  }
}

// A tensor, or none for None; false: something else.
bool tensor_or_none(PyObject* o, Tensor** out) {
  if (o == Py_None) return true;
  if (Py_TYPE(o) == lazy_slots) {
    auto* l = object_of<Lazy>(o);
    l->force();
    *out = l;
    return true;
  }
  if (Py_TYPE(o) != tensor_slots) return false;
  *out = object_of<Tensor>(o);
  return true;
}
bool plain_number(PyObject* o, float* out) {
  if (PyFloat_CheckExact(o) == 0) return false;
  *out = static_cast<float>(PyFloat_AS_DOUBLE(o));
  return true;
}

PyObject* matmul_slot(PyObject* a, PyObject* b) {
  Tensor* x = nullptr;
  Tensor* y = nullptr;
  try {
    if (!tensor_or_none(a, &x) || !tensor_or_none(b, &y) || x == nullptr || y == nullptr) {
      return in_python([&] {
               return py::module_::import("nervanagpu.linalg.products")
                   .attr("operands_matmul")(py::handle(a), py::handle(b));
             })
          .release()
          .ptr();
    }
    return product_of(*x, *y).release().ptr();
  } catch (...) {
    return raise_caught();
  }
}

// A plain number that float32 holds, as the kernels take it.
bool is_exact(PyObject* number, float as_float) {
  return PyFloat_AsDouble(number) == static_cast<double>(as_float);
}

// plain_dot(a, b, out, alpha, beta, bias, relu): what dot() returns then, or NotImplemented: dot() has to look closer.
PyObject* plain_dot(PyObject* /*module*/, PyObject* const* args, Py_ssize_t count) {
  constexpr Py_ssize_t kArguments = 7;
  Tensor* a = nullptr;
  Tensor* b = nullptr;
  Tensor* out = nullptr;
  Tensor* bias = nullptr;
  GemmOptions options;
  try {
    if (count != kArguments || !tensor_or_none(args[0], &a) || !tensor_or_none(args[1], &b) ||
        !tensor_or_none(args[2], &out) || !plain_number(args[3], &options.alpha) ||
        !plain_number(args[4], &options.beta) || !tensor_or_none(args[5], &bias) || PyBool_Check(args[6]) == 0 ||
        a == nullptr || b == nullptr) {
      Py_RETURN_NOTIMPLEMENTED;
    }
    options.bias = bias;
    options.relu = args[6] == Py_True;
    if (wide(a->dtype()) && !(is_exact(args[3], options.alpha) && is_exact(args[4], options.beta))) {
      Py_RETURN_NOTIMPLEMENTED;
    }
    const bool bare = bias == nullptr && !options.relu && options.alpha == 1.0F && options.beta == 0.0F;
    const bool matrices = a->ndim() == 2 && b->ndim() == 2;
    if (bare && (!matrices || !multiplies(a->dtype(), b->dtype()))) Py_RETURN_NOTIMPLEMENTED;
    if (out == nullptr && bare && matrices) return product_of(*a, *b).release().ptr();
    if (out == nullptr) {
      return result_of([&] {
               const GilRelease release;
               return dot(*a, *b, options);
             }())
          .release()
          .ptr();
    }
    before_write(*out);
    const GilRelease release;
    gemm(*a, *b, *out, options);
  } catch (...) {
    return raise_caught();
  }
  Py_INCREF(args[2]);
  return args[2];
}
// plain_reduce(name, x, axis, keepdims): the reduction along one axis or, for None, all, or NotImplemented: a closer look
// is needed, or what it says why it is refused.
PyObject* plain_reduce(PyObject* /*module*/, PyObject* const* args, Py_ssize_t count) {
  constexpr Py_ssize_t kArguments = 4;
  if (count != kArguments || PyUnicode_Check(args[0]) == 0 || PyBool_Check(args[3]) == 0 ||
      (Py_TYPE(args[1]) != lazy_slots && Py_TYPE(args[1]) != tensor_slots)) {
    Py_RETURN_NOTIMPLEMENTED;
  }
  std::vector<int> axes;
  if (args[2] != Py_None) {
    int past = 0;
    const long axis = PyLong_CheckExact(args[2]) != 0 ? PyLong_AsLongAndOverflow(args[2], &past) : kNoAxis;
    if (past != 0 || axis <= kNoAxis || axis >= -kNoAxis) Py_RETURN_NOTIMPLEMENTED;
    axes.push_back(static_cast<int>(axis));
  }
  try {
    Py_ssize_t length = 0;
    const char* name = PyUnicode_AsUTF8AndSize(args[0], &length);
    const Reduction op = reduction_from({name, static_cast<std::size_t>(length)});
    return lazy(reduce(op, plain_expr(args[1]), axes, args[3] == Py_True)).release().ptr();
  } catch (const InvalidArgument&) {
    Py_RETURN_NOTIMPLEMENTED;
  } catch (const TypeError&) {
    Py_RETURN_NOTIMPLEMENTED;
  } catch (...) {
    return raise_caught();
  }
}
PyMethodDef plain_reduce_method = {
    "plain_reduce", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(plain_reduce)), METH_FASTCALL, nullptr};

PyMethodDef plain_dot_method = {"plain_dot", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(plain_dot)),
                                METH_FASTCALL, nullptr};

void install(PyTypeObject* type) {
  type->tp_as_number->nb_add = binary<ExprOp::add, 0>;
  type->tp_as_number->nb_subtract = binary<ExprOp::subtract, 1>;
  type->tp_as_number->nb_multiply = binary<ExprOp::multiply, 2>;
  type->tp_as_number->nb_matrix_multiply = matmul_slot;
  type->tp_as_number->nb_true_divide = binary<ExprOp::divide, 3>;
  type->tp_as_mapping->mp_ass_subscript = assign_item;
}

}  // namespace

PyObject* raise_caught() {
  caught = std::current_exception();
  if (caught == nullptr) sleep_forever();  // no exception: Python ends this thread
  return PyObject_CallNoArgs(rethrow_function);
}

void bind_fast_slots(py::module_& m) {
  tensor_slots = reinterpret_cast<PyTypeObject*>(m.attr("GPUTensor").ptr());
  lazy_slots = reinterpret_cast<PyTypeObject*>(m.attr("Expression").ptr());
  m.def("raise_caught", [] { std::rethrow_exception(std::exchange(caught, nullptr)); });
  rethrow_function = m.attr("raise_caught").cast<py::object>().release().ptr();
  ordinary_assign = tensor_slots->tp_as_mapping->mp_ass_subscript;
  install(tensor_slots);
  install(lazy_slots);
  bind_number_slots();
  m.attr("plain_reduce") = py::reinterpret_steal<py::object>(PyCFunction_New(&plain_reduce_method, nullptr));
  m.attr("plain_dot") = py::reinterpret_steal<py::object>(PyCFunction_New(&plain_dot_method, nullptr));
}

}  // namespace nervanagpu::python
