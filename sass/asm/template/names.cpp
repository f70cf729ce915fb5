#include "sass/asm/template/names.h"

#include <algorithm>

namespace nervanagpu::sass {
namespace {

constexpr std::array<RegFile, 4> kFiles = {RegFile::kUGpr, RegFile::kUPred, RegFile::kGpr, RegFile::kPred};

// Of however many digits; beyond kMostDigits, that.
constexpr unsigned kMostDigits = 65535;
std::optional<unsigned> digits(std::string_view text) {
  if (text.empty()) return std::nullopt;
  unsigned n = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    n = std::min(n * 10 + static_cast<unsigned>(c - '0'), kMostDigits);
  }
  return n;
}

}  // namespace

unsigned register_limit(RegFile file) {
  switch (file) {
    case RegFile::kGpr: return 255;
    case RegFile::kUGpr: return 63;
    default: return 7;
  }
}

std::string_view register_prefix(RegFile file) {
  switch (file) {
    case RegFile::kGpr: return "R";
    case RegFile::kUGpr: return "UR";
    case RegFile::kPred: return "P";
    case RegFile::kUPred: return "UP";
    default: return "?";
  }
}

std::string register_text(RegFile file, unsigned number) {
  return std::string(register_prefix(file)) + std::to_string(number);
}

std::optional<RegView> raw_register(std::string_view name) {
  for (const RegFile file : kFiles) {
    const std::string_view prefix = register_prefix(file);
    if (name.substr(0, prefix.size()) != prefix) continue;
    if (const auto n = digits(name.substr(prefix.size())))
      return RegView{.file = file,
                     .base = static_cast<std::uint16_t>(*n),
                     .rest = static_cast<std::uint16_t>(*n < register_limit(file) ? register_limit(file) - 1 - *n : 0),
                     .raw = true};
  }
  return std::nullopt;
}

bool is_reserved_name(std::string_view name) {
  // clang-format off
  static constexpr std::array<std::string_view, 13> kWords = {
      "RZ", "URZ", "PT", "UPT", "SRZ", "PR", "UPR", "CC", "param", "sys", "desc", "gsb0", "gdesc"};
  // clang-format on
  if (raw_register(name)) return true;
  if (std::find(kWords.begin(), kWords.end(), name) != kWords.end()) return true;
  if (name.substr(0, 3) == "SR_") return true;
  if (name.substr(0, 2) == "SB" && digits(name.substr(2))) return true;
  return name.substr(0, 1) == "B" && digits(name.substr(1)) && *digits(name.substr(1)) < 16;
}

Result<std::uint32_t> Registers::reserve(const Request& request, const std::string& name) {
  std::vector<Slot>& file = slots(request.file);
  const auto limit = static_cast<std::uint32_t>(file.size());
  const auto free_at = [&](std::uint32_t base) {
    for (std::uint32_t i = 0; i < request.count; ++i) {
      const Slot& s = file[base + i];
      if (!s.owner.empty() || (s.raw && !request.fixed)) return base + i;
    }
    return limit;
  };
  std::uint32_t base = 0;
  if (request.fixed) {
    base = *request.fixed;
    if (base + request.count > limit) {
      return error("`" + name + "` would end at " + register_text(request.file, base + request.count - 1) + "; " +
                   register_text(request.file, limit - 1) + " is the last");
    }
    const std::uint32_t taken = free_at(base);
    if (taken != limit) {
      return error(register_text(request.file, taken) + " already belongs to `" + file[taken].owner +
                   "`; use .alias for a second name");
    }
  } else {
    while (true) {
      if (base + request.count > limit) {
        std::size_t used = 0;
        for (const Slot& s : file) used += (s.owner.empty() && !s.raw) ? 0 : 1;
        std::string want = std::to_string(request.count) + " registers";
        if (request.align > 1) want += " aligned to " + std::to_string(request.align);
        if (request.bank) want += " in bank " + std::to_string(*request.bank);
        return error("no room for `" + name + "`: " + want + "; " + std::to_string(used) + " of " +
                     std::to_string(limit) + " " + std::string(register_prefix(request.file)) + " registers are taken");
      }
      if (base % request.align == 0 && (!request.bank || base % banks_ == *request.bank) && free_at(base) == limit)
        break;
      ++base;
    }
  }
  for (std::uint32_t i = 0; i < request.count; ++i) {
    file[base + i].owner = name;
    file[base + i].automatic = !request.fixed;
  }
  return base;
}

