#include "sass/asm/template/substitute.h"

#include <algorithm>
#include <array>

#include "sass/isa/codec/raw_word.h"
#include "sass/isa/codec/suggest.h"

namespace nervanagpu::sass {
namespace {

using Kind = ColumnMark::Kind;

Diag at_column(std::uint32_t col, std::string message, std::vector<std::string> notes = {}) {
  return error_at({"", 0, col}, std::move(message), std::move(notes));
}

// A Diag whose column counts inside a piece of text that begins at `col`.
Diag moved(Diag d, std::uint32_t col) {
  d.at.col = col + (d.at.col == 0 ? 0 : d.at.col - 1);
  return d;
}

std::string hex(std::int64_t v) {
  const bool negative = v < 0;
  std::uint64_t u = negative ? 0 - static_cast<std::uint64_t>(v) : static_cast<std::uint64_t>(v);
  std::string s;
  do {
    s.insert(s.begin(), "0123456789abcdef"[u & 15U]);
    u >>= 4U;
  } while (u != 0);
  return (negative ? "-0x" : "0x") + s;
}

// {3,1,0} and {desc=UR6} are SASS, not expressions.
bool is_sass_set(std::string_view inner) {
  int nest = 0;
  for (std::size_t i = 0; i < inner.size(); ++i) {
    const char c = inner[i];
    if (c == '(' || c == '[') ++nest;
    if (c == ')' || c == ']') --nest;
    if (c == ',' && nest == 0) return true;
    if (c == '=') {
      const char before = i > 0 ? inner[i - 1] : ' ';
      const char after = i + 1 < inner.size() ? inner[i + 1] : ' ';
      if (after == '=') {
        ++i;
      } else if (before != '!' && before != '<' && before != '>' && before != '=') {
        return true;
      }
    }
  }
  return false;
}

std::string binding_text(const Binding& b) {
  switch (b.kind) {
    case Binding::Kind::kRegs: return register_text(b.regs.file, b.regs.base);
    case Binding::Kind::kArgument: return b.text;
    case Binding::Kind::kValue: return b.value.str();
    default: return b.text;
  }
}

bool too_long(const MappedText& t) {
  return t.text.size() > kMaxExpandedLine;
}
Diag line_too_long(std::uint32_t col) {
  return at_column(col, "the line expands to more than " + std::to_string(kMaxExpandedLine) + " bytes");
}

// The text that {inner} stands for.
Result<Done> expand_braces(std::string_view inner, std::uint32_t col, const Surroundings& in, MappedText& out) {
  const std::string_view name = trim(inner);
  if (is_name(name)) {
    if (const Binding* b = in.scope.find(name)) {
      if (b->kind == Binding::Kind::kFreed) {
        return at_column(col, "`" + std::string(name) + "` was freed at line " + std::to_string(b->at.line));
      }
      if (b->kind != Binding::Kind::kValue && b->kind != Binding::Kind::kArgument) {
        out.add(binding_text(*b), col, b->kind == Binding::Kind::kQuoted ? Kind::kMade : Kind::kOpaque);
        return Done{};
      }
    }
  } else if (const auto view = register_expression(inner, in.scope, in.registers.banks())) {
    if (!view->ok()) return moved(view->error(), col);
    out.add(register_text(view->value().file, view->value().base), col, Kind::kOpaque);
    return Done{};
  }
  const ScopeNames names(in.scope, in.registers.banks());
  Result<Evaluated> r = evaluate_prefix(inner, names);
  if (!r.ok()) return moved(r.error(), col);
  const std::string_view rest = trim(inner.substr(r->used));
  const Value& v = r->value;
  if (!rest.empty() && rest != ":x") {
    return at_column(col + static_cast<std::uint32_t>(inner.find_first_not_of(" \t", r->used)),
                     "expected an operator, `:x` or `}`, found `" + std::string(rest.substr(0, 20)) + "`");
  }
  if (!v.is_number() && !v.known) {
    return at_column(col, "`" + v.word + "` is not defined", {"`{{` and `}}` stand for literal braces"});
  }
  if (rest == ":x" && !v.is_number()) return at_column(col, "`" + v.word + "` is a word; `:x` needs a number");
  out.add(rest == ":x" ? hex(v.number) : v.str(), col, Kind::kMade);
  return Done{};
}

struct SystemConstant {
  std::string_view name;
  std::uint16_t maxwell;  // byte offset in c[0x0]
  std::uint16_t volta;
};
// clang-format off
constexpr std::array kSystemConstants = {
    //             name        sm_5x  sm_70..
    SystemConstant{"ntid_x",   0x08,  0x00}, SystemConstant{"ntid_y",   0x0c, 0x04}, SystemConstant{"ntid_z",   0x10, 0x08},
    SystemConstant{"nctaid_x", 0x14,  0x0c}, SystemConstant{"nctaid_y", 0x18, 0x10}, SystemConstant{"nctaid_z", 0x1c, 0x14},
};
// clang-format on

// Resolves the names of one line.
class Resolver {
 public:
  Resolver(const MappedText& text, bool operands_only, const Surroundings& in)
      : text_(text), t_(text.text), in_(in), mnemonic_done_(operands_only) {}

