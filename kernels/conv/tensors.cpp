// Convolution of tensors: shapes, dtypes, memory; the workspace comes from the pool.
#include "kernels/conv/tensors.h"

#include <array>
#include <string>

#include "kernels/conv/problem.h"
#include "kernels/conv/problem_facts.h"
#include "kernels/conv/shared_pieces.h"
#include "kernels/gemm/epilogue/relu_mask.h"
#include "nervanagpu/error.hpp"
#include "src/device/placement.h"
#include "src/memory/workspace.h"
#include "src/tensor/pixel_pitch.h"
#include "src/tensor/shape.h"
#include "src/tensor/shares_memory.h"

namespace nervanagpu {
namespace conv_detail {
namespace {

Shape shape_of(const ConvProblem& p, Role role, int spatial) {
  return role == Role::x ? x_shape(p, spatial) : role == Role::w ? w_shape(p, spatial) : y_shape(p, spatial);
}

// The leading spatial axes that a tensor leaves out must have length 1.
bool may_leave_out(const ConvProblem& p, int axes) {
  const auto out = p.out();
  for (int d = 0; d < axes; ++d) {
    const auto at = static_cast<std::size_t>(d);
    if (p.in[at] != 1 || p.filter[at] != 1 || out[at] != 1) return false;
  }
  return true;
}

void check_tensor(const ConvProblem& p, const char* name, Role role, const Tensor& t) {
  if (t.dtype() != type_of(p, role)) {
    throw TypeError(std::string("conv: ") + name + " has dtype " + std::string(nervanagpu::name_of(t.dtype())) +
                    "; needs " + std::string(nervanagpu::name_of(type_of(p, role))));
  }
  int spatial = t.ndim() - 2;
  if (spatial < 1 || spatial > 3 || !may_leave_out(p, 3 - spatial)) spatial = 3;
  const Shape needed = shape_of(p, role, spatial);
  if (t.shape() != needed) {
    throw InvalidArgument(std::string("conv: ") + name + " has shape " + text_of(t.shape()) + "; needs " +
                          text_of(needed));
  }
  const bool sliceable = p.layout == Layout::channels_last && role != Role::w;
  if (!t.contiguous() && !(sliceable && pixel_pitch(t) != 0)) {
    throw InvalidArgument(std::string("conv: ") + name + " has strides " + text_of(t.strides()) +
                          "; needs contiguous memory (copy() makes it)" +
                          (sliceable ? ", or a slice of the last axis of such" : ""));
  }
}

// Into the problem, which may know it.
void put_pitch(ConvProblem& p, const char* name, Role role, const Tensor& t) {
  if (role == Role::w || p.layout != Layout::channels_last) return;
  std::int64_t& pitch = role == Role::x ? p.x_pitch : p.y_pitch;
  const std::int64_t found = t.contiguous() ? 0 : pixel_pitch(t);
  const std::int64_t given = apart(p, role) ? pitch : 0;
  if (given != 0 && given != found) {
    throw InvalidArgument(std::string("conv: ") + name + " has strides " + text_of(t.strides()) + "; needs " +
                          std::to_string(given) + " elements from pixel to pixel, as the problem says");
  }
  pitch = found;
}

void check_apart(const char* out_name, const Tensor& out, const char* name, const Tensor& t) {
  if (shares_memory(out, t)) {
    throw InvalidArgument(std::string("conv: ") + out_name + " shares memory with " + name +
                          "; needs memory of its own");
  }
}

// A number for each of `channels`.
void check_vector(std::int64_t channels, const std::string& name, const Tensor& t) {
  const Shape needed = {channels};
  if (t.shape() != needed) {
    throw InvalidArgument("conv: " + name + " has shape " + text_of(t.shape()) + "; needs " + text_of(needed));
  }
  if (!t.contiguous()) {
    throw InvalidArgument("conv: " + name + " has strides " + text_of(t.strides()) + "; needs contiguous memory");
  }
}

void check_floats(std::int64_t channels, const std::string& name, const Tensor& t) {
  if (t.dtype() != Dtype::float32) {
    throw TypeError("conv: " + name + " has dtype " + std::string(nervanagpu::name_of(t.dtype())) + "; needs float32");
  }
  check_vector(channels, name, t);
}

void check_mask(const Tensor& mask, const Tensor& out, const char* out_name) {
  if (mask.dtype() != Dtype::uint32 && mask.dtype() != Dtype::int32) {
    throw TypeError("conv: mask has dtype " + std::string(nervanagpu::name_of(mask.dtype())) +
                    "; needs uint32 or int32");
  }
  Shape needed = out.shape();
  needed.back() = sgemm::words_of_mask(needed.back());
  if (mask.shape() != needed) {
    throw InvalidArgument("conv: mask has shape " + text_of(mask.shape()) + "; needs " + text_of(needed) +
                          ", a bit for each element of " + out_name);
  }
  if (!mask.contiguous() && pixel_pitch(mask) == 0) {
    throw InvalidArgument("conv: mask has strides " + text_of(mask.strides()) +
                          "; needs contiguous memory, or a slice of the last axis of such");
  }
}

}  // namespace

void check_apart(ConvPass pass, const Tensor& in1, const Tensor& in2, const Tensor& out, const More& more) {
  const Roles roles = roles_of(pass);
  const char* out_name = name_of(pass, roles.out);
  const auto from_all = [&](const char* written, const Tensor& t) {
    check_apart(written, t, name_of(pass, roles.in1), in1);
    check_apart(written, t, name_of(pass, roles.in2), in2);
    if (more.bias != nullptr) check_apart(written, t, "bias", *more.bias);
    if (more.scale != nullptr) check_apart(written, t, "scale", *more.scale);
  };
  from_all(out_name, out);
  if (more.mask != nullptr) {
    from_all("mask", *more.mask);
    check_apart("mask", *more.mask, out_name, out);
  }
  struct Vector {
    const char* name;
    const Tensor* tensor;
  };
  const std::array sums = {Vector{"channel_sum", more.channel_sum},
                           Vector{"channel_sum_squares", more.channel_sum_squares}};
  for (const Vector& v : sums) {
    if (v.tensor == nullptr) continue;
    from_all(v.name, *v.tensor);
    check_apart(v.name, *v.tensor, out_name, out);
    if (more.mask != nullptr) check_apart(v.name, *v.tensor, "mask", *more.mask);
  }
  if (sums[0].tensor != nullptr && sums[1].tensor != nullptr) {
    check_apart(sums[1].name, *sums[1].tensor, sums[0].name, *sums[0].tensor);
  }
}

Described describe(ConvPass pass, const ConvProblem& given, const Tensor& in1, const Tensor& in2, const Tensor& out,
                   const ConvOptions& options) {
  check(pass, given);
  Described d = {given, {}};
  if (given.x_type == Dtype::float32) d.problem.precision = options.precision;
  const Roles roles = roles_of(pass);
  check_tensor(given, name_of(pass, roles.in1), roles.in1, in1);
  check_tensor(given, name_of(pass, roles.in2), roles.in2, in2);
  check_tensor(given, name_of(pass, roles.out), roles.out, out);
  put_pitch(d.problem, name_of(pass, roles.in1), roles.in1, in1);
  put_pitch(d.problem, name_of(pass, roles.in2), roles.in2, in2);
  put_pitch(d.problem, name_of(pass, roles.out), roles.out, out);
  if (options.bias != nullptr) {
    check_vector(given.k, "bias", *options.bias);
    d.pointers.bias = options.bias->address();
    d.pointers.bias_type = options.bias->dtype();
  }
  if (options.scale != nullptr) {
    check_floats(given.k, "scale", *options.scale);
    d.pointers.scale = options.scale->address();
  }
  if (options.mask != nullptr) {
    check_mask(*options.mask, out, name_of(pass, roles.out));
    d.pointers.mask = options.mask->address();
    d.pointers.mask_pitch = options.mask->contiguous() ? 0 : pixel_pitch(*options.mask);
  }
  const std::int64_t channels = shape_of(given, roles.out)[4];
  if (options.channel_sum != nullptr) {
    check_floats(channels, "channel_sum", *options.channel_sum);
    d.pointers.channel_sum = options.channel_sum->address();
  }
  if (options.channel_sum_squares != nullptr) {
    check_floats(channels, "channel_sum_squares", *options.channel_sum_squares);
    d.pointers.channel_sum_squares = options.channel_sum_squares->address();
  }
  check_apart(pass, in1, in2, out, more_of(options));
  d.pointers.in1 = in1.address();
  d.pointers.in2 = in2.address();
  d.pointers.out = out.address();
  return d;
}

namespace {

void run(ConvPass pass, const ConvProblem& given, const Tensor& in1, const Tensor& in2, Tensor& out,
         const ConvOptions& options) {
  const Roles roles = roles_of(pass);
  const Placed placed("conv", {{name_of(pass, roles.in1), in1},
                               {name_of(pass, roles.in2), in2},
                               {name_of(pass, roles.out), out},
                               {"bias", options.bias},
                               {"mask", options.mask},
                               {"scale", options.scale},
                               {"channel_sum", options.channel_sum},
                               {"channel_sum_squares", options.channel_sum_squares},
                               {"stream", options.stream}});
  Described d = describe(pass, given, in1, in2, out, options);
  const bool sums = options.channel_sum != nullptr || options.channel_sum_squares != nullptr;
  const Workspace workspace(conv_workspace(pass, d.problem, sums), options.stream);
  d.pointers.workspace = workspace.address();
  share_pieces(pass, d, in1, in2, options);
  conv(pass, d.problem, d.pointers, options);
  note_pieces(pass, d, in1, options);
  for (const Tensor* t : {&in1, &in2, static_cast<const Tensor*>(&out), options.bias, options.mask, options.scale,
                          options.channel_sum, options.channel_sum_squares}) {
    if (t != nullptr) t->used_on(options.stream);
  }
}

}  // namespace
}  // namespace conv_detail

void conv_fprop(const ConvProblem& p, const Tensor& x, const Tensor& w, Tensor& y, const ConvOptions& options) {
  conv_detail::run(ConvPass::fprop, p, x, w, y, options);
}

void conv_bprop(const ConvProblem& p, const Tensor& dy, const Tensor& w, Tensor& dx, const ConvOptions& options) {
  conv_detail::run(ConvPass::bprop, p, dy, w, dx, options);
}

void conv_update(const ConvProblem& p, const Tensor& dy, const Tensor& x, Tensor& dw, const ConvOptions& options) {
  conv_detail::run(ConvPass::update, p, dy, x, dw, options);
}

}  // namespace nervanagpu
