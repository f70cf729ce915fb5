#include "sass/dis/read_data.h"

#include <algorithm>
#include <limits>
#include <map>

#include "sass/cubin_abi.h"
#include "sass/relocate.h"

namespace nervanagpu::sass {
namespace {

using Section = ElfView::Section;
using Symbol = ElfView::Symbol;

// Variables without initial values begin on such a boundary after those that have some; no variable is aligned to more.
constexpr std::uint64_t kVariableAlignment = 1024;

std::string number(std::uint64_t v) {
  return std::to_string(v);
}

constexpr std::size_t kMostCodeRelocations = std::size_t{1} << 18;  // of all kernels, with their copies of functions

class DataReader {
 public:
  DataReader(const ElfView& elf, std::size_t name_budget, const CodeLayout& layout, CubinImage& image)
      : elf_(elf), name_budget_(name_budget), layout_(layout), image_(image), data_(image.data) {}

  Status read() {
    if (auto ok = read_sections(); !ok) return ok;
    if (auto ok = read_variables(); !ok) return ok;
    for (const Section& s : elf_.sections()) {
      if (s.type != kSectionRela && s.type != kSectionRel) continue;
      if (auto ok = read_relocations(s); !ok) return ok;
      if (auto ok = read_code_relocations(s); !ok) return ok;
    }
    return Done{};
  }

 private:
  static constexpr std::uint32_t kNone = 0;  // section 0 is never one of ours

  Status read_sections() {
    std::uint64_t zeros = 0;
    for (std::uint32_t i = 0; i < elf_.sections().size(); ++i) {
      const Section& s = elf_.sections()[i];
      std::uint32_t* which = s.name == ".nv.global"        ? &zero_
                             : s.name == ".nv.global.init" ? &init_
                             : s.name == ".nv.constant3"   ? &constant3_
                             : s.name == ".nv.constant4"   ? &constant4_
                                                           : nullptr;
      if (which == nullptr || s.type == kSectionNull) continue;
      if (*which != kNone) return error("two sections are named '" + std::string(s.name) + "'");
      if ((s.type == kSectionNobits) != (which == &zero_)) {
        return error("section " + std::string(s.name) + " has another type");
      }
      *which = i;
      if (which == &zero_) {
        if (s.size > kMaxVariableBytes) return error("section .nv.global has " + number(s.size) + " bytes");
        zeros = s.size;
        continue;
      }
      std::vector<std::uint8_t>& to = which == &init_        ? data_.initial
                                      : which == &constant3_ ? data_.constant3
                                                             : data_.constant4;
      if (which != &init_ && s.data.size() > kMaxConstantBytes) {
        return error("section " + std::string(s.name) + " has " + number(s.data.size()) + " bytes, at most " +
                     number(kMaxConstantBytes) + " can be");
      }
      to.assign(s.data.begin(), s.data.end());
    }
    const std::uint64_t size = data_.initial.size();
    zero_at_ = zeros == 0 ? size : (size + kVariableAlignment - 1) / kVariableAlignment * kVariableAlignment;
    data_.bytes = zero_at_ + zeros;
    return Done{};
  }

  // The offset of a symbol among the variables, if it is one.
  [[nodiscard]] bool offset_of(const Symbol& s, std::uint64_t& offset) const {
    if (s.section == kNone || (s.section != zero_ && s.section != init_)) return false;
    offset = s.value + (s.section == zero_ ? zero_at_ : 0);
    return s.value <= data_.bytes && offset <= data_.bytes && s.size <= data_.bytes - offset;
  }

  Status read_variables() {
    for (const Symbol& s : elf_.symbols()) {
      if ((s.info & 0xf) != kSymbolObject || s.name.empty() || s.section == kNone) continue;
      Variable v;
      if (s.section == constant3_) {
        const std::uint64_t room = data_.constant3.size();
        if (s.value > room || s.size > room - s.value) {
          return error("a variable in .nv.constant3 reaches past its " + number(room) + " bytes");
        }
        v.place = Variable::Place::kConstant;
        v.offset = s.value;
      } else if (s.section == zero_ || s.section == init_) {
        if (!offset_of(s, v.offset)) return error("a variable in .nv.global reaches past its section");
      } else {
        continue;
      }
      if (auto ok = copy_name(s.name, v.name); !ok) return ok;
      v.bytes = s.size;
      data_.variables.push_back(std::move(v));
    }
    return Done{};
  }

