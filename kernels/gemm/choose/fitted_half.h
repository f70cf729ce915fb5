// Written by benchmarks/half_fit.py, from benchmarks/results/half_products.jsonl: do not edit.
// Times of 621 products on an H200. The chosen variant's time over the best's, a geometric mean:
// NN 1.0221 of 162, held out 1.0157 of 66
// NT 1.0221 of 136, held out 1.0166 of 64
// TN 1.0448 of 131, held out 1.0539 of 45
#pragma once

#include "kernels/gemm/choose/half_costs.h"

namespace nervanagpu::hgemm::half {

// clang-format off
inline constexpr Tiles kTiles = {
    .moves = {{{0.0007416, 0.001231, 0.001891}}, 0.001997, 0.0009262, 3.948, {1, 1.094, 1.319}, 15.99, 24.7, 2.165},
    .start = 1.206,
    .early_start = 0.9974,
    .tile = 0.1026,
    .columns = 0.3162,
    .ping_pong = 0.6283,
    .ping_pong_end = 1.025,
    .ping_pong_block = 0.2705,
    .sum = 0.8893,
    .part = 0.02407,
    .sums = 1.385,
    .block = {0.1427, 0.2989, 0.4605, 0.623},
};
inline constexpr Resident kResident = {
    .moves = {{{0.0003095, 0.0009719, 0.001942}}, 0.001031, 0.001483, 4.291, {1, 1.118, 1.315}, 9.649, kNever, 1.509},
    .start = 0.8257,
    .early_start = 1.118,
    .column = 0.001115,
    .tile = 0.2076,
    .columns = 0.1298,
    .load = 0.7531,
};
inline constexpr Cluster kCluster = {
    .moves = {{{0.0003977, 0.0006091, 0.001322}}, 0.0007625, 0.001105, 11.31, {1, 0.9579, 1.108}, 28.35, 36.27, kNever},
    .start = 0.4293,
    .twice = 2.066,
    .meet = 0.0502,
    .part = 0.01971,
    .block = {0.04817, 0.0509, 0.06522, 0.09437},
    .end = {1.089, 1.196, 1.523, 2.048},
};
inline constexpr Pair kPair = {
    .moves = {{{0.0005961, 0.0007416, 0.001335}}, 0.001102, 0.001564, 3.524, {1, 1.24, 1.503}, 10.49, kNever, 5.248},
    .start = 1.395,
    .block = 0.1215,
    .tile = 0.581,
};
// clang-format on

}  // namespace nervanagpu::hgemm::half
