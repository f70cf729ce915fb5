#include "sass/asm/cubin/elf_writer.h"

#include <algorithm>
#include <unordered_map>

namespace nervanagpu::sass {
namespace {

// A string table: each distinct name once, the empty one at 0.
class Names {
 public:
  std::uint32_t add(const std::string& name) {
    if (name.empty()) return 0;
    const auto [at, fresh] = offsets_.emplace(name, static_cast<std::uint32_t>(bytes_.size()));
    if (fresh) {
      append(bytes_, std::string_view(name));
      bytes_.push_back(0);
    }
    return at->second;
  }
  [[nodiscard]] Bytes take() { return std::move(bytes_); }

 private:
  Bytes bytes_ = {0};
  std::unordered_map<std::string, std::uint32_t> offsets_;
};

// Where a section came to lie.
struct Placed {
  std::uint64_t offset = 0;
  std::uint64_t file_size = 0;
  std::uint64_t memory_size = 0;
};

void append_ident(Bytes& out, CubinAbi abi) {
  const std::uint8_t os = abi == CubinAbi::k7 ? kOsAbi7 : kOsAbi8;
  out = {0x7f, 'E', 'L', 'F', 2 /* 64 bit */, 1 /* little endian */, 1, os, static_cast<std::uint8_t>(abi)};
  out.resize(16);
}

void append_section_header(Bytes& out, const ElfSection& s, std::uint32_t name, const Placed& at) {
  append_le(out, name);
  append_le(out, s.type);
  append_le(out, s.flags);
  append_le(out, std::uint64_t{0});  // address
  append_le(out, at.offset);
  append_le(out, at.memory_size);
  append_le(out, s.link);
  append_le(out, s.info);
  append_le(out, s.align);
  append_le(out, std::uint64_t{s.type == kSectionSymtab ? kSymbolBytes : 0});
}

void append_segment(Bytes& out, const ElfSegment& s, const Placed& at) {
  append_le(out, s.type);
  append_le(out, s.flags);
  append_le(out, at.offset);
  append_le(out, std::uint64_t{0});  // virtual address
  append_le(out, std::uint64_t{0});  // physical address
  append_le(out, at.file_size);
  append_le(out, at.memory_size);
  append_le(out, std::uint64_t{8});  // alignment
}

}  // namespace

Bytes ElfWriter::finish(std::uint32_t e_flags, CubinAbi abi) const {
  Names symbol_names;
  Bytes symtab(kSymbolBytes);
  std::uint32_t locals = 1;
  for (const ElfSymbol& s : symbols_) {
    locals += s.info == kSymbolLocalSection ? 1 : 0;
    append_le(symtab, symbol_names.add(s.name));
    symtab.push_back(s.info);
    symtab.push_back(s.other);
    append_le(symtab, static_cast<std::uint16_t>(s.section));
    append_le(symtab, std::uint64_t{0});  // value: every symbol is the start of its section
    append_le(symtab, s.size);
  }

  std::vector<ElfSection> all(kFirstIndex);
  all[0] = {.type = kSectionNull, .align = 0};
  all[1] = {.name = ".shstrtab", .type = kSectionStrtab};
  all[2] = {.name = ".strtab", .type = kSectionStrtab, .data = symbol_names.take()};
  all[3] = {
      .name = ".symtab", .type = kSectionSymtab, .link = 2, .info = locals, .align = 8, .data = std::move(symtab)};
  all.insert(all.end(), sections_.begin(), sections_.end());

  Names section_names;
  std::vector<std::uint32_t> name_offsets;
  name_offsets.reserve(all.size());
  for (const ElfSection& s : all) name_offsets.push_back(section_names.add(s.name));
  all[1].data = section_names.take();

  Bytes out;
  append_ident(out, abi);
  out.resize(kElfHeaderBytes);
  std::vector<Placed> placed(all.size());
  for (std::size_t i = 1; i < all.size(); ++i) {
    const ElfSection& s = all[i];
    pad_to(out, s.align);
    const std::uint64_t size = s.type == kSectionNobits ? s.nobits : s.data.size();
    placed[i] = {out.size(), s.data.size(), size};
    append(out, ByteView(s.data));
  }

  pad_to(out, 8);
  const std::uint64_t section_headers = out.size();
  for (std::size_t i = 0; i < all.size(); ++i) append_section_header(out, all[i], name_offsets[i], placed[i]);

  const std::uint64_t program_headers = segments_.empty() ? 0 : out.size();
  const std::uint64_t program_bytes = segments_.size() * kProgramHeaderBytes;
  for (const ElfSegment& s : segments_) {
    Placed at{program_headers, program_bytes, program_bytes};
    if (s.first != 0) {
      const Placed& first = placed[s.first];
      const Placed& last = placed[s.last];
      at = {first.offset, last.offset + last.file_size - first.offset, last.offset + last.memory_size - first.offset};
    }
    append_segment(out, s, at);
  }

  Bytes header;
  append_ident(header, abi);
  append_le(header, kTypeExec);
  append_le(header, kMachineCuda);
  append_le(header, abi == CubinAbi::k7 ? kToolkit : 1u);
  append_le(header, std::uint64_t{0});  // entry
  append_le(header, program_headers);
  append_le(header, section_headers);
  append_le(header, e_flags);
  append_le(header, static_cast<std::uint16_t>(kElfHeaderBytes));
  append_le(header, static_cast<std::uint16_t>(segments_.empty() ? 0 : kProgramHeaderBytes));
  append_le(header, static_cast<std::uint16_t>(segments_.size()));
  append_le(header, static_cast<std::uint16_t>(kSectionHeaderBytes));
  append_le(header, static_cast<std::uint16_t>(all.size()));
  append_le(header, std::uint16_t{1});  // .shstrtab
  std::copy(header.begin(), header.end(), out.begin());
  return out;
}

}  // namespace nervanagpu::sass
