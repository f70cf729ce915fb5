// What checked mode needs to know of an instruction, from the row table and the latency table.
#include <algorithm>

#include "sass/emulate/checked/check.h"
#include "sass/isa/access.h"
#include "sass/isa/op_facts.h"

namespace nervanagpu::sass::emulate {
namespace {

int tag_base(RegFile file) {
  switch (file) {
    case RegFile::kGpr: return tags::kGpr;
    case RegFile::kUGpr: return tags::kUGpr;
    case RegFile::kPred: return tags::kPred;
    case RegFile::kUPred: return tags::kUPred;
    case RegFile::kCc: return tags::kCc;
    default: return -1;
  }
}

// The most cycles that any reader of this result waits.
std::uint8_t settle_time(Arch arch, Producer p) {
  unsigned most = 0;
  for (unsigned c = 0; c < static_cast<unsigned>(Consumer::kCount); ++c) {
    most = std::max<unsigned>(most, raw_gap(arch, p, static_cast<Consumer>(c)).need);
  }
  for (unsigned q = 0; q < static_cast<unsigned>(Producer::kCount); ++q) {
    most = std::max<unsigned>(most, waw_gap(arch, p, static_cast<Producer>(q)).need);
  }
  return static_cast<std::uint8_t>(most);
}

// Stall cycles as the chip counts them. sm_70 and later: 12 and more only with the yield bit; 0 with it drains the
// pipes. Before: as written; 0 issues the next instruction in the same cycle.
std::uint8_t effective_stall(Arch arch, const Control& c) {
  if (info(arch).encoding == Encoding::k64) return c.stall;
  if (c.yield) return c.stall == 0 ? kDrain : c.stall;
  return c.stall >= kYieldStall ? 2 : std::max<std::uint8_t>(c.stall, 1);
}

// The accumulators that a product of a warpgroup adds to: the registers after the descriptor.
bool is_addend(const Inst& inst, const Operand& o) {
  bool behind = false;
  for (const Operand& p : inst.operands()) {
    if (p.role == Role::kDef) continue;
    if (behind && p.kind == OperandKind::kGpr) return &p == &o;
    behind = behind || p.kind == OperandKind::kUGpr;
  }
  return false;
}

// A select does not use what it does not take, nor a compare what its predicate operand has decided, nor a product of a
// warpgroup the accumulators that its predicate operand has it start anew.
CheckOp::Use::In matters_in(const Inst& inst, const Access& a) {
  using In = CheckOp::Use::In;
  if (a.operand == 255 || a.file != RegFile::kGpr) return In::kAll;
  const Operand& o = inst.operands()[a.operand];
  switch (inst.op) {
    case Op::SEL:
    case Op::FSEL: {
      bool first = true;
      for (const Operand& p : inst.operands()) {
        if (p.role == Role::kDef || p.kind == OperandKind::kPred) continue;
        if (&p == &o) return first ? In::kTrue : In::kFalse;
        first = false;
      }
      return In::kAll;
    }
    default: break;
  }
  if (ready(inst) == Ready::kGroup) return is_addend(inst, o) ? In::kTrue : In::kAll;
  if (inst.mod(Axis::kCmp) == Tok::kNone) return In::kAll;
  if (inst.mod(Axis::kBool) == Tok::AND) return In::kTrue;
  return inst.mod(Axis::kBool) == Tok::OR ? In::kFalse : In::kAll;
}

// What it has to do with the order of memory accesses.
void check_order(Arch arch, const Inst& inst, CheckOp& op) {
  const auto says = [&](std::string_view what) {
    return inst.mod(Axis::kOrder) != Tok::kNone && tok_text(inst.mod(Axis::kOrder)).starts_with(what);
  };
  op.strong = says("STRONG") || says("MMIO");
  op.atomic = is_atomic(inst.op);
  op.compares = op.atomic && (inst.has(Axis::kFunction, Tok::CAS) || inst.has(Axis::kFunction, Tok::CAST_SPIN));
  // Before sm_70 all stores are alike, and loads that do not look into the first cache have an order.
  if (info(arch).encoding == Encoding::k64) {
    const bool stores = (memory_of(inst.op).writes & kSpaceGlobal) != 0 && !by_texture_unit(inst.op);
    op.strong = stores || inst.has(Axis::kCache, Tok::CV) || inst.has(Axis::kCache, Tok::CG);
  }
  if (inst.op == Op::MEMBAR) {
    const std::string_view scope = tok_text(inst.mod(Axis::kScope));
    op.membar = scope.ends_with("CTA") || scope.ends_with("SM") ? CheckOp::Membar::kCta : CheckOp::Membar::kGpu;
  }
  // ptxas writes fence.mbarrier_init as a NOP that sets no scoreboard.
  const Control& c = inst.control;
  op.init_fence =
      inst.op == Op::NOP && c.stall < kYieldStall && c.write_sb >= kScoreboards && c.read_sb >= kScoreboards;
}

}  // namespace

CheckOp check_op(Arch arch, const Inst& inst) {
  CheckOp op;
  op.stall = effective_stall(arch, inst.control);
  op.wait = inst.control.wait;
  op.write_sb = inst.control.write_sb;
  op.read_sb = inst.control.read_sb;
  op.by_scoreboard = ready(inst) == Ready::kScoreboard;
  op.queue = queue_of(arch, inst);
  op.read_queue = read_queue_of(arch, inst);
  op.frees_reads = frees_older_reads(arch, inst);
  op.joins_memory = inst.op == Op::BAR && op.read_queue == ReadQueue::kMemory;
  op.late = reads_late(inst);
  op.commits_async = inst.op == Op::LDGDEPBAR;
  op.commits_stores = inst.op == Op::UTMACMDFLUSH;
  find_permuted(inst, op);
  bool register_result = false;
  for (const Access& a : accesses(inst)) {
    register_result = register_result || (a.write && a.file == RegFile::kGpr);
    op.by_reads = op.by_reads || announced_by_reads(inst, a);
  }
  op.by_reads = op.by_reads && !register_result;
  std::uint8_t least = 255;
  for (const Access& a : accesses(inst)) {
    const int base = tag_base(a.file);
    if (base < 0) continue;
    for (unsigned part = 0; part < a.count; ++part) {
      const auto tag = static_cast<std::uint16_t>(base + a.first + part);
      if (a.write) {
        const Producer p = producer_of(inst, a, part);
        op.defs.push_back({tag, p, settle_time(arch, p)});
        for (unsigned c = 0; c < static_cast<unsigned>(Consumer::kCount); ++c) {
          least = std::min(least, raw_gap(arch, p, static_cast<Consumer>(c)).need);
        }
      } else if (!a.carried) {
        const Consumer consumer = consumer_of(inst, a, part);
        const bool overtaken = a.file == RegFile::kUGpr && overwritten_early(arch, consumer);
        const Operand* const o = a.operand != 255 && a.file == RegFile::kGpr ? &inst.operands()[a.operand] : nullptr;
        const bool is_register = o != nullptr && o->kind == OperandKind::kGpr;
        // Functions save registers of their callers, written or not; what PRMT takes is judged by the byte.
        const bool passed_on = is_register && (inst.op == Op::STL || (op.permutes && o != selector_of(inst)));
        const CheckOp::Use use{tag,
                               consumer,
                               is_late_read(a),
                               passed_on,
                               overtaken,
                               matters_in(inst, a),
                               is_register ? bytes_read(inst, *o) : std::uint8_t{15}};
        // The carry that .X reads is no operand either, but of the executing lanes only.
        (a.operand == 255 && a.file != RegFile::kCc ? op.guard : op.uses).push_back(use);
      }
    }
  }
  op.least = op.by_scoreboard && least != 255 ? least : 0;
  if (info(arch).encoding == Encoding::k64) {
    op.always_counts = true;
    op.least = op.least_read = kLeastWait;
  }
  if (ready(inst) == Ready::kGroup) {
    op.tensor = CheckOp::Tensor::kMultiply;
    op.commits = closes_group(inst);
  }
  if (inst.op == Op::WARPGROUP) {
    op.tensor = hands_over(inst) ? CheckOp::Tensor::kArrive : CheckOp::Tensor::kWait;
    for (const Operand& o : inst.operands()) {
      if (o.kind == OperandKind::kImm) op.wait_groups = static_cast<std::uint8_t>(o.imm);
    }
  }
  if (inst.op == Op::DEPBAR) {
    for (const Operand& o : inst.operands()) {
      if (o.kind == OperandKind::kScoreboard) op.depbar_sb = static_cast<std::uint8_t>(o.imm);
      if (o.kind == OperandKind::kImm) op.depbar_count = static_cast<std::uint8_t>(o.imm);
      if (o.kind == OperandKind::kSet) op.depbar_all = static_cast<std::uint8_t>(o.imm);
    }
  }
  check_order(arch, inst, op);
  return op;
}

QuickOp quick_op(const CheckOp& op, Handler body) {
  QuickOp q;
  const bool plain = op.guard.empty() && op.wait == 0 && op.write_sb >= kScoreboards && op.read_sb >= kScoreboards &&
                     !op.by_scoreboard && !op.late && !op.commits_async && !op.frees_reads &&
                     op.membar == CheckOp::Membar::kNone && !op.init_fence && op.tensor == CheckOp::Tensor::kNone &&
                     op.depbar_all == 0 && op.depbar_sb >= kScoreboards && op.uses.size() <= q.use.size() &&
                     op.defs.size() <= q.def.size();
  const bool vector =
      std::none_of(op.defs.begin(), op.defs.end(), [](const CheckOp::Def& d) { return tags::is_uniform(d.tag); });
  if (!plain || !vector) return q;
  q.body = body;
  q.stall = op.stall;
  for (const CheckOp::Use& use : op.uses) q.use[q.uses++] = use.tag;
  for (const CheckOp::Def& def : op.defs) {
    q.def[q.defs] = def.tag;
    q.settled[q.defs] = def.settled;
    q.producer[q.defs++] = def.producer;
  }
  return q;
}

}  // namespace nervanagpu::sass::emulate
