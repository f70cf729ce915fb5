#include "sass/asm/builder/coalesce.h"

#include <algorithm>

#include "sass/isa/op.h"

namespace nervanagpu::sass {
namespace {

class Coalescer {
 public:
  Coalescer(std::vector<Draft>& code, const std::vector<VirtualGroup>& groups) : code_(code), groups_(groups) {
    for (std::uint32_t g = 0; g < groups.size(); ++g) owner_.insert(owner_.end(), groups[g].count, g);
    now_.resize(owner_.size());
    for (std::uint32_t r = 0; r < owner_.size(); ++r) now_[r] = r;
    find_places();
  }

  void run() {
    std::vector<bool> gone(code_.size(), false);
    for (std::uint32_t i = 0; i < code_.size(); ++i) {
      if (!is_move(code_[i]) || !may_join(i)) continue;
      now_[code_[i].reg[1]] = code_[i].reg[0];
      joined_[code_[i].reg[1]] = true;
      gone[i] = true;
    }
    std::vector<std::uint32_t> moved(code_.size(), 0);
    std::uint32_t kept = 0;
    for (std::uint32_t i = 0; i < code_.size(); ++i) {
      moved[i] = kept;
      if (!gone[i]) kept += 1;
    }
    kept = 0;
    for (std::uint32_t i = 0; i < code_.size(); ++i) {
      if (gone[i]) continue;
      Draft d = code_[i];
      for (unsigned k = 0; k < d.inst.operand_count; ++k) {
        if (d.reg[k] != kNoVirtual) d.reg[k] = now_[d.reg[k]];
      }
      if (d.target != kNoVirtual) d.target = moved[d.target];
      code_[kept++] = d;
    }
    code_.resize(kept);
  }

 private:
  struct Places {
    std::uint32_t first = kNoVirtual, last = 0;  // instructions that name it
    std::uint32_t last_def = 0;
    std::uint32_t defs = 0;
  };

  // Of each register; and the block of each instruction.
  void find_places() {
    places_.resize(owner_.size());
    joined_.assign(owner_.size(), false);
    std::vector<bool> starts(code_.size() + 1, false);
    for (std::uint32_t i = 0; i < code_.size(); ++i) {
      if (code_[i].target != kNoVirtual) starts[code_[i].target] = true;
      if (ends_block(code_[i].inst)) starts[i + 1] = true;
    }
    std::uint32_t block = 0;
    for (std::uint32_t i = 0; i < code_.size(); ++i) {
      block += starts[i] ? 1 : 0;
      block_.push_back(block);
      const Draft& d = code_[i];
      for (unsigned k = 0; k < d.inst.operand_count; ++k) {
        if (d.reg[k] == kNoVirtual) continue;
        const Operand& o = d.inst.operand_array[k];
        for (unsigned w = 0; w < std::max<unsigned>(1, o.width); ++w) {
          Places& p = places_[d.reg[k] + w];
          p.first = std::min(p.first, i);
          p.last = i;
          if (o.role == Role::kUse) continue;
          p.last_def = i;
          ++p.defs;
        }
      }
    }
  }

  [[nodiscard]] static bool is_move(const Draft& d) {
    return d.inst.op == Op::MOV && d.inst.operand_count >= 2 && d.guard == kNoVirtual && d.inst.guard.pred == kPT &&
           d.reg[0] != kNoVirtual && d.reg[1] != kNoVirtual && d.inst.operand_array[1].kind == OperandKind::kGpr;
  }

  // Whether the move at `i` is all that writes its result, and its operand, alone in its group and of this block only, is
  // not written again before the result was read for the last time.
  [[nodiscard]] bool may_join(std::uint32_t i) const {
    const std::uint32_t to = code_[i].reg[0], from = code_[i].reg[1];
    const Places& t = places_[to];
    const Places& f = places_[from];
    return groups_[owner_[to]].count > 1 && groups_[owner_[from]].count == 1 && !joined_[from] && t.defs == 1 &&
           t.first == i && f.last_def < i && block_[f.first] == block_[i] && block_[f.last] == block_[i] &&
           block_[t.last] == block_[i];
  }

  std::vector<Draft>& code_;
  const std::vector<VirtualGroup>& groups_;
  std::vector<std::uint32_t> owner_;  // group of each register
  std::vector<std::uint32_t> now_;    // what each register has become
  std::vector<bool> joined_;
  std::vector<Places> places_;
  std::vector<std::uint32_t> block_;
};

}  // namespace

void coalesce(std::vector<Draft>& code, const std::vector<VirtualGroup>& groups) {
  if (!code.empty()) Coalescer(code, groups).run();
}

}  // namespace nervanagpu::sass
