#include "sass/emulate/memory/lent.h"

#include <algorithm>
#include <array>

namespace nervanagpu::sass::emulate {
namespace {

std::uint64_t next_version() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

struct Recent {
  std::uint64_t version = 0;  // of the Lent that they were found in
  std::array<Lent::Range, 8> ranges;
  std::size_t oldest = 0;
};
thread_local Recent recent;

bool holds(const Lent::Range& range, std::uint64_t address, std::size_t bytes) {
  return address >= range.begin && address < range.end && bytes <= range.end - address;
}

}  // namespace

Lent::Lent() : version_(next_version()) {}

void Lent::changed() {
  apart_.clear();
  for (const auto& [range, count] : lent_) {
    if (!apart_.empty() && range.first < apart_.back().end) {
      apart_.back().end = std::max(apart_.back().end, range.second);
    } else {
      apart_.push_back({range.first, range.second});
    }
  }
  version_.store(next_version(), std::memory_order_release);
}

void Lent::add(Range range) {
  const std::lock_guard lock(mutex_);
  if (++lent_[{range.begin, range.end}] == 1) changed();
}

bool Lent::remove(Range range) {
  const std::lock_guard lock(mutex_);
  const auto it = lent_.find({range.begin, range.end});
  if (it == lent_.end()) return false;
  if (--it->second == 0) {
    lent_.erase(it);
    changed();
  }
  return true;
}

bool Lent::covers(std::uint64_t address, std::size_t bytes) const {
  Recent& r = recent;
  if (r.version != version_.load(std::memory_order_acquire)) r = {};
  for (const Range& range : r.ranges) {
    if (holds(range, address, bytes)) return true;
  }
  const std::lock_guard lock(mutex_);
  const auto after = std::upper_bound(apart_.begin(), apart_.end(), address,
                                      [](std::uint64_t a, const Range& range) { return a < range.begin; });
  if (after == apart_.begin() || !holds(*std::prev(after), address, bytes)) return false;
  const std::uint64_t version = version_.load(std::memory_order_relaxed);
  if (r.version != version) r = {.version = version, .ranges = {}, .oldest = 0};
  r.ranges[r.oldest++ % r.ranges.size()] = *std::prev(after);
  return true;
}

}  // namespace nervanagpu::sass::emulate
