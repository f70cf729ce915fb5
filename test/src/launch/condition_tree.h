// A condition of .needs as a tree: the tests' own reading of its text, and values that make it true or false.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sass/asm/template/condition.h"

namespace nervanagpu::test {

__extension__ using Number = __int128;

// What a launch gives: the kernel's integer parameters in their order, then grid_x, grid_y, grid_z and cluster.
struct LaunchValue {
  std::string name;
  Number least = 0, most = 0;  // of its type
};
std::vector<LaunchValue> launch_values(const sass::Manifest& manifest);

// A word of at most eight bytes, compared as one number.
class Word {
 public:
  constexpr explicit Word(std::string_view text) {
    for (const char c : text) bits_ = bits_ << 8 | static_cast<unsigned char>(c);
  }
  template <std::size_t N>
  consteval Word(const char (&text)[N]) : Word(std::string_view(text, N - 1)) {  // NOLINT: implicit by design
    static_assert(N <= 9);
  }
  friend constexpr bool operator==(Word, Word) = default;

  [[nodiscard]] std::string text() const {
    std::string out;
    for (std::uint64_t rest = bits_; rest != 0; rest >>= 8) out.insert(out.begin(), static_cast<char>(rest & 0xff));
    return out;
  }

 private:
  std::uint64_t bits_ = 0;
};

class ConditionTree {
 public:
  // `text` is one that sass::Condition takes, with a kernel of these values and of this variant.
  ConditionTree(std::string_view text, const sass::Manifest& manifest, std::span<const LaunchValue> names);

  [[nodiscard]] bool holds(std::span<const Number> values) const;
  // Indices of the values it asks for, in the order of its text.
  [[nodiscard]] const std::vector<std::size_t>& names() const { return names_; }

  // Changes values, any number of them, such that holds() becomes `truth`. There are many ways, and one is drawn. False: the
  // way that was drawn is none, and values may have changed.
  bool make(bool truth, std::span<Number> values, std::span<const LaunchValue> names, std::mt19937& random) const;

  struct Node {
    Word op;               // as in the text; "number" and "value" for leaves, "-" with one operand for the sign
    Number value = 0;      // of a number; the index of a value
    std::vector<Node> of;  // operands
  };

 private:
  std::vector<std::size_t> names_;
  Node root_;
};

}  // namespace nervanagpu::test
