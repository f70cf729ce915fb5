// One GEMM problem with exact answers: integers so small that every sum is exact in fp32, so that each element must be
// equal to the bit. C starts as poison, and lies between guard zones.
#pragma once

#include <bit>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "kernels/gemm/gemm.h"

namespace nervanagpu::test {

// A NaN that no computation makes: what was not written still holds it.
inline const float kPoison = std::bit_cast<float>(0x7fc0'deadU);

// Random integers from -size to size.
std::vector<float> integers(std::mt19937& random, std::int64_t count, int size);

struct Epilogue {
  float alpha = 1, beta = 0;
  int bias = 0;  // 0 none, 1 for each column, 2 for each row
  bool relu = false;
};

class GemmCase {
 public:
  // `pad` is added to each leading dimension. The operands are put into the current device's memory.
  GemmCase(std::mt19937& random, std::int64_t m, std::int64_t n, std::int64_t k, bool ta, bool tb, std::int64_t pad,
           const Epilogue& e);

  [[nodiscard]] const GemmProblem& problem() const { return p_; }
  // k in `splits` parts, with a workspace that is poison and just as large as it must be.
  void split(std::int64_t splits);
  // Runs the plan. Empty: every element is right, and nothing else was written; otherwise what is wrong, and where.
  [[nodiscard]] std::string judge(Device& device, const sgemm::Plan& plan) const;

 private:
  static constexpr std::int64_t kGuard = 68;  // elements before and after C; keeps C aligned to 16 bytes

  [[nodiscard]] float expected(std::int64_t row, std::int64_t column) const;

  GemmProblem p_;
  Epilogue e_;
  std::vector<float> a_, b_, bias_;
  std::vector<float> before_;  // C and its guards
  Tensor device_a_, device_b_, device_bias_, workspace_;
  mutable Tensor device_c_;
};

}  // namespace nervanagpu::test
