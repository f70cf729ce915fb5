// Branches, calls, convergence barriers, EXIT.
#include <algorithm>
#include <bit>

#include "sass/emulate/checked/check.h"
#include "sass/emulate/machine/groups.h"
#include "sass/emulate/ops/cc.h"
#include "sass/emulate/ops/control/external.h"
#include "sass/emulate/ops/families.h"
#include "sass/emulate/state/grid.h"
#include "sass/isa/rows/row.h"

namespace nervanagpu::sass::emulate {
namespace {

// Predicate operands of a branch narrow the lanes further.
std::uint32_t narrowed(const Warp& w, const Detail& x) {
  std::uint32_t lanes = w.exec;
  for (unsigned i = 0; i < x.puse_count; ++i) lanes &= predicate(w, x.puse[i]);
  return lanes;
}

const Uop* bra(Warp& w, const Uop* u) {
  return jump(w, u, u->x->target);
}

const Uop* bra_if(Warp& w, const Uop* u) {
  const std::uint32_t lanes = narrowed(w, *u->x);
  if (lanes == 0) return u + 1;
  w.exec = lanes;
  return jump(w, u, u->x->target);
}

// .ANY: if any lane would go, all do.
const Uop* bra_any(Warp& w, const Uop* u) {
  if (narrowed(w, *u->x) == 0) return u + 1;
  w.exec = w.active;
  return jump(w, u, u->x->target);
}

// BRA.DIV UR: to the slow path when not all the lanes of UR are together here. BRA.CONV: when they are.
const Uop* bra_div(Warp& w, const Uop* u) {
  const Detail& x = *u->x;
  const std::uint32_t lanes = narrowed(w, x);
  if (lanes == 0) return u + 1;
  const std::uint32_t named = x.src_count > 0 ? scalar(w, x.src[0]) : kAllLanes;
  const std::uint32_t together = x.src_count > 0 && x.src[0].inv ? ~named : named;
  const bool divergent = (together & w.live & ~w.active) != 0;
  if (!divergent) w.by_chance &= ~w.active;  // on the chip the slow path would have joined them
  if (divergent == x.flag) return u + 1;
  w.exec = lanes;
  return jump(w, u, x.target);
}

// LEPC: the address of an instruction.
const Uop* lepc(Warp& w, const Uop* u) {
  const Detail& x = *u->x;
  const std::uint64_t at = kCodeWindow + address_of(Encoding::k128, x.target);
  Row32 lo = result(w, x);
  Row32 hi = result(w, x, 1);
  for (unsigned l = 0; l < kLanes; ++l) {
    lo[l] = static_cast<std::uint32_t>(at);
    hi[l] = static_cast<std::uint32_t>(at >> 32);
  }
  finish(w, x, 2);
  return u + 1;
}

// Indirect jumps: every lane has a target of its own; those of the first lane's go, the others come again.
const Uop* jump_indirect(Warp& w, const Uop* u) {
  const Detail& x = *u->x;
  const std::uint32_t here = index_of(w, u);
  std::uint32_t lanes = narrowed(w, x);
  if (x.flag2) lanes &= test_cc(w, static_cast<Tok>(x.imm));
  if (lanes == 0) return u + 1;
  ConstRow lo = fetch_raw(w, x.src[0], 0);
  const bool narrow = x.flag;  // sm_50 .. sm_62: one register
  ConstRow hi = narrow ? w.row(rows::kZero) : fetch_raw(w, x.src[0], 1, 1);
  const auto target_of = [&](unsigned l) {
    return (std::uint64_t{hi[l]} << 32 | lo[l]) + static_cast<std::uint64_t>(x.jump_base);
  };
  const unsigned first = static_cast<unsigned>(std::countr_zero(lanes));
  const std::uint64_t target = target_of(first);
  std::uint32_t same = 0;
  for (unsigned l = 0; l < kLanes; ++l) {
    if ((lanes >> l & 1) != 0 && target_of(l) == target) same |= 1u << l;
  }
  if (x.flag3) {
    if (const std::string* name = external_at(w, narrow, target)) return call_external(w, u, lanes, same, *name);
  }
  const std::int64_t index = index_at(narrow ? Encoding::k64 : Encoding::k128, target);
  if (index < 0 || index >= std::int64_t{x.imm2}) {
    return fault(w, u, first, "jump to " + std::to_string(target) + ", which is not in the kernel");
  }
  const std::uint32_t others = lanes & ~same;
  if (others != 0) split(w, others, here);
  w.exec = same;
  return jump(w, u, static_cast<std::uint32_t>(index));
}

const Uop* exit_lanes(Warp& w, const Uop* u) {
  const std::uint32_t lanes = narrowed(w, *u->x);
  w.live &= ~lanes;
  w.active &= ~lanes;
  w.exec = w.active;
  const bool gone = w.active == 0;
  if (gone) {
    w.instructions += static_cast<std::uint64_t>(u + 1 - w.mark);
    w.groups.erase(w.groups.begin() + w.current);
    w.stop = Stop::kBlocked;
  } else {
    w.groups[w.current].mask = w.active;
  }
  release_syncs(w);
  release_tokens(w);
  return gone ? nullptr : u + 1;
}

const Uop* trap(Warp& w, const Uop* u) {
  return fault(w, u, static_cast<unsigned>(std::countr_zero(w.exec)), "trap");
}

const Uop* nop(Warp&, const Uop* u) {
  return u + 1;
}

const Uop* yield(Warp& w, const Uop* u) {
  return leave(w, u, index_of(w, u) + 1, Stop::kYield);
}

const Uop* bssy(Warp& w, const Uop* u) {
  auto& barrier = w.convergence[u->x->kind];
  for (unsigned l = 0; l < kLanes; ++l) {
    if ((w.exec >> l & 1) != 0) barrier[l] = w.exec;
  }
  return u + 1;
}

const Uop* wait_with(Warp& w, const Uop* u, Group::State state, std::uint32_t want) {
  const Detail& x = *u->x;
  if ((want & w.live & ~w.exec) == 0) {
    w.by_chance &= ~w.exec;
    if (w.checker != nullptr) w.checker->lanes_met(w, w.exec);
    return u + 1;
  }
  const std::uint32_t here = index_of(w, u);
  split_others(w, here);
  Group& g = w.groups[w.current];
  g.state = state;
  g.barrier = x.kind;
  g.wanted = want;
  leave(w, u, here, Stop::kBlocked);
  release_syncs(w);
  return nullptr;
}

// Groups that met by chance may have entered under different BSSYs: each lane waits for those that its own names.
const Uop* bsync(Warp& w, const Uop* u) {
  const std::uint32_t lanes = narrowed(w, *u->x);
  if (lanes == 0) return u + 1;
  const auto& barrier = w.convergence[u->x->kind];
  const std::uint32_t want = barrier[static_cast<unsigned>(std::countr_zero(lanes))];
  std::uint32_t same = 0;
  for (unsigned l = 0; l < kLanes; ++l) {
    if ((lanes >> l & 1) != 0 && barrier[l] == want) same |= 1u << l;
  }
  if (same != lanes) split(w, lanes & ~same, index_of(w, u));
  w.exec = same;
  return wait_with(w, u, Group::State::kAtSync, want);
}

const Uop* warpsync(Warp& w, const Uop* u) {
  const Detail& x = *u->x;
  std::uint32_t want = kAllLanes;
  if (x.src_count > 0) {  // each lane waits for those that its own mask names
    ConstRow masks = fetch_raw(w, x.src[0], 0);
    want = masks[std::countr_zero(w.exec)];
    std::uint32_t same = 0;
    for (unsigned l = 0; l < kLanes; ++l) {
      if ((w.exec >> l & 1) != 0 && masks[l] == want) same |= 1u << l;
    }
    if (same != w.exec) {
      split(w, w.exec & ~same, index_of(w, u));
      w.exec = same;
    }
  }
  return wait_with(w, u, Group::State::kAtWarpSync, want);
}

const Uop* break_lanes(Warp& w, const Uop* u) {
  const std::uint32_t lanes = narrowed(w, *u->x);
  auto& barrier = w.convergence[u->x->kind];
  for (std::uint32_t left = lanes; left != 0; left &= left - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(left));
    for (std::uint32_t with = barrier[lane]; with != 0; with &= with - 1) {
      const auto other = static_cast<unsigned>(std::countr_zero(with));
      if (other != lane) barrier[other] &= ~(1u << lane);
    }
    barrier[lane] = 0;
  }
  release_syncs(w);
  return u + 1;
}

const Uop* bmov_from(Warp& w, const Uop* u) {
  const Detail& x = *u->x;
  Row32 o = result(w, x);
  auto& barrier = w.convergence[x.kind];
  for (unsigned l = 0; l < kLanes; ++l) o[l] = barrier[l];
  finish(w, x);
  if (x.flag) {
    for (unsigned l = 0; l < kLanes; ++l) {
      if ((w.exec >> l & 1) != 0) barrier[l] = 0;
    }
  }
  return u + 1;
}

const Uop* bmov_to(Warp& w, const Uop* u) {
  const Detail& x = *u->x;
  ConstRow a = fetch(w, x.src[0], 0);
  for (unsigned l = 0; l < kLanes; ++l) {
    if ((w.exec >> l & 1) != 0) w.convergence[x.kind][l] = a[l];
  }
  return u + 1;
}

}  // namespace

