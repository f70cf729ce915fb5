#include "sass/asm/template/expander.h"
#include "sass/isa/codec/suggest.h"

namespace nervanagpu::sass {
namespace {

// Labels: letters, digits, _ . $ -- as they stand after interpolation.
bool is_label(std::string_view text) {
  if (text.empty() || (!is_name_start(text[0]) && text[0] != '.' && text[0] != '$')) return false;
  for (const char c : text) {
    if (!is_name_char(c) && c != '.' && c != '$') return false;
  }
  return true;
}

std::string base_name(std::string_view path) {
  const std::size_t slash = path.find_last_of('/');
  if (slash != std::string_view::npos) path.remove_prefix(slash + 1);
  return std::string(path.substr(0, path.find('.')));
}

}  // namespace

Expander::Expander(const Template& source, Arch arch, const Defines& defines)
    : template_(source), registers_(info(arch).register_banks) {
  out_.manifest.arch = arch;
  out_.manifest.op = base_name(source.name);
  sink_ = &out_.lines;
  const auto builtin = [&](const char* name, std::int64_t v) {
    Binding b;
    b.value = Value::of(v);
    globals_.set(name, std::move(b));
  };
  builtin("ARCH", info(arch).number);
  builtin("SHARED_BASE", info(arch).shared_base);
  builtin("PARAM_BASE", info(arch).param_base);
  for (const auto& [name, text] : defines) {
    Binding b;
    const auto n = integer_from(text);
    b.value = n ? Value::of(*n) : Value::text(text);
    globals_.set(name, std::move(b));
    out_.manifest.variant[name] = text;
  }
}

Result<Expansion> Expander::run(const std::shared_ptr<const SourceText>& main) {
  Place place;
  place.source = main;
  place.scope = &globals_;
  place.top = true;
  const Status s = block(main->statements, place);
  if (!s.ok()) return s.error();
  if (Status dealt = streams_used_up(); !dealt.ok()) return dealt.error();
  if (Status known = needs_known(); !known.ok()) return known.error();
  if (out_.manifest.name.empty()) return error_at({main->name, 1, 1}, "the template has no .kernel line");
  if (out_.lines.empty()) return error_at({main->name, 1, 1}, "the template has no instructions");
  return std::move(out_);
}

Diag Expander::fail(const Statement& s, const Place& place, Diag d, std::uint32_t col) const {
  d.at = {place.source->name, s.line, col + (d.at.col == 0 ? 0 : d.at.col - 1)};
  if (const std::size_t end = d.message.find("` is not defined"); d.message[0] == '`' && end != std::string::npos) {
    Suggestion near(std::string_view(d.message).substr(1, end - 1));
    for (const Scope* scope = place.scope; scope != nullptr; scope = scope->parent()) {
      scope->each([&](const std::string& name) { near.offer(name); });
    }
    std::vector<std::string> note = near.note("`", "`");
    d.notes.insert(d.notes.begin(), note.begin(), note.end());
  }
  add_origins(d, place.from.get());
  return d;
}

Diag Expander::fail(const Statement& s, const Place& place, std::uint32_t col, std::string message,
                    std::vector<std::string> notes) const {
  return fail(s, place, error(std::move(message), std::move(notes)), col);
}

Surroundings Expander::surroundings(const Place& place) {
  return {*place.scope, registers_, out_.manifest.params, out_.manifest.arch, place.call};
}

Result<std::int64_t> Expander::number(const Statement& s, const Place& place, std::string_view text,
                                      std::uint32_t col) const {
  const ScopeNames names(*place.scope, registers_.banks());
  Result<std::int64_t> r = evaluate_number(text, names);
  if (!r.ok()) return fail(s, place, r.error(), col);
  return r;
}

Result<std::int64_t> Expander::number_in(const Statement& s, const Place& place, std::string_view text,
                                         std::uint32_t col, std::int64_t low, std::int64_t high,
                                         std::string_view what) const {
  Result<std::int64_t> r = number(s, place, text, col);
  if (r.ok() && (*r < low || *r > high)) {
    return fail(s, place, col,
                std::string(what) + " must be " + std::to_string(low) + " to " + std::to_string(high) + ", found " +
                    std::to_string(*r));
  }
  return r;
}

Result<std::string> Expander::interpolated(const Statement& s, const Place& place, std::string_view text,
                                           std::uint32_t col) {
  Result<MappedText> r = interpolate(text, col, surroundings(place));
  if (!r.ok()) return fail(s, place, r.error(), 1);
  return std::move(r->text);
}

Status Expander::block(const std::vector<Statement>& statements, const Place& place) {
  for (const Statement& s : statements) {
    Status r = statement(s, place);
    if (!r.ok()) return r;
  }
  return Done{};
}

Status Expander::scoped(const std::vector<Statement>& statements, Place place, Scope& scope) {
  place.scope = &scope;
  place.top = false;
  Status r = block(statements, place);
  scope.release_all(registers_);
  return r;
}

Status Expander::statement(const Statement& s, const Place& place) {
  steps_ += 1 + s.text.size() / 128;
  if (steps_ > kMaxSteps) {
    return fail(s, place, s.col,
                "the template takes more than " + std::to_string(kMaxSteps) + " steps to expand; is a loop too long?");
  }
  return s.directive.empty() ? text(s, place) : directive(s, place);
}

Status Expander::directive(const Statement& s, const Place& place) {
  const std::string_view d = s.directive;
  if (is_front_matter(d)) return front_matter(s, place);
  if (d == "let" || d == "default") return let(s, place);
  if (d == "for") return loop(s, place);
  if (d == "if") return branch(s, place);
  if (d == "macro") return define_macro(s, place);
  if (d == "include") return include(s, place);
  if (d == "error" || d == "assert") return message(s, place);
  if (d == "alias") return alias(s, place);
  if (d == "const") return constant(s, place);
  if (d == "stream") return stream(s, place);
  if (d == "deal") return deal(s, place);
  if (d == "schedule") return schedule_block(s, place);
  if (d == "free") return release(s, place);
  if (d == "allocate") return allocation(s, place);
  if (d == "reserve") return reserve(s, place);
  return registers(s, place);  // reg, ureg, pred, upred
}

Status Expander::loop(const Statement& s, const Place& place) {
  // NAME in A..B [step S]
  std::size_t end = 0;
  while (end < s.text.size() && is_name_char(s.text[end])) ++end;
  const std::string_view name = s.text.substr(0, end);
  const std::string usage = ".for NAME in FIRST..END or .for NAME in FIRST..END step STEP; END itself is left out";
  if (!is_name(name) || is_reserved_name(name)) {
    return fail(s, place, s.text_col, ".for needs a name, found `" + std::string(s.text.substr(0, 40)) + "`", {usage});
  }
  std::size_t pos = s.text.find_first_not_of(" \t", end);
  if (pos == std::string_view::npos || s.text.substr(pos, 2) != "in" ||
      is_name_char(s.text.substr(pos + 2, 1).empty() ? ' ' : s.text[pos + 2])) {
    return fail(s, place, s.text_col + static_cast<std::uint32_t>(end),
                "expected `in` after `.for " + std::string(name) + "`", {usage});
  }
  pos += 2;
  const ScopeNames names(*place.scope, registers_.banks());
  std::int64_t range[3] = {0, 0, 1};  // first, end, step
  for (int i = 0; i < 3; ++i) {
    const std::uint32_t col = s.text_col + static_cast<std::uint32_t>(pos);
    const Result<Evaluated> r = evaluate_prefix(s.text.substr(pos), names);
    if (!r.ok()) return fail(s, place, r.error(), col);
    if (!r->value.is_number()) {
      const std::size_t blank = s.text.find_first_not_of(" \t", pos);
      return fail(s, place, s.text_col + static_cast<std::uint32_t>(blank),
                  "`" + r->value.word + (r->value.known ? "` is a word" : "` is not defined") + "; .for needs numbers");
    }
    range[i] = r->value.number;
    pos += r->used;
    while (pos < s.text.size() && (s.text[pos] == ' ' || s.text[pos] == '\t')) ++pos;
    const std::string_view want = i == 0 ? ".." : "step";
    if (i == 1 && pos == s.text.size()) break;
    if (i == 2) {
      if (pos != s.text.size()) {
        return fail(s, place, s.text_col + static_cast<std::uint32_t>(pos),
                    "expected the end, found `" + std::string(s.text.substr(pos, 40)) + "`", {usage});
      }
      break;
    }
    if (s.text.substr(pos, want.size()) != want) {
      return fail(
          s, place, s.text_col + static_cast<std::uint32_t>(pos),
          "expected `" + std::string(want) + "`" +
              (pos < s.text.size() ? ", found `" + std::string(s.text.substr(pos, 20)) + "`" : ", found the end"),
          {usage});
    }
    pos += want.size();
  }
  if (range[2] == 0) return fail(s, place, s.text_col, "the step of .for must not be 0");
  std::int64_t i = range[0];
  while (range[2] > 0 ? i < range[1] : i > range[1]) {
    if (++steps_ > kMaxSteps) {
      return fail(
          s, place, s.col,
          "the template takes more than " + std::to_string(kMaxSteps) + " steps to expand; is a loop too long?");
    }
    Scope scope(place.scope);
    Binding b;
    b.value = Value::of(i);
    b.at = {place.source->name, s.line, s.text_col};
    scope.set(name, std::move(b));
    Status r = scoped(s.body, place, scope);
    if (!r.ok()) return r;
    if (__builtin_add_overflow(i, range[2], &i)) break;
  }
  return Done{};
}

Status Expander::branch(const Statement& s, const Place& place) {
  for (const Statement& arm : s.arms) {
    if (arm.directive != "else") {
      if (arm.text.empty())
        return fail(arm, place, arm.text_col, "." + std::string(arm.directive) + " needs a condition");
      const Result<std::int64_t> condition = number(arm, place, arm.text, arm.text_col);
      if (!condition.ok()) return condition.error();
      if (*condition == 0) continue;
    }
    Scope scope(place.scope);
    return scoped(arm.body, place, scope);
  }
  return Done{};
}

Status Expander::include(const Statement& s, const Place& place) {
  if (s.text.size() < 3 || s.text.front() != '"' || s.text.find('"', 1) != s.text.size() - 1) {
    return fail(s, place, s.text_col, ".include needs a file name in quotes");
  }
  if (place.depth >= kMaxCallDepth) {
    return fail(s, place, s.col, "macros and includes nested deeper than " + std::to_string(kMaxCallDepth) + " levels");
  }
  const Result<std::string> name = interpolated(s, place, s.text.substr(1, s.text.size() - 2), s.text_col + 1);
  if (!name.ok()) return name.error();
  const std::string& path = *name;
  if (!template_.include)
    return fail(s, place, s.text_col, "cannot include \"" + path + "\": this template has no files");
  Result<std::string> content = template_.include(path);
  if (!content.ok()) return fail(s, place, content.error(), s.text_col);
  auto origin = std::make_shared<Origin>();
  origin->what = "included";
  origin->at = {place.source->name, s.line, s.col};
  origin->outer = place.from;
  auto source = read_source(path, std::move(*content));
  if (!source.ok()) {
    Diag d = source.error();
    add_origins(d, origin.get());
    return d;
  }
  Place inner = place;
  inner.source = std::move(*source);
  inner.from = std::move(origin);
  inner.depth = place.depth + 1;
  inner.top = false;
  sources_.push_back(inner.source);
  return block(inner.source->statements, inner);
}

Status Expander::message(const Statement& s, const Place& place) {
  const bool assertion = s.directive == "assert";
  std::string_view text = s.text;
  std::uint32_t col = s.text_col;
  if (assertion) {
    const std::size_t quote = s.text.find('"');
    const std::string_view condition = s.text.substr(0, quote);
    const std::size_t comma = quote == std::string_view::npos ? std::string_view::npos : condition.find_last_of(',');
    if (comma == std::string_view::npos)
      return fail(s, place, s.text_col, ".assert needs a condition and a text: .assert EXPR, \"text\"");
    const Result<std::int64_t> ok = number(s, place, s.text.substr(0, comma), s.text_col);
    if (!ok.ok()) return ok.error();
    if (*ok != 0) return Done{};
    text = trim(s.text.substr(comma + 1));
    col += static_cast<std::uint32_t>(quote);
  }
  if (text.size() < 2 || text.front() != '"' || text.find('"', 1) != text.size() - 1) {
    return fail(s, place, col, "." + std::string(s.directive) + " needs a text in quotes");
  }
  Result<std::string> filled = interpolated(s, place, text.substr(1, text.size() - 2), col + 1);
  if (!filled.ok()) return filled.error();
  return fail(s, place, s.col, assertion ? "assertion failed: " + *filled : *filled);
}

Status Expander::text(const Statement& s, const Place& place) {
  std::string_view t = s.text;
  if (t.back() == ':' && t.find_first_of(" \t") == std::string_view::npos) return label(s, place);
  if (t.back() == ':' && t.find('{') != std::string_view::npos && t.find(':') == t.size() - 1) return label(s, place);
  // NAME(args) on a line of its own is a macro call; no instruction looks like it.
  std::size_t end = 0;
  while (end < t.size() && is_name_char(t[end])) ++end;
  const std::size_t open = t.find_first_not_of(" \t", end);
  if (is_name(t.substr(0, end)) && open != std::string_view::npos && t[open] == '(') {
    if (t.back() == ';') t = trim(t.substr(0, t.size() - 1));
    if (t.back() != ')') return fail(s, place, s.col + static_cast<std::uint32_t>(open), "a macro call ends with `)`");
    return call(s, place, t.substr(0, end), t.substr(open + 1, t.size() - open - 2),
                s.text_col + static_cast<std::uint32_t>(open + 1));
  }
  if (t.back() == ';') t = trim(t.substr(0, t.size() - 1));
  if (t.find(';') != std::string_view::npos) {
    return fail(s, place, s.text_col + static_cast<std::uint32_t>(t.find(';')), "one instruction a line");
  }
  if (t.empty()) return Done{};
  Result<MappedText> line = substitute(t, s.text_col, surroundings(place));
  if (!line.ok()) return fail(s, place, line.error(), 1);
  return emit(s, place, std::move(*line));
}

Status Expander::label(const Statement& s, const Place& place) {
  Result<MappedText> name = interpolate(s.text.substr(0, s.text.size() - 1), s.text_col, surroundings(place));
  if (!name.ok()) return fail(s, place, name.error(), 1);
  if (!is_label(name->text)) {
    return fail(s, place, s.text_col,
                "`" + name->text.substr(0, 60) + "` is no label; labels have letters, digits, _ and .");
  }
  if (sink_ != &out_.lines)
    return fail(s, place, s.text_col, "a label inside .stream; only instructions can be dealt out");
  name->add(":", s.text_col + static_cast<std::uint32_t>(s.text.size()) - 1, ColumnMark::Kind::kCopied);
  return emit(s, place, std::move(*name));
}

Status Expander::emit(const Statement& s, const Place& place, MappedText line) {
  bytes_ += line.text.size() + 1;
  if (sink_->size() >= kMaxLines) {
    return fail(s, place, s.col, "the template expands to more than " + std::to_string(kMaxLines) + " lines");
  }
  if (bytes_ > kMaxBytes) {
    return fail(s, place, s.col, "the template expands to more than " + std::to_string(kMaxBytes) + " bytes");
  }
  sink_->push_back(
      {std::move(line.text), {place.source->name, s.line, s.col}, std::move(line.marks), place.from, mark_});
  return Done{};
}

}  // namespace nervanagpu::sass
