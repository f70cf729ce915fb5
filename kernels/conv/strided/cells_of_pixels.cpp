#include "kernels/conv/strided/cells_of_pixels.h"

#include <algorithm>

#include "kernels/conv/problem.h"
#include "kernels/conv/tensor_cores.h"
#include "kernels/gemm/types.h"
#include "src/ceil_div.h"
#include "src/launch/values.h"

namespace nervanagpu::conv_detail::by_cells {
namespace {

// Pixels of cells in front of the first one of dx, `least` or more, so that a product's cells cover all `pixels`: those after them
// are as many.
std::int64_t pixels_before(std::int64_t pixels, std::int64_t step, std::int64_t least) {
  std::int64_t before = std::max<std::int64_t>(least, 0);
  while ((pixels + 2 * before) / step < ceil_div(pixels + before, step)) ++before;
  return before;
}

}  // namespace

std::optional<Cells> of_pixels(const ConvProblem& p, const Flat& step) {
  constexpr std::int64_t kFew = 8;  // channels
  constexpr std::int64_t kMostFilters = std::int64_t{1} << 28;
  if (p.c >= kFew || p.groups != 1 || p.stride != decltype(p.stride){1, 1, 1}) return std::nullopt;
  if (!sgemm::half(p.x_type)) return std::nullopt;
  Cells c;
  c.pass = ConvPass::fprop;
  c.step = step;
  c.zeros_meet = true;
  ConvProblem& q = c.problem;
  q = beside(p);
  std::swap(q.x_pitch, q.y_pitch);
  q.in = p.out();
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const std::int64_t pixels = axis == 0 ? 1 : step[axis - 1];
    const std::int64_t reach = p.dilation[axis] * (p.filter[axis] - 1);
    if (pixels > 1 && p.dilation[axis] > 1 && p.filter[axis] > 1) return std::nullopt;
    q.pad[axis] = reach - p.pad[axis];
    if (axis == 0 && q.pad[axis] < 0) return std::nullopt;
    if (axis == 0) continue;
    const std::int64_t before = c.before[axis - 1] = pixels_before(p.in[axis], pixels, -q.pad[axis]);
    q.pad[axis] += before;
    q.filter[axis] += pixels - 1;
    q.stride[axis] = pixels;
    if (pixels > 1) q.dilation[axis] = 1;
  }
  c.row = step[1] * p.c;
  q.c = p.k;
  q.k = whole_channels(p, step[0] * c.row);
  const auto real = [](std::int64_t v) { return static_cast<double>(v); };
  const double filters = real(q.filter[0]) * real(q.filter[1]) * real(q.filter[2]) * real(q.c) * real(q.k);
  if (filters >= kMostFilters || real(p.w_elements()) >= kMostFilters) return std::nullopt;
  const bool possible = tensor_cores::takes(c.pass, q) && tensor_cores::fits(c.pass, q, {}, {});
  return possible ? std::optional(c) : std::nullopt;
}

std::vector<Cells> of_pixels(const ConvProblem& p) {
  constexpr Flat kSteps[] = {{1, 2}, {1, 4}, {1, 8}, {2, 2}, {2, 4}, {4, 4}, {4, 8}, {8, 8}};
  std::vector<Cells> out;
  for (const Flat& step : kSteps) {
    if (const auto c = of_pixels(p, step)) out.push_back(*c);
  }
  return out;
}

void move_filters(Device& device, const Cells& c, const ConvProblem& p, std::uint64_t w, std::uint64_t to,
                  const Stream& stream) {
  constexpr std::int64_t kThreads = 256;
  const ConvProblem& q = c.problem;
  const std::int64_t total = q.w_elements();
  Values v;
  v.u64(w).u64(to).u32(total).divisor(q.c).divisor(q.filter[2]).divisor(q.filter[1]).divisor(q.filter[0]);
  v.divisor(p.c).divisor(c.step[1]).u32(c.step[0]).u32(p.filter[2] - 1).u32(p.filter[1] - 1);
  for (const std::int64_t stride : laid_out(p, Role::w).strides) v.u32(width_of(p.w_type) * stride);
  v.launch(device, *device.registry().find("cell_filters"),
           {static_cast<std::uint32_t>(ceil_div(total, kThreads)), 1, 1}, stream.handle());
}

}  // namespace nervanagpu::conv_detail::by_cells
