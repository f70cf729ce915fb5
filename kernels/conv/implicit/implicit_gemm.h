// A pass of a convolution as products whose operand is gathered by the copy engine: what hconv.sass is told, as plain data.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "nervanagpu/conv.hpp"
#include "nervanagpu/tensor_map.hpp"

namespace nervanagpu::conv_detail {

// Along width, height and depth, as the copy engine counts.
using Inner = std::array<std::int64_t, 3>;

// Positions whose pixels are gathered, and the taps.
struct Gather {
  Inner positions = {1, 1, 1};
  Inner step = {1, 1, 1}, low = {0, 0, 0};  // position i reads the pixel i * step + low,
  Inner taps = {1, 1, 1};
  Inner move = {1, 1, 1};  // and with tap v the one v * move further on
  std::int64_t tap0 = 0;   // tap v is the filter's tap0 + sum of v * tap_step
  Inner tap_step = {0, 0, 0};
  Inner first = {0, 0, 0}, stride = {1, 1, 1};  // of the pixels of the result: position i is first + i * stride
  [[nodiscard]] std::int64_t count() const { return positions[0] * positions[1] * positions[2]; }
  [[nodiscard]] std::int64_t all_taps() const { return taps[0] * taps[1] * taps[2]; }
  // Pixels of an image of this size that are read: strides pass over some.
  [[nodiscard]] std::int64_t pixels(const Inner& size) const {
    std::int64_t all = 1;
    for (std::size_t axis = 0; axis < 3; ++axis)
      all *= std::min(size[axis], positions[axis] * std::min(step[axis], taps[axis]));
    return all;
  }
};

// The launches of a pass; bprop with strides: one for each class of positions of x that meet the same taps. Classes without a
// tap are left out. None: the copy engine's maps cannot say it.
std::optional<std::vector<Gather>> gathers(ConvPass pass, const ConvProblem& p);

// The same, whatever the maps can say: for positions at stride 1, or of fprop and update, one.
std::vector<Gather> gathers_of(ConvPass pass, const ConvProblem& p);

// Depth has to be walked: maps of rank 5.
bool volume(const ConvProblem& p);

// The copy engine's maps can say it, of pixels of a tensor of this size. volume: maps of rank 5.
bool possible(const Gather& g, const Inner& size, bool volume);

// The positions of all images, as if images lay one after the other along the depth: a map has its last coordinate for
// something else then. None: there is a depth, or maps cannot say it.
std::optional<Gather> over_images(const Gather& g, const ConvProblem& p, const Inner& size);

// A tensor with channels last: some of its channels, and elements from pixel to pixel.
struct Pixels {
  std::uint64_t address = 0;
  Dtype type = Dtype::float16;
  std::int64_t channels = 0, pitch = 0;
  Inner size = {1, 1, 1};
  std::int64_t n = 1;
  std::int64_t line = 0;  // elements from line to line; 0: lines lie one after the other
  [[nodiscard]] std::int64_t count() const { return n * size[0] * size[1] * size[2]; }
};

// Channels of a block of 128 bytes: 64, of bytes 128.
std::int64_t block_of(Dtype type);

// Columns of `pixels` pixels, of a block's channels.
TensorMap columns_map(const Pixels& t, const Gather& g, bool volume, std::uint32_t pixels);
// The same of each of several groups of channels, which lie side by side: size, positions and taps are over_images().
TensorMap groups_map(const Pixels& t, const Gather& g, std::int64_t groups, std::uint32_t pixels);
// A block's channels of `filters` filters at a tap. w: `size` and `n` are taps and filters.
TensorMap filters_map(const Pixels& w, std::uint32_t filters);
// The same of one of several groups of filters, one after the other.
TensorMap filters_map(const Pixels& w, std::uint32_t filters, std::int64_t groups);
// Of half a block's channels; as many pixels as a tile has rows.
TensorMap half_columns_map(const Pixels& t, const Gather& g, bool volume);
// 64 channels of 64 pixels.
TensorMap rows_map(const Pixels& t);

}  // namespace nervanagpu::conv_detail
