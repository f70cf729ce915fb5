#include "kernels/gemm/pieces/f16x3_rs.h"

#include <algorithm>
#include <array>

#include "kernels/gemm/cost/hgemm_cost.h"
#include "kernels/gemm/pieces/choice.h"
#include "kernels/gemm/pieces/f16x3.h"
#include "kernels/gemm/pieces/kept.h"
#include "kernels/gemm/pieces/piece_sides.h"
#include "src/ceil_div.h"

namespace nervanagpu::f16x3_rs {
namespace {

using pieces::a_of;
using pieces::b_of;
using pieces::chunks_of;
using pieces::Side;

constexpr int kRows = 128;               // of the large operand, a tile
constexpr std::int64_t kMostCtas = 256;  // words of an operand, at `statistics`
constexpr std::int64_t kMaxSums = 1LL << 31;
constexpr std::int64_t kChunk = 64;  // of k

// Microseconds of a chunk of 64 k, by rows of the small operand: docs/lab/f16x3.md.
constexpr std::array kWidths = {bf16x6::Width{64, 1.17}, bf16x6::Width{128, 1.45}};

Side large_of(const GemmProblem& p, bool of_a) {
  return of_a ? a_of(p) : b_of(p);
}
std::int64_t tiles_of(const GemmProblem& p, bool of_a, int width, std::int64_t splits) {
  return splits * ceil_div(of_a ? p.m : p.n, std::int64_t{kRows}) * ceil_div(of_a ? p.n : p.m, width);
}

std::int64_t ctas_of(std::int64_t tiles, int multiprocessors) {
  return std::min({tiles, std::max<std::int64_t>(multiprocessors, 1), kMostCtas});
}

// Splits end where groups of small elements do (f16x2.sass).
bool whole_groups(const Side& large, std::int64_t chunks, std::int64_t splits) {
  const std::int64_t length = f16x3::groups_of(large).length;
  return ceil_div(chunks, splits) % std::max<std::int64_t>(length / kChunk, 1) == 0;
}

double microseconds(const GemmProblem& p, bool of_a, const bf16x6::Width& w, std::int64_t splits, int multiprocessors) {
  constexpr double kStart = 13;      // the small operand's pieces, the sample, the first stage
  constexpr double kMemory = 3.6e6;  // bytes a microsecond, of the large operand
  constexpr double kSums = 1.6e6;    // bytes a microsecond, written and read again
  const std::int64_t tiles = tiles_of(p, of_a, w.columns, splits);
  const auto rounds = static_cast<double>(ceil_div(tiles, ctas_of(tiles, multiprocessors)));
  const auto chunks = static_cast<double>(ceil_div(chunks_of(p), splits));
  const double large = 4.0 * static_cast<double>(of_a ? p.m : p.n) * static_cast<double>(p.k);
  const double sums = 4.0 * static_cast<double>(splits) * static_cast<double>(p.m) * static_cast<double>(p.n);
  return kStart + std::max(rounds * chunks * w.chunk, large / kMemory) + sums / kSums;
}

}  // namespace

Choice choice_of(const GemmProblem& p) {
  constexpr std::int64_t kMostSmall = 384;
  constexpr std::int64_t kMostSplits = 32;
  constexpr std::int64_t kLeastChunks = 4;
  const bool of_a = p.m > p.n;
  const std::int64_t small = of_a ? p.n : p.m;
  const std::int64_t large = of_a ? p.m : p.n;
  if (p.batch > 1 || p.pointers != 0 || small > kMostSmall || large < 4 * small || p.m * p.n >= kMaxSums) return {};
  const Side large_side = large_of(p, of_a);
  const std::int64_t chunks = chunks_of(p);
  Choice best;
  for (std::int64_t s = std::max<std::int64_t>(2, pieces::least_splits(p));
       s <= std::min(chunks / kLeastChunks, kMostSplits); ++s) {
    if (hgemm::effective(chunks, s) != s || !whole_groups(large_side, chunks, s)) continue;
    for (const bf16x6::Width& w : kWidths) {
      const double cost = microseconds(p, of_a, w, s, hgemm::kProcessors);
      if (best.splits == 0 || cost < best.cost) best = {s, cost};
    }
  }
  return best;
}

bool large_a(const Kernel& k) {
  return k.manifest().variant.at("BIG") == "a";
}

std::string tile_name(const Kernel& k) {
  return "f16_rs" + std::to_string(k.number("BN"));
}

bool fits(const Kernel& k, const GemmProblem& p, std::int64_t splits, std::string_view tile) {
  const bool of_a = large_a(k);
  if (!bf16x6::fits(k, p, {}) || of_a != (p.m > p.n) || (!tile.empty() && tile != tile_name(k))) return false;
  if (p.batch > 1 || splits < 2 || p.m * p.n >= kMaxSums) return false;
  if (kept::has(of_a ? p.a_pieces : p.b_pieces, f16x3::kPieces)) return false;  // f16x3.sass reads them
  const Side large = large_of(p, of_a);
  constexpr std::int64_t kUnit = 4;  // elements of 16 bytes
  const bool lies = large.from.address % 16 == 0 && large.from.leading % kUnit == 0 && large.inner % kUnit == 0;
  return lies && whole_groups(large, chunks_of(p), splits);
}

double cost(const Kernel& k, const GemmProblem& p, std::int64_t splits, int multiprocessors) {
  const auto& w = *std::ranges::find(kWidths, k.number("BN"), &bf16x6::Width::columns);
  return microseconds(p, large_a(k), w, splits, multiprocessors);
}

Grid grid(const Kernel& k, const GemmProblem& p, std::int64_t splits, int multiprocessors) {
  const std::int64_t tiles = tiles_of(p, large_a(k), k.number("BN"), splits);
  Grid out = {static_cast<std::uint32_t>(ctas_of(tiles, multiprocessors)), 1, 1};
  out.early = true;  // after f16x2.sass's, for which it waits
  return out;
}

bf16x6::Room room(const Kernel& k, const GemmProblem& p, std::int64_t splits) {
  GemmProblem small = p;
  small.a_pieces = small.b_pieces = {};
  (large_a(k) ? small.m : small.n) = 0;  // no pieces of the large operand
  bf16x6::Room out = bf16x6::room(small, 1);
  out.bytes = out.partial_sums + static_cast<std::size_t>(splits * p.m * p.n) * sizeof(float);
  return out;
}

Values values(const Kernel& k, const GemmProblem& p, std::int64_t splits, Device* device) {
  const bool of_a = large_a(k);
  const bf16x6::Room where = room(k, p, splits);
  const Side large = large_of(p, of_a);
  const f16x3::Groups groups = f16x3::groups_of(large);
  const std::int64_t chunks = chunks_of(p);
  const std::int64_t blocks = ceil_div(chunks, splits);
  const std::int64_t across = ceil_div(of_a ? p.n : p.m, k.number("BN"));
  const std::int64_t tiles = tiles_of(p, of_a, k.number("BN"), 1);
  Values v;
  hgemm::put_maps(v, device, maps(k, p));
  v.u64(p.workspace + where.partial_sums).u64(p.workspace + where.statistics).u64(large.from.address);
  v.u32(p.m).u32(p.n).u32(p.k).u32(blocks).u32(chunks).u32(tiles * ceil_div(chunks, blocks));
  v.divisor(tiles).divisor(across);
  v.u32(groups.length / 16).u32(groups.share).u32(groups.last_share);
  v.u32(large.units()).divisor(ceil_div(large.inner, pieces::kUnit)).divisor(large.outer);
  v.u32(groups.step).u32(4 * large.from.leading).u32(f16x3::kRoundBias);
  return v;
}

hgemm::Maps maps(const Kernel& k, const GemmProblem& p) {
  const bool of_a = large_a(k);
  const bf16x6::Room where = room(k, p, 1);
  const Side a = a_of(p), b = b_of(p);
  const int tile = k.number("BN");
  return {of_a ? a.whole_map(kRows) : a.map(MapType::float16, f16x3::kPieces, p.workspace + where.a, tile),
          of_a ? b.map(MapType::float16, f16x3::kPieces, p.workspace + where.b, tile) : b.whole_map(kRows), false};
}

bf16x6::Launch split(const Registry& registry, const Kernel& kernel, const GemmProblem& p, std::int64_t splits) {
  const bf16x6::Room where = room(kernel, p, splits);
  const bool of_a = large_a(kernel);
  return f16x3::split_one(registry, of_a ? b_of(p) : a_of(p), p.workspace + (of_a ? where.b : where.a),
                          p.workspace + where.statistics + (of_a ? kept::kWords : 0), of_a ? p.b_pieces : p.a_pieces);
}

}  // namespace nervanagpu::f16x3_rs