  Result<MappedText> run() {
    std::size_t column = 0;
    if (!mnemonic_done_ && has_control_column(t_, column)) copy(column);
    while (pos_ < t_.size()) {
      if (too_long(out_)) return line_too_long(text_.column(pos_));
      if (mark().kind == Kind::kOpaque) {
        // Resolved text still counts as what it is: the mnemonic, if it comes first.
        if (is_name_start(t_[pos_]) && !after('@')) mnemonic_done_ = true;
        copy((mark_ + 1 < text_.marks.size() ? text_.marks[mark_ + 1].pos : t_.size()) - pos_);
        continue;
      }
      Status s = step();
      if (!s.ok()) return s.error();
    }
    return std::move(out_);
  }

 private:
  const ColumnMark& mark() {
    while (mark_ + 1 < text_.marks.size() && text_.marks[mark_ + 1].pos <= pos_) ++mark_;
    return text_.marks[mark_];
  }
  void copy(std::size_t length) {
    out_.add_range(text_, pos_, length, mark_);
    pos_ += length;
  }
  [[nodiscard]] char at(std::size_t i) const { return i < t_.size() ? t_[i] : '\0'; }
  // The last character before pos_ that is no blank (and no `!`) is `c`.
  [[nodiscard]] bool after(char c) const {
    std::size_t i = pos_;
    while (i > 0 && (t_[i - 1] == ' ' || t_[i - 1] == '\t' || t_[i - 1] == '!')) --i;
    return i > 0 && t_[i - 1] == c;
  }

  Status step() {
    const char c = t_[pos_];
    if (c == '`') {
      const std::size_t close = t_.find(')', pos_);
      copy(close == std::string_view::npos ? t_.size() - pos_ : close + 1 - pos_);
      return Done{};
    }
    if (c >= '0' && c <= '9') {
      std::size_t end = pos_;
      while (is_name_char(at(end)) || at(end) == '.') ++end;
      copy(end - pos_);
      return Done{};
    }
    if (c == '.') {  // a modifier, whatever its name
      std::size_t end = pos_ + 1;
      while (is_name_char(at(end))) ++end;
      copy(end - pos_);
      return Done{};
    }
    if (!is_name_start(c)) {
      copy(1);
      return Done{};
    }
    std::size_t end = pos_;
    while (is_name_char(at(end))) ++end;
    const std::string_view name = t_.substr(pos_, end - pos_);
    if (!mnemonic_done_ && !after('@')) {
      mnemonic_done_ = true;
      copy(name.size());
      return Done{};
    }
    return word(name, end);
  }

