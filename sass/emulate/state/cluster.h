// CTAs that run together: they reach each other's shared memory and meet at a barrier of their own.
//
// An address in the shared memory of a cluster is the offset | rank of the CTA << 24. LDS, STS, ATOMS and the mbarrier
// operations of a CTA take its own rank alone; generic addresses in the shared window, STAS, REDAS, arrivals with .RED
// and the copy engine reach the CTA that the rank names.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sass/emulate/state/warp.h"

namespace nervanagpu::sass::emulate {

inline constexpr unsigned kRankShift = 24;
inline constexpr std::uint32_t kRankOffset = (1u << kRankShift) - 1;  // the offset in an address

struct Cluster {
  std::vector<Cta> ctas;    // by rank
  std::uint64_t phase = 0;  // cluster barriers completed
  bool pending = false;     // someone arrived at the next one
  // Checked mode: a warp waits for an mbarrier to be initialised; and nobody else can go on, it will not be.
  bool unmade = false;
  bool made_up = false;

  [[nodiscard]] std::uint64_t progress() const {
    std::uint64_t sum = phase;
    for (const Cta& c : ctas) sum += c.progress;
    return sum;
  }
};

// The CTA that the address names; nullptr if the cluster has none of that rank.
Cta* cta_of(const Warp& w, std::uint32_t address);
// Whether the address, of an operation that stays in its CTA, has another rank.
bool names_another(const Warp& w, std::uint32_t address);
// "CTA rank 5 of a cluster of 2", for messages.
std::string no_such_cta(const Warp& w, std::uint32_t address);

}  // namespace nervanagpu::sass::emulate
