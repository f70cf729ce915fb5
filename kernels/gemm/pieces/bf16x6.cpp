#include "kernels/gemm/pieces/bf16x6.h"

#include <algorithm>
#include <array>
#include <bit>
#include <span>

#include "kernels/gemm/cost/hgemm_cost.h"
#include "kernels/gemm/epilogue/flags.h"
#include "kernels/gemm/pieces/choice.h"
#include "kernels/gemm/pieces/kept.h"
#include "kernels/gemm/pieces/piece_sides.h"
#include "nervanagpu/error.hpp"
#include "src/ceil_div.h"

namespace nervanagpu::bf16x6 {
namespace {

constexpr std::int64_t kMaxUnits = 1LL << 31;   // of an operand
constexpr std::int64_t kMaxTiles = 1 << 30;     // their number is a u32 that is doubled
constexpr std::int64_t kMaxStride = 1LL << 40;  // bytes: what a tensor map takes
constexpr std::int64_t kMaxGridY = 32768;       // of gemm_if.sass

const Width& width_of(const Kernel& k) {
  return *std::ranges::find(kWidths, k.number("BN"), &Width::columns);
}
hgemm::Tile tile_of(const Width& w) {
  return {hgemm::Form::tiles, 128, w.columns};
}

using pieces::a_of;
using pieces::b_of;
using pieces::chunks_of;
using pieces::kUnit;
using pieces::of_pieces;
using pieces::Side;

Split split_of(const Side& s, std::uint64_t to) {
  return {s.from.address, to, s.inner, s.outer, s.matrices, s.from.leading, s.stride};
}

}  // namespace

double microseconds(const GemmProblem& problem, const Width& w, std::int64_t splits, int multiprocessors,
                    std::int64_t pieces) {
  GemmProblem p = problem;
  p.a_type = p.b_type = Dtype::bfloat16;
  constexpr std::int64_t kRows = 128;
  if (p.batch > 1) p.m = p.batch * ceil_div(p.m, kRows) * kRows;  // one product that costs what the batch does
  const auto bytes = static_cast<double>(a_of(problem).bytes(pieces) + b_of(problem).bytes(pieces));
  return hgemm::tile_microseconds(p, tile_of(w), splits, multiprocessors, bytes, w.chunk);
}

// An epilogue does not change how sums are cut.
Choice best(const GemmProblem& problem, std::span<const Width> widths, std::int64_t pieces, std::int64_t least) {
  GemmProblem p = problem;
  p.activation = GemmActivation::none;
  p.rounding = {};
  p.beta = 0;
  constexpr std::int64_t kMost = 64;
  constexpr std::int64_t kLeastChunks = 4;
  constexpr std::int64_t kMaxSums = 1LL << 31;
  const std::int64_t chunks = chunks_of(p);
  const bool cut = p.batch <= 1 && p.m * std::max(p.n, p.ldc) < kMaxSums;
  const std::int64_t most = cut ? std::clamp<std::int64_t>(chunks / kLeastChunks, 1, kMost) : 1;
  Choice out;
  for (std::int64_t s = std::min(std::max(least_splits(chunks), least), most); s <= most; ++s) {
    if (hgemm::effective(chunks, s) != s) continue;
    for (const Width& w : widths) {
      const double c = microseconds(p, w, s, hgemm::kProcessors, pieces);
      if (out.cost == 0 || c < out.cost) out = {s, c, c};
    }
  }
  constexpr double kMemory = 3.6e6;  // bytes a microsecond
  const auto m = static_cast<double>(p.m);
  const auto n = static_cast<double>(p.n);
  const auto k = static_cast<double>(p.k);
  const auto matrices = static_cast<double>(std::max<std::int64_t>(p.batch, 1));
  const double read_and_written = 4 + 2 * static_cast<double>(pieces);
  out.cost += matrices * read_and_written * (m * k + k * n) / kMemory;
  return out;
}

std::int64_t least_splits(std::int64_t chunks) {
  constexpr std::int64_t kWhole = 128;
  constexpr std::int64_t kEach = 80;
  return chunks <= kWhole ? 1 : ceil_div(chunks, kEach);
}

std::int64_t most_exponents(std::int64_t products) {
  constexpr int kMost = 378;
  return kMost - std::bit_width(static_cast<std::uint64_t>(products - 1));
}

bool possible(const GemmProblem& p) {
  if (p.precision != Precision::tensor || p.pointers != 0 || p.m <= 0 || p.n <= 0 || p.k <= 0) return false;
  if (p.a_type != Dtype::float32 || p.b_type != Dtype::float32 || p.c_type != Dtype::float32) return false;
  if (p.sum_batch && p.batch > 1) return false;
  const auto fits = [&](const Side& s) {
    return s.units() < kMaxUnits && s.outer * s.pitch() * 2 * kPieces < kMaxStride && s.stride * 4 < kMaxStride &&
           kPieces * s.matrices * s.outer < kMaxUnits;
  };
  if (!fits(a_of(p)) || !fits(b_of(p)) || chunks_of(p) * p.batch >= kMaxUnits) return false;
  constexpr int kLeast = 64;  // of gemm_if.sass's tiles
  if (ceil_div(p.n, kLeast) > kMaxGridY) return false;
  return p.batch * ceil_div(p.m, kLeast) * ceil_div(p.n, kLeast) < kMaxTiles;
}

std::int64_t splits_of(const GemmProblem& p) {
  if (p.batch > 1) return 1;
  return p.splits != 0 ? hgemm::effective(chunks_of(p), p.splits) : best(p, kWidths, kPieces).splits;
}

std::string tile_name(const Kernel& k) {
  const std::string shape = hgemm::shape_name(tile_of(width_of(k)));
  return k.manifest().op == "bf16x6_32" ? "rs" + shape : shape;
}

bool fits(const Kernel& k, const GemmProblem& p, std::string_view tile) {
  const auto is = [&](const char* name, bool transposed) {
    return k.manifest().variant.at(name) == (transposed ? "t" : "n");
  };
  return is("TA", p.a_transposed) && is("TB", p.b_transposed) && (tile.empty() || tile == tile_name(k));
}

double cost(const Kernel& k, const GemmProblem& p, std::int64_t splits, int multiprocessors) {
  return microseconds(p, width_of(k), splits, multiprocessors, kPieces);
}

Grid grid(const Kernel& k, const GemmProblem& p, std::int64_t splits, int multiprocessors) {
  Grid out = hgemm::tiles_grid(p, tile_of(width_of(k)), splits, multiprocessors);
  out.early = true;  // after bf16x3.sass's, for which it waits
  return out;
}

Room room(const GemmProblem& p, std::int64_t splits, std::int64_t kept) {
  constexpr std::int64_t kLine = 256;
  const auto lines = [](std::int64_t bytes) { return static_cast<std::size_t>(ceil_div(bytes, kLine) * kLine); };
  Room out;
  out.statistics = kRangeBytes;
  const auto bytes = [&](const Side& s, const PiecesAt& x) {
    return kept != 0 && kept::has(x, kept) ? 0 : lines(s.bytes(kPieces));
  };
  out.a = kRangeBytes + kStatisticsBytes;
  out.b = out.a + bytes(a_of(p), p.a_pieces);
  out.partial_sums = out.b + bytes(b_of(p), p.b_pieces);
  out.bytes = out.partial_sums + (splits > 1 ? static_cast<std::size_t>(splits * p.m * p.n) * sizeof(float) : 0);
  return out;
}

hgemm::Maps maps(const Kernel& kernel, const GemmProblem& p) {
  const Room where = room(p, 1);
  return {a_of(p).map(MapType::bfloat16, kPieces, p.workspace + where.a, kernel.number("BM")),
          b_of(p).map(MapType::bfloat16, kPieces, p.workspace + where.b, kernel.number("BN")), false};
}

Values values(const Kernel& kernel, const GemmProblem& p, std::int64_t splits, Device* device, const Unless& unless) {
  GemmProblem q = of_pieces(p, Dtype::bfloat16, room(p, splits).partial_sums);
  if (splits == 1 && unless.statistics == 0) q.mask = p.mask;  // its epilogue's
  Values v;
  hgemm::put_maps(v, device, maps(kernel, p));
  hgemm::put_tiles(v, q, tile_of(width_of(kernel)), splits, p.batch > 1 ? chunks_of(p) : kMaxUnits - 1);
  return unless.put(v.u64(p.workspace).u32(most_exponents(p.k)));
}

std::int64_t Split::row_units() const {
  return ceil_div(before + inner + after, kUnit);
}

std::int64_t Split::units() const {
  return row_units() * outer * matrices;
}

std::int64_t Split::pitch() const {
  return pitch_of(before + inner + after);
}

std::int64_t pitch_of(std::int64_t inner) {
  return pieces::pitch_of(inner);
}

Launch split(const Registry& registry, const Split& a, const Split& b, std::uint64_t ranges, const Unless& unless) {
  constexpr std::int64_t kSize = 4;
  Values v;
  std::string name = "bf16x3_";
  for (const Split& s : {a, b}) {
    const auto four = [](std::int64_t x) { return x % kUnit == 0; };
    const bool fours = s.from % 16 == 0 && four(s.inner) && four(s.leading) && four(s.stride) && four(s.gap);
    name += s.seen ? "0" : fours ? "4" : "1";
    v.u64(s.from).u64(s.to).u64(static_cast<std::uint64_t>(kSize * s.stride)).u64(s.kept).u32(s.units());
    v.divisor(s.row_units()).divisor(s.outer).u32(s.inner);
    v.u32(kSize * s.leading).u32(2 * s.pitch()).u32(s.before / kUnit);
    v.divisor(std::max<std::int64_t>(s.pixel, 1)).u32(kSize * s.gap);
  }
  unless.put(v.u64(ranges));
  const Kernel* kernel = registry.find(name);
  if (kernel == nullptr) throw InvalidArgument("gemm: no kernel " + name);
  Grid grid = {256, 2, 1};
  grid.early = unless.statistics != 0;
  return {kernel, grid, v};
}

Launch split(const Registry& registry, const GemmProblem& p, std::int64_t splits, const Unless& unless) {
  const Room where = room(p, splits);
  Split a = split_of(a_of(p), p.workspace + where.a);
  Split b = split_of(b_of(p), p.workspace + where.b);
  if (unless.statistics == 0) {  // after f16x3.sass pieces that are kept are two
    a.kept = kept::words(p.a_pieces, kPieces, false);
    b.kept = kept::words(p.b_pieces, kPieces, false);
  }
  return split(registry, a, b, p.workspace, unless);
}

Launch otherwise(const Registry& registry, const GemmProblem& p, std::int64_t splits, bool three,
                 const Unless& unless) {
  const bool partial = splits > 1;
  const std::int64_t part = 64 * ceil_div(chunks_of(p), splits);
  const auto bytes = [](std::int64_t stride) { return static_cast<std::uint64_t>(4 * stride); };
  Values v;
  v.u64(p.a).u64(p.b).u64(partial ? p.workspace + room(p, splits).partial_sums : p.c).u64(partial ? 0 : p.bias);
  v.u64(bytes(p.stride_a)).u64(bytes(p.stride_b)).u64(static_cast<std::uint64_t>(partial ? p.m * p.n : p.stride_c));
  v.u32(p.m).u32(p.n).u32(p.k).u32(partial ? part : p.k).u32(partial ? part : 0);
  v.u32(p.lda).u32(p.ldb).u32(partial ? p.n : p.ldc);
  v.f32(partial ? 1.0F : p.alpha).f32(partial ? 0.0F : p.beta).u32(partial ? sgemm::kPartial : sgemm::flags_of(p));
  v.rounding(p.rounding, p.c_type).f32(p.clip_low).f32(p.clip_high);
  unless.put(v.u64(three ? p.workspace : 0).u32(most_exponents(p.k)));
  const std::string layouts = std::string(p.a_transposed ? "t" : "n") + (p.b_transposed ? "t" : "n");
  for (const char* shape : {"128x128_4", "64x64_1"}) {
    const Kernel* kernel = registry.find("gemm_if_" + layouts + "_" + shape);
    if (kernel == nullptr || kernel->unmet(v.numbers()) != nullptr) continue;
    Launch out = {kernel, {}, v};
    out.grid.x = static_cast<std::uint32_t>(ceil_div(p.m, kernel->number("BM")));
    out.grid.y = static_cast<std::uint32_t>(ceil_div(p.n, kernel->number("BN")));
    out.grid.z = static_cast<std::uint32_t>(p.batch > 1 ? p.batch : splits);
    out.grid.early = unless.statistics != 0;
    return out;
  }
  throw InvalidArgument("gemm: no kernel gemm_if for m " + std::to_string(p.m) + ", n " + std::to_string(p.n) + ", k " +
                        std::to_string(p.k));
}

}  // namespace nervanagpu::bf16x6
