// Macros: definition, and the binding of arguments.
#include <algorithm>

#include "sass/asm/template/expander.h"
#include "sass/isa/codec/suggest.h"

namespace nervanagpu::sass {
namespace {

// Where a single `=` (not ==, <=, >=, !=) makes "name = value" of an argument; npos: nowhere.
std::size_t assignment(std::string_view text) {
  std::size_t i = text.find_first_not_of(" \t");
  if (i == std::string_view::npos || !is_name_start(text[i])) return std::string_view::npos;
  while (i < text.size() && is_name_char(text[i])) ++i;
  while (i < text.size() && (text[i] == ' ' || text[i] == '\t')) ++i;
  const bool single = i < text.size() && text[i] == '=' && (i + 1 == text.size() || text[i + 1] != '=');
  return single ? i : std::string_view::npos;
}

// `text` speaks of registers somewhere, so it is no expression that went wrong.
bool names_registers(std::string_view text, const Scope& scope) {
  std::size_t i = 0;
  while (i < text.size()) {
    if (!is_name_start(text[i])) {
      ++i;
      continue;
    }
    std::size_t end = i;
    while (end < text.size() && is_name_char(text[end])) ++end;
    const std::string_view name = text.substr(i, end - i);
    if (is_reserved_name(name)) return true;
    if (const Binding* b = scope.find(name)) {
      if (b->kind != Binding::Kind::kValue && b->kind != Binding::Kind::kArgument) return true;
      if (b->kind == Binding::Kind::kArgument && !b->value.is_number()) return true;
    }
    i = end;
  }
  return false;
}

}  // namespace

Status Expander::define_macro(const Statement& s, const Place& place) {
  // NAME(a, b, c=default)
  std::size_t end = 0;
  while (end < s.text.size() && is_name_char(s.text[end])) ++end;
  const std::string_view name = s.text.substr(0, end);
  const std::size_t open = s.text.find_first_not_of(" \t", end);
  if (!is_name(name) || open == std::string_view::npos || s.text[open] != '(' || s.text.back() != ')') {
    return fail(s, place, s.text_col,
                ".macro needs NAME(PARAMETER, PARAMETER=DEFAULT), found `" + std::string(s.text.substr(0, 40)) + "`");
  }
  const auto known = macros_.find(name);
  if (known != macros_.end()) {
    return fail(s, place, s.text_col,
                "there is a macro `" + std::string(name) + "` already, defined at " + known->second.source->name + ":" +
                    std::to_string(known->second.statement->line));
  }
  Macro m{place.source, &s, {}};
  const std::string_view list = s.text.substr(open + 1, s.text.size() - open - 2);
  const std::uint32_t list_col = s.text_col + static_cast<std::uint32_t>(open + 1);
  if (!trim(list).empty()) {
    for (const Piece& piece : split_commas(list)) {
      const std::uint32_t col = list_col + static_cast<std::uint32_t>(piece.offset);
      const std::size_t equals = assignment(piece.text);
      MacroParam p;
      const std::string_view param = trim(piece.text.substr(0, equals));
      const std::uint32_t param_col =
          col + static_cast<std::uint32_t>(std::min(piece.text.find_first_not_of(" \t"), piece.text.size()));
      if (!is_name(param) || is_reserved_name(param)) {
        return fail(s, place, param_col,
                    "a macro's parameter needs a name, found `" + std::string(param.substr(0, 40)) + "`");
      }
      for (const MacroParam& other : m.params) {
        if (other.name == param) return fail(s, place, param_col, "parameter `" + other.name + "` stands twice");
      }
      p.name = std::string(param);
      if (equals != std::string_view::npos) {
        p.has_default = true;
        p.value = piece.text.substr(equals + 1);
        p.col = col + static_cast<std::uint32_t>(equals + 1);
      }
      m.params.push_back(std::move(p));
    }
  }
  macros_.emplace(std::string(name), std::move(m));
  return Done{};
}

Result<Binding> Expander::argument(std::string_view text, std::uint32_t col, const Statement& s, const Place& caller) {
  Binding b;
  b.at = {caller.source->name, s.line, col};
  const std::string_view bare = trim(text);
  const std::uint32_t bare_col = col + static_cast<std::uint32_t>(std::min(text.find_first_not_of(" \t"), text.size()));
  if (bare.size() >= 2 && bare.front() == '"' && bare.find('"', 1) == bare.size() - 1) {
    Result<std::string> filled = interpolated(s, caller, bare.substr(1, bare.size() - 2), bare_col + 1);
    if (!filled.ok()) return filled.error();
    b.kind = Binding::Kind::kQuoted;
    b.text = std::move(*filled);
    return b;
  }
  Result<MappedText> first = interpolate(bare, bare_col, surroundings(caller));
  if (!first.ok()) return fail(s, caller, first.error(), 1);
  const std::string& t = first->text;
  if (const Binding* same = is_name(t) ? caller.scope->find(t) : nullptr) {
    // A macro's own argument handed on keeps what it is.
    if (same->kind == Binding::Kind::kText || same->kind == Binding::Kind::kQuoted ||
        same->kind == Binding::Kind::kArgument || same->kind == Binding::Kind::kConst) {
      Binding copy = *same;
      if (copy.kind == Binding::Kind::kConst) copy.kind = Binding::Kind::kText;
      copy.at = b.at;
      return copy;
    }
  }
  if (const auto view = register_expression(t, *caller.scope, registers_.banks())) {
    if (!view->ok()) {
      Diag d = view->error();
      d.at.col = first->column(d.at.col == 0 ? 0 : d.at.col - 1);
      return fail(s, caller, d, 1);
    }
    if (raw_register(t)) {
      if (auto message = registers_.touch_raw(view->value().file, view->value().base)) {
        return fail(s, caller, bare_col, *message);
      }
    }
    b.kind = Binding::Kind::kRegs;
    b.regs = view->value();
    b.regs.argument = true;
    return b;
  }
  const ScopeNames names(*caller.scope, registers_.banks());
  const bool registers = names_registers(t, *caller.scope);
  Result<Value> value = evaluate(t, names);
  if (value.ok() && !(registers && is_name(t) && !value->is_number() && value->known)) {
    b.kind = Binding::Kind::kArgument;
    b.value = std::move(*value);
    b.value.known = true;
    // A literal keeps its spelling: 0x8 stays hexadecimal.
    b.text = integer_from(t) ? t : b.value.str();
    return b;
  }
  if (!value.ok() && !registers && !t.empty() && evaluate(t, names, true).ok()) {
    Diag d = value.error();
    d.at.col = first->column(d.at.col == 0 ? 0 : d.at.col - 1);
    return fail(s, caller, d, 1);
  }
  Result<MappedText> resolved = resolve(*first, true, surroundings(caller));
  if (!resolved.ok()) return fail(s, caller, resolved.error(), 1);
  b.kind = Binding::Kind::kText;
  b.text = std::move(resolved->text);
  return b;
}

Status Expander::call(const Statement& s, const Place& place, std::string_view name, std::string_view arguments,
                      std::uint32_t arguments_col) {
  const auto it = macros_.find(name);
  if (it == macros_.end()) {
    std::string all;
    for (const auto& [other, unused] : macros_) all += (all.empty() ? "" : ", ") + other;
    Suggestion near(name);
    for (const auto& [other, unused] : macros_) near.offer(other);
    std::vector<std::string> notes = near.note("`", "`");
    notes.push_back(all.empty() ? "no macro is defined here" : "macros: " + all);
    return fail(s, place, s.col, "there is no macro `" + std::string(name.substr(0, 60)) + "`", std::move(notes));
  }
  const Macro& m = it->second;
  if (place.depth >= kMaxCallDepth) {
    return fail(s, place, s.col, "macros and includes nested deeper than " + std::to_string(kMaxCallDepth) + " levels");
  }
  std::vector<Piece> pieces;
  if (!trim(arguments).empty()) pieces = split_commas(arguments);
  auto origin = std::make_shared<Origin>();
  origin->what = "in macro " + std::string(name) + ", called";
  origin->at = {place.source->name, s.line, s.col};
  origin->outer = place.from;
  Place inner;
  inner.source = m.source;
  inner.from = std::move(origin);
  inner.depth = place.depth + 1;
  inner.call = ++calls_;
  // A macro sees the template's own names and its arguments, not those of its caller.
  Scope scope(&globals_);
  inner.scope = &scope;
  std::vector<bool> given(m.params.size(), false);
  std::size_t position = 0;
  bool named = false;
  for (const Piece& piece : pieces) {
    std::string_view text = piece.text;
    std::uint32_t col = arguments_col + static_cast<std::uint32_t>(piece.offset);
    std::size_t index = position++;
    const std::size_t equals = assignment(text);
    if (equals != std::string_view::npos) {
      const std::string_view key = trim(text.substr(0, equals));
      const auto p = std::find_if(m.params.begin(), m.params.end(), [&](const MacroParam& x) { return x.name == key; });
      if (p == m.params.end()) {
        return fail(s, place, col,
                    "macro `" + std::string(name) + "` has no parameter `" + std::string(key.substr(0, 40)) + "`");
      }
      index = static_cast<std::size_t>(p - m.params.begin());
      text = text.substr(equals + 1);
      col += static_cast<std::uint32_t>(equals + 1);
      named = true;
    } else if (named) {
      return fail(s, place, col, "an argument without a name after one with a name");
    } else if (index >= m.params.size()) {
      return fail(s, place, col,
                  "macro `" + std::string(name) + "` takes " + std::to_string(m.params.size()) + " arguments, found " +
                      std::to_string(pieces.size()));
    }
    if (given[index]) return fail(s, place, col, "argument `" + m.params[index].name + "` is given twice");
    if (trim(text).empty()) return fail(s, place, col, "argument `" + m.params[index].name + "` is empty");
    given[index] = true;
    Result<Binding> b = argument(text, col, s, place);
    if (!b.ok()) return b.error();
    scope.set(m.params[index].name, std::move(*b));
  }
  for (std::size_t i = 0; i < m.params.size(); ++i) {
    if (given[i]) continue;
    const MacroParam& p = m.params[i];
    if (!p.has_default) {
      return fail(s, place, s.col, "macro `" + std::string(name) + "` needs its argument `" + p.name + "`",
                  {"defined at " + m.source->name + ":" + std::to_string(m.statement->line)});
    }
    Result<Binding> b = argument(p.value, p.col, *m.statement, inner);
    if (!b.ok()) return b.error();
    scope.set(p.name, std::move(*b));
  }
  Status r = block(m.statement->body, inner);
  scope.release_all(registers_);
  return r;
}

}  // namespace nervanagpu::sass
