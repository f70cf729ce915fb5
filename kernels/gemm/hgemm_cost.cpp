#include "kernels/gemm/hgemm_cost.h"

#include <algorithm>
#include <array>

#include "src/ceil_div.h"

namespace nervanagpu::hgemm {
namespace {

// Fitted to 350 measurements of 20 products on an H200 (docs/lab/hgemm.md): what it chooses took 1.006 times the time of the
// best, in the geometric mean. 192 columns lie between.
struct Width {
  int columns;
  double block;   // microseconds of a k block of 128 rows
  double memory;  // bytes a microsecond, in millions, that such tiles read
};
constexpr std::array kWidths = {Width{64, 0.220, 3.63}, Width{128, 0.361, 3.02}, Width{192, 0.500, 3.36},
                                Width{256, 0.639, 3.70}};

double bytes_of(const GemmProblem& p) {
  const auto m = static_cast<double>(p.m);
  const auto n = static_cast<double>(p.n);
  const auto k = static_cast<double>(p.k);
  return static_cast<double>(size_of(p.a_type)) * (m * k + k * n) + static_cast<double>(size_of(p.c_type)) * m * n;
}

double tile_cost(const GemmProblem& p, const Tile& t, std::int64_t splits, int multiprocessors) {
  constexpr double kStart = 1.26;
  constexpr double kTile = 0.82;     // between the tiles of a CTA, for each 64 columns
  constexpr double kShared = 0.087;  // million bytes a microsecond to a multiprocessor when all of them read
  constexpr double kSum = 2.61;      // split_sum, and for each million of partial sums:
  constexpr double kPartials = 1.0;
  const auto width = std::ranges::find(kWidths, t.bn, &Width::columns);
  const std::int64_t tiles = tiles_m(p, t) * tiles_n(p, t) * splits;
  const std::int64_t processors = std::max(multiprocessors, 1);
  const auto rounds = static_cast<double>(ceil_div(tiles, processors));
  const double busy = static_cast<double>(std::min(tiles, processors)) / static_cast<double>(processors);
  const double block = std::max(width->block, (t.bm + t.bn) * 128e-6 * busy / kShared);
  const auto blocks = static_cast<double>(ceil_div(blocks_of(p), splits));
  double out = kStart + rounds * (blocks * block + kTile * t.bn / 64.0);
  out = std::max(out, kStart + bytes_of(p) * 1e-6 / width->memory);
  if (splits > 1) {
    out += kSum + kPartials * 1e-6 * static_cast<double>(splits) * static_cast<double>(p.m) * static_cast<double>(p.n);
  }
  return out;
}

// Not measured: floors.
double cluster_cost(const GemmProblem& p, const Tile& t, std::int64_t splits, int multiprocessors) {
  const auto ctas = static_cast<double>(tiles_m(p, t) * tiles_n(p, t) * splits);
  const auto blocks = static_cast<double>(ceil_div(blocks_of(p), splits));
  const double rounds = std::max(1.0, ctas / std::max(multiprocessors, 1));
  const double block = std::max({t.bm * t.bn / 64.0 / 1755, (t.bm + t.bn) * 128e-6 / 0.087, 0.17});
  return 1.3 + std::max(rounds * blocks * block, bytes_of(p) * 1e-6 / 3.7) + rounds * (0.7 + t.bm * t.bn / 14000.0);
}

}  // namespace

std::int64_t block_of(const GemmProblem& p) {
  return kRowBytes / static_cast<std::int64_t>(size_of(p.a_type));
}

std::int64_t blocks_of(const GemmProblem& p) {
  return ceil_div(p.k, block_of(p));
}

std::int64_t tiles_m(const GemmProblem& p, const Tile& t) {
  return ceil_div(t.form == Form::exchanged ? p.n : p.m, t.bm);
}

std::int64_t tiles_n(const GemmProblem& p, const Tile& t) {
  return ceil_div(t.form == Form::exchanged ? p.m : p.n, t.bn);
}

std::int64_t effective(std::int64_t blocks, std::int64_t splits) {
  return ceil_div(blocks, ceil_div(blocks, std::clamp<std::int64_t>(splits, 1, blocks)));
}

double microseconds(const GemmProblem& p, const Tile& t, std::int64_t splits, int multiprocessors) {
  return t.form == Form::tiles ? tile_cost(p, t, splits, multiprocessors) : cluster_cost(p, t, splits, multiprocessors);
}

namespace {

struct Choice {
  std::int64_t splits = 1;
  double cost = 0;
};

Choice best(const GemmProblem& p) {
  const std::int64_t blocks = blocks_of(p);
  constexpr std::int64_t kMost = 64;
  constexpr std::int64_t kLeastBlocks = 4;
  Choice out;
  const std::int64_t most = p.workspace == 0 ? 1 : std::clamp<std::int64_t>(blocks / kLeastBlocks, 1, kMost);
  for (std::int64_t s = 1; s <= most; ++s) {
    if (effective(blocks, s) != s) continue;
    for (const Width& w : kWidths) {
      const double c = microseconds(p, {Form::tiles, 128, w.columns}, s, kProcessors);
      if (out.cost == 0 || c < out.cost) out = {s, c};
    }
  }
  return out;
}

}  // namespace

std::int64_t best_splits(const GemmProblem& p) {
  return best(p).splits;
}

Packing packing(const GemmProblem& problem) {
  GemmProblem p = problem;
  const bool bytes = size_of(p.a_type) == 1;
  const auto lies_well = [&](std::uint64_t address, std::int64_t leading, bool k_inside) {
    return rows_of_16_bytes(address, leading, p.a_type) && (k_inside || !bytes);
  };
  const Packing out = {!lies_well(p.a, p.lda, !p.a_transposed), !lies_well(p.b, p.ldb, p.b_transposed)};
  const auto m = static_cast<double>(p.m);
  const auto n = static_cast<double>(p.n);
  const auto k = static_cast<double>(p.k);
  constexpr double kRate = 25e6;   // operations a microsecond without tensor cores, of the shapes in question
  constexpr double kLaunch = 2.5;  // microseconds of a copy, and bytes that it moves in one
  constexpr double kCopied = 2.5e6;
  const double size = 2 * static_cast<double>(size_of(p.a_type));
  double copies = 0;
  if (out.a) copies += kLaunch + size * m * k / kCopied;
  if (out.b) copies += kLaunch + size * n * k / kCopied;
  const double without = 2 * m * n * k / kRate;
  if (copies >= without) return {};  // most small ones end here, before the search
  p.workspace = 16;                  // as if there were one
  return best(p).cost + copies < without ? out : Packing{};
}

bool rows_of_16_bytes(std::uint64_t address, std::int64_t leading, Dtype type) {
  return address % 16 == 0 && leading * static_cast<std::int64_t>(size_of(type)) % 16 == 0;
}

}  // namespace nervanagpu::hgemm
