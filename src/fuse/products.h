// Products of matrices in expressions. Who makes them computes them: kernels/gemm, which this folder knows nothing of.
#pragma once

#include <atomic>
#include <functional>

#include "src/expr/node.h"

namespace nervanagpu::fuse {

using Run = std::function<void(const expr::NodePtr& node, const Tensor& to)>;

// Computes the products of the tree, each with what of the tree is its epilogue: they become leaves. True: all of it was one,
// and now stands in `to`, of the node's shape (nullptr: it is a leaf, too). `run` computes other trees.
using RunProducts = bool (*)(const expr::NodePtr& node, const Tensor* to, const Run& run);
// Set before the first product is made.
inline std::atomic<RunProducts> run_products = nullptr;

// Computes the products and reductions of the tree, for who runs the rest of it as an elementwise program.
void settle_for_elementwise(const expr::NodePtr& node);

}  // namespace nervanagpu::fuse
