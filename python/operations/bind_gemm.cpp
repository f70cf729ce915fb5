// Products: dot, batched and grouped.
#include <pybind11/stl.h>

#include <array>
#include <iterator>
#include <optional>
#include <string>

#include "python/bind.h"
#include "python/operations/bind_dot.h"

namespace nervanagpu::python {

GemmActivation activation_from(const char* op, const std::string& name) {
  if (const auto row = activation_row(name)) return row->activation;
  std::string all;
  for (std::size_t i = 0; i < std::size(kActivations); ++i) {
    all += i == 0 ? "'" : i + 1 == std::size(kActivations) ? " or '" : ", '";
    all += std::string(kActivations[i].name) + "'";
  }
  throw InvalidArgument(std::string(op) + ": activation is '" + name + "'; needs " + all);
}

GemmOptions gemm_options(float alpha, float beta, const std::optional<Tensor>& bias, bool relu, bool relu_first,
                         const Rounding& rounding, std::int64_t splits, bool tensor_cores) {
  GemmOptions options;
  options.alpha = alpha;
  options.beta = beta;
  options.bias = bias ? &*bias : nullptr;
  options.relu = relu;
  options.relu_first = relu_first;
  options.rounding = rounding;
  options.splits = splits;
  options.tensor_cores = tensor_cores;
  return options;
}

void finish_by(GemmOptions& options, const std::string& activation, const std::pair<float, float>& clip,
               const std::optional<Tensor>& scale, const std::optional<Tensor>& mask) {
  options.activation = activation_from("dot", activation);
  options.clip_low = clip.first;
  options.clip_high = clip.second;
  options.scale = scale ? &*scale : nullptr;
  options.mask = mask ? &*mask : nullptr;
  if (mask && options.activation != GemmActivation::drelu) before_write(*mask);
}

// Elements of 64 bits, whose kernels have no epilogue that an expression could become.
bool wide(Dtype d) {
  return d == Dtype::float64 || d == Dtype::int64;
}

bool multiplies(Dtype a, Dtype b) {
  const auto bytes = [](Dtype d) { return d == Dtype::int8 || d == Dtype::uint8; };
  if (a != b) return bytes(a) && bytes(b);
  return a == Dtype::float32 || a == Dtype::float16 || a == Dtype::bfloat16 || bytes(a) || a == Dtype::int32 || wide(a);
}

py::object product_of(const Tensor& a, const Tensor& b) {
  if (!multiplies(a.dtype(), b.dtype())) {
    return in_python([&] { return py::module_::import("nervanagpu.linalg.products").attr("product")(a, b); });
  }
  const bool rows = a.ndim() == 2 || (a.ndim() > 2 && a.contiguous() && a.shape().back() == b.shape()[0]);
  const bool later = b.ndim() == 2 && rows && !wide(a.dtype()) && can_evaluate();
  std::optional<Expr> expr;
  std::optional<Tensor> tensor;
  {
    const GilRelease release;
    if (later) {
      expr = product(a, b);
    } else {
      tensor = matmul(a, b);
    }
  }
  if (later) return lazy(*std::move(expr));
  return result_of(*std::move(tensor));
}

void sum_up(GemmOptions& options, const Sums& sums) {
  std::array<const Tensor**, 4> to = {&options.row_sum, &options.column_sum, &options.row_max_abs,
                                      &options.column_max_abs};
  for (std::size_t i = 0; i < sums.size(); ++i) {
    *to[i] = sums[i] ? &*sums[i] : nullptr;
    if (sums[i]) before_write(*sums[i]);
  }
}

Precision precision_from(const std::optional<std::string>& name) {
  if (!name) return precision();
  if (const auto known = precision_from_name(*name)) return *known;
  throw InvalidArgument("precision is '" + *name + "'; needs 'strict' or 'tensor'");
}

void bind_gemm(py::module_& m) {
  py::dict reads;
  for (const ActivationRow& row : kActivations) {
    reads[py::str(row.name)] = py::str(row.reads == ActivationReads::sum      ? "sum"
                                       : row.reads == ActivationReads::bounds ? "bounds"
                                                                              : "mask");
  }
  m.attr("ACTIVATIONS") = reads;
  m.def(
      "set_precision",
      [](const std::optional<std::string>& name) {
        const Precision before = precision();
        set_precision(precision_from(name));
        return name_of(before);
      },
      py::arg("name"));
  m.def("dot", &dot_of<Tensor, Tensor>, py::arg("a"), py::arg("b"), py::arg("out"), py::arg("alpha"), py::arg("beta"),
        py::arg("bias"), py::arg("relu"), py::arg("relu_first"), py::arg("rounding"), py::arg("stream"),
        py::arg("tile"), py::arg("splits") = 0, py::arg("tensor_cores") = true, py::arg("activation") = "none",
        py::arg("clip") = std::pair<float, float>(0.0F, 0.0F), py::arg("scale") = py::none(),
        py::arg("mask") = py::none(), py::arg("sums") = Sums());
  m.def(
      "batched_dot",
      [](const Tensor& a, const Tensor& b, Tensor out, float alpha, float beta, const std::optional<Tensor>& bias,
         bool relu, bool relu_first, const Rounding& rounding, const py::object& stream, const std::string& tile,
         std::int64_t splits, bool tensor_cores, const std::string& activation, const std::pair<float, float>& clip,
         const std::optional<Tensor>& mask, const Sums& sums) {
        GemmOptions options = gemm_options(alpha, beta, bias, relu, relu_first, rounding, splits, tensor_cores);
        options.stream = stream_from(stream);
        options.tile = tile;
        finish_by(options, activation, clip, {}, mask);
        sum_up(options, sums);
        before_write(out);
        const GilRelease release;
        batched_dot(a, b, out, options);
      },
      py::arg("a"), py::arg("b"), py::arg("out"), py::arg("alpha"), py::arg("beta"), py::arg("bias"), py::arg("relu"),
      py::arg("relu_first"), py::arg("rounding"), py::arg("stream"), py::arg("tile"), py::arg("splits"),
      py::arg("tensor_cores"), py::arg("activation"), py::arg("clip"), py::arg("mask"), py::arg("sums"));
  m.def(
      "grouped_dot",
      [](const std::vector<std::tuple<Tensor, Tensor, Tensor>>& products, float alpha, float beta,
         const std::optional<Tensor>& bias, bool relu, bool relu_first, const Rounding& rounding,
         const py::object& stream, std::int64_t splits, bool tensor_cores) {
        GemmOptions options = gemm_options(alpha, beta, bias, relu, relu_first, rounding, splits, tensor_cores);
        options.stream = stream_from(stream);
        std::vector<GroupedProduct> all;
        for (const auto& [a, b, c] : products) {
          before_write(c);
          all.push_back({a, b, c});
        }
        const GilRelease release;
        grouped_dot(all, options);
      },
      py::arg("products"), py::arg("alpha"), py::arg("beta"), py::arg("bias"), py::arg("relu"), py::arg("relu_first"),
      py::arg("rounding"), py::arg("stream"), py::arg("splits"), py::arg("tensor_cores"));
  m.def(
      "matmul",
      [](const Tensor& a, const Tensor& b, const py::object& stream) {
        if (stream.is_none()) return product_of(a, b);
        GemmOptions options;
        options.stream = stream_from(stream);
        return result_of([&] {
          const GilRelease release;
          return matmul(a, b, options);
        }());
      },
      py::arg("a"), py::arg("b"), py::arg("stream"));
}

}  // namespace nervanagpu::python
