// Launches of the kernels of this folder: rows of contiguous keys.
#pragma once

#include <cstdint>

#include "kernels/sort/order.h"
#include "src/device/device.h"

namespace nervanagpu::sorting {

struct Rows {
  std::int64_t rows = 1, n = 1;
  std::uint64_t keys = 0;
  std::uint64_t values = 0;   // the keys in order; 0: not wanted
  std::uint64_t indices = 0;  // int64; 0: not wanted
  Dtype dtype = Dtype::float32;
  bool descending = false;
};

constexpr std::int64_t kMostKeys = std::int64_t{1} << 30;  // of a row: fewer than these

// The longest rows of which each is sorted by one CTA.
std::int64_t most_of_row(std::size_t width);
// Keys of a tile of sort_pass.
std::int64_t tile_of(std::size_t width, bool indices);

// sort_row: n <= most_of_row().
void sort_in_cta(Device& device, const Rows& r, StreamId stream);
// sort_histogram and sort_pass.
void sort_by_digits(Device& device, const Rows& r);

}  // namespace nervanagpu::sorting
