#include "kernels/gemm/pieces/f16x3.h"

#include <algorithm>
#include <bit>

#include "kernels/gemm/cost/hgemm_cost.h"
#include "kernels/gemm/pieces/choice.h"
#include "kernels/gemm/pieces/f16x3_rs.h"
#include "kernels/gemm/pieces/kept.h"
#include "kernels/gemm/pieces/piece_sides.h"
#include "nervanagpu/error.hpp"
#include "src/ceil_div.h"

namespace nervanagpu::f16x3 {
namespace {

using pieces::a_of;
using pieces::b_of;
using pieces::chunks_of;
using pieces::kUnit;
using pieces::of_pieces;
using pieces::Side;

constexpr std::int64_t kAcross = 128;  // columns of f16x2.sass's blocks
constexpr std::int64_t kSample = 1024;
constexpr std::int64_t kShare = std::int64_t{1} << 22;  // 64ths, times 2^16

bool is_plain(const Kernel& k) {
  return k.manifest().op == kPlain;
}
const bf16x6::Width& width_of(const Kernel& k) {
  const auto find = [&](const auto& all) -> const bf16x6::Width& {
    return *std::ranges::find(all, k.number("BN"), &bf16x6::Width::columns);
  };
  return is_plain(k) ? find(kPlainWidths) : find(kWidths);
}
hgemm::Tile tile_of(const Kernel& k) {
  return {hgemm::Form::tiles, 128, k.number("BN")};
}

// log2 of the rows of f16x2.sass's blocks: fewer where its 2,048 warps would not all have one.
int down_log(const bf16x6::Split& s) {
  constexpr std::int64_t kWarps = 2048;
  constexpr int kLeast = 4;
  int log = 6;
  while (log > kLeast &&
         s.matrices * ceil_div(s.row_units() * kUnit, kAcross) * ceil_div(s.outer, std::int64_t{1} << log) < kWarps)
    --log;
  return log;
}

Source source_of(const Side& s, std::uint64_t to) {
  return {{s.from.address, to, s.inner, s.outer, s.matrices, s.from.leading, s.stride}, s.from.k_inside};
}

std::int64_t last_share(const bf16x6::Split& s) {
  return ceil_div(kShare, s.inner - (ceil_div(s.inner, kAcross) - 1) * kAcross);
}
std::int64_t step_of(const bf16x6::Split& s) {
  return s.units() / kSample | 1;  // odd: not the same column of all rows
}

}  // namespace

bool is_compensated(const GemmProblem& p) {
  constexpr std::int64_t kFour = 4;
  return p.n % kFour == 0;
}

std::span<const bf16x6::Width> widths_of(const GemmProblem& p) {
  if (is_compensated(p)) return kWidths;
  return kPlainWidths;
}

bf16x6::Choice choice_of(const GemmProblem& p) {
  return bf16x6::best(p, widths_of(p), kPieces, pieces::least_splits(p));
}

std::int64_t splits_of(const GemmProblem& p) {
  if (pieces::in_registers(p)) return f16x3_rs::choice_of(p).splits;
  return p.batch > 1 || tail_of(p) ? 1 : choice_of(p).splits;
}

std::string tile_name(const Kernel& k) {
  return (is_plain(k) ? "f16_" : "f16_c") + hgemm::shape_name(tile_of(k));
}

bool fits(const Kernel& k, const GemmProblem& p, std::string_view tile) {
  const std::string_view named = without_tail(tile);
  return bf16x6::fits(k, p, {}) && (named.empty() || named == tile_name(k)) &&
         (named == tile || pieces::strict_behind(p, tile) || tail_of(p, tile).has_value());
}

double cost(const Kernel& kernel, const GemmProblem& p, std::int64_t splits, int multiprocessors) {
  return bf16x6::microseconds(p, width_of(kernel), splits, multiprocessors, kPieces);
}

Grid grid(const Kernel& k, const GemmProblem& p, std::int64_t splits, int multiprocessors) {
  Grid out = hgemm::tiles_grid(p, tile_of(k), splits, multiprocessors);
  out.early = true;  // after f16x2.sass's, for which it waits
  return out;
}

bf16x6::Unless unless(std::uint64_t statistics, const Source& a, const Source& b, std::int64_t k,
                      std::int64_t products) {
  constexpr std::int64_t kMostSmall = 56;  // 7/8 of k, in 64ths
  constexpr int kMostScales = 370;
  const auto padded = [&](const Source& s) {  // counts of rows are shares of what they have of a group
    const std::int64_t group = s.k_inside ? 1 : std::int64_t{1} << down_log(s.rows);
    return ceil_div(k, group) * group;
  };
  return {statistics,
          kMostSmall * k / std::max(padded(a), padded(b)),
          kMostScales - static_cast<std::int64_t>(std::bit_width(static_cast<std::uint64_t>(products - 1))),
          {}};
}

// A share is one of `counted` elements. In a group of `length` that is 64 / length of an element of them; there is one large product at
// least, and eight of the lost elements count as one.
bf16x6::Unless::Lossy most_lossy(const Source& a, const Source& b, std::int64_t k) {
  constexpr std::int64_t kAll = 64;
  const auto size = [](const Source& s) {
    return s.rows.pixel != 0 ? s.rows.pixel : s.k_inside ? kAcross : std::int64_t{1} << down_log(s.rows);
  };
  // The elements that shares are of, where groups have some from `begin` on up to `end`.
  const auto counted = [&](const Source& s, std::int64_t begin, std::int64_t end) {
    const std::int64_t from = begin / size(s) * size(s);
    const std::int64_t to = ceil_div(end, size(s)) * size(s);
    return (s.k_inside ? std::min(to, k) : to) - from;
  };
  const auto most = [&](const Source& lossy, const Source& other) {
    if (!lossy.k_inside) return std::int64_t{0};  // of columns f16x2.sass does not tell
    std::int64_t out = kAll;
    const std::int64_t group = lossy.rows.pixel != 0 ? lossy.rows.pixel : kAcross;
    for (const std::int64_t begin : {std::int64_t{0}, (k - 1) / group * group}) {
      const std::int64_t end = std::min(begin + group, k);
      const std::int64_t of = std::max(counted(lossy, begin, end), counted(other, begin, end));
      out = std::min(out, kAll * (end - begin) / of);
    }
    return out;
  };
  return {most(a, b), most(b, a)};
}

bf16x6::Unless unless(const GemmProblem& p, std::int64_t splits) {
  return unless(p.workspace + bf16x6::room(p, splits).statistics, source_of(a_of(p), 0), source_of(b_of(p), 0), p.k,
                p.k);
}

namespace {

constexpr std::int64_t kOne = (1LL << 31) - 1;  // matrix: a depth that no block reaches

// `part` of p's result.
Values values_of(const Kernel& kernel, const GemmProblem& p, const GemmProblem& part, std::int64_t splits,
                 Device* device, const hgemm::Maps& maps) {
  Values v;
  hgemm::put_maps(v, device, maps);
  const GemmProblem q = of_pieces(part, Dtype::float16, bf16x6::room(p, splits).partial_sums);
  hgemm::put_tiles(v, q, tile_of(kernel), splits, p.batch > 1 ? chunks_of(p) : kOne);
  return unless(p, splits).put(v);
}

}  // namespace

Values values(const Kernel& kernel, const GemmProblem& p, std::int64_t splits, Device* device,
              const std::optional<Tail>& tail) {
  return values_of(kernel, p, head_part(p, tail), splits, device, maps(kernel, p));
}

hgemm::Maps maps(const Kernel& kernel, const GemmProblem& p) {
  const bf16x6::Room where = bf16x6::room(p, 1);
  return {a_of(p).map(MapType::float16, kPieces, p.workspace + where.a, kernel.number("BM")),
          b_of(p).map(MapType::float16, kPieces, p.workspace + where.b, kernel.number("BN")), false};
}

hgemm::Maps tail_maps(const Kernel& kernel, const GemmProblem& p, const Tail& tail) {
  const bf16x6::Room where = bf16x6::room(p, 1);
  const std::int64_t at = tail.at;
  return {a_of(p).map(MapType::float16, kPieces, p.workspace + where.a, kernel.number("BM"), tail.columns ? 0 : at),
          b_of(p).map(MapType::float16, kPieces, p.workspace + where.b, kernel.number("BN"), tail.columns ? at : 0),
          false};
}

bf16x6::Launch tail_product(const Registry& registry, const GemmProblem& p, const Tail& tail, std::string_view op,
                            int multiprocessors) {
  const GemmProblem q = tail_part(p, tail);
  const Kernel* best = nullptr;
  for (const Kernel* k : registry.of_op(op)) {
    if (!bf16x6::fits(*k, p, {})) continue;
    const auto cost = [&](const Kernel& x) { return f16x3::cost(x, q, tail.splits, multiprocessors); };
    if (best == nullptr || cost(*k) < cost(*best)) best = k;
  }
  if (best == nullptr) throw InvalidArgument("gemm: no kernel " + std::string(op));
  return {best, grid(*best, q, tail.splits, multiprocessors),
          values_of(*best, p, q, tail.splits, nullptr, tail_maps(*best, p, tail))};
}

bf16x6::Launch split(const Registry& registry, const Source& a, const Source& b, std::uint64_t statistics) {
  constexpr std::int64_t kSize = 4;
  Values v;
  std::string name = "f16x2_";
  const auto put = [&](const Source& source) {
    const bf16x6::Split& s = source.rows;
    const auto four = [](std::int64_t x) { return x % kUnit == 0; };
    name += s.from % 16 == 0 && four(s.inner) && four(s.leading) && four(s.stride) && four(s.gap) ? "4" : "1";
    const std::int64_t across = ceil_div(s.row_units() * kUnit, kAcross);
    const std::int64_t down = ceil_div(s.outer, std::int64_t{1} << down_log(s));
    v.u64(s.from).u64(s.to).u64(static_cast<std::uint64_t>(kSize * s.stride)).u64(s.kept);
    v.u64(source.without_lost).u32(s.units());
    v.divisor(s.row_units()).divisor(s.outer);
    v.u32(s.matrices * across * down).divisor(across).u32(down_log(s)).divisor(down);
    v.u32(step_of(s))
        .u32(source.k_inside ? 1 : 0)
        .u32(source.k_inside && s.pixel != 0 ? ceil_div(kShare, s.pixel) : last_share(s))
        .u32(s.inner)
        .u32(kSize * s.leading)
        .u32(2 * s.pitch())
        .u32(source.drop)
        .u32(s.before / kUnit)
        .divisor(std::max<std::int64_t>(s.pixel, 1))
        .u32(kSize * s.gap);
  };
  put(a);
  put(b);
  v.u32(kRoundBias).u64(statistics);
  const Kernel* kernel = registry.find(name);
  if (kernel == nullptr) throw InvalidArgument("gemm: no kernel " + name);
  return {kernel, {256, 2, 1}, v};
}

bf16x6::Launch split(const Registry& registry, const GemmProblem& p, std::int64_t splits) {
  const bf16x6::Room where = bf16x6::room(p, splits);
  Source a = source_of(a_of(p), p.workspace + where.a);
  Source b = source_of(b_of(p), p.workspace + where.b);
  a.rows.kept = kept::words(p.a_pieces, kPieces, a.k_inside);
  b.rows.kept = kept::words(p.b_pieces, kPieces, b.k_inside);
  return split(registry, a, b, p.workspace + where.statistics);
}

bf16x6::Launch split_one(const Registry& registry, const Side& operand, std::uint64_t to, std::uint64_t words,
                         const PiecesAt& kept) {
  Source one = source_of(operand, to);
  one.rows.kept = kept::words(kept, kPieces, one.k_inside);
  bf16x6::Launch l = split(registry, one, one, words);
  l.grid.y = 1;
  return l;
}

Groups groups_of(const Side& operand) {
  const bf16x6::Split s = source_of(operand, 0).rows;
  const bool inside = operand.from.k_inside;
  const std::int64_t length = inside ? kAcross : std::int64_t{1} << down_log(s);
  return {length, kShare / length, inside ? last_share(s) : kShare / length, step_of(s)};
}

bf16x6::Launch otherwise(const Registry& registry, const GemmProblem& p, std::int64_t splits, int multiprocessors) {
  const Kernel* best = nullptr;
  for (const Kernel* k : registry.of_op("bf16x6")) {
    if (!bf16x6::fits(*k, p, {})) continue;
    const auto cost = [&](const Kernel& x) { return bf16x6::cost(x, p, splits, multiprocessors); };
    if (best == nullptr || cost(*k) < cost(*best)) best = k;
  }
  if (best == nullptr) throw InvalidArgument("gemm: no kernel bf16x6");
  return {best, bf16x6::grid(*best, p, splits, multiprocessors),
          bf16x6::values(*best, p, splits, nullptr, unless(p, splits))};
}

}  // namespace nervanagpu::f16x3
