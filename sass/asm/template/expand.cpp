#include "sass/asm/template/expand.h"

#include <set>

#include "sass/asm/template/allocate.h"
#include "sass/asm/template/expander.h"

namespace nervanagpu::sass {
namespace {

// All the statements of one directive at the top level of the main file: what is read before anything is expanded.
std::vector<const Statement*> top_level(const SourceText& source, std::string_view directive) {
  std::vector<const Statement*> out;
  for (const Statement& s : source.statements) {
    if (s.directive == directive) out.push_back(&s);
  }
  return out;
}

Diag placed(Diag d, const SourceText& source, const Statement& s) {
  d.at = {source.name, s.line, s.text_col + (d.at.col == 0 ? 0 : d.at.col - 1)};
  return d;
}

std::string spelled(const Defines& d) {
  std::string out;
  for (const auto& [name, value] : d) out += (out.empty() ? "" : " ") + name + "=" + value;
  return out;
}

// -D values: an integer in any base, or a word.
Result<Defines> normal_defines(const Defines& defines) {
  Defines out;
  for (const auto& [name, value] : defines) {
    if (!is_name(name) || is_reserved_name(name)) {
      return error("cannot define `" + name + "`: a name has letters, digits and _, and is no register");
    }
    const auto number = integer_from(value);
    if (!number && !is_name(value)) {
      return error("the value of `" + name + "` must be an integer or a word, found `" + value + "`");
    }
    out[name] = number ? std::to_string(*number) : value;
  }
  return out;
}

}  // namespace

Result<std::vector<Defines>> variants(const Template& source, const Defines& fixed_raw) {
  Result<Defines> fixed = normal_defines(fixed_raw);
  if (!fixed.ok()) return fixed.error();
  auto text = read_source(source.name, source.text);
  if (!text.ok()) return text.error();
  const std::vector<const Statement*> lines = top_level(**text, "variants");
  if (lines.empty()) return std::vector<Defines>{*fixed};
  std::vector<Defines> out;
  std::set<Defines> seen;
  for (const Statement* s : lines) {
    Result<std::vector<Defines>> product = read_variants(s->text);
    if (!product.ok()) return placed(product.error(), **text, *s);
    for (Defines& d : *product) {
      if (!seen.insert(d).second) {
        return error_at({source.name, s->line, s->col}, "the variant " + spelled(d) + " is listed twice");
      }
      bool fits = true;
      for (const auto& [name, value] : *fixed) {
        const auto it = d.find(name);
        if (it == d.end()) {
          d[name] = value;
        } else {
          fits = fits && it->second == value;
        }
      }
      if (fits) out.push_back(std::move(d));
    }
  }
  if (out.empty()) {
    return error_at({source.name, lines[0]->line, lines[0]->col}, "no variant has " + spelled(*fixed));
  }
  return out;
}

Result<std::vector<Arch>> archs(const Template& source) {
  auto text = read_source(source.name, source.text);
  if (!text.ok()) return text.error();
  std::vector<Arch> out;
  for (const Statement* s : top_level(**text, "arch")) {
    Result<std::vector<Arch>> line = read_archs(s->text);
    if (!line.ok()) return placed(line.error(), **text, *s);
    out.insert(out.end(), line->begin(), line->end());
  }
  return out;
}

Result<Expansion> expand(const Template& source, Arch arch, const Defines& defines_raw) {
  Result<Defines> defines = normal_defines(defines_raw);
  if (!defines.ok()) return defines.error();
  auto text = read_source(source.name, source.text);
  if (!text.ok()) return text.error();
  Expander expander(source, arch, *defines);
  Result<Expansion> out = expander.run(*text);
  if (!out.ok() || expander.free_names().empty()) return out;
  return allocate(*out, expander.free_names(), expander.kept_away());
}

void add_origins(Diag& diag, const Origin* from) {
  for (; from != nullptr; from = from->outer.get()) {
    diag.notes.push_back(from->what + " at " + from->at.file + ":" + std::to_string(from->at.line) + ":" +
                         std::to_string(from->at.col));
  }
}

std::string dump(const Expansion& e) {
  const Manifest& m = e.manifest;
  std::string out = ".kernel " + m.name + "\n.arch " + std::string(info(m.arch).name) + "\n";
  if (!m.variant.empty()) out += ".variants " + spelled(m.variant) + "\n";
  for (const Param& p : m.params) out += ".param " + std::string(name_of(p.type)) + " " + p.name + "\n";
  if (m.threads != 0) out += ".threads " + std::to_string(m.threads) + "\n";
  if (m.shared != 0) out += ".shared " + std::to_string(m.shared) + "\n";
  if (m.registers != 0) out += ".regs " + std::to_string(m.registers) + "\n";
  for (const std::string& n : m.needs) out += ".needs " + n + "\n";
  if (!m.accum.empty()) out += ".accum " + m.accum + "\n";
  if (!m.bound.empty()) out += ".bound " + m.bound + "\n";
  for (const TextLine& l : e.lines) {
    const bool label = !l.text.empty() && l.text.back() == ':';
    std::string text;  // so that the dump is a template again: its braces are literal
    for (const char c : l.text) {
      text += c;
      if (c == '{' || c == '}') text += c;
    }
    out += label ? text + "\n" : "  " + text + "\n";
  }
  return out;
}

}  // namespace nervanagpu::sass
