#include "kernels/gemm/pieces/bf16x6_rs.h"

#include <algorithm>
#include <array>
#include <limits>

#include "kernels/gemm/pieces/kept.h"
#include "kernels/gemm/pieces/piece_sides.h"
#include "src/ceil_div.h"

namespace nervanagpu::bf16x6_rs {
namespace {

using pieces::a_of;
using pieces::b_of;
using pieces::chunks_of;
using pieces::Side;

constexpr int kRows = 128;               // of A, a tile
constexpr std::int64_t kMostCtas = 256;  // words of an operand, at `ranges`

// Microseconds of a chunk of 64 k, and of the rest of a tile, by its columns: docs/lab/bf16x6.md.
struct Width {
  int columns;
  double chunk, tile;
};
constexpr std::array kWidths = {Width{32, 1.12, 1.0}, Width{64, 1.38, 1.2}, Width{96, 1.7, 1.4}, Width{128, 2.07, 1.8}};

bool takes(const GemmProblem& p, const Width& w) {
  constexpr int kBox = 64;
  return p.b_transposed || w.columns % kBox == 0;  // boxes of contiguous columns
}

hgemm::Tile tile_of(const Width& w) {
  return {hgemm::Form::tiles, kRows, w.columns};
}
const Width& width_of(const Kernel& k) {
  return *std::ranges::find(kWidths, k.number("BN"), &Width::columns);
}

double microseconds(const GemmProblem& p, const Width& w, std::int64_t splits, int multiprocessors) {
  constexpr double kStart = 2;       // B's pieces, the first stage
  constexpr double kMemory = 3.6e6;  // bytes a microsecond
  constexpr double kSums = 1.6e6;    // of partial sums, written and read again
  const std::int64_t tiles = ceil_div(p.m, std::int64_t{kRows}) * ceil_div(p.n, std::int64_t{w.columns}) * splits;
  const auto waves = static_cast<double>(ceil_div(tiles, std::int64_t{std::max(multiprocessors, 1)}));
  const auto chunks = static_cast<double>(ceil_div(chunks_of(p), splits));
  const auto m = static_cast<double>(p.m), n = static_cast<double>(p.n), k = static_cast<double>(p.k);
  const double memory = 4 * m * (k + n) / kMemory;
  const double pieces = (4 + 2 * static_cast<double>(bf16x6::kPieces)) * k * n / kMemory;
  const double sums = splits > 1 ? 4 * static_cast<double>(splits) * m * n / kSums : 0;
  return kStart + pieces + std::max(waves * (chunks * w.chunk + w.tile), memory) + sums;
}

}  // namespace

bool has_many_rows(const GemmProblem& p) {
  constexpr std::int64_t kMostColumns = 1024;
  return p.batch <= 1 && p.pointers == 0 && p.n <= kMostColumns && p.m >= 4 * p.n;
}

double microseconds(const GemmProblem& p) {
  double out = std::numeric_limits<double>::infinity();
  for (const Width& w : kWidths) {
    if (takes(p, w)) out = std::min(out, microseconds(p, w, 1, hgemm::kProcessors));
  }
  return out;
}

std::string tile_name(const Kernel& k) {
  return "rs" + std::to_string(k.number("BN"));
}

bool fits(const Kernel& k, const GemmProblem& p, std::int64_t splits, std::string_view tile) {
  if (!bf16x6::fits(k, p, {}) || (!tile.empty() && tile != tile_name(k))) return false;
  if (p.batch > 1) return false;
  if (kept::has(p.a_pieces, bf16x6::kPieces)) return false;  // bf16x6.sass reads them
  constexpr std::int64_t kUnit = 4;                          // elements of 16 bytes
  const bool lies = p.a % 16 == 0 && p.lda % kUnit == 0;
  return lies && (!reads_c(p, splits) || a_of(p).inner % kUnit == 0);
}

bool reads_c(const GemmProblem& p, std::int64_t splits) {
  return splits == 1 && p.beta != 0.0F;
}

double cost(const Kernel& k, const GemmProblem& p, std::int64_t splits, int multiprocessors) {
  return microseconds(p, width_of(k), splits, multiprocessors);
}

Grid grid(const Kernel& k, const GemmProblem& p, std::int64_t splits, int multiprocessors) {
  Grid out = hgemm::tiles_grid(p, tile_of(width_of(k)), splits, multiprocessors);
  out.x = std::min(out.x, static_cast<std::uint32_t>(kMostCtas));
  out.early = true;  // after bf16x3.sass's, for which it waits
  return out;
}

bf16x6::Room room(const GemmProblem& p, std::int64_t splits) {
  GemmProblem own = p;
  own.m = 0;  // no pieces of A
  own.a_pieces = own.b_pieces = {};
  bf16x6::Room out = bf16x6::room(own, 1);
  out.bytes = out.partial_sums + (splits > 1 ? static_cast<std::size_t>(splits * p.m * p.n) * sizeof(float) : 0);
  return out;
}

namespace {

// As the kernel's parameters say it.
GemmProblem of_kernel(const GemmProblem& p, std::int64_t splits) {
  GemmProblem q = pieces::of_pieces(p, Dtype::bfloat16, room(p, splits).partial_sums);
  if (splits == 1) q.mask = p.mask;
  return q;
}

}  // namespace

hgemm::Maps maps(const Kernel& k, const GemmProblem& p, std::int64_t splits) {
  return {a_of(p).whole_map(kRows),
          b_of(p).map(MapType::bfloat16, bf16x6::kPieces, p.workspace + room(p, 1).b, k.number("BN")), false,
          hgemm::map_of_results(of_kernel(p, splits), splits)};
}

Values values(const Kernel& k, const GemmProblem& p, std::int64_t splits, Device* device) {
  const GemmProblem q = of_kernel(p, splits);
  const hgemm::Maps all = maps(k, p, splits);
  Values v;
  hgemm::put_maps(v, device, all);
  hgemm::put_map_c(v, device, all);
  hgemm::put_tiles(v, q, tile_of(width_of(k)), splits, (std::int64_t{1} << 31) - 1);
  return v.u64(p.workspace).u32(bf16x6::most_exponents(p.k));
}

bf16x6::Launch split(const Registry& registry, const GemmProblem& p, std::int64_t splits) {
  const std::uint64_t to = p.workspace + room(p, splits).b;
  const auto side = [&](const Side& s) {
    return bf16x6::Split{s.from.address, to, s.inner, s.outer, s.matrices, s.from.leading, s.stride};
  };
  bf16x6::Split b = side(b_of(p));
  b.kept = kept::words(p.b_pieces, bf16x6::kPieces, p.b_transposed);
  if (reads_c(p, splits)) {
    bf16x6::Split a = side(a_of(p));
    a.seen = true;
    return bf16x6::split(registry, a, b, p.workspace);
  }
  bf16x6::Launch out = bf16x6::split(registry, b, b, p.workspace + kept::kWords);
  out.grid.y = 1;
  return out;
}

}  // namespace nervanagpu::bf16x6_rs
