// Small operations of networks: activations, bias, dropout, softmax, gradient descent.
#include <pybind11/stl.h>

#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "nervanagpu/nn.hpp"
#include "python/bind.h"

namespace nervanagpu::python {
namespace {

void bind_elementwise(py::module_& m) {
  py::list names;
  for (const std::string_view name : kActivationNames) names.append(py::str(name));
  m.attr("NN_ACTIVATIONS") = py::tuple(names);
  m.def("nn_convert", [](const Tensor& from, Tensor& to, const Rounding& rounding, const py::object& stream) {
    const Stream queue = stream_from(stream);
    before_write(to);
    const GilRelease release;
    convert(from, to, rounding, queue);
  });
  m.def("nn_add", [](const Tensor& a, const Tensor& b, Tensor& out, float alpha, float beta, const Rounding& rounding,
                     const py::object& stream) {
    const Stream queue = stream_from(stream);
    before_write(out);
    const GilRelease release;
    add(a, b, out, alpha, beta, rounding, queue);
  });
  m.def("nn_activation", [](const std::string& f, const Tensor& x, Tensor& y, float slope, const Rounding& rounding,
                            const py::object& stream) {
    const Stream queue = stream_from(stream);
    const Activation kind = activation_named(f);
    before_write(y);
    const GilRelease release;
    activation_fprop(kind, x, y, slope, rounding, queue);
  });
  m.def("nn_activation_bprop", [](const std::string& f, const Tensor& y, const Tensor& dy, Tensor& dx, float slope,
                                  const Rounding& rounding, const py::object& stream) {
    const Stream queue = stream_from(stream);
    const Activation kind = activation_named(f);
    before_write(dx);
    const GilRelease release;
    activation_bprop(kind, y, dy, dx, slope, rounding, queue);
  });
  m.def("nn_dropout", [](const Tensor& x, Tensor& y, float keep, std::uint64_t mask_seed, std::uint64_t mask_offset,
                         const Rounding& rounding, const py::object& stream) {
    const Stream queue = stream_from(stream);
    before_write(y);
    const GilRelease release;
    dropout(x, y, keep, mask_seed, mask_offset, rounding, queue);
  });
}

void bind_bias(py::module_& m) {
  m.def("nn_bias_add", [](const Tensor& x, const Tensor& bias, bool channel_last, Tensor& y, const Rounding& rounding,
                          const py::object& stream) {
    const Stream queue = stream_from(stream);
    before_write(y);
    const GilRelease release;
    bias_add(x, bias, channel_last, y, rounding, queue);
  });
  m.def("nn_bias_grad", [](const Tensor& dy, bool channel_last, Tensor& db, float alpha, float beta,
                           const Rounding& rounding, const py::object& stream) {
    const Stream queue = stream_from(stream);
    before_write(db);
    const GilRelease release;
    bias_grad(dy, channel_last, db, alpha, beta, rounding, queue);
  });
}

void bind_training(py::module_& m) {
  m.def("nn_sgd_update", [](Tensor& w, std::optional<Tensor> master, Tensor& velocity, const Tensor& grad, float lr,
                            float momentum, float weight_decay, const Rounding& rounding, const py::object& stream) {
    const Stream queue = stream_from(stream);
    before_write(w);
    before_write(velocity);
    if (master) before_write(*master);
    const GilRelease release;
    sgd_update(w, master ? &*master : nullptr, velocity, grad, {lr, momentum, weight_decay, rounding, queue});
  });
  m.def("nn_softmax", [](const Tensor& logits, const std::optional<Tensor>& labels, Tensor& probs,
                         std::optional<Tensor> loss, const py::object& stream) {
    const Stream s = stream_from(stream);
    before_write(probs);
    if (loss) before_write(*loss);
    const GilRelease release;
    softmax_fprop(logits, labels ? &*labels : nullptr, probs, loss ? &*loss : nullptr, s);
  });
  m.def("nn_softmax_bprop", [](const Tensor& probs, const Tensor& labels, Tensor& dlogits, float scale,
                               const Rounding& rounding, const py::object& stream) {
    const Stream queue = stream_from(stream);
    before_write(dlogits);
    const GilRelease release;
    softmax_bprop(probs, labels, dlogits, scale, rounding, queue);
  });
  m.def("nn_statistics", [](const Tensor& x, const py::object& stream) {
    const Stream s = stream_from(stream);
    Statistics out;
    {
      const GilRelease release;
      out = statistics(x, s);
    }
    return std::make_pair(out.mean_abs, out.max_abs);
  });
}

// What the kernels of convert() take; expressions do the rest.
bool converts(Dtype d) {
  switch (d) {
    case Dtype::float32:
    case Dtype::float16:
    case Dtype::bfloat16:
    case Dtype::int32:
    case Dtype::int8:
    case Dtype::uint8: return true;
    default: return false;
  }
}

// A copy, never the same memory.
Tensor converted(const Tensor& t, Dtype d) {
  const GilRelease release;
  Tensor out = Tensor::empty(t.shape(), d);
  if (converts(t.dtype()) && converts(d)) {
    convert(t, out);
  } else {
    assign(out, cast(Expr(t), d));
  }
  return out;
}

}  // namespace

void bind_nn(py::module_& m) {
  bind_elementwise(m);
  bind_bias(m);
  bind_training(m);
  auto tensor = py::class_<Tensor>(m.attr("GPUTensor"));
  tensor.def(
      "astype",
      [](const py::object& self, const py::object& dtype) {
        const Dtype d = dtype_from(dtype);
        const Lazy* lazily = lazy_of(self);
        const Dtype from = lazily != nullptr ? lazily->expr.dtype() : self.cast<const Tensor&>().dtype();
        if (is_complex(from) && !is_complex(d)) warn_of_lost_parts(std::string(name_of(from)), d);
        if (lazily != nullptr && (lazily->number() || (!lazily->expr.evaluated() && from != d))) {
          return lazy(cast(lazily->expr, d));
        }
        return py::cast(converted(self.cast<Tensor>(), d));
      },
      py::arg("dtype"),
      "A contiguous copy with another dtype, on the device; of an expression an expression.\n"
      "Floats are rounded to nearest; to integers they are truncated and saturate, NaN becomes 0; integers keep their\n"
      "low bits.");
}

}  // namespace nervanagpu::python
