// Products that do not depend on each other, in few launches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "nervanagpu/gemm.hpp"
#include "src/device/device.h"

namespace nervanagpu::sgemm {

// Device memory for tables of addresses of so many products.
std::size_t tables_of(std::size_t products);

// Calls `launch` with problems that together compute all of `products`, in some order: those of one form as a batch where
// they lie at equal distances, or else by tables, which are written to `tables` first (tables_of() bytes, aligned to 16; 0: no
// tables are used). k is not cut, unless a product's `splits` says so: the bits are those of each product alone with 1.
void launch_group(Device& device, const std::vector<GemmProblem>& products, std::uint64_t tables, StreamId stream,
                  const std::function<void(const GemmProblem&)>& launch);

}  // namespace nervanagpu::sgemm
