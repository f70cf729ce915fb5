#include "sass/dis/elf.h"

#include <algorithm>
#include <optional>

#include "sass/cubin_abi.h"

namespace nervanagpu::sass {
namespace {

// Longer names do not occur; the limit keeps the search for their ends linear in the file.
constexpr std::size_t kMaxElfName = 4096;

std::string number(std::uint64_t v) {
  return std::to_string(v);
}

// offset + size <= total, without overflow.
bool inside(std::uint64_t offset, std::uint64_t size, std::uint64_t total) {
  return offset <= total && size <= total - offset;
}

std::optional<std::string_view> name_at(ByteView table, std::uint32_t offset) {
  if (offset >= table.size()) return std::nullopt;
  const std::string_view rest = as_text(table.subspan(offset)).substr(0, kMaxElfName + 1);
  const std::size_t end = rest.find('\0');
  if (end == std::string_view::npos) return std::nullopt;
  return rest.substr(0, end);
}

// For messages: names come from the file.
std::string shown(std::size_t index, std::string_view name) {
  std::string out = "section " + number(index);
  if (name.empty()) return out;
  out += " '";
  for (const char c : name.substr(0, 64)) out += c >= 0x20 && c < 0x7f ? c : '?';
  return out + (name.size() > 64 ? "...'" : "'");
}

}  // namespace

Result<ElfView> ElfView::open(ByteView bytes) {
  ElfView view;
  if (auto ok = view.read_header(bytes); !ok) return ok.error();
  if (auto ok = view.read_sections(bytes); !ok) return ok.error();
  if (auto ok = view.read_names(); !ok) return ok.error();
  if (auto ok = view.check_overlap(); !ok) return ok.error();
  if (auto ok = view.read_symbols(); !ok) return ok.error();
  return view;
}

Status ElfView::read_header(ByteView bytes) {
  if (bytes.size() < kElfHeaderBytes) {
    return error("ELF header: the file has " + number(bytes.size()) + " bytes, need at least 64");
  }
  if (bytes[0] != 0x7f || bytes[1] != 'E' || bytes[2] != 'L' || bytes[3] != 'F') {
    return error("ELF header: the magic number is missing");
  }
  if (bytes[4] != 2 || bytes[5] != 1) return error("ELF header: not a 64-bit little-endian file");
  os_abi_ = bytes[7];
  abi_version_ = bytes[8];
  type_ = load_le<std::uint16_t>(bytes, 16);
  machine_ = load_le<std::uint16_t>(bytes, 18);
  section_offset_ = load_le<std::uint64_t>(bytes, 40);
  flags_ = load_le<std::uint32_t>(bytes, 48);
  const auto entry_size = load_le<std::uint16_t>(bytes, 58);
  section_count_ = load_le<std::uint16_t>(bytes, 60);
  name_section_ = load_le<std::uint16_t>(bytes, 62);
  if (entry_size != kSectionHeaderBytes) {
    return error("ELF header: e_shentsize is " + number(entry_size) + ", need 64");
  }
  if (!inside(section_offset_, std::uint64_t{section_count_} * kSectionHeaderBytes, bytes.size())) {
    return error("ELF header: " + number(section_count_) + " section headers at offset " + number(section_offset_) +
                 " reach past the end of the file (" + number(bytes.size()) + " bytes)");
  }
  if (name_section_ >= section_count_) {
    return error("ELF header: e_shstrndx is " + number(name_section_) + " of " + number(section_count_) + " sections");
  }
  return Done{};
}

Status ElfView::read_sections(ByteView bytes) {
  sections_.reserve(section_count_);
  name_offsets_.reserve(section_count_);
  for (std::size_t i = 0; i < section_count_; ++i) {
    const std::size_t at = static_cast<std::size_t>(section_offset_) + i * kSectionHeaderBytes;
    Section s;
    name_offsets_.push_back(load_le<std::uint32_t>(bytes, at));
    s.type = load_le<std::uint32_t>(bytes, at + 4);
    s.flags = load_le<std::uint64_t>(bytes, at + 8);
    const auto offset = load_le<std::uint64_t>(bytes, at + 24);
    s.size = load_le<std::uint64_t>(bytes, at + 32);
    s.link = load_le<std::uint32_t>(bytes, at + 40);
    s.info = load_le<std::uint32_t>(bytes, at + 44);
    if (s.type == kSectionNull) {
      s.size = 0;
    } else if (s.type != kSectionNobits) {
      if (!inside(offset, s.size, bytes.size())) {
        return error(shown(i, "") + ": sh_offset " + number(offset) + " and sh_size " + number(s.size) +
                     " reach past the end of the file (" + number(bytes.size()) + " bytes)");
      }
      s.data = bytes.subspan(static_cast<std::size_t>(offset), static_cast<std::size_t>(s.size));
    }
    sections_.push_back(s);
  }
  return Done{};
}

Status ElfView::read_names() {
  const Section& table = sections_[name_section_];
  if (table.type != kSectionStrtab) return error(shown(name_section_, "") + ": e_shstrndx needs a string table");
  for (std::size_t i = 0; i < sections_.size(); ++i) {
    if (sections_[i].type == kSectionNull) continue;
    const auto name = name_at(table.data, name_offsets_[i]);
    if (!name)
      return error(shown(i, "") + ": sh_name " + number(name_offsets_[i]) + " is not a name in the string table");
    sections_[i].name = *name;
  }
  return Done{};
}

Status ElfView::check_overlap() const {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < sections_.size(); ++i) {
    if (!sections_[i].data.empty()) order.push_back(i);
  }
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return sections_[a].data.data() < sections_[b].data.data(); });
  for (std::size_t k = 1; k < order.size(); ++k) {
    const Section& before = sections_[order[k - 1]];
    const Section& after = sections_[order[k]];
    if (before.data.data() + before.data.size() > after.data.data()) {
      return error(shown(order[k], after.name) + ": overlaps " + shown(order[k - 1], before.name));
    }
  }
  return Done{};
}

Status ElfView::read_symbols() {
  const auto table =
      std::find_if(sections_.begin(), sections_.end(), [](const Section& s) { return s.type == kSectionSymtab; });
  if (table == sections_.end()) return error("no symbol table");
  const auto index = static_cast<std::size_t>(table - sections_.begin());
  if (table->size % kSymbolBytes != 0) {
    return error(shown(index, table->name) + ": size " + number(table->size) + " is not whole 24-byte symbols");
  }
  if (table->link >= sections_.size() || sections_[table->link].type != kSectionStrtab) {
    return error(shown(index, table->name) + ": sh_link " + number(table->link) + " is not a string table");
  }
  const ByteView names = sections_[table->link].data;
  symbols_.reserve(table->data.size() / kSymbolBytes);
  for (std::size_t at = 0; at < table->data.size(); at += kSymbolBytes) {
    Symbol s;
    const auto offset = load_le<std::uint32_t>(table->data, at);
    const auto name = name_at(names, offset);
    if (!name) {
      return error(shown(index, table->name) + ": symbol " + number(at / kSymbolBytes) + ": st_name " + number(offset) +
                   " is not a name in the string table");
    }
    s.name = *name;
    s.info = table->data[at + 4];
    s.other = table->data[at + 5];
    s.section = load_le<std::uint16_t>(table->data, at + 6);
    s.value = load_le<std::uint64_t>(table->data, at + 8);
    s.size = load_le<std::uint64_t>(table->data, at + 16);
    symbols_.push_back(s);
  }
  return Done{};
}

}  // namespace nervanagpu::sass
