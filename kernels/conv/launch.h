// From a problem on device addresses to launches of conv.sass and split_sum.sass.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/conv/mapping.h"
#include "kernels/gemm/pieces/bf16x6.h"
#include "kernels/split_sum/split_sum.h"
#include "src/device/device.h"

namespace nervanagpu::conv_detail {

// Where sums of the result's channels, and of their squares, go; 0: not asked for. parts: memory of channel_sums::workspace() bytes,
// of which a kernel of the pass may have left most_parts parts.
struct Sums {
  std::uint64_t sum = 0, squares = 0, parts = 0;
  std::int64_t most_parts = 0;
  [[nodiscard]] bool asked() const { return (sum | squares) != 0; }
};

// What happens to a sum before it is stored, and what is made of the result.
struct Epilogue {
  float alpha = 1.0F, beta = 0.0F;
  bool relu = false;
  GemmActivation activation = GemmActivation::none;  // a function of lib/activation.sass, or none
  float clip_low = 0.0F, clip_high = 0.0F;
  std::uint64_t scale = 0;  // of sums of bytes; 0: none
  bool bias_f16 = false;
  std::uint64_t mask = 0;    // bits of relu, which fprop writes and bprop applies; 0: none
  std::int64_t ld_mask = 0;  // words from row to row of them
  Rounding rounding;
  Sums sums;
};

// One launch with everything it needs: types of A, B and C, addresses of the tensors' first elements (c: the workspace if
// the launch is partial; bias 0: none).
struct Call {
  Launch launch;
  Dtype a_type = Dtype::float32, b_type = Dtype::float32, c_type = Dtype::float32;
  std::uint64_t a = 0, b = 0, c = 0, bias = 0;
  Epilogue epilogue;
  [[nodiscard]] Dtype sums() const { return c_type == Dtype::int32 ? Dtype::int32 : Dtype::float32; }
};

struct Plan {
  const Kernel* kernel = nullptr;
  Grid grid;
  double cost = 0.0;  // clocks of the whole grid, roughly; only the order counts
};

// The kernels that may compute it, the cheapest first. Whichever is taken, the result has the same bits.
std::vector<Plan> plans(const Registry& registry, int multiprocessors, const Call& call);
void launch(Device& device, const Plan& plan, const Call& call, StreamId stream);

// For tests and sweeps: only kernels whose name ends so ("_64x64_1"), another number of splits than the problem's own, and whether
// the launch may start before the work ahead has ended.
struct Forced {
  std::string kernel;
  std::int64_t splits = 0;
  std::optional<bool> early;
  Limits limits;
};

// Throw InvalidArgument or TypeError: addresses of a pass's operands and result; what else the options and addresses say.
void check_operands(ConvPass pass, const ConvProblem& p, const ConvPointers& pointers);
Epilogue epilogue_of(ConvPass pass, const ConvProblem& p, const ConvPointers& pointers, const ConvOptions& options);

// The result as a matrix with its bits, which pointers.mask are.
GemmProblem masked_matrix(ConvPass pass, const ConvProblem& p, const ConvPointers& pointers);

// Sums of type `sums` in the workspace, which become the result. Vectors go along the columns or, as a bias of the mapping, rows.
split_sum::Sum sum_of(const SplitSum& s, const ConvPointers& pointers, const Epilogue& e, Dtype type, Dtype sums);

// The whole pass, checked before anything is queued. Not for channels_first.
void queue(Device& device, ConvPass pass, const ConvProblem& p, const ConvPointers& pointers, const Epilogue& epilogue,
           StreamId stream, const Forced& forced = {});

// conv_if.sass: the whole pass in one part, if the device finds operands out of range (lib/sm_90a/pieces/ranges.sass), unless it has been
// computed from two pieces.
void queue_if(Device& device, ConvPass pass, const ConvProblem& p, const ConvPointers& pointers,
              const Epilogue& epilogue, StreamId stream, std::uint64_t ranges, std::int64_t most_exponents,
              const bf16x6::Unless& unless);

// Bytes that conv.sass wants: of partial sums, and of copies in a layout and types that it has.
std::size_t plain_workspace(ConvPass pass, const ConvProblem& p);
// Bytes of partial sums.
std::size_t partial_bytes(ConvPass pass, const ConvProblem& p, const Forced& forced = {});

}  // namespace nervanagpu::conv_detail
