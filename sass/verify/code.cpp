#include "sass/verify/code.h"

#include <cstdio>

#include "sass/isa/codec/codec.h"
#include "sass/isa/codec/raw_word.h"

namespace nervanagpu::sass::verify_detail {

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

Code read_code(Arch arch, const KernelImage& kernel, const ModuleData* data, std::vector<Problem>& problems) {
  Code code;
  code.arch = arch;
  code.kernel = &kernel;
  code.data = data;
  code.steps.resize(kernel.code.size());
  for (std::uint32_t i = 0; i < code.steps.size(); ++i) {
    Step& step = code.steps[i];
    Result<Inst> inst = decode(arch, kernel.code[i], code.address(i));
    if (!inst) {
      const std::string* declared = declared_at(kernel.manifest, i);
      const std::optional<Inst> raw = declared == nullptr ? std::nullopt : raw_word(arch, kernel.code[i], *declared);
      if (raw) {
        step.inst = *raw;
        step.known = true;
        step.touched = accesses(step.inst);
        continue;
      }
      step.inst.control = get_control(kernel.code[i]);
      problems.push_back({i, inst.error().message + ", and no .word declares what they read and write"});
      continue;
    }
    step.inst = *inst;
    step.known = true;
    step.never = step.inst.guard.pred == kPT && step.inst.guard.inv;
    if (!step.never) step.touched = accesses(step.inst);
  }
  connect(code);
  return code;
}

}  // namespace nervanagpu::sass::verify_detail
