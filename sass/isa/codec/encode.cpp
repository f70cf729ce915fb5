// Inst -> Word by its row. Everything that a field cannot hold is refused by name.
#include <algorithm>
#include <bit>
#include <string>

#include "sass/isa/codec/codec.h"
#include "sass/isa/codec/raw_word.h"
#include "sass/isa/op_facts.h"
#include "sass/isa/rows/row.h"
#include "sass/isa/rows/table.h"

namespace nervanagpu::sass {
namespace {

struct Encoder {
  const Row& row;
  const Inst& inst;
  std::uint64_t address;
  Word word{};
  std::string problem{};             // first one found
  std::size_t operand = kNoOperand;  // being written
  std::size_t problem_operand = kNoOperand;

  void fail(std::string message) {
    if (!problem.empty()) return;
    problem = std::move(message);
    problem_operand = operand;
  }

  void put(const Field& f, std::uint64_t v, const char* what) {
    const unsigned width = f.width();
    if (width < 64 && (v >> width) != 0) {
      fail(std::string(what) + " " + std::to_string(v) + " does not fit in " + std::to_string(width) + " bits");
      return;
    }
    word = f.set(word, v);
  }

  void put_flag(std::uint8_t bit, bool on, const char* what) {
    if (bit == kNoBit) {
      if (on) fail(std::string("this operand takes no ") + what);
      return;
    }
    word = set_bits(word, bit, 1, on ? 1 : 0);
  }

  // A register group of `width` from `reg` must be aligned and lie below the zero register.
  void check_group(unsigned reg, unsigned width, unsigned zero, const char* prefix, unsigned most = 8) {
    if (reg == zero || width <= 1) return;
    // Groups of the engines stand at multiples of 8, but the sums of a warpgroup, as five to seven registers of a texture
    // fetch, at multiples of 4.
    const bool texture = zero == kRZ && width > 4 && width < 8;
    const unsigned align = texture ? 4 : std::min(most, std::bit_ceil(width));
    if (reg % align != 0) {
      fail(std::string(prefix) + std::to_string(reg) + " must be a multiple of " + std::to_string(align) + " here (" +
           std::to_string(width) + " registers)");
    } else if (reg + width > zero) {
      fail(std::string(prefix) + std::to_string(reg) + " leaves no room for " + std::to_string(width) + " registers");
    }
  }

  void put_number(const Slot& s, std::int64_t value, const char* what) {
    const unsigned width = s.value.width();
    std::int64_t v = value;
    if (s.type == SlotType::kImm && (s.format == ImmFormat::kF32 || s.format == ImmFormat::kF64)) {
      const unsigned whole = s.format == ImmFormat::kF32 ? 32 : 64;
      const unsigned drop = whole - width;
      const std::uint64_t u = static_cast<std::uint64_t>(value) & (whole == 64 ? ~0ULL : 0xffffffffULL);
      if (drop != 0 && (u & ((1ULL << drop) - 1)) != 0) {
        fail("this float needs more than the " + std::to_string(width) + " bits of a short immediate");
        return;
      }
      word = s.value.set(word, u >> drop);
      return;
    }
    if (s.type == SlotType::kImm && s.format == ImmFormat::kF16x2 && width < 32) {
      const unsigned half = width / 2;
      const auto u = static_cast<std::uint64_t>(value);
      const std::uint64_t rest = (1ULL << (16 - half)) - 1;
      if ((u & (rest << 16 | rest)) != 0) {
        fail("this half needs more than the " + std::to_string(half) + " bits that a short immediate has of it");
        return;
      }
      word = s.value.set(word, (u >> (32 - half)) << half | (u >> (16 - half) & ((1ULL << half) - 1)));
      return;
    }
    if (s.type == SlotType::kImm && s.format == ImmFormat::kQuadSwapped)
      v = exchanged_pairs(static_cast<std::uint64_t>(value));
    if (s.type == SlotType::kImm && s.format == ImmFormat::kMagnitude) {
      const std::uint64_t sign = 1ULL << (width - 1);
      const std::uint64_t magnitude = static_cast<std::uint64_t>(value < 0 ? -value : value);
      if (magnitude >= sign) {
        fail(std::string(what) + " " + std::to_string(value) + " does not fit in " + std::to_string(width - 1) +
             " bits and a sign");
        return;
      }
      word = s.value.set(word, magnitude | (value < 0 ? sign : 0));
      return;
    }
    if (s.shift != 0) {
      if ((v & ((std::int64_t{1} << s.shift) - 1)) != 0) {
        fail(std::string(what) + " must be a multiple of " + std::to_string(1 << s.shift));
        return;
      }
      v >>= s.shift;
    }
    const std::int64_t span = std::int64_t{1} << (width - (s.is_signed ? 1 : 0));
    const std::int64_t low = s.is_signed ? -span : 0;
    if (width < 63 && (v < low || v >= span)) {
      fail(std::string(what) + " " + std::to_string(value) + " is outside " + std::to_string(low * (1 << s.shift)) +
           ".." + std::to_string((span - 1) * (1 << s.shift)));
      return;
    }
    word = s.value.set(word, static_cast<std::uint64_t>(v));
  }

