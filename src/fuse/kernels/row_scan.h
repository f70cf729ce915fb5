// Running sums along rows that lie side by side in memory.
#pragma once

#include <cstdint>

#include "nervanagpu/dtype.hpp"

namespace nervanagpu::fuse {

// out[o][i] = in[o][0] + ... + in[o][i], computed in dtype `sum` (of float32, float64, int64, uint64), for rows of `n`
// elements; arrays are contiguous, out * n less than 2^31. In an order that depends on n and on whether the addresses are
// multiples of 16.
void scan_rows(Dtype in, Dtype sum, Dtype out, std::int64_t rows, std::int64_t n, std::uint64_t from, std::uint64_t to);

}  // namespace nervanagpu::fuse
