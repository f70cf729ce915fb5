// Cubins of ABI 7 and 8, ours and ptxas's -> CubinImage. ElfView has proven that everything lies inside the file; here
// the meaning is checked: every number that others size or index by is bounded before it is stored.
#include <algorithm>
#include <map>

#include "sass/asm/cubin/bundle.h"
#include "sass/asm/cubin/line_table.h"
#include "sass/asm/cubin/manifest_text.h"
#include "sass/cubin.h"
#include "sass/dis/code_layout.h"
#include "sass/dis/debug_line.h"
#include "sass/dis/elf.h"
#include "sass/dis/kernel_info.h"
#include "sass/dis/nv_info.h"
#include "sass/dis/read_data.h"
#include "sass/isa/codec/codec.h"
#include "sass/isa/codec/raw_word.h"

namespace nervanagpu::sass {
namespace {

using Section = ElfView::Section;
using Symbol = ElfView::Symbol;

std::string number(std::uint64_t v) {
  return std::to_string(v);
}

std::string printable(std::string_view name) {
  std::string out;
  for (const char c : name.substr(0, 64)) out += c >= 0x20 && c < 0x7f ? c : '?';
  return out;
}

Result<Arch> arch_of(const ElfView& elf) {
  if (elf.machine() != kMachineCuda) {
    return error("ELF header: e_machine is " + number(elf.machine()) + ", a cubin has 190");
  }
  if (elf.type() != kTypeExec) {
    return error("ELF header: e_type is " + number(elf.type()) +
                 ", need 2 (relocatable device code is not linked here)");
  }
  std::uint32_t sm = 0;
  if (elf.os_abi() == kOsAbi7 && elf.abi_version() == 7) {
    sm = elf.flags() & 0xff;
  } else if (elf.os_abi() == kOsAbi8 && elf.abi_version() == 8) {
    sm = elf.flags() >> 8 & 0xff;
  } else {
    return error("ELF header: cubin ABI " + number(elf.os_abi()) + "." + number(elf.abi_version()) +
                 " is not known, need 51.7 or 65.8");
  }
  for (const ArchInfo& a : all_archs()) {
    if (a.number == sm) return a.arch;  // sm_90 code is sm_90a code
  }
  return error("ELF header: e_flags name sm_" + number(sm) + ", which is not supported");
}

class CubinReader {
 public:
  CubinReader(const ElfView& elf, Arch arch, std::size_t file_size) : elf_(elf), arch_(arch), name_budget_(file_size) {}

  Result<CubinImage> read() {
    if (auto ok = index_sections(); !ok) return ok.error();
    if (auto ok = find_kernels(); !ok) return ok.error();
    for (std::size_t i = 0; i < image_.kernels.size(); ++i) {
      auto ok = read_kernel(image_.kernels[i], elf_.sections()[text_of_[i]]);
      if (!ok) return error("kernel '" + printable(image_.kernels[i].name) + "': " + ok.error().message);
    }
    if (auto ok = read_global_info(); !ok) return ok.error();
    image_.arch = arch_;
    const auto layout = CodeLayout::make(elf_, arch_, text_of_, image_.kernels);
    if (!layout) return layout.error();
    if (auto ok = read_data(elf_, name_budget_, *layout, image_); !ok) return ok.error();
    read_debug_lines(elf_, arch_, kernel_of_symbol_, image_.kernels);
    for (const KernelImage& k : image_.kernels) {
      if (k.registers > kMaxRegisters) {
        return error("kernel '" + printable(k.name) + "': REGCOUNT " + number(k.registers) + ", at most 255 can be");
      }
    }
    return std::move(image_);
  }

 private:
  Status index_sections() {
    for (const Section& s : elf_.sections()) {
      if (s.name.empty()) continue;
      const bool ours = s.name.starts_with(".text.") || s.name.starts_with(".nv.info") ||
                        s.name.starts_with(".nv.constant0.") || s.name.starts_with(".nv.constant2.") ||
                        s.name.starts_with(".nv.shared.") || s.name.starts_with(".ngasm.");
      if (ours && !by_name_.emplace(s.name, &s).second) {
        return error("two sections are named '" + printable(s.name) + "'");
      }
    }
    return Done{};
  }

