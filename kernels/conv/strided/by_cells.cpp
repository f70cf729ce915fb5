#include "kernels/conv/strided/by_cells.h"

#include <algorithm>
#include <array>
#include <string>

#include "kernels/conv/arena.h"
#include "kernels/conv/fitted_costs.h"
#include "kernels/conv/implicit/tensor_cores.h"
#include "kernels/conv/problem_facts.h"
#include "kernels/gemm/types.h"
#include "nervanagpu/nn.hpp"
#include "src/ceil_div.h"
#include "src/launch/values.h"

namespace nervanagpu::conv_detail::by_cells {
namespace {

constexpr std::int64_t kLimit = std::int64_t{1} << 31;

// The problem of the cells, if there is one that every number fits into.
std::optional<Cells> geometry(ConvPass pass, const ConvProblem& p) {
  constexpr std::int64_t kUnit = 16;  // bytes
  constexpr std::int64_t kWidest = 4096;
  if (pass != ConvPass::bprop || p.groups != 1 || p.stride[1] * p.stride[2] == 1) return std::nullopt;
  Cells c;
  ConvProblem& q = c.problem;
  q = p;
  q.layout = Layout::channels_last;
  q.x_pitch = 0;
  q.y_pitch = p.layout == Layout::channels_last ? p.y_pitch : 0;
  const auto out = p.out();
  for (const std::size_t axis : {1, 2}) {
    const std::int64_t step = p.stride[axis];
    if (step == 1) continue;  // its padding and dilation stay
    if (p.dilation[axis] > 1 && p.filter[axis] > 1) return std::nullopt;
    q.filter[axis] = ceil_div(p.filter[axis], step);
    q.in[axis] = out[axis] + q.filter[axis] - 1;
    q.pad[axis] = 0;
    q.stride[axis] = q.dilation[axis] = 1;
    c.zeros_meet = c.zeros_meet || p.filter[axis] % step != 0;
  }
  const std::int64_t unit = kUnit / width_of(p.x_type);
  c.row = p.stride[2] * p.c;
  if (p.stride[1] >= kWidest || p.stride[2] >= kWidest || p.c >= kWidest) return std::nullopt;
  q.c = ceil_div(p.stride[1] * c.row, unit) * unit;
  if (q.c > kWidest) return std::nullopt;
  // 32-bit numbers of pixels.sass.
  const std::int64_t plane = q.in[1] * q.in[2] * q.c * width_of(p.x_type);
  const Lying x = lies(p, Role::x);
  std::int64_t reach = width_of(p.x_type);  // in a picture
  for (std::size_t i = 1; i < x.shape.size(); ++i) reach += (x.shape[i] - 1) * x.strides[i] * width_of(p.x_type);
  if (plane >= kLimit || reach >= kLimit || p.x_elements() >= kLimit) return std::nullopt;
  if (std::max({p.pad[1], p.pad[2] * p.c, p.in[1], p.in[2] * p.c}) >= kLimit / 2) return std::nullopt;
  return c;
}

double launches(const ConvProblem& p) {
  double classes = 1;
  for (const std::int64_t stride : p.stride) classes *= static_cast<double>(stride);
  return classes;
}

double copied_bytes(const Cells& c, const ConvProblem& p) {
  const ConvProblem& q = c.problem;
  const auto width = static_cast<double>(width_of(p.x_type));
  return width * static_cast<double>(q.x_elements() + p.x_elements() + p.w_elements() + q.w_elements());
}

bool pays(const Cells& c, const ConvProblem& p) {
  constexpr double kLaunch = 2.5;  // of a class by multiply-adds
  constexpr double kClearly = 0.85;
  const double copies = (c.zeros_meet ? 5 : 2) * kFitted.copy + copied_bytes(c, p) * 1e-6 / kFitted.memory;
  const auto cost = [](const ConvProblem& one) {
    return tensor_cores::microseconds(ConvPass::bprop, one) + launches(one) * kLaunch;
  };
  return cost(c.problem) + copies < kClearly * cost(p);
}

// The workspace; dy and w of p are copied where they do not lie with channels last.
struct Places {
  std::uint64_t w = 0, dx = 0;    // of the cells
  std::uint64_t dy = 0, own = 0;  // dy and w of p
  std::uint64_t inner = 0;        // the pass's
};

Places places_of(const Cells& c, const ConvProblem& p, std::uint64_t workspace) {
  const std::int64_t width = width_of(p.x_type);
  Arena arena(workspace);
  Places at;
  at.w = arena.take(c.problem.w_elements() * width);
  at.dx = arena.take(c.problem.x_elements() * width);
  if (p.layout != Layout::channels_last) {
    at.dy = arena.take(p.y_elements() * width);
    at.own = arena.take(p.w_elements() * width);
  }
  at.inner = arena.take(0);
  return at;
}

void to_channels_last(const ConvProblem& p, Role role, std::uint64_t from, std::uint64_t to, const Stream& stream) {
  const Shape shape = shape_of(p, role);
  Tensor target = Tensor::wrap(to, shape, lying(Layout::channels_last, shape).strides, p.x_type);
  convert(Tensor::wrap(from, shape, lies(p, role).strides, p.x_type), target, {}, stream);
}

// The filters' cells: whole ones, and those of the last lines and columns, which have less.
void copy_filters(Device& device, const Cells& c, const ConvProblem& p, std::uint64_t w, std::uint64_t to,
                  const Stream& stream) {
  const ConvProblem& q = c.problem;
  const auto width = static_cast<std::uint64_t>(width_of(p.x_type));
  if (c.zeros_meet || q.c != p.stride[1] * c.row) {
    device.fill(to, 0, static_cast<unsigned>(width), static_cast<std::size_t>(q.w_elements()), stream.handle());
  }
  struct Span {
    std::int64_t first, cells, lines;  // of each cell
  };
  const auto spans = [&](std::size_t axis) {
    const std::int64_t step = p.stride[axis];
    const std::int64_t whole = p.filter[axis] / step;
    return std::array<Span, 2>{Span{0, whole, step}, Span{whole, 1, p.filter[axis] % step}};
  };
  const std::int64_t line = p.filter[2] * p.c;
  for (const Span& h : spans(1)) {
    for (const Span& v : spans(2)) {
      if (h.cells * h.lines * v.cells * v.lines == 0) continue;
      const Shape some = {p.k * p.filter[0], h.cells, h.lines, v.cells, v.lines * p.c};
      const std::int64_t from = h.first * p.stride[1] * line + v.first * c.row;
      const std::int64_t into = (h.first * q.filter[2] + v.first) * q.c;
      Tensor target = Tensor::wrap(to + width * static_cast<std::uint64_t>(into), some,
                                   {q.filter[1] * q.filter[2] * q.c, q.filter[2] * q.c, c.row, q.c, 1}, p.w_type);
      convert(Tensor::wrap(w + width * static_cast<std::uint64_t>(from), some,
                           {p.filter[1] * line, p.stride[1] * line, line, c.row, 1}, p.w_type),
              target, {}, stream);
    }
  }
}

// Elements that a thread moves at once: they lie in one run of both.
std::int64_t elements_of_unit(const Cells& c, const ConvProblem& p, const Lying& x, std::uint64_t address) {
  const std::int64_t width = width_of(p.x_type);
  if (x.strides[4] != 1) return 1;
  const bool gaps = x.strides[3] != p.c;
  std::int64_t v = 16 / width;
  const auto divides = [&] {
    if (c.row % v != 0 || p.pad[2] * p.c % v != 0 || p.in[2] * p.c % v != 0 || (gaps && p.c % v != 0)) return false;
    if (address % static_cast<std::uint64_t>(v * width) != 0) return false;
    return std::all_of(x.strides.begin(), x.strides.begin() + (gaps ? 4 : 3),
                       [&](std::int64_t stride) { return stride % v == 0; });
  };
  while (!divides()) v /= 2;
  return v;
}

void copy_pixels(Device& device, const Cells& c, const ConvProblem& p, std::uint64_t cells, std::uint64_t to,
                 float nothing, const Stream& stream) {
  constexpr std::int64_t kThreads = 256;
  const ConvProblem& q = c.problem;
  const Lying x = lies(p, Role::x);
  const std::int64_t width = width_of(p.x_type);
  const std::int64_t v = elements_of_unit(c, p, x, to);
  const bool one_run = x.strides[4] == 1 && x.strides[3] == p.c;  // a line of x
  const std::int64_t row = p.in[2] * p.c / v;
  const std::int64_t total = p.n * p.in[0] * p.in[1] * row;
  std::uint32_t bits = bits_of(nothing, p.x_type);
  if (width == 2) bits |= bits << 16;
  // Padding of an axis without a step is the inner problem's.
  const std::int64_t pad_w = p.stride[2] > 1 ? p.pad[2] : 0;
  const std::int64_t pad_h = p.stride[1] > 1 ? p.pad[1] : 0;
  Values values;
  values.u64(cells).u64(to).u64(static_cast<std::uint64_t>(width * x.strides[0])).u32(total);
  values.divisor(row).divisor(p.in[1]).divisor(p.in[0]).divisor(one_run ? row : p.c / v);
  values.divisor(c.row / v).divisor(p.stride[1]);
  values.u32(pad_w * p.c / v).u32(pad_h).u32(q.in[2]).u32(q.in[1]);
  values.u32(width * q.in[1] * q.in[2] * q.c).u32(width * q.in[2] * q.c).u32(width * q.c).u32(width * c.row);
  values.u32(width * x.strides[1]).u32(width * x.strides[2]).u32(one_run ? 0 : width * x.strides[3]);
  values.u32(width * v * x.strides[4]).u32(bits);
  const Kernel* kernel = device.registry().find("pixels_" + std::to_string(v * width));
  values.launch(device, *kernel, {static_cast<std::uint32_t>(ceil_div(total, kThreads)), 1, 1}, stream.handle());
}

}  // namespace

std::optional<Cells> cells_of(ConvPass pass, const ConvProblem& p) {
  std::optional<Cells> c = geometry(pass, p);
  // Zeros would make NaN of what is infinite: strict's special values are float32's in every precision.
  if (c && c->zeros_meet && !sgemm::half(p.x_type)) return std::nullopt;
  return c && pays(*c, p) ? c : std::nullopt;
}

bool fits(const Cells& c, const Epilogue& e, bool zeros_may) {
  return e.beta == 0 && !e.rounding.stochastic && (zeros_may || !c.zeros_meet);
}

std::size_t workspace(const Cells& c, const ConvProblem& p) {
  return places_of(c, p, 0).inner + known(ConvPass::bprop, c.problem).workspace;
}

void queue(Device& device, const Cells& c, const ConvProblem& p, const ConvPointers& pointers, const Epilogue& e,
           const Inner& inner, const Stream& stream) {
  const Places at = places_of(c, p, pointers.workspace);
  ConvPointers q = pointers;
  q.mask = 0;
  q.in2 = at.w, q.out = at.dx, q.workspace = at.inner;
  std::uint64_t w = pointers.in2;
  if (p.layout != Layout::channels_last) {
    q.in1 = at.dy, w = at.own;
    to_channels_last(p, Role::y, pointers.in1, q.in1, stream);
    to_channels_last(p, Role::w, pointers.in2, w, stream);
  }
  copy_filters(device, c, p, w, q.in2, stream);
  inner(c.problem, q);
  copy_pixels(device, c, p, q.out, pointers.out, e.alpha * 0.0F, stream);
}

}  // namespace nervanagpu::conv_detail::by_cells
