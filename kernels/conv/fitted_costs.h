// Constants of an H200, written by `conv_fit --steps 2500 --seed 1 benchmarks/results/conv_sweep.jsonl`.
//
//                        passes   regret: before  after   error: before  after
//   fitted   fprop          225           1.0155 1.0064            1.088  1.086
//   fitted   bprop          185           1.0131 1.0124            1.091  1.086
//   fitted   update         206           1.0213 1.0121            1.084  1.083
//   held out fprop           29           1.0303 1.0355            1.116  1.117
//   held out bprop           24           1.0288 1.0278            1.103  1.100
//   held out update          29           1.0276 1.0126            1.083  1.079
//
// before: the constants in use until then. regret: the chosen variant's time over the best's; error: the model's, of variants within
// twice the best's time. Geometric means; a network's layer counts as three random ones.
// Times: 9846 on an H100, 2626 on an H200, whose memory counts as 0.85 of an H200's.
// narrow: of four first layers on an H200 (docs/lab/narrow.md), not fitted.
#pragma once

#include "kernels/conv/costs.h"

namespace nervanagpu::conv_detail {

// clang-format off
inline constexpr Costs kFitted = {
    .memory = 3.047,
    .copy = 1.462,
    .positions = {
        .start = 1.844,
        .early = 1.189,
        .tile = 0.4874,
        .turn = 0.9225,
        .turn_end = 0.7341,
        .sum = 0.9129,
        .part = 0.000255,
        .sums = 1.737,
        .block = {0.6445, 0.4997, 0.3585, 0.2541, 0.3335, 0.2454, 0.3158},
        .whole_row = 0.001206,
        .part_row = 0.001936,
        .odd_row = 0.004115,
    },
    .update = {
        .start = 1.642,
        .early = 0.7423,
        .tile = 0.7012,
        .turn = 0.8586,
        .turn_end = 0.726,
        .sum = 0.5368,
        .part = 0.0413,
        .sums = 1.597,
        .block = {0.6288, 0.4886, 0.3515, 0.2569, 0.3512, 0.26, 0.345},
        .whole_row = 0.001299,
        .part_row = 0.001775,
        .odd_row = 0.00418,
    },
    .gather = {
        .start = 1.562,
        .early = 1.205,
        .tile = 0.5727,
        .sum = 0.8726,
        .part = 1.285e-05,
        .sums = 1.52,
        .block = {0.4415, 0.5903, 0.7175, 0.4807, 0.6861, 0.7702, 0.9149, 1.117, 1.193},
    },
    .gather_update = {
        .start = 0.9003,
        .early = 0.02493,
        .tile = 0.4566,
        .sum = 1.629,
        .part = 0.05917,
        .sums = 1.08,
        .block = {0.4399, 0.713, 1.017, 0.4594, 0.8944, 1.058, 0.6577, 1.093, 1.997},
    },
    .halo = {
        .start = 0.9748,
        .early = 1.002,
        .step = {0.04305, 0.07808, 0.1194, 0.08551, 0.1541, 0.1167, 0.06121, 0.1005},
        .tile = {1.31, 1.637, 1.513, 1.231, 2.177, 2.46, 1.574, 1.594},
        .part_row = 0.004651,
        .latency = 1.127,
    },
    .halo_update = {
        .start = 3.128,
        .row = 0.001704,
        .part_row = 0.002581,
        .column = 0.5265,
        .reading = 12.61,
        .wide = 0.3706,
        .sums = 0.4425,
    },
    .resident = {
        .start = 2.21,
        .early = 2.992,
        .step = 0.06594,
        .whole_row = 0.001043,
        .part_row = 0.00194,
        .epilogue = 1.056,
    },
    .cells = {
        .start = 4.255,
        .elements = 0.8966,
    },
    .narrow = {
        .start = 4.5,
        .step = 0.041,
        .epilogue = 1.0,
        .load = 0.02,
    },
    .product = {
        .start = 0.1968,
        .run = 1.153,
    },
};
// clang-format on

}  // namespace nervanagpu::conv_detail
