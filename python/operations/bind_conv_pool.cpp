// A convolution and the max pool after it.
#include <pybind11/stl.h>

#include "nervanagpu/conv_pool.hpp"
#include "python/operations/bind_conv.h"
#include "python/operations/bind_pool.h"

namespace nervanagpu::python {
namespace {

struct Problems {
  ConvProblem conv;
  PoolProblem pool;
};
Problems problems(const Tensor& x, const Tensor& w, const std::string& layout, const Geometry& geometry,
                  std::int64_t groups, std::size_t axes, const PoolGeometry& windows) {
  Problems out = {conv_problem(layout, x.shape(), w.shape(), geometry, groups, axes), {}};
  out.conv.x_type = x.dtype();
  out.conv.w_type = out.conv.y_type = w.dtype();
  std::tie(out.pool.window, out.pool.stride, out.pool.pad, out.pool.count_padding) = windows;
  out.pool = pool_behind(out.conv, out.pool);
  return out;
}

}  // namespace

void bind_conv_pool(py::module_& m) {
  m.def("conv_max_pool_fprop",
        [](const Tensor& x, const Tensor& w, const std::optional<Tensor>& out, const std::optional<Tensor>& bias,
           bool relu, const std::string& layout, const Geometry& geometry, std::int64_t groups, std::size_t axes,
           const PoolGeometry& windows, const std::optional<Tensor>& argmax, const py::object& stream) {
          const Problems p = problems(x, w, layout, geometry, groups, axes, windows);
          ConvOptions options;
          options.bias = bias ? &*bias : nullptr;
          options.relu = relu;
          options.stream = stream_from(stream);
          const GilRelease release;
          if (out) before_write(*out);
          if (argmax) before_write(*argmax);
          Tensor y = out ? *out : Tensor::empty(pool_shape(p.pool, layout, p.pool.out()), p.pool.dtype);
          std::optional<Tensor> codes = argmax;
          conv_max_pool_fprop(p.conv, p.pool, x, w, y, codes ? &*codes : nullptr, options);
          return y;
        });
  m.def("conv_max_pool_is_one_kernel",
        [](const Tensor& x, const Tensor& w, bool relu, const std::string& layout, const Geometry& geometry,
           std::int64_t groups, std::size_t axes, const PoolGeometry& windows) {
          const Problems p = problems(x, w, layout, geometry, groups, axes, windows);
          ConvOptions options;
          options.relu = relu;
          return conv_max_pool_is_one_kernel(p.conv, p.pool, options);
        });
  m.def("conv_max_pool_argmax_bytes",
        [](const Tensor& x, const Tensor& w, const std::string& layout, const Geometry& geometry, std::int64_t groups,
           std::size_t axes, const PoolGeometry& windows) {
          return pool_argmax_bytes(problems(x, w, layout, geometry, groups, axes, windows).pool);
        });
}

}  // namespace nervanagpu::python
