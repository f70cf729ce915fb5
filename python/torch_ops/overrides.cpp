// aten's own operators as nervanagpu.torch.use enters them (override.py): what is usual runs here, and all else is handed on to
// what Python does.
#include <algorithm>
#include <array>
#include <atomic>
#include <optional>
#include <string_view>

#include "python/torch_ops/convolution.h"
#include "python/torch_ops/from_python.h"
#include "python/torch_ops/held.h"
#include "python/torch_ops/operators.h"
#include "python/torch_ops/pooling.h"
#include "python/torch_ops/products.h"

namespace nervanagpu::python::torch {
namespace {

using Int = std::int64_t;

// --- operators, with the arguments of aten's ----------------------------------------------------------------------------

using Two = std::array<Array, 2>;

Array aten_mm(const Array& a, const Array& b) {
  return mm(a, b, -1);
}

Array aten_bmm(const Array& a, const Array& b) {
  return bmm(a, b, -1);
}

Array aten_addmm(const Array& bias, const Array& a, const Array& b, double beta, double alpha) {
  return addmm(bias, a, b, beta, alpha, -1);
}

Geometry geometry(const Array& weight, const Ints& stride, const Ints& padding, const Ints& dilation, bool transposed,
                  Int groups) {
  const Int axes = weight.axes() - 2;
  if (transposed || axes < 1 || axes > 3) throw NotHere();
  return {triple(stride, axes, 1, 1), triple(padding, axes, 0, 0), triple(dilation, axes, 1, 1), groups};
}

Array aten_convolution(const Array& x, const Array& weight, const std::optional<Array>& bias, const Ints& stride,
                       const Ints& padding, const Ints& dilation, bool transposed, Ignored<Ints> /*output_padding*/,
                       Int groups) {
  const Geometry g = geometry(weight, stride, padding, dilation, transposed, groups);
  return convolve(x, weight, bias ? &*bias : nullptr, g, 0);
}

// Of all elements of each channel, by aten's own sum.
Array sum_of_channels(const Array& t) {
  if (t.elements() == 0) return zeroed(empty(t, {t.size(1)}));
  const Shim& s = shim();
  ListObject* axes = nullptr;
  TensorObject* handle = nullptr;
  Value* dim = nullptr;
  bool failed = s.new_list(4, &axes) != 0 || s.new_value(&dim) != 0 || s.new_handle(t.handle(), &handle) != 0;
  for (Int i = 0; i < t.axes() && !failed; ++i) failed = i != 1 && s.push(axes, static_cast<Value>(i)) != 0;
  if (failed) throw NotHere();
  *dim = reinterpret_cast<Value>(axes);
  // (Tensor self, int[1]? dim, bool keepdim, *, ScalarType? dtype), which are torch's then
  std::array<Value, 4> stack{reinterpret_cast<Value>(handle), reinterpret_cast<Value>(dim), 0, 0};
  if (s.dispatch("aten::sum", "dim_IntList", stack.data()) != 0) throw NotHere();
  return taken<Array>(stack[0]);
}

std::array<Array, 3> aten_convolution_backward(const Array& grad, const Array& x, const Array& weight,
                                               Ignored<std::optional<Ints>> /*bias_sizes*/, const Ints& stride,
                                               const Ints& padding, const Ints& dilation, bool transposed,
                                               Ignored<Ints> /*output_padding*/, Int groups, const Mask& mask) {
  if (mask.count != 3) throw NotHere();
  const Geometry g = geometry(weight, stride, padding, dilation, transposed, groups);
  const bool of_x = mask.at[0] != 0, of_weight = mask.at[1] != 0;
  std::array<Array, 3> out;
  if (of_x && of_weight) {
    auto [dx, dw] = both_gradients(grad, x, weight, g);
    out[0] = std::move(dx), out[1] = std::move(dw);
  } else {
    const bool last = any_channels_last({&x, &weight});
    if (of_x) out[0] = gradient_of_input(grad, weight, x.sizes(), g, last);
    if (of_weight) out[1] = gradient_of_filter(grad, x, weight.sizes(), g, last);
  }
  if (mask.at[2] != 0) out[2] = sum_of_channels(grad);
  return out;
}

// Of a batch, which alone may be empty. What the codes of a window's elements have room for.
Windows windows(const Array& x, Int axes, const Ints& kernel, const Ints& stride, const Ints& padding) {
  if (x.axes() != axes + 2) throw NotHere();
  for (Int i = 1; i < x.axes(); ++i) {
    if (x.size(i) == 0) throw NotHere();
  }
  if (!kernel.given) throw NotHere();
  const bool as_kernel = !stride.given || stride.count == 0;
  const Windows w{triple(kernel, axes, 1, 1), triple(as_kernel ? kernel : stride, axes, 1, 1),
                  triple(padding, axes, 0, 0)};
  constexpr Int kMost = 255;
  Int elements = 1;
  for (const Int n : w.size) elements = std::min(n, kMost + 1) * elements;
  if (elements > kMost) throw NotHere();
  return w;
}

void check_plain(Int axes, const Ints& dilation, bool ceil) {
  if (ceil || triple(dilation, axes, 1, 1) != Triple{1, 1, 1}) throw NotHere();
}

template <Int axes>
Two aten_max_pool(const Array& x, const Ints& kernel, const Ints& stride, const Ints& padding, const Ints& dilation,
                  bool ceil) {
  check_plain(axes, dilation, ceil);
  return max_and_indices(x, windows(x, axes, kernel, stride, padding));
}

template <Int axes>
Array aten_max_pool_backward(const Array& grad, const Array& x, const Ints& kernel, const Ints& stride,
                             const Ints& padding, const Ints& dilation, bool ceil, Ignored<Array> /*indices*/) {
  check_plain(axes, dilation, ceil);
  return pool_gradient(PoolOp::max, grad, x, windows(x, axes, kernel, stride, padding), false);
}

// aten's averages of volumes are never channels last, nor are their gradients: a view may follow.
Array as_means_lie(Int axes, Array made) {
  if (axes < 3 || made.contiguous()) return made;
  Array plain;
  contiguous(made, plain);
  return plain;
}

template <Int axes>
Array aten_avg_pool(const Array& x, const Ints& kernel, const Ints& stride, const Ints& padding, bool ceil, Count count,
                    Divisor /*unused*/) {
  if (ceil) throw NotHere();
  const Windows w = windows(x, axes, kernel, stride, padding);
  if constexpr (axes == 3) {  // aten's own limit, which does not count the padding
    for (std::size_t i = 0; i < 3; ++i) {
      if (x.size(static_cast<Int>(i) + 2) < w.size[i]) throw NotHere();
    }
  }
  return as_means_lie(axes, pool(PoolOp::avg, x, w, count.value));
}

template <Int axes>
Array aten_avg_pool_backward(const Array& grad, const Array& x, const Ints& kernel, const Ints& stride,
                             const Ints& padding, bool ceil, Count count, Divisor /*unused*/) {
  if (ceil) throw NotHere();
  const Windows w = windows(x, axes, kernel, stride, padding);
  return as_means_lie(axes, pool_gradient(PoolOp::avg, grad, x, w, count.value));
}

// --- their entries in Python --------------------------------------------------------------------------------------------

constexpr std::array kOverrides{
    Entry{"mm", attempt<aten_mm>, 2, {}},
    Entry{"bmm", attempt<aten_bmm>, 2, {}},
    Entry{"addmm", attempt<aten_addmm>, 3, {"beta", "alpha"}},
    Entry{"convolution", attempt<aten_convolution>, 9, {}},
    Entry{"convolution_backward", attempt<aten_convolution_backward>, 11, {}},
    Entry{"max_pool2d_with_indices", attempt<aten_max_pool<2>>, 6, {}},
    Entry{"max_pool3d_with_indices", attempt<aten_max_pool<3>>, 6, {}},
    Entry{"max_pool2d_with_indices_backward", attempt<aten_max_pool_backward<2>>, 8, {}},
    Entry{"max_pool3d_with_indices_backward", attempt<aten_max_pool_backward<3>>, 8, {}},
    Entry{"avg_pool2d", attempt<aten_avg_pool<2>>, 7, {}},
    Entry{"avg_pool3d", attempt<aten_avg_pool<3>>, 7, {}},
    Entry{"avg_pool2d_backward", attempt<aten_avg_pool_backward<2>>, 8, {}},
    Entry{"avg_pool3d_backward", attempt<aten_avg_pool_backward<3>>, 8, {}},
};

struct State {
  std::uint64_t bit = 0;      // of the operator's family
  PyObject* other = nullptr;  // Python's function
  std::atomic<std::uint64_t> calls = 0;
};

std::array<State, kOverrides.size()> states;
std::atomic<std::uint64_t> used = 0;  // bits of families that every thread uses which uses any; 0: ask Python
std::uint64_t strange = 0;            // keys of torch that are not for us

bool is_used(std::size_t i) {
  return (used.load(std::memory_order_relaxed) & states[i].bit) != 0;
}

template <std::size_t i>
PyObject* overriding(PyObject* /*self*/, PyObject* const* all, Py_ssize_t count, PyObject* keywords) {
  const Given given{all, count, keywords, 1};
  if (is_used(i) && count > 0 && !has_keys(all[0], strange)) {
    if (PyObject* const out = attempted(kOverrides[i], given); out != nullptr) {
      states[i].calls.fetch_add(1, std::memory_order_relaxed);
      return out;
    }
  }
  return handed_on(states[i].other, given);
}

template <std::size_t... i>
std::array<PyMethodDef, sizeof...(i)> methods_of(std::index_sequence<i...> /*unused*/) {
  return {method(kOverrides[i].name, overriding<i>)...};
}

std::array<PyMethodDef, kOverrides.size()> methods = methods_of(std::make_index_sequence<kOverrides.size()>());

std::size_t number_of(std::string_view name) {
  std::size_t i = 0;
  while (i < kOverrides.size() && kOverrides[i].name != name) ++i;
  return i;
}

// --- as kernels of torch's stable interface, with no Python on the way --------------------------------------------------

// The operator's result, or what Python makes of it.
template <auto function, std::size_t i>
void direct(Value* stack, std::uint64_t /*arguments*/, std::uint64_t /*results*/) {
  const auto ours = [](const auto& call) {
    if (!is_used(i)) return false;
    try {
      call();
    } catch (const NotHere&) {
      return false;
    } catch (const std::exception&) {  // Python finds the same, and says it
      return false;
    }
    states[i].calls.fetch_add(1, std::memory_order_relaxed);
    return true;
  };
  run_held(function, stack, states[i].other, ours);
}

struct Direct {
  std::string_view name;
  Kernel kernel;
};

constexpr std::size_t place_of(std::string_view name) {
  std::size_t i = 0;
  while (kOverrides[i].name != name) ++i;
  return i;
}

#define NG_DIRECT(name, ...)                  \
  Direct {                                    \
    name, direct<__VA_ARGS__, place_of(name)> \
  }
constexpr std::array kDirect{
    NG_DIRECT("convolution", aten_convolution),
    NG_DIRECT("convolution_backward", aten_convolution_backward),
    NG_DIRECT("max_pool2d_with_indices", aten_max_pool<2>),
    NG_DIRECT("max_pool3d_with_indices", aten_max_pool<3>),
    NG_DIRECT("max_pool2d_with_indices_backward", aten_max_pool_backward<2>),
    NG_DIRECT("max_pool3d_with_indices_backward", aten_max_pool_backward<3>),
    NG_DIRECT("avg_pool2d", aten_avg_pool<2>),
    NG_DIRECT("avg_pool3d", aten_avg_pool<3>),
    NG_DIRECT("avg_pool2d_backward", aten_avg_pool_backward<2>),
    NG_DIRECT("avg_pool3d_backward", aten_avg_pool_backward<3>),
};
#undef NG_DIRECT

}  // namespace
}  // namespace nervanagpu::python::torch

