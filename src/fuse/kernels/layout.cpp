#include "src/fuse/kernels/layout.h"

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

void order(std::vector<Axis>& axes, std::size_t leader) {
  std::ranges::stable_sort(
      axes, [&](const Axis& a, const Axis& b) { return std::abs(a.strides[leader]) > std::abs(b.strides[leader]); });
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

std::vector<std::int64_t> row_strides(const Tensor& t, const Shape& shape, const std::vector<int>& axes, bool dropped) {
  if (!dropped) return broadcast_strides(t, shape);
  Shape rest;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (std::ranges::find(axes, static_cast<int>(i)) == axes.end()) rest.push_back(shape[i]);
  }
  const std::vector<std::int64_t> strides = broadcast_strides(t, rest);
  std::vector<std::int64_t> out(shape.size(), 0);
  std::size_t next = 0;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (std::ranges::find(axes, static_cast<int>(i)) == axes.end()) out[i] = strides[next++];
  }
  return out;
}

Layout row_layout(const Shape& shape, const std::vector<int>& axes,
                  const std::vector<std::vector<std::int64_t>>& strides, std::size_t leader) {
  std::vector<Axis> rows;
  std::vector<Axis> row;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    Axis a;
    a.length = shape[i];
    for (const auto& s : strides) a.strides.push_back(s[i]);
    const bool inside = std::ranges::find(axes, static_cast<int>(i)) != axes.end();
    (inside ? row : rows).push_back(std::move(a));
  }
  order(rows, leader);
  Layout out;
  out.axes = merged(std::move(rows));
  row = merged(std::move(row));
  if (row.size() > 1) return {};
  if (row.empty()) row.push_back({1, std::vector<std::int64_t>(strides.size(), 0)});
  out.axes.push_back(std::move(row[0]));
  return out;
}

Layout layout_of(const Shape& shape, const std::vector<Tensor>& operands, std::size_t leader) {
  std::vector<Axis> axes(shape.size());
  for (std::size_t i = 0; i < shape.size(); ++i) axes[i].length = shape[i];
  for (const Tensor& t : operands) {
    const std::vector<std::int64_t> strides = broadcast_strides(t, shape);
    for (std::size_t i = 0; i < shape.size(); ++i) axes[i].strides.push_back(strides[i]);
  }
  order(axes, leader);
  Layout out;
  out.axes = merged(std::move(axes));
  if (out.axes.empty()) out.axes.push_back({1, std::vector<std::int64_t>(operands.size(), 0)});
  return out;
}

}  // namespace nervanagpu::fuse
