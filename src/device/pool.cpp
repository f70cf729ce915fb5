#include "src/device/pool.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <string>

namespace nervanagpu {
namespace {

constexpr std::size_t kUnit = 512;

}  // namespace

OutOfMemory over_limit(std::size_t bytes, std::size_t limit, std::size_t in_use) {
  return OutOfMemory("out of memory: " + std::to_string(bytes) + " bytes asked for, the limit is " +
                     std::to_string(limit) + ", " + std::to_string(in_use) + " held by tensors");
}

std::size_t Pool::bucket(std::size_t bytes) {
  if (bytes <= kUnit) return kUnit;
  const std::size_t step = std::max(kUnit, std::bit_floor(bytes) / 8);
  if (bytes > std::numeric_limits<std::size_t>::max() - step) return bytes;
  return (bytes + step - 1) / step * step;
}

std::uint64_t Pool::reuse(std::size_t size, StreamId stream) {
  const auto from = [&](auto& blocks, const auto& key) -> std::uint64_t {
    const auto it = blocks.find(key);
    if (it == blocks.end() || it->second.empty()) return 0;
    const std::uint64_t address = it->second.back();
    it->second.pop_back();
    ++stats_.reused;
    return address;
  };
  if (!captured_.empty() && stream != 0) {
    if (const std::uint64_t graph = backing_.capture(stream); graph != 0) {
      if (const std::uint64_t address = from(captured_, Captured{graph, stream, size}); address != 0) return address;
    }
  }
  return from(cached_, size);
}

bool Pool::allowed(std::size_t size) const {
  return limit_ == 0 || (size <= limit_ && stats_.reserved <= limit_ - size);
}

std::uint64_t Pool::take(std::size_t size) {
  return allowed(size) ? backing_.take(size) : 0;
}

std::uint64_t Pool::allocate(std::size_t bytes, StreamId stream) {
  const std::size_t size = bucket(bytes);
  const std::lock_guard lock(mutex_);
  if (!pending_.empty()) collect(false);
  std::uint64_t address = reuse(size, stream);
  if (address == 0) {
    address = take(size);
    if (address == 0) {  // give back what is cached, wait for what is pending, and try once more
      collect(true);
      release_locked();
      address = take(size);
    }
    if (address == 0) {
      if (!allowed(size)) throw over_limit(bytes, limit_, stats_.in_use);
      throw OutOfMemory("out of memory: " + std::to_string(bytes) + " bytes asked for, " +
                        std::to_string(backing_.room()) + " free on the device, " + std::to_string(stats_.in_use) +
                        " held by tensors");
    }
    stats_.reserved += size;
  }
  live_[address] = size;
  ++stats_.allocations;
  stats_.in_use += size;
  stats_.peak = std::max(stats_.peak, stats_.in_use);
  return address;
}

void Pool::free(std::uint64_t address, std::span<const StreamId> streams) noexcept {
  const std::lock_guard lock(mutex_);
  const auto it = live_.find(address);
  if (it == live_.end()) return;
  const std::size_t size = it->second;
  live_.erase(it);
  stats_.in_use -= size;
  Captured belongs = {0, 0, size};
  for (const StreamId stream : streams) {
    const std::uint64_t graph = backing_.capture(stream);
    if (graph == 0) continue;
    belongs = {graph, belongs.graph == 0 ? stream : kSeveral, size};
  }
  if (belongs.graph != 0) {
    captured_[belongs].push_back(address);
    return;
  }
  Pending p{address, size, {}};
  for (const StreamId stream : streams) {
    EventId event = 0;
    try {
      event = backing_.mark(stream);
    } catch (const Error&) {
      event = 0;
    }
    if (event != 0) {
      p.events.push_back(event);
    } else {
      backing_.drain();  // cannot be marked: wait now
    }
  }
  if (p.events.empty()) {
    cached_[size].push_back(address);
  } else {
    pending_.push_back(std::move(p));
  }
}

void Pool::collect(bool all) noexcept {
  if (all && !pending_.empty()) backing_.drain();
  std::erase_if(pending_, [&](Pending& p) {
    if (!all && !std::all_of(p.events.begin(), p.events.end(), [&](EventId e) { return backing_.passed(e); }))
      return false;
    for (const EventId e : p.events) backing_.drop(e);
    cached_[p.bytes].push_back(p.address);
    return true;
  });
}

void Pool::release_locked() noexcept {
  for (auto& [size, addresses] : cached_) {
    for (const std::uint64_t address : addresses) {
      backing_.give(address);
      stats_.reserved -= size;
    }
    addresses.clear();
  }
}

void Pool::release() {
  const std::lock_guard lock(mutex_);
  collect(true);
  release_locked();
}

void Pool::release_captured() {
  const std::lock_guard lock(mutex_);
  for (const auto& [key, addresses] : captured_) {
    for (const std::uint64_t address : addresses) cached_[key.bytes].push_back(address);
  }
  captured_.clear();
}

void Pool::set_limit(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  limit_ = bytes;
}

std::size_t Pool::limit() const {
  const std::lock_guard lock(mutex_);
  return limit_;
}

MemoryStats Pool::stats() const {
  const std::lock_guard lock(mutex_);
  return stats_;
}

}  // namespace nervanagpu
