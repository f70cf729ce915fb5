#include "sass/emulate/checked/order.h"

#include <algorithm>

namespace nervanagpu::sass::emulate {

void join(Times& to, const Times& from) {
  if (to.size() < from.size()) to.resize(from.size());
  for (std::size_t i = 0; i < from.size(); ++i) to[i] = std::max(to[i], from[i]);
}

void join(Foreign& to, const Foreign& from) {
  for (const auto& [cluster, times] : from) {
    Abroad& a = to[cluster];
    join(a.seen, times.seen);
    join(a.gpu, times.gpu);
  }
}

void Known::join(const Known& from) {
  for (std::size_t r = 0; r < kReaches; ++r) emulate::join(at[r], from.at[r]);
  if (from.foreign == nullptr || from.foreign == foreign) return;
  if (foreign == nullptr) {
    foreign = from.foreign;
    return;
  }
  auto both = std::make_shared<Foreign>(*foreign);
  emulate::join(*both, *from.foreign);
  foreign = std::move(both);
}

void Known::clear() {
  for (Times& t : at) t.clear();
  foreign.reset();
}

void Order::begin(std::uint32_t cluster, std::uint32_t ctas, std::uint32_t warps) {
  cluster_ = cluster;
  ctas_ = ctas;
  warps_a_cta_ = warps;
  time_ = 1;
  arriving.clear();
  met.clear();
  agents_.clear();
  const std::size_t all = std::size_t{ctas} * warps;
  warps_.assign(all, std::vector<Strand>(1));
  of_warp_.assign(all, {});
  fences_.assign(all, {});
  for (std::uint32_t i = 0; i < all; ++i) {
    const auto agent = static_cast<std::uint16_t>(i);
    Strand& s = warps_[i].front();
    s.lanes = ~0u;
    s.agent = agent;
    s.rank = static_cast<std::uint16_t>(i / warps);
    s.warp = i % warps;
    s.known.at[0].assign(all, 0);
    s.known.at[0][agent] = time_;
    agents_.push_back({.rank = s.rank, .warp = static_cast<std::uint16_t>(s.warp)});
    of_warp_[i].push_back(agent);
  }
}

Strand& Order::among(std::vector<Strand>& all, unsigned lane) {
  for (Strand& s : all) {
    if ((s.lanes >> lane & 1) != 0) return s;
  }
  return all.front();
}

std::uint16_t Order::spare_agent(std::uint32_t rank, std::uint32_t warp) {
  const std::size_t i = std::size_t{rank} * warps_a_cta_ + warp;
  for (const std::uint16_t a : of_warp_[i]) {
    const bool used = std::any_of(warps_[i].begin(), warps_[i].end(), [&](const Strand& s) { return s.agent == a; });
    if (!used) return a;
  }
  const auto a = static_cast<std::uint16_t>(agents_.size());
  agents_.push_back({.rank = static_cast<std::uint16_t>(rank), .warp = static_cast<std::uint16_t>(warp)});
  of_warp_[i].push_back(a);
  return a;
}

void Order::divide(std::uint32_t rank, std::uint32_t warp, std::uint32_t lanes, std::uint32_t live) {
  std::vector<Strand>& all = warps_[rank * warps_a_cta_ + warp];
  std::erase_if(all, [&](const Strand& s) { return (s.lanes & live) == 0; });
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::uint32_t inside = all[i].lanes & lanes;
    if (inside == 0 || (all[i].lanes & live & ~lanes) == 0) continue;
    const std::uint16_t agent = spare_agent(rank, warp);
    Strand other = all[i];
    other.lanes &= ~inside;
    other.agent = agent;
    if (other.known.at[0].size() <= agent) other.known.at[0].resize(agent + std::size_t{1});
    tick(other);
    all[i].lanes = inside;
    tick(all[i]);
    all.push_back(std::move(other));
  }
}

void Order::meet(std::uint32_t rank, std::uint32_t warp, std::uint32_t lanes) {
  std::vector<Strand>& all = warps_[rank * warps_a_cta_ + warp];
  if (all.size() == 1) return;
  divide(rank, warp, lanes, ~0u);
  Strand* first = nullptr;
  for (Strand& s : all) {
    if ((s.lanes & lanes) != 0 && (first == nullptr || s.agent < first->agent)) first = &s;
  }
  if (first == nullptr) return;
  for (Strand& s : all) {
    if (&s == first || (s.lanes & lanes) == 0) continue;
    first->known.join(s.known);
    first->lanes |= s.lanes;
    s.lanes = 0;
  }
  std::erase_if(all, [](const Strand& s) { return s.lanes == 0; });
}

void Order::membar(Strand& s, bool gpu) {
  fenced(s, Fence::kMembar);
  if (!gpu && ctas_ == 1) return;  // nobody would ask for it
  const Times& seen = s.known.at[0];
  const auto raise = [&](Reach to, const Times& from, bool own) {
    Times& t = s.known.at[static_cast<std::size_t>(to)];
    if (t.size() < from.size()) t.resize(from.size());
    for (std::size_t a = 0; a < from.size(); ++a) {
      if (!own || agents_[a].rank == s.rank) t[a] = std::max(t[a], from[a]);
    }
  };
  raise(Reach::kCluster, seen, true);
  if (gpu) raise(Reach::kGpu, s.known.at[static_cast<std::size_t>(Reach::kCluster)], false);
  tick(s);
}

std::uint16_t Order::new_copies(std::uint32_t rank, std::uint32_t mbarrier) {
  agents_.push_back({.rank = static_cast<std::uint16_t>(rank), .warp = 0, .copies = true, .mbarrier = mbarrier});
  return static_cast<std::uint16_t>(agents_.size() - 1);
}

void Order::fenced(Strand& s, Fence kind) {
  const std::uint32_t now = tick(s);
  fences_[s.rank * warps_a_cta_ + s.warp].push_back({now, s.lanes, s.agent, kind});
}

bool Order::is_fenced(const Strand& reader, std::uint16_t a, unsigned lane, std::uint32_t after, Fence least) const {
  const Agent& who = agents_[a];
  const std::vector<FenceMark>& list = fences_[who.rank * warps_a_cta_ + who.warp];
  for (auto f = list.rbegin(); f != list.rend() && f->time > after; ++f) {
    if (f->kind > least || (f->lanes >> lane & 1) == 0) continue;
    if (time_in(reader.known.at[0], f->agent) >= f->time) return true;
  }
  return false;
}

}  // namespace nervanagpu::sass::emulate
