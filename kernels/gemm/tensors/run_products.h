// Computes the products of an expression; src/fuse/products.h says how.
#pragma once

#include "src/fuse/products.h"

namespace nervanagpu::sgemm {

bool run_products(const expr::NodePtr& node, const Tensor* to, const fuse::Run& run);

}  // namespace nervanagpu::sgemm
