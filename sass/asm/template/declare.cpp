// Directives that declare: front matter, .let, .const, registers and their aliases.
#include <algorithm>

#include "sass/asm/template/condition.h"
#include "sass/asm/template/expander.h"

namespace nervanagpu::sass {
namespace {

RegFile file_of(std::string_view directive) {
  if (directive == "ureg") return RegFile::kUGpr;
  if (directive == "pred") return RegFile::kPred;
  if (directive == "upred") return RegFile::kUPred;
  return RegFile::kGpr;
}

std::uint32_t advance(std::uint32_t col, std::size_t by) {
  return col + static_cast<std::uint32_t>(by);
}

}  // namespace

Status Expander::front_matter(const Statement& s, const Place& place) {
  const std::string_view d = s.directive;
  Manifest& m = out_.manifest;
  if (!out_.lines.empty()) return fail(s, place, s.col, "." + std::string(d) + " belongs before the first instruction");
  if ((d == "variants" || d == "arch") && !place.top) {
    return fail(s, place, s.col, "." + std::string(d) + " belongs at the top level of the template itself");
  }
  if (d == "variants") return Done{};  // variants() has read it
  if (s.text.empty()) return fail(s, place, s.text_col, "." + std::string(d) + " needs a value");
  if (d != "param" && d != "needs" && d != "arch" && !once_.insert(std::string(d)).second) {
    return fail(s, place, s.col, "there is a ." + std::string(d) + " already");
  }
  if (d == "arch") {
    Result<std::vector<Arch>> list = read_archs(s.text);
    if (!list.ok()) return fail(s, place, list.error(), s.text_col);
    if (std::find(list->begin(), list->end(), m.arch) == list->end()) {
      return fail(s, place, s.text_col,
                  "this template is for " + std::string(s.text) + ", not for " + std::string(info(m.arch).name));
    }
    return Done{};
  }
  if (d == "param") {
    const Result<std::string> text = interpolated(s, place, s.text, s.text_col);
    if (!text.ok()) return text.error();
    Status r = add_param(*text, m.params);
    if (!r.ok()) return fail(s, place, r.error(), s.text_col);
    return Done{};
  }
  if (d == "cluster") {
    if (m.arch < Arch::sm_90a) {
      return fail(s, place, s.text_col, std::string(info(m.arch).name) + " has no clusters; sm_90a has");
    }
    const Result<std::int64_t> v = number_in(s, place, s.text, s.text_col, 1, 16, ".cluster");
    if (!v.ok()) return v.error();
    m.cluster = static_cast<std::uint32_t>(*v);
    return Done{};
  }
  if (d == "launch") {
    if (m.arch < Arch::sm_90a) {
      return fail(s, place, s.text_col, std::string(info(m.arch).name) + " has no programmatic launch; sm_90a has");
    }
    if (s.text != "programmatic") {
      return fail(s, place, s.text_col, ".launch is `" + std::string(s.text.substr(0, 40)) + "`; needs programmatic");
    }
    m.programmatic = true;
    return Done{};
  }
  if (d == "threads" || d == "shared" || d == "regs") {
    const std::int64_t low = d == "shared" ? 0 : 1;
    const std::int64_t high = d == "threads" ? 1024 : d == "regs" ? 255 : info(m.arch).max_shared;
    const Result<std::int64_t> v = number_in(s, place, s.text, s.text_col, low, high, "." + std::string(d));
    if (!v.ok()) return v.error();
    (d == "threads" ? m.threads : d == "shared" ? m.shared : m.registers) = static_cast<std::uint32_t>(*v);
    return Done{};
  }
  if (d == "needs") return needs(s, place);
  Result<std::string> text = interpolated(s, place, s.text, s.text_col);
  if (!text.ok()) return text.error();
  if (d == "kernel") {
    if (!is_kernel_name(*text)) {
      return fail(s, place, s.text_col,
                  "`" + text->substr(0, 60) + "` is no kernel name; names have letters, digits and _");
    }
    m.name = std::move(*text);
  } else {
    (d == "accum" ? m.accum : m.bound) = std::move(*text);
  }
  return Done{};
}

// "k % 8 == 0, m < 2^31": one condition after another.
Status Expander::needs(const Statement& s, const Place& place) {
  Result<MappedText> line = interpolate(s.text, s.text_col, surroundings(place));
  if (!line.ok()) return fail(s, place, line.error(), 1);
  for (const Piece& piece : split_commas(line->text)) {
    const std::string_view condition = trim(piece.text);
    if (condition.empty()) return fail(s, place, line->column(piece.offset), "a condition is missing here");
    const auto from = static_cast<std::size_t>(condition.data() - line->text.data());
    out_.manifest.needs.emplace_back(condition);
    needs_.push_back({fail(s, place, 1, ""), *line, from});
  }
  return Done{};
}

Status Expander::needs_known() const {
  for (std::size_t i = 0; i < needs_.size(); ++i) {
    const auto c = Condition::compile(out_.manifest.needs[i], out_.manifest);
    if (c.ok()) continue;
    Diag d = needs_[i].place;
    d.at.col = needs_[i].line.column(needs_[i].from + c.error().at.col - 1);
    d.message = c.error().message;
    d.notes.insert(d.notes.begin(), c.error().notes.begin(), c.error().notes.end());
    return d;
  }
  return Done{};
}

Status Expander::new_name(const Statement& s, const Place& place, std::string_view name, std::uint32_t col) {
  if (!is_name(name)) {
    return fail(s, place, col,
                "." + std::string(s.directive) + " needs a name, found `" +
                    std::string(name.empty() ? s.text.substr(0, 40) : name.substr(0, 40)) + "`");
  }
  if (is_reserved_name(name)) {
    return fail(s, place, col, "`" + std::string(name) + "` is a name of the instruction set");
  }
  const Binding* old = place.scope->find_here(name);
  if (old != nullptr && old->kind != Binding::Kind::kFreed) {
    return fail(s, place, col,
                "`" + std::string(name) + "` is defined already" +
                    (old->at.line == 0 ? std::string(" from outside")
                                       : ", at " + old->at.file + ":" + std::to_string(old->at.line)));
  }
  return Done{};
}

Status Expander::let(const Statement& s, const Place& place) {
  const std::string_view name = leading_name(s.text);
  const std::size_t equals = s.text.find_first_not_of(" \t", name.size());
  if (!is_name(name) || equals == std::string_view::npos || s.text[equals] != '=') {
    return fail(
        s, place, s.text_col,
        "." + std::string(s.directive) + " needs NAME = EXPRESSION, found `" + std::string(s.text.substr(0, 40)) + "`");
  }
  if (s.directive == "default") {
    const Binding* b = place.scope->find(name);
    if (b != nullptr && b->kind != Binding::Kind::kFreed) return Done{};
  }
  Status ok = new_name(s, place, name, s.text_col);
  if (!ok.ok()) return ok;
  const ScopeNames names(*place.scope, registers_.banks());
  const std::string_view text = s.text.substr(equals + 1);
  Result<Value> v = evaluate(text, names);
  if (!v.ok()) return fail(s, place, v.error(), advance(s.text_col, equals + 1));
  Binding b;
  b.value = std::move(*v);
  if (!b.value.known && place.scope->find(b.value.word) != nullptr) {
    return fail(s, place, advance(s.text_col, equals + 1 + text.find_first_not_of(" \t")),
                "`" + b.value.word + "` is no value; .alias gives a register a second name");
  }
  b.value.known = true;
  b.at = {place.source->name, s.line, s.text_col};
  place.scope->set(name, std::move(b));
  return Done{};
}

Status Expander::constant(const Statement& s, const Place& place) {
  const std::string_view name = leading_name(s.text);
  const std::size_t equals = s.text.find_first_not_of(" \t", name.size());
  if (!is_name(name) || equals == std::string_view::npos || s.text[equals] != '=') {
    return fail(s, place, s.text_col, ".const needs NAME = c[BANK][OFFSET]");
  }
  Status ok = new_name(s, place, name, s.text_col);
  if (!ok.ok()) return ok;
  const std::string_view value = trim(s.text.substr(equals + 1));
  const std::uint32_t col = value.empty() ? advance(s.text_col, s.text.size())
                                          : advance(s.text_col, static_cast<std::size_t>(value.data() - s.text.data()));
  Result<MappedText> first = interpolate(value, col, surroundings(place));
  if (!first.ok()) return fail(s, place, first.error(), 1);
  Result<MappedText> text = resolve(*first, true, surroundings(place));
  if (!text.ok()) return fail(s, place, text.error(), 1);
  if (text->text.substr(0, 2) != "c[" && text->text.substr(0, 3) != "cx[") {
    return fail(s, place, col,
                "a constant is c[BANK][OFFSET] or param[NAME], found `" + std::string(value.substr(0, 40)) + "`");
  }
  Binding b;
  b.kind = Binding::Kind::kConst;
  b.text = std::move(text->text);
  b.at = {place.source->name, s.line, s.text_col};
  place.scope->set(name, std::move(b));
  return Done{};
}

Status Expander::registers(const Statement& s, const Place& place) {
  if (s.text.empty()) return fail(s, place, s.text_col, "." + std::string(s.directive) + " needs a name");
  for (const Piece& piece : split_commas(s.text)) {
    const std::size_t skip = piece.text.find_first_not_of(" \t");
    const std::uint32_t col = advance(s.text_col, piece.offset + (skip == std::string_view::npos ? 0 : skip));
    Status r = one_register(s, place, file_of(s.directive), trim(piece.text), col);
    if (!r.ok()) return r;
  }
  return Done{};
}

Status Expander::one_register(const Statement& s, const Place& place, RegFile file, std::string_view item,
                              std::uint32_t col) {
  const std::string_view name = leading_name(item);
  Status ok = new_name(s, place, name, col);
  if (!ok.ok()) return ok;
  std::size_t pos = name.size();
  Registers::Request request;
  request.file = file;
  RegView view;
  view.file = file;
  const auto limit = static_cast<std::int64_t>(register_limit(file));
  const auto blanks = [&] {
    while (pos < item.size() && (item[pos] == ' ' || item[pos] == '\t')) ++pos;
  };
  blanks();
  if (pos < item.size() && item[pos] == '[') {
    const std::size_t close = item.find(']', pos);
    if (close == std::string_view::npos) return fail(s, place, advance(col, pos), "this `[` is never closed");
    if (name == "c" || name == "cx") return fail(s, place, col, "`" + std::string(name) + "[...]` is a constant bank");
    const Result<std::int64_t> n = number_in(s, place, item.substr(pos + 1, close - pos - 1), advance(col, pos + 1), 1,
                                             limit, "the size of `" + std::string(name) + "`");
    if (!n.ok()) return n.error();
    view.count = static_cast<std::uint16_t>(*n);
    view.array = true;
    pos = close + 1;
    blanks();
  }
  request.count = view.count;
  const std::uint32_t attributes = advance(col, pos);
  while (pos < item.size()) {
    const std::uint32_t at = advance(col, pos);
    const std::string_view word = leading_name(item.substr(pos));
    if (item[pos] == '=') {
      const std::string_view text = trim(item.substr(pos + 1));
      const std::optional<RegView> raw = raw_register(text);
      if (!raw || raw->file != file) {
        return fail(s, place, at,
                    "expected `= " + register_text(file, 0) + "` or another " + std::string(register_prefix(file)) +
                        " register, found `" + std::string(text.substr(0, 40)) + "`");
      }
      if (request.bank || request.align != 1) {
        return fail(s, place, at, "`" + std::string(name) + "` has a fixed place; align and bank do not go with it");
      }
      request.fixed = raw->base;
      pos = item.size();
    } else if (word == "align" || word == "bank") {
      pos += word.size();
      const ScopeNames names(*place.scope, registers_.banks());
      const Result<Evaluated> r = evaluate_prefix(item.substr(pos), names);
      if (!r.ok()) return fail(s, place, r.error(), advance(col, pos));
      const std::int64_t high = word == "align" ? 128 : static_cast<std::int64_t>(registers_.banks()) - 1;
      const std::int64_t low = word == "align" ? 1 : 0;
      const bool good = r->value.is_number() && r->value.number >= low && r->value.number <= high;
      if (!good || (word == "align" && (r->value.number & (r->value.number - 1)) != 0)) {
        return fail(s, place, at,
                    word == "align" ? "align must be a power of two up to 128, found " + r->value.str()
                                    : "bank must be 0 to " + std::to_string(high) + " on " +
                                          std::string(info(out_.manifest.arch).name) + ", found " + r->value.str());
      }
      if (word == "align") request.align = static_cast<std::uint32_t>(r->value.number);
      if (word == "bank") request.bank = static_cast<std::uint32_t>(r->value.number);
      pos += r->used;
      blanks();
    } else {
      return fail(s, place, at,
                  "expected `align N`, `bank N` or `= " + register_text(file, 0) + "`, found `" +
                      std::string(item.substr(pos, 40)) + "`");
    }
  }
  if (registers_.by_live_range() && !request.fixed) {
    const auto first = registers_.free_name(request, std::string(name), view.array, {place.source->name, s.line, col});
    if (!first) return fail(s, place, col, "more than 64512 registers have names; is a loop too long?");
    view.base = static_cast<std::uint16_t>(*first);
  } else {
    Result<std::uint32_t> base = registers_.reserve(request, std::string(name));
    if (!base.ok()) return fail(s, place, base.error(), request.fixed ? attributes : col);
    view.base = static_cast<std::uint16_t>(*base);
    if (request.fixed) registers_.keep_away(view);
  }
  Binding b;
  b.kind = Binding::Kind::kRegs;
  b.regs = view;
  b.at = {place.source->name, s.line, col};
  place.scope->set(name, std::move(b));
  place.scope->own(std::string(name), view);
  out_.names.emplace_back(name);
  return Done{};
}

Status Expander::allocation(const Statement& s, const Place& place) {
  if (s.text != "live" && s.text != "scope") {
    return fail(s, place, s.text_col,
                ".allocate takes live or scope, found `" + std::string(s.text.substr(0, 40)) + "`");
  }
  if (!out_.lines.empty()) return fail(s, place, s.col, ".allocate belongs before the first instruction");
  if (s.text == "live") registers_.allocate_by_live_range();
  return Done{};
}

// .reserve R0..R23, UR4
Status Expander::reserve(const Statement& s, const Place& place) {
  for (const Piece& piece : split_commas(s.text)) {
    const std::size_t skip = std::min(piece.text.find_first_not_of(" \t"), piece.text.size());
    const std::uint32_t col = advance(s.text_col, piece.offset + skip);
    const std::string_view item = trim(piece.text);
    const std::size_t dots = item.find("..");
    const auto first = raw_register(trim(item.substr(0, dots)));
    const auto last = dots == std::string_view::npos ? first : raw_register(trim(item.substr(dots + 2)));
    if (!first || !last || first->file != last->file || last->base < first->base) {
      return fail(s, place, col, ".reserve takes R4 or R0..R23, found `" + std::string(item.substr(0, 40)) + "`");
    }
    RegView view = *first;
    view.count = static_cast<std::uint16_t>(last->base - first->base + 1);
    for (unsigned k = 0; k < view.count; ++k) {
      if (auto message = registers_.touch_raw(view.file, view.base + k)) return fail(s, place, col, *message);
    }
    registers_.keep_away(view);
  }
  return Done{};
}

Status Expander::alias(const Statement& s, const Place& place) {
  // NAME = REGISTER, NAME[COUNT] = REGISTER
  const std::string_view name = leading_name(s.text);
  std::size_t pos = name.size();
  const std::size_t equals = s.text.find('=');
  if (!is_name(name) || equals == std::string_view::npos) {
    return fail(s, place, s.text_col, ".alias needs NAME = REGISTER or NAME[COUNT] = REGISTER");
  }
  Status ok = new_name(s, place, name, s.text_col);
  if (!ok.ok()) return ok;
  const std::string_view index = trim(s.text.substr(pos, equals - pos));
  const std::string_view text = s.text.substr(equals + 1);
  const std::uint32_t col = advance(s.text_col, equals + 1);
  Result<MappedText> filled = interpolate(text, col, surroundings(place));
  if (!filled.ok()) return fail(s, place, filled.error(), 1);
  const auto view = register_expression(filled->text, *place.scope, registers_.banks());
  const std::size_t blank = std::min(text.find_first_not_of(" \t"), text.size());
  if (!view) {
    return fail(s, place, advance(col, blank),
                "expected a register, found `" + std::string(trim(text).substr(0, 40)) + "`");
  }
  if (!view->ok()) {
    Diag d = view->error();
    d.at.col = filled->column(d.at.col == 0 ? 0 : d.at.col - 1);
    return fail(s, place, d, 1);
  }
  RegView v = view->value();
  if (raw_register(trim(filled->text))) {
    if (auto message = registers_.touch_raw(v.file, v.base)) return fail(s, place, advance(col, blank), *message);
  }
  if (!index.empty()) {
    if (index.front() != '[' || index.back() != ']') {
      return fail(s, place, advance(s.text_col, pos), ".alias needs NAME = REGISTER or NAME[COUNT] = REGISTER");
    }
    const bool has_place = v.base < kFirstFree;
    const std::int64_t most = has_place ? static_cast<std::int64_t>(register_limit(v.file)) - v.base
                                        : (v.array ? v.count : v.rest + 1);  // of the name that it stands for
    const Result<std::int64_t> n =
        number_in(s, place, index.substr(1, index.size() - 2),
                  advance(s.text_col, static_cast<std::size_t>(index.data() - s.text.data()) + 1), 1, most,
                  "the size of `" + std::string(name) + "`");
    if (!n.ok()) return n.error();
    v.count = static_cast<std::uint16_t>(*n);
    v.array = true;
  }
  Binding b;
  b.kind = Binding::Kind::kRegs;
  b.regs = v;
  b.at = {place.source->name, s.line, s.text_col};
  out_.names.emplace_back(name);
  place.scope->set(name, std::move(b));
  return Done{};
}

Status Expander::release(const Statement& s, const Place& place) {
  for (const Piece& piece : split_commas(s.text)) {
    const std::string_view name = trim(piece.text);
    const std::size_t skip = std::min(piece.text.find_first_not_of(" \t"), piece.text.size());
    const std::uint32_t col = advance(s.text_col, piece.offset + skip);
    Binding* b = is_name(name) ? place.scope->find_mutable(name) : nullptr;
    if (b == nullptr || b->kind != Binding::Kind::kRegs) {
      const bool freed = b != nullptr && b->kind == Binding::Kind::kFreed;
      return fail(s, place, col,
                  freed ? "`" + std::string(name) + "` was freed at line " + std::to_string(b->at.line)
                        : ".free needs a register's name, found `" + std::string(name.substr(0, 40)) + "`");
    }
    if (!place.scope->disown(name)) {
      return fail(s, place, col, "`" + std::string(name) + "` is an alias; free the name it stands for");
    }
    registers_.release(b->regs);
    b->kind = Binding::Kind::kFreed;
    b->at = {place.source->name, s.line, col};
  }
  return Done{};
}

}  // namespace nervanagpu::sass
