#include "sass/asm/template/manifest.h"

#include <algorithm>
#include <array>

#include "sass/asm/template/expr.h"
#include "sass/asm/template/names.h"

namespace nervanagpu::sass {
namespace {

struct TypeRow {
  std::string_view name;
  ParamType type;
  unsigned bytes;
};
// clang-format off
constexpr std::array kTypes = {
    TypeRow{"u8",  ParamType::u8,  1}, TypeRow{"s8",  ParamType::s8,  1},
    TypeRow{"u16", ParamType::u16, 2}, TypeRow{"s16", ParamType::s16, 2},
    TypeRow{"u32", ParamType::u32, 4}, TypeRow{"s32", ParamType::s32, 4},
    TypeRow{"u64", ParamType::u64, 8}, TypeRow{"s64", ParamType::s64, 8},
    TypeRow{"f16", ParamType::f16, 2}, TypeRow{"f32", ParamType::f32, 4}, TypeRow{"f64", ParamType::f64, 8},
    TypeRow{"ptr", ParamType::ptr, 8},
    TypeRow{"map", ParamType::map, 128},  // a tensor map
};
// clang-format on

constexpr unsigned kMaxParamBytes = 4096;  // what the driver passes by value
constexpr std::size_t kMaxVariants = 4096;

Diag at_offset(std::size_t offset, std::string message, std::vector<std::string> notes = {}) {
  return error_at({"", 0, static_cast<std::uint32_t>(offset + 1)}, std::move(message), std::move(notes));
}

bool is_variant_value(std::string_view text) {
  if (integer_from(text)) return true;
  return is_name(text);
}

}  // namespace

unsigned size_of(ParamType t) {
  return kTypes[static_cast<std::size_t>(t)].bytes;
}
std::string_view name_of(ParamType t) {
  return kTypes[static_cast<std::size_t>(t)].name;
}

unsigned aligned_offset(ParamType t, unsigned offset) {
  // The address of a tensor map is a multiple of 64, and the block starts at 0x210 where there are such maps.
  const unsigned lead = t == ParamType::map ? 0x210 : 0;
  const unsigned align = t == ParamType::map ? 64 : size_of(t);
  return (offset + lead + align - 1) / align * align - lead;
}

std::optional<ParamType> param_type_from(std::string_view name) {
  for (const TypeRow& row : kTypes) {
    if (row.name == name) return row.type;
  }
  return std::nullopt;
}

Status add_param(std::string_view text, std::vector<Param>& params) {
  std::size_t end = 0;
  while (end < text.size() && is_name_char(text[end])) ++end;
  const std::optional<ParamType> type = param_type_from(text.substr(0, end));
  if (!type) {
    std::string all;
    for (const TypeRow& row : kTypes) all += (all.empty() ? "" : ", ") + std::string(row.name);
    return at_offset(0, "a parameter needs a type, found `" + std::string(text.substr(0, 40)) + "`",
                     {".param TYPE NAME, where TYPE is one of " + all});
  }
  const std::string_view name = trim(text.substr(end));
  const std::size_t name_at = name.empty() ? text.size() : static_cast<std::size_t>(name.data() - text.data());
  if (!is_name(name)) {
    return at_offset(name_at, "a parameter needs a name, found `" + std::string(name.substr(0, 40)) + "`");
  }
  for (const Param& p : params) {
    if (p.name == name) return at_offset(name_at, "there is a parameter `" + p.name + "` already");
  }
  const unsigned bytes = size_of(*type);
  unsigned offset = params.empty() ? 0 : params.back().offset + size_of(params.back().type);
  offset = aligned_offset(*type, offset);
  if (offset + bytes > kMaxParamBytes) {
    return at_offset(name_at, "`" + std::string(name) + "` would end at byte " + std::to_string(offset + bytes) + "; " +
                                  std::to_string(kMaxParamBytes) + " bytes of parameters are the most");
  }
  params.push_back({std::string(name), *type, static_cast<std::uint16_t>(offset)});
  return Done{};
}

Result<std::vector<Arch>> read_archs(std::string_view text) {
  std::vector<Arch> out;
  for (const Piece& piece : split_commas(text)) {
    const std::string_view name = trim(piece.text);
    const std::optional<Arch> arch = arch_from_name(name);
    if (!arch) {
      std::string all;
      for (const ArchInfo& i : all_archs()) all += (all.empty() ? "" : ", ") + std::string(i.name);
      return at_offset(name.empty() ? piece.offset : static_cast<std::size_t>(name.data() - text.data()),
                       "there is no architecture `" + std::string(name.substr(0, 40)) + "`", {"architectures: " + all});
    }
    if (std::find(out.begin(), out.end(), *arch) == out.end()) out.push_back(*arch);
  }
  return out;
}

Result<std::vector<Defines>> read_variants(std::string_view text) {
  std::vector<Defines> out = {{}};
  std::size_t pos = 0;
  const auto blanks = [&] {
    while (pos < text.size() && (text[pos] == ' ' || text[pos] == '\t')) ++pos;
  };
  blanks();
  if (pos == text.size()) return at_offset(0, ".variants needs NAME=VALUE or NAME={VALUE, VALUE}");
  while (pos < text.size()) {
    const std::size_t name_at = pos;
    while (pos < text.size() && is_name_char(text[pos])) ++pos;
    const std::string name(text.substr(name_at, pos - name_at));
    if (!is_name(name) || is_reserved_name(name)) {
      return at_offset(name_at, "a variant needs a name, found `" + std::string(text.substr(name_at, 20)) + "`");
    }
    if (out.front().count(name) != 0) return at_offset(name_at, "`" + name + "` stands twice in this .variants line");
    blanks();
    if (pos >= text.size() || text[pos] != '=') return at_offset(pos, "expected `=` after `" + name + "`");
    ++pos;
    blanks();
    std::size_t list_at = pos;
    std::string_view list;
    if (pos < text.size() && text[pos] == '{') {
      const std::size_t close = text.find('}', pos);
      if (close == std::string_view::npos) return at_offset(pos, "this `{` is never closed");
      list = text.substr(pos + 1, close - pos - 1);
      list_at = pos + 1;
      pos = close + 1;
    } else {
      while (pos < text.size() && text[pos] != ' ' && text[pos] != '\t') ++pos;
      list = text.substr(list_at, pos - list_at);
    }
    std::vector<std::string> values;
    for (const Piece& piece : split_commas(list)) {
      const std::string_view value = trim(piece.text);
      if (!is_variant_value(value)) {
        return at_offset(list_at + piece.offset, "a value of `" + name + "` must be an integer or a word, found `" +
                                                     std::string(value.substr(0, 40)) + "`");
      }
      const auto number = integer_from(value);
      std::string spelled = number ? std::to_string(*number) : std::string(value);
      if (std::find(values.begin(), values.end(), spelled) != values.end()) {
        return at_offset(list_at + piece.offset, "`" + spelled + "` stands twice in the values of `" + name + "`");
      }
      values.push_back(std::move(spelled));
    }
    if (out.size() * values.size() > kMaxVariants) {
      return at_offset(name_at, "more than " + std::to_string(kMaxVariants) + " variants");
    }
    std::vector<Defines> product;
    for (const Defines& d : out) {
      for (const std::string& v : values) {
        product.push_back(d);
        product.back()[name] = v;
      }
    }
    out = std::move(product);
    blanks();
  }
  return out;
}

bool is_front_matter(std::string_view d) {
  static constexpr std::array<std::string_view, 12> kFront = {"kernel",  "arch",   "variants", "param",
                                                              "threads", "shared", "regs",     "needs",
                                                              "accum",   "bound",  "cluster",  "launch"};
  return std::find(kFront.begin(), kFront.end(), d) != kFront.end();
}

bool is_kernel_name(std::string_view name) {
  if (name.empty() || name.size() > 255 || !is_name_start(name[0])) return false;
  return std::all_of(name.begin(), name.end(), [](char c) { return is_name_char(c) || c == '$'; });
}

}  // namespace nervanagpu::sass
