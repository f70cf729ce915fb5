// Products of any shapes that do not depend on each other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "nervanagpu/export.hpp"
#include "nervanagpu/gemm.hpp"
#include "nervanagpu/stream.hpp"
#include "nervanagpu/tensor.hpp"

namespace nervanagpu {

struct GroupedProduct {
  Tensor a, b, c;  // (m, k), (k, n), (m, n): any views, as those of gemm()
};

// c = act(alpha * a b + beta * c + bias) of each. Products of one form go together: as a batch, if they lie at equal distances
// in memory, or, if multiply-adds compute them and they are small, by tables of their addresses; the others are launched one
// by one in one stream. k is not cut unless `options.splits` says so: the bits are those of each product alone with splits 1,
// however they are grouped. Rounded stochastically, each product takes the counters after those of the one before.
// Everything is checked before anything is written. A c may share memory with nothing else in the group.
NG_API void grouped_dot(const std::vector<GroupedProduct>& products, const GemmOptions& options = {});

// The same on raw device addresses, in any order: a product reads or writes nothing that another one writes. Nothing is
// allocated, copied or awaited. `workspace`: grouped_gemm_workspace() bytes for tables of addresses, aligned to 16, or 0: no
// tables. Products that want a workspace of their own (gemm_workspace() with splits 1) have it in their problems.
NG_API std::size_t grouped_gemm_workspace(const std::vector<GemmProblem>& products);
NG_API void grouped_gemm(const std::vector<GemmProblem>& products, std::uint64_t workspace = 0,
                         const Stream& stream = {});

// The products that matmul(a, b) into c consists of, for launches with memory of the caller's. a and b have 2 axes or more, c is
// of the result's shape, and each lies as a kernel takes it: InvalidArgument or TypeError otherwise.
NG_API std::vector<GemmProblem> matmul_problems(const Tensor& a, const Tensor& b, const Tensor& c);

}  // namespace nervanagpu
