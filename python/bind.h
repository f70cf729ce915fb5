// The parts of the module nervanagpu._core, one file each.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "nervanagpu/nervanagpu.hpp"
#include "python/casters.h"
#include "python/gil.h"
#include "python/options.h"

namespace nervanagpu::python {

namespace py = pybind11;

// An expression as Python sees it: a GPUTensor that gets its memory when somebody wants its elements.
struct Lazy : Tensor {
  explicit Lazy(Expr e) : Tensor(Later{}), expr(std::move(e)) {}
  void force() {
    if (!forced) static_cast<Tensor&>(*this) = expr.evaluate();
    forced = true;
  }
  // Without axes it is a number, as NumPy's scalars are: what is done to it gives another one.
  [[nodiscard]] bool number() const { return expr.shape().empty(); }
  // One element of a tensor, a number.
  static Lazy element(const Tensor& place) {
    Lazy l(Expr::now(place));
    l.taken = true;
    return l;
  }
  Expr expr;
  bool forced = false;
  bool taken = false;  // by x[i]
};

// Whether a dtype is one of integers.
inline bool is_whole(Dtype d) {
  switch (d) {
    case Dtype::int8:
    case Dtype::int16:
    case Dtype::int32:
    case Dtype::int64:
    case Dtype::uint8:
    case Dtype::uint16:
    case Dtype::uint32:
    case Dtype::uint64: return true;
    default: return false;
  }
}

// The Lazy after `h` that has not been evaluated; nullptr: it is none.
Lazy* lazy_of(const py::handle& h);

void bind_errors(py::module_& m);
void bind_device(py::module_& m);
void bind_memory(py::module_& m);
void bind_stream(py::module_& m);
void bind_tensor(py::module_& m);
void bind_toolchain(py::module_& m);
void bind_tensor_map(py::module_& m);
void bind_texture(py::module_& m);
void bind_dlpack(py::module_& m);
void bind_expr(py::module_& m);
void bind_fast_slots(py::module_& m);  // after GPUTensor has all its operators
void bind_gemm(py::module_& m);
void bind_pieces(py::module_& m);
void bind_gemm_plan(py::module_& m);
void bind_conv(py::module_& m);
void bind_conv_pool(py::module_& m);
void bind_conv_plan(py::module_& m);
void bind_nn(py::module_& m);
void bind_pool(py::module_& m);
void bind_pool_plan(py::module_& m);
void bind_layers(py::module_& m);
void bind_xla(py::module_& m);
// Last: from then on, arguments that a function of the module cannot take are refused in our words.
void bind_arguments(py::module_& m);

// A Python or NumPy number, exactly. Throws TypeError naming `what` for anything else.
Scalar scalar_from(const py::handle& number, const char* what);
// An operand of an expression: a tensor, a number, or what numpy.asarray understands.
Expr expr_from(const py::handle& h);
// The value as it is to be written to `out`: rounded stochastically to out.rounding() bits if that is not 0, and one of its
// elements goes to each of out's.
Expr rounded_into(const Tensor& out, const Expr& value);
// `e` as a GPUTensor that is evaluated later.
py::object lazy(Expr e);
// The same of an operation of a and b, whose expressions are `operands`.
py::object applied(ExprOp op, std::span<const Expr> operands, const py::handle& a, const py::handle& b);
// A result that was computed: a tensor, and without axes a number as x[i] is.
py::object result_of(Tensor t);
// Shows a tensor that was computed or written to who wants to see it (set_result_check).
void check_result(const py::object& tensor);
bool checks_results();

// As operator.index has it: NumPy's integers too, no floats. `what`: what the message calls it.
std::int64_t integer_from(const py::handle& h, const std::string& what);

// NumPy's dtype <-> ours. Throws TypeError for one that tensors cannot hold.
py::dtype numpy_dtype(Dtype dtype);
Dtype dtype_from(const py::object& dtype);
// bool, unsigned, signed, float, complex: as NumPy's same_kind has them, which allows the way up.
int kind_rank(Dtype d);
// Warns (ComplexWarning) that a dtype of real numbers keeps no imaginary parts; bool loses none.
void warn_of_lost_parts(const std::string& from, Dtype to);
// An array of any contents. Throws OutOfMemory, also for a size that no memory has.
py::array host_array(Dtype dtype, const Shape& shape);
// What .dtype shows: numpy_dtype, or the word "bfloat16" where ml_dtypes, whose type it is, is not installed.
py::object dtype_object(Dtype dtype);

// An int or a sequence of ints. Throws TypeError otherwise.
Shape shape_from(const py::object& shape);

// The argument of a planned launch as it is; an expression is evaluated. Throws TypeError for what is no tensor.
const Tensor& planned_tensor(const char* plan, const char* name, const py::handle& h);

// t.shape = shape. AttributeError where the elements have no steps as that shape.
void set_shape(Tensor& t, const py::object& shape);
void set_dtype(const py::object& tensor, const py::object& dtype);

// self[key]: ints, slices, ... and None, as NumPy's basic indexing.
Tensor index(const Tensor& t, const py::object& key);

// The ordinal that an ordinal, a name ("cuda:1") or a device of ours says. ValueError or TypeError for what is none.
int device_from(const py::object& which);
// The device of the first tensor among arguments, also in a list or tuple; -1: there is none.
int device_among(PyObject* const* args, Py_ssize_t count);

// What the products of matrices have in common; `bias` must outlive it.
GemmOptions gemm_options(float alpha, float beta, const std::optional<Tensor>& bias, bool relu, bool relu_first,
                         const Rounding& rounding, std::int64_t splits, bool tensor_cores);
// "strict" or "tensor"; None: what holds in this thread.
Precision precision_from(const std::optional<std::string>& name);
// And what comes last: `activation` is "none", "relu", "tanh", ...; `scale` and `mask` must outlive the options.
// op: for messages.
GemmActivation activation_from(const char* op, const std::string& name);
void finish_by(GemmOptions& options, const std::string& activation, const std::pair<float, float>& clip,
               const std::optional<Tensor>& scale, const std::optional<Tensor>& mask);
// a @ b; of two matrices an expression. Dtypes that no kernel of products takes go by way of nervanagpu.linalg.product.
py::object product_of(const Tensor& a, const Tensor& b);
// Whether there are kernels for products of these.
bool multiplies(Dtype a, Dtype b);
bool wide(Dtype d);
// Sums of rows and columns, and their largest magnitudes, in that order; they must outlive the options.
using Sums = std::array<std::optional<Tensor>, 4>;
void sum_up(GemmOptions& options, const Sums& sums);

// The stream that None or a Stream names.
Stream stream_from(const py::object& stream);
void wait_for(const py::object& stream);  // for its work; None: for nothing
// The array by rows as `order` wants it, or written to `out` (nervanagpu.arrays.layout).
py::object on_host(const py::array& array, const py::object& order, const py::object& out);

}  // namespace nervanagpu::python

// Whatever takes a tensor takes an expression, and evaluates it.
template <>
struct pybind11::detail::type_caster<nervanagpu::Tensor> : type_caster_base<nervanagpu::Tensor> {
  bool load(handle src, bool convert) {
    if (!type_caster_base<nervanagpu::Tensor>::load(src, convert)) return false;
    if (nervanagpu::python::Lazy* l = nervanagpu::python::lazy_of(src)) l->force();
    return true;
  }
};
