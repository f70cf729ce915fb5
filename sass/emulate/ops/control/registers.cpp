// USETMAXREG: warps give registers to the pool of their CTA and take them from there.
#include <string>

#include "sass/emulate/checked/check.h"
#include "sass/emulate/lanes/lanes.h"
#include "sass/emulate/ops/families.h"
#include "sass/emulate/state/grid.h"

namespace nervanagpu::sass::emulate {
namespace {

const Uop* refuse(Warp& w, const Uop* u, std::string what) {
  if (w.checker == nullptr) return fault(w, u, kLanes, "registers of a warp: " + what);
  w.checker->found(w, u, kLanes, "registers of a warp", std::move(what));
  return u + 1;
}

const Uop* release(Warp& w, const Uop* u) {
  const std::uint32_t to = u->x->imm;
  if (to > w.registers) {
    return refuse(w, u,
                  "it has " + std::to_string(w.registers) + " a thread and cannot go down to " + std::to_string(to));
  }
  w.cta->free_registers += w.registers - to;
  w.registers = to;
  ++w.cta->progress;
  if (w.checker != nullptr) w.checker->registers_released(w);
  return u + 1;
}

// UP: there were as many in the pool.
const Uop* take(Warp& w, const Uop* u) {
  const Detail& x = *u->x;
  const std::uint32_t to = x.imm;
  if (to < w.registers) {
    return refuse(w, u,
                  "it has " + std::to_string(w.registers) + " a thread and cannot go up to " + std::to_string(to));
  }
  const std::uint32_t more = to - w.registers;
  const bool enough = more <= w.cta->free_registers;
  set_predicate(w, x.pdst[0], enough ? kAllLanes : 0);
  if (enough) {
    w.cta->free_registers -= more;
    w.registers = to;
    ++w.cta->progress;
    return u + 1;
  }
  // Others may have to run before there are.
  leave(w, u, static_cast<std::uint32_t>(u - w.code) + 1, Stop::kYield);
  Group& g = w.groups[w.current];
  g.mbarrier = 0;
  g.registers = to;
  w.polls = true;
  return nullptr;
}

}  // namespace

bool bind_registers(const Inst& inst, Binding& b) {
  Detail& x = b.detail;
  if (inst.op != Op::USETMAXREG) return false;
  for (const Operand& o : inst.operands()) {
    if (o.kind == OperandKind::kImm) x.imm = static_cast<std::uint32_t>(o.imm);
  }
  x.body = says(inst, "DEALLOC") ? release : take;
  return true;
}

}  // namespace nervanagpu::sass::emulate
