// What becomes of an exact sum, in double: docs/gemm.md, Epilogues.
#pragma once

#include <cstdint>

#include "nervanagpu/gemm.hpp"

namespace nervanagpu::variants {

struct Expected {
  double value = 0;  // before it is rounded to the result's type
  double slack = 0;  // the activation's error; 0: exact
};

// `kept`: the mask's bit, for drelu.
Expected finish(const GemmProblem& p, double sum, double scale, double old, double bias, bool kept);

// `value` as an element of a result of `type`, `at` elements after the first.
double round_result(Dtype type, const Rounding& rounding, double value, std::int64_t at);

// How far from `expected.value` a stored element may be; only for expected.slack > 0.
double allowed(const GemmProblem& p, const Expected& expected);

}  // namespace nervanagpu::variants
