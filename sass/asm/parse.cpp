#include "sass/asm/parse.h"

#include <array>

#include "sass/asm/check.h"
#include "sass/asm/template/expand.h"
#include "sass/asm/template/expr.h"
#include "sass/asm/template/names.h"
#include "sass/asm/template/substitute.h"
#include "sass/isa/codec/codec.h"
#include "sass/isa/codec/raw_word.h"
#include "sass/isa/codec/suggest.h"

namespace nervanagpu::sass {
namespace {

Diag at_offset(std::size_t offset, std::string message, std::vector<std::string> notes = {}) {
  return error_at({"", 0, static_cast<std::uint32_t>(offset + 1)}, std::move(message), std::move(notes));
}

constexpr const char* kColumnForm =
    "a control column is WW:R:W:Y:S: wait mask (2 hex digits), read and write scoreboard (0 to 5), "
    "yield (Y), stall (0 to 15); - is none, ? is left to schedule";

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// The place of `pos` in the line's text, in the template.
Diag placed(Diag d, const TextLine& line, std::size_t pos) {
  d.at = {line.at.file, line.at.line, column_at(line.columns, pos)};
  add_origins(d, line.from.get());
  return d;
}

class Parser {
 public:
  explicit Parser(const Expansion& expansion) : expansion_(expansion) {
    program_.manifest = expansion.manifest;
    program_.lines.reserve(expansion.lines.size());
  }

  Result<Program> run() {
    for (const TextLine& line : expansion_.lines) {
      const bool label = !line.text.empty() && line.text.back() == ':';
      Status s = label ? add_label(line) : add_instruction(line);
      if (!s.ok()) return s.error();
    }
    Status s = resolve_labels();
    if (!s.ok()) return s.error();
    s = check(program_, sources_);
    if (!s.ok()) return s.error();
    return std::move(program_);
  }

 private:
  Status add_label(const TextLine& line) {
    const std::string name = line.text.substr(0, line.text.size() - 1);
    const auto index = static_cast<std::uint32_t>(program_.lines.size());
    if (!program_.labels.emplace(name, index).second) {
      const TextLine* first = label_lines_[name];
      return placed(
          error("label `" + name + "` is defined already, at " + first->at.file + ":" + std::to_string(first->at.line),
                {"inside a macro `" + name + "$` is unique in each call; in a loop put its variable in: " + name +
                 "_{i}"}),
          line, 0);
    }
    label_lines_[name] = &line;
    return Done{};
  }

  Status add_instruction(const TextLine& line) {
    std::string_view text = line.text;
    std::size_t begin = 0;
    Line out;
    std::size_t length = 0;
    if (has_control_column(text, length)) {
      Result<ControlColumn> column = parse_control_column(text.substr(0, length));
      if (!column.ok()) {
        const Diag& d = column.error();
        return placed(error(d.message, d.notes), line, d.at.col == 0 ? 0 : d.at.col - 1);
      }
      out.inst.control = column->control;
      out.pinned = column->pinned;
      begin = text.find_first_not_of(" \t", length);
      if (begin == std::string_view::npos) {
        return placed(error("an instruction is missing after its control column"), line, 0);
      }
    }
    text.remove_prefix(begin);
    // Columns come back counted from 1 in `text`.
    Result<ParsedInst> parsed = parse_inst(program_.manifest.arch, text, {line.at.file, line.at.line, 1});
    if (!parsed.ok()) {
      const Diag& d = parsed.error();
      std::vector<std::string> notes = near_name(d.message);
      notes.insert(notes.end(), d.notes.begin(), d.notes.end());
      Diag at = placed(error(d.message, notes), line, begin + (d.at.col == 0 ? 0 : d.at.col - 1));
      for (const ColumnMark& m : line.columns) {  // something was put in: show what came out
        if (m.kind == ColumnMark::Kind::kCopied) continue;
        at.notes.push_back("expanded: " + std::string(text));
        break;
      }
      return at;
    }
    const Control control = out.inst.control;
    const std::uint8_t reuse = parsed->inst.control.reuse;
    out.inst = parsed->inst;
    out.inst.control = control;
    if (is_raw_word(out.inst)) {  // which has its flags among the bits
      out.inst.control.reuse = reuse;
      out.pinned.reuse = true;
    }
    for (const Operand& o : out.inst.operands()) {
      if (!o.reuse) continue;
      out.pinned.reuse = true;
      if (o.slot < 4) out.inst.control.reuse |= static_cast<std::uint8_t>(1U << o.slot);
    }
    const Pinned& p = out.pinned;
    if (p.stall && p.yield && p.write_sb && p.read_sb && p.wait) out.pinned.reuse = true;
    out.at = {line.at.file, line.at.line, column_at(line.columns, begin)};
    out.label = std::move(parsed->label);
    out.mark = line.mark;
    program_.lines.push_back(std::move(out));
    sources_.push_back(&line);
    return Done{};
  }

  Status resolve_labels() {
    for (std::size_t i = 0; i < program_.lines.size(); ++i) {
      Line& line = program_.lines[i];
      if (line.label.empty()) continue;
      const auto it = program_.labels.find(line.label);
      const std::size_t pos = std::min(sources_[i]->text.rfind(line.label), sources_[i]->text.size());
      if (it == program_.labels.end())
        return placed(error("there is no label `" + line.label + "`", near_label(line.label)), *sources_[i], pos);
      if (it->second >= program_.lines.size()) {
        return placed(error("label `" + line.label + "` has no instruction after it"), *sources_[i], pos);
      }
      for (Operand& o : line.inst.operands()) {
        if (o.kind == OperandKind::kLabel) o.imm = it->second;
      }
    }
    return Done{};
  }

