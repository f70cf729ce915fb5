#include "src/fuse/kernel_cache.h"

#include <algorithm>

#include "nervanagpu/memory_report.hpp"
#include "src/device/environment.h"
#include "src/device/select_device.h"

namespace nervanagpu {
namespace fuse {

Keeper& Keeper::all() {
  static auto* k = new Keeper;  // never destroyed: a thread may launch at exit
  return *k;
}

Keeper::Keeper() {
  stats_.budget = read_settings().kernel_cache;
}

void Keeper::add(Table* table) {
  const std::lock_guard lock(mutex);
  tables_.push_back(table);
}

void Keeper::set_budget(std::size_t bytes) {
  {
    const std::lock_guard lock(mutex);
    stats_.budget = bytes;
  }
  sweep();
}

Keeper::Stats Keeper::stats() {
  const std::lock_guard lock(mutex);
  return stats_;
}

// An eighth of the budget is freed at a time, so that few of those who make kernels pay for looking through all entries.
// What an entry refers to was used when it was, or later: both go together, or the entry goes first.
void Keeper::sweep() {
  Gone gone;  // destroyed without the lock
  {
    const std::lock_guard lock(mutex);
    if (!full()) return;
    std::vector<Entry> entries;
    entries.reserve(stats_.entries);
    for (const Table* t : tables_) t->list(entries);
    std::ranges::sort(entries, {}, &Entry::used);
    std::size_t left = stats_.bytes;
    std::uint64_t until = 0;
    for (const Entry& e : entries) {
      // Of those that were last used together none stays alone.
      if (left <= stats_.budget / 8 * 7 && e.used != until) break;
      until = e.used;
      left -= e.bytes;
    }
    gone.reserve(entries.size());
    for (Table* t : tables_) t->drop(until, gone);
    stats_.entries -= gone.size();
    stats_.evictions += gone.size();
    stats_.bytes = left;
  }
  gone.clear();
  for (Device* d : open_devices()) d->unload_idle();
}

}  // namespace fuse

KernelCache kernel_cache() {
  const fuse::Keeper::Stats s = fuse::Keeper::all().stats();
  const std::size_t held = temporary_module_bytes.load();
  return {s.entries, s.bytes, s.budget, s.evictions, held};
}

void set_kernel_cache(std::size_t budget) {
  fuse::Keeper::all().set_budget(budget);
}

}  // namespace nervanagpu
