// Lane groups: how a warp diverges. A divergent branch splits the running group.
#include "sass/emulate/state/warp.h"

namespace nervanagpu::sass::emulate {

void split(Warp& w, std::uint32_t lanes, std::uint32_t pc) {
  w.groups.push_back(Group{.mask = lanes, .pc = pc, .token = w.groups[w.current].token});
  w.active &= ~lanes;
  w.exec = w.active;
}

bool split_others(Warp& w, std::uint32_t pc) {
  const std::uint32_t others = w.active & ~w.exec;
  if (others == 0) return false;
  const std::uint32_t staying = w.exec;
  split(w, others, pc + 1);
  w.active = staying;
  return true;
}

const Uop* leave(Warp& w, const Uop* u, std::uint32_t pc, Stop why) {
  w.instructions += static_cast<std::uint64_t>(u + 1 - w.mark);
  Group& g = w.groups[w.current];
  g.mask = w.active;
  g.pc = pc;
  w.stop = why;
  return nullptr;
}

const Uop* jump(Warp& w, const Uop* u, std::uint32_t target) {
  const std::uint32_t here = static_cast<std::uint32_t>(u - w.code);
  if (split_others(w, here)) return leave(w, u, target, Stop::kBlocked);
  if (target <= here && --w.slice == 0) return leave(w, u, target, Stop::kYield);
  w.instructions += static_cast<std::uint64_t>(u + 1 - w.mark);
  w.mark = w.code + target;
  return w.mark;
}

}  // namespace nervanagpu::sass::emulate
