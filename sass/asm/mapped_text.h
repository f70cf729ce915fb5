// Text that remembers where each of its pieces came from, so that an error in an expanded instruction names the column
// of the template.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace nervanagpu::sass {

struct ColumnMark {
  enum class Kind : std::uint8_t {
    kCopied,  // as in the source: columns go on counting
    kMade,    // the value of something that stands at `col`
    kOpaque,  // the same, and not to be looked at again: its names were resolved elsewhere
  };
  std::uint32_t pos = 0;  // the piece begins here in the text
  std::uint32_t col = 0;
  Kind kind = Kind::kCopied;
};

// The source column of text position `pos`, both the end of the text and anything after it included.
inline std::uint32_t column_at(const std::vector<ColumnMark>& marks, std::size_t pos) {
  const ColumnMark* m = nullptr;
  for (const ColumnMark& candidate : marks) {
    if (candidate.pos > pos) break;
    m = &candidate;
  }
  if (m == nullptr) return 1;
  return m->kind == ColumnMark::Kind::kCopied ? m->col + static_cast<std::uint32_t>(pos - m->pos) : m->col;
}

struct MappedText {
  std::string text;
  std::vector<ColumnMark> marks;

  static MappedText copy_of(std::string_view source, std::uint32_t col) {
    MappedText m;
    m.add(source, col, ColumnMark::Kind::kCopied);
    return m;
  }
  void add(std::string_view piece, std::uint32_t col, ColumnMark::Kind kind) {
    if (piece.empty()) return;
    const auto pos = static_cast<std::uint32_t>(text.size());
    const bool same = !marks.empty() && marks.back().kind == kind &&
                      (kind == ColumnMark::Kind::kCopied ? marks.back().col + (pos - marks.back().pos) == col
                                                         : marks.back().col == col);
    if (!same) marks.push_back({pos, col, kind});
    text += piece;
  }
  // text[pos, pos + length) of `from`, with its marks. `hint` is the mark to begin looking at, and moves on.
  void add_range(const MappedText& from, std::size_t pos, std::size_t length, std::size_t& hint) {
    const std::size_t stop = pos + length;
    while (pos < stop) {
      while (hint + 1 < from.marks.size() && from.marks[hint + 1].pos <= pos) ++hint;
      const ColumnMark& m = from.marks[hint];
      const std::size_t end = hint + 1 < from.marks.size() ? from.marks[hint + 1].pos : from.text.size();
      const std::size_t take = std::min(end, stop) - pos;
      const std::uint32_t col =
          m.kind == ColumnMark::Kind::kCopied ? m.col + static_cast<std::uint32_t>(pos - m.pos) : m.col;
      add(std::string_view(from.text).substr(pos, take), col, m.kind);
      pos += take;
    }
  }
  [[nodiscard]] std::uint32_t column(std::size_t pos) const { return column_at(marks, pos); }
};

}  // namespace nervanagpu::sass
