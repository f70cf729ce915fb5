// Angles less whole quarter turns.
#pragma once

#include "src/fuse/numeric/wide_pair.h"

namespace nervanagpu::fuse {

// x = k pi/2 + r, |r| <= pi/4 and a hair; k modulo 2^32, r within 2^-64 of itself. NaN for infinities.
struct Turn {
  Pair r;
  Lanes k;
};
Turn turn_of(const Wide& x);

}  // namespace nervanagpu::fuse
