// The last rows or columns of a product in two pieces as a launch of their own: tiles that are five waves of all multiprocessors and a
// third take six waves' time. So five are one launch; what is left is another, whose sums are cut until all have a part of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "kernels/gemm/pieces/bf16x6.h"
#include "nervanagpu/gemm.hpp"

namespace nervanagpu::f16x3 {

struct Tail {
  bool columns = false;     // of the result; else rows
  std::int64_t at = 0;      // the first of them, a multiple of 64
  std::int64_t splits = 1;  // of k, there; elsewhere sums are one part
};

// Of a problem that bf16x6::takes(): none, if it is not faster so. A function of the problem alone, but for a tile that names one:
// "f16_128x192+256rx3", rows from 256 on in 3 parts; c: columns. That wants `splits` 1.
std::optional<Tail> tail_of(const GemmProblem& problem, std::string_view tile = {});
// What stands before the '+'.
std::string_view without_tail(std::string_view tile);

// The problem without its tail, and the tail: c and bias are its own, a and b still the problem's.
GemmProblem head_part(const GemmProblem& problem, const std::optional<Tail>& tail);
GemmProblem tail_part(const GemmProblem& problem, const Tail& tail);
// Bytes that the tail's begin after those of the problem.
struct Offsets {
  std::uint64_t a = 0, b = 0;  // of pieces
  std::uint64_t c = 0, bias = 0;
  std::uint64_t rounding = 0;  // of the counter of random words
};
Offsets offsets_of(const GemmProblem& problem, const Tail& tail);

// Bytes of the workspace, the tail's partial sums included.
std::size_t workspace(const GemmProblem& problem, std::int64_t splits, const std::optional<Tail>& tail,
                      std::int64_t kept = 0);  // bf16x6::room()

// The op's kernel for the tail, of the cheapest tile.
bf16x6::Launch tail_product(const Registry& registry, const GemmProblem& problem, const Tail& tail, std::string_view op,
                            int multiprocessors);
hgemm::Maps tail_maps(const Kernel& kernel, const GemmProblem& problem, const Tail& tail);

}  // namespace nervanagpu::f16x3
