// Indices of a pooling's largest elements as numbers of elements of x: pool_indices.sass.
#pragma once

#include <cstdint>

#include "kernels/pool/problem.h"
#include "src/device/device.h"

namespace nervanagpu::pool_detail {

constexpr std::int64_t kMostIndices = (std::int64_t{1} << 31) - 128;  // threads of a launch; smaller ones for tests

// Throws InvalidArgument for what queue_indices() does not take.
void check_indices(const PoolProblem& p, std::uint64_t argmax, std::uint64_t indices);

// Checked before anything is queued.
void queue_indices(Device& device, const PoolProblem& p, std::uint64_t argmax, std::uint64_t indices, StreamId stream,
                   std::int64_t most = kMostIndices);

}  // namespace nervanagpu::pool_detail
