#include "sass/emulate/checked/access_log.h"

#include <algorithm>

namespace nervanagpu::sass::emulate {

void AccessLog::clear() {
  accesses_.resize(1);
  sets_.resize(1);
  slots_.fill(0);
  std::fill(memo_.begin(), memo_.end(), Memo{});
  now_ = good_writer_ = to_ = moved_from_ = 0;
  from_ = kNone;
}

std::uint32_t AccessLog::fresh(const Touch& a) {
  if (accesses_.size() >= most_) return 0;
  accesses_.push_back(a);
  return static_cast<std::uint32_t>(accesses_.size() - 1);
}

std::uint32_t AccessLog::moved(std::uint32_t number, std::uint16_t agent, std::uint32_t time) {
  if (moved_from_ == number && accesses_[moved_to_].agent == agent && accesses_[moved_to_].time == time)
    return moved_to_;
  Touch a = accesses_[number];
  a.agent = agent;
  a.time = time;
  const std::uint32_t to = fresh(a);
  if (to == 0) return number;
  moved_from_ = number;
  return moved_to_ = to;
}

std::uint32_t AccessLog::push(std::uint32_t rest, std::uint32_t access) {
  if (sets_.size() >= most_ || sets_[rest].size >= kMost) return rest;
  sets_.push_back({.rest = rest,
                   .access = access,
                   .size = static_cast<std::uint16_t>(sets_[rest].size + 1),
                   .writes = sets_[rest].writes || accesses_[access].writes()});
  return static_cast<std::uint32_t>(sets_.size() - 1);
}

// The set and `access`; what the same agent did before in the same way and to no other bytes is not needed any more.
std::uint32_t AccessLog::with(std::uint32_t set, std::uint32_t access) {
  Memo& m = memo_[(std::size_t{set} * 0x9e3779b1u ^ std::size_t{access} * 0x85ebca6bu) % kMemo];
  if (m.from == set && m.access == access) return m.to;
  const Touch& a = accesses_[access];
  const auto replaced = [&](const Touch& b) {
    return b.agent == a.agent && b.cluster == a.cluster && b.kind == a.kind && (b.mask & ~a.mask) == 0;
  };
  std::uint32_t rest = set;
  bool old = false;
  for (std::uint32_t s = set; s != 0 && !old; s = sets_[s].rest) {
    if (sets_[s].access == access) {  // a loop that waits for a flag comes here for ever: no new set
      m = {set, access, set};
      return set;
    }
    old = replaced(accesses_[sets_[s].access]);
  }
  if (old) {
    std::vector<std::uint32_t> kept;
    for (std::uint32_t s = set; s != 0; s = sets_[s].rest) {
      if (!replaced(accesses_[sets_[s].access])) kept.push_back(sets_[s].access);
    }
    rest = 0;
    for (auto i = kept.rbegin(); i != kept.rend(); ++i) rest = push(rest, *i);
  }
  const std::uint32_t to = push(rest, access);
  m = {set, access, to};
  return to;
}

// What is left of it when these bytes are written.
std::uint32_t AccessLog::without(std::uint32_t set, std::uint8_t mask) {
  std::vector<std::uint32_t> kept;
  for (std::uint32_t s = set; s != 0; s = sets_[s].rest) {
    if ((accesses_[sets_[s].access].mask & ~mask) != 0) kept.push_back(sets_[s].access);
  }
  std::uint32_t rest = 0;
  for (auto i = kept.rbegin(); i != kept.rend(); ++i) rest = push(rest, *i);
  return rest;
}

}  // namespace nervanagpu::sass::emulate
