// The short way for small work: an elementwise expression whose tensors all have the shape of the result and no gaps is
// found again by its structure, without building its Program.
#pragma once

#include "src/expr/node.h"

namespace nervanagpu::fuse {

// to = node, if that is such an expression; false: it is none, and nothing was done.
bool run_flat(const expr::Node& node, const Tensor& to);

}  // namespace nervanagpu::fuse
