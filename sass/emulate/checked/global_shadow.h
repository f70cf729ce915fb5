// The shadow of global memory for one launch: who touched each word, whatever its CTA. Two CTAs are ordered by flags alone: a
// store or an atomic operation with an order (.STRONG) after a MEMBAR, and a load or an atomic operation that reads it.
// Bounded: pages are shadowed when first touched, three times their size, up to kMostPages; each part notes a bounded number of
// accesses. What comes after that is not noted, so that races are missed, and none is made up.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "sass/emulate/checked/shadow.h"

namespace nervanagpu::sass::emulate {

class GlobalShadow {
 public:
  // Locked while in use; the parts are independent of each other.
  struct Part {
    std::mutex mutex;
    AccessLog log{std::size_t{1} << 20};
    struct Word : Touched {
      std::uint8_t lane = 0;  // that wrote it
    };
    using Page = std::array<Word, 1024>;
    std::unordered_map<std::uint64_t, std::unique_ptr<Page>> pages;
    struct Flag {
      Foreign known;  // of whoever released it
      std::uint64_t version = 0;
    };
    std::unordered_map<std::uint64_t, Flag> flags;
    std::uint64_t last = ~std::uint64_t{0};  // page
    Page* page = nullptr;
  };
  [[nodiscard]] Part& part(std::uint64_t address) { return parts_[(address >> 12) % kParts]; }

  // `bytes` at `address`, all in one page; the part is locked by the caller.
  Trouble access(Part& part, const Order& order, const Strand& s, std::uint32_t pc, unsigned lane,
                 std::uint64_t address, unsigned bytes, Touch::Kind kind);
  // A flag is read: the strand knows what those knew that set it. It is set, by one who adds to it or who replaces it; what the
  // strand does then is to be later, Order::tick().
  static void acquire(Part& part, const Order& order, Strand& s, std::uint64_t address);
  static void release(Part& part, const Order& order, const Strand& s, std::uint64_t address, bool adds);

 private:
  static constexpr std::size_t kParts = 16;
  static constexpr std::size_t kMostPages = std::size_t{1} << 17;  // of 4 KiB: 1.5 GiB of shadow

  std::array<Part, kParts> parts_;
};

}  // namespace nervanagpu::sass::emulate