  Status word(std::string_view name, std::size_t end) {
    const ColumnMark& m = mark();
    const std::uint32_t col = m.kind == Kind::kCopied ? m.col + static_cast<std::uint32_t>(pos_ - m.pos) : m.col;
    if (at(end) == '[') {
      if (name == "param") return parameter(end, col);
      if (name == "sys") return system(end, col);
    }
    if (is_word_of_raw(name)) {
      copy(name.size());
      return Done{};
    }
    if (const auto raw = raw_register(name)) {
      if (auto message = in_.registers.touch_raw(raw->file, raw->base)) return at_column(col, *message);
      copy(name.size());
      return Done{};
    }
    const Binding* b = in_.scope.find(name);
    if (b == nullptr) {
      copy(name.size());
      return Done{};
    }
    switch (b->kind) {
      case Binding::Kind::kFreed:
        return at_column(col, "`" + std::string(name) + "` was freed at line " + std::to_string(b->at.line));
      case Binding::Kind::kValue:
        if (is_constant_bank(name, end)) break;
        return at_column(col, "`" + std::string(name) + "` is a value; write {" + std::string(name) + "}");
      case Binding::Kind::kRegs: return registers(*b, name, end, col);
      default:
        if (is_constant_bank(name, end)) break;
        out_.add(binding_text(*b), col, Kind::kOpaque);
        pos_ = end;
        return Done{};
    }
    copy(name.size());
    return Done{};
  }

  // `reads`, `writes`, `latency` and `scoreboard` of a .word, outside of its lists: whatever else has these names.
  [[nodiscard]] bool is_word_of_raw(std::string_view name) const {
    if (name != "reads" && name != "writes" && name != "latency" && name != "scoreboard" && name != "reuse")
      return false;
    std::size_t length = 0;
    const std::size_t begin = has_control_column(t_, length) ? t_.find_first_not_of(" \t", length) : 0;
    if (begin == std::string_view::npos || !is_raw_word(t_.substr(begin))) return false;
    const std::string_view before = t_.substr(0, pos_);
    return std::ranges::count(before, '(') == std::ranges::count(before, ')');
  }

  // c[0x0][...] and cx[UR4][...] keep their meaning whatever c is.
  [[nodiscard]] bool is_constant_bank(std::string_view name, std::size_t end) const {
    return (name == "c" || name == "cx") && at(end) == '[';
  }

  // The position of the bracket that closes the one at `open`; npos: none.
  [[nodiscard]] std::size_t closing(std::size_t open) const {
    int nest = 0;
    for (std::size_t i = open; i < t_.size(); ++i) {
      if (t_[i] == '[') ++nest;
      if (t_[i] == ']' && --nest == 0) return i;
    }
    return std::string_view::npos;
  }

  Status registers(const Binding& b, std::string_view name, std::size_t end, std::uint32_t col) {
    if (at(end) != '[') {
      if (b.regs.array) {
        return at_column(col, "`" + std::string(name) + "` has " + std::to_string(b.regs.count) +
                                  " registers; name one: " + std::string(name) + "[0]");
      }
      out_.add(register_text(b.regs.file, b.regs.base), col, Kind::kOpaque);
      pos_ = end;
      return Done{};
    }
    if (is_constant_bank(name, end) && !b.regs.array) {
      copy(name.size());
      return Done{};
    }
    const std::size_t close = closing(end);
    if (close == std::string_view::npos) return at_column(text_.column(end), "this `[` is never closed");
    if (is_name_char(at(close + 1))) {  // it would become digits of the register's number
      return at_column(text_.column(close + 1), "`" + std::string(1, at(close + 1)) + "` cannot follow `]`");
    }
    const auto view = register_expression(t_.substr(pos_, close + 1 - pos_), in_.scope, in_.registers.banks());
    if (!view || !view->ok()) {
      Diag d = view ? view->error() : error("not a register");
      d.at = {"", 0, text_.column(pos_ + (d.at.col == 0 ? 0 : d.at.col - 1))};
      return d;
    }
    if (view->value().raw) {
      if (auto message = in_.registers.touch_raw(view->value().file, view->value().base)) {
        return at_column(col, *message);
      }
    }
    out_.add(register_text(view->value().file, view->value().base), col, Kind::kOpaque);
    pos_ = close + 1;
    return Done{};
  }

  Status constant(std::uint64_t offset, std::size_t close, std::uint32_t col, const std::string& index = {}) {
    out_.add("c[0x0][" + index + hex(static_cast<std::int64_t>(offset)) + "]", col, Kind::kOpaque);
    pos_ = close + 1;
    return Done{};
  }

