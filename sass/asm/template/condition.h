// One condition of a kernel's .needs line, compiled once to a flat form and asked for each launch.
//
//   aligned(a, 16) && lda % 4 == 0 || VA == 1        m < 2^31        grid_x == splits
//
// Names are the kernel's integer parameters, the variant's definitions that are numbers, and what a launch has: grid_x,
// grid_y, grid_z (CTAs) and cluster (CTAs of a cluster). Any other name is an error. ^ is a power, bits(v, mask) the bits of v
// in mask; aligned(v, n) asks for a multiple of n. What && and || do not need is not computed. Numbers are whole, from -2^63 to
// 2^64 - 1: what leaves them does not hold, nor does a division by zero; of numbers alone both are errors.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sass/asm/program.h"
#include "sass/result.h"

namespace nervanagpu::sass {

// The CTAs of a launch.
struct LaunchSize {
  std::uint32_t x = 1, y = 1, z = 1;
  std::uint32_t cluster = 1;
};

class Condition {
 public:
  // A Diag's column counts from 1 at the start of `text`; its file and line are left to the caller.
  static Result<Condition> compile(std::string_view text, const Manifest& manifest);

  // `block`: the launch's packed parameters; what lies after its end is 0.
  [[nodiscard]] bool holds(std::span<const std::byte> block, const LaunchSize& size) const;
  // Before a launch is planned, one value for each parameter in order, of u64 its bits: what asks for its CTAs is left out.
  [[nodiscard]] bool may_hold(std::span<const std::int64_t> params) const;
  // No launch can violate it.
  [[nodiscard]] bool always() const;

  [[nodiscard]] const std::string& text() const { return text_; }
  // Indices of the parameters it asks for, each once.
  [[nodiscard]] std::vector<std::size_t> params() const;
  // "lda is 3, grid_x is 1": what it asks for.
  [[nodiscard]] std::string found(const Manifest& manifest, std::span<const std::byte> block,
                                  const LaunchSize& size) const;

 private:
  __extension__ using Wide = __int128;
  // clang-format off
  enum class Op : std::uint8_t {
    kConst, kParam, kSize,                                     // push
    kNeg, kNot, kTruth,                                        // of the top
    kAdd, kSub, kMul, kDiv, kMod, kPow, kEq, kNe, kLt, kLe, kGt, kGe, kAligned, kBits,  // of the two at the top
    kAnd, kOr,                                                 // leave the top and skip `skip` steps, or drop it
    kParamEq, kParamNe, kParamLt, kParamLe, kParamGt, kParamGe,  // push: parameter against `value`
    kParamDivides,                                             // push: parameter is a multiple of value + 1, a power of 2
  };
  // clang-format on
  struct Step {
    Op op = Op::kConst;
    ParamType type = ParamType::u32;  // of a parameter
    std::uint8_t bytes = 0;
    std::uint16_t offset = 0;  // of a parameter, in the block
    std::uint16_t index = 0;   // of a parameter; of a member of LaunchSize
    std::uint16_t skip = 0;
    Wide value = 0;
  };
  class Compiler;
  template <class Source>
  [[nodiscard]] bool run(const Source& source) const;
  template <class Number, class Source>
  [[nodiscard]] std::optional<bool> computed(const Source& source) const;
  static bool asks_param(Op op) { return op == Op::kParam || op >= Op::kParamEq; }
  static bool is_unsigned(const Step& s) { return s.type == ParamType::u64 || s.type == ParamType::ptr; }
  static std::int64_t load(const Step& s, std::span<const std::byte> block);

  std::string text_;
  std::vector<Step> steps_;  // postfix
  bool asks_size_ = false;
  bool asks_unsigned_ = false;  // a parameter of 64 bits without a sign, and more than a power of two that divides it
  bool wide_ = false;           // a number is 2^63 or more
};

// Those of a kernel's .needs that a launch can violate.
Result<std::vector<Condition>> compile_needs(const Manifest& manifest);

}  // namespace nervanagpu::sass
