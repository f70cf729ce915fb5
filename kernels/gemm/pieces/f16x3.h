// float32 products on the tensor cores from two float16 pieces of each operand: f16x2.sass scales operands and writes the pieces,
// f16x3_compensated.sass (or f16x3.sass, with the bits of f16x3_rs.h) multiplies them, three products of the four. What they cannot tell exactly enough is decided on the device: then the
// kernels of bf16x6.h, launched next, compute the product.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "kernels/gemm/pieces/bf16x6.h"
#include "kernels/gemm/pieces/piece_sides.h"
#include "kernels/gemm/pieces/tail.h"
#include "kernels/gemm/tensor_cores/hgemm.h"
#include "nervanagpu/gemm.hpp"
#include "src/device/device.h"
#include "src/launch/values.h"

namespace nervanagpu::f16x3 {

inline constexpr std::int64_t kPieces = 2;
inline constexpr std::int64_t kRoundBias = 11;  // of pieces: f16x2.sass; tiles.sass says it in classes

// Microseconds of a chunk of 64 k, 128 rows: docs/lab/f16x3.md.
inline constexpr std::array kWidths = {bf16x6::Width{64, 0.6}, bf16x6::Width{128, 1.03}};
inline constexpr std::array kPlainWidths = {bf16x6::Width{64, 0.66}, bf16x6::Width{128, 1.14},
                                            bf16x6::Width{192, 1.62}};  // of f16x3.sass
inline constexpr const char* kCompensated = "f16x3_compensated";
inline constexpr const char* kPlain = "f16x3";
// Which of the two computes a product of written pieces that is not f16x3_rs.h's: compensated sums where rows of C may begin at multiples of
// 16 bytes. Others are stored slowly, and f16x3.sass has fewer tiles of them.
bool is_compensated(const GemmProblem& problem);
std::span<const bf16x6::Width> widths_of(const GemmProblem& problem);

// Of one that is computed from two pieces without being asked: the splits of k that cost least, of those whose errors are no larger
// than strict's.
bf16x6::Choice choice_of(const GemmProblem& problem);
std::int64_t splits_of(const GemmProblem& problem);

std::string tile_name(const Kernel& kernel);  // "f16_c128x128"; of f16x3.sass "f16_128x192"
// Written for its layouts and, if one is named, this tile; a tail that is named with it is one that the problem can have.
bool fits(const Kernel& kernel, const GemmProblem& problem, std::string_view tile);
double cost(const Kernel& kernel, const GemmProblem& problem, std::int64_t splits, int multiprocessors);
Grid grid(const Kernel& kernel, const GemmProblem& problem, std::int64_t splits, int multiprocessors);
// Of what is not the tail.
Values values(const Kernel& kernel, const GemmProblem& problem, std::int64_t splits, Device* device,
              const std::optional<Tail>& tail = {});
hgemm::Maps maps(const Kernel& kernel, const GemmProblem& problem);

// An operand that f16x2.sass splits. k_inside: its rows lie along k.
struct Source {
  bf16x6::Split rows;
  bool k_inside = false;
  // Of its groups along k: the share of small elements, in 64ths, above which those without good precision are left out, for a kernel
  // after to make good.
  int drop = kNever;
  static constexpr int kAlways = 0, kNever = 127;
  // Where f16x2.sass leaves, besides, what pieces without any lost element would have as words and lists: kWithoutBytes, of one matrix of
  // fours. rows.kept and this: it takes them, and leaves all of them out.
  std::uint64_t without_lost = 0;
  static constexpr std::int64_t kWithoutBytes = 256 * (4 + 8);
};
// f16x2.sass for both operands; `statistics` takes bf16x6::kStatisticsBytes.
bf16x6::Launch split(const Registry& registry, const Source& a, const Source& b, std::uint64_t statistics);
// One operand, and its words.
bf16x6::Launch split_one(const Registry& registry, const pieces::Side& operand, std::uint64_t to, std::uint64_t words,
                         const PiecesAt& kept);
// Groups along k whose small elements f16x2.sass counts, of an operand of one matrix: their length, and what makes a share of a count (2^22
// over the length), of the last one, too; and from which unit to the next its sample goes.
struct Groups {
  std::int64_t length = 0, share = 0, last_share = 0, step = 0;
};
Groups groups_of(const pieces::Side& operand);
// Where the statistics are, and what they are compared with: lib/sm_90a/pieces/halves.sass. Sums of `products`; the operands' elements that meet lie along
// axes of length `k`, which are all of a sum or parts of it.
bf16x6::Unless unless(std::uint64_t statistics, const Source& a, const Source& b, std::int64_t k,
                      std::int64_t products);
// The most that the share of a group of A (B) with lost elements, and that of any of the other operand, may be together.
bf16x6::Unless::Lossy most_lossy(const Source& a, const Source& b, std::int64_t k);

// Those of a product. The workspace is that of bf16x6::room().
bf16x6::Launch split(const Registry& registry, const GemmProblem& problem, std::int64_t splits);
bf16x6::Unless unless(const GemmProblem& problem, std::int64_t splits);
// bf16x6.sass, the cheapest of its tiles, after two pieces.
bf16x6::Launch otherwise(const Registry& registry, const GemmProblem& problem, std::int64_t splits,
                         int multiprocessors);

}  // namespace nervanagpu::f16x3
