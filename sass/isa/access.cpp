#include "sass/isa/access.h"

#include "sass/isa/latency.h"
#include "sass/isa/op_facts.h"
#include "sass/isa/rows/row.h"

namespace nervanagpu::sass {
namespace {

// Starts an engine that reads or writes shared memory, or lets somebody go on who may.
bool publishes(const Inst& inst) {
  const Unit u = unit(inst);
  const bool engine = u == Unit::kGmma || u == Unit::kTma;
  return engine ? (memory_of(inst.op).either() & kSpaceShared) != 0 : inst.row->traits.publishes;
}

struct Collector {
  Accesses out{};
  bool late = false;

  void add(RegFile file, unsigned reg, unsigned count, bool write, bool late_read, unsigned operand,
           bool guard = false) {
    if (out.count == out.items.size()) return;  // no row can have this many: static tables are tested for it
    Access& a = out.items[out.count++];
    a.file = file;
    a.first = static_cast<std::uint8_t>(reg);
    a.count = static_cast<std::uint8_t>(count);
    a.write = write;
    a.late = late_read && !write;
    a.guard = guard;
    a.operand = static_cast<std::uint8_t>(operand);
  }

  // The predicates that an immediate mask (the last operand) chooses, or the whole file. R2P writes the file as a whole:
  // those outside its mask are read and written back, so an older write of theirs must have arrived (shown on the chip:
  // a compare right before an R2P of other predicates is lost).
  void predicates(RegFile file, const Operand& mask, bool write, unsigned operand) {
    const unsigned chosen = mask.kind == OperandKind::kImm ? static_cast<unsigned>(mask.imm) & 0x7f : 0x7f;
    if (write && chosen != 0x7f) {
      add(file, 0, 7, false, false, operand);
      out.items[out.count - 1].carried = true;
    }
    for (unsigned p = 0; p < 7;) {
      unsigned end = p;
      while (end < 7 && (chosen >> end & 1) != 0) ++end;
      if (end > p) add(file, p, end - p, write, false, operand);
      p = end + 1;
    }
  }

  // Stores, then MEMBAR, then FENCE.VIEW.ASYNC, then what tells the engines or other warps to go on: each must have taken
  // effect before the next issues. A MEMBAR of the CTA alone says so by its read scoreboard, a fence by its write
  // scoreboard; the wider MEMBARs hold the warp themselves.
  void order(const Inst& inst) {
    if (inst.row->encoding != Encoding::k128) return;
    if (inst.op == Op::MEMBAR) {
      const Tok scope = inst.mod(Axis::kScope);
      if (scope == Tok::ALL_CTA || scope == Tok::SC_CTA) add(RegFile::kOrder, kOrderOfStores, 1, false, true, 255);
    } else if (inst.op == Op::FENCE) {
      add(RegFile::kOrder, kOrderOfStores, 1, true, false, 255);
      add(RegFile::kOrder, kViewOfEngines, 1, true, false, 255);
    } else if (publishes(inst)) {
      add(RegFile::kOrder, kViewOfEngines, 1, false, false, 255);
    }
  }

  void reg(RegFile file, unsigned zero, unsigned reg, unsigned count, Role role, bool late_read, unsigned operand,
           bool guard) {
    if (reg == zero || reg == kNoReg || count == 0) return;
    if (role != Role::kDef) add(file, reg, count, false, late_read, operand, guard);
    if (role != Role::kUse) add(file, reg, count, true, false, operand, false);
  }
};

}  // namespace

Accesses accesses(const Inst& inst) {
  Collector c;
  const bool branch = inst.row->traits.branch || inst.row->traits.ends;
  const bool uniform_late = inst.row->traits.late_uniform;
  if (inst.guard.pred != kPT) {
    c.add(inst.guard.uniform ? RegFile::kUPred : RegFile::kPred, inst.guard.pred, 1, false, false, 255, true);
  }
  for (std::size_t i = 0; i < inst.operand_count; ++i) {
    const Slot& s = inst.row->slot_array[i];
    const Operand& o = inst.operand_array[i];
    const auto n = static_cast<unsigned>(i);
    switch (o.kind) {
      case OperandKind::kGpr: c.reg(RegFile::kGpr, kRZ, o.reg, o.width, o.role, s.late, n, false); break;
      case OperandKind::kUGpr:
        if (o.reg != kURZ)
          c.reg(RegFile::kUGpr, kURZ, o.reg + s.skip, o.width - s.skip, o.role, uniform_late, n, false);
        break;
      case OperandKind::kPred: c.reg(RegFile::kPred, kPT, o.reg, o.width, o.role, s.late, n, branch); break;
      case OperandKind::kUPred: c.reg(RegFile::kUPred, kPT, o.reg, o.width, o.role, false, n, branch); break;
      case OperandKind::kBarrierReg: c.reg(RegFile::kBarrier, 255, o.reg, 1, o.role, false, n, false); break;
      case OperandKind::kConst:
        c.reg(RegFile::kGpr, kRZ, o.reg, 1, Role::kUse, s.late, n, false);
        if (o.ureg != kNoReg) c.reg(RegFile::kUGpr, kURZ, o.ureg, o.uwidth, Role::kUse, uniform_late, n, false);
        break;
      case OperandKind::kAddr:
        c.reg(RegFile::kGpr, kRZ, o.reg, o.width, Role::kUse, s.late, n, false);
        if (o.ureg != kNoReg) c.reg(RegFile::kUGpr, kURZ, o.ureg, o.uwidth, Role::kUse, uniform_late, n, false);
        if (o.desc != kNoReg) c.reg(RegFile::kUGpr, kURZ, o.desc, 2, Role::kUse, uniform_late, n, false);
        break;
      case OperandKind::kCc:
        if (o.role == Role::kBoth) c.add(RegFile::kCc, 0, 1, false, false, n);
        // A branch that names no condition goes on CC.T, which always holds.
        if (s.sub_table.empty() || o.sub != Tok::kNone)
          c.add(RegFile::kCc, 0, 1, o.role != Role::kUse, false, n, branch);
        break;
      default: break;
    }
    if (s.type == SlotType::kWord && (s.word == "PR" || s.word == "UPR")) {
      c.predicates(s.word == "PR" ? RegFile::kPred : RegFile::kUPred, inst.operand_array[inst.operand_count - 1],
                   s.role != Role::kUse, n);
    }
    if (o.sub == Tok::CC) c.add(RegFile::kCc, 0, 1, true, false, n);  // R4.CC
  }
  const Tok extended = inst.mod(Axis::kExtended);
  if (inst.row->encoding == Encoding::k64 && extended != Tok::kNone && extended != Tok::HI) {
    c.add(RegFile::kCc, 0, 1, false, false, 255);  // .X adds the carry that an earlier R4.CC left
  }
  c.order(inst);
  if (inst.row->traits.ready == Ready::kGroup) {
    for (unsigned i = 0; i < c.out.count; ++i) c.out.items[i].group = c.out.items[i].file == RegFile::kGpr;
  }
  return c.out;
}

Unit unit(const Inst& inst) {
  return inst.row->traits.unit;
}
Ready ready(const Inst& inst) {
  return inst.row->traits.ready;
}
bool reads_late(const Inst& inst) {
  return inst.row->traits.late;
}
bool ends_block(const Inst& inst) {
  return inst.row->traits.ends;
}
bool is_branch(const Inst& inst) {
  return inst.row->traits.branch;
}

}  // namespace nervanagpu::sass
