#include "sass/asm/schedule/reuse.h"

namespace nervanagpu::sass {
namespace {

bool has_slots(const Inst& inst) {
  if (inst.op == Op::WORD) return true;  // perhaps
  for (const Operand& o : inst.operands()) {
    if (o.kind == OperandKind::kGpr && o.slot != Operand::kNoSlot) return true;
  }
  return false;
}

bool writes(const Accesses& touched, unsigned reg) {
  for (const Access& a : touched) {
    if (a.write && a.file == RegFile::kGpr && reg >= a.first && reg < a.first + a.count) return true;
  }
  return false;
}

// Operand `o` of line i will be read again from the cache by line j.
bool reads_again(const Operand& o, const Inst& next) {
  for (const Operand& n : next.operands()) {
    if (n.kind == OperandKind::kGpr && n.slot == o.slot && n.reg == o.reg && n.width == o.width) return true;
  }
  return false;
}

}  // namespace

void assign_reuse(Program& program, const Flow& flow, const std::vector<Accesses>& touched) {
  constexpr std::uint32_t kReach =
      3;  // lines without operand slots (loads, uniform operations) do not disturb the cache
  std::vector<Line>& lines = program.lines;
  for (std::uint32_t i = 0; i + 1 < lines.size(); ++i) {
    Inst& inst = lines[i].inst;
    for (Operand& o : inst.operands()) {
      if (o.reuse && o.slot != Operand::kNoSlot) inst.control.reuse |= static_cast<std::uint8_t>(1u << o.slot);
    }
    if (lines[i].pinned.reuse || inst.control.yield || inst.op == Op::DMMA) continue;  // reads late, from the registers
    std::uint32_t next = i + 1;
    while (next < lines.size() && next <= i + kReach && flow.block_of[next] == flow.block_of[i] &&
           !has_slots(lines[next].inst) && !lines[next].inst.control.yield) {
      ++next;
    }
    if (next >= lines.size() || next > i + kReach || flow.block_of[next] != flow.block_of[i]) continue;
    for (Operand& o : inst.operands()) {
      if (o.kind != OperandKind::kGpr || o.slot == Operand::kNoSlot || o.role != Role::kUse || o.reg == kRZ) continue;
      if (!reads_again(o, lines[next].inst)) continue;
      bool written = false;
      for (std::uint32_t k = i; k < next; ++k) {
        for (unsigned r = 0; r < o.width; ++r) written |= writes(touched[k], o.reg + r);
      }
      if (written) continue;
      o.reuse = true;
      inst.control.reuse |= static_cast<std::uint8_t>(1u << o.slot);
    }
  }
}

}  // namespace nervanagpu::sass
