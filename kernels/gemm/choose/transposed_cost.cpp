#include "kernels/gemm/choose/transposed_cost.h"

#include <algorithm>
#include <array>
#include <bit>

#include "kernels/gemm/choose/h200.h"
#include "kernels/gemm/types.h"
#include "src/ceil_div.h"

namespace nervanagpu::hgemm::transposed {
namespace {

constexpr std::int64_t kBox = 64;  // columns, and rows of a block

// Microseconds of a row that the copy engine brings, by where its line of memory begins, and of one that lies outside of the
// matrix, whole or in part; bytes of memory count for more where lines are not whole.
struct Rows {
  std::array<double, 3> inside;  // at multiples of 128 bytes, of 32, others
  double outside, partly;
  std::array<double, 3> bytes;
  double memory;  // million bytes a microsecond
};

// All fitted by benchmarks/transposed_fit.py, which says how good it is (docs/lab/hgemm.md, "k across both operands").
constexpr Rows kCluster = {{0.0006955, 0.0008892, 0.001981}, 0.0008963, 0.001314, {1, 1.077, 0.9512}, 3.012};
constexpr Rows kTiles = {{0.0008494, 0.001248, 0.00194}, 0.001644, 0.0009832, {1, 1.019, 1.226}, 3.167};

constexpr double kClusterStart = 0.3;
constexpr double kClusterPart = 0.0208;
constexpr double kTwice = 2.042;                                  // a block where a multiprocessor has two CTAs
constexpr double kClusterTraffic = 7.195;                         // million bytes a microsecond that all CTAs bring
constexpr std::array kClusterEnds = {1.059, 1.268, 1.71, 2.181};  // of 16, 32, 64 and 128 columns
constexpr double kDoubt = 1.05;  // the least of many estimates is one that is too low: clusters must promise more

constexpr std::array kBlocks = {0.1631, 0.3132, 0.4467, 0.5846};  // of 64, 128, 192 and 256 columns
constexpr double kPingPongBlock = 0.3003;
constexpr double kTraffic = 7.127;
constexpr Rates kRates = {.start = 1.621,
                          .early_start = 1.024,
                          .tile = 0.6216,
                          .ping_pong = 0.649,
                          .ping_pong_end = 1.358,
                          .memory = kTiles.memory,
                          .sum = 1.014,
                          .part = 0.02629,
                          .sums = 0.9673};

// 0: lines begin at multiples of 128 bytes, 1: of 32, 2: anywhere.
std::size_t lines_of(std::int64_t columns) {
  constexpr std::int64_t kLine = 64, kSector = 16;  // elements
  return columns % kLine == 0 ? 0 : columns % kSector == 0 ? 1 : 2;
}

// Microseconds that the copy engine takes for one operand's rows of a block: of a mean tile, `tile` columns wide.
double rows_of(std::int64_t columns, std::int64_t tile, const Rows& rows) {
  const std::int64_t tiles = ceil_div(columns, tile);
  const std::int64_t width = std::min(tile, kBox);
  const std::int64_t boxes = tiles * ceil_div(tile, kBox);
  const std::int64_t there = ceil_div(columns, width);
  const std::int64_t partly = columns % width != 0 ? 1 : 0;
  const double all = static_cast<double>(there - partly) * rows.inside[lines_of(columns)] +
                     static_cast<double>(boxes - there) * rows.outside + static_cast<double>(partly) * rows.partly;
  return static_cast<double>(kBox) * all / static_cast<double>(tiles);
}

double memory_microseconds(const GemmProblem& p, const Rows& rows) {
  constexpr double kBytes = 2e-6;  // million bytes of an element
  const auto bytes = [&](std::int64_t lines, std::int64_t columns) {
    return kBytes * static_cast<double>(lines) * static_cast<double>(columns) * rows.bytes[lines_of(columns)];
  };
  return (bytes(p.k, p.m) + bytes(p.k, p.n) + bytes(p.m, p.n)) / rows.memory;
}

// Million bytes that all CTAs bring to their multiprocessors.
double traffic_of(const GemmProblem& p, const Tile& t, std::int64_t splits) {
  const std::int64_t blocks = ceil_div(blocks_of(p), splits) * splits * tiles_m(p, t) * tiles_n(p, t);
  return 1e-6 * static_cast<double>(blocks * (t.bm + t.bn) * kRowBytes);
}

}  // namespace

bool is(const GemmProblem& p) {
  return sgemm::half(p.a_type) && p.a_transposed && !p.b_transposed;
}

double cluster_microseconds(const GemmProblem& p, const Tile& t, std::int64_t splits) {
  const bool swapped = t.form == Form::swapped;
  const double rows = rows_of(swapped ? p.n : p.m, t.bm, kCluster) + rows_of(swapped ? p.m : p.n, t.bn, kCluster);
  const Occupancy there = occupancy(p, t, splits);
  const auto rounds = static_cast<double>(there.rounds);
  const auto blocks = static_cast<double>(ceil_div(blocks_of(p), splits));
  const double run = rounds * blocks * rows * (there.ctas > 1 ? kTwice : 1.0);
  const double traffic = traffic_of(p, t, splits) / kClusterTraffic;
  const auto width = static_cast<std::size_t>(std::countr_zero(static_cast<unsigned>(t.bn / 16)));
  return kDoubt * (kClusterStart + h200::together(h200::together(run, traffic), memory_microseconds(p, kCluster)) +
                   rounds * kClusterEnds[width] + kClusterPart * static_cast<double>(splits - 1));
}

double tile_microseconds(const GemmProblem& p, const Tile& t, std::int64_t splits, int multiprocessors) {
  const double rows = rows_of(p.m, t.bm, kTiles) + rows_of(p.n, t.bn, kTiles);
  const double products =
      t.form == Form::ping_pong ? kPingPongBlock : kBlocks[static_cast<std::size_t>(t.bn / kBox - 1)];
  const double moved = h200::together(memory_microseconds(p, kTiles), traffic_of(p, t, splits) / kTraffic);
  return hgemm::tile_microseconds(p, t, splits, multiprocessors, 1e6 * kTiles.memory * moved, std::max(products, rows),
                                  1, kRates);
}

}  // namespace nervanagpu::hgemm::transposed
