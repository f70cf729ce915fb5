#include "kernels/gemm/cost/cost.h"

#include <algorithm>
#include <array>
#include <utility>

#include "src/ceil_div.h"

namespace nervanagpu::sgemm {
namespace {

// The model's GPU: bits must not depend on the one that is there.
constexpr int kProcessors = 132;

struct Tile {
  int bm, bn, threads;
  int residents;      // CTAs on a multiprocessor
  double efficiency;  // of 128 multiply-adds a clock, with many CTAs
};
// Fitted to 11,416 timings of 54 problems (docs/lab/gemm.md): on average 2 % above the best tile and split.
constexpr std::array kTiles = {
    Tile{128, 128, 128, 2, 0.90}, Tile{64, 256, 128, 2, 0.85}, Tile{128, 64, 128, 3, 0.67}, Tile{64, 128, 128, 3, 0.69},
    Tile{64, 64, 128, 5, 0.49},   Tile{128, 32, 64, 6, 0.44},  Tile{32, 128, 64, 6, 0.44},  Tile{64, 32, 64, 10, 0.35},
    Tile{32, 64, 64, 10, 0.35},   Tile{16, 64, 32, 20, 0.36},  Tile{16, 32, 32, 24, 0.27},
};

constexpr double kStart = 2800;          // prologue and epilogue of a 128 x 128 tile
constexpr double kLeastStart = 67;       // of any tile of four warps
constexpr double kMemory = 2200;         // bytes a clock of the whole GPU
constexpr double kPartials = 1300;       // bytes a clock of partial sums
constexpr double kSum = 9200;            // split_sum, and what a cut must gain at least
constexpr std::int64_t kLeastPart = 64;  // of k
constexpr std::int64_t kMostSplits = 128;
constexpr std::int64_t kMostBytes = 256 << 20;

// The share of a multiprocessor's rate that `ctas` of a tile reach together: one warp a scheduler does not hide its
// latencies.
double covered(const Tile& t, std::int64_t ctas) {
  const double warps = static_cast<double>(ctas) * t.threads / 128.0;
  if (warps >= 3) return 1.0;
  if (warps >= 2) return 0.87 + (warps - 2) * 0.13;
  return warps >= 1 ? 0.5 + (warps - 1) * 0.37 : warps * 0.5;
}

double cost(const Tile& t, const GemmProblem& p, std::int64_t splits, int multiprocessors) {
  const std::int64_t products = p.sum_batch ? 1 : p.batch;  // a sum's are splits
  const std::int64_t tiles = ceil_div(p.m, t.bm) * ceil_div(p.n, t.bn) * splits * products;
  const std::int64_t on_one = ceil_div(tiles, std::max(multiprocessors, 1));
  const std::int64_t rest = on_one % t.residents;
  double waves = static_cast<double>(on_one - rest) / covered(t, t.residents);
  if (rest != 0) waves += static_cast<double>(rest) / covered(t, rest);
  const double outputs = static_cast<double>(t.bm) * t.bn;
  const auto depth =
      static_cast<double>(std::max<std::int64_t>(p.sum_batch ? p.k : std::min(p.k, chunk_of(p.k, splits)), 8));
  const double start = std::max(kStart * outputs / 16384, kLeastStart * t.threads / 128.0);
  const double compute = waves * (outputs * depth / 128.0 / t.efficiency + start);
  const auto m = static_cast<double>(p.m);
  const auto n = static_cast<double>(p.n);
  const auto k = static_cast<double>(p.k);
  const double bytes = (m * k + k * n + m * n) * static_cast<double>(size_of(p.a_type)) * static_cast<double>(p.batch);
  double out = std::max(compute, bytes / kMemory);
  if (splits > 1) out += kSum + static_cast<double>(splits) * m * n * 8.0 / kPartials;
  return out;
}

}  // namespace

std::int64_t chunk_of(std::int64_t k, std::int64_t splits) {
  return std::max<std::int64_t>(ceil_div(ceil_div(k, std::max<std::int64_t>(splits, 1)), 16) * 16, 16);
}

double clocks(const GemmProblem& p, int bm, int bn, std::int64_t splits, int multiprocessors) {
  for (const Tile& t : kTiles) {
    if (t.bm == bm && t.bn == bn) return cost(t, p, splits, multiprocessors);
  }
  return cost(kTiles.front(), p, splits, multiprocessors);
}

namespace {

struct Choice {
  std::int64_t splits = 1;
  double clocks = 0;
};

Choice best(const GemmProblem& problem) {
  GemmProblem p = problem;
  if (p.m > p.n) std::swap(p.m, p.n);  // C^T = B^T A^T has the same bits
  const std::int64_t outputs = std::max<std::int64_t>(p.m, 1) * std::max<std::int64_t>(p.n, 1);
  const std::int64_t most = std::min({p.k / kLeastPart, kMostSplits, kMostBytes / 4 / outputs});
  Choice out;
  for (const Tile& t : kTiles) {
    for (std::int64_t s = 1; s <= std::max<std::int64_t>(most, 1); ++s) {
      if (ceil_div(p.k, chunk_of(p.k, s)) != s && s > 1) continue;
      const double c = cost(t, p, s, kProcessors);
      if (out.clocks == 0 || c < out.clocks) out = {s, c};
    }
  }
  return out;
}

}  // namespace

std::int64_t best_splits(const GemmProblem& problem) {
  return best(problem).splits;
}

double best_clocks(const GemmProblem& problem) {
  return best(problem).clocks;
}

}  // namespace nervanagpu::sgemm
