// Host memory of others that kernels may touch, at the addresses that it has on the host. Ranges may overlap, and one may be
// lent several times. Thread-safe; what was found last is kept for each thread, as kernels walk along few ranges.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

namespace nervanagpu::sass::emulate {

class Lent {
 public:
  struct Range {
    std::uint64_t begin = 0, end = 0;
    bool operator==(const Range&) const = default;
  };

  Lent();
  void add(Range range);
  bool remove(Range range);  // false: it was not lent
  // Whether [address, address + bytes) lies in one range, or in several that overlap.
  [[nodiscard]] bool covers(std::uint64_t address, std::size_t bytes) const;

 private:
  void changed();

  mutable std::mutex mutex_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, int> lent_;  // how often
  std::vector<Range> apart_;                                     // their unions, ascending
  std::atomic<std::uint64_t> version_;                           // no other Lent has or had it
};

}  // namespace nervanagpu::sass::emulate