std::optional<std::uint32_t> Registers::free_name(const Request& request, std::string name, bool array, Span at) {
  if (next_free_ + request.count > 0xffff) return std::nullopt;
  free_names_.push_back(
      {std::move(name), request.file, next_free_, request.count, request.align, request.bank, array, std::move(at)});
  next_free_ += request.count;
  return free_names_.back().first;
}

void Registers::release(const RegView& view) {
  if (view.base >= kFirstFree) return;  // its live range says when
  std::vector<Slot>& file = slots(view.file);
  for (unsigned i = 0; i < view.count; ++i) {
    file[view.base + i].owner.clear();
    file[view.base + i].automatic = false;
  }
}

std::optional<std::string> Registers::touch_raw(RegFile file, unsigned number) {
  std::vector<Slot>& all = slots(file);
  if (number >= all.size()) {
    return register_text(file, number) + " does not exist; " + register_text(file, register_limit(file) - 1) +
           " is the last";
  }
  Slot& s = all[number];
  if (s.automatic) {
    return register_text(file, number) + " was given to `" + s.owner +
           "`; fix that name's place with `= " + register_text(file, number) + "` or use the name";
  }
  s.raw = true;
  return std::nullopt;
}

const Binding* Scope::find_here(std::string_view name) const {
  const auto it = names_.find(name);
  return it == names_.end() ? nullptr : &it->second;
}

const Binding* Scope::find(std::string_view name) const {
  for (const Scope* s = this; s != nullptr; s = s->parent_) {
    if (const Binding* b = s->find_here(name)) return b;
  }
  return nullptr;
}

Binding* Scope::find_mutable(std::string_view name) {
  for (Scope* s = this; s != nullptr; s = s->parent_) {
    const auto it = s->names_.find(name);
    if (it != s->names_.end()) return &it->second;
  }
  return nullptr;
}

void Scope::set(std::string_view name, Binding binding) {
  names_.insert_or_assign(std::string(name), std::move(binding));
}

bool Scope::disown(std::string_view name) {
  for (Scope* s = this; s != nullptr; s = s->parent_) {
    const auto it = std::find_if(s->owned_.begin(), s->owned_.end(), [&](const auto& o) { return o.first == name; });
    if (it != s->owned_.end()) {
      s->owned_.erase(it);
      return true;
    }
    if (s->find_here(name) != nullptr) return false;  // an alias or a value hides the outer name
  }
  return false;
}

void Scope::release_all(Registers& registers) {
  for (const auto& [name, view] : owned_) registers.release(view);
  owned_.clear();
}

std::optional<Value> ScopeNames::value(std::string_view name) const {
  const Binding* b = scope_.find(name);
  if (b == nullptr) return std::nullopt;
  switch (b->kind) {
    case Binding::Kind::kValue:
    case Binding::Kind::kArgument: return b->value;
    case Binding::Kind::kText:
    case Binding::Kind::kQuoted:
      if (const auto n = integer_from(trim(b->text))) return Value::of(*n);
      return Value::text(b->text);
    default: return std::nullopt;  // registers are not values; the word keeps its name
  }
}

