// What conv() launched for a problem that came before, planned: a call of the same form searches and packs nothing.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "kernels/conv/launch.h"
#include "nervanagpu/conv.hpp"
#include "src/launch/planned_launches.h"

namespace nervanagpu::conv_detail {

// What differs from call to call, in the order of PlannedLaunches.
enum Kept : std::uint8_t {
  kIn1,
  kIn2,
  kOut,
  kBias,
  kMask,
  kScale,
  kSum,
  kSquares,
  kWorkspace,
  kXPieces,
  kYPieces,
  kSeed,
  kOffset,
  kKept
};
using KeptOperands = std::array<std::uint64_t, kKept>;

// A call without that.
struct Form {
  std::uint64_t device = 0;  // its serial
  ConvPass pass = ConvPass::fprop;
  ConvProblem problem;
  std::array<std::uint64_t, kKept> alignments{};  // of src/launch/plan_cache.h
  Dtype bias_type = Dtype::float32;
  std::int64_t ld_mask = 0;
  std::uint32_t alpha = 0, beta = 0;  // bits
  GemmActivation activation = GemmActivation::none;
  std::uint32_t clip_low = 0, clip_high = 0;  // bits
  bool relu = false, tensor_cores = true, stochastic = false;
  bool x_made = false, y_made = false;  // pieces
  int round_bits = 0;
  bool operator==(const Form&) const = default;
};
Form form_of(const Device& device, ConvPass pass, const ConvProblem& p, const ConvPointers& pointers,
             const Epilogue& epilogue, bool tensor_cores);
KeptOperands operands_of(const ConvPointers& pointers, const Rounding& rounding);

// The plan of a form: found, or made of what `queue` queues for these operands; nullptr: src/launch/plan_cache.h. Thread-safe.
std::shared_ptr<const PlannedLaunches> kept(Device& device, const Form& form,
                                            const std::function<void(std::span<const std::uint64_t>)>& queue);

}  // namespace nervanagpu::conv_detail