  Status parameter(std::size_t open, std::uint32_t col) {
    const std::size_t close = closing(open);
    if (close == std::string_view::npos) return at_column(text_.column(open), "this `[` is never closed");
    std::size_t p = open + 1;
    while (at(p) == ' ') ++p;
    std::string index;  // a register of bytes in front: param[at+first]
    if (Result<std::size_t> r = index_register(p, close, index); !r.ok()) {
      return r.error();
    } else {
      p = *r;
    }
    std::size_t end = p;
    while (is_name_char(at(end))) ++end;
    const std::string_view name = t_.substr(p, end - p);
    const Param* param = nullptr;
    std::string all;
    for (const Param& x : in_.params) {
      if (x.name == name) param = &x;
      all += (all.empty() ? "" : ", ") + x.name;
    }
    if (param == nullptr) {
      Suggestion near(name);
      for (const Param& x : in_.params) near.offer(x.name);
      std::vector<std::string> notes = near.note("`", "`");
      notes.push_back(all.empty() ? "the template has no .param" : "parameters: " + all);
      return at_column(text_.column(p), "there is no parameter `" + std::string(name.substr(0, 40)) + "`",
                       std::move(notes));
    }
    std::string_view rest = trim(t_.substr(end, close - end));
    std::int64_t offset = 0;
    if (!rest.empty()) {
      const ScopeNames names(in_.scope, in_.registers.banks());
      const std::size_t rest_at = t_.find_first_not_of(" \t", end);
      if (rest[0] != '+') return at_column(text_.column(rest_at), "expected `]` or `+ BYTES`");
      const Result<std::int64_t> r = evaluate_number(rest.substr(1), names);
      if (!r.ok()) {
        Diag d = r.error();
        d.at.col = text_.column(rest_at + (d.at.col == 0 ? 1 : d.at.col));
        return d;
      }
      offset = *r;
    }
    if (offset < 0 || offset >= size_of(param->type)) {
      return at_column(text_.column(end), "byte " + std::to_string(offset) + " is outside `" + param->name + "`, a " +
                                              std::string(name_of(param->type)) + " of " +
                                              std::to_string(size_of(param->type)) + " bytes");
    }
    return constant(info(in_.arch).param_base + param->offset + static_cast<std::uint64_t>(offset), close, col, index);
  }

  // Of `param[R+name]`, where R is a register: its text, `R4+`, and where the name begins. Else `p`.
  Result<std::size_t> index_register(std::size_t p, std::size_t close, std::string& index) {
    const std::size_t plus = t_.find('+', p);
    if (plus == std::string_view::npos || plus > close) return p;
    const std::string_view text = trim(t_.substr(p, plus - p));
    const bool is_parameter = std::ranges::any_of(in_.params, [&](const Param& x) { return x.name == text; });
    if (is_parameter) return p;
    std::optional<RegView> base = raw_register(text);
    if (const Binding* b = in_.scope.find(text); b != nullptr && b->kind == Binding::Kind::kRegs && !b->regs.array) {
      base = b->regs;
    } else if (const auto view = register_expression(text, in_.scope, in_.registers.banks())) {
      if (!view->ok()) {
        Diag d = view->error();
        d.at = {"", 0, text_.column(p + (d.at.col == 0 ? 0 : d.at.col - 1))};
        return d;
      }
      base = view->value();
    }
    if (!base) return p;
    if (base->raw) {
      if (auto message = in_.registers.touch_raw(base->file, base->base)) return at_column(text_.column(p), *message);
    }
    index = register_text(base->file, base->base) + "+";
    std::size_t name = plus + 1;
    while (at(name) == ' ') ++name;
    return name;
  }