std::optional<Result<Value>> ScopeNames::call(std::string_view function, std::string_view argument) const {
  const bool known = function == "bank" || function == "reg" || function == "count" || function == "defined" ||
                     function == "is_register" || function == "is_number";
  if (!known) return std::nullopt;
  if (function == "is_number") {
    const Result<Value> v = evaluate(trim(argument), *this);
    return Result<Value>(Value::of(v.ok() && v->is_number() ? 1 : 0));
  }
  if (function == "is_register") {
    const std::optional<Result<RegView>> r = register_expression(argument, scope_, banks_);
    return Result<Value>(Value::of(r && r->ok() ? 1 : 0));
  }
  if (function == "defined") {
    const std::string_view name = trim(argument);
    if (!is_name(name)) return Result<Value>(error_at({"", 0, 1}, "defined() takes a name"));
    const Binding* b = scope_.find(name);
    return Result<Value>(Value::of(b != nullptr && b->kind != Binding::Kind::kFreed ? 1 : 0));
  }
  const std::optional<Result<RegView>> view = register_expression(argument, scope_, banks_);
  if (!view) {
    return Result<Value>(error_at({"", 0, 1}, std::string(function) + "() takes a register, found `" +
                                                  std::string(trim(argument).substr(0, 40)) + "`"));
  }
  if (!view->ok()) return Result<Value>(view->error());
  const RegView& v = view->value();
  if (function == "count") return Result<Value>(Value::of(v.count));
  if (v.base >= kFirstFree) {
    return Result<Value>(error_at({"", 0, 1}, "`" + std::string(trim(argument).substr(0, 40)) +
                                                  "` has no number yet: with .allocate live its place is found last"));
  }
  if (function == "reg") return Result<Value>(Value::of(v.base));
  return Result<Value>(Value::of(v.base % banks_));
}

std::optional<Result<RegView>> register_expression(std::string_view text, const Scope& scope, unsigned banks) {
  const std::size_t lead = text.find_first_not_of(" \t");
  if (lead == std::string_view::npos) return std::nullopt;
  const std::string_view body = trim(text);
  std::size_t end = 0;
  while (end < body.size() && is_name_char(body[end])) ++end;
  const std::string_view name = body.substr(0, end);
  if (!is_name(name)) return std::nullopt;
  const auto column = [&](std::size_t offset) { return Span{"", 0, static_cast<std::uint32_t>(lead + offset + 1)}; };
  if (end == body.size()) {
    if (const auto raw = raw_register(name)) {
      if (raw->base >= register_limit(raw->file)) {
        return Result<RegView>(error_at(column(0), std::string(name) + " does not exist; " +
                                                       register_text(raw->file, register_limit(raw->file) - 1) +
                                                       " is the last"));
      }
      return Result<RegView>(*raw);
    }
  }
  const Binding* b = scope.find(name);
  if (b == nullptr) return std::nullopt;
  if (b->kind == Binding::Kind::kFreed) {
    return Result<RegView>(
        error_at(column(0), "`" + std::string(name) + "` was freed at line " + std::to_string(b->at.line)));
  }
  if (b->kind != Binding::Kind::kRegs) return std::nullopt;
  if (end == body.size()) return Result<RegView>(b->regs);
  if (body[end] != '[') return std::nullopt;
  // The bracket must close at the very end.
  int nest = 0;
  std::size_t close = end;
  for (; close < body.size(); ++close) {
    if (body[close] == '[') ++nest;
    if (body[close] == ']' && --nest == 0) break;
  }
  if (close >= body.size()) return Result<RegView>(error_at(column(end), "this `[` is never closed"));
  if (close + 1 != body.size()) return std::nullopt;
  if (!b->regs.array && !b->regs.argument) {
    return Result<RegView>(error_at(column(end), "`" + std::string(name) + "` is one register, it has no index"));
  }
  const ScopeNames names(scope, banks);
  const Result<std::int64_t> index = evaluate_number(body.substr(end + 1, close - end - 1), names);
  if (!index.ok()) {
    Diag d = index.error();
    d.at = column(end + (d.at.col == 0 ? 1 : d.at.col));
    return Result<RegView>(std::move(d));
  }
  const std::int64_t last = b->regs.array ? b->regs.count - 1 : b->regs.rest;
  if (*index < 0 || *index > last) {
    return Result<RegView>(error_at(column(end + 1), "index " + std::to_string(*index) + " is outside `" +
                                                         std::string(name) + "`, which has elements 0 to " +
                                                         std::to_string(last)));
  }
  return Result<RegView>(RegView{.file = b->regs.file,
                                 .base = static_cast<std::uint16_t>(b->regs.base + *index),
                                 .rest = static_cast<std::uint16_t>(last - *index),
                                 .raw = b->regs.raw});
}

}  // namespace nervanagpu::sass
