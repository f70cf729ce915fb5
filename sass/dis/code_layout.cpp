#include "sass/dis/code_layout.h"

#include <algorithm>
#include <set>

#include "sass/asm/cubin/bundle.h"
#include "sass/cubin_abi.h"
#include "sass/isa/codec/codec.h"

namespace nervanagpu::sass {
namespace {

using Section = ElfView::Section;
using Symbol = ElfView::Symbol;

constexpr std::size_t kMostCopied = std::size_t{1} << 18;  // instructions of functions, in all kernels

// Sections of functions that are no kernels.
std::set<std::uint32_t> function_sections(const ElfView& elf, const std::set<std::uint32_t>& kernels) {
  std::set<std::uint32_t> found;
  for (const Symbol& s : elf.symbols()) {
    const bool function = (s.info & 0xf) == kSymbolFunction && (s.other & kSymbolEntry) == 0;
    if (!function || s.section == 0 || s.section >= elf.sections().size() || kernels.contains(s.section)) continue;
    const Section& text = elf.sections()[s.section];
    if (text.type == kSectionProgbits && (text.flags & kSectionExec) != 0 && !text.data.empty())
      found.insert(s.section);
  }
  return found;
}

// The sections whose relocations put an address of code into them: that of a function, or one to return to.
std::set<std::uint32_t> calling_sections(const ElfView& elf, const std::set<std::uint32_t>& functions) {
  std::set<std::uint32_t> found;
  for (const Section& s : elf.sections()) {
    if (s.type != kSectionRela || found.contains(s.info)) continue;
    for (std::size_t at = 0; at + kRelaBytes <= s.data.size(); at += kRelaBytes) {
      const std::uint64_t index = load_le<std::uint64_t>(s.data, at + 8) >> 32;
      if (index >= elf.symbols().size()) continue;
      const std::uint32_t section = elf.symbols()[static_cast<std::size_t>(index)].section;
      if (section != s.info && !functions.contains(section)) continue;
      found.insert(s.info);
      break;
    }
  }
  return found;
}

}  // namespace

Result<CodeLayout> CodeLayout::make(const ElfView& elf, Arch arch, const std::vector<std::uint32_t>& text_of,
                                    std::vector<KernelImage>& kernels) {
  CodeLayout layout;
  for (std::size_t i = 0; i < kernels.size(); ++i) layout.places_[text_of[i]].push_back({i, 0});
  const Encoding encoding = info(arch).encoding;
  const std::set<std::uint32_t> functions = function_sections(elf, {text_of.begin(), text_of.end()});
  if (encoding != Encoding::k128 || functions.empty()) return layout;

  const std::set<std::uint32_t> calling = calling_sections(elf, functions);
  std::vector<std::size_t> callers;
  std::size_t begin = 0;  // of the functions in every kernel
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    if (!calling.contains(text_of[i])) continue;
    callers.push_back(i);
    begin = std::max(begin, kernels[i].code.size());
  }
  std::vector<Word> all;
  for (const std::uint32_t section : functions) {
    auto code = unpack_code(encoding, elf.sections()[section].data);
    if (!code) return error("section " + std::string(elf.sections()[section].name) + ": " + code.error().message);
    const auto first = static_cast<std::uint32_t>(begin + all.size());
    layout.functions_[section] = address_of(encoding, first);
    for (const std::size_t i : callers) layout.places_[section].push_back({i, first});
    all.insert(all.end(), code->begin(), code->end());
  }
  if ((begin + all.size()) * callers.size() > kMostCopied) {
    return error(std::to_string(callers.size()) + " kernels of " + std::to_string(begin) + " instructions with " +
                 std::to_string(all.size()) + " of functions each: at most " + std::to_string(kMostCopied) +
                 " can be read");
  }
  constexpr Word kNop{0x7918, 0x000fc00000000000};
  for (const std::size_t i : callers) {
    std::vector<Word>& code = kernels[i].code;
    code.resize(begin, kNop);
    code.insert(code.end(), all.begin(), all.end());
  }
  return layout;
}

const std::vector<CodeLayout::Place>* CodeLayout::places(std::uint32_t section) const {
  const auto found = places_.find(section);
  return found == places_.end() ? nullptr : &found->second;
}

std::optional<std::uint64_t> CodeLayout::address(const ElfView::Symbol& symbol) const {
  const auto found = functions_.find(symbol.section);
  if (found == functions_.end()) return std::nullopt;
  return found->second + symbol.value;
}

}  // namespace nervanagpu::sass
