// Word -> Inst. A word is accepted only if some row reads it and writes back exactly the same bits.
#include <cstdio>

#include "sass/isa/codec/codec.h"
#include "sass/isa/rows/row.h"
#include "sass/isa/rows/table.h"

namespace nervanagpu::sass {
namespace {

std::int64_t number(const Slot& s, const Word& w) {
  const unsigned width = s.value.width();
  std::uint64_t v = s.value.get(w);
  if (s.type == SlotType::kImm && s.format == ImmFormat::kF32) return static_cast<std::int64_t>(v << (32 - width));
  if (s.type == SlotType::kImm && s.format == ImmFormat::kF64) return static_cast<std::int64_t>(v << (64 - width));
  if (s.type == SlotType::kImm && s.format == ImmFormat::kF16x2) {
    const unsigned half = width / 2;
    return static_cast<std::int64_t>((v >> half) << (32 - half) | (v & ((1ULL << half) - 1)) << (16 - half));
  }
  if (s.type == SlotType::kImm && s.format == ImmFormat::kQuadSwapped) return exchanged_pairs(v);
  if (s.type == SlotType::kImm && s.format == ImmFormat::kMagnitude) {
    const std::uint64_t sign = 1ULL << (width - 1);
    return (v & sign) != 0 ? -static_cast<std::int64_t>(v ^ sign) : static_cast<std::int64_t>(v);
  }
  if (s.is_signed && width < 64 && ((v >> (width - 1)) & 1) != 0) v |= ~std::uint64_t{0} << width;
  return static_cast<std::int64_t>(v << s.shift);
}

bool flag(std::uint8_t bit, const Word& w) {
  return bit != kNoBit && get_bits(w, bit, 1) != 0;
}

bool decode_mods(const Row& r, const Word& w, Inst& inst) {
  for (const Mod& m : r.mods()) {
    const std::uint64_t raw = m.field.get(w);
    const Enum* hit = nullptr;
    for (const Enum& e : m.table) {
      if (e.raw == raw) {
        hit = &e;
        break;
      }
    }
    if (hit == nullptr || !set_mod(inst, m.axis, hit->tok)) return false;
  }
  return true;
}

bool decode_slot(const Row& r, const Slot& s, const Word& w, std::uint64_t address, Operand& o) {
  o = blank_operand(s);
  o.neg = flag(s.neg_bit, w);
  o.abs = flag(s.abs_bit, w);
  o.inv = s.inv_bit != kNoBit && flag(s.inv_bit, w) != s.flip_inv;
  if (s.reuse_slot != Operand::kNoSlot) o.reuse = get_bits(w, 122 + s.reuse_slot, 1) != 0;
  if (!s.sub_table.empty()) {
    const std::uint64_t raw = s.sub.get(w);
    bool found = false;
    for (const Enum& e : s.sub_table) {
      if (e.raw == raw && !found) {
        o.sub = e.tok;
        found = true;
      }
    }
    if (!found) return false;
  }
  switch (s.type) {
    case SlotType::kGpr:
    case SlotType::kUGpr:
    case SlotType::kHiddenDesc:
    case SlotType::kPred:
    case SlotType::kUPred:
    case SlotType::kDescriptor:
    case SlotType::kBarrierReg: o.reg = static_cast<std::uint8_t>(s.value.get(w) ^ (s.reversed ? 7 : 0)); break;
    case SlotType::kLabel: o.imm = number(s, w) + static_cast<std::int64_t>(address + code_bytes(r.encoding)); break;
    case SlotType::kConst:
    case SlotType::kAddr:
      o.imm = number(s, w);
      o.bank = static_cast<std::uint8_t>(s.bank.get(w));
      if (!s.index.none()) o.reg = static_cast<std::uint8_t>(s.index.get(w));
      if (!s.ureg.none()) o.ureg = static_cast<std::uint8_t>(s.ureg.get(w));
      if (!s.desc.none()) o.desc = static_cast<std::uint8_t>(s.desc.get(w));
      break;
    case SlotType::kImm:
    case SlotType::kSpecialReg:
    case SlotType::kScoreboard:
    case SlotType::kGroup:
    case SlotType::kSet: o.imm = number(s, w); break;
    default: break;
  }
  return true;
}

bool decode_row(const Row& r, const Word& w, std::uint64_t address, Inst& inst) {
  inst = Inst{};
  inst.row = &r;
  inst.op = r.op;
  inst.control = get_control(w);
  if (r.has_guard) {
    inst.guard.pred = static_cast<std::uint8_t>(r.guard_field().get(w));
    inst.guard.inv = get_bits(w, r.guard_inv(), 1) != 0;
    inst.guard.uniform = r.uniform_guard;
  }
  if (!decode_mods(r, w, inst)) return false;
  inst.operand_count = r.slot_count;
  for (std::size_t i = 0; i < r.slot_count; ++i) {
    if (!decode_slot(r, r.slot_array[i], w, address, inst.operand_array[i])) return false;
    if (r.slot_array[i].tie != Tie::kNone) inst.operand_array[i].reg = tied_register(inst, i);
  }
  set_widths(inst);
  const Result<Word> back = encode_row(inst, address);
  return back.ok() && *back == w;
}

}  // namespace

Result<Inst> decode(Arch arch, const Word& word, std::uint64_t address) {
  Inst inst;
  for (const Row* r : rows_for(arch, word)) {
    if (((word ^ r->fixed) & r->fixed_mask).any()) continue;
    if (decode_row(*r, word, address, inst)) return inst;
  }
  char hex[64];
  if (info(arch).encoding == Encoding::k128) {
    std::snprintf(hex, sizeof hex, "0x%016llx 0x%016llx", static_cast<unsigned long long>(word.lo),
                  static_cast<unsigned long long>(word.hi));
  } else {
    std::snprintf(hex, sizeof hex, "0x%016llx", static_cast<unsigned long long>(word.lo));
  }
  return error(std::string("no known ") + std::string(info(arch).name) + " instruction has the bits " + hex);
}

}  // namespace nervanagpu::sass
