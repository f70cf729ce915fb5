// Products of matrices in expressions; kernels/gemm/tensors/run_products.cpp computes them.
#pragma once

#include <functional>

#include "src/expr/node.h"

namespace nervanagpu::fuse {

using Run = std::function<void(const expr::NodePtr& node, const Tensor& to)>;

// Computes the products of the tree, each with what of the tree is its epilogue: they become leaves. True: all of it was one,
// and now stands in `to`, of the node's shape (nullptr: it is a leaf, too). `run` computes other trees.
bool run_products(const expr::NodePtr& node, const Tensor* to, const Run& run);
// Computes the products and reductions of the tree, for who runs the rest of it as an elementwise program.
void settle_for_elementwise(const expr::NodePtr& node);

}  // namespace nervanagpu::fuse
