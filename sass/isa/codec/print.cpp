// Inst -> nvdisasm's text.
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "sass/half.h"
#include "sass/isa/codec/codec.h"
#include "sass/isa/codec/hex.h"
#include "sass/isa/codec/literal.h"
#include "sass/isa/codec/raw_word.h"
#include "sass/isa/rows/row.h"
#include "sass/isa/rows/table.h"

namespace nervanagpu::sass {
namespace {

std::string signed_hex(std::int64_t v) {
  return v < 0 ? "-" + hex(std::uint64_t{0} - static_cast<std::uint64_t>(v)) : hex(static_cast<std::uint64_t>(v));
}

std::string nan_or(double v, bool negative, bool canonical, std::uint64_t raw) {
  if (std::isnan(v)) return canonical ? (negative ? "-QNAN" : "+QNAN") : hex(raw);
  return float_text(v);
}

std::string reg(const char* prefix, unsigned n, unsigned zero, const char* zero_name) {
  return n == zero ? zero_name : prefix + std::to_string(n);
}
std::string gpr_text(unsigned n) {
  return reg("R", n, kRZ, "RZ");
}
std::string ugpr_text(unsigned n) {
  return reg("UR", n, kURZ, "URZ");
}

std::string dotted(Tok t) {
  return t == Tok::kNone ? std::string() : "." + std::string(tok_text(t));
}

std::string address_text(const Slot& s, const Operand& o) {
  std::string out;
  if (!s.desc.none()) out += "desc[" + ugpr_text(o.desc) + "]";
  out += "[";
  bool any = false;
  const bool uniform = !s.ureg.none();
  if (!s.index.none() &&
      (o.reg != kRZ || (!uniform && o.imm == 0) || o.sub != Tok::kNone || !s.desc.none() || s.base_always)) {
    out += gpr_text(o.reg);
    out += dotted(o.sub);
    if (o.reg != kRZ || !s.desc.none() || s.base_always) out += dotted(s.base_suffix);
    any = true;
  }
  if (uniform) {
    out += (any ? "+" : "") + ugpr_text(o.ureg);
    any = true;
  }
  const std::uint64_t field = (1ULL << (s.value.width() + s.shift)) - 1;
  if (!any && !s.signed_absolute) return out + hex(static_cast<std::uint64_t>(o.imm) & field) + "]";
  if (o.imm != 0 || !any) out += (any ? "+" : "") + signed_hex(o.imm);
  return out + "]";
}

std::string constant_text(const Slot& s, const Operand& o, bool k64) {
  // A constant of which a part can be chosen is written with a blank.
  const char* const open = s.sub_table.empty() ? "][" : "] [";
  std::string out = s.bindless() ? "cx[" + ugpr_text(o.ureg) + open : "c[" + hex(o.bank) + open;
  bool any = false;
  if (!s.index.none() && (o.reg != kRZ || (o.imm == 0 && !k64))) {
    out += gpr_text(o.reg);
    any = true;
  }
  if (!s.ureg.none() && !s.bindless()) {
    out += ugpr_text(o.ureg);
    any = true;
  }
  if (o.imm != 0 || !any) out += (any ? "+" : "") + signed_hex(o.imm);
  return out + "]";
}

std::string set_text(std::int64_t mask) {
  std::string out;
  for (int i = 63; i >= 0; --i) {
    if ((mask >> i & 1) != 0) out += (out.empty() ? "{" : ",") + std::to_string(i);
  }
  return out + "}";
}

std::string operand_text(const Inst& inst, const Slot& s, const Operand& o) {
  std::string out;
  switch (s.type) {
    case SlotType::kGpr: out = gpr_text(o.reg); break;
    case SlotType::kUGpr: out = ugpr_text(o.reg); break;
    case SlotType::kPred: out = reg("P", o.reg, kPT, "PT"); break;
    case SlotType::kUPred: out = reg("UP", o.reg, kPT, "UPT"); break;
    case SlotType::kBarrierReg: out = "B" + std::to_string(o.reg); break;
    case SlotType::kImm:
      out = imm_text(s, o.imm);
      // Names of values keep a blank: +INF .NEG, -0.0 .ABS.
      if ((o.neg || o.abs || o.sub != Tok::kNone) && (out.ends_with("INF") || out.ends_with("NAN") || out == "-0.0"))
        out += " ";
      if (o.neg) out += ".NEG";
      if (o.abs) out += ".ABS";
      if (o.inv) out += ".INV";
      return out + dotted(o.sub);
    case SlotType::kConst: out = constant_text(s, o, inst.row->encoding == Encoding::k64); break;
    case SlotType::kAddr: return address_text(s, o);
    case SlotType::kLabel: return signed_hex(o.imm);
    case SlotType::kScoreboard: return "SB" + std::to_string(o.imm);
    case SlotType::kSet: return set_text(o.imm);
    case SlotType::kSpecialReg:
      return std::string(special_register_name(inst.row->encoding, static_cast<unsigned>(o.imm)));
    case SlotType::kDescriptor: return std::string(s.word) + "[" + ugpr_text(o.reg) + "]";
    case SlotType::kGroup: return "gsb" + std::to_string(o.imm);
    case SlotType::kWord: return std::string(s.word);
    case SlotType::kHiddenDesc: return "{desc=" + ugpr_text(o.reg) + "}";
    case SlotType::kToken: return std::string(tok_text(o.sub));
    case SlotType::kCc: return "CC" + dotted(o.sub);
    default: break;
  }
  const bool k64 = inst.row->encoding == Encoding::k64;
  if (k64) out += dotted(o.sub);
  // Scalar parts belong to the register, packed ones to the operand, but only of vector registers: |R1.H1|, |R1|.H1_H1.
  const bool inside = !k64 && (s.type != SlotType::kGpr || o.sub == Tok::H1 || o.sub == Tok::B1 || o.sub == Tok::B2 ||
                               o.sub == Tok::B3);
  if (inside) out += dotted(o.sub);
  if (o.abs) out = "|" + out + "|";
  if (!k64 && o.reuse && !inst.control.yield) out += ".reuse";
  if (!k64 && !inside) out += dotted(o.sub);
  if (k64 && o.reuse) out += ".reuse";
  if (o.neg) out = "-" + out;
  if (o.inv) out = (s.type == SlotType::kPred || s.type == SlotType::kUPred ? "!" : "~") + out;
  return out;
}

bool holds_default(const Slot& s, const Operand& o) {
  const Operand blank = blank_operand(s);
  return o.reg == blank.reg && o.inv == blank.inv && o.neg == blank.neg && o.imm == blank.imm && o.sub == blank.sub;
}

}  // namespace

std::string float_text(double v) {
  if (v == 0 && std::signbit(v)) return "-0.0";
  if (std::isinf(v)) return v < 0 ? "-INF" : "+INF";
  char buf[64];
  const auto format = std::fabs(v) >= 1e9 ? std::chars_format::scientific : std::chars_format::general;
  const auto end = std::to_chars(buf, buf + sizeof buf, v, format, 20);
  return {buf, end.ptr};
}

std::string imm_text(const Slot& s, std::int64_t value) {
  switch (s.format) {
    case ImmFormat::kHex: return hex(static_cast<std::uint64_t>(value));
    case ImmFormat::kMagnitude:
    case ImmFormat::kSigned: return signed_hex(value);
    case ImmFormat::kDecimal: return std::to_string(value);
    case ImmFormat::kQuadSwapped:
    case ImmFormat::kQuad: {
      std::string text;
      for (int lane = 0; lane < 4; ++lane) text += kQuadLanes[value >> 2 * (3 - lane) & 3];
      return text;
    }
    case ImmFormat::kF32: {
      const auto raw = static_cast<std::uint32_t>(value);
      const auto ones = static_cast<std::uint32_t>(0x7fffffffULL >> (32 - s.value.width()) << (32 - s.value.width()));
      return nan_or(static_cast<double>(std::bit_cast<float>(raw)), (raw >> 31) != 0,
                    (raw >> 31) != 0 ? raw == 0xffc00000 : raw == ones, raw);
    }
    case ImmFormat::kF64: {
      const auto raw = static_cast<std::uint64_t>(value);
      const std::uint64_t ones = ~(1ULL << 63) >> (64 - s.value.width()) << (64 - s.value.width());
      return nan_or(std::bit_cast<double>(raw), (raw >> 63) != 0,
                    (raw >> 63) != 0 ? raw == 0xfff8000000000000ULL : raw == ones, raw);
    }
    case ImmFormat::kF16x2:
    case ImmFormat::kBF16x2: {
      const auto one = [&](std::uint32_t h) {
        const double v = s.format == ImmFormat::kF16x2 ? static_cast<double>(from_half(static_cast<std::uint16_t>(h)))
                                                       : static_cast<double>(std::bit_cast<float>(h << 16));
        return nan_or(v, (h >> 15) != 0, h == 0x7fff || h == (s.format == ImmFormat::kF16x2 ? 0xfe00u : 0xffc0u), h);
      };
      return one(static_cast<std::uint32_t>(value >> 16 & 0xffff)) + ", " +
             one(static_cast<std::uint32_t>(value & 0xffff));
    }
  }
  return {};
}

std::string print(const Inst& inst) {
  if (inst.row == nullptr) return "?";
  if (is_raw_word(inst)) return print_raw_word(inst);
  std::string out;
  const Guard& g = inst.guard;
  if (g.pred != kPT || g.inv) {
    const bool u = inst.row->uniform_guard;
    out = std::string("@") + (g.inv ? "!" : "") + reg(u ? "UP" : "P", g.pred, kPT, u ? "UPT" : "PT") + " ";
  }
  out += op_text(inst.op);
  out += dotted(alias_token(inst));
  const auto modifiers = [&](int on) {
    for (std::size_t i = 0; i < inst.modifier_count; ++i) {
      const Mod& m = inst.row->mod_array[i];
      if (m.on == on) out += m.glued ? tok_text(inst.modifier_array[i].tok) : dotted(inst.modifier_array[i].tok);
    }
  };
  modifiers(-1);
  const char* separator = " ";
  const std::span<const Slot> slots = inst.row->slots();
  const std::span<const Operand> operands = inst.operands();
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const Slot& s = slots[i];
    const bool blank = holds_default(s, operands[i]);
    if (s.show == Show::kUnlessDefault && blank) continue;
    if (s.show == Show::kWithNext && blank && holds_default(slots[i + 1], operands[i + 1])) continue;
    if (s.show == Show::kIfExtended && blank && inst.mod(Axis::kExtended) == Tok::kNone) continue;
    out += (s.glued ? " " : separator) + operand_text(inst, s, operands[i]);
    modifiers(static_cast<int>(i));
    separator = ", ";
  }
  return out;
}

}  // namespace nervanagpu::sass