  // A kernel is an entry function symbol; its code is the whole section that the symbol is in. ptxas keeps symbols in
  // another order than its sections: kernels come out in the order of their sections, as they lie in the file.
  Status find_kernels() {
    std::map<std::uint32_t, std::uint32_t> symbol_of;  // section -> symbol
    for (std::uint32_t i = 0; i < elf_.symbols().size(); ++i) {
      const Symbol& s = elf_.symbols()[i];
      if ((s.info & 0xf) != kSymbolFunction || (s.other & kSymbolEntry) == 0) continue;
      const std::string what = "kernel '" + printable(s.name) + "': ";
      if (s.name.empty()) return error("symbol " + number(i) + ": a kernel without a name");
      if (s.section == 0 || s.section >= elf_.sections().size()) {
        return error(what + "st_shndx " + number(s.section) + " is not a section");
      }
      const Section& text = elf_.sections()[s.section];
      if (text.type != kSectionProgbits || (text.flags & kSectionExec) == 0) {
        return error(what + "section " + number(s.section) + " holds no code");
      }
      if (text.data.empty()) return error(what + "its code is empty");
      if (s.value != 0 || s.size > text.size) return error(what + "the symbol is not the start of its section");
      if (!symbol_of.emplace(s.section, i).second) return error(what + "another kernel is in the same section");
      if (s.name.size() > name_budget_) return error(what + "kernel names are longer than the file");
      name_budget_ -= s.name.size();
    }
    std::map<std::string_view, std::uint32_t> names;
    for (const auto& [section, symbol] : symbol_of) {
      const std::string_view name = elf_.symbols()[symbol].name;
      if (!names.emplace(name, symbol).second) return error("two kernels are named '" + printable(name) + "'");
      kernel_of_symbol_.emplace(symbol, image_.kernels.size());
      text_of_.push_back(section);
      image_.kernels.emplace_back().name = name;
    }
    if (image_.kernels.empty()) return error("the cubin has no kernel");
    return Done{};
  }

  [[nodiscard]] const Section* find(std::string_view prefix, const KernelImage& k) const {
    const auto it = by_name_.find(std::string(prefix) + k.name);
    return it == by_name_.end() ? nullptr : it->second;
  }

  Status read_kernel(KernelImage& k, const Section& text) {
    auto code = unpack_code(info(arch_).encoding, text.data);
    if (!code) return code.error();
    k.code = std::move(*code);
    k.barriers = static_cast<std::uint32_t>(text.flags >> kBarrierShift) & kBarrierMask;
    if (arch_ != Arch::sm_90a) k.registers = text.info >> kRegisterShift;
    if (auto ok = read_kernel_info(k); !ok) return ok.error();
    if (k.barriers > kMaxBarriers) return error("barrier count " + number(k.barriers) + ", at most 16 can be");
    if (auto ok = read_shared(k); !ok) return ok.error();
    if (auto ok = read_constant(k); !ok) return ok.error();
    return read_own(k);
  }

  Status read_shared(KernelImage& k) const {
    const Section* s = find(".nv.shared.", k);
    if (s == nullptr || s->size == 0) return Done{};
    const ArchInfo& chip = info(arch_);
    if (s->type != kSectionNobits) return error("its .nv.shared section is not NOBITS");
    if (s->size < chip.shared_base || s->size - chip.shared_base > chip.max_shared) {
      return error("its .nv.shared section has " + number(s->size) + " bytes, need " + number(chip.shared_base) +
                   " to " + number(chip.shared_base + chip.max_shared));
    }
    k.shared = static_cast<std::uint32_t>(s->size) - chip.shared_base;
    return Done{};
  }

  Status read_constant(KernelImage& k) const {
    const Section* s = find(".nv.constant0.", k);
    if (s == nullptr) {
      return k.param_bytes == 0 ? Status(Done{}) : error("it has parameters but no .nv.constant0 section");
    }
    const std::size_t least = info(arch_).param_base + std::size_t{k.param_bytes};
    if (s->data.size() < least || s->data.size() > kMaxConstantBytes) {
      return error("its .nv.constant0 section has " + number(s->data.size()) + " bytes, need " + number(least) +
                   " to " + number(kMaxConstantBytes));
    }
    k.constant0.assign(s->data.begin(), s->data.end());
    if (const Section* literals = find(".nv.constant2.", k)) {
      if (literals->data.size() > kMaxConstantBytes) {
        return error("its .nv.constant2 section has " + number(literals->data.size()) + " bytes, at most " +
                     number(kMaxConstantBytes) + " can be");
      }
      k.constant2.assign(literals->data.begin(), literals->data.end());
    }
    return Done{};
  }