  void put_mod(const Mod& m) {
    const Tok tok = inst.mod(m.axis);
    for (const Enum& e : m.table) {
      if (e.tok == tok) {
        word = m.field.set(word, e.raw);
        return;
      }
    }
    fail("no ." + std::string(tok_text(tok)) + " here (" + std::string(axis_text(m.axis)) + ")");
  }

  void put_slot(const Slot& s, const Operand& o) {
    put_flag(s.neg_bit, o.neg, "minus sign");
    put_flag(s.abs_bit, o.abs, "absolute value");
    put_flag(s.inv_bit, o.inv != s.flip_inv, "inversion");
    if (o.reuse && s.reuse_slot == Operand::kNoSlot) fail("this operand has no reuse slot");
    if (!s.sub_table.empty()) {
      bool found = false;
      for (const Enum& e : s.sub_table) {
        if (e.tok != o.sub || found) continue;
        word = s.sub.set(word, e.raw);
        found = true;
      }
      if (!found) fail("no ." + std::string(tok_text(o.sub)) + " on this operand");
    } else if (o.sub != Tok::kNone) {
      fail("no ." + std::string(tok_text(o.sub)) + " on this operand");
    }
    switch (s.type) {
      case SlotType::kGpr:
        if (s.tie != Tie::kNone) break;
        check_group(o.reg, width_of(s.width, inst), kRZ, "R", s.width == Width::kGroupProduct ? 4 : 8);
        put(s.value, o.reg, "register");
        break;
      case SlotType::kGroup:
        if (o.imm != 0 && (o.imm != kNoGroup || s.show == Show::kAlways)) fail("gsb0 is the only group");
        put_number(s, o.imm, "group");
        break;
      case SlotType::kDescriptor:
      case SlotType::kUGpr:
      case SlotType::kHiddenDesc:
        check_group(o.reg, width_of(s.width, inst), kURZ, "UR");
        put(s.value, o.reg, "uniform register");
        break;
      case SlotType::kPred:
      case SlotType::kUPred: put(s.value, o.reg ^ (s.reversed ? 7u : 0u), "predicate"); break;
      case SlotType::kBarrierReg: put(s.value, o.reg, "barrier register"); break;
      case SlotType::kSpecialReg:
        if (o.imm < 0 || special_register_name(row.encoding, static_cast<unsigned>(o.imm)).empty()) {
          fail("no special register has the number " + std::to_string(o.imm));
        }
        put_number(s, o.imm, "special register");
        break;
      case SlotType::kScoreboard:
        if (o.imm > 5) fail("scoreboards are SB0..SB5");
        put_number(s, o.imm, "scoreboard");
        break;
      case SlotType::kImm:
      case SlotType::kSet: put_number(s, o.imm, "immediate"); break;
      case SlotType::kConst:
        put(s.bank, o.bank, "constant bank");
        put_number(s, o.imm, "constant offset");
        if (!s.index.none()) {
          put(s.index, o.reg, "register");
        } else if (o.reg != kRZ) {
          fail("no index register on this constant");
        }
        if (!s.ureg.none()) {
          check_group(o.ureg, width_of(s.ureg_width, inst), kURZ, "UR");
          put(s.ureg, o.ureg, "uniform register");
        }
        break;
      case SlotType::kAddr:
        if (o.reg == kRZ && o.sub != Tok::kNone && !s.index.none())
          fail("RZ takes no ." + std::string(tok_text(o.sub)));
        put_number(s, o.imm, "offset");
        if (!s.index.none()) {
          check_group(o.reg, width_of(s.base_width, inst), kRZ, "R");
          put(s.index, o.reg, "register");
        }
        if (!s.ureg.none()) {
          check_group(o.ureg, width_of(s.ureg_width, inst), kURZ, "UR");
          put(s.ureg, o.ureg, "uniform register");
        }
        if (!s.desc.none()) {
          check_group(o.desc, 2, kURZ, "UR");
          put(s.desc, o.desc, "uniform register");
        }
        break;
      case SlotType::kLabel: {
        const auto next = static_cast<std::int64_t>(address + code_bytes(row.encoding));
        put_number(s, o.imm - next, "branch distance");
        break;
      }
      default: break;
    }
  }
};

}  // namespace

Result<Word> encode_row(const Inst& inst, std::uint64_t address, std::size_t* bad_operand) {
  const Row& r = *inst.row;
  Encoder e{.row = r, .inst = inst, .address = address};
  e.word = r.fixed;
  Control control = inst.control;
  if (r.has_guard) {
    e.put(r.guard_field(), inst.guard.pred, "predicate");
    e.word = set_bits(e.word, r.guard_inv(), 1, inst.guard.inv ? 1 : 0);
    if (inst.guard.uniform != r.uniform_guard && (inst.guard.pred != kPT || inst.guard.inv)) {
      e.fail(r.uniform_guard ? "the guard must be a uniform predicate (@UP0)" : "the guard must be a predicate (@P0)");
    }
  } else if (inst.guard.pred != kPT || inst.guard.inv) {
    e.fail("takes no guard");
  }
  for (const Mod& m : r.mods()) e.put_mod(m);
  std::uint8_t reusable = 0;
  for (std::size_t i = 0; i < r.slot_count; ++i) {
    const Slot& s = r.slot_array[i];
    const Operand& o = inst.operand_array[i];
    e.operand = i;
    e.put_slot(s, o);
    // nvdisasm writes one carry-out only as the first.
    if (s.show == Show::kWithNext && o.reg == kPT && inst.operand_array[i + 1].reg != kPT) {
      e.fail("a single carry-out stands first");
    }
    if (s.tie == Tie::kNext && o.reg == kRZ) e.fail("RZ has no register after it");
    if (s.tie != Tie::kNone && o.reg != tied_register(inst, i)) {
      e.fail(s.tie == Tie::kFirst
                 ? "the last register must be the first one again"
                 : "this register must follow the one before: R" + std::to_string(tied_register(inst, i)));
    }
    if (s.reuse_slot == Operand::kNoSlot) continue;
    reusable |= static_cast<std::uint8_t>(1u << s.reuse_slot);
    if (o.reuse) control.reuse |= static_cast<std::uint8_t>(1u << s.reuse_slot);
  }
  e.operand = kNoOperand;
  // Compilers leave some on DEPBAR and on what the texture unit does, where they mean nothing.
  const bool idle = r.op == Op::DEPBAR || by_texture_unit(r.op);
  if ((control.reuse & ~reusable) != 0 && !idle) e.fail("a reuse flag stands on a slot without a register");
  if (control.stall > 15) e.fail("stall " + std::to_string(control.stall) + " is above 15");
  if (control.write_sb > 5 && control.write_sb != kNoScoreboard) e.fail("write scoreboard must be 0..5");
  if (control.read_sb > 5 && control.read_sb != kNoScoreboard) e.fail("read scoreboard must be 0..5");
  if (control.wait > 63) e.fail("wait mask has scoreboards above 5");
  if (r.traits.no_scoreboards && (control.write_sb != kNoScoreboard || control.read_sb != kNoScoreboard)) {
    e.fail("sets no scoreboard: its group is awaited by WARPGROUP.DEPBAR");
  }
  if (r.never.any() && (e.word & r.never) == r.never) e.fail("these signs do not go together");
  if (bad_operand != nullptr) *bad_operand = e.problem_operand;
  if (!e.problem.empty()) return error(std::string(op_text(r.op)) + ": " + e.problem);
  return put_control(e.word, control);
}

Result<Word> encode(Arch arch, const Inst& inst, std::uint64_t address) {
  if (inst.row == nullptr) return error("instruction without a table row: " + std::string(op_text(inst.op)));
  if ((inst.row->archs & mask_of(arch)) == 0) {
    return error(std::string(op_text(inst.op)) + ": this form does not exist on " + std::string(info(arch).name));
  }
  if (is_raw_word(inst)) return encode_raw_word(arch, inst);
  if (inst.operand_count != inst.row->slot_count) {
    return error(std::string(op_text(inst.op)) + ": needs " + std::to_string(inst.row->slot_count) + " operands, got " +
                 std::to_string(inst.operand_count));
  }
  return encode_row(inst, address);
}

}  // namespace nervanagpu::sass
