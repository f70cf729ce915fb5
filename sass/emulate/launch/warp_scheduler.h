// Schedules the warps of a cluster: without a seed round robin, each until it waits. With one it is drawn which warp has the next
// quantum and of how many instructions, so that warps get far ahead of others and far behind. Policies follow each other:
//
//   random   any warp that can go on, for 1 to 1024 instructions
//   starved  some warps run only where no other can go on
//   ahead    some warps run as long as they can
//
// "Some" are a warp, four that make a warpgroup, or a CTA of the cluster. The same seed gives the same order.
#pragma once

#include <cstdint>
#include <vector>

#include "sass/emulate/state/warp.h"

namespace nervanagpu::sass::emulate {

class Random {
 public:
  explicit Random(std::uint64_t seed = 0) : state_(seed) {}
  std::uint64_t next();
  std::uint32_t below(std::uint64_t n) { return static_cast<std::uint32_t>((next() >> 16) % n); }
  // From 1 to 2^most, small ones as often as large ones.
  std::uint32_t some(unsigned most) { return 1 + below(std::uint64_t{1} << below(most + 1)); }

 private:
  std::uint64_t state_;
};

class WarpScheduler {
 public:
  struct Quantum {
    Warp* warp = nullptr;
    std::uint32_t instructions = 0;  // 0: until it waits
  };

  // A cluster of CTAs starts. `seed` 0: in ascending order.
  void begin(std::vector<Cta>& ctas, std::uint32_t seed, std::uint64_t cluster);
  // Who runs in this round.
  const std::vector<Quantum>& round();
  // All that could go on were in this round: if they did nothing, nothing happens.
  [[nodiscard]] bool whole() const { return whole_; }
  // What came of a round that was not whole. `event`: others may be able to go on.
  void ran(bool event);

 private:
  enum class Policy : std::uint8_t { kRandom, kStarved, kAhead };
  struct Seat {
    Warp* warp = nullptr;
    bool asked = false;    // for an mbarrier in vain, and nothing has happened since
    bool rested = false;   // its time slice is over, and no other has run since
    bool special = false;  // one of "some"
  };

  void next_policy();
  void everyone();
  void one(std::uint32_t seat, std::uint32_t instructions);

  std::vector<Seat> seats_;
  std::vector<Quantum> round_;
  std::vector<std::uint32_t> ready_, chosen_;
  std::uint32_t seed_ = 0;
  Random random_;
  Policy policy_ = Policy::kRandom;
  std::uint64_t policies_ = 0;  // so far
  std::uint32_t left_ = 0;      // rounds of this policy
  std::uint32_t last_ = 0;      // the seat of a round of one
  std::uint32_t quiet_ = 0;     // rounds without an event
  bool whole_ = true;
};

}  // namespace nervanagpu::sass::emulate