  Status copy_name(std::string_view name, std::string& to) {
    if (name.size() > name_budget_) return error("names are longer than the file");
    name_budget_ -= name.size();
    to = name;
    return Done{};
  }

  Status read_relocations(const Section& s) {
    if (s.data.empty() || s.info >= elf_.sections().size()) return Done{};
    const Section& target = elf_.sections()[s.info];
    std::vector<Relocation>* to = nullptr;
    std::size_t room = 0;
    if (s.info != kNone && s.info == init_) {
      to = &data_.in_variables;
      room = data_.initial.size();
    } else if (s.info != kNone && (s.info == constant3_ || s.info == constant4_)) {
      to = s.info == constant3_ ? &data_.in_constant3 : &data_.in_constant4;
      room = target.data.size();
    } else {
      return Done{};  // of code, of debug information
    }
    const std::size_t record = s.type == kSectionRela ? kRelaBytes : kRelBytes;
    if (s.data.size() % record != 0) {
      return error("the relocations of section " + std::string(target.name) + " are not whole " + number(record) +
                   "-byte records");
    }
    for (std::size_t at = 0; at < s.data.size(); at += record) {
      if (auto ok = read_relocation(s.data.subspan(at, record), target, room, *to); !ok) return ok;
    }
    return Done{};
  }

  Status read_relocation(ByteView record, const Section& where, std::size_t room, std::vector<Relocation>& to) {
    const auto offset = load_le<std::uint64_t>(record, 0);
    const auto info = load_le<std::uint64_t>(record, 8);
    const std::string what = "relocation at " + number(offset) + " of section " + std::string(where.name) + ": ";
    const auto type = static_cast<std::uint32_t>(info);
    const bool wide = type == kReloc64 || type == kRelocGeneric64;
    if (!wide && type != kReloc32 && type != kRelocGeneric32) return error(what + "type " + number(type));
    Relocation r;
    r.bytes = wide ? 8 : 4;
    if (offset > room || r.bytes > room - offset || offset > std::numeric_limits<std::uint32_t>::max()) {
      return error(what + "it reaches past the section's " + number(room) + " bytes");
    }
    r.offset = static_cast<std::uint32_t>(offset);
    std::uint64_t addend = 0;  // in the record, or in the place
    if (record.size() == kRelaBytes) {
      addend = load_le<std::uint64_t>(record, 16);
    } else {
      addend = wide ? load_le<std::uint64_t>(where.data, r.offset) : load_le<std::uint32_t>(where.data, r.offset);
    }
    const std::uint64_t index = info >> 32;
    if (index == 0 || index >= elf_.symbols().size()) return error(what + "symbol " + number(index));
    const Symbol& s = elf_.symbols()[static_cast<std::size_t>(index)];
    bool known = false;
    if (auto ok = resolve(s, addend, r.to, r.value, known); !ok) return ok;
    if (!known) return error(what + "symbol " + number(index) + " is neither variable nor function");
    to.push_back(r);
    return Done{};
  }

  // What a symbol is, and where; `known`: it is something that code or data can have the address of.
  Status resolve(const Symbol& s, std::uint64_t addend, Relocation::To& to, std::uint64_t& value, bool& known) {
    known = true;
    if (s.section == kNone) {
      auto [it, fresh] = externals_.emplace(s.name, data_.externals.size());
      if (fresh) {
        if (auto ok = copy_name(s.name, data_.externals.emplace_back()); !ok) return ok;
      }
      to = Relocation::To::kFunction;
      value = it->second;
      return Done{};
    }
    if (const auto code = layout_.address(s)) {
      to = Relocation::To::kCode;
      value = *code + addend;
      return Done{};
    }
    to = Relocation::To::kVariable;
    known = offset_of(s, value);
    value += addend;
    return Done{};
  }

