// What a pooling launched for a problem that came before, planned: a call of the same form searches and packs nothing.
#pragma once

#include "kernels/pool/pool.h"

namespace nervanagpu::pool_detail {

// queue() and queue_indices() by cached plans. Thread-safe.
void queue_planned(Device& device, Pass pass, const PoolProblem& p, const Pointers& pointers,
                   const PoolOptions& options);
void indices_planned(Device& device, const PoolProblem& p, std::uint64_t argmax, std::uint64_t indices,
                     StreamId stream);

}  // namespace nervanagpu::pool_detail
