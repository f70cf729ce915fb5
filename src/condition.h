// One condition of a kernel's .needs line, compiled once and asked for each problem.
//
//   aligned(a, 16) && lda % 4 == 0 || VA == 1        m < 2^31
//
// Names are the kernel's parameters (asked) and the variant's definitions (numbers are folded, words compare equal to
// themselves). ^ is a power. What cannot be compiled is never fulfilled, and error() says why.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sass/asm/program.h"

namespace nervanagpu {

class Condition {
 public:
  Condition(std::string_view text, const sass::Manifest& manifest);

  // One value for each parameter of the kernel, in order; addresses as their 64 bits.
  [[nodiscard]] bool holds(std::span<const std::int64_t> params) const;
  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] const std::string& error() const { return error_; }  // empty: compiled

 private:
  enum class Op : std::uint8_t {
    kConst,
    kParam,
    kAdd,
    kSub,
    kMul,
    kDiv,
    kMod,
    kPow,
    kNeg,
    kNot,
    kEq,
    kNe,
    kLt,
    kLe,
    kGt,
    kGe,
    kAnd,
    kOr,
    kAligned
  };
  struct Step {
    Op op;
    std::int64_t value;  // the constant, or the parameter's index
  };
  class Compiler;

  std::string text_;
  std::string error_;
  std::vector<Step> steps_;  // postfix
};

}  // namespace nervanagpu
