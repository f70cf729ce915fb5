// Samples in host memory, gathered into a batch.
#pragma once

#include <cstddef>
#include <functional>

namespace nervanagpu::layers {

// Rows number(0), number(1) ... of `from`, `bytes` each, one after the other in `to`. Several threads gather large batches.
void gather_rows(const std::byte* from, std::size_t bytes, const std::function<std::size_t(std::size_t)>& number,
                 std::size_t count, std::byte* to);

}  // namespace nervanagpu::layers
