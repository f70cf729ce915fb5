// Convolutions with few channels, whose rows gconv.sass gathers: which there could be, and which variant computes them.
#pragma once

#include <cstdint>

#include "kernels/conv/implicit/hconv_choice.h"
#include "kernels/conv/implicit/implicit_gemm.h"
#include "kernels/conv/launch.h"
#include "nervanagpu/gemm.hpp"
#include "src/device/device.h"
#include "src/launch/values.h"

namespace nervanagpu::conv_detail::gconv {

// Each group is a launch.
constexpr std::int64_t kMostGroups = 4;

// The pass could be gathered; few_channels.h says whether it is.
bool possible(ConvPass pass, const ConvProblem& p);
// A group's pixels that are gathered, or their copy with channels last.
Pixels gathered(ConvPass pass, const ConvProblem& p);
// What a launch takes, by a model of an H200; and what the cheapest takes.
double microseconds(char pass, const GemmProblem& product, std::int64_t run, double bytes, const hconv::Choice& choice,
                    const Costs& costs = kFitted);
double least_microseconds(char pass, const GemmProblem& product, std::int64_t run, double bytes);

// Neighbouring channels that one load can bring: 8, 4 or 1. The result does not depend on it. usual_run: wherever they lie.
std::int64_t run_of(const Pixels& t);
std::int64_t usual_run(std::int64_t channels);
// There is room for the tables of such loads.
bool has_room(std::int64_t columns, std::int64_t run);

// product: of the gathered matrix; its k (update: its n) are all taps' channels. run: for the model; forced: the end of a
// kernel's name, as "_8_128x64", whose run is then what forced_run() says, or a number of splits.
hconv::Choice choose(char pass, const GemmProblem& product, std::int64_t run, double bytes, int multiprocessors,
                     const Forced& forced);
std::int64_t forced_run(const Forced& forced);  // 0: none

// pass: 'f' or 'u'. result: what the kernel stores.
const Kernel* find(const Registry& registry, char pass, Dtype operands, Dtype result, std::int64_t run,
                   const hgemm::Tile& tile);

// The kernel's parameters after those of tiles.sass. columns: of the tiles, those after the last among them.
void put(Values& v, const Gather& gather, const Pixels& t, bool volume, std::int64_t run, std::int64_t columns);

}  // namespace nervanagpu::conv_detail::gconv
