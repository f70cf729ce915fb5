#include "sass/asm/template/template.h"

#include <algorithm>
#include <array>

#include "sass/asm/template/expr.h"
#include "sass/isa/codec/raw_word.h"
#include "sass/isa/codec/suggest.h"

namespace nervanagpu::sass {
namespace {

// Length of the UTF-8 character at text[i]; 0: not UTF-8 (overlong forms, surrogates and cut characters included).
std::size_t utf8_length(std::string_view text, std::size_t i) {
  const auto at = [&](std::size_t k) { return k < text.size() ? static_cast<unsigned char>(text[k]) : 0U; };
  const auto tail = [&](std::size_t k) { return (at(k) & 0xC0U) == 0x80U; };
  const unsigned c = at(i), d = at(i + 1);
  if (c < 0x80) return 1;
  if (c >= 0xC2 && c <= 0xDF && tail(i + 1)) return 2;
  if (c >= 0xE0 && c <= 0xEF && tail(i + 1) && tail(i + 2)) {
    return (c == 0xE0 && d < 0xA0) || (c == 0xED && d >= 0xA0) ? 0 : 3;
  }
  if (c >= 0xF0 && c <= 0xF4 && tail(i + 1) && tail(i + 2) && tail(i + 3)) {
    return (c == 0xF0 && d < 0x90) || (c == 0xF4 && d >= 0x90) ? 0 : 4;
  }
  return 0;
}

std::string hex_byte(char c) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  const auto u = static_cast<unsigned char>(c);
  return std::string("0x") + kDigits[u >> 4U] + kDigits[u & 15U];
}

// Blanks out comments in place and refuses what no template may contain.
class Cleaner {
 public:
  Cleaner(const std::string& name, std::string& text) : name_(name), text_(text) {}

  Status run() {
    while (pos_ < text_.size()) {
      const char c = text_[pos_];
      if (c == '\n') {
        quote_ = false;
        next_line();
        continue;
      }
      if (pos_ - line_start_ >= kMaxLineBytes) {
        return fail(line_, 1, "line longer than " + std::to_string(kMaxLineBytes) + " bytes");
      }
      if (c == '\r' && pos_ + 1 < text_.size() && text_[pos_ + 1] == '\n') {
        text_[pos_++] = ' ';
        continue;
      }
      if (c == 0x7f || (c != '\t' && static_cast<unsigned char>(c) < 0x20)) {
        return fail(line_, col(), "control character " + hex_byte(c) + "; a template is text");
      }
      const std::size_t length = utf8_length(text_, pos_);
      if (length == 0) return fail(line_, col(), "byte " + hex_byte(c) + " is not UTF-8");
      if (length > 1) {
        if (!quote_ && !block_ && !rest_) {
          return fail(line_, col(), "`" + text_.substr(pos_, length) + "` may stand only in comments and quoted text");
        }
        blank(length);
        continue;
      }
      step(c);
    }
    if (block_) return fail(open_line_, open_col_, "this comment is never closed by */");
    return Done{};
  }

 private:
  Diag fail(std::uint32_t line, std::uint32_t column, std::string message) const {
    return error_at({name_, line, column}, std::move(message));
  }
  [[nodiscard]] std::uint32_t col() const { return static_cast<std::uint32_t>(pos_ - line_start_ + 1); }
  [[nodiscard]] bool next_is(char c) const { return pos_ + 1 < text_.size() && text_[pos_ + 1] == c; }

  void next_line() {
    ++pos_;
    ++line_;
    line_start_ = pos_;
    rest_ = false;
  }
  // Moves over `length` bytes, which disappear if a comment holds them.
  void blank(std::size_t length) {
    if (block_ || rest_) std::fill_n(text_.begin() + static_cast<std::ptrdiff_t>(pos_), length, ' ');
    pos_ += length;
  }
  void step(char c) {
    if (block_) {
      const bool end = c == '*' && next_is('/');
      blank(end ? 2 : 1);
      if (end) block_ = false;
      return;
    }
    if (!rest_ && !quote_ && c == '/' && next_is('/')) rest_ = true;
    if (!rest_ && !quote_ && c == '/' && next_is('*')) {
      block_ = true;
      open_line_ = line_;
      open_col_ = col();
      blank(2);
      return;
    }
    if (!rest_ && c == '"') quote_ = !quote_;
    blank(1);
  }

