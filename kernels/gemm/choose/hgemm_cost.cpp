#include "kernels/gemm/choose/hgemm_cost.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "kernels/gemm/choose/h200.h"
#include "kernels/gemm/choose/transposed_cost.h"
#include "kernels/gemm/types.h"
#include "src/ceil_div.h"

namespace nervanagpu::hgemm {
namespace {

// Fitted to timings of 91 products on an H200 (benchmarks/results/hgemm_cluster.json, of 8,598); what the model chooses takes
// 1.036 times the time of the best, in the geometric mean (hgemm_sweep.json). What has been added since stands in
// docs/lab/hgemm.md, version 7.
struct Width {
  int columns;
  double block;  // microseconds of a k block of 128 rows
};
constexpr std::array kWidths = {Width{64, 0.184}, Width{128, 0.314}, Width{192, 0.444}, Width{256, 0.576}};

// Of hgemm_cluster.sass: microseconds of a block of 64 rows, by itself and for each CTA of a multiprocessor, and of the end.
struct ClusterWidth {
  int columns;
  double alone, shared, end;
};
constexpr std::array kClusterWidths = {ClusterWidth{16, 0.090, 0.044, 1.18}, ClusterWidth{32, 0.114, 0.049, 1.56},
                                       ClusterWidth{64, 0.152, 0.127, 2.22}, ClusterWidth{128, 0.151, 0.276, 2.10}};

// Where 16 or 32 columns are contiguous; and of tiles that are narrower than the problem.
constexpr ClusterWidth kShortRows = {0, 0.188, 0.150, 0};
constexpr ClusterWidth kNarrow = {32, 0.200, 0.155, 1.6};
constexpr double kClusterMemory = 3.63;  // million bytes a microsecond

// More than one tile beside another, though there are wider ones.
bool narrow(const GemmProblem& p, const Tile& t) {
  constexpr int kWidest = 128;
  return t.bn < kWidest && t.bn < (t.form == Form::swapped ? p.m : p.n);
}

double bytes_of(const GemmProblem& p) {
  const auto m = static_cast<double>(p.m);
  const auto n = static_cast<double>(p.n);
  const auto k = static_cast<double>(p.k);
  return static_cast<double>(size_of(p.a_type)) * (m * k + k * n) + static_cast<double>(size_of(p.c_type)) * m * n;
}

// What an epilogue costs beyond storing sums: a CTA, for each 64 columns; and all of it, of one warpgroup beside the other's
// products, which it holds up by a part of its time (docs/lab/hgemm.md, version 8).
struct Epilogue {
  double columns, ping_pong;
};
constexpr Epilogue kStores = {0, 1.4};
constexpr Epilogue kAddsC = {1.6, 8.0};
constexpr Epilogue kFunction = {4.0, 18.0};
Epilogue epilogue_of(const GemmProblem& p, std::int64_t splits) {
  if (splits > 1) return kStores;
  return sgemm::has_function(p) || p.rounding.stochastic ? kFunction : p.beta != 0 ? kAddsC : kStores;
}

// Microseconds of `rounds` tiles of a CTA whose two warpgroups take them in turn. tile: products and what comes between two;
// end: an epilogue, by so much longer than a store.
double in_turn(double rounds, double tile, double longer, double end) {
  constexpr double kHeldUp = 0.15;  // of what an epilogue takes longer, the other warpgroup's products
  return std::max(rounds * (tile + kHeldUp * longer) + end, std::ceil(rounds / 2) * (tile + end));
}

// The same of hgemm.sass's.
double ping_pong(double rounds, double blocks, double block, const Epilogue& epilogue, const Rates& rates) {
  constexpr double kNever = 1e9;
  if (blocks < rates.ping_pong_blocks) return kNever;
  const double longer = epilogue.ping_pong - kStores.ping_pong;
  return in_turn(rounds, blocks * block + rates.ping_pong, longer, rates.ping_pong_end + longer);
}

// hgemm_resident.sass, fitted to 353 timings of 54 products on an H200: 4 % off in the mean. B comes once, then A alone.
double resident_cost(const GemmProblem& p, const Tile& t, int multiprocessors) {
  constexpr double kStart = 2.45;
  constexpr double kOneRound = 1.26;  // its CTAs begin beside the end of the work ahead
  constexpr double kCopied = 0.0782;  // million bytes a microsecond to a multiprocessor
  constexpr double kColumn = 0.0011;  // a k block's products
  constexpr double kTile = 0.2;       // between two tiles,
  constexpr double kColumns = 0.102;  // and for each 64 columns
  constexpr double kMemory = 4.28;    // million bytes a microsecond
  const std::int64_t columns = tiles_n(p, t);
  const std::int64_t ctas = std::max<std::int64_t>(multiprocessors / columns, 1);
  const auto rounds = static_cast<double>(ceil_div(tiles_m(p, t), ctas));
  const auto blocks = static_cast<double>(blocks_of(p));
  const double of_b = blocks * t.bn * kRowBytes * 1e-6 / kCopied;
  const double block = std::max(t.bm * kRowBytes * 1e-6 / kCopied, t.bn * kColumn);
  const double tile = blocks * block + kTile + kColumns * t.bn / 64.0;
  const double longer = (epilogue_of(p, 1).ping_pong - kStores.ping_pong) * t.bm * t.bn / (128.0 * 128.0);
  const double run = of_b + in_turn(rounds, tile, longer, longer);
  return (rounds > 1 ? kStart : kOneRound) + h200::together(run, bytes_of(p) * 1e-6 / kMemory);
}

// Of pairs of CTAs, all at a time. They start later than one, and wait for each other.
double pair_cost(const GemmProblem& p) {
  constexpr double kStart = 2.35;
  constexpr double kBlock = 0.2;
  constexpr double kTile = 0.784;
  return kStart +
         h200::together(static_cast<double>(blocks_of(p)) * kBlock + kTile, bytes_of(p) * 1e-6 / kClusterMemory);
}

// What a block costs in hgemm_cluster.sass, and the end.
ClusterWidth width_of(const GemmProblem& p, const Tile& t) {
  ClusterWidth out = *std::ranges::find(kClusterWidths, t.bn, &ClusterWidth::columns);
  constexpr int kRow = 64;  // columns
  const bool swapped = t.form == Form::swapped;
  if (t.bn < kRow && narrow(p, t)) return kNarrow;
  if (t.bn < kRow && (swapped ? p.a_transposed : !p.b_transposed)) {  // short rows, many of them
    out.alone = std::max(out.alone, kShortRows.alone);
    out.shared = std::max(out.shared, kShortRows.shared);
  }
  return out;
}

double cluster_cost(const GemmProblem& p, const Tile& t, std::int64_t splits) {
  constexpr double kStart = 0.3;
  constexpr double kMeet = 0.15;  // the sums of 64 columns
  constexpr double kPart = 0.056;
  const ClusterWidth width = width_of(p, t);
  const Occupancy there = occupancy(p, t, splits);
  const auto rounds = static_cast<double>(there.rounds);
  const auto blocks = static_cast<double>(ceil_div(blocks_of(p), splits));
  const double run = rounds * blocks * std::max(width.alone, width.shared * static_cast<double>(there.ctas));
  const double meet = splits > 1 ? kMeet * t.bn / 64.0 : 0.0;
  return kStart + h200::together(run, bytes_of(p) * 1e-6 / kClusterMemory) + rounds * (width.end + meet) +
         kPart * static_cast<double>(splits - 1);
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
  const std::int64_t rounds = 32 * tiles <= 33 * held ? 1 : ceil_div(tiles, held);
  const bool apart = tiles <= clusters_held(splits, 1);
  return {rounds, apart ? 1 : residents, apart};
}

double tile_microseconds(const GemmProblem& p, const Tile& t, std::int64_t splits, int multiprocessors, double bytes,
                         double block, std::int64_t groups, const Rates& rates) {
  constexpr double kShared = 0.0905;       // million bytes a microsecond to a multiprocessor when all of them read
  constexpr double kPingPongBlock = 0.31;  // of 128 columns
  constexpr double kPingPongBlockBytes = 0.295;
  const std::int64_t tiles = tiles_m(p, t) * tiles_n(p, t) * splits * groups;
  const std::int64_t processors = std::max(multiprocessors, 1);
  const auto rounds = static_cast<double>(ceil_div(tiles, processors));
  const double busy = static_cast<double>(std::min(tiles, processors)) / static_cast<double>(processors);
  const double traffic = (t.bm + t.bn) * 128e-6 * busy / kShared;
  const auto blocks = static_cast<double>(ceil_div(blocks_of(p), splits));
  const Epilogue epilogue = epilogue_of(p, splits);
  if (block == 0 && t.form == Form::ping_pong) block = size_of(p.a_type) == 1 ? kPingPongBlockBytes : kPingPongBlock;
  if (block == 0) block = std::max(std::ranges::find(kWidths, t.bn, &Width::columns)->block, traffic);
  const double run = t.form == Form::ping_pong
                         ? ping_pong(rounds, blocks, block, epilogue, rates)
                         : rounds * (blocks * block + (rates.tile + epilogue.columns) * t.bn / 64.0);
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
  if (t.form == Form::resident) return resident_cost(p, t, multiprocessors);
  if (t.form == Form::pair) return pair_cost(p);
  if (transposed::is(p)) {
    return in_cluster(t.form) ? transposed::cluster_microseconds(p, t, splits)
                              : transposed::tile_microseconds(p, t, splits, multiprocessors);
  }
  return in_cluster(t.form) ? cluster_cost(p, t, splits)
                            : tile_microseconds(p, t, splits, multiprocessors, bytes_of(p));
}

// Early, a grid gains the launch; but its CTAs take the multiprocessors as they come free, no longer neighbours by
// neighbours, and those that share operands lose their common way to the L2.
bool starts_early(const GemmProblem& p, const Tile& t, std::int64_t splits, std::int64_t groups) {
  constexpr std::int64_t kFew = 66;
  constexpr std::int64_t kMany = 100;
  constexpr std::int64_t kShort = 16;  // blocks
  const std::int64_t ctas = tiles_m(p, t) * tiles_n(p, t) * groups;
  return splits == 1 && (ctas <= kFew || (ctas >= kMany && blocks_of(p) <= kShort));
}

ClusterTiles cluster_tiles(const GemmProblem& p) {
  constexpr std::int64_t kWidest = 128;
  constexpr std::int64_t kMostTiles = 48;  // that are narrower than the problem
  ClusterTiles out;
  if (!sgemm::half(p.a_type) || p.batch > 1) return out;
  // What no kernel of clusters finishes is summed up from a workspace, in as many splits: sums do not depend on it.
  if ((p.c_type != p.a_type || sgemm::has_function(p)) && p.workspace == 0) return out;
  const auto tile = [&](Form form) {
    const bool swapped = form == Form::swapped;
    const std::int64_t columns = swapped ? p.m : p.n;
    int bn = kClusterWidths.front().columns;
    while (bn < columns && bn < kWidest) bn *= 2;
    return Tile{form, 64, bn};
  };
  const auto add = [&](const Tile& t) { out.tiles[out.count++] = t; };
  const bool short_side = std::min(p.m, p.n) <= kWidest;
  if (transposed::is(p)) {
    for (const Form form : {Form::cluster, Form::swapped}) {
      for (const ClusterWidth& w : kClusterWidths) {
        const Tile t = {form, 64, w.columns};
        if (tiles_m(p, t) * tiles_n(p, t) <= kProcessors) add(t);
      }
    }
  } else if (short_side) {
    add(tile(p.n <= p.m ? Form::cluster : Form::swapped));
  } else {
    for (const Form form : {Form::cluster, Form::swapped}) {
      const Tile t = tile(form);
      if (tiles_m(p, t) * tiles_n(p, t) <= kMostTiles) add(t);
      const Tile thin = {form, 64, kNarrow.columns};
      if (tiles_m(p, thin) * tiles_n(p, thin) <= kProcessors) add(thin);
    }
  }
  const Tile pair = {Form::pair, 128, 64};
  const std::int64_t pairs = tiles_m(p, pair) * ceil_div(tiles_n(p, pair), 2);
  constexpr std::int64_t kFewPairs = 50;  // one round that fills most of the GPU
  if (!short_side && p.m >= p.n && pairs >= kFewPairs && pairs <= clusters_held(2, 1)) add(pair);
  return out;
}

namespace {

struct Choice {
  std::int64_t splits = 1;
  double cost = 0;
};

Choice best(const GemmProblem& p) {
  GemmProblem sums =
      p;  // an epilogue does not change how they are cut: act(dot(a, b)) and dot(a, b, act) have the same bits
  sums.activation = GemmActivation::none;
  sums.rounding = {};
  sums.beta = 0;
  const std::int64_t blocks = blocks_of(p);
  constexpr std::int64_t kMost = 64;
  constexpr std::int64_t kLeastBlocks = 4;
  Choice out;
  const std::int64_t most = p.workspace == 0 ? 1 : std::clamp<std::int64_t>(blocks / kLeastBlocks, 1, kMost);
  for (std::int64_t s = 1; s <= most; ++s) {
    if (effective(blocks, s) != s) continue;
    const auto add = [&](const Tile& t) {
      const double c = microseconds(sums, t, s, kProcessors);
      if (out.cost == 0 || c < out.cost) out = {s, c};
    };
    for (const Width& w : kWidths) add({Form::tiles, 128, w.columns});
    add({Form::ping_pong, 128, 128});
    for (const Tile& t : kResidentTiles) {
      if (fits_resident(p, t, s)) add(t);
    }
  }
  const ClusterTiles clusters = cluster_tiles(p);
  const std::int64_t most_chosen = transposed::is(p) ? kMostSplits : 7;  // of others 8 were slower than 7
  for (std::size_t i = 0; i < clusters.count; ++i) {
    const std::int64_t most_splits = clusters.tiles[i].form == Form::pair ? 1 : std::min(blocks, most_chosen);
    for (std::int64_t s = 1; s <= most_splits; ++s) {
      if (effective(blocks, s) != s) continue;
      const double c = microseconds(p, clusters.tiles[i], s, kProcessors);
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
  return best(p).cost + copies < without ? out : Packing{};
}

bool rows_of_16_bytes(std::uint64_t address, std::int64_t leading, Dtype type) {
  return address % 16 == 0 && leading * static_cast<std::int64_t>(size_of(type)) % 16 == 0;
}

}  // namespace nervanagpu::hgemm
