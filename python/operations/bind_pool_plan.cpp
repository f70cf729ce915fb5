// ng.PoolPlan.
#include <pybind11/stl.h>

#include <optional>
#include <string>

#include "nervanagpu/pool_plan.hpp"
#include "python/operations/bind_pool.h"

namespace nervanagpu::python {
namespace {

constexpr const char* kPlan = "pool plan";

PoolPass pass_from(const std::string& name) {
  if (name == "fprop") return PoolPass::fprop;
  if (name == "bprop") return PoolPass::bprop;
  throw InvalidArgument("pool plan: which is '" + name + "'; needs 'fprop' or 'bprop'");
}

PoolPlan plan_of(const std::string& which, const std::string& op, const Tensor& in, const Tensor& out,
                 const std::optional<Tensor>& x, const std::optional<Tensor>& argmax, const std::string& layout,
                 const PoolGeometry& geometry, const Epilogue& epilogue, bool relu) {
  const PoolPass pass = pass_from(which);
  const PoolProblem p = pool_problem(op, pass == PoolPass::fprop ? in : out, layout, geometry);
  PoolOptions options = pool_options(epilogue, py::none());
  options.relu = relu;
  const GilRelease release;
  return {pass, p, in, out, {x ? &*x : nullptr, argmax ? &*argmax : nullptr, 0}, options};
}

const Tensor* optional_tensor(const char* name, const py::handle& h) {
  return h.is_none() ? nullptr : &planned_tensor(kPlan, name, h);
}

void launch(const PoolPlan& plan, const py::handle& in, const py::handle& out, const py::handle& argmax,
            const py::object& stream, const py::handle& x, std::uint64_t offset) {
  const Tensor& first = planned_tensor(kPlan, "in1", in);
  auto& result = const_cast<Tensor&>(planned_tensor(kPlan, "out", out));
  const PoolOperands more = {optional_tensor("x", x), optional_tensor("argmax", argmax), offset};
  const Stream queue = stream_from(stream);
  const GilRelease release;
  before_write(result);
  if (more.argmax != nullptr && plan.pass() == PoolPass::fprop) before_write(*more.argmax);
  plan.launch(first, result, more, queue);
}

}  // namespace

// nervanagpu.PoolPlan is made of it, in Python: what its arguments are is written there.
void bind_pool_plan(py::module_& m) {
  py::class_<PoolPlan> c(m, "PoolPlan");
  c.def(py::init(&plan_of));
  c.def("launch", &launch, py::arg("in1"), py::arg("out"), py::arg("argmax") = py::none(),
        py::arg("stream") = py::none(), py::kw_only(), py::arg("x") = py::none(), py::arg("offset") = 0);
  c.attr("__call__") = c.attr("launch");
  c.def_property_readonly("workspace", &PoolPlan::workspace);
  c.def_property_readonly("kernels", &PoolPlan::kernels);
}

}  // namespace nervanagpu::python
