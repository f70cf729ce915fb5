// The order of a dtype's elements as the kernels of sort/ take it.
#pragma once

#include <cstdint>

#include "nervanagpu/dtype.hpp"

namespace nervanagpu::sorting {

// What kernels/lib/radix.sass reads, and `pad`, a key after which no other one comes.
struct Order {
  const char* key = "";  // i8, i16, i32, i64, f16, f32, f64
  std::uint32_t flip = 0, flip_high = 0;
  std::uint32_t fold = 0, up = 0, cap = 0, mul = 0, add = 0;
  std::uint32_t pad = 0, pad_high = 0;
};

Order order_of(Dtype dtype, bool descending);

}  // namespace nervanagpu::sorting
