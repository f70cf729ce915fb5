// Convolutions of float32 from two float16 pieces: f16x2.sass scales both operands and writes the pieces, conv_f16x3.sass multiplies them,
// three products of the four. What they cannot tell exactly enough is decided on the device: then the kernels of pieces.h, launched next,
// compute the pass. conv_lost_{u,b}.sass add what pieces of single elements lost.
#pragma once

#include <cstdint>
#include <optional>

#include "kernels/conv/implicit/implicit_gemm.h"
#include "kernels/conv/launch.h"
#include "kernels/conv/pieces/windows.h"
#include "kernels/conv/problem.h"
#include "kernels/gemm/pieces/bf16x6.h"
#include "nervanagpu/conv.hpp"
#include "src/device/device.h"

namespace nervanagpu::conv_detail::two_pieces {

// Asked for by name ("_f16", and the end of a name of conv_f16x3.sass), or faster than all other ways of pieces.h, of sums that are not
// short (errors: docs/lab/f16x3.md): a function of the problem alone. Not where a number of splits is given.
bool chosen(ConvPass pass, const ConvProblem& p, const Forced& forced = {});
Forced behind(const Forced& forced);  // the product's
// Multiply-adds follow windows of fprop and bprop at once, without three pieces: where they take little longer, or nobody else can.
// Not after a name that ends in "+three".
bool strict_at_once(ConvPass pass, const ConvProblem& p, const Forced& forced = {});
// How a pass is computed by pieces, of two or of three: by cells, by windows, or as operands lie. A function of the problem alone.
struct Way {
  bool two = false;
  std::optional<piece_cells::Cells> cells;
  std::optional<windows::Windows> windows;
};
Way way_of(ConvPass pass, const ConvProblem& p, const Forced& forced = {});

// By the model of an H200.
double microseconds(ConvPass pass, const ConvProblem& p);

// An operand of the pass and where its pieces go.
struct Operands {
  Pixels in1, in2;
  std::uint64_t in1_pieces = 0, in2_pieces = 0;
  ConvPieces in1_shared, in2_shared;             // with an address: there
  std::optional<windows::Windows> windows = {};  // of lines of in1 (update: of in2, x)
};
// Of pieces that passes share: after words and lists of f16x3::Source::without_lost.
std::uint64_t shared_at(const ConvPieces& shared);
std::int64_t shared_bytes(std::int64_t pixels, std::int64_t channels);
// Whether passes can share an operand's: where update may need it without what is lost.
bool can_share(ConvPass pass, const ConvProblem& p, Role role, const Epilogue& epilogue);
// Whether add_lost() can follow: after sums that are rounded to nearest, masked or not.
bool can_add_lost(ConvPass pass, const Epilogue& epilogue);
// f16x2.sass for both. Its statistics of the elements go to `statistics`, bf16x6::kStatisticsBytes. add_lost_next: add_lost() follows.
void split(Device& device, ConvPass pass, const Operands& operands, std::uint64_t statistics, bool add_lost_next,
           StreamId stream);
// What all kernels after look at. Sums of `products`.
bf16x6::Unless unless(ConvPass pass, const Operands& operands, std::uint64_t statistics, std::int64_t products);
// After the kernels that have written dx (bprop) or dw, dx with e.mask applied, if there is one.
void add_lost(Device& device, ConvPass pass, const ConvProblem& p, const Operands& operands, const Pixels& out,
              const Epilogue& e, const bf16x6::Unless& unless, StreamId stream);

// The maps of conv_f16x3.sass from those of hconv.sass, which are of one piece.
void with_pieces(char pass, const Pixels& gathered, const Pixels& other, TensorMap& a, TensorMap& b);

}  // namespace nervanagpu::conv_detail::two_pieces
