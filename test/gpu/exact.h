// One random problem whose every sum is exact: the result must be the reference's, bit for bit, and nothing else may be
// written. What a problem is follows from its number alone.
#pragma once

#include <cstdint>
#include <string>

#include "test/gpu/report.h"

namespace nervanagpu::gpu_test {

struct Verdict {
  Key key;
  std::int64_t elements = 0;
  double worst = 0.0;  // of those that have a bound: the largest error over it
  std::string wrong;   // "": all is right
};

Verdict exact_gemm(std::uint64_t number);
Verdict exact_conv(std::uint64_t number);
// max: bit for bit; avg and l2 within their rounding errors (a mean of integers is not exact).
Verdict exact_pool(std::uint64_t number);

// `eighths` of all problems, counted in the report; each that is wrong is a failure of the test.
void run_exact(Verdict (*problem)(std::uint64_t), std::uint64_t eighths);

}  // namespace nervanagpu::gpu_test