  Status system(std::size_t open, std::uint32_t col) {
    const std::size_t close = closing(open);
    if (close == std::string_view::npos) return at_column(text_.column(open), "this `[` is never closed");
    const std::string_view name = trim(t_.substr(open + 1, close - open - 1));
    if (name == "descriptor" && info(in_.arch).descriptor != 0) return constant(info(in_.arch).descriptor, close, col);
    std::string all;
    for (const SystemConstant& s : kSystemConstants) {
      if (s.name == name) return constant(info(in_.arch).number < 70 ? s.maxwell : s.volta, close, col);
      all += (all.empty() ? "" : ", ") + std::string(s.name);
    }
    if (info(in_.arch).descriptor != 0) all += ", descriptor";
    Suggestion near(name);
    for (const SystemConstant& s : kSystemConstants) near.offer(s.name);
    if (info(in_.arch).descriptor != 0) near.offer("descriptor");
    std::vector<std::string> notes = near.note();
    notes.push_back("system constants: " + all);
    return at_column(text_.column(open + 1), "there is no system constant `" + std::string(name.substr(0, 40)) + "`",
                     std::move(notes));
  }

  const MappedText& text_;
  const std::string_view t_;
  const Surroundings& in_;
  MappedText out_;
  std::size_t pos_ = 0;
  std::size_t mark_ = 0;  // of pos_, or one before it
  bool mnemonic_done_;
};

}  // namespace

bool has_control_column(std::string_view text, std::size_t& length) {
  std::size_t end = 0;
  while (end < text.size() && text[end] != ' ' && text[end] != '\t') ++end;
  const std::string_view word = text.substr(0, end);
  const std::size_t colon = word.find(':');
  if (colon == std::string_view::npos) return false;
  length = end;
  return true;
}

Result<MappedText> interpolate(std::string_view text, std::uint32_t col, const Surroundings& in) {
  if (text.find_first_of("{}$") == std::string_view::npos) return MappedText::copy_of(text, col);
  MappedText out;
  std::size_t pos = 0;
  const auto column = [&](std::size_t i) { return col + static_cast<std::uint32_t>(i); };
  while (pos < text.size()) {
    if (too_long(out)) return line_too_long(column(pos));
    const std::size_t next = text.find_first_of("{}$", pos);
    if (next == std::string_view::npos) {
      out.add(text.substr(pos), column(pos), Kind::kCopied);
      break;
    }
    out.add(text.substr(pos, next - pos), column(pos), Kind::kCopied);
    pos = next;
    const char c = text[pos];
    const char after = pos + 1 < text.size() ? text[pos + 1] : '\0';
    if (c == '$') {
      const bool name_before = pos > 0 && (is_name_char(text[pos - 1]) || text[pos - 1] == '}');
      if (!name_before || is_name_char(after)) return at_column(column(pos), "`$` ends a label's name: name$");
      if (in.call == 0) return at_column(column(pos), "`$` makes labels unique inside a macro; this is outside of one");
      out.add("$" + std::to_string(in.call), column(pos), Kind::kMade);
      ++pos;
    } else if (after == c) {  // {{ or }}
      out.add(text.substr(pos, 1), column(pos), Kind::kCopied);
      pos += 2;
    } else if (c == '}') {
      return at_column(column(pos), "`}` without `{`; `}}` stands for a literal brace");
    } else {
      const std::size_t close = text.find_first_of("{}", pos + 1);
      if (close == std::string_view::npos || text[close] != '}') {
        return at_column(column(pos), "this `{` is never closed; `{{` stands for a literal brace");
      }
      const std::string_view inner = text.substr(pos + 1, close - pos - 1);
      if (is_sass_set(inner)) {
        out.add(text.substr(pos, close + 1 - pos), column(pos), Kind::kCopied);
      } else {
        Status s = expand_braces(inner, column(pos + 1), in, out);
        if (!s.ok()) return s.error();
      }
      pos = close + 1;
    }
  }
  return out;
}

Result<MappedText> resolve(const MappedText& text, bool operands_only, const Surroundings& in) {
  return Resolver(text, operands_only, in).run();
}

Result<MappedText> substitute(std::string_view text, std::uint32_t col, const Surroundings& in) {
  Result<MappedText> first = interpolate(text, col, in);
  if (!first.ok()) return first;
  return resolve(*first, false, in);
}

}  // namespace nervanagpu::sass
