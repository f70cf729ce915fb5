#include "sass/asm/cubin/encode.h"

#include <algorithm>

#include "sass/asm/pipeline.h"
#include "sass/cubin_abi.h"
#include "sass/isa/access.h"
#include "sass/isa/codec/codec.h"
#include "sass/isa/codec/raw_word.h"
#include "sass/isa/control_flow.h"

namespace nervanagpu::sass {
namespace {

// Code bytes are a multiple of this, and at least so many NOPs follow the final branch (sm_80 and later fetch further
// ahead): the sizes that ptxas makes.
struct Tail {
  std::uint32_t align;
  std::uint32_t least_nops;
  Control branch;
};

Tail tail_of(Arch arch) {
  if (info(arch).encoding == Encoding::k64) return {64, 0, {.stall = 15}};
  return {128, arch >= Arch::sm_80 ? 8u : 0u, {.stall = 0, .yield = true}};
}

Result<Word> encode_text(Arch arch, const std::string& text, const Control& control, std::uint64_t address) {
  auto parsed = parse_inst(arch, text, {});
  if (!parsed) return parsed.error();
  parsed->inst.control = control;
  return encode(arch, parsed->inst, address);
}

std::string hex(std::uint64_t v) {
  std::string digits;
  do {
    digits.insert(digits.begin(), "0123456789abcdef"[v & 15]);
    v >>= 4;
  } while (v != 0);
  return "0x" + digits;
}

// A label's instruction index becomes its address; an address that the author wrote must be one of an instruction.
Status resolve_labels(Encoding encoding, std::size_t count, const Line& line, Inst& inst) {
  for (Operand& o : inst.operands()) {
    if (o.kind != OperandKind::kLabel) continue;
    const auto target = static_cast<std::uint64_t>(o.imm);
    if (!line.label.empty()) {
      if (target >= count) return error_at(line.at, "label '" + line.label + "' is past the last instruction");
      o.imm = static_cast<std::int64_t>(target_of(encoding, target));
      continue;
    }
    const std::uint64_t end = address_of(encoding, count - 1);
    const std::uint64_t unit = code_bytes(encoding);
    if (target > end || target % unit != 0) {
      return error_at(line.at, "branch target " + hex(target) + " is not the address of an instruction (the last is " +
                                   hex(end) + ")");
    }
  }
  return Done{};
}

Status check_end(const Program& program) {
  if (program.lines.empty()) return error("kernel '" + program.manifest.name + "' has no instructions");
  const Line& last = program.lines.back();
  if (!reaches_next(last.inst)) return Done{};
  return error_at(last.at, "the code runs off its end: the last instruction must be an unguarded EXIT or branch");
}

Result<std::uint32_t> declared_registers(const Program& program) {
  const Manifest& m = program.manifest;
  const std::uint32_t need = registers_needed(m.arch, program.lines);
  if (need > kMaxRegisters) {
    return error("kernel '" + m.name + "' needs " + std::to_string(need) + " registers (with the two that the chip " +
                 "keeps), at most 255 can be");
  }
  if (const std::uint32_t taken = registers_taken(program.lines); taken != 0) {
    // The proof knows where on the way the registers are there; here only what could ever be.
    if (m.registers == 0 || m.registers > kMaxRegisters) {
      return error("kernel '" + m.name + "': registers " + std::to_string(m.registers) +
                   "; a kernel with USETMAXREG says how many its launch gives (.regs), 1 to 255");
    }
    if (need <= std::max(m.registers, taken)) return m.registers;
  }
  if (m.registers == 0) return std::max(need, 1u);
  if (m.registers >= need && m.registers <= kMaxRegisters) return m.registers;
  return error("kernel '" + m.name + "': registers " + std::to_string(m.registers) + ", need " + std::to_string(need) +
               " to 255");
}

std::uint32_t param_bytes(const Manifest& m) {
  std::uint32_t end = 0;
  for (const Param& p : m.params) end = std::max(end, p.offset + size_of(p.type));
  return end;
}

}  // namespace

Result<std::vector<Word>> code_tail(Arch arch, std::size_t code_size) {
  const Encoding encoding = info(arch).encoding;
  const Tail tail = tail_of(arch);
  const std::uint64_t address = address_of(encoding, code_size);
  auto branch = encode_text(arch, "BRA " + hex(target_of(encoding, code_size)), tail.branch, address);
  if (!branch) return branch.error();
  auto nop = encode_text(arch, "NOP", {.stall = 0, .yield = true}, 0);
  if (!nop) return nop.error();
  std::vector<Word> words = {*branch};
  words.resize(1 + tail.least_nops, *nop);
  const std::size_t group = encoding == Encoding::k64 ? tail.align / 32 * 3 : tail.align / 16;
  while ((code_size + words.size()) % group != 0) words.push_back(*nop);
  return words;
}

std::uint32_t registers_needed(Arch arch, std::span<const Line> lines) {
  std::uint32_t used = 0;
  for (const Line& line : lines) {
    for (const Access& a : accesses(line.inst)) {
      if (a.file == RegFile::kGpr) used = std::max<std::uint32_t>(used, a.first + a.count);
    }
  }
  return used + chips_registers(info(arch).encoding);
}

std::uint32_t registers_taken(std::span<const Line> lines) {
  std::uint32_t most = 0;
  for (const Line& line : lines) {
    if (line.inst.op != Op::USETMAXREG || !line.inst.has(Axis::kFunction, Tok::TRY_ALLOC)) continue;
    for (const Operand& o : line.inst.operands()) {
      if (o.kind == OperandKind::kImm) most = std::max(most, static_cast<std::uint32_t>(o.imm));
    }
  }
  return most;
}

std::uint32_t barriers_needed(std::span<const Line> lines) {
  std::uint32_t count = 0;
  for (const Line& line : lines) {
    if (line.inst.op != Op::BAR) continue;
    for (const Operand& o : line.inst.operands()) {
      if (o.kind != OperandKind::kImm && o.kind != OperandKind::kGpr) continue;
      const bool fixed = o.kind == OperandKind::kImm && o.imm >= 0 && o.imm < std::int64_t{kMaxBarriers};
      count = std::max(count, fixed ? static_cast<std::uint32_t>(o.imm) + 1 : kMaxBarriers);
      break;  // the barrier's number comes first, a thread count may follow
    }
  }
  return count;
}

// A kernel that may start early has to wait somewhere.
Status check_launch(const Program& program) {
  const auto waits = [](const Line& line) { return line.inst.op == Op::ACQBULK; };
  if (!program.manifest.programmatic || std::ranges::any_of(program.lines, waits)) return Done{};
  return error("kernel " + program.manifest.name +
               ": .launch programmatic starts it before the work ahead has ended; needs an ACQBULK before the first "
               "access to global memory");
}

Result<KernelImage> encode_kernel(const Program& program) {
  const Manifest& m = program.manifest;
  if (auto ok = check_launch(program); !ok) return ok.error();
  const Encoding encoding = info(m.arch).encoding;
  if (auto ok = check_end(program); !ok) return ok.error();
  const auto registers = declared_registers(program);
  if (!registers) return registers.error();

  KernelImage k;
  k.name = m.name;
  k.registers = *registers;
  k.shared = m.shared;
  k.barriers = barriers_needed(program.lines);
  k.max_threads = m.threads;
  k.param_bytes = param_bytes(m);
  k.params = m.params;
  k.constant0.resize(info(m.arch).param_base + std::size_t{k.param_bytes});
  k.manifest = m;
  k.code.reserve(program.lines.size() + 16);
  // Generated code comes from no text: it needs no table of lines.
  const bool from_text = std::ranges::any_of(program.lines, [](const Line& l) { return l.at.line != 0; });
  for (std::size_t i = 0; i < program.lines.size(); ++i) {
    const Line& line = program.lines[i];
    Inst inst = line.inst;
    if (auto ok = resolve_labels(encoding, program.lines.size(), line, inst); !ok) return ok.error();
    auto word = encode(m.arch, inst, address_of(encoding, i));
    if (!word) {
      Diag diag = word.error();
      if (diag.at.line == 0) diag.at = line.at;
      return diag;
    }
    k.code.push_back(*word);
    if (from_text) k.lines.push_back(line.at);
    if (!is_raw_word(inst)) continue;
    std::string declared = declared_text(inst);
    if (!declared.empty()) k.manifest.words.push_back({static_cast<std::uint32_t>(i), std::move(declared)});
  }
  auto tail = code_tail(m.arch, k.code.size());
  if (!tail) return tail.error();
  k.code.insert(k.code.end(), tail->begin(), tail->end());
  if (from_text) k.lines.resize(k.code.size());
  return k;
}

}  // namespace nervanagpu::sass
