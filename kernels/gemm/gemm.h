// Problem -> kernel -> launch. The kernels' contract is at the top of sgemm.sass, gemm.sass and hgemm.sass.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/gemm/float32/sgemm_ring.h"
#include "kernels/gemm/pieces/tail.h"
#include "kernels/gemm/problem.h"
#include "kernels/split_sum/split_sum.h"
#include "nervanagpu/gemm.hpp"
#include "src/device/device.h"
#include "src/launch/values.h"

namespace nervanagpu::sgemm {

// check(), and that there is a workspace if it cannot be computed without one. What is left is reduced().
GemmProblem check_launch(Device& device, const GemmProblem& problem, const std::string& tile = {});

struct Plan {
  const Kernel* kernel = nullptr;
  Grid grid;
  std::int64_t splits = 1;
  double cost = 0.0;                           // clocks of the whole grid, roughly; only the order counts
  std::optional<sgemm_ring::Shape> ring = {};  // of sgemm_ring.h's kernels, whose splits of k `splits` does not count
  std::optional<f16x3::Tail> tail = {};  // which another launch computes; kernel, grid and cost are those of the rest
  bool strict_behind = false;            // of two pieces: no three follow
};

// The kernels that may compute it, the cheapest first, but for those of sgemm_ring.h. m and n must not be 0. `tile`
// ("128x128") leaves only those of that tile. Whichever is taken, the result has the same bits.
std::vector<Plan> plans(const Registry& registry, int multiprocessors, const GemmProblem& problem,
                        std::string_view tile = {});

// The plan of sgemm_ring.h where it is faster or named, else the first of plans(). Throws InvalidArgument if there is
// none, and says why each kernel was refused.
Plan choose(const Registry& registry, int multiprocessors, const GemmProblem& problem, std::string_view tile = {});

// The kernel leaves sums in the workspace, which split_sum finishes.
bool finished_apart(const Plan& plan, const GemmProblem& problem);

// The kernel does nothing with the problem's mask, which relu_mask.sass does after it.
bool masked_apart(const Plan& plan, const GemmProblem& problem);

// The kernel's parameters. device: see hgemm.h.
Values values_of(const Plan& plan, const GemmProblem& problem, Device* device);

// What adds the splits up.
split_sum::Sum sum_of(const GemmProblem& problem, std::int64_t splits);

void launch(Device& device, const Plan& plan, const GemmProblem& problem, StreamId stream);

}  // namespace nervanagpu::sgemm
