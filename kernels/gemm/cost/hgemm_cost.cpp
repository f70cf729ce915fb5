#include "kernels/gemm/cost/hgemm_cost.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "kernels/gemm/cost/epilogue_cost.h"
#include "kernels/gemm/cost/h200.h"
#include "kernels/gemm/cost/half_cost.h"
#include "kernels/gemm/types.h"
#include "kernels/variants.h"
#include "src/ceil_div.h"

namespace nervanagpu::hgemm {
namespace {

// Tiles of bytes, and of other producers than hgemm.sass's. Fitted to timings of 91 products of 16-bit floats on an H200
// (benchmarks/results/gemm/hgemm_cluster.json), whose own model is half_cost.cpp since.
struct Width {
  int columns;
  double block;  // microseconds of a k block of 128 rows
};
constexpr std::array kWidths = {Width{64, 0.184}, Width{128, 0.314}, Width{192, 0.444}, Width{256, 0.576}};

constexpr std::string_view kResident[] = {
#include "kernels/gemm/tensor_cores/hgemm_resident.variants.inc"
};
constexpr auto kResidentTiles = variants::table<Tile, kResident>([](std::string_view line, auto add) {
  using variants::number;
  add(Tile{Form::resident, number(line, "BM"), number(line, "BN"), number(line, "STAY")});
});

double bytes_of(const GemmProblem& p) {
  const auto m = static_cast<double>(p.m);
  const auto n = static_cast<double>(p.n);
  const auto k = static_cast<double>(p.k);
  return static_cast<double>(size_of(p.a_type)) * (m * k + k * n) + static_cast<double>(size_of(p.c_type)) * m * n;
}

// Of hgemm.sass's tiles of both warpgroups in turn.
double ping_pong(double waves, double blocks, double block, const EpilogueCost& epilogue, const Rates& rates) {
  constexpr double kNever = 1e9;
  if (blocks < rates.ping_pong_blocks) return kNever;
  const double longer = epilogue.ping_pong - kStores.ping_pong;
  return ping_pong_time(waves, blocks * block + rates.ping_pong, longer, rates.ping_pong_end + longer);
}

}  // namespace

std::string shape_name(const Tile& t) {
  return std::to_string(t.bm) + "x" + std::to_string(t.bn);
}

std::int64_t block_of(const GemmProblem& p) {
  return kRowBytes / static_cast<std::int64_t>(size_of(p.a_type));
}

std::int64_t blocks_of(const GemmProblem& p) {
  return ceil_div(p.k, block_of(p));
}

std::int64_t tiles_m(const GemmProblem& p, const Tile& t) {
  return ceil_div(t.form == Form::swapped ? p.n : p.m, t.bm);
}

std::int64_t tiles_n(const GemmProblem& p, const Tile& t) {
  return ceil_div(t.form == Form::swapped ? p.m : p.n, t.bn);
}

std::int64_t tiles_down_first(const GemmProblem& p, const Tile& t) {
  constexpr std::int64_t kRows = 8;
  constexpr std::int64_t kFew = 4;
  return t.form == Form::resident || in_cluster(t.form) || tiles_n(p, t) <= kFew ? 1 : kRows;
}

std::int64_t effective(std::int64_t blocks, std::int64_t splits) {
  return ceil_div(blocks, ceil_div(blocks, std::clamp<std::int64_t>(splits, 1, blocks)));
}

std::int64_t clusters_held(std::int64_t splits, std::int64_t residents) {
  return h200::kClusters[static_cast<std::size_t>(splits - 1)] * residents;
}

Occupancy occupancy(const GemmProblem& p, const Tile& t, std::int64_t splits) {
  const std::int64_t residents = t.bn < 128 ? 2 : 1;
  const std::int64_t tiles = tiles_m(p, t) * tiles_n(p, t);
  const std::int64_t held = clusters_held(splits, residents);
  // One or two more than there is room for start when the first have ended, while the others still run.
  const std::int64_t waves = 32 * tiles <= 33 * held ? 1 : ceil_div(tiles, held);
  const bool apart = tiles <= clusters_held(splits, 1);
  return {waves, apart ? 1 : residents, apart};
}

double tile_microseconds(const GemmProblem& p, const Tile& t, std::int64_t splits, int multiprocessors, double bytes,
                         double block, std::int64_t groups, const Rates& rates, double blocks) {
  constexpr double kShared = 0.0905;       // million bytes a microsecond to a multiprocessor when all of them read
  constexpr double kPingPongBlock = 0.31;  // of 128 columns
  constexpr double kPingPongBlockBytes = 0.295;
  const std::int64_t tiles = tiles_m(p, t) * tiles_n(p, t) * splits * groups;
  const std::int64_t processors = std::max(multiprocessors, 1);
  const auto waves = static_cast<double>(ceil_div(tiles, processors));
  const double busy = static_cast<double>(std::min(tiles, processors)) / static_cast<double>(processors);
  const double traffic = (t.bm + t.bn) * 128e-6 * busy / kShared;
  if (blocks == 0) blocks = static_cast<double>(ceil_div(blocks_of(p), splits));
  const EpilogueCost epilogue = epilogue_cost(p, splits);
  if (block == 0 && t.form == Form::ping_pong) block = size_of(p.a_type) == 1 ? kPingPongBlockBytes : kPingPongBlock;
  if (block == 0) block = std::max(std::ranges::find(kWidths, t.bn, &Width::columns)->block, traffic);
  const double run = t.form == Form::ping_pong
                         ? ping_pong(waves, blocks, block, epilogue, rates)
                         : waves * (blocks * block + (rates.tile + epilogue.columns) * t.bn / 64.0);
  double out = starts_early(p, t, splits, groups) ? rates.early_start : rates.start;
  out += h200::together(run, bytes * 1e-6 / rates.memory);
  if (splits > 1) {
    out +=
        rates.sum + rates.part * static_cast<double>(splits) +
        rates.sums * 1e-6 * static_cast<double>(splits * groups) * static_cast<double>(p.m) * static_cast<double>(p.n);
  }
  return out;
}

bool fits_resident(const GemmProblem& p, const Tile& t, std::int64_t splits) {
  const bool one_b = p.batch <= 1 || (!p.sum_batch && p.stride_a != 0 && p.stride_b == 0);
  return splits == 1 && one_b && !p.a_transposed && sgemm::half(p.a_type) && p.c_type == p.a_type &&
         blocks_of(p) <= t.stay && tiles_n(p, t) <= kProcessors;
}

double microseconds(const GemmProblem& p, const Tile& t, std::int64_t splits, int multiprocessors) {
  return sgemm::half(p.a_type) ? half::microseconds(p, t, splits, multiprocessors)
                               : tile_microseconds(p, t, splits, multiprocessors, bytes_of(p));
}

// Early, a grid gains the launch; but its CTAs take the multiprocessors as they come free, no longer neighbours by
// neighbours, and those that share operands lose their common way to the L2.
bool starts_early(const GemmProblem& p, const Tile& t, std::int64_t splits, std::int64_t groups) {
  constexpr std::int64_t kFew = 66;
  constexpr std::int64_t kMany = 100;
  constexpr std::int64_t kShort = 16;         // blocks
  if (t.form == Form::resident) return true;  // its CTAs keep what they share
  const std::int64_t ctas = tiles_m(p, t) * tiles_n(p, t) * groups;
  return splits == 1 && (ctas <= kFew || (ctas >= kMany && blocks_of(p) <= kShort));
}

ClusterTiles cluster_tiles(const GemmProblem& p) {
  ClusterTiles out;
  if (!sgemm::half(p.a_type) || p.batch > 1) return out;
  // What no kernel of clusters finishes is summed up from a workspace, in as many splits: sums do not depend on it.
  if ((p.c_type != p.a_type || sgemm::has_function(p)) && p.workspace == 0) return out;
  const auto add = [&](const Tile& t) { out.tiles[out.count++] = t; };
  const std::int64_t most = p.a_transposed && !p.b_transposed ? kProcessors : 2 * kProcessors;
  for (const Form form : {Form::cluster, Form::swapped}) {
    for (const int columns : {16, 32, 64, 128}) {
      const Tile t = {form, 64, columns};
      if (tiles_m(p, t) * tiles_n(p, t) <= most) add(t);
    }
  }
  for (const int columns : {64, 96, 128, 160, 192}) {
    constexpr int kBox = 64;
    if (columns % kBox != 0 && !p.b_transposed) continue;  // boxes of contiguous columns
    const Tile t = {Form::pair, 128, columns};
    const std::int64_t across = tiles_n(p, t);
    if (across > 1 && tiles_m(p, t) * ceil_div(across, 2) <= clusters_held(2, 1)) add(t);
  }
  return out;
}

namespace {

struct Choice {
  std::int64_t splits = 1;
  double cost = 0;
};

// In as many splits as are asked for, if any are.
bool may_cut(const GemmProblem& p, std::int64_t blocks, std::int64_t splits) {
  return effective(blocks, splits) == splits && (p.splits == 0 || effective(blocks, p.splits) == splits);
}

Choice best(const GemmProblem& p) {
  GemmProblem sums =
      p;  // an epilogue does not change how they are cut: act(dot(a, b)) and dot(a, b, act) have the same bits
  sums.activation = GemmActivation::none;
  sums.rounding = {};
  sums.beta = 0;
  if (sgemm::half(p.a_type)) sums.c_type = p.a_type;  // nor does the type of C
  const std::int64_t blocks = blocks_of(p);
  constexpr std::int64_t kMost = 64;
  constexpr std::int64_t kLeastBlocks = 4;
  Choice out;
  const std::int64_t most = p.workspace == 0 ? 1 : std::clamp<std::int64_t>(blocks / kLeastBlocks, 1, kMost);
  for (std::int64_t s = 1; s <= most; ++s) {
    if (!may_cut(p, blocks, s)) continue;
    const auto add = [&](const Tile& t) {
      const double c = microseconds(sums, t, s, kProcessors);
      if (out.cost == 0 || c < out.cost) out = {s, c};
    };
    for (const Width& w : kWidths) add({Form::tiles, 128, w.columns});
    add({Form::ping_pong, 128, 128});
    for (const Tile& t : kResidentTiles) {
      if (fits_resident(sums, t, s)) add(t);
    }
  }
  const ClusterTiles clusters = cluster_tiles(p);
  constexpr std::int64_t kFewBlocks = 2;  // fewer of a CTA gain nothing
  for (std::size_t i = 0; i < clusters.count; ++i) {
    const std::int64_t most_splits = clusters.tiles[i].form == Form::pair ? 1 : std::min(blocks, kMostSplits);
    for (std::int64_t s = 1; s <= most_splits; ++s) {
      if (!may_cut(p, blocks, s) || (s > 1 && ceil_div(blocks, s) < kFewBlocks)) continue;
      const double c = microseconds(sums, clusters.tiles[i], s, kProcessors);
      if (c < out.cost) out = {s, c};
    }
  }
  return out;
}

}  // namespace

std::int64_t best_splits(const GemmProblem& p) {
  return best(p).splits;
}

double best_microseconds(const GemmProblem& p) {
  return best(p).cost;
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
  constexpr std::int64_t kUnit = 8;  // a copy's rows begin at multiples of so many elements
  if (out.a) p.lda = ceil_div(p.lda, kUnit) * kUnit;
  if (out.b) p.ldb = ceil_div(p.ldb, kUnit) * kUnit;
  return best(p).cost + copies < without ? out : Packing{};
}

bool rows_of_16_bytes(std::uint64_t address, std::int64_t leading, Dtype type) {
  return address % 16 == 0 && leading * static_cast<std::int64_t>(size_of(type)) % 16 == 0;
}

}  // namespace nervanagpu::hgemm
