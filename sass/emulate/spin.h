// Warps that wait for a flag in memory that nobody will set: they run, but repeat themselves. When every warp of a cluster
// that runs has used up its time slices for long, their state is compared with an earlier one; equal states mean that only
// another CTA can help. If all host threads have come to that, it is a deadlock.
#pragma once

#include <cstdint>

#include "sass/emulate/cluster.h"
#include "sass/emulate/grid.h"

namespace nervanagpu::sass::emulate {

class SpinWatch {
 public:
  explicit SpinWatch(Grid& grid) : grid_(grid) {}
  ~SpinWatch() { moved(); }
  SpinWatch(const SpinWatch&) = delete;
  SpinWatch& operator=(const SpinWatch&) = delete;

  // A round of the cluster in which something else happened than time slices that ran out.
  void moved();
  // A round in which nothing else happened. True: nothing will.
  bool idle(const Cluster& cluster);

 private:
  // Of rounds, each of kSlice backward branches of every warp.
  static constexpr std::uint32_t kPatience = 256;
  static constexpr std::uint32_t kWindow = 64;  // with one state to compare with

  Grid& grid_;
  std::uint32_t rounds_ = 0;
  std::uint32_t same_ = 0;
  std::uint64_t state_ = 0;
  bool spinning_ = false;
};

}  // namespace nervanagpu::sass::emulate
