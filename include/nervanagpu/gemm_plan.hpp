// A product that is computed many times: its kernel is chosen, and what the kernel is told is packed, once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "nervanagpu/export.hpp"
#include "nervanagpu/gemm.hpp"
#include "nervanagpu/pieces.hpp"
#include "nervanagpu/stream.hpp"
#include "nervanagpu/tensor.hpp"

namespace nervanagpu {

// Where the operands of one launch lie; what a plan has no use for is 0.
struct GemmAddresses {
  std::uint64_t a = 0, b = 0, c = 0, bias = 0;
  std::uint64_t workspace =
      0;  // of GemmPlan::workspace() bytes, aligned to 16; not shared by launches that may overlap
  std::uint64_t rounding_offset = 0;  // counters added to the problem's, for other random numbers
  std::uint64_t scale = 0;
  std::uint64_t mask = 0;
  std::uint64_t row_sum = 0, column_sum = 0, row_max_abs = 0, column_max_abs = 0;
  std::uint64_t a_pieces = 0, b_pieces = 0;  // of the problem's, if it has them
};

// Copies are handles of one plan. Any thread may launch, also several at once. A launch allocates, copies and awaits nothing
// and may be captured in a CUDA graph; its result has the bits of gemm() with the same problem and a workspace.
class NG_API GemmPlan {
 public:
  // The problem's addresses only say how the operands are aligned: 0 promises 16 bytes, any other what it has itself.
  // `bias`, `scale`, `mask`, `row_sum` ... not 0: there is one. `workspace` is not looked at (`splits` 1: the plan needs none). Throws as gemm() does.
  explicit GemmPlan(const GemmProblem& problem, const std::string& tile = {});
  // Of tensors such as these: dtypes, shapes, strides and alignment. Each must be readable as it lies (contiguous along an
  // axis, and no copy to the tensor cores is made). `options.stream` is not looked at; `options.scale`,
  // `options.mask` and what is written of rows and columns are kept and are those of every launch.
  GemmPlan(const Tensor& a, const Tensor& b, const Tensor& c, const GemmOptions& options = {});

  // With pieces in an operand's place; each launch brings such.
  GemmPlan(const Tensor& a, const Pieces& b, const Tensor& c, const GemmOptions& options = {});
  GemmPlan(const Pieces& a, const Tensor& b, const Tensor& c, const GemmOptions& options = {});

  [[nodiscard]] std::size_t workspace() const;       // bytes of device memory that a launch needs
  [[nodiscard]] const std::string& kernel() const;   // its name; "" if there is nothing to compute
  [[nodiscard]] int pieces() const;                  // of each element of its operands; 0: multiplied as they are
  [[nodiscard]] const GemmProblem& problem() const;  // addresses are alignments

  // Throws InvalidArgument for an address that is missing, or aligned to less than was planned.
  void launch(const GemmAddresses& addresses, const Stream& stream = {}) const;
  // Of a plan of tensors; the workspace, if one is needed, is taken from the library's memory pool. Throws InvalidArgument
  // or TypeError for a tensor that is unlike the planned one, or a c that shares memory with another.
  void launch(const Tensor& a, const Tensor& b, Tensor& c, const Tensor* bias = nullptr,
              const Stream& stream = {}) const;
  void launch(const Tensor& a, const Pieces& b, Tensor& c, const Tensor* bias = nullptr,
              const Stream& stream = {}) const;
  void launch(const Pieces& a, const Tensor& b, Tensor& c, const Tensor* bias = nullptr,
              const Stream& stream = {}) const;

 private:
  struct Impl;
  std::shared_ptr<const Impl> impl_;
};

}  // namespace nervanagpu
