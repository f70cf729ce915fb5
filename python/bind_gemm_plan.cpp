#include <pybind11/stl.h>

#include <optional>

#include "python/bind.h"

namespace nervanagpu::python {
namespace {

// The argument of a launch as it is; an expression is evaluated.
const Tensor& tensor_from(const char* name, const py::handle& h) {
  if (Lazy* l = lazy_of(h)) l->force();
  if (!py::isinstance<Tensor>(h)) {
    throw TypeError(std::string("gemm plan: ") + name + " is " +
                    std::string(py::str(py::type::of(h).attr("__name__"))) + "; needs GPUTensor");
  }
  return *h.cast<const Tensor*>();
}

void launch(const GemmPlan& plan, const py::handle& a, const py::handle& b, const py::handle& out,
            const py::handle& bias, const py::object& stream) {
  const Tensor& left = tensor_from("a", a);
  const Tensor& right = tensor_from("b", b);
  auto& c = const_cast<Tensor&>(tensor_from("out", out));
  const Tensor* added = bias.is_none() ? nullptr : &tensor_from("bias", bias);
  const Stream queue = stream_from(stream);
  const GilRelease release;
  before_write(c);
  plan.launch(left, right, c, added, queue);
}

}  // namespace

void bind_gemm_plan(py::module_& m) {
  py::class_<GemmPlan> c(m, "GemmPlan");
  c.def(py::init([](const Tensor& a, const Tensor& b, const Tensor& out, float alpha, float beta,
                    const std::optional<Tensor>& bias, bool relu, bool relu_first, const std::string& rounding,
                    std::uint64_t seed, std::uint64_t offset, int bits, std::int64_t splits, bool tensor_cores,
                    const std::string& tile, const std::string& activation, const std::pair<float, float>& clip,
                    const std::optional<Tensor>& scale) {
          GemmOptions options = gemm_options(alpha, beta, bias, relu, relu_first, splits, tensor_cores);
          options.rounding = rounding_from(rounding, seed, offset, bits);
          options.tile = tile;
          finish_by(options, activation, clip, scale);
          const GilRelease release;
          return GemmPlan(a, b, out, options);
        }),
        py::arg("a"), py::arg("b"), py::arg("out"), py::arg("alpha") = 1.0F, py::arg("beta") = 0.0F,
        py::arg("bias") = py::none(), py::arg("relu") = false, py::kw_only(), py::arg("relu_first") = false,
        py::arg("rounding") = "nearest", py::arg("seed") = 0, py::arg("offset") = 0, py::arg("bits") = 0,
        py::arg("splits") = 0, py::arg("tensor_cores") = true, py::arg("tile") = "", py::arg("activation") = "none",
        py::arg("clip") = std::pair<float, float>(0.0F, 0.0F), py::arg("scale") = py::none());
  c.def("launch", &launch, py::arg("a"), py::arg("b"), py::arg("out"), py::arg("bias") = py::none(),
        py::arg("stream") = py::none());
  c.attr("__call__") = c.attr("launch");
  c.def_property_readonly("workspace", &GemmPlan::workspace);
  c.def_property_readonly("kernel", &GemmPlan::kernel);
  c.attr("__module__") = "nervanagpu";
  c.attr("__doc__") =
      "A product that is computed many times: dot(a, b, out, ...), or batched_dot of three axes, with its kernel "
      "chosen\n"
      "once.\n\n"
      "Made from tensors such as those of the launches: dtypes, shapes, strides, alignment. Keywords as those of "
      "`dot`\n"
      "(activation: \"none\" or a name; scale: a tensor, which the plan keeps).\n"
      "Each must be readable as it lies: a plan copies nothing. ValueError or TypeError otherwise.\n\n"
      "launch(a, b, out, bias=None, stream=None): queues the product of other tensors of the same form, with the bits\n"
      "of `dot`. ValueError for a shape, stride or alignment that was not planned, or an out that shares memory.\n"
      "plan(a, b, out) is the same. Any thread, any stream; may be captured in a CUDA graph.\n"
      "kernel: its name. workspace: bytes that a launch takes from the memory pool, for parts of k.";
}

}  // namespace nervanagpu::python