  const std::string& name_;
  std::string& text_;
  std::size_t pos_ = 0;
  std::size_t line_start_ = 0;
  std::uint32_t line_ = 1;
  std::uint32_t open_line_ = 0, open_col_ = 0;
  bool block_ = false, rest_ = false, quote_ = false;
};

// clang-format off
constexpr std::array<std::string_view, 28> kDirectives = {
    "kernel", "arch", "variants", "param", "threads", "shared", "regs", "cluster", "needs", "accum", "bound", "launch",
    "let", "default", "for", "if", "elif", "else", "end", "macro", "include", "error", "assert",
    "reg", "ureg", "pred", "upred", "free",
};
constexpr std::array<std::string_view, 7> kMoreDirectives = {"alias",    "const",    "stream", "deal",
                                                             "schedule", "allocate", "reserve"};
// clang-format on

bool known_directive(std::string_view d) {
  return std::find(kDirectives.begin(), kDirectives.end(), d) != kDirectives.end() ||
         std::find(kMoreDirectives.begin(), kMoreDirectives.end(), d) != kMoreDirectives.end();
}

class Blocks {
 public:
  explicit Blocks(SourceText& source) : source_(source) {}

  Status run() {
    const std::string_view text = source_.text;
    std::uint32_t line = 0;
    std::size_t start = 0;
    lists_.push_back(&source_.statements);
    while (start < text.size()) {
      std::size_t end = text.find('\n', start);
      if (end == std::string_view::npos) end = text.size();
      ++line;
      Status s = statement(text.substr(start, end - start), line);
      if (!s.ok()) return s;
      start = end + 1;
    }
    if (!open_.empty()) {
      const Open& o = open_.back();
      return error_at({source_.name, o.line, o.col}, "this ." + o.what + " is never closed by .end");
    }
    return Done{};
  }

 private:
  struct Open {
    std::string what;
    std::uint32_t line = 0, col = 0;
    bool had_else = false;
  };

  Status statement(std::string_view raw, std::uint32_t line) {
    const std::size_t first = raw.find_first_not_of(" \t");
    if (first == std::string_view::npos) return Done{};
    Statement s;
    s.line = line;
    s.col = s.text_col = static_cast<std::uint32_t>(first + 1);
    s.text = trim(raw);
    if (s.text[0] != '.' || s.text.size() < 2 || !is_name_start(s.text[1])) {
      lists_.back()->push_back(std::move(s));
      return Done{};
    }
    std::size_t end = 1;
    while (end < s.text.size() && is_name_char(s.text[end])) ++end;
    if (s.text.substr(end, 1) == ":" || s.text.substr(end, 1) == "{") {  // a label such as .L_1:
      lists_.back()->push_back(std::move(s));
      return Done{};
    }
    if (is_raw_word(s.text)) {  // an instruction
      lists_.back()->push_back(std::move(s));
      return Done{};
    }
    s.directive = s.text.substr(1, end - 1);
    const std::string_view rest = s.text.substr(end);
    const std::size_t skip = rest.find_first_not_of(" \t");
    s.text = trim(rest);
    s.text_col += static_cast<std::uint32_t>(end + (skip == std::string_view::npos ? 0 : skip));
    return directive(std::move(s));
  }

  Diag fail(const Statement& s, std::string message, std::vector<std::string> notes = {}) const {
    return error_at({source_.name, s.line, s.col}, std::move(message), std::move(notes));
  }

