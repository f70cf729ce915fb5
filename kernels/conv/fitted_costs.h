// Constants of an H200, written by `conv_fit --steps 3000 --seed 1 --only product benchmarks/results/conv/conv_sweep.jsonl`.
//
//                        passes   regret: before  after   error: before  after
//   fitted   fprop          213           1.0036 1.0036            1.079  1.078
//   fitted   bprop          186           1.0095 1.0095            1.082  1.082
//   fitted   update         191           1.0143 1.0089            1.074  1.073
//   held out fprop           37           1.0231 1.0254            1.098  1.098
//   held out bprop           41           1.0065 1.0102            1.096  1.096
//   held out update          29           1.0126 1.0071            1.068  1.068
//
// before: the constants in use until then. regret: the chosen variant's time over the best's; error: the model's, of variants within
// twice the best's time. Geometric means; a network's layer counts as three random ones.
// Times: 6903 on an H100, 5949 on an H200, whose memory counts as 0.61 of an H200's.
// All constants but product's: `conv_fit --steps 40000 --seed 1` of these times, 1x1 filters' older ones among them. swapped: least
// squares of the random layers of few filters, 8 % off; the five networks' are held out, 7 % off. half_row, zero_row: least squares of
// 242 timings of PASS h of hconv.sass (44 layers), 7 % off.
#pragma once

#include "kernels/conv/costs.h"

namespace nervanagpu::conv_detail {

// clang-format off
inline constexpr Costs kFitted = {
    .memory = 3.52,
    .copy = 2.047,
    .positions = {
        .start = 1.875,
        .early = 1.684,
        .tile = 0.4649,
        .turn = 0.8727,
        .turn_end = 0.1901,
        .sum = 0.802,
        .part = 6.612e-08,
        .sums = 1.806,
        .block = {0.6445, 0.4997, 0.3485, 0.2434, 0.338, 0.2449, 0.3264},
        .whole_row = 0.001232,
        .part_row = 0.001922,
        .odd_row = 0.003851,
        .half_row = 0.0011,
        .zero_row = 0.0058,
    },
    .update = {
        .start = 1.615,
        .early = 0.7824,
        .tile = 0.7161,
        .turn = 0.6758,
        .turn_end = 0.7534,
        .sum = 0.4737,
        .part = 0.04028,
        .sums = 1.539,
        .block = {0.6288, 0.4712, 0.3412, 0.2657, 0.3545, 0.26, 0.345},
        .whole_row = 0.001352,
        .part_row = 0.001735,
        .odd_row = 0.003299,
    },
    .gather = {
        .start = 1.614,
        .early = 0.914,
        .tile = 0.5185,
        .sum = 0.9824,
        .part = 3.813e-09,
        .sums = 1.343,
        .block = {0.4415, 0.5973, 0.7265, 0.4826, 0.7091, 0.7827, 0.9823, 1.317, 1.231},
    },
    .gather_update = {
        .start = 0.8568,
        .early = 4.308e-10,
        .tile = 0.439,
        .sum = 1.629,
        .part = 0.0586,
        .sums = 1.13,
        .block = {0.4383, 0.8425, 1.004, 0.4567, 0.8893, 1.067, 0.661, 1.163, 2.005},
    },
    .halo = {
        .start = 1.005,
        .early = 1.186,
        .step = {0.04292, 0.08518, 0.1547, 0.07717, 0.1192, 0.1175, 0.06121, 0.09956},
        .tile = {1.29, 1.246, 2.196, 1.637, 1.476, 2.446, 1.611, 1.579},
        .part_row = 0.004344,
        .latency = 1.131,
    },
    .swapped = {
        .start = 1.138,
        .hidden = 1.589,
        .place = 0.000587,
        .tile = 1.132,
        .chunk = 0.425,
        .any = 1.3,
        .zeros = 0.00493,
        .latency = 1.463,
    },
    .halo_update = {
        .start = 3.128,
        .row = 0.001697,
        .part_row = 0.002531,
        .column = 0.5332,
        .reading = 12.69,
        .wide = 0.3635,
        .sums = 0.4458,
    },
    .resident = {
        .start = 2.21,
        .early = 2.7,
        .step = 0.06772,
        .whole_row = 0.0009991,
        .part_row = 0.00194,
        .epilogue = 1.025,
    },
    .cells = {
        .start = 3.625,
        .elements = 0.7754,
    },
    .narrow = {
        .start = 3,
        .step = 0.041,
        .epilogue = 0.55,
        .load = 0.025,
    },
    .narrow_swapped = {
        .start = 3,
        .step = 0.0182,
        .load = 0.0643,
    },
    .narrow_update = {
        .start = 9.5,
        .unit = 0.00042,
        .words = 0.12,
        .any = 0.03,
        .channel = 0.045,
        .memory = 4.3,
    },
    .product = {
        .start = 0,
        .run = 1.032,
    },
};
// clang-format on

}  // namespace nervanagpu::conv_detail
