// Steps of reductions: identities, two values into one, the lanes of a warp, the warps of a CTA.
#pragma once

#include "src/fuse/numeric/emit.h"

namespace nervanagpu::fuse {

class Reducer {
 public:
  Reducer(Builder& b, Reduction op, Dtype dtype) : b_(b), op_(op), dtype_(dtype) {}

  // A register (pair) that changes nothing.
  VReg identity();
  // to = to (+) v, where `guard` holds
  void combine(VReg to, VReg v, VPred guard = sass::kAlways);
  // v = v (+) that of the lane whose number differs in the bit `apart`
  void across(VReg v, unsigned apart);
  // over the 32 lanes: every lane gets the result. Lanes `from` apart and closer (16: all).
  void over_lanes(VReg v, unsigned from = 16);
  // over the warps of the CTA through shared memory at `base`: 8 bytes a warp. tid: the thread's number. Every thread
  // gets the result; all threads must come here.
  void over_warps(VReg v, VReg tid, unsigned warps, std::int64_t base);

 private:
  void multiply(VReg to, VReg v, VPred guard);

  Builder& b_;
  Reduction op_;
  Dtype dtype_;
};

}  // namespace nervanagpu::fuse
