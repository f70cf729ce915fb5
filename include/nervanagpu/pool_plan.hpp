// A pass of a pooling that is computed many times: its kernel is chosen, and what it is told is packed, once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "nervanagpu/export.hpp"
#include "nervanagpu/pool.hpp"
#include "nervanagpu/stream.hpp"
#include "nervanagpu/tensor.hpp"

namespace nervanagpu {

enum class PoolPass : std::uint8_t { fprop, bprop };

// Where the operands of one launch lie; what a plan has no use for is 0.
struct PoolAddresses {
  std::uint64_t in = 0, out = 0;      // fprop: x, y; bprop: dy, dx
  std::uint64_t x = 0;                // bprop of max and l2 without argmax
  std::uint64_t argmax = 0;           // max: written by fprop, read by bprop in place of x
  std::uint64_t rounding_offset = 0;  // counters added to the options', for other random numbers
};

// What a launch of tensors may have besides in and out.
struct PoolOperands {
  const Tensor* x = nullptr;
  const Tensor* argmax = nullptr;
  std::uint64_t rounding_offset = 0;
};

// Copies are handles of one plan. Any thread may launch, also several at once. A launch allocates, copies to the host and
// awaits nothing and may be captured in a CUDA graph; its result has the bits of the functions of pool.hpp. None needs a
// workspace.
class NG_API PoolPlan {
 public:
  // The addresses only say how the operands are aligned: 0 promises 16 bytes, any other what it has itself, up to 16.
  // `argmax` not 0: there is one. `options.stream` is not looked at. Throws as the functions of pool.hpp do.
  PoolPlan(PoolPass pass, const PoolProblem& problem, const PoolAddresses& like = {}, const PoolOptions& options = {});
  // Of tensors such as these: shapes, dtypes and alignment; none is kept. `like.argmax`: there is one; `like.x`: of bprop,
  // which needs the one or the other, but for avg.
  PoolPlan(PoolPass pass, const PoolProblem& problem, const Tensor& in, const Tensor& out,
           const PoolOperands& like = {}, const PoolOptions& options = {});

  [[nodiscard]] std::size_t workspace() const { return 0; }       // bytes of device memory that a launch needs
  [[nodiscard]] const std::vector<std::string>& kernels() const;  // their names, in order
  [[nodiscard]] PoolPass pass() const;
  [[nodiscard]] const PoolProblem& problem() const;

  // Throws InvalidArgument for an address that is missing, was not planned, or is aligned to less than was planned.
  void launch(const PoolAddresses& addresses, const Stream& stream = {}) const;
  // Of a plan of tensors. Throws InvalidArgument or TypeError for a tensor that is unlike the planned one, or one that is
  // written and shares memory with another.
  void launch(const Tensor& in, Tensor& out, const PoolOperands& more = {}, const Stream& stream = {}) const;

 private:
  struct Impl;
  std::shared_ptr<const Impl> impl_;
};

}  // namespace nervanagpu