  Status directive(Statement s) {
    const std::string_view d = s.directive;
    if (!known_directive(d)) {
      std::string all;
      for (const std::string_view k : kDirectives) all += " ." + std::string(k);
      for (const std::string_view k : kMoreDirectives) all += " ." + std::string(k);
      Suggestion near(d);
      for (const std::string_view k : kDirectives) near.offer(k);
      for (const std::string_view k : kMoreDirectives) near.offer(k);
      near.offer(kRawWord.substr(1));
      std::vector<std::string> notes = near.note(".");
      notes.push_back("directives:" + all);
      return fail(s, "there is no directive ." + std::string(d.substr(0, 40)), std::move(notes));
    }
    if (d == "end") {
      if (open_.empty()) return fail(s, ".end without an open .for, .if, .macro, .stream or .schedule");
      if (!s.text.empty()) return fail(s, ".end stands alone, found `" + std::string(s.text.substr(0, 40)) + "`");
      open_.pop_back();
      lists_.pop_back();
      return Done{};
    }
    if (d == "elif" || d == "else") {
      if (open_.empty() || open_.back().what != "if") return fail(s, "." + std::string(d) + " without an open .if");
      if (open_.back().had_else) return fail(s, "." + std::string(d) + " after .else");
      if (d == "else" && !s.text.empty()) {
        return fail(s, ".else stands alone, found `" + std::string(s.text.substr(0, 40)) + "`; .elif has a condition");
      }
      open_.back().had_else = d == "else";
      lists_.pop_back();
      Statement& whole = lists_.back()->back();
      whole.arms.push_back(std::move(s));
      lists_.push_back(&whole.arms.back().body);
      return Done{};
    }
    const bool block = d == "for" || d == "if" || d == "macro" || d == "stream" || d == "schedule";
    if (!block) {
      lists_.back()->push_back(std::move(s));
      return Done{};
    }
    if (open_.size() >= kMaxBlockDepth) {
      return fail(s, "blocks nested deeper than " + std::to_string(kMaxBlockDepth) + " levels");
    }
    open_.push_back({std::string(d), s.line, s.col, false});
    if (d == "if") {
      Statement whole = s;
      whole.arms.push_back(std::move(s));
      lists_.back()->push_back(std::move(whole));
      lists_.push_back(&lists_.back()->back().arms.back().body);
    } else {
      lists_.back()->push_back(std::move(s));
      lists_.push_back(&lists_.back()->back().body);
    }
    return Done{};
  }

  SourceText& source_;
  std::vector<std::vector<Statement>*> lists_;  // where statements go, one a level
  std::vector<Open> open_;
};

}  // namespace

Result<std::shared_ptr<const SourceText>> read_source(std::string name, std::string text) {
  if (text.size() > kMaxSourceBytes) {
    return error_at({name, 0, 0}, "the file has " + std::to_string(text.size()) + " bytes; " +
                                      std::to_string(kMaxSourceBytes) + " is the most");
  }
  auto source = std::make_shared<SourceText>();
  source->name = std::move(name);
  source->text = std::move(text);
  Status clean = Cleaner(source->name, source->text).run();
  if (!clean.ok()) return clean.error();
  Status blocks = Blocks(*source).run();
  if (!blocks.ok()) return blocks.error();
  return std::shared_ptr<const SourceText>(std::move(source));
}

std::vector<Piece> split_commas(std::string_view text) {
  std::vector<Piece> out;
  int nest = 0;
  bool quote = false;
  std::size_t start = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    const char c = i < text.size() ? text[i] : ',';
    if (i < text.size()) {
      if (c == '"') quote = !quote;
      if (quote) continue;
      if (c == '(' || c == '[' || c == '{') ++nest;
      if (c == ')' || c == ']' || c == '}') --nest;
    }
    if (i == text.size() || (c == ',' && nest <= 0)) {
      out.push_back({text.substr(start, i - start), start});
      start = i + 1;
    }
  }
  return out;
}

}  // namespace nervanagpu::sass
