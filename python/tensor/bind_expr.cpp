// Lazy expressions: operators, functions, in-place operators.
#include <pybind11/stl.h>

#include <algorithm>
#include <map>
#include <utility>

#include "nervanagpu/indexing.hpp"
#include "python/bind.h"
#include "python/to_python.h"

namespace nervanagpu::python {
namespace {

PyTypeObject* lazy_type = nullptr;
PyTypeObject* tensor_type = nullptr;
PyObject* numpy_generic = nullptr;
PyObject* result_check = nullptr;     // a callable, or nothing
PyObject* operation_check = nullptr;  // the same

// A NumPy scalar or array: with its dtype.
Expr strong(const py::handle& h) {
  const py::module_ numpy = py::module_::import("numpy");
  py::array array = numpy.attr("ascontiguousarray")(h);
  if (const char order = array.dtype().byteorder(); order != '=' && order != '|') {  // of bytes: the other one
    array = array.attr("astype")(array.dtype().attr("newbyteorder")("="));
  }
  Tensor t = Tensor::empty(Shape(array.shape(), array.shape() + array.ndim()), dtype_from(array.dtype()));
  t.set(array.data(), t.nbytes());
  return t.reshape(h.attr("shape").cast<Shape>());
}

const std::map<std::string, ExprOp>& ops() {
  static const auto& all = *new std::map<std::string, ExprOp>{
#define NG_OP(name, operands, rule) {#name, ExprOp::name},
#include "nervanagpu/expr_ops.inc"
#undef NG_OP
  };
  return all;
}

// What is no operation of one kernel, but of a number's parts.
const std::map<std::string, Expr (*)(const Expr&)>& parts() {
  static const auto& all = *new std::map<std::string, Expr (*)(const Expr&)>{
      {"real", &real}, {"imag", &imag}, {"conjugate", &conjugate}, {"angle", &angle}};
  return all;
}

bool is_list(const py::handle& h) {
  return PyList_Check(h.ptr()) != 0 || PyTuple_Check(h.ptr()) != 0;
}

// A range, a buffer, what has __array__: NumPy makes an array of it.
bool asks_numpy(const char* question, const py::handle& h) {
  return in_python([&] { return py::module_::import("nervanagpu.calls.arguments").attr(question)(h); }).cast<bool>();
}

bool is_operand(const py::handle& h) {
  return PyFloat_Check(h.ptr()) != 0 || PyLong_Check(h.ptr()) != 0 || PyComplex_Check(h.ptr()) != 0 ||
         PyObject_TypeCheck(h.ptr(), tensor_type) != 0 || py::isinstance<py::array>(h) || is_list(h) ||
         PyObject_IsInstance(h.ptr(), numpy_generic) == 1 || asks_numpy("is_operand", h);
}

bool is_whole_or_bool(Dtype d) {
  return is_whole(d) || d == Dtype::boolean;
}

// Integers to the power of integers, but for squares, which have an operation: products.
std::optional<Expr> integer_power(ExprOp op, const Expr& a, const Expr& b, const py::object& x, const py::object& y) {
  if (op != ExprOp::power || !is_whole_or_bool(a.dtype()) || !is_whole_or_bool(b.dtype())) return std::nullopt;
  if (a.dtype() != Dtype::boolean && PyLong_CheckExact(y.ptr()) != 0 && y.equal(py::int_(2))) return std::nullopt;
  return expr_from(
      in_python([&] { return py::module_::import("nervanagpu.math.elementwise").attr("integer_power")(x, y); }));
}

// Tells the watcher (set_operation_check) of what a statement computes.
void check_operation(ExprOp op, const py::handle& a, const py::handle& b, const Expr& result) {
  in_python(
      [&] { return py::reinterpret_borrow<py::object>(operation_check)(name_of(op), a, b, py::cast(Lazy(result))); });
}

// What is no number at all, and so equal to none.
bool is_no_number(const py::handle& h) {
  return h.is_none() || PyUnicode_Check(h.ptr()) != 0 || PyBytes_Check(h.ptr()) != 0;
}

py::object binary(ExprOp op, const py::object& a, const py::object& b) {
  if ((op == ExprOp::equal || op == ExprOp::not_equal) && is_no_number(b)) {
    return py::cast(Tensor::full(expr_from(a).shape(), op == ExprOp::not_equal, Dtype::boolean));
  }
  if (!is_operand(a) || !is_operand(b)) return py::reinterpret_borrow<py::object>(Py_NotImplemented);
  const Expr operands[] = {expr_from(a), expr_from(b)};
  if (const auto power = integer_power(op, operands[0], operands[1], a, b)) return lazy(*power);
  return applied(op, operands, a, b);
}

// The tensor's elements change when somebody needs them (assign_later).
py::object in_place(ExprOp op, const py::object& self, const py::object& b) {
  if (!is_operand(b)) return py::reinterpret_borrow<py::object>(Py_NotImplemented);
  // s += 1 makes another number, and other names of s keep theirs.
  if (const Lazy* l = lazy_of(self); l != nullptr && l->number()) return binary(op, self, b);
  const Expr operands[] = {expr_from(self), expr_from(b)};
  const auto target = self.cast<Tensor>();
  const auto power = integer_power(op, operands[0], operands[1], self, b);
  const Expr exact = power ? *power : nervanagpu::apply(op, operands);
  if (operation_check != nullptr) check_operation(op, self, b, exact);
  const Expr result = rounded_into(target, exact);
  {
    const GilRelease release;
    if (can_evaluate() && result_check == nullptr) {
      assign_later(target, result);
    } else {
      assign(target, result);
    }
  }
  check_result(self);
  return self;
}

template <class Class>
void bind_operators(Class& c) {
  static constexpr struct {
    const char* name;
    ExprOp op;
  } kBinary[] = {{"add", ExprOp::add},        {"sub", ExprOp::subtract},      {"mul", ExprOp::multiply},
                 {"truediv", ExprOp::divide}, {"pow", ExprOp::power},         {"and", ExprOp::bitwise_and},
                 {"or", ExprOp::bitwise_or},  {"xor", ExprOp::bitwise_xor},   {"floordiv", ExprOp::floor_divide},
                 {"mod", ExprOp::remainder},  {"lshift", ExprOp::left_shift}, {"rshift", ExprOp::right_shift}};
  for (const auto& [name, op] : kBinary) {
    const std::string n = name;
    c.def(("__" + n + "__").c_str(), [op = op](const py::object& a, const py::object& b) { return binary(op, a, b); });
    c.def(("__r" + n + "__").c_str(), [op = op](const py::object& a, const py::object& b) { return binary(op, b, a); });
    c.def(("__i" + n + "__").c_str(),
          [op = op](const py::object& a, const py::object& b) { return in_place(op, a, b); });
  }
  static constexpr struct {
    const char* name;
    ExprOp op;
  } kCompare[] = {{"__eq__", ExprOp::equal},      {"__ne__", ExprOp::not_equal}, {"__lt__", ExprOp::less},
                  {"__le__", ExprOp::less_equal}, {"__gt__", ExprOp::greater},   {"__ge__", ExprOp::greater_equal}};
  for (const auto& [name, op] : kCompare) {
    c.def(name, [op = op](const py::object& a, const py::object& b) { return binary(op, a, b); });
  }
  static constexpr struct {
    const char* name;
    ExprOp op;
  } kUnary[] = {{"__pos__", ExprOp::positive},
                {"__neg__", ExprOp::negative},
                {"__abs__", ExprOp::absolute},
                {"__invert__", ExprOp::invert}};
  for (const auto& [name, op] : kUnary) {
    c.def(name, [op = op](const py::object& a) {
      const Expr x = expr_from(a);
      return lazy(nervanagpu::apply(op, std::span(&x, 1)));
    });
  }
  c.def("__divmod__", [](const py::object& a, const py::object& b) {
    const py::object quotient = binary(ExprOp::floor_divide, a, b);  // its errors come first
    return py::make_tuple(quotient, binary(ExprOp::remainder, a, b));
  });
  c.def("__rdivmod__", [](const py::object& a, const py::object& b) {
    const py::object quotient = binary(ExprOp::floor_divide, b, a);
    return py::make_tuple(quotient, binary(ExprOp::remainder, b, a));
  });
  c.def("__bool__", [](const Tensor& t) {
    if (t.size() != 1) {
      throw InvalidArgument("the truth of " + std::to_string(t.size()) + " elements is ambiguous; use any() or all()");
    }
    return py::module_::import("builtins").attr("bool")(py::cast(t).attr("item")());
  });
}

}  // namespace

Reduction reduction_from(std::string_view name) {
  for (int i = 0; i <= static_cast<int>(Reduction::prod); ++i) {
    if (name == name_of(static_cast<Reduction>(i))) return static_cast<Reduction>(i);
  }
  throw InvalidArgument("there is no reduction '" + std::string(name) + "'");
}

Lazy* lazy_of(const py::handle& h) {
  if (lazy_type == nullptr || Py_TYPE(h.ptr()) != lazy_type) return nullptr;
  return h.cast<Lazy*>();
}

py::object lazy(Expr e) {
  auto made = std::make_unique<Lazy>(std::move(e));
  py::object out = py::cast(made.get(), py::return_value_policy::take_ownership);
  static_cast<void>(made.release());
  check_result(out);
  return out;
}

py::object applied(ExprOp op, std::span<const Expr> operands, const py::handle& a, const py::handle& b) {
  Expr made = nervanagpu::apply(op, operands);
  if (operation_check != nullptr) check_operation(op, a, b, made);
  return lazy(std::move(made));
}

py::object result_of(Tensor t) {
  if (t.ndim() == 0) return lazy(Expr(t));
  py::object out = py::cast(std::move(t));
  check_result(out);
  return out;
}

bool checks_results() {
  return result_check != nullptr;
}

void check_result(const py::object& tensor) {
  if (result_check != nullptr) in_python([&] { py::reinterpret_borrow<py::object>(result_check)(tensor); });
}

Expr rounded_into(const Tensor& out, const Expr& value) {
  const bool rounds = out.dtype() == Dtype::float16 || out.dtype() == Dtype::bfloat16 || out.dtype() == Dtype::float32;
  if (out.rounding() == 0 || !rounds || value.shape() != out.shape()) return value;
  const py::object place =
      in_python([&] { return py::module_::import("nervanagpu.random").attr("_take")(out.size()); });
  const auto [seed, offset] = place.cast<std::pair<std::uint64_t, std::uint64_t>>();
  return round(value, out.dtype(), {true, seed, offset, std::min(out.rounding(), most_bits(out.dtype()))});
}

Expr expr_from(const py::handle& h) {
  if (Lazy* l = lazy_of(h)) return l->expr;
  if (PyObject_TypeCheck(h.ptr(), tensor_type) != 0) return h.cast<const Tensor&>();
  if (PyBool_Check(h.ptr()) != 0) return h.ptr() == Py_True;
  if (PyFloat_CheckExact(h.ptr()) != 0) return PyFloat_AS_DOUBLE(h.ptr());
  if (PyLong_Check(h.ptr()) != 0 || PyComplex_CheckExact(h.ptr()) != 0) return Expr(scalar_from(h, "operand"));
  const bool plain = Py_TYPE(h.ptr()) == py::detail::npy_api::get().PyArray_Type_;
  if (plain || PyObject_IsInstance(h.ptr(), numpy_generic) == 1) return strong(h);  // others may have masks
  if (is_list(h) || asks_numpy("is_array_like", h)) {
    return strong(
        in_python([&] { return py::module_::import("nervanagpu.calls.arguments").attr("host_array")("operand", h); }));
  }
  const py::object name =
      in_python([&] { return py::module_::import("nervanagpu.calls.refusals").attr("operand_name")(h); });
  throw TypeError(std::string(py::str(name)) + " is " + std::string(py::str(py::type::of(h).attr("__name__"))) +
                  "; needs a GPUTensor, a number, a list or a NumPy array");
}

void bind_expr(py::module_& m) {
  auto tensor = py::class_<Tensor>(m.attr("GPUTensor"));
  tensor_type = reinterpret_cast<PyTypeObject*>(tensor.ptr());
  numpy_generic = py::module_::import("numpy").attr("generic").cast<py::object>().release().ptr();
  const py::object hash = py::module_::import("builtins").attr("object").attr("__hash__");
  bind_operators(tensor);
  tensor.attr("__hash__") = hash;  // by identity: == makes a tensor

  py::class_<Lazy, Tensor> c(m, "Expression", "A GPUTensor whose elements are computed when they are wanted.");
  lazy_type = reinterpret_cast<PyTypeObject*>(c.ptr());
  c.def_property("shape", py::cpp_function([](const Lazy& l) { return tuple_of(l.expr.shape()); }, py::is_method(c)),
                 py::cpp_function(
                     [](Lazy& l, const py::object& shape) {
                       l.force();
                       set_shape(l, shape);
                       l.expr = Expr(static_cast<const Tensor&>(l));
                     },
                     py::name("shape"), py::is_method(c), py::arg("value")));
  c.def_property("dtype",
                 py::cpp_function([](const Lazy& l) { return dtype_object(l.expr.dtype()); }, py::is_method(c)),
                 py::cpp_function(&set_dtype, py::name("dtype"), py::is_method(c), py::arg("value")));
  c.def_property_readonly("ndim", [](const Lazy& l) { return l.expr.shape().size(); });
  c.def_property_readonly("size", [](const Lazy& l) { return l.expr.size(); });
  c.def_property_readonly("nbytes", [](const Lazy& l) {  // more than 64 bits for what nobody can evaluate
    return py::int_(l.expr.size()) * py::int_(size_of(l.expr.dtype()));
  });
  c.def(
      "get",
      [](const Lazy& l, const py::object& stream, const py::object& order, const py::object& target,
         bool) -> py::object {
        wait_for(stream);
        const Expr e = l.expr;
        py::array out = host_array(e.dtype(), e.shape());
        void* data = out.mutable_data();
        const std::size_t bytes = static_cast<std::size_t>(e.size()) * size_of(e.dtype());
        {
          const GilRelease release;
          e.get(data, bytes);
        }
        return on_host(out, order, target);
      },
      py::arg("stream") = py::none(), py::arg("order") = py::str("C"), py::arg("out") = py::none(),
      py::arg("blocking") = true,
      "The elements as a NumPy array, as of other tensors. What stands in another's memory is not copied there.");
  c.def("__len__", [](const Lazy& l) {
    if (l.expr.shape().empty()) throw TypeError("a tensor without axes has no length");
    return l.expr.shape()[0];
  });
  c.attr("__module__") = "nervanagpu";
  // The very object gets the memory, shape and dtype of `other`; its name and rounding stay.
  m.def(
      "become",
      [](const py::object& self, Tensor other) {
        auto& t = self.cast<Tensor&>();
        other.set_name(t.name());
        other.set_rounding(t.rounding());
        t = std::move(other);
        if (PyObject_TypeCheck(self.ptr(), lazy_type) != 0) self.cast<Lazy&>().expr = Expr(t);
      },
      py::arg("tensor"), py::arg("other"));

  m.def("apply", [](const std::string& name, const py::args& args) {
    const auto op = ops().find(name);
    if (const auto part = parts().find(name); part != parts().end() && args.size() == 1) {
      return lazy(part->second(expr_from(args[0])));
    }
    if (op == ops().end()) throw InvalidArgument("there is no operation '" + name + "'");
    std::vector<Expr> operands;
    for (const py::handle h : args) operands.push_back(expr_from(h));
    return lazy(nervanagpu::apply(op->second, operands));
  });
  m.def("complex_from",
        [](const py::object& re, const py::object& im) { return lazy(complex_from(expr_from(re), expr_from(im))); });
  m.def("cast",
        [](const py::object& x, const py::object& dtype) { return lazy(cast(expr_from(x), dtype_from(dtype))); });
  // Where nobody else will see it: x itself, if that is what it is.
  m.def("as_dtype",
        [](const py::object& x, const py::object& dtype) { return lazy(as_dtype(expr_from(x), dtype_from(dtype))); });
  m.def("round", [](const py::object& x, const py::object& dtype, const Rounding& rounding) {
    return lazy(round(expr_from(x), dtype_from(dtype), rounding));
  });
  m.def("most_bits", [](const py::object& dtype) { return most_bits(dtype_from(dtype)); });
  // axes: None for all of them.
  m.def("reduce", [](const std::string& name, const py::object& x, const std::optional<std::vector<int>>& axes,
                     bool keepdims, int ddof) {
    const Reduction op = reduction_from(name);
    if (axes && axes->empty()) return lazy(reduce_each(op, expr_from(x), ddof));
    return lazy(reduce(op, expr_from(x), axes.value_or(std::vector<int>()), keepdims, ddof));
  });
  m.def("gather", [](const Tensor& from, const py::object& offset) {
    const Expr at = expr_from(offset);
    return result_of([&] {
      const GilRelease release;
      return gather(from, at);
    }());
  });
  m.def("number", [](const py::object& x) {
    if (lazy_of(x) != nullptr) return x;
    if (!py::isinstance<Tensor>(x)) throw TypeError("number: x is no tensor; needs GPUTensor");
    return result_of(x.cast<const Tensor&>());
  });
  m.def("scatter", [](const Tensor& to, const py::object& offset, const py::object& value, const std::string& how) {
    const Expr at = expr_from(offset), source = expr_from(value);
    const GilRelease release;
    scatter(to, at, source, how == "add" ? Scatter::add : how == "most" ? Scatter::most : Scatter::set);
  });
  m.def("cumsum", [](const py::object& x, int axis) {
    const Expr e = expr_from(x);
    const GilRelease release;
    return cumsum(e, axis);
  });
  // Rows along the last axis: the elements in order, their places, and both.
  m.def("sort", [](const Tensor& x, bool descending) {
    const GilRelease release;
    return sort(x, descending);
  });
  m.def("argsort", [](const Tensor& x, bool descending) {
    const GilRelease release;
    return argsort(x, descending);
  });
  m.def("sort_with_indices", [](const Tensor& x, bool descending) {
    Sorted s;
    {
      const GilRelease release;
      s = sort_with_indices(x, descending);
    }
    return py::make_tuple(s.values, s.indices);
  });
  m.def("random", [](const py::object& shape, std::uint64_t seed, std::uint64_t offset) {
    if (shape.is_none()) return py::cast(Lazy(random(seed, offset)));  // of no size yet
    return lazy(random(shape_from(shape), seed, offset));
  });
  m.def("assign", [](const Tensor& out, const py::object& value) {
    const Expr e = rounded_into(out, expr_from(value));
    {
      const GilRelease release;
      assign(out, e);
    }
    if (result_check != nullptr) check_result(py::cast(out));
  });
  m.def("set_result_check", [](const py::object& check) {
    Py_XDECREF(std::exchange(result_check, check.is_none() ? nullptr : check.inc_ref().ptr()));
  });
  m.def("set_operation_check", [](const py::object& check) {
    Py_XDECREF(std::exchange(operation_check, check.is_none() ? nullptr : check.inc_ref().ptr()));
  });
  m.def("evaluate", [](const py::args& args) {
    std::vector<Expr> all;
    for (const py::handle h : args) all.push_back(expr_from(h));
    const GilRelease release;
    evaluate(all);
  });
  m.def("explain", [](const py::object& x) { return explain(expr_from(x)); });
  m.def("launch_count", &launch_count);
  m.def("verify_generated", &verify_generated);
  m.def("compare_repeated", &compare_repeated);
}

}  // namespace nervanagpu::python
