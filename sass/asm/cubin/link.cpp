#include "sass/asm/cubin/link.h"

#include <optional>
#include <set>

#include "sass/asm/cubin/abi8_sections.h"
#include "sass/asm/cubin/bundle.h"
#include "sass/asm/cubin/elf_writer.h"
#include "sass/asm/cubin/line_table.h"
#include "sass/asm/cubin/manifest_text.h"
#include "sass/asm/cubin/nv_info.h"

namespace nervanagpu::sass {
namespace {

// The indices of one kernel's sections and symbols; 0: it has none.
struct Slots {
  std::uint32_t info = 0, text = 0, shared = 0, constant = 0, manifest = 0, lines = 0;  // sections
  std::uint32_t constant_symbol = 0, kernel_symbol = 0;
};

// Sections go group by group (every kernel's .text together, ...), because one program header loads one group. Up to
// sm_89 ptxas puts the constants before the code, later after the shared memory; ours that are not loaded are last.
struct Plan {
  std::vector<Slots> kernels;
  std::uint32_t tkinfo = 0, cuinfo = 0, info = 0, compat = 0;  // all but .nv.info are of ABI 8
  std::uint32_t last = ElfWriter::kFirstIndex;                 // the section after the last
};

bool constants_first(Arch arch) {
  return arch != Arch::sm_90a;
}

Plan plan(const CubinImage& image, CubinAbi abi) {
  Plan p;
  p.kernels.resize(image.kernels.size());
  std::uint32_t next = ElfWriter::kFirstIndex;
  if (abi == CubinAbi::k8) {
    p.tkinfo = next++;
    p.cuinfo = next++;
  }
  p.info = next++;
  if (abi == CubinAbi::k8 && image.arch == Arch::sm_90a) p.compat = next++;
  const auto group = [&](std::uint32_t Slots::*slot, auto&& has) {
    for (std::size_t i = 0; i < p.kernels.size(); ++i) {
      if (has(image.kernels[i])) p.kernels[i].*slot = next++;
    }
  };
  const auto always = [](const KernelImage&) { return true; };
  group(&Slots::info, always);
  if (constants_first(image.arch)) group(&Slots::constant, always);
  group(&Slots::text, always);
  group(&Slots::shared, [](const KernelImage& k) { return k.shared != 0; });
  if (!constants_first(image.arch)) group(&Slots::constant, always);
  group(&Slots::manifest, [](const KernelImage& k) { return !k.manifest.name.empty(); });
  group(&Slots::lines, [](const KernelImage& k) { return !k.lines.empty(); });
  p.last = next;

  std::uint32_t symbol = 1;
  for (std::size_t i = 0; i < p.kernels.size(); ++i) {
    symbol += p.kernels[i].shared != 0 ? 2 : 1;  // .text.K and .nv.shared.K
    p.kernels[i].constant_symbol = symbol++;
  }
  for (Slots& s : p.kernels) s.kernel_symbol = symbol++;
  return p;
}

ElfSection text_section(Arch arch, const KernelImage& k, const Slots& s, Bytes code, CubinAbi abi) {
  ElfSection text;
  text.name = ".text." + k.name;
  text.flags = kSectionAlloc | kSectionExec;
  if (abi == CubinAbi::k7) text.flags |= std::uint64_t{k.barriers} << kBarrierShift;
  text.link = ElfWriter::kSymtabIndex;
  text.info = s.kernel_symbol | (arch == Arch::sm_90a ? 0 : k.registers << kRegisterShift);
  text.align = info(arch).encoding == Encoding::k64 ? 32 : 128;
  text.data = std::move(code);
  return text;
}

ElfSection constant_section(Arch arch, const KernelImage& k, const Slots& s) {
  ElfSection constant;
  constant.name = ".nv.constant0." + k.name;
  constant.flags = kSectionAlloc | kSectionInfoLink;
  constant.info = s.text;
  constant.align = 4;
  constant.data = k.constant0;
  if (constant.data.empty()) constant.data.resize(info(arch).param_base + std::size_t{k.param_bytes});
  return constant;
}

ElfSection shared_section(Arch arch, const KernelImage& k, const Slots& s) {
  ElfSection shared;
  shared.name = ".nv.shared." + k.name;
  shared.type = kSectionNobits;
  shared.flags = kSectionWrite | kSectionAlloc | kSectionInfoLink;
  shared.info = s.text;
  shared.align = 16;  // the widest access
  shared.nobits = info(arch).shared_base + std::uint64_t{k.shared};
  return shared;
}

ElfSection info_section(std::string name, Bytes data) {
  ElfSection info;
  info.name = std::move(name);
  info.type = kSectionNvInfo;
  info.link = ElfWriter::kSymtabIndex;
  info.align = 4;
  info.data = std::move(data);
  return info;
}

ElfSection note_section(const char* prefix, const KernelImage& k, const std::string& text) {
  ElfSection note;
  note.name = prefix + k.name;
  append(note.data, std::string_view(text));
  return note;
}

void add_symbols(ElfWriter& elf, const CubinImage& image, const Plan& p, const std::vector<Bytes>& code) {
  const auto local = [&](const char* prefix, const std::string& name, std::uint32_t section) {
    elf.add(ElfSymbol{.name = prefix + name, .section = section});
  };
  for (std::size_t i = 0; i < image.kernels.size(); ++i) {
    const std::string& name = image.kernels[i].name;
    local(".text.", name, p.kernels[i].text);
    if (p.kernels[i].shared != 0) local(".nv.shared.", name, p.kernels[i].shared);
    local(".nv.constant0.", name, p.kernels[i].constant);
  }
  for (std::size_t i = 0; i < image.kernels.size(); ++i) {
    elf.add(ElfSymbol{.name = image.kernels[i].name,
                      .info = kSymbolGlobalFunction,
                      .other = kSymbolEntry,
                      .section = p.kernels[i].text,
                      .size = code[i].size()});
  }
}

// The program headers that ptxas writes.
void add_segments(ElfWriter& elf, const CubinImage& image, const Plan& p) {
  const Slots& first = p.kernels.front();
  const Slots& last = p.kernels.back();
  const bool old = constants_first(image.arch);
  const std::uint32_t headers = old ? kSegmentRead | kSegmentExec : kSegmentRead;
  std::uint32_t shared_first = 0;
  std::uint32_t shared_last = 0;
  for (const Slots& s : p.kernels) {
    if (s.shared == 0) continue;
    if (shared_first == 0) shared_first = s.shared;
    shared_last = s.shared;
  }
  elf.add(ElfSegment{kSegmentPhdr, headers, 0, 0});
  if (!old) elf.add(ElfSegment{kSegmentLoad, headers, 0, 0});
  elf.add(ElfSegment{kSegmentLoad, kSegmentRead | kSegmentExec, old ? first.constant : first.text, last.text});
  if (shared_first != 0) elf.add(ElfSegment{kSegmentLoad, kSegmentRead | kSegmentWrite, shared_first, shared_last});
  elf.add(old ? ElfSegment{kSegmentLoad, headers, 0, 0}
              : ElfSegment{kSegmentLoad, kSegmentRead, first.constant, last.constant});
}

std::uint32_t header_flags(Arch arch, CubinAbi abi) {
  const ArchInfo& chip = info(arch);
  if (abi == CubinAbi::k8) return kFlags8 | std::uint32_t{chip.number} << 8;
  return std::uint32_t{chip.number} << 16 | chip.number | kFlagUnifiedTexture | kFlag64BitAddress |
         (chip.accelerated ? kFlagAccelerated : 0);
}

Status check(const CubinImage& image, CubinAbi abi) {
  if (abi == CubinAbi::k8 && image.arch < Arch::sm_75) {
    return error("cubin ABI 8 is CUDA 13's, which begins with sm_75; for " + std::string(info(image.arch).name) +
                 " there is ABI 7");
  }
  if (image.kernels.empty()) return error("a cubin needs at least one kernel");
  if (image.kernels.size() > kMaxKernels) {
    return error(std::to_string(image.kernels.size()) + " kernels, a cubin holds at most " +
                 std::to_string(kMaxKernels));
  }
  std::set<std::string_view> names;
  for (const KernelImage& k : image.kernels) {
    if (auto ok = check_kernel_image(image.arch, k); !ok) return ok.error();
    if (!names.insert(k.name).second) return error("two kernels are named '" + k.name + "'");
  }
  return Done{};
}

}  // namespace

Result<std::vector<std::uint8_t>> write_cubin(const CubinImage& image, CubinAbi abi) {
  if (auto ok = check(image, abi); !ok) return ok.error();
  const Plan p = plan(image, abi);
  std::vector<Bytes> code;
  for (const KernelImage& k : image.kernels) {
    auto packed = pack_code(info(image.arch).encoding, k.code);
    if (!packed) return error("kernel '" + k.name + "': " + packed.error().message);
    code.push_back(std::move(*packed));
  }

  ElfWriter elf;
  add_symbols(elf, image, p, code);
  add_segments(elf, image, p);
  Bytes all_info;
  for (std::size_t i = 0; i < image.kernels.size(); ++i) {
    append_global_info(all_info, image.kernels[i], p.kernels[i].kernel_symbol);
  }
  std::vector<ElfSection> sections(p.last - ElfWriter::kFirstIndex);
  const auto put = [&sections](std::uint32_t index, ElfSection section) {
    if (index != 0) sections[index - ElfWriter::kFirstIndex] = std::move(section);
  };
  if (p.tkinfo != 0) put(p.tkinfo, tkinfo_section(image.arch));
  if (p.cuinfo != 0) put(p.cuinfo, cuinfo_section(image.arch, p.tkinfo, p.compat));
  put(p.info, info_section(".nv.info", std::move(all_info)));
  if (p.compat != 0) put(p.compat, compat_section(image.arch));
  for (std::size_t i = 0; i < image.kernels.size(); ++i) {
    const KernelImage& k = image.kernels[i];
    const Slots& s = p.kernels[i];
    const CodeFacts facts = find_code_facts(image.arch, k.code);
    ElfSection own = info_section(".nv.info." + k.name, kernel_info(image.arch, k, facts, s.constant_symbol, abi));
    own.flags = kSectionInfoLink;
    own.info = s.text;
    put(s.info, std::move(own));
    put(s.text, text_section(image.arch, k, s, std::move(code[i]), abi));
    put(s.shared, shared_section(image.arch, k, s));
    put(s.constant, constant_section(image.arch, k, s));
    if (s.manifest != 0) put(s.manifest, note_section(kManifestSection, k, manifest_text(k.manifest)));
    if (s.lines != 0) put(s.lines, note_section(kLinesSection, k, line_table_bytes(k.lines)));
  }
  for (ElfSection& s : sections) elf.add(std::move(s));
  return elf.finish(header_flags(image.arch, abi), abi);
}

}  // namespace nervanagpu::sass
