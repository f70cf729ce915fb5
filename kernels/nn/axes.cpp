#include "kernels/nn/axes.h"

#include <algorithm>

namespace nervanagpu::nn {

Axes canonical_axes(const Shape& shape, const Shape& from, const Shape& to) {
  Axes out;
  std::vector<Axis> all;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 1) continue;
    Axis a = {shape[i], from[i], to[i]};
    if (a.to < 0) {
      out.from_at += a.from * (a.length - 1);
      out.to_at += a.to * (a.length - 1);
      a.from = -a.from;
      a.to = -a.to;
    }
    all.push_back(a);
  }
  std::stable_sort(all.begin(), all.end(), [](const Axis& a, const Axis& b) { return a.to > b.to; });
  for (const Axis& a : all) {
    if (!out.axes.empty()) {
      Axis& outer = out.axes.back();
      if (outer.to == a.to * a.length && outer.from == a.from * a.length) {
        outer = {outer.length * a.length, a.from, a.to};
        continue;
      }
    }
    out.axes.push_back(a);
  }
  if (out.axes.empty()) out.axes.push_back({1, 1, 1});
  return out;
}

}  // namespace nervanagpu::nn
