#include "sass/asm/line_table.h"

#include <limits>
#include <map>

#include "sass/asm/text_fields.h"

namespace nervanagpu::sass {
namespace {

constexpr std::string_view kHeader = "nervanagpu-lines";
constexpr std::uint32_t kAnyU32 = std::numeric_limits<std::uint32_t>::max();

bool same_place(const Span& a, const Span& b) {
  return a.line == b.line && a.col == b.col && a.file == b.file;
}

std::string_view short_name(const std::string& file) {
  const std::string_view name = file;
  return name.size() > kMaxFileName ? name.substr(name.size() - kMaxFileName) : name;
}

struct Run {
  std::size_t first = 0;
  Span at;
};

Result<Run> read_run(FieldReader& in, const std::vector<std::string>& files) {
  std::uint32_t field[4];
  for (std::uint32_t& f : field) {
    const auto n = in.number(kAnyU32);
    if (!n) return n.error();
    f = *n;
  }
  if (field[1] >= files.size()) return in.fail("file " + std::to_string(field[1]) + " is not in the table");
  return Run{field[0], {files[field[1]], field[2], field[3]}};
}

Status read_header(FieldReader& in) {
  const auto line = in.next_line();
  if (!line) return line.error();
  if (!*line || !in.take_key(kHeader)) return in.fail("does not begin with " + std::string(kHeader));
  const auto version = in.number(1);
  if (!version) return version.error();
  if (*version != 1) return in.fail("version 0, need 1");
  return Done{};
}

}  // namespace

std::string line_table_text(std::span<const Span> lines) {
  std::map<std::string_view, std::size_t> numbers;
  std::string files;
  std::string runs;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i != 0 && same_place(lines[i], lines[i - 1])) continue;
    const std::string_view name = short_name(lines[i].file);
    const auto [file, fresh] = numbers.emplace(name, numbers.size());
    if (fresh) files += "file " + quoted(name) + "\n";
    runs += "at " + std::to_string(i) + " " + std::to_string(file->second) + " " + std::to_string(lines[i].line) + " " +
            std::to_string(lines[i].col) + "\n";
  }
  return std::string(kHeader) + " 1\n" + files + runs;
}

Result<std::vector<Span>> read_line_table(std::string_view text, std::size_t count) {
  FieldReader in(text, "line table");
  const auto header = read_header(in);
  if (!header) return header.error();
  std::vector<std::string> files;
  std::vector<Span> lines;
  Run run;
  bool any = false;
  for (;;) {
    const auto more = in.next_line();
    if (!more) return more.error();
    if (!*more) break;
    if (!any && in.take_key("file")) {
      auto name = in.string();
      if (!name) return name.error();
      if (name->size() > kMaxFileName) return in.fail("file name longer than 255 bytes");
      files.push_back(std::move(*name));
      continue;
    }
    if (!in.take_key("at")) return in.fail(any ? "record 'at' needed" : "record 'file' or 'at' needed");
    auto next = read_run(in, files);
    if (!next) return next.error();
    if (next->first >= count || (any ? next->first <= run.first : next->first != 0)) {
      return in.fail("instruction " + std::to_string(next->first) + " is out of order or past the code");
    }
    if (any) lines.resize(next->first, run.at);
    run = std::move(*next);
    any = true;
  }
  if (!any && count != 0) return error("line table: no records for " + std::to_string(count) + " instructions");
  lines.resize(count, run.at);
  return lines;
}

}  // namespace nervanagpu::sass
