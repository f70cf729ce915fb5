#include "kernels/gemm/cost/half_cost.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "kernels/gemm/cost/epilogue_cost.h"
#include "kernels/gemm/cost/fitted_half.h"
#include "kernels/gemm/cost/h200.h"
#include "src/ceil_div.h"

namespace nervanagpu::hgemm::half {
namespace {

constexpr std::int64_t kBox = 64;  // columns, and rows of a block

// Of elements from row to row. 0: lines begin at multiples of 128 bytes, 1: of 32, 2: anywhere.
std::size_t lines_of(std::int64_t pitch) {
  constexpr std::int64_t kLine = 64, kSector = 16;  // elements
  return pitch % kLine == 0 ? 0 : pitch % kSector == 0 ? 1 : 2;
}

// An operand: its rows or columns beside k, the pitch of its rows in memory, and whether k lies inside of them.
struct Side {
  std::int64_t length, pitch;
  bool k_inside;
};

// Of a block of k that the copy engine brings for a mean tile, `tile` of the side.
double rows_of(const Side& side, std::int64_t tile, const Moves& costs) {
  const std::int64_t tiles = ceil_div(side.length, tile);
  if (side.k_inside) {
    const double there = static_cast<double>(side.length) / static_cast<double>(tiles);
    return there * costs.inside[lines_of(side.pitch)] + (static_cast<double>(tile) - there) * costs.outside;
  }
  const std::int64_t width = std::min(tile, kBox);
  const std::int64_t boxes = tiles * ceil_div(tile, kBox);
  const std::int64_t there = ceil_div(side.length, width);
  const std::int64_t partly = side.length % width != 0 ? 1 : 0;
  const double all = static_cast<double>(there - partly) * costs.inside[lines_of(side.pitch)] +
                     static_cast<double>(boxes - there) * costs.outside + static_cast<double>(partly) * costs.partly;
  return static_cast<double>(kBox) * all / static_cast<double>(tiles);
}

// The problem as a kernel with a tile sees it: columns are the side of the tile's bn.
struct Work {
  const GemmProblem& p;
  const Tile& t;
  std::int64_t splits;
  Side rows, columns;
  std::int64_t down, across;  // tiles
  double blocks;              // of k, of a CTA's tile
};

Work work_of(const GemmProblem& p, const Tile& t, std::int64_t splits) {
  const Side a = {p.m, p.lda, !p.a_transposed};
  const Side b = {p.n, p.ldb, p.b_transposed};
  const bool swapped = t.form == Form::swapped;
  return {p,
          t,
          splits,
          swapped ? b : a,
          swapped ? a : b,
          tiles_m(p, t),
          tiles_n(p, t),
          static_cast<double>(ceil_div(blocks_of(p), splits))};
}

double row_of_a(const Work& w, const Moves& costs) {
  return rows_of(w.rows, w.t.bm, costs);
}

double row_of_b(const Work& w, const Moves& costs) {
  return rows_of(w.columns, w.t.bn, costs);
}

double memory_of(const GemmProblem& p, const Moves& costs) {
  constexpr double kBytes = 2e-6;  // million bytes of an element
  const auto bytes = [&](std::int64_t rows, std::int64_t columns, std::int64_t pitch) {
    return kBytes * static_cast<double>(rows) * static_cast<double>(columns) * costs.bytes[lines_of(pitch)];
  };
  return (bytes(p.m, p.k, p.lda) + bytes(p.n, p.k, p.ldb) + bytes(p.m, p.n, p.ldc)) / costs.memory;
}

// Of so many rows of 128 bytes.
double rows_microseconds(double rows, double rate) {
  return 1e-6 * rows * static_cast<double>(kRowBytes) / rate;
}

// Rows of a block of a tile, where CTAs in a row bring what they share once. (That they do is seen in times alone: 128 x 4096 x
// 4096 takes 13 microseconds where neighbours share 128 rows of one operand, and 16 where they share 64.)
double fetched_rows(const Work& w) {
  constexpr std::int64_t kNear = 8;
  const std::int64_t near = in_cluster(w.t.form) ? std::max<std::int64_t>(kNear / w.splits, 1) : kNear;
  const std::int64_t group = tiles_down_first(w.p, w.t);
  const std::int64_t rows =
      group > 1 ? std::min(group, w.down) : std::max<std::int64_t>(std::min(near / w.across, w.down), 1);
  const std::int64_t columns =
      group > 1 ? std::max<std::int64_t>(std::min(near / rows, w.across), 1) : std::min(w.across, near);
  return w.t.bm / static_cast<double>(columns) + w.t.bn / static_cast<double>(rows);
}

double traffic_of(const Work& w, const Moves& costs) {
  const double blocks = static_cast<double>(w.down * w.across * w.splits) * w.blocks;
  return rows_microseconds(blocks * (w.t.bm + w.t.bn), costs.traffic) +
         rows_microseconds(blocks * fetched_rows(w), costs.fetched);
}

double together(double run, double memory, double traffic, const Moves& costs) {
  const double most = h200::together(h200::together(run, memory), traffic);
  const double more = run + memory + traffic - most;
  return most + more / (1 + more / costs.hindered);
}

double tiles_microseconds(const Work& w, int multiprocessors) {
  const Tiles& c = kTiles;
  const EpilogueCost epilogue = epilogue_cost(w.p, w.splits);
  const std::int64_t tiles = w.down * w.across * w.splits;
  const auto waves = static_cast<double>(ceil_div(tiles, std::max(multiprocessors, 1)));
  const double rows = row_of_a(w, c.moves) + row_of_b(w, c.moves);
  const double wide = w.t.bn / 64.0;
  double run = 0;
  if (w.t.form == Form::ping_pong) {
    constexpr double kFewest = 6;  // blocks: less of a tile cover nothing
    constexpr double kNever = 1e9;
    if (w.blocks < kFewest) return kNever;
    const double longer = epilogue.ping_pong - kStores.ping_pong;
    run = ping_pong_time(waves, w.blocks * std::max(rows, c.ping_pong_block) + c.ping_pong, longer,
                         c.ping_pong_end + longer);
  } else {
    const double block = std::max(rows, c.block[static_cast<std::size_t>(w.t.bn / kBox - 1)]);
    run = waves * (w.blocks * block + c.tile + (c.columns + epilogue.columns) * wide);
  }
  const double out = (starts_early(w.p, w.t, w.splits) ? c.early_start : c.start) +
                     together(run, memory_of(w.p, c.moves), traffic_of(w, c.moves), c.moves);
  if (w.splits == 1) return out;
  const auto parts = static_cast<double>(w.splits);
  return out + c.sum + c.part * parts + c.sums * 1e-6 * parts * static_cast<double>(w.p.m) * static_cast<double>(w.p.n);
}

// B comes once, then A alone.
double resident_microseconds(const Work& w, int multiprocessors) {
  const Resident& c = kResident;
  const std::int64_t ctas = std::max<std::int64_t>(multiprocessors / w.across, 1);
  const auto waves = static_cast<double>(ceil_div(w.down, ctas));
  const double tile = w.blocks * std::max(row_of_a(w, c.moves), w.t.bn * c.column) + c.tile + c.columns * w.t.bn / 64.0;
  const double longer = (epilogue_cost(w.p, 1).ping_pong - kStores.ping_pong) * w.t.bm * w.t.bn / (128.0 * 128.0);
  const double run = c.load * w.blocks * row_of_b(w, c.moves) + ping_pong_time(waves, tile, longer, longer);
  const double rows =
      static_cast<double>(w.down * w.across * w.t.bm) + static_cast<double>(std::min(ctas, w.down) * w.across * w.t.bn);
  return (waves > 1 ? c.start : c.early_start) +
         together(run, memory_of(w.p, c.moves), rows_microseconds(w.blocks * rows, c.moves.traffic), c.moves);
}

double cluster_microseconds(const Work& w) {
  const Cluster& c = kCluster;
  const auto width = static_cast<std::size_t>(std::countr_zero(static_cast<unsigned>(w.t.bn / 16)));
  const Occupancy there = occupancy(w.p, w.t, w.splits);
  const auto waves = static_cast<double>(there.waves);
  const double block = std::max(row_of_a(w, c.moves) + row_of_b(w, c.moves), c.block[width]);
  const double run = waves * w.blocks * block * (there.ctas > 1 ? c.twice : 1.0);
  const double end = c.end[width] + (w.splits > 1 ? c.meet * w.t.bn / 64.0 : 0.0);
  return c.start + together(run, memory_of(w.p, c.moves), traffic_of(w, c.moves), c.moves) + waves * end +
         c.part * static_cast<double>(w.splits - 1);
}

// Each CTA copies half of the rows of A that it has.
double pair_microseconds(const Work& w) {
  const Pair& c = kPair;
  constexpr int kNarrowest = 64, kStep = 32;
  const double block = std::max(row_of_a(w, c.moves) / 2 + row_of_b(w, c.moves),
                                c.block[static_cast<std::size_t>((w.t.bn - kNarrowest) / kStep)]);
  const double run = w.blocks * block + c.tile + c.columns * w.t.bn / 64.0;
  return c.start + together(run, memory_of(w.p, c.moves), traffic_of(w, c.moves), c.moves);
}

}  // namespace

double microseconds(const GemmProblem& p, const Tile& t, std::int64_t splits, int multiprocessors) {
  const Work w = work_of(p, t, splits);
  switch (t.form) {
    case Form::tiles:
    case Form::ping_pong: return tiles_microseconds(w, multiprocessors);
    case Form::resident: return resident_microseconds(w, multiprocessors);
    case Form::cluster:
    case Form::swapped: return cluster_microseconds(w);
    case Form::pair: return pair_microseconds(w);
  }
  return 0;
}

}  // namespace nervanagpu::hgemm::half
