// Where control may go. Direct branches are plain. What sm_50 to sm_62 push (SSY, PBK, PCNT, PRET, CAL) is followed with
// its stack, so that a SYNC goes only where a path to it has pushed; should the stacks become too many or too deep, every
// pop goes to every target of its kind. Later families have only calls, whose return addresses are in registers (calls.h).
#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "sass/bytes.h"
#include "sass/isa/control_flow.h"
#include "sass/isa/op_facts.h"
#include "sass/verify/calls.h"
#include "sass/verify/code.h"

namespace nervanagpu::sass::verify_detail {
namespace {

constexpr std::uint32_t kNone = ~std::uint32_t{0};

// A target that an instruction left for a later one.
struct Frame {
  Op by;
  std::uint32_t target;
  bool operator==(const Frame& o) const { return by == o.by && target == o.target; }
  bool operator<(const Frame& o) const { return std::tie(by, target) < std::tie(o.by, o.target); }
};
using Stack = std::vector<Frame>;

bool pushes(Op op) {
  return (goes(op) == Goes::kPush && op != Op::BSSY) || goes(op) == Goes::kCall;
}

// What a pop takes: of a return what a call left, or what was left as its return.
bool pops(Op op, Op by) {
  if (goes(op) == Goes::kReturn) return goes(by) == Goes::kCall || comes_back(op, by);
  return goes(op) == Goes::kPop && by == partner_of(op);
}
bool pops_anything(Op op) {
  return goes(op) == Goes::kPop || goes(op) == Goes::kReturn;
}

class Walker {
 public:
  explicit Walker(Code& code) : code_(code), n_(static_cast<std::uint32_t>(code.steps.size())) {}

  void run() {
    if (n_ == 0) return;
    find_targets();
    if (info(code_.arch).encoding == Encoding::k128) {
      connect_calls();
    } else if (!walk()) {
      connect_all_pops();
    }
    for (Step& s : code_.steps) {
      std::ranges::sort(s.next);
      s.next.erase(std::unique(s.next.begin(), s.next.end()), s.next.end());
    }
  }

 private:
  [[nodiscard]] const Step& at(std::uint32_t i) const { return code_.steps[i]; }

  [[nodiscard]] std::uint32_t target(std::uint32_t i) const {
    if (!at(i).known) return kNone;
    for (const Operand& o : at(i).inst.operands()) {
      if (o.kind != OperandKind::kLabel || o.imm < 0) continue;
      const auto to = static_cast<std::uint64_t>(o.imm);
      // A bundle's control word counts as its first instruction.
      const std::uint64_t index =
          info(code_.arch).encoding == Encoding::k128 ? to / 16 : to / 32 * 3 + (to % 32 < 8 ? 0 : (to % 32 - 8) / 8);
      return index < n_ ? static_cast<std::uint32_t>(index) : kNone;
    }
    return kNone;
  }

  // Some thread may go on to i + 1 without any pop.
  [[nodiscard]] bool falls_through(std::uint32_t i) const {
    const Step& s = at(i);
    return !s.known || s.never || sass::falls_through(s.inst);
  }

  // The target is computed, or outside of this code.
  [[nodiscard]] bool indirect(std::uint32_t i) const {
    if (!at(i).known) return false;
    const Goes way = goes(at(i).inst.op);
    return computed_target(at(i).inst) || ((way == Goes::kJump || way == Goes::kCall) && target(i) == kNone);
  }

  void connect_calls() {
    Branches branches;
    bool calls = false;
    for (std::uint32_t i = 0; i < n_; ++i) {
      code_.steps[i].next = plain(i);
      const Goes way = at(i).known && !at(i).never ? goes(at(i).inst.op) : Goes::kNext;
      calls = calls || way == Goes::kCall || way == Goes::kReturn;
    }
    if (!calls) return;
    for (std::uint32_t i = 0; i < n_; ++i) {
      branches.next.push_back(code_.steps[i].next);
      branches.target.push_back(target(i));
    }
    branches.landings = landings_;
    CallEdges found = follow_calls(code_, branches);
    for (const auto& [from, to] : found.edges) code_.steps[from].next.push_back(to);
    for (const std::uint32_t i : found.leaving) code_.steps[i].leaves = true;
    code_.unproven = std::move(found.unproven);
  }

  void find_targets() {
    for (std::uint32_t i = 0; i < n_; ++i) {
      const std::uint32_t to = target(i);
      if (to != kNone && !indirect(i)) labels_.push_back(to);
      if (at(i).known && at(i).inst.op == Op::BSSY && to != kNone) barriers_[barrier(i)].push_back(to);
      if (!falls_through(i) && i + 1 < n_) landings_.push_back(i + 1);
      returns_ = returns_ || (at(i).known && at(i).inst.op == Op::RET);
    }
    landings_.insert(landings_.end(), labels_.begin(), labels_.end());
  }

  [[nodiscard]] unsigned barrier(std::uint32_t i) const {
    for (const Operand& o : at(i).inst.operands()) {
      if (o.kind == OperandKind::kBarrierReg) return o.reg;
    }
    return 0;
  }

