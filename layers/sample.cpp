// The shape of one sample, and of a batch of them in either layout.
#include "nervanagpu/layers/sample.hpp"

#include "layers/text.h"
#include "nervanagpu/error.hpp"

namespace nervanagpu::layers {

Sample Sample::of(const Shape& shape, Dtype dtype) {
  if (shape.empty() || shape.size() > 4) {
    refuse("input_shape", text_of(shape), "(features,), (W, C), (H, W, C) or (D, H, W, C)");
  }
  Sample s;
  s.axes = static_cast<int>(shape.size()) - 1;
  s.channels = shape.back();
  s.dtype = dtype;
  for (std::size_t i = 0; i + 1 < shape.size(); ++i) s.space[4 - shape.size() + i] = shape[i];
  std::int64_t left = std::int64_t{1} << 40;
  for (const std::int64_t v : shape) {
    if (v < 1 || v > left) refuse("input_shape", text_of(shape), "lengths of 1 or more, at most 2^40 elements in all");
    left /= v;
  }
  return s;
}

Shape Sample::shape() const {
  Shape out(space.end() - axes, space.end());
  out.push_back(channels);
  return out;
}

std::int64_t Sample::size() const {
  return positions() * channels;
}

Shape Sample::batch(std::int64_t n, Layout layout) const {
  const Shape inner(space.end() - axes, space.end());
  Shape out = {layout == Layout::batch_last ? channels : n};
  out.insert(out.end(), inner.begin(), inner.end());
  out.push_back(layout == Layout::batch_last ? n : channels);
  return out;
}

std::string Sample::text() const {
  return text_of(shape());
}

}  // namespace nervanagpu::layers
