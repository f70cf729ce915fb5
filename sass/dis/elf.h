// A bounds-checked view of an ELF64 file. open() proves everything that the accessors rely on: headers and sections lie
// inside the bytes, names end, sections do not share bytes (so whoever copies sections copies at most the file), so
// that no accessor can fail or read outside. The bytes must outlive the view.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "sass/bytes.h"
#include "sass/result.h"

namespace nervanagpu::sass {

class ElfView {
 public:
  struct Section {
    std::string_view name;
    std::uint32_t type = 0;
    std::uint64_t flags = 0;
    std::uint64_t size = 0;  // in memory; equals data.size() unless NOBITS
    std::uint32_t link = 0;
    std::uint32_t info = 0;
    ByteView data;  // empty for NOBITS
  };
  struct Symbol {
    std::string_view name;
    std::uint8_t info = 0;
    std::uint8_t other = 0;
    std::uint16_t section = 0;
    std::uint64_t value = 0;
    std::uint64_t size = 0;
  };

  static Result<ElfView> open(ByteView bytes);

  [[nodiscard]] std::uint8_t os_abi() const { return os_abi_; }
  [[nodiscard]] std::uint8_t abi_version() const { return abi_version_; }
  [[nodiscard]] std::uint16_t machine() const { return machine_; }
  [[nodiscard]] std::uint16_t type() const { return type_; }
  [[nodiscard]] std::uint32_t flags() const { return flags_; }
  [[nodiscard]] const std::vector<Section>& sections() const { return sections_; }
  [[nodiscard]] const std::vector<Symbol>& symbols() const { return symbols_; }

 private:
  Status read_header(ByteView bytes);
  Status read_sections(ByteView bytes);
  Status read_names();
  Status read_symbols();
  [[nodiscard]] Status check_overlap() const;

  std::uint8_t os_abi_ = 0;
  std::uint8_t abi_version_ = 0;
  std::uint16_t machine_ = 0;
  std::uint16_t type_ = 0;
  std::uint32_t flags_ = 0;
  std::uint64_t section_offset_ = 0;
  std::uint16_t section_count_ = 0;
  std::uint16_t name_section_ = 0;
  std::vector<std::uint32_t> name_offsets_;
  std::vector<Section> sections_;
  std::vector<Symbol> symbols_;
};

}  // namespace nervanagpu::sass
