// Sums and largest magnitudes of a result's rows and columns: launches of result_sums.sass after a product.
#pragma once

#include <cstddef>
#include <cstdint>

#include "nervanagpu/gemm.hpp"
#include "src/device/device.h"
#include "src/launch/values.h"

namespace nervanagpu::sgemm {

inline bool has_sums(const GemmProblem& p) {
  return (p.row_sum | p.column_sum | p.row_max_abs | p.column_max_abs) != 0;
}

// Throws InvalidArgument or TypeError for a problem that cannot have them.
void check_sums(const GemmProblem& problem);

// Bytes of device memory for the parts, at a multiple of 16; 0 without sums.
std::size_t sums_workspace(const GemmProblem& problem);

struct SumsPlan {
  const Kernel *parts = nullptr, *end = nullptr;
  Values parts_values, end_values;  // `columns` and `rows`, the parts' places, for `workspace`
  Grid parts_grid, end_grid;
};
SumsPlan sums_plan(const Registry& registry, const GemmProblem& problem, std::uint64_t workspace);

// Where in a workspace the sums' parts lie, after `bytes` of partial sums of k.
inline std::size_t behind_partial_sums(std::size_t bytes) {
  constexpr std::size_t kUnit = 16;
  return (bytes + kUnit - 1) / kUnit * kUnit;
}
// Of the parts: where those of rows lie after those of columns, in bytes.
std::size_t row_parts_at(const GemmProblem& problem);

// Zeros: the sums of a result without elements.
void sums_of_nothing(Device& device, const GemmProblem& problem, StreamId stream);

}  // namespace nervanagpu::sgemm
