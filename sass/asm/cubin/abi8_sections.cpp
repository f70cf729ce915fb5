#include "sass/asm/cubin/abi8_sections.h"

#include <array>
#include <string>
#include <string_view>

namespace nervanagpu::sass {
namespace {

constexpr std::string_view kOwner{"NVIDIA Corp\0", 12};

// An ELF note: the sizes of owner and contents, the type, the two themselves.
ElfSection note(std::string name, std::uint32_t type, std::uint64_t flags, const Bytes& contents) {
  ElfSection s;
  s.name = std::move(name);
  s.type = kSectionNote;
  s.flags = flags;
  s.align = 4;
  for (const std::size_t v : {kOwner.size(), contents.size(), std::size_t{type}}) {
    append_le(s.data, static_cast<std::uint32_t>(v));
  }
  append(s.data, kOwner);
  append(s.data, ByteView(contents));
  return s;
}

}  // namespace

// Version 2 of the note, where each of five strings begins, the strings: object, tool, release, build, options.
ElfSection tkinfo_section(Arch arch) {
  const std::string options = "-arch " + std::string(info(arch).name) + " ";
  const std::array<std::string_view, 5> strings = {"", "ngasm", "nervanagpu", "sass/asm", options};
  Bytes contents;
  append_le(contents, std::uint32_t{2});
  std::uint32_t at = 0;
  for (const std::string_view s : strings) {
    append_le(contents, at);
    at += static_cast<std::uint32_t>(s.size()) + 1;
  }
  for (const std::string_view s : strings) {
    append(contents, s);
    contents.push_back(0);
  }
  pad_to(contents, 4);
  return note(".note.nv.tkinfo", 2000, kSectionTkinfo, contents);
}

ElfSection cuinfo_section(Arch arch, std::uint32_t tkinfo, std::uint32_t compat) {
  Bytes contents;
  for (const std::uint32_t v : {2u, info(arch).number + 0u}) append_le(contents, static_cast<std::uint16_t>(v));
  append_le(contents, kToolkit8);
  ElfSection s =
      note(".note.nv.cuinfo", 1000, kSectionCuinfo | (compat != 0 ? std::uint64_t{kSectionInfoLink} : 0u), contents);
  s.link = tkinfo;
  s.info = compat;
  return s;
}

// Records as in .nv.info; attribute 9 says that the code is for this chip alone (sm_90a).
ElfSection compat_section(Arch arch) {
  ElfSection compat;
  compat.name = ".nv.compat";
  compat.type = kSectionNvCompat;
  compat.align = 4;
  const std::uint8_t alone = info(arch).accelerated ? 1 : 0;
  compat.data = {2, 9, alone, 0, 2, 2, 1, 0, 2, 5, 5, 0, 3, 7, 1, 1, 2, 3, 0, 0, 2, 6, 1, 0, 4, 11, 8, 0};
  compat.data.resize(compat.data.size() + 8);
  return compat;
}

}  // namespace nervanagpu::sass
