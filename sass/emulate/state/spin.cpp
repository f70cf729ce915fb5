#include "sass/emulate/state/spin.h"

#include <cstring>

#include "sass/emulate/state/cluster.h"
#include "sass/emulate/state/grid.h"

namespace nervanagpu::sass::emulate {
namespace {

class Hash {
 public:
  void add(std::uint64_t v) { value_ = (value_ ^ v) * 0x9e3779b97f4a7c15u ^ value_ >> 29; }
  void add(const std::uint32_t* words, std::size_t count) {
    for (std::size_t i = 0; i + 1 < count; i += 2) {
      std::uint64_t v;
      std::memcpy(&v, words + i, sizeof v);
      add(v);
    }
  }
  [[nodiscard]] std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325u;
};

// Registers, predicates and places of all warps.
std::uint64_t state_of(const Cluster& cluster) {
  Hash h;
  for (const Cta& cta : cluster.ctas) {
    const std::size_t words = std::size_t{cta.grid->kernel->row_count} * kLanes;
    for (const Warp& w : cta.warps) {
      if (w.live == 0) continue;
      h.add(w.file, words);
      h.add(w.ureg.data(), w.ureg.size());
      for (const std::uint32_t p : w.pred) h.add(p);
      for (const Group& g : w.groups) h.add(std::uint64_t{g.mask} << 32 | g.pc);
    }
  }
  return h.value();
}

}  // namespace

bool Spins::repeated(Seat& seat) {
  const std::lock_guard lock(mutex_);
  if (!seat.repeats) {
    seat.repeats = true;
    ++repeating_;
    changed();
  }
  if (repeating_ < threads_) return false;
  if (seat.since != changes_) {  // this window began earlier than that; the next one counts
    seat.since = changes_;
    seat.confirmed = false;
  } else if (!seat.confirmed) {
    seat.confirmed = true;
    ++confirmed_;
  }
  return confirmed_ >= threads_;
}

void Spins::moved(Seat& seat) {
  if (!seat.repeats) return;
  const std::lock_guard lock(mutex_);
  seat.repeats = false;
  --repeating_;
  changed();
}

void Spins::left() {
  const std::lock_guard lock(mutex_);
  --threads_;
  changed();
}

void SpinWatch::moved() {
  rounds_ = same_ = 0;
  spins_.moved(seat_);
}

bool SpinWatch::idle(const Cluster& cluster) {
  if (++rounds_ < kPatience) return false;
  const std::uint64_t now = state_of(cluster);
  if (rounds_ == kPatience) {
    state_ = now;
    return false;
  }
  if (now == state_) ++same_;
  if (rounds_ < kPatience + kWindow) return false;
  // The end of a window: most of it was the same state, or the warps compute. Another state is compared with next.
  const bool repeats = same_ * 4 >= kWindow;  // a loop may come to the same place every few slices only
  same_ = 0;
  state_ = now;
  rounds_ = repeats ? kPatience : 0;
  if (repeats) return spins_.repeated(seat_);
  spins_.moved(seat_);
  return false;
}

}  // namespace nervanagpu::sass::emulate
