#include "sass/asm/template/excerpt.h"

#include <algorithm>

#include "sass/asm/template/expr.h"

namespace nervanagpu::sass {
namespace {

constexpr std::size_t kMaxShown = 160;  // bytes of a line

// Line `number` (from 1) of `text`; none: there are fewer.
std::optional<std::string_view> line_of(std::string_view text, std::uint32_t number) {
  for (; number > 1; --number) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) return std::nullopt;
    text.remove_prefix(end + 1);
  }
  text = text.substr(0, text.find('\n'));
  if (!text.empty() && text.back() == '\r') text.remove_suffix(1);
  return text;
}

bool in_word(char c) {
  return is_name_char(c) || c == '.' || c == '$';
}

}  // namespace

Diag with_excerpt(Diag d, const Template& source) {
  if (d.at.line == 0 || d.at.col == 0) return d;
  std::string included;
  std::string_view text = source.text;
  if (d.at.file != source.name) {
    if (!source.include) return d;
    Result<std::string> content = source.include(d.at.file);
    if (!content.ok()) return d;
    included = std::move(*content);
    text = included;
  }
  const std::optional<std::string_view> line = line_of(text, d.at.line);
  const std::size_t at = d.at.col - 1;
  if (!line || at > line->size() || at >= kMaxShown) return d;
  const auto printable = [](char c) { return static_cast<unsigned char>(c) >= 0x20 || c == '\t'; };
  if (!std::ranges::all_of(*line, printable)) return d;
  const std::string number = std::to_string(d.at.line);
  std::size_t end = at + 1;
  if (at < line->size() && in_word((*line)[at])) {
    const bool dotted = (*line)[at] == '.';  // one modifier, or a directive
    while (end < line->size() && in_word((*line)[end]) && !(dotted && (*line)[end] == '.')) ++end;
  }
  std::string mark = std::string(number.size(), ' ') + " | ";
  for (std::size_t i = 0; i < at; ++i) {
    const auto c = static_cast<unsigned char>((*line)[i]);
    if (c == '\t')
      mark += '\t';  // so that it stands below whatever the width of a tab
    else if ((c & 0xC0U) != 0x80U)
      mark += ' ';
  }
  mark += "^" + std::string(std::min(end, kMaxShown) - at - 1, '~');
  const std::string shown(line->substr(0, kMaxShown));
  d.notes.insert(d.notes.begin(), {number + " | " + shown + (line->size() > kMaxShown ? "..." : ""), mark});
  return d;
}

}  // namespace nervanagpu::sass
