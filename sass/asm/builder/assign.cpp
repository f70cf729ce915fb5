#include "sass/asm/builder/assign.h"

#include <algorithm>
#include <bitset>
#include <numeric>

#include "sass/asm/schedule/bits.h"
#include "sass/isa/control_flow.h"
#include "sass/isa/op.h"

namespace nervanagpu::sass {
namespace {

struct Block {
  std::uint32_t first = 0, last = 0;  // instructions [first, last)
  std::uint32_t next[2] = {kNoVirtual, kNoVirtual};
};

// Where a group is live: instruction i reads at 2 i and writes at 2 i + 1, so that a result may take the place of an
// operand that is read for the last time.
struct Range {
  std::uint32_t start = kNoVirtual;
  std::uint32_t end = 0;
  void cover(std::uint32_t at) {
    start = std::min(start, at);
    end = std::max(end, at);
  }
};

class Assigner {
 public:
  Assigner(std::vector<Draft>& code, const std::vector<VirtualGroup>& groups, std::uint32_t limit)
      : code_(code), groups_(groups), limit_(limit), ranges_(groups.size()), place_(groups.size(), 0) {
    for (std::uint32_t g = 0; g < groups.size(); ++g) owner_.insert(owner_.end(), groups[g].count, g);
  }

  Status run() {
    cut();
    find_live();
    if (Status s = check_entry(); !s) return s;
    find_ranges();
    if (Status s = scan(); !s) return s;
    for (Draft& d : code_) rename(d);
    return Done{};
  }

 private:
  // Calls use(first register, count) or def(..., surely) for each virtual operand.
  template <class Use, class Def>
  void touch(const Draft& d, const Use& use, const Def& def) const {
    const bool surely = d.inst.guard.pred == kPT && d.guard == kNoVirtual;
    if (d.guard != kNoVirtual) use(d.guard, 1U);
    for (unsigned i = 0; i < d.inst.operand_count; ++i) {
      if (d.reg[i] == kNoVirtual) continue;
      const Operand& o = d.inst.operand_array[i];
      const unsigned count = o.width;
      if (o.role != Role::kDef) use(d.reg[i], count);
      if (o.role != Role::kUse) def(d.reg[i], count, surely);
    }
  }

  // A guard or predicate operand that has no number yet.
  static bool has_condition(const Draft& d) {
    for (unsigned i = 0; i < d.inst.operand_count; ++i) {
      if (d.reg[i] != kNoVirtual && d.inst.operand_array[i].kind == OperandKind::kPred) return true;
    }
    return d.guard != kNoVirtual;
  }

  void cut() {
    std::vector<bool> starts(code_.size() + 1, false);
    starts[0] = true;
    for (std::uint32_t i = 0; i < code_.size(); ++i) {
      if (code_[i].target != kNoVirtual) starts[code_[i].target] = true;
      if (ends_block(code_[i].inst)) starts[i + 1] = true;
    }
    std::vector<std::uint32_t> block_of(code_.size(), 0);
    for (std::uint32_t i = 0; i < code_.size(); ++i) {
      if (starts[i]) blocks_.push_back({i, i, {}});
      if (starts[i]) blocks_.back().next[0] = blocks_.back().next[1] = kNoVirtual;
      blocks_.back().last = i + 1;
      block_of[i] = static_cast<std::uint32_t>(blocks_.size() - 1);
    }
    for (std::uint32_t b = 0; b < blocks_.size(); ++b) {
      const Draft& d = code_[blocks_[b].last - 1];
      if ((reaches_next(d.inst) || has_condition(d)) && b + 1 < blocks_.size()) blocks_[b].next[0] = b + 1;
      if (d.target != kNoVirtual) blocks_[b].next[1] = block_of[d.target];
    }
  }

  void step_back(const Draft& d, Bits& live) const {
    touch(
        d, [](std::uint32_t, unsigned) {},
        [&](std::uint32_t r, unsigned n, bool surely) {
          for (unsigned k = 0; surely && k < n; ++k) live.reset(r + k);
        });
    touch(
        d,
        [&](std::uint32_t r, unsigned n) {
          for (unsigned k = 0; k < n; ++k) live.set(r + k);
        },
        [](std::uint32_t, unsigned, bool) {});
  }

  void find_live() {
    live_in_.assign(blocks_.size(), Bits(owner_.size()));
    for (bool changed = true; changed;) {
      changed = false;
      for (std::uint32_t b = static_cast<std::uint32_t>(blocks_.size()); b-- > 0;) {
        Bits live = behind(b);
        for (std::uint32_t i = blocks_[b].last; i-- > blocks_[b].first;) step_back(code_[i], live);
        changed |= live_in_[b].merge(live);
      }
    }
  }
  [[nodiscard]] Bits behind(std::uint32_t b) const {
    Bits live(owner_.size());
    for (const std::uint32_t n : blocks_[b].next) {
      if (n != kNoVirtual) live.merge(live_in_[n]);
    }
    return live;
  }

