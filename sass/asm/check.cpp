#include "sass/asm/check.h"

#include "sass/asm/cubin/encode.h"
#include "sass/asm/template/expand.h"
#include "sass/asm/template/names.h"
#include "sass/isa/access.h"
#include "sass/isa/control_flow.h"

namespace nervanagpu::sass {
namespace {

class Checker {
 public:
  Checker(const Program& program, const std::vector<const TextLine*>& sources) : program_(program), sources_(sources) {}

  Status run() {
    if (program_.lines.empty()) return error("kernel `" + program_.manifest.name + "` has no instructions");
    Status s = register_limit();
    if (!s.ok()) return s;
    return end();
  }

 private:
  Diag fail(std::size_t i, std::string message) const {
    Diag d = error_at(program_.lines[i].at, std::move(message));
    if (i < sources_.size()) add_origins(d, sources_[i]->from.get());
    return d;
  }

  Status register_limit() {
    const std::uint32_t regs = program_.manifest.registers;
    const std::uint32_t cap = regs == 0 ? 255 : std::max(regs, registers_taken(program_.lines));
    const std::uint32_t spare = info(program_.manifest.arch).encoding == Encoding::k128 ? 2 : 0;
    for (std::size_t i = 0; i < program_.lines.size(); ++i) {
      for (const Access& a : accesses(program_.lines[i].inst)) {
        const std::uint32_t need = a.first + std::uint32_t{a.count} + spare;
        if (a.file != RegFile::kGpr || need <= cap) continue;
        return fail(i, register_text(a.file, a.first + a.count - 1U) + " needs " + std::to_string(need) +
                           " registers a thread" + (spare != 0 ? " (two are the chip's)" : "") + "; " +
                           (regs == 0 ? "255 is the most"
                                      : (cap == regs ? ".regs allows " : "USETMAXREG takes ") + std::to_string(cap)));
      }
    }
    return Done{};
  }

  Status end() {
    const std::size_t last = program_.lines.size() - 1;
    const Inst& inst = program_.lines[last].inst;
    if (!reaches_next(inst)) return Done{};
    return fail(last, "the code runs off its end: the last instruction must be EXIT or a branch, without a guard");
  }

  const Program& program_;
  const std::vector<const TextLine*>& sources_;
};

}  // namespace

Status check(const Program& program, const std::vector<const TextLine*>& sources) {
  return Checker(program, sources).run();
}

}  // namespace nervanagpu::sass
