// Written by benchmarks/half_fit.py, from benchmarks/results/gemm/half_products.jsonl: do not edit.
// Times of 727 products on an H200. The chosen variant's time over the best's, a geometric mean:
// NN 1.0189 of 198, held out 1.0205 of 82
// NT 1.0237 of 176, held out 1.0190 of 78
// TN 1.0402 of 137, held out 1.0517 of 48
#pragma once

#include "kernels/gemm/cost/half_costs.h"

namespace nervanagpu::hgemm::half {

// clang-format off
inline constexpr Tiles kTiles = {
    .moves = {{{0.0007415, 0.001194, 0.001814}}, 0.00205, 0.001024, 3.865, {1, 1.103, 1.351}, 16.06, 25.19, 1.813},
    .start = 1.175,
    .early_start = 0.9891,
    .tile = 0.1026,
    .columns = 0.3252,
    .ping_pong = 0.6303,
    .ping_pong_end = 1.006,
    .ping_pong_block = 0.2798,
    .sum = 0.9124,
    .part = 0.02417,
    .sums = 1.414,
    .block = {0.1432, 0.3038, 0.4683, 0.6258},
};
inline constexpr Resident kResident = {
    .moves = {{{0.0002826, 0.0009483, 0.002057}}, 0.001024, 0.001485, 4.273, {1, 1.125, 1.313}, 10.33, kNever, 1.297},
    .start = 0.8699,
    .early_start = 1.114,
    .column = 0.001156,
    .tile = 0.2162,
    .columns = 0.1258,
    .load = 0.8084,
};
inline constexpr Cluster kCluster = {
    .moves = {{{0.0003845, 0.0006068, 0.001321}}, 0.0009643, 0.001076, 10.11, {1, 1.015, 1.081}, 31.51, 31.87, kNever},
    .start = 0.4432,
    .twice = 2.079,
    .meet = 0.05056,
    .part = 0.01976,
    .block = {0.04623, 0.04879, 0.06512, 0.09524},
    .end = {1.075, 1.179, 1.504, 2.041},
};
inline constexpr Pair kPair = {
    .moves = {{{0.0007037, 0.00093, 0.001476}}, 0.001145, 0.001451, 3.131, {1, 1.232, 1.499}, 18.86, 7.891, 3.874},
    .start = 1.384,
    .tile = 0.1964,
    .columns = 0.3954,
    .block = {0.1172, 0.1834, 0.2459, 0.3105, 0.407},
};
// clang-format on

}  // namespace nervanagpu::hgemm::half
