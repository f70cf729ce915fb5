// Device memory after Memory: one reserved range of host memory that the kernels see at a fixed device address. Each
// allocation starts on a page and is followed by a guard page; a table holds, for every page, how many of its first
// bytes belong to an allocation, so that one comparison checks an access exactly.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>

#include "sass/emulate/emulate.h"
#include "sass/emulate/memory/lent.h"
#include "sass/emulate/memory/texture.h"

namespace nervanagpu::sass::emulate {

// Where the arena begins in the address space of the kernels. Fixed, so that runs and messages are repeatable.
inline constexpr std::uint64_t kArenaBase = 0x7000'0000'0000;
inline constexpr std::uint64_t kArenaApart = std::uint64_t{1} << 40;  // from one device's to the next one's, below it
inline constexpr unsigned kPageBits = 12;
inline constexpr std::uint64_t kPageBytes = std::uint64_t{1} << kPageBits;

struct Memory::Impl {
  std::byte* arena = nullptr;
  std::uint64_t base = kArenaBase;               // where kernels see it
  std::uint64_t capacity = 0;                    // bytes, whole pages
  std::atomic<std::uint16_t>* valid = nullptr;   // per page: its first `valid` bytes may be touched
  std::map<std::uint64_t, std::size_t> live;     // address -> bytes
  std::map<std::uint64_t, std::uint64_t> holes;  // offset -> bytes of free address space
  std::size_t used = 0;
  mutable std::mutex mutex;
  TextureTable textures;
  Lent lent;

  // The byte at `address`, or nullptr when [address, address + bytes) is not inside one allocation or lent memory. `bytes`
  // is at most 16 and the address aligned to it, so that an access lies in one page.
  [[nodiscard]] std::byte* touch(std::uint64_t address, unsigned bytes) const {
    const std::uint64_t offset = address - base;
    if (offset >= capacity) return lent_byte(address, bytes);
    const unsigned in_page = static_cast<unsigned>(offset & (kPageBytes - 1));
    if (in_page + bytes > valid[offset >> kPageBits].load(std::memory_order_relaxed)) return nullptr;
    return arena + offset;
  }
  [[nodiscard]] std::byte* lent_byte(std::uint64_t address, std::size_t bytes) const {
    if (!lent.covers(address, bytes)) return nullptr;
    return reinterpret_cast<std::byte*>(address);  // NOLINT(performance-no-int-to-ptr)
  }
  // How many bytes from `address` on nobody has lent, where the rest of its 16 bytes is lent; else 0.
  [[nodiscard]] std::uint64_t before_lent(std::uint64_t address) const {
    if (address - base < capacity || lent.covers(address, 1)) return 0;
    const std::uint64_t rest = 16 - address % 16;
    std::uint64_t before = 1;
    while (before < rest && !lent.covers(address + before, rest - before)) ++before;
    return before < rest ? before : 0;
  }
};

// Memory's friend: the way from a Memory to its parts.
class Machine {
 public:
  static Memory::Impl* impl(Memory& m) { return m.impl_.get(); }
  using Impl = Memory::Impl;
};

}  // namespace nervanagpu::sass::emulate