  [[nodiscard]] std::vector<std::string> near_label(const std::string& wrong) const {
    Suggestion near(wrong);
    for (const auto& [name, index] : program_.labels) near.offer(name);
    return near.note("`", "`");
  }

  // The declared name nearest to what stands where a register was expected: "... got 'acx'".
  [[nodiscard]] std::vector<std::string> near_name(const std::string& message) const {
    const std::size_t got = message.find(", got '");
    if (got == std::string::npos || message.back() != '\'') return {};
    std::string wrong = message.substr(got + 7, message.size() - got - 8);
    while (!wrong.empty() && (wrong[0] == '@' || wrong[0] == '!')) wrong.erase(0, 1);
    if (!is_name(wrong) || is_reserved_name(wrong)) return {};
    Suggestion near(wrong);
    for (const std::string& name : expansion_.names) near.offer(name);
    return near.note("`", "`");
  }

  const Expansion& expansion_;
  Program program_;
  std::vector<const TextLine*> sources_;  // of each instruction
  std::map<std::string, const TextLine*> label_lines_;
};

}  // namespace

Result<Program> parse(const Expansion& expansion) {
  return Parser(expansion).run();
}

Result<ControlColumn> parse_control_column(std::string_view text) {
  std::array<std::string_view, 5> field;
  std::array<std::size_t, 5> at{};
  std::size_t pos = 0;
  for (std::size_t i = 0; i < field.size(); ++i) {
    const std::size_t colon = text.find(':', pos);
    if ((colon == std::string_view::npos) != (i == 4)) {
      return at_offset(
          0, "`" + std::string(text.substr(0, 40)) + "` has " + (i == 4 ? "more" : "fewer") + " than five fields",
          {kColumnForm});
    }
    at[i] = pos;
    field[i] = text.substr(pos, colon == std::string_view::npos ? colon : colon - pos);
    pos = colon + 1;
  }
  ControlColumn out;
  Control& c = out.control;
  const auto unset = [&](std::size_t i) { return field[i] == "?" || (i == 0 && field[i] == "??"); };

  if (!unset(0)) {
    out.pinned.wait = true;
    if (field[0] != "--") {
      const int high = field[0].size() == 2 ? hex_digit(field[0][0]) : -1;
      const int low = field[0].size() == 2 ? hex_digit(field[0][1]) : -1;
      if (high < 0 || low < 0 || high > 3) {
        return at_offset(at[0], "wait mask `" + std::string(field[0].substr(0, 20)) + "` must be 00 to 3f, -- or ??",
                         {kColumnForm});
      }
      c.wait = static_cast<std::uint8_t>(high * 16 + low);
    }
  }
  for (const std::size_t i : {1, 2}) {
    if (unset(i)) continue;
    (i == 1 ? out.pinned.read_sb : out.pinned.write_sb) = true;
    if (field[i] == "-") continue;
    if (field[i].size() != 1 || field[i][0] < '0' || field[i][0] > '5') {
      return at_offset(at[i],
                       std::string(i == 1 ? "read" : "write") + " scoreboard `" + std::string(field[i].substr(0, 20)) +
                           "` must be 0 to 5, - or ?",
                       {kColumnForm});
    }
    (i == 1 ? c.read_sb : c.write_sb) = static_cast<std::uint8_t>(field[i][0] - '0');
  }
  if (!unset(3)) {
    out.pinned.yield = true;
    if (field[3] != "Y" && field[3] != "-") {
      return at_offset(at[3], "yield `" + std::string(field[3].substr(0, 20)) + "` must be Y, - or ?", {kColumnForm});
    }
    c.yield = field[3] == "Y";
  }
  if (!unset(4)) {
    out.pinned.stall = true;
    int stall = field[4].empty() || field[4].size() > 2 ? 99 : 0;
    for (const char digit : field[4])
      stall = digit < '0' || digit > '9' || stall > 15 ? 99 : stall * 10 + (digit - '0');
    if (stall > 15) {
      return at_offset(at[4], "stall `" + std::string(field[4].substr(0, 20)) + "` must be 0 to 15 or ?",
                       {kColumnForm});
    }
    c.stall = static_cast<std::uint8_t>(stall);
  }
  return out;
}

std::string control_column(const Control& c) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string out = "--";
  if (c.wait != 0) {
    out[0] = kHex[c.wait >> 4U];
    out[1] = kHex[c.wait & 15U];
  }
  const auto scoreboard = [](unsigned sb) { return sb == kNoScoreboard ? std::string("-") : std::to_string(sb); };
  out += ":" + scoreboard(c.read_sb) + ":" + scoreboard(c.write_sb) + (c.yield ? ":Y:" : ":-:");
  return out + std::to_string(c.stall);
}

std::string dump(const Program& program) {
  std::string out;
  std::multimap<std::uint32_t, std::string> at;
  for (const auto& [name, index] : program.labels) at.emplace(index, name);
  for (std::size_t i = 0; i < program.lines.size(); ++i) {
    const Line& l = program.lines[i];
    const auto [first, last] = at.equal_range(static_cast<std::uint32_t>(i));
    for (auto it = first; it != last; ++it) out += it->second + ":\n";
    std::string column = control_column(l.inst.control);
    std::string text = print(l.inst);
    if (!l.label.empty()) {
      const std::size_t target = text.rfind("0x");
      if (target != std::string::npos) text = text.substr(0, target) + "`(" + l.label + ")";
    }
    column.resize(std::max<std::size_t>(column.size(), 13), ' ');
    out += column + text + "\n";
  }
  return out;
}

}  // namespace nervanagpu::sass
