#include "test/mutants/mutate.h"

#include <set>

#include "sass/isa/codec/codec.h"
#include "sass/isa/control.h"
#include "sass/isa/latency.h"

namespace nervanagpu::test {

using sass::Control;
using sass::kNoScoreboard;
using sass::kScoreboards;

sass::KernelImage Mutant::of(const sass::KernelImage& right) const {
  sass::KernelImage k = right;
  k.code[index] = word;
  return k;
}

namespace {

// The reuse slots in which the instruction has a register.
unsigned reusable(const sass::Inst& inst) {
  unsigned slots = 0;
  for (const sass::Operand& o : inst.operands()) {
    if (o.kind == sass::OperandKind::kGpr && o.slot < 3 && o.reg != sass::kRZ) slots |= 1u << o.slot;
  }
  return slots;
}

class Maker {
 public:
  Maker(std::uint32_t index, const sass::Word& right, std::vector<Mutant>& out)
      : index_(index), right_(right), out_(out) {}

  void add(const char* field, int from, int to, const Control& c) {
    out_.push_back({index_, field, from, to, sass::put_control(right_, c)});
  }

  void scoreboard(const char* field, std::uint8_t Control::*which, const Control& c) {
    if (c.*which >= kScoreboards) return;
    for (const unsigned to : {kNoScoreboard, (c.*which + 1u) % 6, (c.*which + 3u) % 6}) {
      Control m = c;
      m.*which = static_cast<std::uint8_t>(to);
      add(field, c.*which, static_cast<int>(to), m);
    }
  }

 private:
  std::uint32_t index_;
  const sass::Word& right_;
  std::vector<Mutant>& out_;
};

}  // namespace

std::vector<Mutant> mutants_of(sass::Arch arch, const sass::KernelImage& right) {
  std::vector<Mutant> out;
  for (std::uint32_t i = 0; i < right.code.size(); ++i) {
    const sass::Result<sass::Inst> inst =
        sass::decode(arch, right.code[i], sass::address_of(sass::info(arch).encoding, i));
    if (!inst.ok()) continue;
    const Control c = inst->control;
    Maker make(i, right.code[i], out);
    for (const int stall : std::set<int>{1, c.stall / 2, c.stall - 2, c.stall - 1}) {
      if (stall < 1 || stall >= c.stall) continue;
      Control m = c;
      m.stall = static_cast<std::uint8_t>(stall);
      make.add("stall", c.stall, stall, m);
    }
    if (c.stall != 0) {
      Control m = c;
      m.yield = !c.yield;
      make.add("yield", c.yield, m.yield, m);
    }
    make.scoreboard("write scoreboard", &Control::write_sb, c);
    make.scoreboard("read scoreboard", &Control::read_sb, c);
    for (int sb = 0; sb < kScoreboards; ++sb) {
      if (!(c.wait >> sb & 1)) continue;
      Control m = c;
      m.wait = static_cast<std::uint8_t>(c.wait & ~(1u << sb));
      make.add("wait", sb, -1, m);
      const int other = (sb + 1) % kScoreboards;
      if (c.wait >> other & 1) continue;
      m.wait = static_cast<std::uint8_t>(m.wait | 1u << other);
      make.add("wait", sb, other, m);
    }
    const unsigned slots = c.yield ? 0 : reusable(*inst);
    for (int slot = 0; slot < 3; ++slot) {
      if (!(slots >> slot & 1)) continue;
      Control m = c;
      m.reuse = static_cast<std::uint8_t>(c.reuse ^ 1u << slot);
      make.add("reuse", slot, m.reuse >> slot & 1, m);
    }
  }
  return out;
}

}  // namespace nervanagpu::test
