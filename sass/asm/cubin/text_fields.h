// The strict little text format of our own cubin sections: one record a line, fields separated by one space, strings
// quoted. Every reader failure names the record's line.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sass/result.h"

namespace nervanagpu::sass {

// "..." with \" \\ and \xHH for control characters.
std::string quoted(std::string_view text);

class FieldReader {
 public:
  // `what` names the text in errors: "manifest of sgemm".
  FieldReader(std::string_view text, std::string what) : rest_(text), what_(std::move(what)) {}

  // To the next line; false at the end of the text. The current line must have been read to its end.
  Result<bool> next_line();
  // True and past it if the line goes on with `key`.
  bool take_key(std::string_view key);
  // The next field.
  Result<std::string_view> word();
  Result<std::uint32_t> number(std::uint32_t max);
  Result<std::string> string();
  // What follows the current line, which must have been read to its end.
  [[nodiscard]] Result<std::string_view> rest() const;

  [[nodiscard]] Diag fail(std::string message) const;

 private:
  [[nodiscard]] bool separate();  // the one space before any field but the first

  std::string_view rest_;
  std::string_view line_;
  std::size_t line_size_ = 0;
  std::uint32_t line_number_ = 0;
  std::string what_;
};

}  // namespace nervanagpu::sass
