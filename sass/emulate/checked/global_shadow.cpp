#include "sass/emulate/checked/global_shadow.h"

#include <algorithm>

namespace nervanagpu::sass::emulate {
namespace {

bool comes_after(const Order& order, const Strand& s, const Touch& b) {
  if (b.cluster == order.cluster()) return is_ordered(order, s, b, Reach::kGpu);
  if (s.known.foreign == nullptr) return false;
  const auto it = s.known.foreign->find(b.cluster);
  if (it == s.known.foreign->end()) return false;
  return time_in(b.writes() ? it->second.gpu : it->second.seen, b.agent) >= b.time;
}

}  // namespace

Trouble GlobalShadow::access(Part& part, const Order& order, const Strand& s, std::uint32_t pc, unsigned lane,
                             std::uint64_t address, unsigned bytes, Touch::Kind kind) {
  Trouble t;
  const std::uint64_t number = address >> 12;
  if (number != part.last) {
    auto it = part.pages.find(number);
    if (it == part.pages.end()) {
      if (part.pages.size() >= kMostPages / kParts) return t;
      it = part.pages.emplace(number, std::make_unique<Part::Page>()).first;
    }
    part.last = number;
    part.page = it->second.get();
  }
  const auto in_page = static_cast<std::uint32_t>(address & 0xfff);
  for (std::uint32_t at = in_page; at < in_page + bytes;) {
    const std::uint32_t in = at & 3;
    const std::uint32_t n = std::min(4 - in, in_page + bytes - at);
    const auto mask = static_cast<std::uint8_t>(((1u << n) - 1) << in);
    const std::uint32_t now = part.log.number(touch_of(order, s, pc, lane, kind, mask));
    if (now == 0) return t;
    Part::Word& word = (*part.page)[at / 4];
    const std::uint8_t lane_before = word.lane;
    const std::uint32_t writer_before = word.writer;
    part.log.touch(
        word, now, [&](const Touch& b) { return comes_after(order, s, b); },
        [&](std::uint32_t other, bool last) {
          if (t.what != Trouble::What::kNone) return;
          t.other = part.log.at(other);
          t.other_lane = last ? lane_before : std::uint8_t{32};
          t.note(Trouble::What::kRace, at / 4);
        });
    if (word.writer != writer_before) word.lane = static_cast<std::uint8_t>(lane);  // of several the first lane
    at += n;
  }
  return t;
}

void GlobalShadow::acquire(Part& part, const Order& order, Strand& s, std::uint64_t address) {
  const auto it = part.flags.find(address);
  if (it == part.flags.end()) return;
  const Part::Flag& flag = it->second;
  if (s.flag == address && s.flag_version == flag.version) return;
  s.flag = address;
  s.flag_version = flag.version;
  std::shared_ptr<Foreign> all;
  for (const auto& [cluster, times] : flag.known) {
    if (cluster == order.cluster()) {
      join(s.known.at[static_cast<std::size_t>(Reach::kSeen)], times.seen);
      join(s.known.at[static_cast<std::size_t>(Reach::kCluster)], times.gpu);
      join(s.known.at[static_cast<std::size_t>(Reach::kGpu)], times.gpu);
      continue;
    }
    if (all == nullptr)
      all = s.known.foreign == nullptr ? std::make_shared<Foreign>() : std::make_shared<Foreign>(*s.known.foreign);
    Abroad& a = (*all)[cluster];
    join(a.seen, times.seen);
    join(a.gpu, times.gpu);
  }
  if (all != nullptr) s.known.foreign = std::move(all);
}

void GlobalShadow::release(Part& part, const Order& order, const Strand& s, std::uint64_t address, bool adds) {
  Part::Flag& flag = part.flags[address];
  if (!adds) flag.known.clear();
  if (s.known.foreign != nullptr) join(flag.known, *s.known.foreign);
  Abroad& own = flag.known[order.cluster()];
  join(own.seen, s.known.at[static_cast<std::size_t>(Reach::kSeen)]);
  join(own.gpu, s.known.at[static_cast<std::size_t>(Reach::kGpu)]);
  ++flag.version;
}

}  // namespace nervanagpu::sass::emulate
