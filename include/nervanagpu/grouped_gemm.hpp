// Products of any shapes that do not depend on each other.
#pragma once

#include <vector>

#include "nervanagpu/export.hpp"
#include "nervanagpu/gemm.hpp"
#include "nervanagpu/tensor.hpp"

namespace nervanagpu {

struct GroupedProduct {
  Tensor a, b, c;  // (m, k), (k, n), (m, n): any views, as those of gemm()
};

// c = act(alpha * a b + beta * c + bias) of each. Products of one form that lie at equal distances in memory go together as
// a batch, one launch for each such run; the others are launched one by one, in order, in one stream. k is not cut unless
// `options.splits` says so: the bits are those of each product alone with splits 1, however they are grouped. Rounded at
// random, each product takes the counters behind those of the one before.
// Everything is checked before anything is written. A c may share memory with nothing else in the group.
NG_API void grouped_dot(const std::vector<GroupedProduct>& products, const GemmOptions& options = {});

}  // namespace nervanagpu
