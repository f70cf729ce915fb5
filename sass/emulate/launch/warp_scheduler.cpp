#include "sass/emulate/launch/warp_scheduler.h"

#include <algorithm>

namespace nervanagpu::sass::emulate {
namespace {

constexpr unsigned kRandomQuantum = 10;  // instructions of a random quantum: up to 2^10
constexpr unsigned kLongQuantum = 12;
constexpr unsigned kShortQuantum = 4;
constexpr unsigned kPolicy = 12;  // quanta that a policy lasts
constexpr std::uint32_t kLeastPolicy = 64;
// Quanta of each warp in which nothing happened that concerns another: then they may wait for ever, which whole rounds find.
constexpr std::uint32_t kQuiet = 1024;

bool is_ready(const Warp& w) {
  return w.live != 0 &&
         std::any_of(w.groups.begin(), w.groups.end(), [](const Group& g) { return g.state == Group::State::kReady; });
}

}  // namespace

std::uint64_t Random::next() {  // splitmix64
  std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

void WarpScheduler::begin(std::vector<Cta>& ctas, std::uint32_t seed, std::uint64_t cluster) {
  seats_.clear();
  round_.clear();
  for (Cta& cta : ctas) {
    for (Warp& w : cta.warps) seats_.push_back({.warp = &w});
  }
  seed_ = seed;
  whole_ = true;
  if (seed == 0) {
    for (const Seat& s : seats_) round_.push_back({.warp = s.warp});
    return;
  }
  random_ = Random(std::uint64_t{seed} << 32 ^ cluster);
  policies_ = (std::uint64_t{seed} - 1 + cluster) % 3;
  quiet_ = 0;
  next_policy();
}

void WarpScheduler::next_policy() {
  policy_ = static_cast<Policy>(policies_++ % 3);
  left_ = kLeastPolicy + random_.some(kPolicy);
  const std::uint32_t first = random_.below(seats_.size());
  const Cta* const cta = seats_[first].warp->cta;
  const std::size_t many = cta->warps.size();
  enum Scope : std::uint8_t { kWarp, kWarpgroup, kCta };
  const std::uint32_t scope = random_.below(many < seats_.size() ? 3 : many > 4 ? 2 : 1);
  for (std::size_t i = 0; i < seats_.size(); ++i) {
    const Warp& w = *seats_[i].warp;
    const bool four = w.index / 4 == seats_[first].warp->index / 4;
    seats_[i].special = scope == kWarp ? i == first : w.cta == cta && (scope == kCta || four);
  }
}

void WarpScheduler::everyone() {
  whole_ = true;
  for (const std::uint32_t i : ready_) round_.push_back({.warp = seats_[i].warp});
  for (std::size_t i = round_.size(); i > 1; --i) std::swap(round_[i - 1], round_[random_.below(i)]);
}

void WarpScheduler::one(std::uint32_t seat, std::uint32_t instructions) {
  whole_ = false;
  last_ = seat;
  round_.push_back({.warp = seats_[seat].warp, .instructions = instructions});
}

const std::vector<WarpScheduler::Quantum>& WarpScheduler::round() {
  if (seed_ == 0) return round_;
  round_.clear();
  if (left_-- == 0) next_policy();
  ready_.clear();
  for (std::uint32_t i = 0; i < seats_.size(); ++i) {
    if (is_ready(*seats_[i].warp)) ready_.push_back(i);
  }
  // Of those that can go on: the special ones, and the others.
  chosen_.clear();
  const auto gather = [&](bool special) {
    for (const std::uint32_t i : ready_) {
      const Seat& s = seats_[i];
      if (s.special == special && !s.asked && !s.rested) chosen_.push_back(i);
    }
  };
  gather(policy_ == Policy::kAhead);
  const bool preferred = !chosen_.empty();
  if (policy_ == Policy::kRandom || !preferred) gather(policy_ != Policy::kAhead);
  if (chosen_.empty() || quiet_ > kQuiet * seats_.size()) {
    everyone();
    for (Seat& s : seats_) s.asked = s.rested = false;
    return round_;
  }
  const std::uint32_t seat = chosen_[random_.below(chosen_.size())];
  std::uint32_t instructions = random_.some(kRandomQuantum);
  if (policy_ == Policy::kStarved) instructions = random_.some(preferred ? kLongQuantum : kShortQuantum);
  if (policy_ == Policy::kAhead && preferred) instructions = 0;
  one(seat, instructions);
  return round_;
}

void WarpScheduler::ran(bool event) {
  if (seed_ == 0) return;
  quiet_ = event ? 0 : quiet_ + 1;
  if (event) {
    for (Seat& s : seats_) s.asked = false;
  }
  if (whole_) return;
  const Warp& w = *seats_[last_].warp;
  const bool rests = w.stop == Stop::kYield && !w.polls;
  if (!rests && !w.polls) {
    for (Seat& s : seats_) s.rested = false;
  }
  seats_[last_].asked = w.polls;
  seats_[last_].rested = rests;
}

}  // namespace nervanagpu::sass::emulate
