#include "sass/asm/check.h"

#include "sass/asm/encode.h"
#include "sass/asm/expand.h"
#include "sass/asm/names.h"
#include "sass/isa/access.h"

namespace nervanagpu::sass {
namespace {

constexpr std::int64_t kBarriers = 16;

class Checker {
 public:
  Checker(const Program& program, const std::vector<const TextLine*>& sources) : program_(program), sources_(sources) {}

  Status run() {
    if (program_.lines.empty()) return error("kernel `" + program_.manifest.name + "` has no instructions");
    for (std::size_t i = 0; i < program_.lines.size(); ++i) {
      Status s = groups(i);
      if (s.ok()) s = barriers(i);
      if (!s.ok()) return s;
    }
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

  // 64-bit values live in even registers, 128-bit values in multiples of four.
  Status group(std::size_t i, RegFile file, unsigned reg, unsigned width, unsigned zero, unsigned operand) {
    if (reg == zero || reg == kNoReg || (width != 2 && width != 4)) return Done{};
    const std::string name = register_text(file, reg);
    if (reg % width != 0) {
      return fail(i, "operand " + std::to_string(operand + 1) + " is a group of " + std::to_string(width) +
                         " registers and must begin at a multiple of " + std::to_string(width) + ", found " + name);
    }
    if (reg + width > zero) {
      return fail(i, "operand " + std::to_string(operand + 1) + " is a group of " + std::to_string(width) +
                         " registers and runs past " + register_text(file, zero - 1) + ", found " + name);
    }
    return Done{};
  }

  Status groups(std::size_t i) {
    const Inst& inst = program_.lines[i].inst;
    for (std::size_t n = 0; n < inst.operand_count; ++n) {
      const Operand& o = inst.operand_array[n];
      const auto k = static_cast<unsigned>(n);
      Status s = Done{};
      if (o.kind == OperandKind::kGpr) s = group(i, RegFile::kGpr, o.reg, o.width, kRZ, k);
      if (o.kind == OperandKind::kUGpr) s = group(i, RegFile::kUGpr, o.reg, o.width, kURZ, k);
      if (o.kind == OperandKind::kAddr) {
        s = group(i, RegFile::kGpr, o.reg, o.width, kRZ, k);
        if (s.ok()) s = group(i, RegFile::kUGpr, o.ureg, o.uwidth, kURZ, k);
        if (s.ok()) s = group(i, RegFile::kUGpr, o.desc, 2, kURZ, k);
      }
      if (!s.ok()) return s;
    }
    return Done{};
  }

  Status barriers(std::size_t i) {
    const Inst& inst = program_.lines[i].inst;
    if (inst.op != Op::BAR) return Done{};
    for (const Operand& o : inst.operands()) {
      if (o.kind != OperandKind::kImm && o.kind != OperandKind::kGpr) continue;
      if (o.kind == OperandKind::kImm && (o.imm < 0 || o.imm >= kBarriers)) {
        return fail(i, "there is no barrier " + std::to_string(o.imm) + "; 0 to 15 exist");
      }
      break;  // the barrier's number comes first
    }
    return Done{};
  }

  Status register_limit() {
    const std::uint32_t cap = program_.manifest.registers == 0 ? 255 : program_.manifest.registers;
    const std::uint32_t spare = info(program_.manifest.arch).encoding == Encoding::k128 ? 2 : 0;
    for (std::size_t i = 0; i < program_.lines.size(); ++i) {
      for (const Access& a : accesses(program_.lines[i].inst)) {
        const std::uint32_t need = a.first + std::uint32_t{a.count} + spare;
        if (a.file != RegFile::kGpr || need <= cap) continue;
        return fail(i,
                    register_text(a.file, a.first + a.count - 1U) + " needs " + std::to_string(need) +
                        " registers a thread" + (spare != 0 ? " (two are the chip's)" : "") + "; " +
                        (program_.manifest.registers == 0 ? "255 is the most" : ".regs allows " + std::to_string(cap)));
      }
    }
    return Done{};
  }

  Status end() {
    const std::size_t last = program_.lines.size() - 1;
    const Inst& inst = program_.lines[last].inst;
    if (ends_block(inst) && inst.guard == Guard{}) return Done{};
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