  Status read_own(KernelImage& k) const {
    if (const Section* s = find(kManifestSection, k)) {
      auto manifest = read_manifest(as_text(s->data));
      if (!manifest) return manifest.error();
      if (manifest->name != k.name) return error("manifest: is of another kernel, '" + printable(manifest->name) + "'");
      if (manifest->arch != arch_) return error("manifest: is for " + std::string(info(manifest->arch).name));
      if (auto ok = adopt_params(k, *manifest); !ok) return ok.error();
      if (auto ok = check_words(k, *manifest); !ok) return ok.error();
      k.manifest = std::move(*manifest);
    }
    if (const Section* s = find(kLinesSection, k)) {
      auto lines = read_line_table(as_text(s->data), k.code.size());
      if (!lines) return lines.error();
      k.lines = std::move(*lines);
    }
    return Done{};
  }

  // What it declares must be words of the code that can do so.
  [[nodiscard]] Status check_words(const KernelImage& k, const Manifest& m) const {
    for (const DeclaredWord& w : m.words) {
      if (w.index >= k.code.size()) return error("manifest: word " + number(w.index) + " is past the code");
      // One that has a name by now means what that says.
      if (decode(arch_, k.code[w.index], address_of(info(arch_).encoding, w.index)).ok()) continue;
      const std::optional<Inst> raw = raw_word(arch_, k.code[w.index], w.text);
      if (!raw || w.text.empty() || declared_text(*raw) != w.text) {
        return error("manifest: word " + number(w.index) + " declares '" + printable(w.text) + "'");
      }
    }
    return Done{};
  }

  // The manifest must describe the parameters that the loader was told of.
  static Status adopt_params(KernelImage& k, const Manifest& m) {
    const auto same = [](const Param& a, const Param& b) {
      return a.offset == b.offset && size_of(a.type) == size_of(b.type);
    };
    if (!std::equal(k.params.begin(), k.params.end(), m.params.begin(), m.params.end(), same)) {
      return error("manifest: its parameters are not those of KPARAM_INFO");
    }
    k.params = m.params;
    return Done{};
  }

  Status read_kernel_info(KernelImage& k) const {
    const Section* s = find(".nv.info.", k);
    if (s == nullptr) return Done{};
    if (s->type != kSectionNvInfo) return error("its .nv.info section has another type");
    return read_info_of_kernel(arch_, s->data, k);
  }

  Status read_global_info() {
    const auto it = by_name_.find(".nv.info");
    if (it == by_name_.end()) return Done{};
    if (it->second->type != kSectionNvInfo) return error("section .nv.info has another type");
    InfoReader in(it->second->data, ".nv.info");
    InfoRecord r;
    for (;;) {
      const auto more = in.next(r);
      if (!more) return more.error();
      if (!*more) return Done{};
      const bool stack = r.is(Attr::kFrameSize) || r.is(Attr::kMinStackSize);
      if (!stack && !r.is(Attr::kRegcount)) continue;
      if (auto ok = in.need_words(r, 2); !ok) return ok.error();
      const auto kernel = kernel_of_symbol_.find(r.word(0));
      if (kernel == kernel_of_symbol_.end()) continue;  // a device function
      KernelImage& k = image_.kernels[kernel->second];
      if (!stack) {
        k.registers = r.word(1);
      } else if (r.word(1) == kUnknownStack) {
        continue;
      } else if (r.word(1) > kMaxLocalBytes) {
        return in.fail("a stack of " + number(r.word(1)) + " bytes, at most " + number(kMaxLocalBytes) + " can be");
      } else {
        k.local = std::max(k.local, r.word(1));
      }
    }
  }

  const ElfView& elf_;
  Arch arch_;
  std::size_t name_budget_;  // bytes of kernel names that may still be copied; string tables can share tails
  std::map<std::string_view, const Section*, std::less<>> by_name_;
  std::vector<std::uint32_t> text_of_;  // section of each kernel
  std::map<std::uint32_t, std::size_t> kernel_of_symbol_;
  CubinImage image_;
};

}  // namespace

Result<CubinImage> read_cubin(const std::uint8_t* bytes, std::size_t size) {
  const auto elf = ElfView::open({bytes, size});
  if (!elf) return elf.error();
  const auto arch = arch_of(*elf);
  if (!arch) return arch.error();
  return CubinReader(*elf, *arch, size).read();
}

}  // namespace nervanagpu::sass
