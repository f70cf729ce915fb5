// What products see of Pieces.
#pragma once

#include "kernels/gemm/tensors/dot.h"
#include "nervanagpu/pieces.hpp"

namespace nervanagpu {

struct PiecesAccess {
  static Tensor matrix(const Pieces& p);  // a view of the copy
  static PiecesAt at(const Pieces& p);
  static void used_on(const Pieces& p, const Stream& stream);
};

}  // namespace nervanagpu
