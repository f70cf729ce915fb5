// Registers of asynchronous products (HGMMA, IGMMA, QGMMA, BGMMA). From issue until WARPGROUP.DEPBAR has retired their group
// the sums and the registers of A belong to the engine. Before it WARPGROUP.ARRIVE must stand after the last ordinary
// access: only there do the four warps of a warpgroup wait for each other. After means that it is over: a result, or a late
// read, that is outstanding at the arrival is too late, though the product itself awaits it (seen on an H200: LDSM of A,
// awaited by HGMMA, gave NaN; nvcc's code awaits them at WARPGROUP.ARRIVE).
#pragma once

#include <cstdint>
#include <vector>

#include "sass/verify/finding.h"
#include "sass/verify/scoreboards.h"

namespace nervanagpu::sass::verify_detail {

// There is something to follow.
bool has_products(const Code& code);

class OwnershipState {
 public:
  // The kernel begins here.
  void enter() { alone_ = true; }
  // Reports what step i reads or overwrites while a product owns it, and a product whose registers have not arrived.
  void check(const Code& code, const std::vector<StepSets>& sets, std::uint32_t i, Findings* out) const;
  void issue(const Code& code, const std::vector<StepSets>& sets, const ScoreboardState& scoreboards, std::uint32_t i);
  // Joins another path's state; true if this one became weaker.
  bool merge(const OwnershipState& other);

 private:
  struct Product {
    std::uint32_t line;
    int younger;  // groups that were surely closed after its own; kOpen: its own may not be closed
  };
  static constexpr int kOpen = -1;
  static constexpr int kMost = 8;  // the limit of DEPBAR has three bits

  void check_owner(const Code& code, const std::vector<StepSets>& sets, std::uint32_t owner, std::uint32_t i,
                   Findings& out) const;
  void check_arrived(const Code& code, const std::vector<StepSets>& sets, std::uint32_t i, Findings& out) const;
  void start(const Code& code, const std::vector<StepSets>& sets, std::uint32_t i);

  std::vector<Product> products_;  // in flight on some path, ascending line
  // By register: the step that accessed it since the last ARRIVE, or kNobody. Empty: nobody did anything.
  std::vector<std::uint32_t> written_, read_;
  bool alone_ = false;  // there was no ARRIVE at all on some path
};

}  // namespace nervanagpu::sass::verify_detail