  // The instruction in front of `i`, on the only way there, that writes the register; kNone: there is none.
  [[nodiscard]] std::uint32_t writer(std::uint32_t i, unsigned reg) const {
    const auto writes = [&](const Access& a) {
      return a.write && a.file == RegFile::kGpr && reg >= a.first && reg - a.first < a.count;
    };
    std::uint32_t j = i;
    do {
      if (j == 0 || std::ranges::find(labels_, j) != labels_.end()) return kNone;
      const Step& s = at(--j);
      if (!s.known || (!s.never && goes(s.inst.op) != Goes::kNext)) return kNone;
    } while (std::ranges::none_of(at(j).touched, writes));
    return at(j).inst.guard.pred == kPT && !at(j).inst.guard.inv ? j : kNone;
  }

  // The instruction that computes min(x, most), of which the register of `o` is 4 times; kNone: it is something else.
  [[nodiscard]] std::uint32_t least_of(std::uint32_t j, const Operand& o, std::int64_t& most) const {
    const std::uint32_t scaled = o.reg == kNoReg ? kNone : writer(j, o.reg);
    if (scaled == kNone) return kNone;
    const Inst& times = at(scaled).inst;
    const std::span<const Operand> t = times.operands();
    if (times.op != Op::IMAD || times.mod(Axis::kExtended) != Tok::kNone || t.size() != 4) return kNone;
    if (t[1].kind != OperandKind::kGpr || t[1].neg || t[2].kind != OperandKind::kImm || t[2].imm != 4) return kNone;
    if (t[3].kind != OperandKind::kGpr || t[3].reg != kRZ) return kNone;
    const std::uint32_t least = writer(scaled, t[1].reg);
    if (least == kNone) return kNone;
    const Inst& inst = at(least).inst;
    const bool knows = inst.op == Op::VIMNMX || inst.op == Op::IMNMX || inst.op == Op::VIADDMNMX;
    if (!knows || !inst.has(Axis::kSigned, Tok::U32) || inst.mod(Axis::kSat) != Tok::kNone) return kNone;
    const Operand& smaller = inst.operands().back();
    const Operand& bound = inst.operands()[inst.operand_count - 2U];
    if (smaller.kind != OperandKind::kPred || smaller.reg != kPT || smaller.inv) return kNone;
    if (bound.kind != OperandKind::kImm || bound.imm < 0) return kNone;
    most = bound.imm;
    return least;
  }

  // Where the entries from byte `first` to `last` of c[0x2] send a jump that adds `base`.
  [[nodiscard]] std::vector<std::uint32_t> listed(std::int64_t base, std::int64_t first, std::int64_t last) const {
    const ByteView table(code_.kernel->constant2);
    constexpr std::int64_t kEntry = sizeof(std::uint32_t);
    std::vector<std::uint32_t> to;
    for (std::int64_t k = first; k + kEntry <= last; k += kEntry) {
      const auto address =
          static_cast<std::uint64_t>(base + load_le<std::uint32_t>(table, static_cast<std::size_t>(k)));
      const std::int64_t index = index_at(info(code_.arch).encoding, address);
      if (index >= 0 && index < std::int64_t{n_}) to.push_back(static_cast<std::uint32_t>(index));
    }
    return to;
  }

  // Where an indirect jump goes whose register the lines before it load from c[0x2], where compilers keep tables of labels.
  [[nodiscard]] std::vector<std::uint32_t> in_table(std::uint32_t i) const {
    constexpr std::uint8_t kTables = 2;  // bank
    if (goes(at(i).inst.op) != Goes::kIndirect) return {};
    // What the jump adds is relative to the next instruction.
    const std::int64_t bytes = info(code_.arch).encoding == Encoding::k128 ? 16 : 8;
    std::int64_t base = static_cast<std::int64_t>(code_.address(i)) + bytes;
    std::uint8_t from = kRZ;
    for (const Operand& o : at(i).inst.operands()) {
      if (o.kind == OperandKind::kImm) base += o.imm;
      if (o.kind == OperandKind::kGpr) from = o.reg;
    }
    if (from == kRZ) return {};
    const std::uint32_t j = writer(i, from);
    if (j == kNone) return {};
    const Inst& load = at(j).inst;
    const auto is_table = [](const Operand& o) { return o.kind == OperandKind::kConst && o.bank == kTables; };
    const auto place = std::ranges::find_if(load.operands(), is_table);
    if (load.op != Op::LDC || place == load.operands().end()) return {};
    const auto size = static_cast<std::int64_t>(code_.kernel->constant2.size());
    std::vector<std::uint32_t> all = listed(base, 0, size);
    // Tables lie one after the other. An index of min(x, most), as compilers write a switch, stays in one of them.
    std::int64_t most = 0;
    const std::uint32_t least = least_of(j, *place, most);
    const auto goes_between = [&](std::uint32_t to) { return to > least && to <= i; };
    if (least == kNone || std::ranges::any_of(all, goes_between)) return all;
    const std::int64_t last = place->imm + 4 * (most + 1);
    return place->imm >= 0 && last <= size ? listed(base, place->imm, last) : all;
  }

