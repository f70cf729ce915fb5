#include "sass/asm/schedule/flow.h"

#include <algorithm>

#include "sass/isa/access.h"
#include "sass/isa/control_flow.h"
#include "sass/isa/op_facts.h"

namespace nervanagpu::sass {
namespace {

// The instruction at a byte address; the control word of a bundle counts as its first instruction.
std::uint64_t index_of(Encoding e, std::uint64_t address) {
  if (e == Encoding::k128) return address / 16;
  return address / 32 * 3 + (address % 32 < 8 ? 0 : (address % 32 - 8) / 8);
}

class FlowMaker {
 public:
  explicit FlowMaker(const Program& program)
      : lines_(program.lines), encoding_(info(program.manifest.arch).encoding), starts_(lines_.size() + 1, false) {}

  Flow make() {
    if (lines_.empty()) return {};
    mark_starts();
    cut();
    connect();
    find_loops();
    return std::move(flow_);
  }

 private:
  // The label operand's instruction, or no target.
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  [[nodiscard]] std::uint32_t target(const Line& line) const {
    for (const Operand& o : line.inst.operands()) {
      if (o.kind != OperandKind::kLabel || o.imm < 0) continue;
      auto to = static_cast<std::uint64_t>(o.imm);
      if (line.label.empty()) to = index_of(encoding_, to);  // the author wrote an address
      if (to < lines_.size()) return static_cast<std::uint32_t>(to);
    }
    return kNone;
  }

  void mark_starts() {
    starts_[0] = true;
    for (std::uint32_t i = 0; i < lines_.size(); ++i) {
      const Inst& inst = lines_[i].inst;
      const std::uint32_t to = computed_target(inst) ? kNone : target(lines_[i]);
      if (to != kNone) {
        starts_[to] = true;
        landings_.push_back(to);
        if (goes(inst.op) == Goes::kPush) pushed_.push_back({inst.op, to});
        if (inst.op == Op::PRET) returns_.push_back(to);
      }
      const bool call = goes(inst.op) == Goes::kCall;
      const bool falls = reaches_next(inst);
      if (to != kNone || partner_of(inst.op) != Op::NOP || ends_block(inst) || !falls || call) starts_[i + 1] = true;
      if (i + 1 == lines_.size()) continue;
      if (!falls) landings_.push_back(i + 1);
      if (call) returns_.push_back(i + 1);
    }
  }

  void cut() {
    flow_.block_of.resize(lines_.size());
    for (std::uint32_t i = 0; i < lines_.size(); ++i) {
      if (starts_[i]) flow_.blocks.push_back({i, i, {}, {}, 0});
      flow_.blocks.back().last = i + 1;
      flow_.block_of[i] = static_cast<std::uint32_t>(flow_.blocks.size() - 1);
    }
  }

  void edge(std::uint32_t from, std::uint32_t to_line) {
    const std::uint32_t to = flow_.block_of[to_line];
    std::vector<std::uint32_t>& next = flow_.blocks[from].next;
    if (std::ranges::find(next, to) != next.end()) return;
    next.push_back(to);
    flow_.blocks[to].prev.push_back(from);
  }

  void connect() {
    for (std::uint32_t b = 0; b < flow_.blocks.size(); ++b) {
      const std::uint32_t last = flow_.blocks[b].last - 1;
      const Inst& inst = lines_[last].inst;
      if (reaches_next(inst) && last + 1 < lines_.size()) edge(b, last + 1);
      const bool computed = computed_target(inst);
      const std::uint32_t to = computed ? kNone : target(lines_[last]);
      // A push names where control goes later, by the instruction that pops it.
      if (to != kNone && goes(inst.op) != Goes::kPush) edge(b, to);
      if (computed && goes(inst.op) != Goes::kReturn) {
        for (const std::uint32_t landing : landings_) edge(b, landing);
      }
      if (goes(inst.op) == Goes::kReturn) {
        for (const std::uint32_t place : returns_) edge(b, place);
      }
      connect_pop(b, last);
    }
  }

  // SYNC, BRK, BSYNC ... go to the target of any matching push. A BSYNC right before such a target is the common case
  // of reconvergence in place, and goes nowhere else.
  void connect_pop(std::uint32_t b, std::uint32_t last) {
    const Op wanted = partner_of(lines_[last].inst.op);
    if (wanted == Op::NOP) return;
    const auto in_place = [&](const auto& p) {
      return p.first == wanted && (p.second == last || p.second == last + 1);
    };
    if (wanted == Op::BSSY && std::ranges::any_of(pushed_, in_place)) return;
    for (const auto& [op, to] : pushed_) {
      if (op == wanted) edge(b, to);
    }
  }

  // Code is laid out so that a loop is what an edge back spans.
  void find_loops() {
    for (std::uint32_t b = 0; b < flow_.blocks.size(); ++b) {
      for (const std::uint32_t to : flow_.blocks[b].next) {
        if (to > b || partner_of(lines_[flow_.blocks[b].last - 1].inst.op) != Op::NOP) continue;
        for (std::uint32_t inner = to; inner <= b; ++inner) ++flow_.blocks[inner].depth;
      }
    }
  }

  const std::vector<Line>& lines_;
  Encoding encoding_;
  std::vector<bool> starts_;
  std::vector<std::uint32_t> landings_;  // where a computed branch may go: labels, and what nothing falls into
  std::vector<std::uint32_t> returns_;   // after each call
  std::vector<std::pair<Op, std::uint32_t>> pushed_;
  Flow flow_;
};

}  // namespace

Flow flow_of(const Program& program) {
  return FlowMaker(program).make();
}

}  // namespace nervanagpu::sass
