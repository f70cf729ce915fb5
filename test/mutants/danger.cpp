#include "test/mutants/danger.h"

#include "sass/isa/op_facts.h"
#include "sass/isa/register_id.h"

namespace nervanagpu::test {
namespace {

using sass::Access;
using sass::OperandKind;
using sass::Unit;

template <class Set>
void add(Set& set, const Access& a) {
  for (unsigned k = 0; k < a.count; ++k) {
    const std::uint32_t reg = sass::register_id(a.file, a.first + k);
    if (reg != sass::kNoRegisterId) set[reg / 64] |= std::uint64_t{1} << (reg % 64);
  }
}
template <class Set>
bool meet(const Set& a, const Set& b) {
  for (std::size_t w = 0; w < a.size(); ++w) {
    if ((a[w] & b[w]) != 0) return true;
  }
  return false;
}

enum class Use : std::uint8_t { kPlain, kCritical, kData };

Use use_of(const sass::Inst& inst, const Access& a) {
  switch (sass::unit(inst)) {
    case Unit::kBranch:
    case Unit::kSync: return Use::kCritical;
    case Unit::kMemGlobal:
    case Unit::kMemShared:
      if (sass::memory_of(inst.op).either() == 0) return Use::kPlain;  // registers are swapped
      [[fallthrough]];
    case Unit::kMemConst: {
      if (a.operand >= inst.operand_count) return Use::kCritical;  // the guard
      const OperandKind kind = inst.operands()[a.operand].kind;
      return kind == OperandKind::kGpr ? Use::kData : Use::kCritical;
    }
    case Unit::kFma:
    case Unit::kAlu:
    case Unit::kImadWide:
    case Unit::kHalf:
    case Unit::kDouble:
    case Unit::kXu:
    case Unit::kUniform:
    case Unit::kUniformToVector:
    case Unit::kSpecial:
    case Unit::kNone: return Use::kPlain;
    default: return Use::kCritical;  // asynchronous engines: everything they are told
  }
}

}  // namespace

Danger::Danger(sass::Arch arch, const sass::KernelImage& right) {
  std::vector<sass::verify_detail::Problem> problems;
  const sass::verify_detail::Code code = sass::verify_detail::read_code(arch, right, nullptr, problems);
  steps_.resize(code.steps.size());
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    Step& s = steps_[i];
    for (const Access& a : code.steps[i].touched) {
      add(a.write ? s.writes : s.reads, a);
      if (a.write) continue;
      const Use use = use_of(code.steps[i].inst, a);
      if (use == Use::kCritical) add(s.critical, a);
      if (use == Use::kData) add(s.data, a);
    }
    if (code.steps[i].known) {
      const Unit u = sass::unit(code.steps[i].inst);
      const bool reads = sass::memory_of(code.steps[i].inst.op).reads != 0;
      s.loads = (u == Unit::kMemGlobal || u == Unit::kMemShared) && reads;
    }
  }
  for (;;) {
    solve(code);
    bool memory = memory_;
    for (const Step& s : steps_) memory = memory || (s.loads && meet(s.writes, s.after));
    if (memory == memory_) break;
    memory_ = memory;
  }
}

Danger::Set Danger::needed(const Step& s) const {
  Set out = s.critical;
  const bool makes = meet(s.writes, s.after);
  for (std::size_t w = 0; w < out.size(); ++w) {
    if (makes) out[w] |= s.reads[w];
    if (memory_) out[w] |= s.data[w];
  }
  return out;
}

// Backwards, until nothing changes: what is critical after a step is so before it, unless the step surely writes it.
void Danger::solve(const sass::verify_detail::Code& code) {
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = steps_.size(); i-- > 0;) {
      Step& s = steps_[i];
      Set after = s.after;
      for (const std::uint32_t next : code.steps[i].next) {
        const Set use = needed(steps_[next]);
        const bool kills = code.steps[next].known && code.steps[next].inst.guard.pred == sass::kPT;
        for (std::size_t w = 0; w < after.size(); ++w) {
          after[w] |= use[w] | (steps_[next].after[w] & (kills ? ~steps_[next].writes[w] : ~std::uint64_t{0}));
        }
      }
      if (after != s.after) {
        s.after = after;
        changed = true;
      }
    }
  }
}

bool Danger::harmless(const std::vector<sass::Hazard>& hazards) const {
  for (const sass::Hazard& h : hazards) {
    const Step& p = steps_[h.producer];
    const Step& c = steps_[h.consumer];
    switch (h.kind) {
      case sass::Hazard::Kind::kRaw:
        if (meet(p.writes, needed(c))) return false;
        // Of a scoreboard that is not awaited only the first reader is named.
        if (h.missing < 0 && meet(p.writes, p.after)) return false;
        break;
      case sass::Hazard::Kind::kWaw: {
        Set both{};
        for (std::size_t w = 0; w < both.size(); ++w) both[w] = p.writes[w] & c.writes[w];
        if (meet(both, c.after)) return false;
        break;
      }
      case sass::Hazard::Kind::kWar:
        if (meet(c.writes, needed(p))) return false;
        break;
      case sass::Hazard::Kind::kControl:
        // A wait that comes too early concerns every later reader; a stale operand cache this one.
        if (h.text.find("awaits scoreboard") != std::string::npos || meet(c.reads, needed(c)) || memory_) return false;
        break;
      default: return false;
    }
  }
  return true;
}

}  // namespace nervanagpu::test
