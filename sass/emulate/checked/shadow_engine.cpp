// What the asynchronous engines and mbarriers do to the shadow. The copies that complete at an mbarrier are an agent, whose
// time is the number of the last one known to be complete.
#include "sass/emulate/checked/shadow.h"

namespace nervanagpu::sass::emulate {

Shadow::Copy Shadow::copy_begins(std::uint32_t mbarrier) {
  Phases& p = phases_[mbarrier];
  if (!p.copied) {
    p.copied = true;
    p.copies = order_.new_copies(rank_, mbarrier);
  }
  ++p.copy;
  p.waits.copies(p.copies, p.copy);
  for (Times& t : p.current.at) {
    if (t.size() <= p.copies) t.resize(p.copies + std::size_t{1});
    t[p.copies] = p.copy;
  }
  return {p.copies, p.copy};
}

Trouble Shadow::engine_store(const Strand& s, std::uint32_t pc, Copy copy, std::uint32_t offset, unsigned bytes,
                             bool adds) {
  Trouble t;
  const std::uint32_t now = log_.number({.cluster = order_.cluster(),
                                         .time = copy.time,
                                         .pc = pc,
                                         .agent = copy.agent,
                                         .warp = static_cast<std::uint16_t>(s.warp),
                                         .rank = static_cast<std::uint8_t>(s.rank),
                                         .kind = adds ? Touch::Kind::kStrongWrite : Touch::Kind::kWrite,
                                         .mask = 15});
  for (std::uint32_t i = offset / 4; i < (offset + bytes) / 4; ++i) word_access(s, now, 0, i, Use::kStore, t);
  for (std::uint32_t i = offset / 4; i < (offset + bytes) / 4; ++i) words_[i].generic = false;
  return t;
}

Trouble Shadow::mbarrier_made(const Strand& s, std::uint32_t pc, unsigned lane, std::uint32_t address,
                              std::uint32_t offset) {
  Trouble t;
  const std::uint32_t now = number(s, pc, lane, Touch::Kind::kInit, 15);
  Phases& p = phases_[address];
  p.current.clear();
  p.over.clear();
  p.waits.reset();
  p.remote = false;
  if (now == 0) return t;
  p.made = true;
  p.init = log_.at(now);
  p.init_lane = static_cast<std::uint8_t>(lane);
  for (unsigned i = 0; i < 2; ++i) {
    Word& word = words_[offset / 4 + i];
    word.mbarrier = false;
    word_access(s, now, lane, offset / 4 + i, Use::kStore, t);
    word.generic = false;
    word.mbarrier = true;
  }
  return t;
}

void Shadow::mbarrier_gone(std::uint32_t offset) {
  for (unsigned i = 0; i < 2; ++i) words_[offset / 4 + i].mbarrier = false;
}

Trouble Shadow::mbarrier_used(const Strand& s, std::uint32_t address, std::uint32_t offset, bool engine) {
  Trouble t;
  const Phases& p = phases_[address];
  if (!p.made) return t;
  t.other = p.init;
  t.other_lane = p.init_lane;
  const bool abroad = order_.agent(p.init.agent).rank != s.rank;
  if (time_in(s.known.at[0], p.init.agent) < p.init.time) {
    t.note(Trouble::What::kRace, offset / 4);
  } else if ((engine || abroad) && !order_.is_fenced(s, p.init.agent, p.init_lane, p.init.time,
                                                     engine ? Order::Fence::kInit : Order::Fence::kMembar)) {
    t.note(Trouble::What::kNoFence, offset / 4);
  }
  return t;
}

void Shadow::mbarrier_arrive(Strand& s, std::uint32_t address, bool counts, bool told) {
  Phases& p = phases_[address];
  if (counts) p.waits.arrives(s, told);
  order_.release(s, p.current);
}

std::vector<PhaseWaits::Wait> Shadow::phase_over(std::uint32_t address) {
  Phases& p = phases_[address];
  p.over.join(p.current);
  p.current.clear();
  return p.waits.ends(p.over);
}

}  // namespace nervanagpu::sass::emulate
