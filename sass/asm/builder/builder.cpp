#include "sass/asm/builder/builder.h"

#include <algorithm>
#include <bit>

#include "sass/asm/builder/coalesce.h"
#include "sass/asm/builder/lowering.h"
#include "sass/asm/pipeline.h"
#include "sass/asm/schedule/schedule.h"
#include "sass/isa/op_facts.h"
#include "sass/isa/rows/row.h"
#include "sass/isa/rows/table.h"

namespace nervanagpu::sass {
namespace {

constexpr std::uint8_t kDescriptor = 4;  // UR4, UR5: the memory descriptor
constexpr std::uint32_t kSpare = 2;      // registers that chips from sm_70 on keep for themselves

bool may_be_omitted(const Slot& s) {
  return s.show == Show::kUnlessDefault || s.show == Show::kWithNext;
}

bool in_table(std::span<const Enum> table, Tok tok) {
  return std::ranges::any_of(table, [&](const Enum& e) { return e.tok == tok; });
}

// Rows of sm_80 .. sm_89 have the descriptor of memory in a slot of its own.
bool is_hidden(const Slot& s) {
  return s.type == SlotType::kHiddenDesc;
}
bool has_descriptor(const Row& row, const Slot& address) {
  return !address.desc.none() || std::ranges::any_of(row.slots(), is_hidden);
}

// Whether an operand of the slot's kind is what `a` is.
bool fits(const Row& row, const Slot& s, const Arg& a) {
  switch (s.type) {
    case SlotType::kGpr: return a.kind == Arg::Kind::kReg;
    case SlotType::kUGpr: return a.kind == Arg::Kind::kUniform;
    case SlotType::kPred: return a.kind == Arg::Kind::kPred;
    case SlotType::kImm: return a.kind == Arg::Kind::kImm;
    case SlotType::kConst: return a.kind == Arg::Kind::kConst && s.index.none() && s.ureg.none();
    case SlotType::kAddr:
      return (a.kind == Arg::Kind::kGlobal && (row.op == Op::CCTL || has_descriptor(row, s))) ||
             (a.kind == Arg::Kind::kShared && s.desc.none() && s.ureg.none());
    case SlotType::kLabel: return a.kind == Arg::Kind::kLabel;
    case SlotType::kSpecialReg: return a.kind == Arg::Kind::kSpecial;
    default: return false;
  }
}

// Where threads part or meet: what comes after it need not come to all of them.
bool parts_threads(Op op) {
  return goes(op) != Goes::kNext || op == Op::BAR;
}

// The number as the field wants it: 32-bit patterns carry a sign where the field does.
std::int64_t number_for(const Slot& s, std::int64_t n) {
  if (s.type != SlotType::kImm || s.value.width() != 32 || s.format == ImmFormat::kF64) return n;
  if (s.is_signed && n > 0x7fffffff && n <= 0xffffffffLL) return n - (std::int64_t{1} << 32);
  if (!s.is_signed && n < 0) return n & 0xffffffffLL;
  return n;
}

void write(const Slot& s, const Arg& a, Operand& o, std::uint32_t& id) {
  o.neg = a.neg;
  o.abs = a.abs;
  o.sub = a.part;
  switch (a.kind) {
    case Arg::Kind::kReg:
    case Arg::Kind::kPred:
      id = a.id;
      // RZ and PT are what a blank operand that is always written holds; one that may be omitted holds its default.
      if (id == kNoVirtual) o.reg = a.kind == Arg::Kind::kReg ? kRZ : kPT;
      o.inv = a.inv;
      break;
    case Arg::Kind::kUniform: o.reg = static_cast<std::uint8_t>(a.imm); break;
    case Arg::Kind::kGlobal:
      if (!s.desc.none()) o.desc = kDescriptor;
      [[fallthrough]];
    case Arg::Kind::kShared:
      id = a.id;
      o.imm = a.imm;
      break;
    case Arg::Kind::kConst: o.imm = a.imm; break;
    case Arg::Kind::kLabel: break;
    case Arg::Kind::kImm: o.imm = number_for(s, a.imm); break;
    case Arg::Kind::kSpecial: o.imm = a.imm; break;
  }
}

// Signs and parts that the slot has no bits for.
bool refuses(const Slot& s, const Arg& a) {
  if (a.neg && s.neg_bit == kNoBit) return true;
  if (a.abs && s.abs_bit == kNoBit) return true;
  if (a.inv && s.inv_bit == kNoBit) return true;
  if (s.type == SlotType::kAddr) return false;
  return s.sub_table.empty() ? a.part != Tok::kNone : !in_table(s.sub_table, a.part);
}

}  // namespace

Arg::Arg(float v) : kind(Kind::kImm), imm(std::bit_cast<std::uint32_t>(v)) {}

Arg Arg::operator-() const {
  Arg a = *this;
  a.neg = !a.neg;
  return a;
}
Arg Arg::plus(std::int64_t bytes) const {
  Arg a = *this;
  a.imm += bytes;
  return a;
}

Arg at(VReg address, std::int64_t offset) {
  Arg a(address);
  a.kind = Arg::Kind::kGlobal;
  a.imm = offset;
  return a;
}
Arg shared(VReg address, std::int64_t offset) {
  Arg a(address);
  a.kind = Arg::Kind::kShared;
  a.imm = offset;
  return a;
}
Arg magnitude(Arg a) {
  a.neg = false;
  a.abs = true;
  return a;
}
Arg complement(Arg a) {
  a.inv = !a.inv;
  return a;
}
Arg half(VReg r, unsigned i) {
  Arg a(r);
  a.part = i == 0 ? Tok::H0_H0 : Tok::H1_H1;
  return a;
}
Arg special(unsigned number) {
  Arg a;
  a.kind = Arg::Kind::kSpecial;
  a.imm = number;
  return a;
}

bool Builder::builds_for(Arch arch) {
  return info(arch).encoding == Encoding::k64 || info(arch).descriptor != 0;
}

Builder::Builder(Arch arch, std::string name) {
  manifest_.name = std::move(name);
  manifest_.arch = arch;
  const ArchInfo& chip = info(arch);
  if (!builds_for(arch)) {
    problem_ = "code cannot be generated for " + std::string(chip.name) + " yet";
    return;
  }
  lowers_ = arch != Arch::sm_90a;
  if (chip.descriptor == 0) return;
  Arg descriptor;
  descriptor.kind = Arg::Kind::kConst;
  descriptor.imm = chip.descriptor;
  Arg uniform;
  uniform.kind = Arg::Kind::kUniform;
  uniform.imm = kDescriptor;
  emit(Op::ULDC, {Tok::k64}, {uniform, descriptor});
}

VReg Builder::reg(unsigned count) {
  groups_.push_back({RegFile::kGpr, static_cast<std::uint8_t>(count), elements_});
  const VReg r{elements_, static_cast<std::uint8_t>(count)};
  elements_ += count;
  return r;
}
VPred Builder::pred() {
  groups_.push_back({RegFile::kPred, 1, elements_});
  return {elements_++, false};
}
VLabel Builder::label() {
  label_at_.push_back(kNoVirtual);
  return {static_cast<std::uint32_t>(label_at_.size() - 1)};
}
void Builder::programmatic() {
  if (lowers_) return;
  manifest_.programmatic = waits_ = true;
}
void Builder::wait_for_work_ahead() {
  if (!waits_) return;
  waits_ = false;
  put(Op::ACQBULK, {}, {}, kAlways);
  put(Op::PREEXIT, {}, {}, kAlways);
}
void Builder::prefetch(VReg p, std::int64_t offset, VPred guard) {
  if (!lowers_) emit(Op::CCTL, {Tok::E, Tok::PF2}, {at(p, offset)}, guard);
}
void Builder::bind(VLabel label) {
  wait_for_work_ahead();
  label_at_[label.id] = static_cast<std::uint32_t>(lowers_ ? requests_.size() : drafts_.size());
}

Arg Builder::param(std::string name, ParamType type) {
  unsigned end = 0;
  if (!manifest_.params.empty()) end = manifest_.params.back().offset + size_of(manifest_.params.back().type);
  const unsigned offset = aligned_offset(type, end);
  manifest_.params.push_back({std::move(name), type, static_cast<std::uint16_t>(offset)});
  Arg a;
  a.kind = Arg::Kind::kConst;
  a.imm = info(manifest_.arch).param_base + std::int64_t{offset};
  return a;
}

bool Builder::fill(const Row& row, std::span<const Tok> mods, std::span<const Arg> args, Draft& draft) const {
  Inst& inst = draft.inst;
  inst.row = &row;
  inst.op = row.op;
  inst.modifier_count = 0;
  const Tok* tok = mods.data();
  const Tok* const mods_end = tok + mods.size();
  for (const Mod& m : row.mods()) {
    Tok chosen = Tok::kNone;
    if (tok != mods_end && in_table(m.table, *tok)) {
      chosen = *tok++;
    } else if (!in_table(m.table, Tok::kNone)) {
      return false;
    }
    set_mod(inst, m.axis, chosen);
  }
  if (tok != mods_end) return false;
  inst.operand_count = 0;
  const Arg* arg = args.data();
  const Arg* const args_end = arg + args.size();
  const auto left = [&] { return static_cast<std::size_t>(args_end - arg); };
  for (std::size_t i = 0; i < row.slot_count; ++i) {
    const Slot& s = row.slot_array[i];
    Operand& o = inst.operand_array[inst.operand_count];
    o = blank_operand(s);
    draft.reg[inst.operand_count++] = kNoVirtual;
    if (is_hidden(s)) {
      o.reg = kDescriptor;
    } else if (left() > 0 && fits(row, s, *arg)) {
      if (refuses(s, *arg)) return false;
      write(s, *arg, o, draft.reg[i]);
      if (arg->kind == Arg::Kind::kLabel) draft.label = arg->id;
      ++arg;
    } else if (!may_be_omitted(s)) {
      return false;
    }
  }
  if (left() != 0) return false;
  inst.guard = {};
  inst.guard.uniform = row.uniform_guard;
  set_widths(inst);
  return true;
}

void Builder::emit(Op op, std::initializer_list<Tok> mods, std::initializer_list<Arg> args, VPred guard) {
  if (touches_global(op) || parts_threads(op)) wait_for_work_ahead();
  if (!lowers_) return put(op, {mods.begin(), mods.size()}, {args.begin(), args.size()}, guard);
  Request& r = requests_.emplace_back();
  r.op = op;
  r.guard = guard;
  r.line = line_;
  if (mods.size() > Request::kMostMods || args.size() > Request::kMostArgs) {
    problem_ = "an instruction has too many operands";
    return;
  }
  r.mod_count = static_cast<std::uint8_t>(mods.size());
  r.arg_count = static_cast<std::uint8_t>(args.size());
  std::ranges::copy(mods, r.mod_array.begin());
  std::ranges::copy(args, r.arg_array.begin());
}

void Builder::put(Op op, std::span<const Tok> mods, std::span<const Arg> args, VPred guard) {
  if (!problem_.empty()) return;
  Draft& draft = drafts_.emplace_back();
  for (const Row* row : rows_for(manifest_.arch, op)) {
    if (!fill(*row, mods, args, draft)) continue;
    draft.guard = guard.id;
    draft.inst.guard.inv = guard.inverted;
    draft.line = line_;
    return;
  }
  problem_ = "instruction " + std::to_string(drafts_.size() - 1) + ": no form of " + std::string(op_text(op));
  for (const Tok t : mods) problem_ += "." + std::string(tok_text(t));
  problem_ += " takes these " + std::to_string(args.size()) + " operands";
}

Result<KernelImage> Builder::finish() {
  if (lowers_ && problem_.empty()) Lowering(*this).run();
  if (!problem_.empty()) return error("kernel '" + manifest_.name + "': " + problem_);
  for (Draft& d : drafts_) {
    if (d.label == kNoVirtual) continue;
    d.target = label_at_[d.label];
    if (d.target == kNoVirtual || d.target >= drafts_.size())
      return error("kernel '" + manifest_.name + "': label " + std::to_string(d.label) + " is bound to no instruction");
  }
  coalesce(drafts_, groups_);
  const std::uint32_t spare = info(manifest_.arch).encoding == Encoding::k128 ? kSpare : 0;
  const std::uint32_t limit = (most_registers_ == 0 ? 255 : most_registers_) - spare;
  if (Status s = assign_registers(drafts_, groups_, limit); !s) {
    return error("kernel '" + manifest_.name + "': " + s.error().message);
  }
  Program program;
  program.manifest = std::move(manifest_);
  program.lines.resize(drafts_.size());
  for (std::size_t i = 0; i < drafts_.size(); ++i) {
    Line& line = program.lines[i];
    line.inst = drafts_[i].inst;
    line.at.line = drafts_[i].line;
    if (drafts_[i].target == kNoVirtual) continue;
    line.label = "L";
    for (Operand& o : line.inst.operands()) {
      if (o.kind == OperandKind::kLabel) o.imm = drafts_[i].target;
    }
  }
  if (Status s = schedule(program); !s) return s.error();
  return encode_kernel(program);
}

}  // namespace nervanagpu::sass
