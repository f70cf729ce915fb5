// Convolutions of float32 on the tensor cores: bf16x3.sass writes three bfloat16 pieces of both operands to the workspace,
// conv_bf16x6.sass multiplies them, and conv_if.sass computes the pass where an operand's elements have no exact pieces, or sums
// might overflow. Which of the two does the work is decided on the device.
#pragma once

#include <cstdint>
#include <optional>

#include "kernels/conv/implicit/hconv_choice.h"
#include "kernels/conv/implicit/implicit_gemm.h"
#include "kernels/conv/launch.h"
#include "kernels/gemm/pieces/bf16x6.h"
#include "nervanagpu/conv.hpp"
#include "nervanagpu/tensor_map.hpp"
#include "src/device/device.h"

namespace nervanagpu::conv_detail::pieces {

// Asked for, and of the shapes that there are kernels for: float32, one group.
bool asked(const ConvProblem& p);
// Not of an update in parts of blocks of channels: it is put together from sums in the workspace, and stored twice where conv_if.sass has to
// compute it.
bool takes_beta(ConvPass pass, const ConvProblem& p);
// Of a sum of the pass; edges leave some out.
std::int64_t products_of(ConvPass pass, const ConvProblem& p);

// An operand's pieces, and what multiplies them: three of bfloat16 (conv_bf16x6.sass) or two of float16 (conv_f16x3.sass).
struct Kind {
  std::int64_t pieces;
  MapType map;
  const char* kernel;
};
inline constexpr Kind kThree = {3, MapType::bfloat16, "conv_bf16x6_"};
inline constexpr Kind kTwo = {2, MapType::float16, "conv_f16x3_"};

// Maps can say all of the pass's operands as they lie.
bool possible(ConvPass pass, const ConvProblem& p);

// By a model of an H200, all of them functions of the problem alone. Microseconds of a product, of splitting so many elements, and of
// the launches beside the product's; bytes a microsecond.
hconv::Work work_of(ConvPass pass, const ConvProblem& p);
double product_microseconds(const hconv::Work& work, const Kind& kind = kThree, bool uncut = false);
// The same of update, with what dy's pieces take.
double update_microseconds(const hconv::Work& work, std::int64_t dy_elements);
double split_microseconds(double elements, const Kind& kind = kThree);
inline constexpr double kLaunches = 5.0;
inline constexpr double kMemory = 3e6;
// Of the pass whose operands are split as they lie; infinity where that cannot be.
double microseconds(ConvPass pass, const ConvProblem& p, const Kind& kind = kThree);
// By multiply-adds; and with what small launches cost beyond their operations.
double strict_microseconds(ConvPass pass, const ConvProblem& p);
double rival_microseconds(ConvPass pass, const ConvProblem& p);

// The cheapest tile and number of splits of a launch. uncut: in one part.
hconv::Choice choose(const hconv::Work& work, int multiprocessors, bool uncut, const Forced& forced,
                     const Kind& kind = kThree);
const Kernel* find(const Registry& registry, char pass, const hgemm::Tile& tile, const Kind& kind);

// The tile of conv_split.sass, and what it takes, where update is faster so than after a pass of bf16x3.sass over dy: then of as
// many splits, with the same bits. forced: "_split_64x128".
struct Split {
  hgemm::Tile tile;
  double microseconds = 0;
};
std::optional<Split> on_the_way(const hconv::Work& work, std::int64_t dy_elements, std::int64_t splits,
                                int multiprocessors, const Forced& forced = {});
bool splits_on_the_way(const Forced& forced);
const Kernel* find_split(const Registry& registry, const hgemm::Tile& tile);

// A tensor's three pieces, one after the other, without an address: of the same pixels, whose channels begin at multiples of
// 16 bytes.
Pixels of(const Pixels& t);
std::int64_t bytes(const Pixels& pieces);
// A tensor's pixels, as they are split to `to`.
bf16x6::Split rows_of(const Pixels& from, std::uint64_t to);
// Writes the pieces, and the ranges of both.
void split(Device& device, const bf16x6::Split& a, const bf16x6::Split& b, std::uint64_t ranges, StreamId stream,
           const bf16x6::Unless& unless = {});
// Of one operand, and its range.
void split_one(Device& device, const bf16x6::Split& one, std::uint64_t range, StreamId stream);

// The maps of pieces from those of hconv.sass, which are of one.
void with_pieces(const Kind& kind, char pass, const Pixels& gathered, const Pixels& other, TensorMap& a, TensorMap& b);

}  // namespace nervanagpu::conv_detail::pieces
