// A convolution as launches of the kernels in conv.sass, as plain data: no device, no addresses.
//
// Each launch computes C(i,j) = sum over l of A(i,l) B(l,j); conv.sass says what the orders and the numbers mean.
//
//   pass     A    B    C      channels_last   batch_last
//   fprop    x    w    y      llj             iji
//   bprop    dy   w    dx     ljj             ili
//   update   x    dy   dw     iji             llj
//
// bprop with a stride u: input positions rho, rho + u, rho + 2u ... meet the same taps, every u/gcd(u, dilation)-th of
// them. Each class of positions is a launch of its own without strides. A batch too long for 32-bit offsets is cut.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "nervanagpu/conv.hpp"

namespace nervanagpu::conv_detail {

enum class Order : std::uint8_t { llj, ljj, iji, ili };

using Triple = std::array<std::int64_t, 3>;  // z, y, x

// Everything in elements.
struct Launch {
  Order order = Order::llj;
  std::int64_t a_at = 0, b_at = 0, c_at = 0, bias_at = 0;  // where A, B, C and the bias begin in their tensors
  std::uint64_t round_skip = 0;                            // counters of random words before c_at
  std::int64_t c0 = 0;                                     // and C's first element, from c_at
  std::int64_t m = 0, n = 0, k = 0;
  std::int64_t kchunk = 0, splits = 1, groups = 1;
  Triple ie = {1, 1, 1}, le = {1, 1, 1};  // how many of the innermost, the next and the third coordinate of i and of l
  std::int64_t ai_n = 0, al_n = 0;
  Triple as = {0, 0, 0};
  Triple mi = {0, 0, 0}, ml = {0, 0, 0}, origin = {0, 0, 0}, dim = {1, 1, 1};
  std::int64_t bl_n = 0, bj = 0;
  Triple bl = {0, 0, 0};
  std::int64_t ci_n = 0, cj = 0;
  Triple ci = {0, 0, 0};
  std::int64_t ga = 0, gb = 0, gc = 0;
  bool partial = false;  // C is the workspace: split s of group g at c_at + (g * splits + s) * cs
  std::int64_t cs = 0;
};

// out[g*gc + row*ld + col] = epilogue(sum over s, ascending, of workspace[((g*splits + s)*rows + row)*cols + col])
struct SplitSum {
  std::int64_t splits = 1;  // 1: there is nothing to add, the launches write the result
  std::int64_t groups = 1, rows = 0, cols = 0, ld = 0, gc = 0;
  bool bias_along_rows = false;  // bias[g*rows + row], else bias[g*cols + col]
  [[nodiscard]] std::int64_t elements() const { return splits > 1 ? splits * groups * rows * cols : 0; }
};

struct Mapping {
  std::vector<Launch> launches;
  SplitSum sum;
};

struct Limits {
  std::int64_t elements = std::int64_t{1} << 31;  // of each part of a tensor that a launch reaches: below
  std::int64_t grid_z = 65535;                    // groups times splits: at most
};

// `p` is checked and not channels_first. Throws InvalidArgument where the limits cannot be kept. forced_splits: for tests;
// 0: as many as splits_of() says.
Mapping map(ConvPass pass, const ConvProblem& p, const Limits& limits = {}, std::int64_t forced_splits = 0);

// Into how many parts a sum of k terms is cut so that `tiles` tiles of 128 x 128 with `outputs` results occupy a GPU. It
// depends on these numbers alone: the same bits on every device.
std::int64_t splits_of(std::int64_t tiles, std::int64_t k, std::int64_t outputs);

}  // namespace nervanagpu::conv_detail
