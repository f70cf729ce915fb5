// Named barriers of a CTA: BAR.SYNC, BAR.ARV, BAR.RED. A warp has arrived when all its lanes that have not exited have;
// it counts as 32 threads, as on the chip.
#include <algorithm>
#include <bit>
#include <string>

#include "sass/emulate/checked/check.h"
#include "sass/emulate/lanes/lanes.h"
#include "sass/emulate/machine/barriers.h"
#include "sass/emulate/ops/families.h"

namespace nervanagpu::sass::emulate {
namespace {

enum class BarKind : std::uint8_t { kSync, kArrive, kReduce };

// Two registers are one: the barrier in its low half, the threads in the high one.
template <bool in_halves>
const Uop* bar(Warp& w, const Uop* u) {
  const Detail& x = *u->x;
  const unsigned first = static_cast<unsigned>(std::countr_zero(w.exec));
  const std::uint32_t low = fetch_raw(w, x.src[0], 0)[first];
  const std::uint32_t number = in_halves ? low & 0xffff : low;
  if (number >= kNamedBarriers) return fault(w, u, first, "barrier " + std::to_string(number) + " does not exist");
  const std::uint32_t count = in_halves ? low >> 16 : x.src_count > 1 ? fetch_raw(w, x.src[1], 1)[first] : 0;
  if (count % kLanes != 0) {
    return fault(w, u, first, "barrier count " + std::to_string(count) + " is not a multiple of 32");
  }
  Cta& cta = *w.cta;
  NamedBarrier& bar = cta.barriers[number];
  const std::uint32_t bit = 1u << number;
  if ((cta.pending & bit) == 0) {
    bar = NamedBarrier{};
    bar.expected = count;
    bar.counted = count != 0;
    bar.where = static_cast<std::uint32_t>(u - w.code);
    cta.pending |= bit;
  } else if (bar.expected != count) {
    std::string what = "barrier " + std::to_string(number) + " expects " +
                       (bar.counted ? std::to_string(bar.expected) : "all") + " threads, here " +
                       (count != 0 ? std::to_string(count) : "all");
    if (w.checker == nullptr) return fault(w, u, first, "barrier misuse: " + what);
    w.checker->found(w, u, first, "barrier misuse", std::move(what));
  }
  if ((bar.arrived[w.index] & w.exec) != 0) {
    std::string what = "the warp arrives at barrier " + std::to_string(number) + " again before the others did";
    if (w.checker == nullptr) return fault(w, u, first, "barrier misuse: " + what);
    w.checker->found(w, u, first, "barrier misuse", std::move(what));
  }
  check_whole(w, u);
  bar.arrived[w.index] |= w.exec;
  const auto kind = static_cast<BarKind>(x.kind);
  if (w.checker != nullptr) w.checker->barrier_arrived(w, number);
  if (kind == BarKind::kReduce) {
    const std::uint32_t p = x.puse_count > 0 ? predicate(w, x.puse[0]) : kAllLanes;
    bar.red_count += static_cast<std::uint32_t>(std::popcount(p & w.exec));
    bar.red_false += static_cast<std::uint32_t>(std::popcount(~p & w.exec));
    bar.red_kind = static_cast<BarReduce>(x.kind2);
  }
  const std::uint32_t here = static_cast<std::uint32_t>(u - w.code);
  if (kind == BarKind::kArrive) return u + 1;
  split_others(w, here);
  Group& g = w.groups[w.current];
  g.state = Group::State::kAtBarrier;
  g.barrier = static_cast<std::uint8_t>(number);
  return leave(w, u, here, Stop::kBlocked);
}

}  // namespace

bool bind_barrier(const Inst& inst, Binding& b) {
  Detail& x = b.detail;
  if (inst.op != Op::BAR) return false;
  if (says(inst, "ARV")) {
    x.kind = static_cast<std::uint8_t>(BarKind::kArrive);
  } else if (says(inst, "RED")) {
    x.kind = static_cast<std::uint8_t>(BarKind::kReduce);
    x.kind2 = says(inst, "AND") ? kBarAnd : says(inst, "OR") ? kBarOr : kBarPopc;
  } else if (says(inst, "SYNC") || says(inst, "SYNCALL")) {
    x.kind = static_cast<std::uint8_t>(BarKind::kSync);
  } else {
    b.refuse("this kind of barrier");
  }
  if (x.src_count < 1 && !says(inst, "SYNCALL")) b.refuse("operands");
  const auto is_register = [](const Operand& o) { return o.kind == OperandKind::kGpr; };
  const bool in_halves = std::ranges::count_if(inst.operands(), is_register) > 1;
  if (in_halves && inst.operands()[0].reg != inst.operands()[1].reg) b.refuse("number and threads in two registers");
  x.body = in_halves ? bar<true> : bar<false>;
  return true;
}

}  // namespace nervanagpu::sass::emulate
