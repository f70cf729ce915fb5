// The text of a template as a tree of statements: comments gone, blocks matched, nothing evaluated.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sass/result.h"

namespace nervanagpu::sass {

inline constexpr std::size_t kMaxSourceBytes = std::size_t{16} << 20;
inline constexpr std::size_t kMaxLineBytes = 16384;
inline constexpr unsigned kMaxBlockDepth = 64;  // .for, .if and .macro inside one another

// One statement. Views point into the SourceText that owns the tree; columns are bytes from 1.
struct Statement {
  std::string_view directive;  // "for", "let", ... without the dot; empty: a label, an instruction or a macro call
  std::string_view text;       // what follows the directive, or the whole statement; trimmed
  std::uint32_t line = 0;
  std::uint32_t col = 0;        // of the statement
  std::uint32_t text_col = 0;   // of `text`
  std::vector<Statement> body;  // of .for and .macro, and of one arm of .if
  std::vector<Statement> arms;  // of .if: the .if itself, then .elif and .else, each with its body
};

struct SourceText {
  std::string name;  // for diagnostics
  std::string text;  // comments are blanks, so that columns stay
  std::vector<Statement> statements;

  SourceText() = default;
  SourceText(const SourceText&) = delete;
  SourceText& operator=(const SourceText&) = delete;
};

Result<std::shared_ptr<const SourceText>> read_source(std::string name, std::string text);

// "a, b[1, 2], (c, d)" -> pieces at the commas that stand outside brackets and quotes, with their offsets; untrimmed.
struct Piece {
  std::string_view text;
  std::size_t offset = 0;
};
std::vector<Piece> split_commas(std::string_view text);

}  // namespace nervanagpu::sass
