// load(): every instruction decoded once; what the emulator cannot run is refused here, by name.
#include <algorithm>
#include <cstdio>

#include "sass/emulate/checked/check.h"
#include "sass/emulate/lanes/lanes.h"
#include "sass/emulate/load/bind.h"
#include "sass/emulate/ops/control/external.h"
#include "sass/emulate/uop/kernel.h"
#include "sass/isa/codec/codec.h"
#include "sass/isa/codec/raw_word.h"
#include "sass/isa/op_facts.h"

namespace nervanagpu::sass::emulate {
namespace {

// What a thread has for functions that call themselves: how deep they go is not written in the cubin. (CUDA: 1 KiB, or
// what cuCtxSetLimit says.)
constexpr std::uint32_t kCallStack = 16u << 10;

// Moves the stack pointer: R1 = R1 + n. A kernel does so once, functions with a frame when they begin and end.
bool moves_stack(const Inst& inst) {
  bool reads = false;
  bool writes = false;
  for (const Operand& o : inst.operands()) {
    if (o.kind != OperandKind::kGpr || o.reg != 1) continue;
    (o.role == Role::kUse ? reads : writes) = true;
  }
  return reads && writes;
}

const Uop* past_the_end(Warp& w, const Uop* u) {
  return fault(w, u, kLanes, "control runs past the last instruction");
}

}  // namespace

Kernel::Kernel() = default;
Kernel::~Kernel() = default;

Result<std::shared_ptr<const Kernel>> load(Arch arch, const KernelImage& image) {
  return load(arch, image, nullptr);
}

Result<std::shared_ptr<const Kernel>> load(Arch arch, const KernelImage& image,
                                           std::shared_ptr<const SharedBanks> banks) {
  const ArchInfo& a = info(arch);
  if (image.code.empty()) return error("kernel " + image.name + " has no instructions");
  if (!image.relocations.empty()) return error("kernel " + image.name + " is linked: its module has to load it");
  auto kernel = std::make_shared<Kernel>();
  Kernel& k = *kernel;
  k.arch = arch;
  k.name = image.name;
  k.lines = image.lines;
  k.constant0 = image.constant0;
  k.param_bytes = image.param_bytes;
  k.shared = image.shared;
  k.local = (image.local + 15) / 16 * 16;
  k.max_threads = image.max_threads;
  for (unsigned i = 0; i < 3; ++i) k.reqntid[i] = image.reqntid[i];
  k.registers = image.registers == 0 ? 256 : (image.registers + 7) / 8 * 8;
  k.explicit_cluster = image.cluster[0] != 0 || image.manifest.cluster > 1;
  if (image.cluster[0] != 0) {
    for (unsigned i = 0; i < 3; ++i) k.cluster[i] = image.cluster[i];
  } else {
    k.cluster[0] = std::max(1u, image.manifest.cluster);
  }
  const std::uint32_t count = static_cast<std::uint32_t>(image.code.size());
  k.uops.resize(count + 1);
  k.details.resize(count + 1);
  k.checks.resize(count + 1);
  k.quick.resize(count + 1);
  k.text.resize(count + 1);
  // Constant operands may reach anywhere in the bank; beyond the parameters it reads as zero.
  k.constant2 = image.constant2;
  k.banks = std::move(banks);
  const bool has_bank[] = {true, !k.constant2.empty(), k.banks != nullptr && !k.banks->constant3.empty(),
                           k.banks != nullptr && !k.banks->constant4.empty()};
  for (std::uint32_t i = 0; i < std::size(has_bank); ++i) {
    if (has_bank[i]) k.const_bytes = (i + 1) * kConstantBank;
  }
  unsigned highest = 0;
  unsigned stack_moves = 0;
  unsigned fewest = 256;  // registers that a warp of this kernel may have
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint64_t address = address_of(a.encoding, i);
    const auto refuse = [&](const std::string& why) {
      char where[64];
      std::snprintf(where, sizeof where, "+0x%llx", static_cast<unsigned long long>(address));
      return error_at(i < image.lines.size() ? image.lines[i] : Span{}, "kernel " + image.name + where + ": " + why);
    };
    Result<Inst> inst = decode(arch, image.code[i], address);
    if (!inst) {
      if (const std::string* declared = declared_at(image.manifest, i)) {
        const std::optional<Inst> raw = raw_word(arch, image.code[i], *declared);
        return refuse("the emulator cannot run " + (raw ? print(*raw) : std::string(kRawWord)) +
                      ": it is known what it reads and writes, not what it computes");
      }
      return refuse(inst.error().message);
    }
    Binding b;
    if (!bind(arch, *inst, i, b)) {
      return refuse("the emulator cannot run " + print(*inst) + ": " + b.refused);
    }
    if (unit(*inst) == Unit::kMemConst) b.detail.imm = kConstantBank;
    for (const Operand& o : inst->operands()) {
      if (o.kind == OperandKind::kConst && !is_bindless(o) && !has_bank[bank_slot(o.bank)]) {
        return refuse(print(*inst) + ": there is no c[0x" + std::to_string(o.bank) + "]");
      }
    }
    const Goes way = goes(inst->op);
    const bool jumps = way == Goes::kIndirect || way == Goes::kReturn || way == Goes::kCall;
    if (jumps) b.detail.imm2 = count;
    if (b.detail.target > count) return refuse("branch out of the kernel");
    k.uops[i] = b.uop;
    k.details[i] = b.detail;
    k.text[i] = print(*inst);
    k.checks[i] = check_op(arch, *inst);
    if (moves_stack(*inst)) ++stack_moves;
    const bool always = inst->guard.pred == kPT && !inst->guard.inv;
    k.quick[i] = quick_op(k.checks[i], always ? b.detail.body : nullptr);
    unsigned named = 0;
    for (const Access& r : accesses(*inst)) {
      if (r.file == RegFile::kGpr) named = std::max<unsigned>(named, r.first + r.count);
    }
    highest = std::max(highest, named);
    if (named != 0) named += chips_registers(info(arch).encoding);
    k.checks[i].registers = static_cast<std::uint16_t>(named);
    if (inst->op == Op::USETMAXREG) fewest = std::min<unsigned>(fewest, b.detail.imm);
    for (const Operand& o : inst->operands()) {  // pairs that reach over the last register
      if (o.kind == OperandKind::kGpr && o.reg != kRZ)
        highest = std::max<unsigned>(highest, o.reg + std::max<unsigned>(o.width, 2));
    }
  }
  // Only where warps give registers away is it looked at how many an instruction needs.
  for (std::uint32_t i = 0; i < count; ++i) {
    if (fewest < 256 && k.checks[i].registers > fewest) {
      k.quick[i].body = nullptr;
    } else {
      k.checks[i].registers = 0;
    }
  }
  // Functions of the driver take and give values in registers that the code itself need not name.
  if (k.banks != nullptr && !k.banks->externals.empty()) highest = std::max(highest, kExternalRegisters);
  Detail& end = k.details[count];
  end.body = past_the_end;
  end.index = count;
  k.uops[count].run = past_the_end;
  k.text[count] = "the end of the kernel";
  for (std::uint32_t i = 0; i <= count; ++i) k.uops[i].x = &k.details[i];
  if (stack_moves > 1) k.local += kCallStack;
  k.row_count = rows::kFirst + highest + 4;
  return std::shared_ptr<const Kernel>(std::move(kernel));
}

}  // namespace nervanagpu::sass::emulate
