#include "sass/verify/code.h"

#include <cstdio>

#include "sass/isa/codec.h"

namespace nervanagpu::sass::verify_detail {

namespace {

// P2R and R2P move the predicates of their mask; with the mask in a register it may be any.
Accesses masked(const Inst& inst, const Accesses& all) {
  if (inst.op != Op::P2R && inst.op != Op::R2P) return all;
  const Operand& last = inst.operands().back();
  if (last.kind != OperandKind::kImm) return all;
  Accesses out;
  for (const Access& a : all) {
    if (a.file != RegFile::kPred || a.guard) {
      out.items[out.count++] = a;
      continue;
    }
    for (unsigned p = 0; p < a.count; ++p) {
      if (!(last.imm >> (a.first + p) & 1)) continue;
      Access& one = out.items[out.count++] = a;
      one.first = static_cast<std::uint8_t>(a.first + p);
      one.count = 1;
    }
  }
  return out;
}

}  // namespace

std::string Code::name(std::uint32_t i) const {
  char at[32];
  std::snprintf(at, sizeof at, " at 0x%04llx", static_cast<unsigned long long>(address(i)));
  std::string text(steps[i].known ? op_text(steps[i].inst.op) : "instruction");
  text += at;
  if (i < kernel->lines.size() && kernel->lines[i].line != 0) {
    text += " (" + kernel->lines[i].file + ":" + std::to_string(kernel->lines[i].line) + ")";
  }
  return text;
}

Code read_code(Arch arch, const KernelImage& kernel, std::vector<Problem>& problems) {
  Code code;
  code.arch = arch;
  code.kernel = &kernel;
  code.steps.resize(kernel.code.size());
  for (std::uint32_t i = 0; i < code.steps.size(); ++i) {
    Step& step = code.steps[i];
    Result<Inst> inst = decode(arch, kernel.code[i], code.address(i));
    if (!inst) {
      step.inst.control = get_control(kernel.code[i]);
      problems.push_back({i, inst.error().message});
      continue;
    }
    step.inst = *inst;
    step.known = true;
    step.never = step.inst.guard.pred == kPT && step.inst.guard.inv;
    if (!step.never) step.touched = masked(step.inst, accesses(step.inst));
  }
  connect(code);
  return code;
}

}  // namespace nervanagpu::sass::verify_detail
