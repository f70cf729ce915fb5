// Sections and symbols in, an ELF64 file out: .shstrtab, .strtab and .symtab first, then the sections in the order in
// which they were added, the section headers, the program headers. The same input gives the same bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sass/bytes.h"
#include "sass/cubin.h"
#include "sass/cubin_abi.h"

namespace nervanagpu::sass {

struct ElfSection {
  std::string name = {};
  std::uint32_t type = kSectionProgbits;
  std::uint64_t flags = 0;
  std::uint32_t link = 0;
  std::uint32_t info = 0;
  std::uint64_t align = 1;
  Bytes data = {};
  std::uint64_t nobits = 0;  // size of a section without file contents
};

struct ElfSymbol {
  std::string name = {};
  std::uint8_t info = kSymbolLocalSection;
  std::uint8_t other = 0;
  std::uint32_t section = 0;  // index
  std::uint64_t size = 0;
};

// A run of sections that are loaded together, or the program headers themselves.
struct ElfSegment {
  std::uint32_t type = kSegmentLoad;
  std::uint32_t flags = kSegmentRead;
  std::uint32_t first = 0;  // section index; 0: the program headers
  std::uint32_t last = 0;   // inclusive
};

class ElfWriter {
 public:
  static constexpr std::uint32_t kSymtabIndex = 3;
  static constexpr std::uint32_t kFirstIndex = 4;  // of the first section added

  // Indices that the caller has planned: the n-th section added is kFirstIndex + n, the n-th symbol 1 + n.
  void add(ElfSection section) { sections_.push_back(std::move(section)); }
  void add(ElfSymbol symbol) { symbols_.push_back(std::move(symbol)); }
  void add(ElfSegment segment) { segments_.push_back(segment); }

  // Local symbols must have been added before global ones.
  [[nodiscard]] Bytes finish(std::uint32_t e_flags, CubinAbi abi) const;

 private:
  std::vector<ElfSection> sections_;
  std::vector<ElfSymbol> symbols_;
  std::vector<ElfSegment> segments_;
};

}  // namespace nervanagpu::sass
