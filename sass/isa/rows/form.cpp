// How a row looks as text, for error messages and the documentation.
#include <string>
#include <vector>

#include "sass/isa/rows/table.h"

namespace nervanagpu::sass {
namespace {

// Of more than `most` names the first two and the last.
std::string choice(std::span<const Enum> table, std::size_t most = std::string::npos) {
  bool optional = false;
  std::vector<std::string_view> names;
  for (const Enum& e : table) {
    if (e.tok == Tok::kNone) {
      optional = true;
    } else {
      names.push_back(tok_text(e.tok));
    }
  }
  std::string out;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names.size() > most && i == 2) {
      out += "|...";
      i = names.size() - 1;
    }
    out += (out.empty() ? "." : "|.") + std::string(names[i]);
  }
  if (optional) return "{" + out + "}";
  return table.size() == 1 ? out : "(" + out + ")";
}

std::string slot_text(const Slot& s) {
  std::string out;
  switch (s.type) {
    case SlotType::kGpr: out = "R"; break;
    case SlotType::kUGpr: out = "UR"; break;
    case SlotType::kPred: out = "P"; break;
    case SlotType::kUPred: out = "UP"; break;
    case SlotType::kBarrierReg: out = "B"; break;
    case SlotType::kImm:
      if (s.format == ImmFormat::kF16x2 || s.format == ImmFormat::kBF16x2) {
        out = "float, float";
      } else {
        out = s.format == ImmFormat::kF32 || s.format == ImmFormat::kF64            ? "float"
              : s.format == ImmFormat::kQuad || s.format == ImmFormat::kQuadSwapped ? "signs"
                                                                                    : "number";
      }
      break;
    case SlotType::kConst:
      out = s.bindless() ? "cx[UR][" : "c[bank][";
      if (!s.ureg.none() && !s.bindless()) out += "UR{+}";
      out += s.index.none() ? "offset]" : "{R+}offset]";
      break;
    case SlotType::kAddr:
      if (!s.desc.none()) out = "desc[UR]";
      out += "[";
      if (!s.index.none()) out += s.base_suffix == Tok::kNone ? "R" : "R." + std::string(tok_text(s.base_suffix));
      if (!s.sub_table.empty()) out += choice(s.sub_table);
      if (!s.ureg.none()) out += s.index.none() ? "UR" : "+UR";
      out += "{+offset}]";
      break;
    case SlotType::kLabel: out = "label"; break;
    case SlotType::kSpecialReg: out = "SR_name"; break;
    case SlotType::kScoreboard: out = "SB"; break;
    case SlotType::kSet: out = "{SB,...}"; break;
    case SlotType::kCc: out = "CC"; break;
    case SlotType::kDescriptor: out = std::string(s.word) + "[UR]"; break;
    case SlotType::kGroup: out = "gsb0"; break;
    case SlotType::kHiddenDesc: out = "{{desc=UR}}"; break;
    case SlotType::kWord: out = s.word; break;
    default: break;
  }
  if (s.abs_bit != kNoBit) out = "{|}" + out + "{|}";
  if (s.type != SlotType::kAddr && !s.sub_table.empty()) out += choice(s.sub_table);
  if (s.neg_bit != kNoBit) out = "{-}" + out;
  if (s.inv_bit != kNoBit) out = (s.type == SlotType::kPred || s.type == SlotType::kUPred ? "{!}" : "{~}") + out;
  return out;
}

}  // namespace

std::string form_text(const Row& row, std::size_t most) {
  std::string out(op_text(row.op));
  const auto mods = [&](int on) {
    std::string text;
    for (const Mod& m : row.mods()) {
      if (m.on == on) text += m.glued ? choice(m.table, most).substr(1) : choice(m.table, most);
    }
    return text;
  };
  out += mods(-1);
  bool first = true;
  for (std::size_t i = 0; i < row.slot_count; ++i) {
    const Slot& s = row.slot_array[i];
    const std::string text = slot_text(s) + mods(static_cast<int>(i));
    const std::string separator = first ? " " : ", ";
    out += s.show == Show::kAlways ? separator + text : (first ? " {" + text + ",}" : "{, " + text + "}");
    if (s.show == Show::kAlways) first = false;
  }
  return out;
}

}  // namespace nervanagpu::sass
