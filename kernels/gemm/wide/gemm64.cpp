#include "kernels/gemm/wide/gemm64.h"

#include <algorithm>
#include <array>
#include <string>

#include "kernels/gemm/types.h"
#include "nervanagpu/error.hpp"
#include "src/ceil_div.h"

namespace nervanagpu::gemm64 {
namespace {

constexpr std::array kOps = {"dgemm", "gemm64"};

// What a multiprocessor of an H200 does in a clock with CTAs of a tile, and how many of them share it; from counts of
// instructions and pipes, not from measurements. No two kernels of a dtype have the same tile.
struct Rate {
  int bm, bn;
  double products;  // multiply-adds a clock, of a full multiprocessor
  double start;     // clocks of a CTA beside its products
  int residents;
};
constexpr std::array kRates = {Rate{128, 128, 120, 4000, 1}, Rate{128, 64, 110, 3500, 1}, Rate{64, 32, 80, 3000, 3},
                               Rate{64, 64, 40, 3000, 2}, Rate{16, 32, 16, 1500, 16}};

const Rate& rate_of(const Kernel& k) {
  const auto found =
      std::ranges::find_if(kRates, [&](const Rate& r) { return r.bm == k.number("BM") && r.bn == k.number("BN"); });
  return found != kRates.end() ? *found : kRates.back();
}

std::string dtype_of(const GemmProblem& p) {
  return std::string(name_of(p.a_type));
}

void refuse(const GemmProblem& p, bool given, const char* what, const char* needs) {
  if (given) throw InvalidArgument("gemm: " + std::string(what) + " of " + dtype_of(p) + " operands; needs " + needs);
}

std::string_view variant(const Kernel& k, const char* name) {
  const auto it = k.manifest().variant.find(name);
  return it == k.manifest().variant.end() ? std::string_view() : std::string_view(it->second);
}

}  // namespace

void check(const GemmProblem& p) {
  const bool acts = p.relu || p.relu_first || p.activation != GemmActivation::none;
  refuse(p, p.bias != 0, "bias is given for a product", "none");
  refuse(p, acts, "an activation is asked for of a product", "none");
  refuse(p, p.rounding.stochastic, "rounding is stochastic for a product", "nearest");
  refuse(p, p.splits > 1, "splits is above 1 for a product", "0 or 1");
  refuse(p, p.pointers != 0, "pointers are given for products", "strides");
}

void check_batch(const GemmProblem& p) {
  refuse(p, p.sum_batch && p.batch > 1, "sum_batch is true for matrices that are not one long k as they lie,",
         "a product each");
}

std::vector<const Kernel*> kernels(const Registry& registry) {
  std::vector<const Kernel*> out;
  for (const char* op : kOps) {
    const auto some = registry.of_op(op);
    out.insert(out.end(), some.begin(), some.end());
  }
  return out;
}

bool fits(const Kernel& k, const GemmProblem& p, std::string_view tile) {
  if (variant(k, "T") != sgemm::word_of(p.a_type) || variant(k, "TA") != (p.a_transposed ? "t" : "n") ||
      variant(k, "TB") != (p.b_transposed ? "t" : "n")) {
    return false;
  }
  return tile.empty() || tile == std::to_string(k.number("BM")) + "x" + std::to_string(k.number("BN"));
}

double cost(const Kernel& k, const GemmProblem& p, int multiprocessors) {
  const Rate& r = rate_of(k);
  const std::int64_t tiles = ceil_div(p.m, r.bm) * ceil_div(p.n, r.bn) * std::max<std::int64_t>(p.batch, 1);
  const double products = static_cast<double>(r.bm) * r.bn * static_cast<double>(std::max<std::int64_t>(p.k, 8));
  // CTAs that share a multiprocessor share its rate; one alone has no more than its part of it.
  const std::int64_t on_one = ceil_div(tiles, std::max(multiprocessors, 1));
  const std::int64_t waves = ceil_div(on_one, r.residents);
  const double busy = static_cast<double>(std::max<std::int64_t>(on_one, waves * r.residents / 4));
  const double single = k.manifest().op == "dgemm" && k.number("V") == 1 ? 1.02 : 1.0;  // more copies than by pairs
  return (busy * products / r.products + static_cast<double>(waves) * r.start) * single;
}

Values values(const GemmProblem& p, std::int64_t grid_y) {
  const auto bytes = [&](std::int64_t stride) { return static_cast<std::uint64_t>(stride) * size_of(p.a_type); };
  Values v;
  v.u64(p.a).u64(p.b).u64(p.c).u64(bytes(p.stride_a)).u64(bytes(p.stride_b)).u64(bytes(p.stride_c));
  v.u32(p.batch > 1 ? 0 : grid_y).u32(p.m).u32(p.n).u32(p.k).u32(p.lda).u32(p.ldb).u32(p.ldc);
  return v.scalar(p.alpha, p.c_type).scalar(p.beta, p.c_type).u32(p.beta != 0.0F ? 1 : 0);
}

}  // namespace nervanagpu::gemm64
