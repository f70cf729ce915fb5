// Registers of which only some bytes were written: which bytes an instruction reads, and what PRMT hands on of them.
#include <bit>

#include "sass/emulate/checked/check.h"
#include "sass/emulate/lanes/lanes.h"
#include "sass/isa/access.h"
#include "sass/isa/op_facts.h"

namespace nervanagpu::sass::emulate {
namespace {

constexpr std::uint8_t kAllBytes = 15, kLowHalf = 3, kHighHalf = 12;

// Of LOP3.LUT d, a, mask, RZ, 0xc0: the bytes that the mask keeps.
std::uint8_t kept_by_mask(const Inst& inst) {
  const Operand* numbers[2] = {};
  unsigned count = 0;
  for (const Operand& o : inst.operands()) {
    if (o.kind != OperandKind::kImm) continue;
    if (count == 2) return kAllBytes;
    numbers[count++] = &o;
  }
  if (count != 2 || numbers[1]->imm != 0xc0) return kAllBytes;
  std::uint8_t kept = 0;
  for (unsigned b = 0; b < 4; ++b) {
    if ((numbers[0]->imm >> (8 * b) & 0xff) != 0) kept |= static_cast<std::uint8_t>(1u << b);
  }
  return kept;
}

}  // namespace

std::uint8_t bytes_read(const Inst& inst, const Operand& o) {
  if (o.kind != OperandKind::kGpr || o.role != Role::kUse) return kAllBytes;
  if (unit(inst) == Unit::kHalf) {
    return o.sub == Tok::H0_H0 ? kLowHalf : o.sub == Tok::H1_H1 ? kHighHalf : kAllBytes;
  }
  if (memory_of(inst.op).writes != 0 && memory_of(inst.op).reads == 0) {  // a store's data
    if (inst.has(Axis::kSize, Tok::U8) || inst.has(Axis::kSize, Tok::S8)) return 1;
    if (inst.has(Axis::kSize, Tok::U16) || inst.has(Axis::kSize, Tok::S16)) return kLowHalf;
  }
  return inst.op == Op::LOP3 ? kept_by_mask(inst) : kAllBytes;
}

const Operand* selector_of(const Inst& inst) {
  unsigned source = 0;
  for (const Operand& o : inst.operands()) {
    if (o.role != Role::kDef && source++ == 1) return &o;
  }
  return nullptr;
}

void find_permuted(const Inst& inst, CheckOp& op) {
  if (inst.op != Op::PRMT || inst.mod(Axis::kMode) != Tok::kNone) return;
  op.permutes = true;
  const Operand* const selector = selector_of(inst);
  for (const Operand& o : inst.operands()) {
    if (o.role == Role::kDef || o.kind != OperandKind::kGpr || o.reg == kRZ || &o == selector) continue;
    op.permuted[&o < selector ? 0 : 1] = o.reg;
  }
}

std::uint32_t Checker::unwritten_lanes(const WarpState& s, const CheckOp::Use& use, std::uint32_t lanes) {
  std::uint32_t missing = lanes & ~s.tag[use.tag].lanes;
  if (use.tag >= tags::kUGpr || missing == 0) return missing;
  std::uint32_t written = kAllLanes;
  for (unsigned b = 0; b < 4; ++b) {
    if ((use.bytes >> b & 1) != 0) written &= s.bytes[use.tag][b];
  }
  return missing & ~written;
}

// Lanes in which each byte of the result comes from one that was written.
Checker::Permuted Checker::permuted(const WarpState& s, Warp& w, const Uop* u, const CheckOp& op) {
  Permuted out;
  for (const std::uint16_t tag : op.permuted) {
    if (tag != CheckOp::kNoTag && (w.exec & ~s.tag[tag].lanes) != 0 && out.blamed == CheckOp::kNoTag) out.blamed = tag;
  }
  if (out.blamed == CheckOp::kNoTag) return out;
  out.bytes.fill(w.exec);
  const std::uint32_t* const selector = fetch(w, u->x->src[1], 1);
  for (unsigned b = 0; b < 4; ++b) {
    for (std::uint32_t left = w.exec; left != 0; left &= left - 1) {
      const auto l = static_cast<unsigned>(std::countr_zero(left));
      const unsigned from = selector[l] >> (4 * b) & 7;
      const std::uint16_t tag = op.permuted[from / 4];
      if (tag == CheckOp::kNoTag || ((s.tag[tag].lanes | s.bytes[tag][from % 4]) >> l & 1) != 0) continue;
      out.bytes[b] &= ~(1u << l);
    }
  }
  return out;
}

// The result of a PRMT has been noted as written; of its bytes only those of `p` were. If none was, that is a finding.
void Checker::note_permuted(WarpState& s, const Warp& w, const Uop* u, const CheckOp& op, const Permuted& p,
                            std::uint32_t lanes) {
  const auto& [x, y, z, t] = p.bytes;
  const std::uint32_t none = lanes & ~(x | y | z | t);
  const std::uint32_t partly = lanes & ~none & ~(x & y & z & t);
  if (none != 0 && !again(u, "uninitialised register", w)) {
    found(w, u, static_cast<unsigned>(std::countr_zero(none)), "uninitialised register",
          tags::name(p.blamed) + " was never written");
  }
  for (const CheckOp::Def& def : op.defs) {
    s.tag[def.tag].lanes &= ~partly;
    for (unsigned b = 0; b < 4; ++b) s.bytes[def.tag][b] = (s.bytes[def.tag][b] & ~lanes) | p.bytes[b];
  }
}

}  // namespace nervanagpu::sass::emulate
