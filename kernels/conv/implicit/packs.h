// The groups of a convolution as one launch of hconv.sass takes them: several side by side are a pack, a convolution of
// 128 bytes of channels at most, whose filters have zeros where a filter and a channel are of different groups.
#pragma once

#include <cstdint>

#include "kernels/conv/problem.h"

namespace nervanagpu::conv_detail {

struct Packs {
  std::int64_t count = 1;     // of packs
  std::int64_t groups = 1;    // of each
  std::int64_t c = 0, k = 0;  // channels and filters of each
};

// As many groups in a pack as have a block's channels to gather together, and divide their number; rather fewer whose channels take
// whole units of 16 bytes, at which the copy engine can begin. A function of the problem alone.
Packs packs_of(ConvPass pass, const ConvProblem& p);

}  // namespace nervanagpu::conv_detail
