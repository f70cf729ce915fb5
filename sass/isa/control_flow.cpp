#include "sass/isa/control_flow.h"

#include <algorithm>

#include "sass/isa/access.h"
#include "sass/isa/op_facts.h"

namespace nervanagpu::sass {

bool computed_target(const Inst& inst) {
  switch (goes(inst.op)) {
    case Goes::kIndirect:
    case Goes::kReturn: return true;
    case Goes::kJump:
    case Goes::kCall: {
      const auto holds_target = [](const Operand& o) {
        return o.kind == OperandKind::kGpr || o.kind == OperandKind::kUGpr;
      };
      const auto is_label = [](const Operand& o) { return o.kind == OperandKind::kLabel; };
      return std::ranges::any_of(inst.operands(), holds_target) || std::ranges::none_of(inst.operands(), is_label);
    }
    default: return false;
  }
}

bool conditional(const Inst& inst) {
  if (inst.guard.pred != kPT || inst.guard.inv) return true;
  const Tok how = inst.mod(Axis::kUniform);
  if (how == Tok::DIV || how == Tok::CONV) return true;  // taken when the warp is (not) together
  const bool computed = computed_target(inst);
  return std::ranges::any_of(accesses(inst), [&](const Access& a) {
    if (a.write) return false;
    // A uniform register beside a label is a mask of lanes.
    if (a.file == RegFile::kUGpr) return !computed;
    return a.file == RegFile::kPred || a.file == RegFile::kUPred || a.file == RegFile::kCc;
  });
}

bool falls_through(const Inst& inst) {
  return !ends_block(inst) || conditional(inst);
}

bool reaches_next(const Inst& inst) {
  return falls_through(inst) || goes(inst.op) == Goes::kCall;
}

}  // namespace nervanagpu::sass