// What override.py calls, in Python's lock.

// Whether this torch has what they want.
extern "C" __attribute__((visibility("default"))) int ng_torch_has_overrides() {
  return nervanagpu::python::torch::shim().python ? 1 : 0;
}

// A function (keyset, *arguments) that does aten's operator `name`, or hands on to `other`, of the same arguments: where the
// operator's family, whose bit it is, may not be used by all, or with keys of `strange_keys`. None: there is none here, or this
// torch lacks what it wants.
extern "C" __attribute__((visibility("default"))) PyObject* ng_torch_override(const char* name, std::uint64_t bit,
                                                                              std::uint64_t strange_keys,
                                                                              PyObject* other) {
  using namespace nervanagpu::python::torch;  // NOLINT(google-build-using-namespace)
  const std::size_t i = number_of(name);
  if (i == kOverrides.size() || !shim().python) return Py_NewRef(Py_None);
  strange = strange_keys;
  states[i].bit = bit;
  states[i].other = Py_NewRef(other);  // for as long as the process lives, as the function is
  return PyCFunction_NewEx(&methods[i], nullptr, nullptr);
}

// Makes torch know aten's operator `name` under its dispatch key `key`, below which there are neither modes nor classes of
// tensors, without Python: (*arguments) go on to `other` where the family may not be used by all, or it is not done here.
// 0: it is not among these, or this torch lacks what it wants.
extern "C" __attribute__((visibility("default"))) int ng_torch_direct(const char* name, const char* key,
                                                                      std::uint64_t bit, PyObject* other) {
  using namespace nervanagpu::python::torch;  // NOLINT(google-build-using-namespace)
  const auto* const found =
      std::find_if(kDirect.begin(), kDirect.end(), [&](const Direct& d) { return d.name == name; });
  const Shim& s = shim();
  if (found == kDirect.end() || !s.python || !s.direct) return 0;
  static LibraryObject* library = nullptr;  // for as long as the process lives
  if (library == nullptr && s.library_init_impl("aten", key, __FILE__, __LINE__, &library) != 0) return 0;
  State& state = states[number_of(name)];
  state.bit = bit;
  state.other = Py_NewRef(other);
  return s.library_impl_of(library, name, found->kernel, kLists) == 0 ? 1 : 0;
}

// Bits of the families that are used, if all threads that use any use the same; else 0.
extern "C" __attribute__((visibility("default"))) void ng_torch_use(std::uint64_t bits) {
  nervanagpu::python::torch::used.store(bits, std::memory_order_relaxed);
}

// How often the operator ran here, and with `forget` begins anew.
extern "C" __attribute__((visibility("default"))) std::uint64_t ng_torch_override_calls(const char* name, int forget) {
  using namespace nervanagpu::python::torch;  // NOLINT(google-build-using-namespace)
  const std::size_t i = number_of(name);
  if (i == kOverrides.size()) return 0;
  return forget != 0 ? states[i].calls.exchange(0) : states[i].calls.load();
}
