// Places of a pooling's largest elements as numbers of elements of x: pool_places.sass.
#pragma once

#include <cstdint>

#include "kernels/pool/problem.h"
#include "src/device/device.h"

namespace nervanagpu::pool_detail {

constexpr std::int64_t kMostPlaces = (std::int64_t{1} << 31) - 128;  // threads of a launch; smaller ones for tests

// Throws InvalidArgument for what queue_places() does not take.
void check_places(const PoolProblem& p, std::uint64_t argmax, std::uint64_t places);

// Checked before anything is queued.
void queue_places(Device& device, const PoolProblem& p, std::uint64_t argmax, std::uint64_t places, StreamId stream,
                  std::int64_t most = kMostPlaces);

}  // namespace nervanagpu::pool_detail
