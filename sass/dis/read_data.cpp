#include "sass/dis/read_data.h"

#include <algorithm>
#include <limits>
#include <map>

#include "sass/cubin_abi.h"

namespace nervanagpu::sass {
namespace {

using Section = ElfView::Section;
using Symbol = ElfView::Symbol;

// Variables without initial values begin on such a boundary behind those that have some; no variable is aligned to more.
constexpr std::uint64_t kVariableAlignment = 1024;

std::string number(std::uint64_t v) {
  return std::to_string(v);
}

class DataReader {
 public:
  DataReader(const ElfView& elf, std::size_t name_budget, ModuleData& data)
      : elf_(elf), name_budget_(name_budget), data_(data) {}

  Status read() {
    if (auto ok = read_sections(); !ok) return ok;
    if (auto ok = read_variables(); !ok) return ok;
    for (const Section& s : elf_.sections()) {
      if (s.type != kSectionRela && s.type != kSectionRel) continue;
      if (auto ok = read_relocations(s); !ok) return ok;
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
    if (s.section == kNone) {
      auto [it, fresh] = externals_.emplace(s.name, data_.externals.size());
      if (fresh) {
        if (auto ok = copy_name(s.name, data_.externals.emplace_back()); !ok) return ok;
      }
      r.to = Relocation::To::kFunction;
      r.value = it->second;
    } else {
      if (!offset_of(s, r.value)) return error(what + "symbol " + number(index) + " is not a variable");
      r.value += addend;
    }
    to.push_back(r);
    return Done{};
  }

  const ElfView& elf_;
  std::size_t name_budget_;
  ModuleData& data_;
  std::uint32_t zero_ = kNone, init_ = kNone, constant3_ = kNone, constant4_ = kNone;
  std::uint64_t zero_at_ = 0;
  std::map<std::string_view, std::size_t> externals_;
};

}  // namespace

Status read_data(const ElfView& elf, std::size_t name_budget, ModuleData& data) {
  return DataReader(elf, name_budget, data).read();
}

}  // namespace nervanagpu::sass
