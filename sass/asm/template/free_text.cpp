#include "sass/asm/template/free_text.h"

#include <charconv>

#include "sass/asm/mapped_text.h"
#include "sass/asm/template/expr.h"

namespace nervanagpu::sass {

std::vector<FreeToken> register_tokens(std::string_view text) {
  std::vector<FreeToken> out;
  std::size_t i = 0;
  while (i < text.size()) {
    if (text[i] == '`') {
      i = std::min(text.find(')', i), text.size());
      continue;
    }
    if (!is_name_char(text[i])) {
      ++i;
      continue;
    }
    std::size_t end = i;
    while (end < text.size() && is_name_char(text[end])) ++end;
    const std::string_view word = text.substr(i, end - i);
    for (const RegFile file : {RegFile::kUGpr, RegFile::kUPred, RegFile::kGpr, RegFile::kPred}) {
      const std::string_view prefix = register_prefix(file);
      if (word.size() <= prefix.size() || word.substr(0, prefix.size()) != prefix) continue;
      std::uint32_t n = 0;
      const auto got = std::from_chars(word.data() + prefix.size(), word.data() + word.size(), n);
      if (got.ec != std::errc{} || got.ptr != word.data() + word.size()) continue;
      out.push_back({file, n, i, end - i});
      break;
    }
    i = end;
  }
  return out;
}

TextLine renumbered(const TextLine& line, const std::function<std::uint32_t(const FreeToken&)>& number) {
  const std::vector<FreeToken> tokens = register_tokens(line.text);
  const MappedText from{line.text, line.columns};
  MappedText to;
  std::size_t pos = 0;
  std::size_t hint = 0;
  for (const FreeToken& t : tokens) {
    if (t.number < kFirstFree) continue;
    to.add_range(from, pos, t.pos - pos, hint);
    to.add(register_text(t.file, number(t)), from.column(t.pos), ColumnMark::Kind::kOpaque);
    pos = t.pos + t.length;
  }
  to.add_range(from, pos, line.text.size() - pos, hint);
  TextLine out = line;
  out.text = std::move(to.text);
  out.columns = std::move(to.marks);
  return out;
}

}  // namespace nervanagpu::sass
