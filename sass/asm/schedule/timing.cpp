#include "sass/asm/schedule/timing.h"

#include <algorithm>

#include "sass/isa/op_facts.h"
#include "sass/isa/rows/row.h"

namespace nervanagpu::sass {
namespace {

constexpr ArchMask kMaxwell = mask_from(Arch::sm_50, Arch::sm_62);
constexpr ArchMask kVolta = mask_from(Arch::sm_70, Arch::sm_90a);
constexpr ArchMask kFullDouble =
    mask_of(Arch::sm_60) | mask_of(Arch::sm_70) | mask_of(Arch::sm_80) | mask_of(Arch::sm_90a);
constexpr ArchMask kWideFma =  // 32 float lanes a scheduler
    kMaxwell | mask_of(Arch::sm_86) | mask_of(Arch::sm_89) | mask_of(Arch::sm_90a);

struct PipeRow {
  ArchMask archs;
  Pipe pipe;
  std::uint8_t cycles;
};
// Throughputs of the CUDA C++ Programming Guide (results a cycle and SM), as cycles of one of the four schedulers. A later
// row overrides an earlier one. FFMA on sm_90a measured (docs/lab/sgemm.md).
// clang-format off
constexpr PipeRow kPipeRows[] = {
    {kMaxwell | kVolta, Pipe::kFma,     2}, {kWideFma, Pipe::kFma, 1},
    {kVolta,            Pipe::kAlu,     2}, {kMaxwell, Pipe::kAlu, 1},
    {kMaxwell | kVolta, Pipe::kHalf,    1},
    {kMaxwell | kVolta, Pipe::kDouble, 32}, {kFullDouble, Pipe::kDouble, 2},
    {kMaxwell,          Pipe::kMufu,    4}, {kVolta, Pipe::kMufu, 8},
    {kMaxwell | kVolta, Pipe::kUniform, 2},
    {kMaxwell | kVolta, Pipe::kMemory,  1},
    {kMaxwell | kVolta, Pipe::kControl, 1},
};
// clang-format on

// Lanes of the integer multiplier: half of the float ones where those are 32.
bool half_rate(Arch arch, Op op) {
  return op == Op::IMAD && (mask_of(arch) & kWideFma & kVolta) != 0;
}

// Bytes that one lane moves.
int bytes_of(const Inst& inst) {
  int registers = 1;
  for (const Operand& o : inst.operands()) {
    if (o.kind == OperandKind::kGpr) registers = std::max<int>(registers, o.width);
  }
  return registers * 4;
}

}  // namespace

std::string_view name_of(Pipe pipe) {
  constexpr std::array<std::string_view, kPipes> kNames = {"FMA",  "ALU", "HALF", "FP64",
                                                           "MUFU", "UDP", "LSU",  "CONTROL"};
  return kNames[static_cast<std::size_t>(pipe)];
}

Pipe pipe_of(const Inst& inst) {
  switch (unit(inst)) {
    case Unit::kFma:
    case Unit::kImadWide: return Pipe::kFma;
    case Unit::kAlu: return Pipe::kAlu;
    case Unit::kHalf: return Pipe::kHalf;
    case Unit::kDouble: return Pipe::kDouble;
    case Unit::kXu: return Pipe::kMufu;
    case Unit::kUniform: return Pipe::kUniform;
    case Unit::kUniformToVector: return Pipe::kAlu;
    case Unit::kMemShared:
    case Unit::kMemGlobal: return Pipe::kMemory;
    case Unit::kMemConst: return inst.row->traits.timing.uniform ? Pipe::kUniform : Pipe::kMemory;
    default: return Pipe::kControl;
  }
}

int pipe_cycles(Arch arch, const Inst& inst) {
  const Pipe pipe = pipe_of(inst);
  if (pipe == Pipe::kMemory) {
    const MemoryUse use = memory_of(inst.op);
    const bool copies = use.reads != 0 && use.writes != 0 && use.reads != use.writes;  // its registers are addresses
    if (copies) {
      for (const Modifier& m : inst.modifiers()) {
        if (m.tok == Tok::k64) return 2;
        if (m.tok == Tok::k128) return 4;
      }
      return 1;
    }
    return use.either() == 0 ? 1 : bytes_of(inst) / 4;  // 128 bytes a cycle for the 32 lanes together
  }
  int cycles = 1;
  for (const PipeRow& row : kPipeRows) {
    if (row.pipe == pipe && (row.archs & mask_of(arch)) != 0) cycles = row.cycles;
  }
  if (half_rate(arch, inst.op)) cycles *= 2;
  return unit(inst) == Unit::kImadWide ? cycles * 2 : cycles;
}

int usual_latency(const Inst& inst, bool reads) {
  if (reads) return 16;
  switch (unit(inst)) {
    case Unit::kMemGlobal: return 500;
    case Unit::kMemShared: return 32;
    case Unit::kMemConst: return 60;
    default: return 24;
  }
}

int bank_cycles(Arch arch, const Inst& inst, ReuseCache& cache) {
  const unsigned banks = info(arch).register_banks;
  std::array<int, 4> load{};
  std::array<std::uint8_t, 8> seen{};
  unsigned count = 0;
  ReuseCache left = cache;
  for (const Operand& o : inst.operands()) {
    if (o.kind != OperandKind::kGpr || o.role == Role::kDef || o.slot == Operand::kNoSlot || o.reg == kRZ) continue;
    const bool held = cache.reg[o.slot] == o.reg;
    const bool keep = (inst.control.reuse >> o.slot & 1) != 0 && !inst.control.yield;
    left.reg[o.slot] = keep ? o.reg : kRZ;
    if (held || o.width > 1) continue;
    if (std::find(seen.begin(), seen.begin() + count, o.reg) != seen.begin() + count) continue;
    seen[count++] = o.reg;
    ++load[o.reg % banks % load.size()];
  }
  cache = inst.control.yield ? ReuseCache{} : left;
  return std::max(1, *std::max_element(load.begin(), load.end()));
}

WarpClock::Lost WarpClock::issue(const Inst& inst) {
  Lost lost;
  int at = next_;
  lost.stall = at - (previous_ + 1);
  const auto until = [&](int when) {
    const int waits = std::max(0, when - at);
    at += waits;
    return waits;
  };
  for (unsigned sb = 0; sb < kScoreboards; ++sb) {
    if (inst.control.wait >> sb & 1) lost.scoreboard += until(scoreboard_[sb]);
  }
  const auto pipe = static_cast<std::size_t>(pipe_of(inst));
  lost.pipe += until(busy_[pipe]);
  lost.banks += until(ports_);
  // The ports are wide: only what a full-rate pipe asks of them can hold its successor up.
  const int ports = bank_cycles(arch_, inst, cache_);
  ports_ = at + (pipe_of(inst) == Pipe::kFma ? ports : 1);
  busy_[pipe] = at + pipe_cycles(arch_, inst);
  previous_ = at;
  next_ = at + std::max<int>(1, inst.control.stall);
  int ready_at = at + 1;
  if (ready(inst) == Ready::kScoreboard) ready_at = at + usual_latency(inst, false);
  drained_ = std::max(drained_, ready_at);
  if (inst.control.write_sb < kScoreboards) {
    int& scoreboard = scoreboard_[inst.control.write_sb];
    scoreboard = std::max(scoreboard, at + usual_latency(inst, false));
  }
  if (inst.control.read_sb < kScoreboards) {
    int& scoreboard = scoreboard_[inst.control.read_sb];
    scoreboard = std::max(scoreboard, at + usual_latency(inst, true));
  }
  return lost;
}

}  // namespace nervanagpu::sass
