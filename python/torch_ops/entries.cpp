// torch.ops.nervanagpu's operators as torch enters them (library.py), with the arguments of their schemas. In front of a kernel
// that is Python's each costs a host about 1 us, not the 5 to 15 that the kernel takes to hand on what it is given.
#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "python/torch_ops/convolution.h"
#include "python/torch_ops/from_python.h"
#include "python/torch_ops/pooling.h"
#include "python/torch_ops/products.h"
#include "python/torch_ops/rounding.h"

namespace nervanagpu::python::torch {
namespace {

using Int = std::int64_t;

// --- names --------------------------------------------------------------------------------------------------------------

std::string_view text(PyObject* object) {
  Py_ssize_t length = 0;
  const char* const out = PyUnicode_Check(object) != 0 ? PyUnicode_AsUTF8AndSize(object, &length) : nullptr;
  if (out != nullptr) return {out, static_cast<std::size_t>(length)};
  PyErr_Clear();
  throw NotHere();
}

struct PrecisionNumber {
  Int value;
  static PrecisionNumber read(PyObject* object) {
    if (object == nullptr || object == Py_None) return {-1};
    const std::string_view name = text(object);
    if (name != "strict" && name != "tensor") throw NotHere();
    return {name == "tensor" ? 1 : 0};
  }
};

struct ActivationNumber {
  Int value;
  static ActivationNumber read(PyObject* object) {
    const auto row = activation_row(object == nullptr ? "none" : text(object));
    if (!row) throw NotHere();
    return {static_cast<Int>(row->activation)};
  }
};

// torch's dtypes that ours are, once ng_torch_entries() has them.
std::array<PyObject*, 3> float_dtypes{};

struct FloatNumber {
  Int value;
  static FloatNumber read(PyObject* object) {
    const auto* const found = std::find(float_dtypes.begin(), float_dtypes.end(), object);
    if (object == nullptr || found == float_dtypes.end()) throw NotHere();
    return {found - float_dtypes.begin()};
  }
};

// A number that is 0 unless it is said.
struct OrZero {
  Int value;
  static OrZero read(PyObject* object) { return {object == nullptr ? 0 : torch::read<Int>(object)}; }
};

// --- operators, with the arguments of their schemas ---------------------------------------------------------------------

Array own_mm(const Array& a, const Array& b, PrecisionNumber precision) {
  return mm(a, b, precision.value);
}

Array own_bmm(const Array& a, const Array& b, PrecisionNumber precision) {
  return bmm(a, b, precision.value);
}

Array own_addmm(const Array& bias, const Array& a, const Array& b, double beta, double alpha,
                PrecisionNumber precision) {
  return addmm(bias, a, b, beta, alpha, precision.value);
}

Array own_linear(const Array& x, const Array& weight, const std::optional<Array>& bias, ActivationNumber activation,
                 PrecisionNumber precision) {
  return linear(x, weight, bias, activation.value, precision.value);
}

// A number for each axis.
Triple each(const Ints& list, Int axes, Int least, Int missing) {
  if (axes < 1 || axes > 3 || list.count != static_cast<std::size_t>(axes)) throw NotHere();
  return triple(list, axes, least, missing);
}

Geometry geometry_of(Int axes, const Ints& stride, const Ints& padding, const Ints& dilation, Int groups) {
  return {each(stride, axes, 1, 1), each(padding, axes, 0, 0), each(dilation, axes, 1, 1), groups};
}

PerAxis shape(const Ints& list) {
  return {list.at.data(), list.at.data() + list.count};
}

Array own_convolution(const Array& x, const Array& weight, const std::optional<Array>& bias, const Ints& stride,
                      const Ints& padding, const Ints& dilation, Int groups, ActivationNumber activation) {
  const Geometry g = geometry_of(weight.axes() - 2, stride, padding, dilation, groups);
  return convolve(x, weight, bias ? &*bias : nullptr, g, activation.value);
}

Array own_convolution_input(const Array& grad, const Array& weight, const Ints& size, const Ints& stride,
                            const Ints& padding, const Ints& dilation, Int groups) {
  const Geometry g = geometry_of(weight.axes() - 2, stride, padding, dilation, groups);
  if (grad.axes() != weight.axes()) throw NotHere();
  return gradient_of_input(grad, weight, shape(size), g, any_channels_last({&grad, &weight}));
}

Array own_convolution_weight(const Array& grad, const Array& x, const Ints& size, const Ints& stride,
                             const Ints& padding, const Ints& dilation, Int groups) {
  const Geometry g = geometry_of(x.axes() - 2, stride, padding, dilation, groups);
  if (grad.axes() != x.axes()) throw NotHere();
  return gradient_of_filter(grad, x, shape(size), g, any_channels_last({&grad, &x}));
}

Windows windows_of(const Array& x, const Ints& kernel, const Ints& stride, const Ints& padding) {
  const Int axes = x.axes() - 2;
  return {each(kernel, axes, 1, 1), each(stride, axes, 1, 1), each(padding, axes, 0, 0)};
}

Array own_max_pool(const Array& x, const Ints& kernel, const Ints& stride, const Ints& padding) {
  return pool(PoolOp::max, x, windows_of(x, kernel, stride, padding), false);
}

Array own_max_pool_backward(const Array& grad, const Array& x, const Ints& kernel, const Ints& stride,
                            const Ints& padding) {
  return pool_gradient(PoolOp::max, grad, x, windows_of(x, kernel, stride, padding), false);
}

Array own_avg_pool(const Array& x, const Ints& kernel, const Ints& stride, const Ints& padding, Count count) {
  return pool(PoolOp::avg, x, windows_of(x, kernel, stride, padding), count.value);
}

Array own_avg_pool_backward(const Array& grad, const Array& x, const Ints& kernel, const Ints& stride,
                            const Ints& padding, Count count) {
  return pool_gradient(PoolOp::avg, grad, x, windows_of(x, kernel, stride, padding), count.value);
}

std::vector<Array> own_grouped_mm(const std::vector<Array>& a, const std::vector<Array>& b, PrecisionNumber precision) {
  return grouped_mm(a, b, precision.value);
}

Array own_stochastic_round(const Array& x, FloatNumber dtype, Int seed, OrZero offset, OrZero bits) {
  return stochastic_round(x, dtype.value, seed, offset.value, bits.value);
}

// --- their entries ------------------------------------------------------------------------------------------------------

struct OwnEntry {
  Entry entry;
  Py_ssize_t tensors;  // how many stand in front, or lists of them; None among them is one that is not there
};

constexpr std::array kEntries{
    OwnEntry{{"mm", attempt<own_mm>, 2, {"precision"}}, 2},
    OwnEntry{{"bmm", attempt<own_bmm>, 2, {"precision"}}, 2},
    OwnEntry{{"addmm", attempt<own_addmm>, 3, {"beta", "alpha", "precision"}}, 3},
    OwnEntry{{"linear", attempt<own_linear>, 3, {"activation", "precision"}}, 3},
    OwnEntry{{"convolution", attempt<own_convolution>, 7, {"activation"}}, 3},
    OwnEntry{{"convolution_input", attempt<own_convolution_input>, 7, {}}, 2},
    OwnEntry{{"convolution_weight", attempt<own_convolution_weight>, 7, {}}, 2},
    OwnEntry{{"max_pool", attempt<own_max_pool>, 4, {}}, 1},
    OwnEntry{{"max_pool_backward", attempt<own_max_pool_backward>, 5, {}}, 2},
    OwnEntry{{"avg_pool", attempt<own_avg_pool>, 5, {}}, 1},
    OwnEntry{{"avg_pool_backward", attempt<own_avg_pool_backward>, 6, {}}, 2},
    OwnEntry{{"grouped_mm", attempt<own_grouped_mm>, 2, {"precision"}}, 2},
    OwnEntry{{"stochastic_round", attempt<own_stochastic_round>, 5, {}}, 1},
};

// What an entry of autograd asks first.
struct Autograd {
  std::uint64_t strange = 0;                    // keys of what no kernel of ours takes as it is
  PyObject* forward_ad = nullptr;               // torch's module
  PyObject *level = nullptr, *wants = nullptr;  // names of its attribute, and of a tensor's
};

Autograd autograd;

// An error is no "no".
bool is_level(PyObject* number) {
  const long out = number == nullptr ? 0 : PyLong_AsLong(number);
  Py_XDECREF(number);
  if (PyErr_Occurred() != nullptr) PyErr_Clear();
  return out >= 0;
}

bool wants_gradient(PyObject* tensor) {
  if (tensor == Py_None) return false;
  if (PyList_Check(tensor) != 0) {
    Py_ssize_t i = 0;
    while (i < PyList_Size(tensor) && !wants_gradient(PyList_GetItem(tensor, i))) ++i;
    return i < PyList_Size(tensor);
  }
  PyObject* const answer = PyObject_GetAttr(tensor, autograd.wants);
  if (answer == nullptr) PyErr_Clear();
  const bool out = answer != Py_False;
  Py_XDECREF(answer);
  return out;
}

// Whether a derivative is wanted of the result.
bool is_recorded(PyObject* const* tensors, Py_ssize_t count) {
  if (is_level(PyObject_GetAttr(autograd.forward_ad, autograd.level))) return true;
  return shim().grad_mode_is_enabled() && std::any_of(tensors, tensors + count, wants_gradient);
}

// Of a device's tensors: (*arguments).
template <std::size_t i>
PyObject* of_device(PyObject* other, PyObject* const* all, Py_ssize_t count, PyObject* keywords) {
  const Given given{all, count, keywords, 0};
  PyObject* const out = attempted(kEntries[i].entry, given);
  return out != nullptr ? out : handed_on(other, given);
}

// Of autograd: (keyset, *arguments).
template <std::size_t i>
PyObject* of_autograd(PyObject* other, PyObject* const* all, Py_ssize_t count, PyObject* keywords) {
  const Given given{all, count, keywords, 1};
  const Py_ssize_t tensors = std::min(kEntries[i].tensors, count - 1);  // the last may be left out
  if (count > 0 && !has_keys(all[0], autograd.strange) && !is_recorded(all + 1, tensors)) {
    if (PyObject* const out = attempted(kEntries[i].entry, given); out != nullptr) return out;
  }
  return handed_on(other, given);
}

using Methods = std::array<PyMethodDef, kEntries.size()>;

template <std::size_t... i>
std::array<Methods, 2> both_methods(std::index_sequence<i...> /*unused*/) {
  return {Methods{method(kEntries[i].entry.name, of_device<i>)...},
          Methods{method(kEntries[i].entry.name, of_autograd<i>)...}};
}

std::array<Methods, 2> entry_methods = both_methods(std::make_index_sequence<kEntries.size()>());

}  // namespace
}  // namespace nervanagpu::python::torch

