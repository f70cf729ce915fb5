#include "sass/asm/cubin/line_table.h"

#include <limits>
#include <optional>
#include <vector>

#include "sass/asm/cubin/text_fields.h"

namespace nervanagpu::sass {
namespace {

constexpr std::string_view kHeader = "nervanagpu-lines";
constexpr std::uint32_t kVersion = 2;
constexpr std::uint32_t kAnyU32 = std::numeric_limits<std::uint32_t>::max();
constexpr std::size_t kLeastRunBytes = 4;

std::string_view short_name(std::string_view name) {
  return name.size() > kMaxFileName ? name.substr(name.size() - kMaxFileName) : name;
}

void put(std::string& out, std::uint32_t v) {
  for (; v >= 0x80; v >>= 7) out += static_cast<char>(v | 0x80);
  out += static_cast<char>(v);
}

// What has been added to `from` to get `to`, modulo 2^32: small numbers are short, whatever their sign.
std::uint32_t step(std::uint32_t from, std::uint32_t to) {
  const std::uint32_t d = to - from;
  return (d << 1) ^ (0U - (d >> 31));
}
std::uint32_t stepped(std::uint32_t from, std::uint32_t step) {
  return from + ((step >> 1) ^ (0U - (step & 1)));
}

// nullopt: the bytes end, or the number has more than 32 bits.
std::optional<std::uint32_t> take(std::string_view& bytes) {
  std::uint64_t v = 0;
  for (unsigned i = 0; i < 5 && i < bytes.size(); ++i) {
    const auto byte = static_cast<unsigned char>(bytes[i]);
    v |= std::uint64_t{byte & 0x7fU} << (7 * i);
    if (byte >= 0x80) continue;
    bytes.remove_prefix(i + 1);
    return v <= kAnyU32 ? std::optional(static_cast<std::uint32_t>(v)) : std::nullopt;
  }
  return std::nullopt;
}

struct Head {
  std::vector<std::string> files;
  std::uint32_t runs = 0;
};

Result<Head> read_head(FieldReader& in) {
  const auto line = in.next_line();
  if (!line) return line.error();
  if (!*line || !in.take_key(kHeader)) return in.fail("does not begin with " + std::string(kHeader));
  const auto version = in.number(kAnyU32);
  if (!version) return version.error();
  if (*version != kVersion)
    return in.fail("version " + std::to_string(*version) + ", need " + std::to_string(kVersion));
  Head head;
  for (;;) {
    const auto more = in.next_line();
    if (!more) return more.error();
    if (*more && in.take_key("file")) {
      auto name = in.string();
      if (!name) return name.error();
      if (name->size() > kMaxFileName) return in.fail("file name longer than 255 bytes");
      head.files.push_back(std::move(*name));
      continue;
    }
    if (!*more || !in.take_key("runs")) return in.fail("record 'file' or 'runs' needed");
    const auto runs = in.number(kAnyU32);
    if (!runs) return runs.error();
    head.runs = *runs;
    return head;
  }
}

}  // namespace

std::string line_table_bytes(const LineTable& lines) {
  std::string out = std::string(kHeader) + " " + std::to_string(kVersion) + "\n";
  for (const std::string& file : lines.files()) out += "file " + quoted(short_name(file)) + "\n";
  out += "runs " + std::to_string(lines.runs().size()) + "\n";
  LineTable::Run last;
  for (const LineTable::Run& run : lines.runs()) {
    put(out, run.first - last.first);
    put(out, step(last.file, run.file));
    put(out, step(last.line, run.line));
    put(out, run.col);
    last = run;
  }
  return out;
}

Result<LineTable> read_line_table(std::string_view bytes, std::size_t count) {
  FieldReader in(bytes, "line table");
  auto head = read_head(in);
  if (!head) return head.error();
  const auto rest = in.rest();
  if (!rest) return rest.error();
  std::string_view left = *rest;
  const auto refuse = [](std::size_t run, const std::string& why) {
    return error("line table: run " + std::to_string(run) + " " + why);
  };
  if (head->runs == 0 && count != 0) {
    return error("line table: no runs for " + std::to_string(count) + " instructions");
  }
  if (head->runs > left.size() / kLeastRunBytes) {
    return error("line table: " + std::to_string(head->runs) + " runs do not fit into " + std::to_string(left.size()) +
                 " bytes");
  }
  std::vector<LineTable::Run> runs(head->runs);
  LineTable::Run last;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const auto first = take(left);
    const auto file = take(left);
    const auto line = take(left);
    const auto col = take(left);
    if (!first || !file || !line || !col) return refuse(i, "is not four numbers");
    if ((i == 0) != (*first == 0) || *first >= count - last.first) return refuse(i, "is out of order or past the code");
    last = {last.first + *first, stepped(last.file, *file), stepped(last.line, *line), *col};
    if (last.file >= head->files.size()) {
      return refuse(i, "is of file " + std::to_string(last.file) + ", which is not in the table");
    }
    runs[i] = last;
  }
  if (!left.empty()) return error("line table: " + std::to_string(left.size()) + " bytes after the last run");
  return LineTable(std::move(head->files), std::move(runs), count);
}

}  // namespace nervanagpu::sass
