#include "kernels/gemm/float32/sgemm_ring.h"

#include <algorithm>
#include <bit>
#include <span>
#include <string>
#include <utility>

#include "kernels/gemm/cost/cost.h"
#include "kernels/gemm/cost/h200.h"
#include "kernels/gemm/cost/hgemm_cost.h"
#include "kernels/gemm/epilogue/flags.h"
#include "kernels/gemm/operand.h"
#include "kernels/gemm/types.h"
#include "src/ceil_div.h"

namespace nervanagpu::sgemm_ring {
namespace {

constexpr std::int64_t kMostCtas = 8;
constexpr std::int64_t kMaxGrid = 65535;
constexpr std::int64_t kMaxElements = std::int64_t{1} << 31;  // of four rows: coordinates are 32 bits
constexpr std::uint64_t kEngine = 16;                         // bytes: alignment of addresses and strides

using sgemm::Operand;

bool in_rows_of_16_bytes(const Operand& s) {
  return hgemm::rows_of_16_bytes(s.address, s.leading, Dtype::float32);
}

constexpr std::int64_t kPart = 16;  // splits of k are multiples of

// k of a kernel's block.
std::int64_t block_of(const Kernel& kernel) {
  return kernel.manifest().op == "sgemm_ring8" ? 8 : 16;
}

// Boxes of a block's k and the tile's rows ("BM", "BN"). Rows of 64 bytes are swizzled.
Maps maps_of(const Kernel& kernel, const Operand& s, std::int64_t k, const char* rows_of_tile, const char* beginnings) {
  const std::int64_t block = block_of(kernel);
  const int tile = kernel.number(rows_of_tile);
  const bool four = kernel.number(beginnings) == 1;  // rows begin anywhere
  const std::int64_t columns = s.k_inside ? k : s.length;
  const std::int64_t rows = s.k_inside ? s.length : k;
  const auto box_columns = static_cast<std::uint32_t>((s.k_inside ? block : tile) + (four ? 4 : 0));
  const auto box_rows = static_cast<std::uint32_t>(s.k_inside ? tile : block);
  Maps out;
  out.count = four ? 4 : 1;
  const auto step = static_cast<std::int64_t>(out.count);
  for (std::int64_t r = 0; r < step; ++r) {
    TensorMap& map = out.of[static_cast<std::size_t>(r)];
    map.type = MapType::float32;
    map.address = s.address / kEngine * kEngine;
    const std::int64_t first = static_cast<std::int64_t>(s.address % kEngine / sizeof(float));
    const std::int64_t count = ceil_div(std::max<std::int64_t>(rows - r, 0), step);
    // No row: everything lies after an array of one element.
    map.sizes = {static_cast<std::uint64_t>(first + (count == 0 ? 1 : r * s.leading + columns)),
                 static_cast<std::uint64_t>(std::max<std::int64_t>(count, 1))};
    map.strides = {static_cast<std::uint64_t>(step * s.leading) * sizeof(float)};
    map.box = {box_columns, box_rows / static_cast<std::uint32_t>(step)};
    map.swizzle = s.k_inside && !four && block == 16 ? MapSwizzle::b64 : MapSwizzle::none;
    map.promotion = s.k_inside ? MapPromotion::b64 : MapPromotion::b256;
  }
  return out;
}

std::int64_t tiles_m(const GemmProblem& p, const Shape& s) {
  return ceil_div(s.swapped ? p.n : p.m, s.bm);
}
std::int64_t tiles_n(const GemmProblem& p, const Shape& s) {
  return ceil_div(s.swapped ? p.m : p.n, s.bn);
}
// k of a part: that of the last ones may lie past k.
std::int64_t part_of(const GemmProblem& p, const Shape& s) {
  return kPart * ceil_div(ceil_div(p.k, kPart), s.splits());
}

struct Tile {
  int bm = 0, bn = 0;
};
// The kernels' tiles, by how the rows of A and B begin: at multiples of 16 bytes (4) or anywhere (1).
constexpr std::array kAligned = {Tile{16, 128}, Tile{32, 64}, Tile{48, 64}, Tile{64, 64}, Tile{128, 128}};
constexpr std::array kAlignedDeep = {Tile{16, 128}, Tile{32, 64}, Tile{40, 64},  Tile{48, 64},
                                     Tile{64, 32},  Tile{64, 64}, Tile{128, 128}};
constexpr std::array kOddB = {Tile{16, 64}, Tile{40, 64}, Tile{64, 64}};
constexpr std::array kOdd = {Tile{16, 64}, Tile{32, 64}, Tile{48, 64}, Tile{64, 64}};

struct Layout {
  int va = 4, vb = 4;
  std::span<const Tile> tiles;
};
Layout layout_of(const GemmProblem& p, bool swapped) {
  const auto [a, b] = sgemm::operands_of(p, swapped);
  const bool a_fits = in_rows_of_16_bytes(a);
  const bool b_fits = in_rows_of_16_bytes(b);
  if (a_fits && b_fits) return {4, 4, a.k_inside ? std::span<const Tile>(kAlignedDeep) : kAligned};
  if (a_fits && a.k_inside) return {4, 1, kOddB};
  return {1, 1, kOdd};
}

// sgemm_ring8.sass has it.
bool is_ring8(const Layout& layout, const Shape& s) {
  return s.bm >= 64 && s.bn >= 64 && layout.va == 4 && layout.vb == 4;
}

std::optional<Shape> named(const GemmProblem& p, std::string_view tile) {
  const bool swapped = tile.ends_with('t');
  if (swapped) tile.remove_suffix(1);
  for (const Tile& t : layout_of(p, swapped).tiles) {
    const Shape s = {t.bm, t.bn, swapped, std::clamp<std::int64_t>(p.splits, 1, kMostCtas)};
    const std::string name = "ring" + std::to_string(t.bm) + "x" + std::to_string(t.bn);
    if (tile == name && !(s.team() && swapped)) return s;
  }
  return std::nullopt;
}

// Every shape that a problem's kernels have.
std::vector<Shape> shapes_of(const GemmProblem& p) {
  std::vector<Shape> out;
  for (const bool swapped : {false, true}) {
    for (const auto& [bm, bn] : layout_of(p, swapped).tiles) {
      for (std::int64_t ctas = 1; ctas <= kMostCtas; ++ctas) {
        const Shape s = {bm, bn, swapped, ctas};
        if (s.team() && swapped) continue;
        if (tiles_m(p, s) <= kMaxGrid && tiles_n(p, s) <= kMaxGrid) out.push_back(s);
      }
    }
  }
  return out;
}

// Types, layouts and epilogues that the kernels have.
bool takes(const GemmProblem& p) {
  const bool floats = p.a_type == Dtype::float32 && p.b_type == Dtype::float32 && p.c_type == Dtype::float32;
  if (!floats || p.batch > 1 || p.pointers != 0 || p.m <= 0 || p.n <= 0 || p.k <= 0) return false;
  return 4 * std::max(p.lda, p.ldb) < kMaxElements;
}

// At most one CTA a multiprocessor of the model's GPU.
bool is_alone(const GemmProblem& p, const Shape& s) {
  return tiles_m(p, s) * tiles_n(p, s) * s.ctas <= h200::kProcessors;
}

// k after which a kernel begins new sums, as the templates have it; 0: never. sgemm_ring.sass: half a part at most.
std::int64_t chunk_of(const GemmProblem& p, const Shape& s) {
  constexpr std::int64_t kTeam = 2048, kAlone = 1024, kFew = 256;
  if (s.team()) return kTeam;
  if (s.few()) return kFew;
  return is_ring8(layout_of(p, s.swapped), s) && is_alone(p, s) ? kAlone : 0;
}

// The longest chain of additions.
std::int64_t chain_of(const GemmProblem& p, const Shape& s) {
  const std::int64_t part = part_of(p, s);
  const std::int64_t chunk = chunk_of(p, s);
  if (chunk == 0) return part;
  return std::min(s.few() ? kPart * ceil_div(part / kPart, 2) : part, chunk);
}

// Of two that take the same time, that whose chains are shorter: its error is smaller. A hundredth for each half.
double rank(const GemmProblem& p, const Shape& s, double cost) {
  return cost * (1 + 0.01 * std::bit_width(static_cast<std::uint64_t>(chain_of(p, s) / kPart)));
}

// Microseconds, roughly.
double cost(const GemmProblem& p, const Shape& s) {
  // Fitted to 4,000 timings of 75 products on an H200 (docs/lab/sgemm.md), sgemm_ring8.sass to 2,000 of 88.
  struct Rate {
    int bm, bn;
    double alone, shared;  // microseconds of 16 k of every warp, with one CTA a multiprocessor and with two
  };
  constexpr std::array kRates = {Rate{16, 128, 0.811, 1.416}, Rate{16, 64, 0.396, 1.031}, Rate{32, 64, 0.724, 1.288},
                                 Rate{64, 32, 0.761, 1.417},  Rate{40, 64, 0.859, 1.557}, Rate{48, 64, 1.002, 1.811},
                                 Rate{64, 64, 1.926, 2.370}};
  struct Rate8 {
    double alone, shared;
    double deep, moves;  // and what A and B with k inside cost of that
  };
  constexpr Rate8 k64x64 = {1.212, 2.368, 0.022, 0.025};
  constexpr Rate8 k128x128 = {1.178, 2.298, 0.007, 0.019};
  constexpr double kTurnAlone = 0.115, kTurnShared = 0.173;  // a pass of 32 rows that is transposed
  constexpr double kMoveAlone = 0.190, kMoveShared = 0.132;  // or moved, from rows that begin anywhere
  constexpr double kStart = 1.006, kStartShared = 0.187;
  constexpr double kMemory = 3.72;  // million bytes a microsecond
  constexpr double kEnd = 0.828, kEndOf64x64 = 2.428;
  constexpr double kCtaOfCluster = 0.228;
  constexpr double kTeamEnd = 5.3;
  const Layout layout = layout_of(p, s.swapped);
  const auto [a, b] = sgemm::operands_of(p, s.swapped);
  double alone = 0;
  double shared = 0;
  if (is_ring8(layout, s)) {
    const Rate8& rate = s.team() ? k128x128 : k64x64;
    const double more = 1 + (a.k_inside ? rate.deep : 0) + (b.k_inside ? rate.moves : 0);
    alone = more * rate.alone;
    shared = more * rate.shared;
  } else {
    const bool turns = layout.vb == 4 && b.k_inside;
    const auto passes = [](int rows) { return static_cast<double>(ceil_div(rows, 32)); };
    const double turned = turns ? passes(s.bn) : 0;
    const double moved = (layout.va == 1 ? passes(s.bm) : 0) + (layout.vb == 1 ? passes(s.bn) : 0);
    const auto rate = std::ranges::find_if(kRates, [&](const Rate& r) { return r.bm == s.bm && r.bn == s.bn; });
    alone = rate->alone + kTurnAlone * turned + kMoveAlone * moved;
    shared = rate->shared + kTurnShared * turned + kMoveShared * moved;
  }
  const std::int64_t tiles = tiles_m(p, s) * tiles_n(p, s);
  const std::int64_t held = h200::kClusters[static_cast<std::size_t>(s.ctas - 1)];
  const std::int64_t full = tiles / (2 * held);
  const std::int64_t rest = tiles % (2 * held);
  const auto blocks = static_cast<double>(part_of(p, s)) / static_cast<double>(kPart);
  double run = static_cast<double>(full) * blocks * shared;
  if (rest != 0) run += blocks * (full == 0 && rest <= held ? alone : shared);
  const auto waves = static_cast<double>(full + (rest != 0 ? 1 : 0));
  const auto m = static_cast<double>(p.m);
  const auto n = static_cast<double>(p.n);
  const auto k = static_cast<double>(p.k);
  const double bytes = 4e-6 * (m * k + k * n + m * n);
  const double end = s.team() ? kTeamEnd : kEnd + kEndOf64x64 * s.bm * s.bn / 4096;
  double out = kStart + h200::together(run, bytes / kMemory) + waves * end;
  if (!is_alone(p, s)) out += kStartShared + kCtaOfCluster * static_cast<double>(s.ctas - 1);
  return out;
}

// Microseconds of sgemm.sass and gemm.sass, by their own model of clocks, which is good at comparing them and 5 to 10 % too fast
// for large products (on the same timings as the team's).
double cost_of_chains(const GemmProblem& p) {
  constexpr double kMicroseconds = 4.5e-4;
  constexpr double kBothTransposed = 1.05;
  constexpr double kOdd = 1.3;
  constexpr double kOutput = 1.2e-6;  // beginning and ending a tile
  double out = kMicroseconds * sgemm::best_clocks(p);
  if (!p.a_transposed && p.b_transposed) out *= kBothTransposed;
  out += kOutput * static_cast<double>(p.m) * static_cast<double>(p.n);
  return in_rows_of_16_bytes(sgemm::a_of(p)) && in_rows_of_16_bytes(sgemm::b_of(p)) ? out : out * kOdd;
}

}  // namespace

std::optional<Shape> shape_of(const GemmProblem& p, std::string_view tile) {
  if (!takes(p)) return std::nullopt;
  if (!tile.empty() || p.splits != 0) return named(p, tile);
  std::optional<Shape> best;
  double least = 0;
  for (const Shape& s : shapes_of(p)) {
    const double c = rank(p, s, cost(p, s));
    if (!best || c < least) best = s, least = c;
  }
  return best && cost(p, *best) < cost_of_chains(p) ? best : std::nullopt;
}

std::vector<Priced> shapes_with(const GemmProblem& p, const Shape& own) {
  std::vector<Priced> out;
  for (const Shape& s : shapes_of(p)) {
    if (s.ctas == own.ctas && chunk_of(p, s) == chunk_of(p, own)) out.push_back({s, cost(p, s)});
  }
  std::ranges::stable_sort(out, {}, &Priced::cost);
  return out;
}

const Kernel* find(const Registry& registry, const GemmProblem& p, const Shape& s) {
  const auto [a, b] = sgemm::operands_of(p, s.swapped);
  const Layout layout = layout_of(p, s.swapped);
  const int ctas = !s.team() && chunk_of(p, s) != 0 ? 1 : 2;  // a multiprocessor, of sgemm_ring8.sass
  for (const Kernel* k : registry.of_op(is_ring8(layout, s) ? "sgemm_ring8" : "sgemm_ring")) {
    const auto word = [&](const char* name) { return std::string_view(k->manifest().variant.at(name)); };
    if (k->number("BM") == s.bm && k->number("BN") == s.bn && k->number("VA") == layout.va &&
        (k->manifest().op != "sgemm_ring8" || k->number("CTAS") == ctas) && k->number("VB") == layout.vb &&
        word("TA") == (a.k_inside ? "n" : "t") && word("TB") == (b.k_inside ? "t" : "n")) {
      return k;
    }
  }
  return nullptr;
}

Grid grid(const GemmProblem& p, const Shape& s) {
  Grid out = {static_cast<std::uint32_t>(s.ctas), static_cast<std::uint32_t>(tiles_m(p, s)),
              static_cast<std::uint32_t>(tiles_n(p, s)), static_cast<std::uint32_t>(s.ctas)};
  // Early CTAs take what is free, two of them a multiprocessor, though there may be one for each.
  out.early = !is_alone(p, s);
  return out;
}

Maps maps_a(const Kernel& kernel, const GemmProblem& p, bool swapped) {
  return maps_of(kernel, sgemm::operands_of(p, swapped).a, p.k, "BM", "VA");
}

Maps maps_b(const Kernel& kernel, const GemmProblem& p, bool swapped) {
  return maps_of(kernel, sgemm::operands_of(p, swapped).b, p.k, "BN", "VB");
}

Values values(const Kernel& kernel, const GemmProblem& p, const Shape& s, Device* device) {
  Values v;
  for (const Maps& maps : {maps_a(kernel, p, s.swapped), maps_b(kernel, p, s.swapped)}) {
    for (std::size_t i = 0; i < maps.count; ++i) {
      v.map(device == nullptr ? EncodedTensorMap{} : device->encode_tensor_map(maps.of[i]));
    }
  }
  const auto [a, b] = sgemm::operands_of(p, s.swapped);
  const auto first = [](const Operand& x) { return static_cast<std::int64_t>(x.address % kEngine / sizeof(float)); };
  v.u64(p.c).u64(p.bias).u32(p.m).u32(p.n).u32(part_of(p, s) / block_of(kernel)).u32(s.ctas);
  v.u32(ceil_div(s.swapped ? s.bn : s.bm, s.ctas)).u32(s.swapped ? 1 : 0);
  v.u32(a.leading).u32(b.leading).u32(first(a)).u32(first(b)).u32(p.ldc);
  v.f32(p.alpha).f32(p.beta).u32(sgemm::plain_flags(p, p.ldc, 4, false, {4, sgemm::kBiasColumns, false}));
  return v.rounding(p.rounding, p.c_type).f32(p.clip_low).f32(p.clip_high);
}

}  // namespace nervanagpu::sgemm_ring