// What native.py calls, in Python's lock.

// Once, before any entry: keys that are not for those of autograd, torch.autograd.forward_ad, and a tuple of float32, float16
// and bfloat16.
extern "C" __attribute__((visibility("default"))) void ng_torch_entries(std::uint64_t strange_keys,
                                                                        PyObject* forward_ad, PyObject* floats) {
  using namespace nervanagpu::python::torch;  // NOLINT(google-build-using-namespace)
  for (std::size_t i = 0; i < float_dtypes.size(); ++i) {
    float_dtypes[i] = Py_NewRef(PyTuple_GetItem(floats, static_cast<Py_ssize_t>(i)));
  }
  autograd = {strange_keys, Py_NewRef(forward_ad), PyUnicode_InternFromString("_current_level"),
              PyUnicode_InternFromString("requires_grad")};
}

// The operator `name` of plain tensors as a kernel of torch's, which hands on to `other`, of the same arguments, what is not
// usual. of_autograd: after a set of keys, and where no derivative is wanted. None: there is none here, or this torch lacks
// what it wants.
extern "C" __attribute__((visibility("default"))) PyObject* ng_torch_entry(const char* name, int of_autograd,
                                                                           PyObject* other) {
  using namespace nervanagpu::python::torch;  // NOLINT(google-build-using-namespace)
  const auto* const found =
      std::find_if(kEntries.begin(), kEntries.end(), [&](const OwnEntry& o) { return o.entry.name == name; });
  if (found == kEntries.end() || !shim().python) return Py_NewRef(Py_None);
  return PyCFunction_NewEx(&entry_methods[of_autograd][static_cast<std::size_t>(found - kEntries.begin())], other,
                           nullptr);
}
