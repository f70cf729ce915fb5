#include "python/operations/bind_conv.h"

#include <pybind11/stl.h>

#include <array>
#include <optional>

namespace nervanagpu::python {
namespace {

// N, C and the spatial lengths of a tensor in a layout; missing spatial axes are 1. `name`: for messages.
struct Lengths {
  std::int64_t n = 1, c = 1;
  std::array<std::int64_t, 3> spatial = {1, 1, 1};
};

Lengths lengths_of(const char* name, const Shape& shape, Layout layout, std::size_t axes) {
  if (shape.size() != axes + 2) {
    throw InvalidArgument(std::string("conv: ") + name + " has " + std::to_string(shape.size()) + " axes; needs " +
                          std::to_string(axes + 2));
  }
  Lengths out;
  std::size_t first = 1;  // of the spatial axes
  switch (layout) {
    case Layout::channels_last: out.n = shape.front(), out.c = shape.back(); break;
    case Layout::batch_last: out.c = shape.front(), out.n = shape.back(); break;
    case Layout::channels_first: out.n = shape[0], out.c = shape[1], first = 2; break;
  }
  for (std::size_t i = 0; i < axes; ++i) out.spatial[3 - axes + i] = shape[first + i];
  return out;
}

// The same of a filter: n is K, c is C / groups.
Lengths filter_of(const Shape& shape, Layout layout, std::size_t axes) {
  return lengths_of("w", shape, layout, axes);
}

Shape shape_of(const Lengths& l, Layout layout, std::size_t axes) {
  const Shape spatial(l.spatial.end() - static_cast<std::ptrdiff_t>(axes), l.spatial.end());
  Shape out = spatial;
  switch (layout) {
    case Layout::channels_last: out.insert(out.begin(), l.n), out.push_back(l.c); break;
    case Layout::batch_last: out.insert(out.begin(), l.c), out.push_back(l.n); break;
    case Layout::channels_first: out.insert(out.begin(), {l.n, l.c}); break;
  }
  return out;
}

Shape out_shape(const ConvProblem& p, std::size_t axes) {
  return shape_of({p.n, p.k, p.out()}, p.layout, axes);
}

Tensor target(const std::optional<Tensor>& out, const Shape& shape, Dtype dtype, float beta) {
  if (out) {
    before_write(*out);
    return *out;
  }
  if (beta != 0.0F) throw InvalidArgument("conv: beta is " + std::to_string(beta) + " but there is no out to read");
  return Tensor::empty(shape, dtype);
}

}  // namespace

ConvProblem conv_problem(const std::string& layout, const Shape& x, const Shape& w, const Geometry& geometry,
                         std::int64_t groups, std::size_t axes) {
  ConvProblem p;
  p.layout = layout_from_name(layout);
  if (layout.size() != axes + 2) {
    throw InvalidArgument("conv: layout is " + layout + "; needs one of " + std::to_string(axes + 2) + " letters for " +
                          std::to_string(axes) + " spatial axes");
  }
  const Lengths lx = lengths_of("x", x, p.layout, axes);
  // batch_last filters are (C/groups, T, R, S, K): K stands where N does.
  const Lengths lw = filter_of(w, p.layout, axes);
  p.n = lx.n;
  p.c = lx.c;
  p.k = lw.n;
  p.in = lx.spatial;
  p.filter = lw.spatial;
  p.pad = geometry[0];
  p.stride = geometry[1];
  p.dilation = geometry[2];
  p.groups = groups;
  if (groups >= 1 && lw.c * groups != lx.c) {
    throw InvalidArgument("conv: x has " + std::to_string(lx.c) + " channels and w " + std::to_string(lw.c) +
                          " for each of " + std::to_string(groups) + " groups; needs as many");
  }
  return p;
}

ConvOptions conv_options(const Epilogue& epilogue, bool tensor_cores, const std::optional<Tensor>& mask,
                         const ChannelSums& sums, const py::object& stream) {
  ConvOptions o;
  o.alpha = epilogue.alpha;
  o.beta = epilogue.beta;
  o.rounding = epilogue.rounding;
  o.tensor_cores = tensor_cores;
  o.mask = mask ? &*mask : nullptr;
  o.channel_sum = sums.first ? &*sums.first : nullptr;
  o.channel_sum_squares = sums.second ? &*sums.second : nullptr;
  o.stream = stream_from(stream);
  return o;
}

void finish_by(ConvOptions& options, const std::optional<Tensor>& bias, bool relu, const std::string& activation,
               const Clip& clip, const std::optional<Tensor>& scale) {
  options.bias = bias ? &*bias : nullptr;
  options.relu = relu;
  options.activation = activation_from("conv", activation);
  options.clip_low = clip.first;
  options.clip_high = clip.second;
  options.scale = scale ? &*scale : nullptr;
}

namespace {

void before_sums(const ConvOptions& options) {
  for (const Tensor* t : {options.channel_sum, options.channel_sum_squares}) {
    if (t != nullptr) before_write(*t);
  }
}

// scaled: sums of bytes are, whether by a tensor or by alpha.
Dtype result_of(const Tensor& w, const std::optional<Tensor>& out, bool scaled) {
  if (w.dtype() != Dtype::int8) return w.dtype();
  return out ? out->dtype() : scaled ? Dtype::float32 : Dtype::int32;
}

}  // namespace

void bind_conv(py::module_& m) {
  py::class_<SharedPieces>(m, "SharedPieces",
                           R"(Float16 pieces that precision "tensor" has made of a tensor, for passes that share them.

conv2d() leaves those of x (x_pieces=), conv2d_bprop() those of dy (dy_pieces=), and conv2d_update() takes them, so that each
is split once a step; in 1D and 3D alike. All in one stream, and nobody writes the tensor in between. What is not split in
two pieces leaves nothing. The bits of dw are the same, but where single elements have no good pieces: then products may
be added in another order.)")
      .def(py::init<>())
      .def_property_readonly("made", &SharedPieces::made, "Whether a pass has left some.")
      .def_property_readonly("nbytes", &SharedPieces::bytes, "Bytes of device memory.");
  m.def("conv_fprop",
        [](const Tensor& x, const Tensor& w, const std::optional<Tensor>& out, const std::optional<Tensor>& bias,
           bool relu, const std::string& layout, const Geometry& geometry, std::int64_t groups, std::size_t axes,
           const Epilogue& epilogue, bool tensor_cores, const std::optional<Tensor>& mask, const ChannelSums& sums,
           const py::object& stream, const std::string& activation, const Clip& clip,
           const std::optional<Tensor>& scale, bool scaled, SharedPieces* pieces) {
          ConvProblem p = conv_problem(layout, x.shape(), w.shape(), geometry, groups, axes);
          p.x_type = x.dtype();
          p.w_type = w.dtype();
          p.y_type = result_of(w, out, scaled);
          ConvOptions options = conv_options(epilogue, tensor_cores, mask, sums, stream);
          finish_by(options, bias, relu, activation, clip, scale);
          options.x_pieces = pieces;
          const GilRelease release;
          if (options.mask != nullptr) before_write(*options.mask);
          before_sums(options);
          Tensor y = target(out, out_shape(p, axes), p.y_type, options.beta);
          conv_fprop(p, x, w, y, options);
          return y;
        });
  m.def("conv_bprop", [](const Tensor& dy, const Tensor& w, const std::optional<Tensor>& out, const py::object& x_shape,
                         const std::string& layout, const Geometry& geometry, std::int64_t groups, std::size_t axes,
                         const Epilogue& epilogue, bool tensor_cores, const std::optional<Tensor>& mask,
                         const ChannelSums& sums, const py::object& stream, SharedPieces* pieces) {
    const Shape shape = shape_from(x_shape);
    ConvProblem p = conv_problem(layout, shape, w.shape(), geometry, groups, axes);
    p.x_type = p.y_type = dy.dtype();
    p.w_type = w.dtype();
    ConvOptions options = conv_options(epilogue, tensor_cores, mask, sums, stream);
    options.dy_pieces = pieces;
    const GilRelease release;
    before_sums(options);
    Tensor dx = target(out, shape, p.x_type, options.beta);
    conv_bprop(p, dy, w, dx, options);
    return dx;
  });
  m.def("conv_update", [](const Tensor& dy, const Tensor& x, const std::optional<Tensor>& out,
                          const py::object& w_shape, const std::string& layout, const Geometry& geometry,
                          std::int64_t groups, std::size_t axes, const Epilogue& epilogue, bool tensor_cores,
                          const py::object& stream, SharedPieces* x_pieces, SharedPieces* dy_pieces) {
    const Shape shape = shape_from(w_shape);
    ConvProblem p = conv_problem(layout, x.shape(), shape, geometry, groups, axes);
    p.x_type = x.dtype();
    p.w_type = p.y_type = dy.dtype();
    ConvOptions options = conv_options(epilogue, tensor_cores, {}, {}, stream);
    options.x_pieces = x_pieces, options.dy_pieces = dy_pieces;
    const GilRelease release;
    Tensor dw = target(out, shape, p.w_type, options.beta);
    conv_update(p, dy, x, dw, options);
    return dw;
  });
}

}  // namespace nervanagpu::python
