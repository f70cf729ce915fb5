// ng.GemmPlan.
#include <pybind11/stl.h>

#include <optional>

#include "python/bind.h"

namespace nervanagpu::python {
namespace {

void launch(const GemmPlan& plan, const py::handle& a, const py::handle& b, const py::handle& out,
            const py::handle& bias, const py::object& stream) {
  const Tensor& left = planned_tensor("gemm plan", "a", a);
  const Tensor& right = planned_tensor("gemm plan", "b", b);
  auto& c = const_cast<Tensor&>(planned_tensor("gemm plan", "out", out));
  const Tensor* added = bias.is_none() ? nullptr : &planned_tensor("gemm plan", "bias", bias);
  const Stream queue = stream_from(stream);
  const GilRelease release;
  before_write(c);
  plan.launch(left, right, c, added, queue);
}

}  // namespace

void bind_gemm_plan(py::module_& m) {
  m.def(
      "autotune",
      [](bool on) {
        const bool before = autotune();
        set_autotune(on);
        return before;
      },
      py::arg("on") = true,
      "Whether products and plans that come now measure which of their kernels is the fastest here. Returns what held "
      "before.\n\n"
      "Only kernels that sum in the same order are measured, so results have the same bits, on or off. The first "
      "product of "
      "a\nform takes some milliseconds more; winners are kept in $XDG_CACHE_HOME/nervanagpu (or ~/.cache/nervanagpu), "
      "in a\n"
      "JSON file for each GPU, driver and version. Nothing is measured in a CUDA graph's capture or on the emulator.\n"
      "NERVANAGPU_AUTOTUNE=1 turns it on from the start; ValueError for a value of it other than 0 and 1.");
  py::class_<GemmPlan> c(m, "GemmPlan");
  c.def(py::init([](const Tensor& a, const Tensor& b, const Tensor& out, float alpha, float beta,
                    const std::optional<Tensor>& bias, bool relu, bool relu_first, const std::string& rounding,
                    std::uint64_t seed, std::uint64_t offset, int bits, std::int64_t splits, bool tensor_cores,
                    const std::string& tile, const std::string& activation, const std::pair<float, float>& clip,
                    const std::optional<Tensor>& scale, const std::optional<Tensor>& mask,
                    const std::optional<Tensor>& row_sum, const std::optional<Tensor>& column_sum,
                    const std::optional<Tensor>& row_max_abs, const std::optional<Tensor>& column_max_abs,
                    const std::optional<std::string>& precision) {
          GemmOptions options = gemm_options(alpha, beta, bias, relu, relu_first, splits, tensor_cores);
          options.rounding = rounding_from(rounding, seed, offset, bits);
          options.tile = tile;
          options.precision = precision_from(precision);
          finish_by(options, activation, clip, scale, mask);
          const Sums sums = {row_sum, column_sum, row_max_abs, column_max_abs};
          sum_up(options, sums);
          const GilRelease release;
          return GemmPlan(a, b, out, options);
        }),
        py::arg("a"), py::arg("b"), py::arg("out"), py::arg("alpha") = 1.0F, py::arg("beta") = 0.0F,
        py::arg("bias") = py::none(), py::arg("relu") = false, py::kw_only(), py::arg("relu_first") = false,
        py::arg("rounding") = "nearest", py::arg("seed") = 0, py::arg("offset") = 0, py::arg("bits") = 0,
        py::arg("splits") = 0, py::arg("tensor_cores") = true, py::arg("tile") = "", py::arg("activation") = "none",
        py::arg("clip") = std::pair<float, float>(0.0F, 0.0F), py::arg("scale") = py::none(),
        py::arg("mask") = py::none(), py::arg("row_sum") = py::none(), py::arg("column_sum") = py::none(),
        py::arg("row_max_abs") = py::none(), py::arg("column_max_abs") = py::none(), py::arg("precision") = py::none());
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
      "(activation: \"none\" or a name; scale, mask, row_sum ...: tensors, which the plan keeps).\n"
      "Each must be readable as it lies: a plan copies nothing. ValueError or TypeError otherwise.\n\n"
      "launch(a, b, out, bias=None, stream=None): queues the product of other tensors of the same form, with the bits\n"
      "of `dot`. ValueError for a shape, stride or alignment that was not planned, or an out that shares memory.\n"
      "plan(a, b, out) is the same. Any thread, any stream; may be captured in a CUDA graph.\n"
      "kernel: its name. workspace: bytes that a launch takes from the memory pool, for parts of k.";
}

}  // namespace nervanagpu::python