  // Of a kernel's code, and of its copies of functions.
  Status read_code_relocations(const Section& s) {
    if (s.type != kSectionRela || s.info == kNone || s.info >= elf_.sections().size()) return Done{};
    const std::vector<CodeLayout::Place>* places = layout_.places(s.info);
    if (places == nullptr) return Done{};
    const Section& text = elf_.sections()[s.info];
    if (s.data.size() % kRelaBytes != 0) {
      return error("the relocations of section " + std::string(text.name) + " are not whole 24-byte records");
    }
    for (std::size_t at = 0; at < s.data.size(); at += kRelaBytes) {
      const auto offset = load_le<std::uint64_t>(s.data, at);
      const auto info = load_le<std::uint64_t>(s.data, at + 8);
      const auto addend = load_le<std::uint64_t>(s.data, at + 16);
      const std::string what = "relocation at " + number(offset) + " of section " + std::string(text.name) + ": ";
      if (offset >= text.data.size()) return error(what + "it lies past the code");
      const std::uint64_t index = info >> 32;
      if (index >= elf_.symbols().size()) return error(what + "symbol " + number(index));
      code_relocations_ += places->size();
      if (code_relocations_ > kMostCodeRelocations) return error(what + "there are more than can be read");
      for (const CodeLayout::Place& place : *places) {
        if (auto ok = relocate_code(place, offset, static_cast<std::uint32_t>(info),
                                    elf_.symbols()[static_cast<std::size_t>(index)], addend);
            !ok) {
          return ok;
        }
      }
    }
    return Done{};
  }

  Status relocate_code(const CodeLayout::Place& place, std::uint64_t offset, std::uint32_t type, const Symbol& symbol,
                       std::uint64_t addend) {
    using Field = CodeRelocation::Field;
    KernelImage& kernel = image_.kernels[place.kernel];
    const std::int64_t index = index_at(sass::info(image_.arch).encoding, offset);
    if (index < 0) return Done{};  // in the middle of an instruction, or in a control word: none that we know
    CodeRelocation r;
    r.index = place.first + static_cast<std::uint32_t>(index);
    const std::uint32_t call = image_.arch == Arch::sm_90a ? kRelocFarCall : kRelocCall;
    r.field = type == kRelocLow32    ? Field::kLow
              : type == kRelocHigh32 ? Field::kHigh
              : type == call         ? Field::kCall
                                     : Field::kOther;
    const std::vector<CodeLayout::Place>* own = layout_.places(symbol.section);
    const bool here =
        own != nullptr && own->front().first == 0 && own->front().kernel == place.kernel;  // the kernel's own
    bool known = true;
    if (here) {
      r.to = Relocation::To::kCode;
      r.value = symbol.value + addend;
    } else if (auto ok = resolve(symbol, addend, r.to, r.value, known); !ok) {
      return ok;
    }
    if (!known) r.field = Field::kOther;
    if (r.field == Field::kOther) {
      r.value = type;
    } else if (r.to == Relocation::To::kCode) {
      relocate(image_.arch, kernel.code[r.index], r.field, r.value);
    }
    kernel.relocations.push_back(r);
    return Done{};
  }

  const ElfView& elf_;
  std::size_t name_budget_;
  const CodeLayout& layout_;
  CubinImage& image_;
  ModuleData& data_;
  std::uint32_t zero_ = kNone, init_ = kNone, constant3_ = kNone, constant4_ = kNone;
  std::uint64_t zero_at_ = 0;
  std::size_t code_relocations_ = 0;
  std::map<std::string_view, std::size_t> externals_;
};

}  // namespace

Status read_data(const ElfView& elf, std::size_t name_budget, const CodeLayout& layout, CubinImage& image) {
  return DataReader(elf, name_budget, layout, image).read();
}

}  // namespace nervanagpu::sass
