#include "kernels/conv/strided/cells_of_strides.h"

#include <array>

#include "kernels/conv/problem.h"
#include "nervanagpu/nn.hpp"
#include "src/ceil_div.h"

namespace nervanagpu::conv_detail::by_cells {

std::optional<Cells> of_strides(const ConvProblem& p) {
  if (p.stride[1] * p.stride[2] == 1) return std::nullopt;
  Cells c;
  ConvProblem& q = c.problem;
  q = beside(p);
  const auto out = p.out();
  for (const std::size_t axis : {1, 2}) {
    const std::int64_t step = c.step[axis - 1] = p.stride[axis];
    if (step == 1) continue;  // its padding and dilation stay
    if (p.dilation[axis] > 1 && p.filter[axis] > 1) return std::nullopt;
    c.before[axis - 1] = p.pad[axis];
    q.filter[axis] = ceil_div(p.filter[axis], step);
    q.in[axis] = out[axis] + q.filter[axis] - 1;
    q.pad[axis] = 0;
    q.stride[axis] = q.dilation[axis] = 1;
    c.zeros_meet = c.zeros_meet || p.filter[axis] % step != 0;
  }
  c.row = p.stride[2] * p.c;
  q.c = whole_channels(p, c.step[0] * c.row);
  return c;
}

// Whole cells, and those of the last lines and columns, which have less.
void copy_strided_filters(Device& device, const Cells& c, const ConvProblem& p, std::uint64_t w, std::uint64_t to,
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

}  // namespace nervanagpu::conv_detail::by_cells