  // Successors that do not depend on the stack.
  [[nodiscard]] std::vector<std::uint32_t> plain(std::uint32_t i) const {
    std::vector<std::uint32_t> to;
    if (falls_through(i) && i + 1 < n_) to.push_back(i + 1);
    const Step& s = at(i);
    if (!s.known || s.never) return to;
    const Op op = s.inst.op;
    const std::uint32_t label = target(i);
    const bool names = goes(op) == Goes::kPush || op == Op::LEPC;
    const bool later = op == Op::CALL;  // followed by calls.h
    if (label != kNone && !names && !later && !indirect(i)) to.push_back(label);
    if (indirect(i) && op != Op::RET && !later) {
      const std::vector<std::uint32_t> listed = in_table(i);
      const std::vector<std::uint32_t>& all = listed.empty() ? landings_ : listed;
      to.insert(to.end(), all.begin(), all.end());
    }
    if (op == Op::BSYNC) {
      const auto found = barriers_.find(barrier(i));
      if (found != barriers_.end()) {
        const auto in_place = [&](std::uint32_t t) { return t == i || t == i + 1; };
        // Reconvergence in place is how compilers write it; otherwise any BSSY of this barrier may have sent us on.
        if (std::ranges::none_of(found->second, in_place)) {
          to.insert(to.end(), found->second.begin(), found->second.end());
        }
      }
    }
    return to;
  }

  bool walk() {
    constexpr std::size_t kDeepest = 64;
    const std::size_t limit = std::size_t{n_} * 24 + 4096;
    std::set<std::pair<std::uint32_t, Stack>> seen;
    std::vector<std::pair<std::uint32_t, Stack>> work{{0, {}}};
    seen.insert(work.front());
    bool too_deep = false;
    while (!work.empty()) {
      if (seen.size() > limit || too_deep) return false;
      const std::uint32_t i = work.back().first;
      Stack stack = std::move(work.back().second);
      work.pop_back();
      const auto go = [&](std::uint32_t to, const Stack& with) {
        code_.steps[i].next.push_back(to);
        too_deep = too_deep || with.size() > kDeepest;
        if (seen.insert({to, with}).second) work.push_back({to, with});
      };
      const Op op = at(i).known ? at(i).inst.op : Op::NOP;
      const std::uint32_t label = target(i);
      const bool pushing = pushes(op) && !at(i).never;
      Stack pushed = stack;
      if (pushing) {
        const std::uint32_t back = op == Op::CAL ? i + 1 : label;
        if (back < n_) pushed.push_back({op, back});
        forget_inner(pushed);
      }
      // A jump after PRET calls a function; where no code returns that is one of the driver's, which comes back.
      if (goes(op) == Goes::kIndirect && !at(i).never && !stack.empty() && comes_back(op, stack.back().by)) {
        const Stack outer(stack.begin(), stack.end() - 1);
        go(stack.back().target, outer);
        if (!returns_) {
          if (falls_through(i) && i + 1 < n_) go(i + 1, stack);
          continue;
        }
      }
      for (const std::uint32_t to : plain(i)) {
        // A call's frame goes with the branch, a push's with the next instruction.
        const bool entered = op == Op::CAL ? to == label : to != label;
        go(to, pushing && entered ? pushed : stack);
      }
      if (!pops_anything(op) || at(i).never) continue;
      while (!stack.empty()) {
        const Frame top = stack.back();
        stack.pop_back();
        if (pops(op, top.by)) {
          go(top.target, stack);
          break;
        }
      }
    }
    return true;
  }

  // A frame pushed again while it is still there is a loop that left it behind: what lies above it is gone.
  static void forget_inner(Stack& stack) {
    for (std::size_t k = 0; k + 1 < stack.size(); ++k) {
      if (stack[k] == stack.back()) {
        stack.resize(k + 1);
        return;
      }
    }
  }

  void connect_all_pops() {
    for (std::uint32_t i = 0; i < n_; ++i) {
      Step& s = code_.steps[i];
      s.next = plain(i);
      if (!s.known || s.never) continue;
      for (std::uint32_t j = 0; j < n_; ++j) {
        if (!at(j).known) continue;
        // A function of the driver that a jump calls comes back where PRET said.
        if (!comes_back(s.inst.op, at(j).inst.op) && !pops(s.inst.op, at(j).inst.op)) continue;
        const std::uint32_t to = at(j).inst.op == Op::CAL ? j + 1 : target(j);
        if (to < n_) s.next.push_back(to);
      }
    }
  }

  Code& code_;
  std::uint32_t n_;
  std::vector<std::uint32_t> labels_, landings_;
  bool returns_ = false;                                     // there is a RET
  std::map<unsigned, std::vector<std::uint32_t>> barriers_;  // BSSY targets of each convergence barrier
};

}  // namespace

void connect(Code& code) {
  Walker(code).run();
}

}  // namespace nervanagpu::sass::verify_detail
