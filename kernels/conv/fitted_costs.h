// Constants of an H200, written by `conv_fit --steps 20000 --seed 5 benchmarks/results/conv_sweep.jsonl`.
//
//                        passes   regret: before  after   error: before  after
//   fitted   fprop          183           1.0202 1.0072            1.124  1.087
//   fitted   bprop          153           1.0336 1.0175            1.121  1.090
//   fitted   update         168           1.0558 1.0141            1.114  1.082
//   held out fprop           71           1.0257 1.0224            1.122  1.097
//   held out bprop           56           1.0357 1.0189            1.112  1.086
//   held out update          64           1.0398 1.0196            1.099  1.082
//
// regret: the chosen variant's time over the best's, error: the model's of variants within twice the best's time;
// geometric means. Times: 9840 on an H100, 2626 on an H200, whose memory counts as 0.83 of an H200's.
#pragma once

#include "kernels/conv/costs.h"

namespace nervanagpu::conv_detail {

// clang-format off
inline constexpr Costs kFitted = {
    .memory = 3.047,
    .copy = 1.484,
    .positions = {
        .start = 1.917,
        .early = 1.06,
        .tile = 0.4874,
        .turn = 0.9251,
        .turn_end = 0.7983,
        .sum = 0.9384,
        .part = 0.0002551,
        .sums = 1.741,
        .block = {0.6403, 0.4914, 0.3468, 0.2546, 0.3289, 0.2454, 0.3112},
        .whole_row = 0.001145,
        .part_row = 0.001924,
        .odd_row = 0.003839,
    },
    .update = {
        .start = 1.642,
        .early = 0.7333,
        .tile = 0.8003,
        .turn = 0.5489,
        .turn_end = 0.6642,
        .sum = 0.533,
        .part = 0.03696,
        .sums = 1.597,
        .block = {0.6185, 0.4789, 0.3346, 0.2569, 0.3512, 0.26, 0.345},
        .whole_row = 0.001299,
        .part_row = 0.001741,
        .odd_row = 0.003975,
    },
    .gather = {
        .start = 1.529,
        .early = 1.185,
        .tile = 0.5731,
        .sum = 0.8873,
        .part = 2.858e-05,
        .sums = 1.519,
        .block = {0.4415, 0.5903, 0.7175, 0.4803, 0.7084, 0.7702, 0.9509, 1.296, 1.193},
    },
    .gather_update = {
        .start = 0.9682,
        .early = 0.01736,
        .tile = 0.526,
        .sum = 1.657,
        .part = 0.05076,
        .sums = 1.006,
        .block = {0.4399, 0.8664, 1.012, 0.4594, 0.9142, 1.059, 0.6629, 1.088, 1.989},
    },
    .halo = {
        .start = 0.8899,
        .early = 1.001,
        .step = {0.04305, 0.07808, 0.1188, 0.08551, 0.1536, 0.1159, 0.06068, 0.09903},
        .tile = {1.285, 1.637, 1.582, 1.223, 2.151, 2.46, 1.574, 1.687},
        .part_row = 0.004645,
        .latency = 1.124,
    },
    .halo_update = {
        .start = 3.247,
        .row = 0.001672,
        .part_row = 0.00262,
        .column = 0.5292,
        .reading = 11.91,
        .wide = 0.3795,
        .sums = 0.4375,
    },
    .resident = {
        .start = 2.21,
        .early = 2.973,
        .step = 0.05907,
        .whole_row = 0.00105,
        .part_row = 0.00194,
        .epilogue = 1.211,
    },
    .cells = {
        .start = 4.241,
        .elements = 1.324,
    },
    .product = {
        .start = 0.1982,
        .run = 1.153,
    },
};
// clang-format on

}  // namespace nervanagpu::conv_detail
