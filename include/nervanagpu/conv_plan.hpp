// A pass of a convolution that is computed many times: its kernels are chosen, and what they are told is packed, once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "nervanagpu/conv.hpp"
#include "nervanagpu/export.hpp"
#include "nervanagpu/stream.hpp"
#include "nervanagpu/tensor.hpp"

namespace nervanagpu {

// Where the operands of one launch lie; what a plan has no use for is 0.
struct ConvAddresses {
  std::uint64_t in1 = 0, in2 = 0, out = 0;  // as in ConvPointers
  std::uint64_t bias = 0, mask = 0;
  std::uint64_t workspace =
      0;  // of ConvPlan::workspace() bytes, aligned to 16; not shared by launches that may overlap
  std::uint64_t rounding_offset = 0;  // counters added to the options', for other random numbers
  std::uint64_t scale = 0;
  std::uint64_t channel_sum = 0, channel_sum_squares = 0;
};

// What a launch of tensors may have besides x, w and y.
struct ConvOperands {
  const Tensor* bias = nullptr;
  const Tensor* mask = nullptr;
  const Tensor* workspace = nullptr;  // contiguous; null: taken from the library's memory pool, if one is needed
  std::uint64_t rounding_offset = 0;
  const Tensor* scale = nullptr;
  const Tensor* channel_sum = nullptr;
  const Tensor* channel_sum_squares = nullptr;
};

// Copies are handles of one plan. Any thread may launch, also several at once. A launch allocates, copies to the host and
// awaits nothing and may be captured in a CUDA graph; its result has the bits of conv() with operands aligned as planned.
class NG_API ConvPlan {
 public:
  // The addresses only say how the operands are aligned: 0 promises 16 bytes, any other what it has itself, up to 16. `bias`,
  // `mask`, `scale`, `channel_sum`, `channel_sum_squares` not 0: there is one. `workspace` and `options.stream` are not looked at. Throws as conv() does.
  ConvPlan(ConvPass pass, const ConvProblem& problem, const ConvPointers& pointers = {},
           const ConvOptions& options = {});
  // Of tensors such as these: dtypes, shapes, strides and alignment, those of the options among them; none is kept.
  // In order: x, w, y of fprop; dy, w, dx of bprop; dy, x, dw of update. Throws as conv_fprop(), conv_bprop(), conv_update().
  ConvPlan(ConvPass pass, const ConvProblem& problem, const Tensor& in1, const Tensor& in2, const Tensor& out,
           const ConvOptions& options = {});

  [[nodiscard]] std::size_t workspace() const;                    // bytes of device memory that a launch needs
  [[nodiscard]] const std::vector<std::string>& kernels() const;  // their names, in order
  [[nodiscard]] ConvPass pass() const;
  [[nodiscard]] const ConvProblem& problem() const;

  // Throws InvalidArgument for an address that is missing, was not planned, or is aligned to less than was planned.
  void launch(const ConvAddresses& addresses, const Stream& stream = {}) const;
  // Of a plan of tensors. Throws InvalidArgument or TypeError for a tensor that is unlike the planned one, or one that is
  // written and shares memory with another.
  void launch(const Tensor& in1, const Tensor& in2, Tensor& out, const ConvOperands& more = {},
              const Stream& stream = {}) const;

 private:
  struct Impl;
  std::shared_ptr<const Impl> impl_;
};

}  // namespace nervanagpu
