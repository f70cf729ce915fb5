#include "src/fuse/layout.h"

#include <algorithm>
#include <cstdlib>

namespace nervanagpu::fuse {
namespace {

// Outer and inner are one walk: a step of the outer axis is `length` steps of the inner one, for every operand.
bool mergeable(const Axis& outer, const Axis& inner) {
  for (std::size_t k = 0; k < outer.strides.size(); ++k) {
    if (outer.strides[k] != inner.strides[k] * inner.length) return false;
  }
  return true;
}

std::vector<Axis> merged(std::vector<Axis> axes) {
  std::erase_if(axes, [](const Axis& a) { return a.length == 1; });
  std::vector<Axis> out;
  for (Axis& a : axes) {
    if (!out.empty() && mergeable(out.back(), a)) {
      const std::int64_t length = out.back().length * a.length;
      out.back() = std::move(a);
      out.back().length = length;
    } else {
      out.push_back(std::move(a));
    }
  }
  return out;
}

}  // namespace

std::vector<std::int64_t> broadcast_strides(const Tensor& t, const Shape& shape) {
  std::vector<std::int64_t> out(shape.size(), 0);
  const std::size_t skip = shape.size() - t.shape().size();
  for (std::size_t i = 0; i < t.shape().size(); ++i) {
    if (t.shape()[i] != 1) out[skip + i] = t.strides()[i];
  }
  return out;
}

Layout layout_of(const Shape& shape, const std::vector<Tensor>& operands, std::size_t leader, std::size_t fixed) {
  std::vector<Axis> axes(shape.size());
  for (std::size_t i = 0; i < shape.size(); ++i) axes[i].length = shape[i];
  for (const Tensor& t : operands) {
    const std::vector<std::int64_t> strides = broadcast_strides(t, shape);
    for (std::size_t i = 0; i < shape.size(); ++i) axes[i].strides.push_back(strides[i]);
  }
  const auto inner = axes.end() - static_cast<std::ptrdiff_t>(fixed);
  std::vector<Axis> rows(axes.begin(), inner);
  std::vector<Axis> row(inner, axes.end());
  if (leader < operands.size()) {
    std::ranges::stable_sort(
        rows, [&](const Axis& a, const Axis& b) { return std::abs(a.strides[leader]) > std::abs(b.strides[leader]); });
  }
  Layout out;
  out.axes = merged(std::move(rows));
  if (fixed > 0) {
    for (Axis& a : merged(std::move(row))) out.axes.push_back(std::move(a));
  }
  if (out.axes.empty()) out.axes.push_back({1, std::vector<std::int64_t>(operands.size(), 0)});
  return out;
}

}  // namespace nervanagpu::fuse
