#include "sass/emulate/checked/phase_waits.h"

#include <algorithm>

namespace nervanagpu::sass::emulate {

void PhaseWaits::need(std::uint16_t agent, std::uint32_t time) {
  Times& t = needs_[ended_ % needs_.size()];
  if (t.size() <= agent) t.resize(agent + std::size_t{1});
  t[agent] = std::max(t[agent], time);
}

// One of the last two that have ended, or fewer.
bool PhaseWaits::knows(const Strand& s, std::uint64_t ended) const {
  const Times& known = s.known.at[0];
  if (ended == 0) return true;
  const bool told = std::any_of(marks_.begin(), marks_.end(),
                                [&](const Mark& m) { return m.ended >= ended && time_in(known, m.agent) >= m.time; });
  if (told) return true;
  const Times& needed = needs_[(ended - 1) % needs_.size()];
  for (std::size_t a = 0; a < needed.size(); ++a) {
    if (needed[a] != 0 && time_in(known, static_cast<std::uint16_t>(a)) < needed[a]) return false;
  }
  return true;
}

bool PhaseWaits::asks(const Strand& s, Wait wait) {
  if (knows(s, ended_)) {
    wait.known = ended_;
  } else if (knows(s, ended_ - 1)) {
    wait.known = ended_ - 1;
  } else {
    return false;
  }
  wait.agent = s.agent;
  wait.time = s.time();
  for (Wait& w : waits_) {
    if (w.agent != s.agent || w.known != wait.known) continue;
    w = wait;
    return true;
  }
  waits_.push_back(wait);
  return true;
}

void PhaseWaits::arrives(const Strand& s, bool told) {
  need(s.agent, s.time());
  if (!told) return;
  const bool noted =
      std::any_of(marks_.begin(), marks_.end(), [&](const Mark& m) { return m.agent == s.agent && m.ended == ended_; });
  if (!noted) marks_.push_back({ended_, s.time(), s.agent});
}

std::vector<PhaseWaits::Wait> PhaseWaits::ends(const Known& behind) {
  ++ended_;
  needs_[ended_ % needs_.size()].clear();
  std::erase_if(marks_, [&](const Mark& m) { return m.ended + 1 < ended_; });
  std::vector<Wait> missed;
  std::erase_if(waits_, [&](const Wait& w) {
    if (w.known + 2 > ended_) return false;
    if (time_in(behind.at[0], w.agent) < w.time) missed.push_back(w);
    return true;
  });
  return missed;
}

}  // namespace nervanagpu::sass::emulate