bool bind_control(const Inst& inst, Binding& b) {
  Detail& x = b.detail;
  const Operand* barrier = nullptr;
  for (const Operand& o : inst.operands()) {
    if (o.kind == OperandKind::kBarrierReg) barrier = &o;
  }
  if (barrier != nullptr) x.kind = barrier->reg & 15;
  const bool no_barrier = barrier == nullptr;
  // PT as a predicate operand says nothing.
  while (x.puse_count > 0 && x.puse[x.puse_count - 1].index == preds::kTrue && !x.puse[x.puse_count - 1].inv) {
    --x.puse_count;
  }
  x.imm2 = 0xffffffu;  // load() puts the number of instructions here
  switch (inst.op) {
    case Op::BRA:
    case Op::JMP:
      if (inst.has(Axis::kUniform, Tok::DIV) || inst.has(Axis::kUniform, Tok::CONV)) {
        x.flag = inst.has(Axis::kUniform, Tok::CONV);
        x.body = bra_div;
      } else if (says(inst, "ANY")) {
        x.body = bra_any;
      } else {
        x.body = x.puse_count == 0 ? bra : bra_if;
      }
      return true;
    case Op::CALL:
    case Op::RET:
    case Op::BRX:
    case Op::JMX:
      if (says(inst, "INC") || says(inst, "DEC")) b.refuse("a call depth");
      x.flag3 = says(inst, "ABS") || inst.op == Op::JMX;
      x.flag = inst.row->encoding == Encoding::k64;
      x.jump_base = x.flag3 ? -static_cast<std::int64_t>(x.flag ? kCodeWindow32 : kCodeWindow) : 0;
      if (x.src_count == 0) {
        x.body = x.puse_count == 0 ? bra : bra_if;
        if (inst.op != Op::CALL) b.refuse("no target register");
        return true;
      }
      for (const Operand& o : inst.operands()) {
        if (o.kind == OperandKind::kLabel) x.jump_base += o.imm;
        // BRX counts from the next instruction.
        if (o.kind == OperandKind::kCc && o.sub != Tok::kNone) {
          x.flag2 = true;
          x.imm = static_cast<std::uint32_t>(o.sub);
        }
        // CALL.ABS of an address has that as its source.
        if (o.kind == OperandKind::kImm && inst.op != Op::CALL) {
          const Encoding e = inst.row->encoding;
          x.jump_base += o.imm;
          if (!x.flag3) x.jump_base += static_cast<std::int64_t>(address_of(e, x.index) + code_bytes(e));
        }
      }
      x.body = jump_indirect;
      return true;
    case Op::LEPC:
      if (std::ranges::none_of(inst.operands(), [](const Operand& o) { return o.kind == OperandKind::kLabel; })) {
        x.target = x.index;  // sm_75 .. sm_89: its own
      }
      x.body = lepc;
      return true;
    case Op::EXIT: x.body = exit_lanes; return true;
    case Op::BPT:
      if (!says(inst, "TRAP")) b.refuse("a breakpoint");
      x.body = trap;
      return true;
    case Op::NOP:
    case Op::ENDCOLLECTIVE:
    case Op::CGAERRBAR:
    case Op::CCTL:
    case Op::CCTLL:
    case Op::PMTRIG:
    case Op::MEMBAR:
    case Op::ERRBAR:
      x.body = nop;  // memory is coherent here
      return true;
    case Op::YIELD:
    case Op::NANOSLEEP: x.body = yield; return true;
    case Op::BSSY:
      if (x.puse_count != 0) b.refuse("a predicate operand");
      x.body = bssy;
      break;
    case Op::BSYNC: x.body = bsync; break;
    case Op::BREAK: x.body = break_lanes; break;
    case Op::BMOV:
      x.flag = says(inst, "CLEAR");
      if (says(inst, "PQUAD")) b.refuse(".PQUAD");
      for (const Slot& s : inst.row->slots()) {
        if (s.type == SlotType::kWord) b.refuse(s.word == "ATEXIT_PC" ? "what exits" : "the mask of active threads");
      }
      x.body = x.src_count == 0 ? bmov_from : bmov_to;
      break;
    case Op::WARPSYNC:
      if (x.puse_count != 0) b.refuse("a predicate operand");
      x.body = warpsync;
      return true;
    default: return false;
  }
  if (no_barrier) b.refuse("no convergence barrier operand");
  return true;
}

}  // namespace nervanagpu::sass::emulate
