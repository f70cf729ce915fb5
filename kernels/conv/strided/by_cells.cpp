#include "kernels/conv/strided/by_cells.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "kernels/conv/arena.h"
#include "kernels/conv/fitted_costs.h"
#include "kernels/conv/problem_facts.h"
#include "kernels/conv/strided/cells_of_pixels.h"
#include "kernels/conv/strided/cells_of_strides.h"
#include "kernels/conv/tensor_cores.h"
#include "kernels/gemm/types.h"
#include "nervanagpu/nn.hpp"
#include "src/ceil_div.h"
#include "src/launch/values.h"

namespace nervanagpu::conv_detail::by_cells {
namespace {

constexpr std::int64_t kLimit = std::int64_t{1} << 31;

// The cells as the pass computes them: channels, and cells along depth, height and width.
std::int64_t channels_of(const Cells& c) {
  return c.pass == ConvPass::bprop ? c.problem.c : c.problem.k;
}
std::array<std::int64_t, 3> space_of(const Cells& c) {
  return c.pass == ConvPass::bprop ? c.problem.in : c.problem.out();
}
std::int64_t elements_of(const Cells& c) {
  return c.pass == ConvPass::bprop ? c.problem.x_elements() : c.problem.y_elements();
}

// 32-bit numbers of pixels.sass.
bool fits_numbers(const Cells& c, const ConvProblem& p) {
  constexpr std::int64_t kWidest = 4096;  // channels
  if (std::max({c.step[0], c.step[1], p.c}) >= kWidest || channels_of(c) > kWidest) return false;
  const auto space = space_of(c);
  const std::int64_t plane = space[1] * space[2] * channels_of(c) * width_of(p.x_type);
  const Strided x = laid_out(p, Role::x);
  std::int64_t reach = width_of(p.x_type);  // in an image
  for (std::size_t i = 1; i < x.shape.size(); ++i) reach += (x.shape[i] - 1) * x.strides[i] * width_of(p.x_type);
  if (plane >= kLimit || reach >= kLimit || p.x_elements() >= kLimit) return false;
  return std::max({c.before[0], c.before[1] * p.c, p.in[1], p.in[2] * p.c}) < kLimit / 2;
}

double launches(const ConvProblem& p) {
  double classes = 1;
  for (const std::int64_t stride : p.stride) classes *= static_cast<double>(stride);
  return classes;
}

double copied_bytes(const Cells& c, const ConvProblem& p) {
  const auto width = static_cast<double>(width_of(p.x_type));
  return width * static_cast<double>(elements_of(c) + p.x_elements() + p.w_elements() + c.problem.w_elements());
}

// Of what computes a pass without cells.
double plain_microseconds(ConvPass pass, const ConvProblem& p) {
  constexpr double kLaunch = 2.5;  // of a class by multiply-adds
  return tensor_cores::microseconds(pass, p) + kLaunch * (pass == ConvPass::bprop ? launches(p) : 1);
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
  at.dx = arena.take(elements_of(c) * width);
  if (p.layout != Layout::channels_last) {
    at.dy = arena.take(p.y_elements() * width);
    if (c.pass == ConvPass::bprop) at.own = arena.take(p.w_elements() * width);
  }
  at.inner = arena.take(0);
  return at;
}

void to_channels_last(const ConvProblem& p, Role role, std::uint64_t from, std::uint64_t to, const Stream& stream) {
  const Shape shape = shape_of(p, role);
  Tensor target = Tensor::wrap(to, shape, as_laid_out(Layout::channels_last, shape).strides, p.x_type);
  convert(Tensor::wrap(from, shape, laid_out(p, role).strides, p.x_type), target, {}, stream);
}

// Elements that a thread moves at once: they lie in one run of both.
std::int64_t elements_of_unit(const Cells& c, const ConvProblem& p, const Strided& x, std::uint64_t address) {
  const std::int64_t width = width_of(p.x_type);
  if (x.strides[4] != 1) return 1;
  const bool gaps = x.strides[3] != p.c;
  std::int64_t v = 16 / width;
  const auto divides = [&] {
    if (c.row % v != 0 || c.before[1] * p.c % v != 0 || p.in[2] * p.c % v != 0 || (gaps && p.c % v != 0)) return false;
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
  const Strided x = laid_out(p, Role::x);
  const std::int64_t width = width_of(p.x_type);
  const std::int64_t v = elements_of_unit(c, p, x, to);
  const bool one_run = x.strides[4] == 1 && x.strides[3] == p.c;  // a line of x
  const std::int64_t row = p.in[2] * p.c / v;
  const std::int64_t total = p.n * p.in[0] * p.in[1] * row;
  std::uint32_t bits = bits_of(nothing, p.x_type);
  if (width == 2) bits |= bits << 16;
  const auto space = space_of(c);
  const std::int64_t cell = width * channels_of(c);
  Values values;
  values.u64(cells).u64(to).u64(static_cast<std::uint64_t>(width * x.strides[0])).u32(total);
  values.divisor(row).divisor(p.in[1]).divisor(p.in[0]).divisor(one_run ? row : p.c / v);
  values.divisor(c.row / v).divisor(c.step[0]);
  values.u32(c.before[1] * p.c / v).u32(c.before[0]).u32(space[2]).u32(space[1]);
  values.u32(space[1] * space[2] * cell).u32(space[2] * cell).u32(cell).u32(width * c.row);
  values.u32(width * x.strides[1]).u32(width * x.strides[2]).u32(one_run ? 0 : width * x.strides[3]);
  values.u32(width * v * x.strides[4]).u32(bits);
  const Kernel* kernel = device.registry().find("pixels_" + std::to_string(v * width));
  values.launch(device, *kernel, {static_cast<std::uint32_t>(ceil_div(total, kThreads)), 1, 1}, stream.handle());
}

}  // namespace

ConvProblem beside(const ConvProblem& p) {
  ConvProblem q = p;
  q.layout = Layout::channels_last;
  q.x_pitch = 0;
  q.y_pitch = p.layout == Layout::channels_last ? p.y_pitch : 0;
  return q;
}

std::int64_t whole_channels(const ConvProblem& p, std::int64_t channels) {
  const std::int64_t unit = 16 / width_of(p.x_type);
  return ceil_div(channels, unit) * unit;
}

double microseconds(const Cells& c, const ConvProblem& p) {
  double copies = (c.pass == ConvPass::bprop && c.zeros_meet ? 5 : 2) * kFitted.copy;
  copies += copied_bytes(c, p) * 1e-6 / kFitted.memory;
  // Of cells of strides that is not counted, nor what p as it is copies.
  if (c.pass == ConvPass::fprop && p.layout != Layout::channels_last) {
    copies += copy_microseconds(static_cast<double>(p.y_elements() * width_of(p.y_type)), kFitted);
  }
  return plain_microseconds(c.pass, c.problem) + copies;
}

std::optional<Cells> cells_of(ConvPass pass, const ConvProblem& p) {
  constexpr double kClearly = 0.85;
  if (pass != ConvPass::bprop || p.groups != 1) return std::nullopt;
  std::vector<Cells> all = of_pixels(p);
  if (const auto c = of_strides(p)) all.push_back(*c);
  if (all.empty()) return std::nullopt;
  std::optional<Cells> best;
  double least = kClearly * plain_microseconds(pass, p);
  for (const Cells& c : all) {
    // Zeros would make NaN of what is infinite: strict's special values are float32's in every precision.
    if (!fits_numbers(c, p) || (c.zeros_meet && !sgemm::half(p.x_type))) continue;
    const double cost = microseconds(c, p);
    if (cost < least) best = c, least = cost;
  }
  return best;
}

bool is_forced(const Forced& forced) {
  return forced.kernel.starts_with("_bycells_");
}

std::optional<Cells> named(const ConvProblem& p, const Forced& forced) {
  for (const Cells& c : of_pixels(p)) {
    const std::string name = "_bycells_" + std::to_string(c.step[0]) + "_" + std::to_string(c.step[1]);
    if (name == forced.kernel && fits_numbers(c, p)) return c;
  }
  return std::nullopt;
}

bool fits(const Cells& c, const ConvProblem& p, const ConvPointers& pointers, const Epilogue& e, bool zeros_may) {
  if (e.beta != 0 || e.rounding.stochastic || (c.zeros_meet && !zeros_may)) return false;
  if (c.pass == ConvPass::bprop) return true;
  // By multiply-adds the zeros would cost as much as what they stand between.
  ConvPointers q;  // copies are aligned
  if (p.layout == Layout::channels_last) q.in1 = pointers.in1;
  return tensor_cores::fits(c.pass, c.problem, q, e);
}

std::size_t workspace(const Cells& c, const ConvProblem& p) {
  return places_of(c, p, 0).inner + known(c.pass, c.problem).workspace;
}

void queue(Device& device, const Cells& c, const ConvProblem& p, const ConvPointers& pointers, const Epilogue& e,
           const Inner& inner, const Stream& stream) {
  const Places at = places_of(c, p, pointers.workspace);
  ConvPointers q = pointers;
  q.mask = 0;
  q.in2 = at.w, q.out = at.dx, q.workspace = at.inner;
  if (p.layout != Layout::channels_last) {
    q.in1 = at.dy;
    to_channels_last(p, Role::y, pointers.in1, q.in1, stream);
  }
  if (c.pass == ConvPass::fprop) {
    move_filters(device, c, p, pointers.in2, q.in2, stream);
  } else {
    std::uint64_t w = pointers.in2;
    if (p.layout != Layout::channels_last) to_channels_last(p, Role::w, pointers.in2, w = at.own, stream);
    copy_strided_filters(device, c, p, w, q.in2, stream);
  }
  inner(c.pass, c.problem, q);
  copy_pixels(device, c, p, q.out, pointers.out, e.alpha * 0.0F, stream);
}

}  // namespace nervanagpu::conv_detail::by_cells
