// Every kernel of pixels.sass: a gradient of few channels with strides, whose lines are cut into units of its bytes. And
// cell_filters.sass: one without strides, by cells of any sides.
#include <algorithm>
#include <stdexcept>

#include "kernels/conv/strided/by_cells.h"
#include "kernels/conv/strided/cells_of_pixels.h"
#include "kernels/conv/tensor_cores.h"
#include "nervanagpu/conv.hpp"
#include "src/device/select_device.h"
#include "test/gpu/buffer.h"
#include "test/gpu/cases.h"
#include "test/gpu/reference.h"
#include "test/variants/other.h"

namespace nervanagpu::variants {
namespace {

using gpu_test::Buffer;
using gpu_test::choose;
using gpu_test::pick;
using gpu_test::Values;

// Lines of x, padding and rows of cells are multiples of `elements`, and of no more. Zeros may meet dy on tensor cores alone.
ConvProblem draw(Random& random, bool zeros_may, std::int64_t elements, Dtype type, double products) {
  for (;;) {
    ConvProblem p = gpu_test::random_conv(random, products);
    p.layout = Layout::channels_last;
    p.groups = 1;
    p.x_type = p.w_type = p.y_type = type;
    p.c = elements * (2 * pick(random, 0, 2) + 1);
    p.dilation = {1, 1, 1};
    p.in[1] = pick(random, 3, 16), p.in[2] = 2 * pick(random, 2, 8) + 1;
    for (const std::size_t axis : {1U, 2U}) {
      p.stride[axis] = pick(random, 2, 4);
      p.filter[axis] = std::min(p.stride[axis] * pick(random, 1, 2), p.in[axis]);
      p.pad[axis] = pick(random, 0, p.filter[axis] - 1);
    }
    if (p.in[0] + 2 * p.pad[0] < p.filter[0] || p.flops() > 4 * products) continue;
    const auto cells = conv_detail::by_cells::cells_of(ConvPass::bprop, p);
    if (cells && conv_detail::by_cells::fits(*cells, p, {}, {}, zeros_may)) return p;
  }
}

// Of pixels: in cells of one of the sides that there are.
struct Moved {
  ConvProblem p;
  conv_detail::by_cells::Cells cells;
};
Moved draw_moved(Random& random, Dtype type, double products) {
  constexpr std::int64_t kMost = 7;  // channels
  for (;;) {
    ConvProblem p = gpu_test::random_conv(random, products);
    p.groups = 1, p.c = pick(random, 1, kMost);
    p.stride = {1, 1, 1};
    p.x_type = p.w_type = p.y_type = type;
    bool whole = true;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const std::int64_t reach = p.dilation[axis] * (p.filter[axis] - 1);
      whole = whole && p.in[axis] + 2 * p.pad[axis] > reach;
    }
    if (!whole || p.flops() > 4 * products) continue;
    const auto all = conv_detail::by_cells::of_pixels(p);
    if (!all.empty())
      return {p, all[static_cast<std::size_t>(pick(random, 0, static_cast<std::int64_t>(all.size()) - 1))]};
  }
}

}  // namespace

Outcome strided(Random& random, const Kernel& kernel, const Limits& limits) {
  constexpr Dtype kTypes[] = {Dtype::float32, Dtype::float16, Dtype::bfloat16};
  const bool moves = kernel.manifest().op == "cell_filters";
  const std::int64_t unit = moves ? 2 : kernel.number("UNIT");
  Dtype type = choose(random, kTypes);
  if (static_cast<std::int64_t>(size_of(type)) > unit) type = pick(random, 0, 1) == 0 ? kTypes[1] : kTypes[2];
  const auto width = static_cast<std::int64_t>(size_of(type));
  const bool zeros_may = conv_detail::tensor_cores::there(current_device().registry());
  const double products = std::min(limits.products, 4e5);
  Moved moved;
  if (moves) moved = draw_moved(random, type, products);
  const ConvProblem p = moves ? moved.p : draw(random, zeros_may, unit / width, type, products);
  const Values dy = gpu_test::integers(random, p.y_elements(), 4, type);
  const Values w = gpu_test::integers(random, p.w_elements(), 4, type);
  ConvOptions options;
  constexpr float kFactors[] = {1, 2, -1};
  options.alpha = choose(random, kFactors);
  Values want = gpu_test::convolution(ConvPass::bprop, p, dy, w);
  for (double& v : want) v = gpu_test::round_to(v * options.alpha, type);
  const Buffer device_dy(dy, type);
  const Buffer device_w(w, type);
  const Buffer dx = Buffer::poisoned(static_cast<std::size_t>(p.x_elements() * width));
  const Buffer workspace =
      Buffer::poisoned(moves ? conv_detail::by_cells::workspace(moved.cells, p) : conv_workspace(ConvPass::bprop, p));
  ConvPointers at;
  at.in1 = device_dy.address(), at.in2 = device_w.address(), at.out = dx.address();
  at.workspace = workspace.address();
  if (moves) {
    conv_detail::Epilogue e;
    e.alpha = options.alpha;
    const auto inner = [&](ConvPass pass, const ConvProblem& of_cells, const ConvPointers& own) {
      conv_detail::tensor_cores::queue(current_device(), pass, of_cells, own, e, {});
    };
    conv_detail::by_cells::queue(current_device(), moved.cells, p, at, e, inner, {});
  } else {
    conv(ConvPass::bprop, p, at, options);
  }
  Outcome out;
  out.elements = p.x_elements();
  out.problem = "bprop of " + gpu_test::text_of(p) + " alpha " + std::to_string(options.alpha);
  out.features = {"bprop", std::string(nervanagpu::name_of(type)) + " result"};
  out.wrong = gpu_test::difference(dx, gpu_test::encode(want, type), type);
  static_cast<void>(workspace.get());
  if (out.wrong.empty() && !workspace.guards().empty()) out.wrong = "the workspace " + workspace.guards();
  return out;
}

}  // namespace nervanagpu::variants
