// What a product costs on the tensor cores with a given tile and number of splits: a model of an H200.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "nervanagpu/gemm.hpp"

namespace nervanagpu::hgemm {

// hgemm.sass's tiles, of both warpgroups (cooperative) or of one each (ping-pong); hgemm_resident.sass's; and
// hgemm_cluster.sass's: of operands as they are, swapped, or in pairs that share rows of a.
enum class Form : std::uint8_t { tiles, ping_pong, resident, cluster, swapped, pair };
constexpr bool in_cluster(Form f) {
  return f >= Form::cluster;
}

struct Tile {
  Form form = Form::tiles;
  int bm = 0;
  int bn = 0;
  int stay = 0;  // resident: blocks of k that there is room for
  bool operator==(const Tile&) const = default;
};
std::string shape_name(const Tile& tile);  // "128x64", as kernels' names have it

constexpr std::int64_t kRowBytes = 128;  // of a k block in shared memory
constexpr std::int64_t kMostSplits = 8;  // CTAs of a cluster
constexpr int kProcessors = 132;         // of the model's GPU: bits must not depend on the one that is there

std::int64_t block_of(const GemmProblem& problem);  // elements of k
std::int64_t blocks_of(const GemmProblem& problem);
// Tiles along A's and B's side, as the kernel sees them.
std::int64_t tiles_m(const GemmProblem& problem, const Tile& tile);
std::int64_t tiles_n(const GemmProblem& problem, const Tile& tile);

// The order of hgemm.sass's and hgemm_resident.sass's tiles, and so of its CTAs: down so many rows of tiles, then to the next
// column of tiles. 1: along a row of them, so that neighbours share rows of a.
std::int64_t tiles_down_first(const GemmProblem& problem, const Tile& tile);

// Microseconds, roughly; only the order counts.
double microseconds(const GemmProblem& problem, const Tile& tile, std::int64_t splits, int multiprocessors);
// What a launch of lib/sm_90a/tiles/tiles.sass costs beside its blocks, in microseconds: hgemm.sass's own, which other producers replace.
struct Rates {
  double start = 2.21, early_start = 0.97;       // to the first products: after the work ahead, and beside its end
  double tile = 0.784;                           // between the tiles of a CTA, for each 64 columns
  double ping_pong = 0.65, ping_pong_end = 1.4;  // the same of ping-pong, and the last tile's end
  double ping_pong_blocks = 6;                   // fewer of a tile cover nothing
  double memory = 2.87;                          // million bytes a microsecond
  double sum = 1.10, part = 0;                   // split_sum, and for each part
  double sums = 0.94;                            // a million partial sums
};
// Of hgemm.sass's tiles with other producers, or of bytes (half_cost.h has the model of 16-bit products), with so many bytes of
// operands and result. block: microseconds of a k block; 0: hgemm.sass's own. groups: products in the launch. blocks: of a tile of
// the CTA that has most, in the mean; 0: as many as k has.
double tile_microseconds(const GemmProblem& problem, const Tile& tile, std::int64_t splits, int multiprocessors,
                         double bytes, double block = 0, std::int64_t groups = 1, const Rates& rates = {},
                         double blocks = 0);

// hgemm.sass: the grid may start before the work ahead of it has ended.
bool starts_early(const GemmProblem& problem, const Tile& tile, std::int64_t splits, std::int64_t groups = 1);

// The tiles of hgemm_cluster.sass that the library may choose: those that are no more than twice the multiprocessors, or than
// these where k lies across both operands; and of pairs of CTAs, which all run at once.
struct ClusterTiles {
  std::array<Tile, 13> tiles;
  std::size_t count = 0;
};
ClusterTiles cluster_tiles(const GemmProblem& problem);

// Which of hgemm_resident.sass's tiles a problem may have: types, layouts, one split of k that fits.
bool fits_resident(const GemmProblem& problem, const Tile& tile, std::int64_t splits);

// Clusters of `splits` CTAs that the GPU holds, `residents` CTAs a multiprocessor.
std::int64_t clusters_held(std::int64_t splits, std::int64_t residents);
// What a product's clusters find there: their waves, and how many CTAs a multiprocessor has at once, of 128 columns one, of fewer
// two. apart: each CTA finds a multiprocessor of its own, and gets it (Grid::apart).
struct Occupancy {
  std::int64_t waves = 1, ctas = 1;
  bool apart = false;
};
Occupancy occupancy(const GemmProblem& problem, const Tile& tile, std::int64_t splits);

// The smallest number of splits that gives them as many blocks as `splits` of them would have.
std::int64_t effective(std::int64_t blocks, std::int64_t splits);

// Into how many splits the library cuts k: a function of the problem alone, not of the GPU.
std::int64_t best_splits(const GemmProblem& problem);
double best_microseconds(const GemmProblem& problem);  // in problem.splits, if that is not 0

// What the copy engine asks of a matrix.
bool rows_of_16_bytes(std::uint64_t address, std::int64_t leading, Dtype type);

// The copies that bring a problem to the tensor cores that does not lie as they take it: of a, of b. None if they would not
// help, or cost more than they gain.
struct Packing {
  bool a = false;
  bool b = false;
};
Packing packing(const GemmProblem& problem);

}  // namespace nervanagpu::hgemm
