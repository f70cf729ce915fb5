// The shape of one sample on its way through a network: spatial lengths and channels, without the batch.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "nervanagpu/conv.hpp"
#include "nervanagpu/dtype.hpp"
#include "nervanagpu/export.hpp"
#include "nervanagpu/tensor.hpp"

namespace nervanagpu::layers {

struct Sample {
  int axes = 0;                                // spatial axes: 0 (features), 1 (W), 2 (H, W) or 3 (D, H, W)
  std::array<std::int64_t, 3> space{1, 1, 1};  // D, H, W; 1 where there is no axis
  std::int64_t channels = 1;                   // or features
  Dtype dtype = Dtype::float32;                // float32: the network's own, also if that is float16; int8, uint8

  // (features,), (W, C), (H, W, C) or (D, H, W, C). Throws InvalidArgument on other shapes and on lengths below 1.
  NG_API static Sample of(const Shape& shape, Dtype dtype = Dtype::float32);

  [[nodiscard]] NG_API Shape shape() const;        // as `of` takes it
  [[nodiscard]] NG_API std::int64_t size() const;  // elements
  [[nodiscard]] NG_API std::int64_t positions() const { return space[0] * space[1] * space[2]; }
  // Of n samples: channels_last (n, D, H, W, C) or (n, features); batch_last (C, D, H, W, n) or (features, n).
  [[nodiscard]] NG_API Shape batch(std::int64_t n, Layout layout) const;
  [[nodiscard]] NG_API std::string text() const;  // "(8, 8, 1)"
  bool operator==(const Sample&) const = default;
};

}  // namespace nervanagpu::layers