  [[nodiscard]] Status check_entry() const {
    std::uint32_t bad = kNoVirtual;
    live_in_[0].each([&](std::uint32_t r) { bad = std::min(bad, r); });
    if (bad == kNoVirtual) return Done{};
    return error("virtual register " + std::to_string(bad) + " is read before it is written");
  }

  void find_ranges() {
    for (std::uint32_t b = 0; b < blocks_.size(); ++b) {
      const Block& block = blocks_[b];
      behind(b).each([&](std::uint32_t r) { ranges_[owner_[r]].cover(2 * block.last - 1); });
      live_in_[b].each([&](std::uint32_t r) { ranges_[owner_[r]].cover(2 * block.first); });
      for (std::uint32_t i = block.first; i < block.last; ++i) {
        touch(
            code_[i], [&](std::uint32_t r, unsigned) { ranges_[owner_[r]].cover(2 * i); },
            [&](std::uint32_t r, unsigned, bool) { ranges_[owner_[r]].cover(2 * i + 1); });
      }
    }
  }

  Status scan() {
    std::vector<std::uint32_t> order;
    for (std::uint32_t g = 0; g < groups_.size(); ++g) {
      if (ranges_[g].start != kNoVirtual) order.push_back(g);
    }
    std::ranges::stable_sort(order,
                             [&](std::uint32_t a, std::uint32_t b) { return ranges_[a].start < ranges_[b].start; });
    std::array<std::bitset<256>, 2> taken;
    std::vector<std::uint32_t> active;
    for (const std::uint32_t g : order) {
      std::erase_if(active, [&](std::uint32_t a) {
        if (ranges_[a].end >= ranges_[g].start) return false;
        for (unsigned k = 0; k < groups_[a].count; ++k) taken[file(a)].reset(place_[a] + k);
        return true;
      });
      const std::uint32_t most = file(g) == 0 ? limit_ : kPT;
      std::uint32_t base = 0;
      const auto fits = [&] {
        for (unsigned k = 0; k < groups_[g].count; ++k) {
          if (taken[file(g)].test(base + k)) return false;
        }
        return true;
      };
      while (base + groups_[g].count <= most && !fits()) base += groups_[g].count;
      if (base + groups_[g].count > most) return no_room(g, active);
      place_[g] = base;
      for (unsigned k = 0; k < groups_[g].count; ++k) taken[file(g)].set(base + k);
      active.push_back(g);
    }
    return Done{};
  }
  [[nodiscard]] unsigned file(std::uint32_t g) const { return groups_[g].file == RegFile::kPred ? 1 : 0; }

  [[nodiscard]] Diag no_room(std::uint32_t g, const std::vector<std::uint32_t>& active) const {
    const auto live = std::accumulate(active.begin(), active.end(), 0U, [&](unsigned sum, std::uint32_t a) {
      return sum + (file(a) == file(g) ? groups_[a].count : 0U);
    });
    return error("no room for " + std::to_string(groups_[g].count) + (file(g) == 0 ? " registers" : " predicates") +
                 " at instruction " + std::to_string(ranges_[g].start / 2) + ": " + std::to_string(live) +
                 " are live, there are " + std::to_string(file(g) == 0 ? limit_ : kPT));
  }

  [[nodiscard]] std::uint8_t number(std::uint32_t r) const {
    return static_cast<std::uint8_t>(place_[owner_[r]] + (r - groups_[owner_[r]].first));
  }
  void rename(Draft& d) const {
    if (d.guard != kNoVirtual) d.inst.guard.pred = number(d.guard);
    for (unsigned i = 0; i < d.inst.operand_count; ++i) {
      if (d.reg[i] != kNoVirtual) d.inst.operand_array[i].reg = number(d.reg[i]);
    }
  }

  std::vector<Draft>& code_;
  const std::vector<VirtualGroup>& groups_;
  std::uint32_t limit_;
  std::vector<std::uint32_t> owner_;  // group of each virtual register
  std::vector<Block> blocks_;
  std::vector<Bits> live_in_;
  std::vector<Range> ranges_;
  std::vector<std::uint32_t> place_;
};

}  // namespace

Status assign_registers(std::vector<Draft>& code, const std::vector<VirtualGroup>& groups, std::uint32_t limit) {
  if (code.empty()) return Done{};
  return Assigner(code, groups, limit).run();
}

}  // namespace nervanagpu::sass
