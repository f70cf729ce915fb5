// Caches device memory by size, so that a tensor costs no driver call. A block that other streams still use is handed
// out again only when they have passed the point where it was freed. A block that a graph being captured uses belongs to
// that graph: it serves further work of the same stream in the same capture, and nothing else until release_captured().
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "nervanagpu/error.hpp"
#include "src/device/device.h"

namespace nervanagpu {

// What the pool stands on.
class PoolBacking {
 public:
  virtual ~PoolBacking() = default;
  virtual std::uint64_t take(std::size_t bytes) = 0;  // 0: no room; other failures throw
  virtual void give(std::uint64_t address) noexcept = 0;
  virtual EventId mark(StreamId stream) = 0;        // an event, recorded; 0: cannot
  virtual bool passed(EventId event) noexcept = 0;  // true also if the event cannot be asked any more
  virtual void drop(EventId event) noexcept = 0;
  virtual std::uint64_t capture(StreamId stream) noexcept = 0;  // of the graph being captured there; 0: none
  virtual void drain() noexcept = 0;                            // waits for all work
  virtual std::size_t room() noexcept = 0;                      // free bytes, for messages
};

// What is said where a limit is in the way.
OutOfMemory over_limit(std::size_t bytes, std::size_t limit, std::size_t in_use);

class Pool {
 public:
  explicit Pool(PoolBacking& backing) : backing_(backing) {}

  // The size that is really taken for `bytes`: at most an eighth more, in steps of at least 512.
  static std::size_t bucket(std::size_t bytes);

  // For work in `stream`, if that is known (else 0). Throws OutOfMemory after everything cached was released; the pool is
  // then as before.
  std::uint64_t allocate(std::size_t bytes, StreamId stream = 0);
  void free(std::uint64_t address, std::span<const StreamId> streams) noexcept;
  void release();
  void release_captured();  // the graphs that used it are gone
  [[nodiscard]] MemoryStats stats() const;
  void set_limit(std::size_t bytes);  // of what is reserved; 0: none
  [[nodiscard]] std::size_t limit() const;

 private:
  struct Pending {
    std::uint64_t address;
    std::size_t bytes;
    std::vector<EventId> events;
  };
  void collect(bool all) noexcept;  // pending blocks that are free by now; all: after drain()
  void release_locked() noexcept;
  [[nodiscard]] bool allowed(std::size_t size) const;      // whether the limit has room for it
  std::uint64_t take(std::size_t size);                    // 0: no room
  std::uint64_t reuse(std::size_t size, StreamId stream);  // 0: nothing fits

  PoolBacking& backing_;
  mutable std::mutex mutex_;
  std::unordered_map<std::uint64_t, std::size_t> live_;       // address -> bucket
  std::map<std::size_t, std::vector<std::uint64_t>> cached_;  // bucket -> addresses
  std::vector<Pending> pending_;
  struct Captured {
    std::uint64_t graph;
    StreamId stream;  // that used it; kSeveral: more than one, whose branches of the graph nobody knows to be ordered
    std::size_t bytes;
    friend bool operator<(const Captured& x, const Captured& y) {
      return std::tie(x.graph, x.stream, x.bytes) < std::tie(y.graph, y.stream, y.bytes);
    }
  };
  static constexpr StreamId kSeveral = ~StreamId{0};
  std::map<Captured, std::vector<std::uint64_t>> captured_;
  MemoryStats stats_;
  std::size_t limit_ = 0;
};

}  // namespace nervanagpu
