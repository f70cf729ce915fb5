// Pooling and its gradients.
#include "python/operations/bind_pool.h"

#include <pybind11/stl.h>

#include "nervanagpu/nn.hpp"

namespace nervanagpu::python {
namespace {

using Quad = std::array<std::int64_t, 4>;

PoolOp op_from(const std::string& name) {
  if (name == "max") return PoolOp::max;
  if (name == "avg") return PoolOp::avg;
  if (name == "l2") return PoolOp::l2;
  throw InvalidArgument("pool: op is \"" + name + "\"; needs max, avg or l2");
}

}  // namespace

PoolProblem pool_problem(const std::string& op, const Tensor& x, const std::string& layout,
                         const PoolGeometry& geometry) {
  PoolProblem p;
  p.op = op_from(op);
  p.layout = layout_from_name(layout);
  std::tie(p.window, p.stride, p.pad, p.count_padding) = geometry;
  const Shape& shape = x.shape();
  if (shape.size() != layout.size()) {
    throw InvalidArgument("pool: x has " + std::to_string(shape.size()) + " axes; the layout " + layout + " needs " +
                          std::to_string(layout.size()));
  }
  std::size_t axis = 0;
  for (const char letter : layout) {
    const std::int64_t length = shape[axis++];
    switch (letter) {
      case 'N': p.n = length; break;
      case 'C': p.in[0] = length; break;
      case 'D': p.in[1] = length; break;
      case 'H': p.in[2] = length; break;
      default: p.in[3] = length; break;
    }
  }
  p.dtype = x.dtype();
  return p;
}

Shape pool_shape(const PoolProblem& p, const std::string& layout, const Quad& lengths) {
  Shape out;
  for (const char letter : layout) {
    const std::size_t at = letter == 'C' ? 0 : letter == 'D' ? 1 : letter == 'H' ? 2 : 3;
    out.push_back(letter == 'N' ? p.n : lengths[at]);
  }
  return out;
}

PoolOptions pool_options(const Epilogue& epilogue, const py::object& stream) {
  PoolOptions o;
  o.alpha = epilogue.alpha;
  o.beta = epilogue.beta;
  o.rounding = epilogue.rounding;
  o.stream = stream_from(stream);
  return o;
}

namespace {

// A pooling of tensors of x's shape, if there is one to tell.
const Tensor& shaped_as(const std::optional<Tensor>& x, const std::optional<Tensor>& out) {
  if (!x && !out) throw InvalidArgument("pool: neither x nor out is given; needs one that has the gradient's shape");
  return x ? *x : *out;
}

Tensor target(const std::optional<Tensor>& out, const Shape& shape, Dtype dtype, float beta) {
  if (out) {
    before_write(*out);
    return *out;
  }
  if (beta != 0.0F) throw InvalidArgument("pool: beta is " + std::to_string(beta) + " but there is no out to read");
  return Tensor::empty(shape, dtype);
}

}  // namespace

void bind_pool(py::module_& m) {
  m.def("pool_fprop", [](const std::string& op, const Tensor& x, const std::optional<Tensor>& out,
                         const std::string& layout, const PoolGeometry& geometry, const Epilogue& epilogue,
                         const py::object& stream, const std::optional<Tensor>& argmax, bool relu) {
    const PoolProblem p = pool_problem(op, x, layout, geometry);
    PoolOptions options = pool_options(epilogue, stream);
    options.relu = relu;
    const GilRelease release;
    Tensor y = target(out, pool_shape(p, layout, p.out()), p.dtype, options.beta);
    if (argmax) {
      before_write(*argmax);
      Tensor codes = *argmax;
      max_pool_fprop(p, x, y, codes, options);
    } else {
      pool_fprop(p, x, y, options);
    }
    return y;
  });
  m.def("pool_bprop", [](const std::string& op, const Tensor& dy, const std::optional<Tensor>& x,
                         const std::optional<Tensor>& out, const std::string& layout, const PoolGeometry& geometry,
                         const Epilogue& epilogue, const py::object& stream, const std::optional<Tensor>& argmax) {
    if (!x && !argmax) throw InvalidArgument("pool: neither x nor argmax is given; needs one of them");
    const Tensor& like = shaped_as(x, out);
    const PoolProblem p = pool_problem(op, like, layout, geometry);
    const PoolOptions options = pool_options(epilogue, stream);
    const GilRelease release;
    Tensor dx = target(out, like.shape(), p.dtype, options.beta);
    if (argmax) {
      max_pool_bprop(p, dy, *argmax, dx, options);
    } else if (p.op != PoolOp::avg && !out && !x->contiguous()) {  // kernels find x and dx alike
      Tensor dense = Tensor::empty(x->shape(), x->dtype());
      convert(*x, dense, {}, options.stream);
      pool_bprop(p, dy, dense, dx, options);
    } else {
      pool_bprop(p, dy, *x, dx, options);
    }
    return dx;
  });
  m.def("pool_argmax_bytes",
        [](const std::string& op, const Tensor& x, const std::string& layout, const PoolGeometry& geometry) {
          return pool_argmax_bytes(pool_problem(op, x, layout, geometry));
        });
}

}  // namespace nervanagpu::python
