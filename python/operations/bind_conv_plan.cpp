// ng.ConvPlan.
#include <pybind11/stl.h>

#include <optional>
#include <string>

#include "nervanagpu/conv_plan.hpp"
#include "python/operations/bind_conv.h"

namespace nervanagpu::python {
namespace {

constexpr const char* kPlan = "conv plan";

ConvPass pass_from(const std::string& name) {
  if (name == "fprop") return ConvPass::fprop;
  if (name == "bprop") return ConvPass::bprop;
  if (name == "update") return ConvPass::update;
  throw InvalidArgument("conv plan: which is '" + name + "'; needs 'fprop', 'bprop' or 'update'");
}

ConvPlan plan_of(const std::string& which, const Tensor& in1, const Tensor& in2, const Tensor& out,
                 const std::optional<Tensor>& bias, bool relu, const std::string& layout, const Geometry& geometry,
                 std::int64_t groups, std::size_t axes, const Epilogue& epilogue, bool tensor_cores,
                 const std::optional<Tensor>& mask, const ChannelSums& sums, const std::string& activation,
                 const Clip& clip, const std::optional<Tensor>& scale) {
  const ConvPass pass = pass_from(which);
  const Tensor& x = pass == ConvPass::fprop ? in1 : pass == ConvPass::bprop ? out : in2;
  const Tensor& w = pass == ConvPass::update ? out : in2;
  const Tensor& y = pass == ConvPass::fprop ? out : in1;
  ConvProblem p = conv_problem(layout, x.shape(), w.shape(), geometry, groups, axes);
  p.x_type = x.dtype();
  p.w_type = w.dtype();
  p.y_type = y.dtype();
  ConvOptions options = conv_options(epilogue, tensor_cores, mask, sums, py::none());
  finish_by(options, bias, relu, activation, clip, scale);
  const GilRelease release;
  return {pass, p, in1, in2, out, options};
}

const Tensor* optional_tensor(const char* name, const py::handle& h) {
  return h.is_none() ? nullptr : &planned_tensor(kPlan, name, h);
}

void launch(const ConvPlan& plan, const py::handle& in1, const py::handle& in2, const py::handle& out,
            const py::handle& bias, const py::handle& mask, const py::object& stream, const py::handle& workspace,
            std::uint64_t offset, const py::handle& scale, const py::handle& channel_sum,
            const py::handle& channel_sum_squares) {
  const Tensor& first = planned_tensor(kPlan, "in1", in1);
  const Tensor& second = planned_tensor(kPlan, "in2", in2);
  auto& result = const_cast<Tensor&>(planned_tensor(kPlan, "out", out));
  const ConvOperands more = {optional_tensor("bias", bias),
                             optional_tensor("mask", mask),
                             optional_tensor("workspace", workspace),
                             offset,
                             optional_tensor("scale", scale),
                             optional_tensor("channel_sum", channel_sum),
                             optional_tensor("channel_sum_squares", channel_sum_squares)};
  const Stream queue = stream_from(stream);
  const GilRelease release;
  before_write(result);
  if (more.mask != nullptr && plan.pass() == ConvPass::fprop) before_write(*more.mask);
  for (const Tensor* t : {more.workspace, more.channel_sum, more.channel_sum_squares}) {
    if (t != nullptr) before_write(*t);
  }
  plan.launch(first, second, result, more, queue);
}

}  // namespace

// nervanagpu.ConvPlan is made of it, in Python: what its arguments are is written there.
void bind_conv_plan(py::module_& m) {
  py::class_<ConvPlan> c(m, "ConvPlan");
  c.def(py::init(&plan_of));
  c.def("launch", &launch, py::arg("in1"), py::arg("in2"), py::arg("out"), py::arg("bias") = py::none(),
        py::arg("mask") = py::none(), py::arg("stream") = py::none(), py::kw_only(), py::arg("workspace") = py::none(),
        py::arg("offset") = 0, py::arg("scale") = py::none(), py::arg("channel_sum") = py::none(),
        py::arg("channel_sum_squares") = py::none());
  c.attr("__call__") = c.attr("launch");
  c.def_property_readonly("workspace", &ConvPlan::workspace);
  c.def_property_readonly("kernels", &ConvPlan::kernels);
}

}  // namespace nervanagpu::python
