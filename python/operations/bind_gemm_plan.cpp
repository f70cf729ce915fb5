// ng.GemmPlan.
#include <pybind11/stl.h>

#include <optional>

#include "python/operations/bind_pieces.h"

namespace nervanagpu::python {
namespace {

template <class A, class B>
GemmPlan plan_of(const A& a, const B& b, const Tensor& out, float alpha, float beta, const std::optional<Tensor>& bias,
                 bool relu, bool relu_first, const Rounding& rounding, const std::string& tile, std::int64_t splits,
                 bool tensor_cores, const std::string& activation, const std::pair<float, float>& clip,
                 const std::optional<Tensor>& scale, const std::optional<Tensor>& mask, const Sums& sums,
                 const std::optional<std::string>& precision) {
  GemmOptions options = gemm_options(alpha, beta, bias, relu, relu_first, rounding, splits, tensor_cores);
  options.tile = tile;
  options.precision = precision_from(precision);
  finish_by(options, activation, clip, scale, mask);
  sum_up(options, sums);
  const GilRelease release;
  return {a, b, out, options};
}

template <class A, class B>
void launch_operands(const GemmPlan& plan, const A& a, const B& b, const py::handle& out, const py::handle& bias,
                     const py::object& stream) {
  auto& c = const_cast<Tensor&>(planned_tensor("gemm plan", "out", out));
  const Tensor* added = bias.is_none() ? nullptr : &planned_tensor("gemm plan", "bias", bias);
  const Stream queue = stream_from(stream);
  const GilRelease release;
  before_write(c);
  plan.launch(a, b, c, added, queue);
}

void launch(const GemmPlan& plan, const py::handle& a, const py::handle& b, const py::handle& out,
            const py::handle& bias, const py::object& stream) {
  const auto tensor = [](const char* name, const py::handle& h) -> const Tensor& {
    return planned_tensor("gemm plan", name, h);
  };
  if (const Pieces* pieces = pieces_of(b)) return launch_operands(plan, tensor("a", a), *pieces, out, bias, stream);
  if (const Pieces* pieces = pieces_of(a)) return launch_operands(plan, *pieces, tensor("b", b), out, bias, stream);
  launch_operands(plan, tensor("a", a), tensor("b", b), out, bias, stream);
}

template <class A, class B>
void bind_plan(py::class_<GemmPlan>& c) {
  c.def(py::init(&plan_of<A, B>), py::arg("a"), py::arg("b"), py::arg("out"), py::arg("alpha"), py::arg("beta"),
        py::arg("bias"), py::arg("relu"), py::arg("relu_first"), py::arg("rounding"), py::arg("tile"),
        py::arg("splits"), py::arg("tensor_cores"), py::arg("activation"), py::arg("clip"), py::arg("scale"),
        py::arg("mask"), py::arg("sums"), py::arg("precision"));
}

}  // namespace

// nervanagpu.GemmPlan is made of it, in Python (linalg/gemm_plan.py): what its arguments are is written there.
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
  bind_plan<Tensor, Tensor>(c);
  bind_plan<Tensor, Pieces>(c);
  bind_plan<Pieces, Tensor>(c);
  c.def("launch", &launch, py::arg("a"), py::arg("b"), py::arg("out"), py::arg("bias") = py::none(),
        py::arg("stream") = py::none());
  c.attr("__call__") = c.attr("launch");
  c.def_property_readonly("workspace", &GemmPlan::workspace);
  c.def_property_readonly("kernel", &GemmPlan::kernel);
  c.def_property_readonly("pieces", &GemmPlan::pieces);
}

}  // namespace nervanagpu::python
