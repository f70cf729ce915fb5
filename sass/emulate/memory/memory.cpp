// Global memory: allocations in one reserved range, so that addresses of others are found out.
#include <sys/mman.h>

#include <algorithm>
#include <functional>

#include "sass/emulate/memory/arena.h"

namespace nervanagpu::sass::emulate {
namespace {

std::uint64_t round_up(std::uint64_t n, std::uint64_t unit) {
  return (n + unit - 1) / unit * unit;
}

// Address space that costs nothing until it is touched, and reads as zeros.
void* reserve(std::size_t bytes) {
  void* p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return p == MAP_FAILED ? nullptr : p;
}

}  // namespace

Memory::Memory(std::size_t capacity_bytes, unsigned device) : impl_(std::make_unique<Impl>()) {
  const std::uint64_t most = device == 0 ? ~std::uint64_t{0} : kArenaApart;
  const std::uint64_t capacity = round_up(std::clamp<std::uint64_t>(capacity_bytes, 1, most), kPageBytes);
  impl_->base = kArenaBase - device * kArenaApart;
  const std::uint64_t table = capacity / kPageBytes * sizeof(std::atomic<std::uint16_t>);
  void* arena = reserve(capacity);
  void* valid = reserve(table);
  if (arena == nullptr || valid == nullptr) {  // no address space: a memory without room
    if (arena != nullptr) munmap(arena, capacity);
    if (valid != nullptr) munmap(valid, table);
    return;
  }
  impl_->arena = static_cast<std::byte*>(arena);
  impl_->valid = static_cast<std::atomic<std::uint16_t>*>(valid);
  impl_->capacity = capacity;
  impl_->holes[0] = capacity;
}

Memory::~Memory() {
  if (impl_->arena == nullptr) return;
  munmap(impl_->arena, impl_->capacity);
  munmap(static_cast<void*>(impl_->valid), impl_->capacity / kPageBytes * sizeof(std::atomic<std::uint16_t>));
}

std::uint64_t Memory::allocate(std::size_t bytes) {
  Impl& m = *impl_;
  const std::lock_guard lock(m.mutex);
  if (bytes > m.capacity) return 0;
  // Also an empty allocation gets an address of its own, with no byte that may be touched.
  const std::uint64_t pages = round_up(bytes, kPageBytes) + kPageBytes;
  const auto hole = std::find_if(m.holes.begin(), m.holes.end(), [&](const auto& h) { return h.second >= pages; });
  if (hole == m.holes.end()) return 0;
  const auto [offset, room] = *hole;
  m.holes.erase(hole);
  if (room > pages) m.holes[offset + pages] = room - pages;
  for (std::uint64_t at = 0; at < bytes; at += kPageBytes) {
    const std::uint64_t here = std::min<std::uint64_t>(bytes - at, kPageBytes);
    m.valid[(offset + at) >> kPageBits].store(static_cast<std::uint16_t>(here), std::memory_order_relaxed);
  }
  m.live[m.base + offset] = bytes;
  m.used += bytes;
  return m.base + offset;
}

bool Memory::free(std::uint64_t address) {
  Impl& m = *impl_;
  const std::lock_guard lock(m.mutex);
  const auto it = m.live.find(address);
  if (it == m.live.end()) return false;
  const std::uint64_t offset = address - m.base;
  const std::size_t bytes = it->second;
  const std::uint64_t pages = round_up(bytes, kPageBytes) + kPageBytes;
  for (std::uint64_t at = 0; at < bytes; at += kPageBytes) {
    m.valid[(offset + at) >> kPageBits].store(0, std::memory_order_relaxed);
  }
  madvise(m.arena + offset, pages, MADV_DONTNEED);
  m.live.erase(it);
  m.used -= bytes;
  auto here = m.holes.emplace(offset, pages).first;
  if (const auto next = std::next(here); next != m.holes.end() && here->first + here->second == next->first) {
    here->second += next->second;
    m.holes.erase(next);
  }
  if (here != m.holes.begin()) {
    if (const auto before = std::prev(here); before->first + before->second == here->first) {
      before->second += here->second;
      m.holes.erase(here);
    }
  }
  return true;
}

std::byte* Memory::host(std::uint64_t address, std::size_t bytes) {
  Impl& m = *impl_;
  if (address - m.base >= m.capacity) return bytes == 0 ? nullptr : m.lent_byte(address, bytes);
  const std::lock_guard lock(m.mutex);
  auto it = m.live.upper_bound(address);
  if (it == m.live.begin()) return nullptr;
  --it;
  const std::uint64_t in = address - it->first;
  if (in > it->second || bytes > it->second - in) return nullptr;
  return m.arena + (address - m.base);
}

bool Memory::lend(const void* start, std::size_t bytes) {
  const auto begin = reinterpret_cast<std::uint64_t>(start);
  const std::uint64_t end = begin + bytes;
  if (bytes == 0 || end < begin || (begin < impl_->base + impl_->capacity && impl_->base < end)) return false;
  impl_->lent.add({begin, end});
  return true;
}

void Memory::give_back(const void* start, std::size_t bytes) {
  const auto begin = reinterpret_cast<std::uint64_t>(start);
  impl_->lent.remove({begin, begin + bytes});
}

std::uint64_t Memory::address_of(const void* host) const {
  const auto* p = static_cast<const std::byte*>(host);
  const std::less<> before;
  if (impl_->arena == nullptr || before(p, impl_->arena) || !before(p, impl_->arena + impl_->capacity)) return 0;
  return impl_->base + static_cast<std::uint64_t>(p - impl_->arena);
}

bool Memory::holds(std::uint64_t address) const {
  return address - impl_->base < impl_->capacity;
}

Memory::Range Memory::nearest(std::uint64_t address) const {
  const Impl& m = *impl_;
  const std::lock_guard lock(m.mutex);
  if (m.live.empty()) return {};
  const auto after = m.live.lower_bound(address);
  const auto distance = [&](const auto& a) -> std::uint64_t {
    if (address < a.first) return a.first - address;
    const std::uint64_t end = a.first + a.second;
    return address < end ? 0 : address - end;
  };
  if (after == m.live.end()) return {m.live.rbegin()->first, m.live.rbegin()->second};
  if (after == m.live.begin()) return {after->first, after->second};
  const auto before = std::prev(after);
  const auto& best = distance(*before) <= distance(*after) ? *before : *after;
  return {best.first, best.second};
}

std::size_t Memory::used() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->used;
}

TextureTable& Memory::textures() {
  return impl_->textures;
}

std::size_t Memory::capacity() const {
  return impl_->capacity;
}

}  // namespace nervanagpu::sass::emulate
