#include "src/memory/memory_record.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "nervanagpu/memory_report.hpp"

namespace nervanagpu {

std::atomic<bool> memory_recorded{false};

namespace {

struct Taken {
  std::size_t bytes = 0;
  std::size_t place = 0;  // index into places; 0: not named
  int device = 0;
};

struct Record {
  std::mutex mutex;
  std::unordered_map<std::uint64_t, Taken> taken;
  std::vector<std::string> places{""};
  std::map<std::string, std::size_t> index{{"", 0}};
};
Record& record() {
  static auto* r = new Record;  // outlives every tensor
  return *r;
}

// Of this thread. An address that was given back meanwhile is skipped when it is named.
thread_local std::vector<std::uint64_t> unnamed;

}  // namespace

void note_taken(std::uint64_t address, std::size_t bytes, int device) {
  Record& r = record();
  const std::lock_guard lock(r.mutex);
  r.taken[address] = {bytes, 0, device};
  unnamed.push_back(address);
}

void note_given(std::uint64_t address) noexcept {
  Record& r = record();
  const std::lock_guard lock(r.mutex);
  r.taken.erase(address);
}

void record_memory(bool on) {
  memory_recorded.store(on, std::memory_order_relaxed);
  if (on) return;
  Record& r = record();
  const std::lock_guard lock(r.mutex);
  r.taken.clear();
  unnamed.clear();
}

bool records_memory() noexcept {
  return memory_recorded.load(std::memory_order_relaxed);
}

bool has_unnamed_memory() noexcept {
  return !unnamed.empty();
}

void name_memory(const std::string& place) {
  Record& r = record();
  const std::lock_guard lock(r.mutex);
  const auto [it, added] = r.index.try_emplace(place, r.places.size());
  if (added) r.places.push_back(place);
  for (const std::uint64_t address : unnamed) {
    const auto found = r.taken.find(address);
    if (found != r.taken.end() && found->second.place == 0) found->second.place = it->second;
  }
  unnamed.clear();
}

std::vector<HeldMemory> held_memory() {
  Record& r = record();
  const std::lock_guard lock(r.mutex);
  std::map<std::pair<std::size_t, int>, HeldMemory> found;
  for (const auto& [address, taken] : r.taken) {
    HeldMemory& h = found[{taken.place, taken.device}];
    h.bytes += taken.bytes;
    ++h.allocations;
  }
  std::vector<HeldMemory> all;
  for (auto& [key, h] : found) {
    h.place = r.places[key.first];
    h.device = key.second;
    all.push_back(std::move(h));
  }
  std::ranges::sort(all, [](const HeldMemory& a, const HeldMemory& b) {
    return std::tie(b.bytes, a.place, a.device) < std::tie(a.bytes, b.place, b.device);
  });
  return all;
}

}  // namespace nervanagpu
