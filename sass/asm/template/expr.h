// Expressions of the template language: checked 64-bit integers and words, evaluated while they are read.
//
//   5  0x1f  0b101  (a + b) * c  -x  ~x  !x  << >> & | ^  && ||  == != < <= > >=  a ? b : c
//   min(a, b...)  max(a, b...)  abs(x)  log2(x)  ceil_div(a, b)  align(a, b)  and those of the caller (bank, count, ...)
//
// A name without a value is a word, equal only to itself: `TA == n`. Everything that has no exact 64-bit answer
// (overflow, division by zero, arithmetic on words) is an error; what && || ?: do not need is read, not evaluated.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sass/result.h"

namespace nervanagpu::sass {

struct Value {
  enum class Kind : std::uint8_t { kNumber, kWord };
  Kind kind = Kind::kNumber;
  std::int64_t number = 0;
  std::string word;
  bool known = true;  // false: a word that nobody defined, spelled in the expression itself

  static Value of(std::int64_t n) { return {Kind::kNumber, n, {}, true}; }
  static Value text(std::string w, bool known = true) { return {Kind::kWord, 0, std::move(w), known}; }
  [[nodiscard]] bool is_number() const { return kind == Kind::kNumber; }
  [[nodiscard]] std::string str() const { return is_number() ? std::to_string(number) : word; }
};

// What an expression can ask of its surroundings.
class Names {
 public:
  virtual ~Names() = default;
  // The value of a defined name; none: a bare word.
  [[nodiscard]] virtual std::optional<Value> value(std::string_view name) const = 0;
  // A function of a name rather than of values, such as bank(acc[3]): `argument` is the text between the parentheses.
  // None: there is no such function.
  [[nodiscard]] virtual std::optional<Result<Value>> call(std::string_view function,
                                                          std::string_view argument) const = 0;
};

struct Evaluated {
  Value value;
  std::size_t used = 0;  // bytes read; the rest of the text is not part of the expression
};

// The longest expression at the start of `text`. A Diag's column counts from 1 at the start of `text`; its file and
// line are left to the caller. `only_syntax` reads without evaluating: names need not be defined.
Result<Evaluated> evaluate_prefix(std::string_view text, const Names& names, bool only_syntax = false);

// The whole of `text`.
Result<Value> evaluate(std::string_view text, const Names& names, bool only_syntax = false);
Result<std::int64_t> evaluate_number(std::string_view text, const Names& names);

// "12", "-3", "0x1f", "0b11" as a whole; none: anything else, or outside 64 bits.
std::optional<std::int64_t> integer_from(std::string_view text);
// The same without a sign.
std::optional<std::uint64_t> unsigned_from(std::string_view text);

// Letters, digits and underscores, not starting with a digit.
bool is_name_start(char c);
bool is_name_char(char c);
bool is_name(std::string_view text);
std::string_view leading_name(std::string_view text);  // the name that `text` begins with, or ""

std::string_view trim(std::string_view text);

}  // namespace nervanagpu::sass
