#include "kernels/gemm/tensor_cores/hgemm.h"

#include <algorithm>
#include <bit>
#include <span>
#include <string>
#include <utility>

#include "kernels/gemm/cost/hgemm_cost.h"
#include "kernels/gemm/epilogue/flags.h"
#include "kernels/gemm/operand.h"
#include "kernels/gemm/types.h"
#include "src/ceil_div.h"

namespace nervanagpu::hgemm {
namespace {

using sgemm::byte;
using sgemm::sums_of;
using sgemm::word_of;

constexpr std::int64_t kMaxTiles = 1 << 30;                 // their number is a u32 that is doubled
constexpr std::int64_t kMaxBlocks = std::int64_t{1} << 31;  // of k, in all matrices
constexpr std::int64_t kMaxStride = std::int64_t{1} << 40;  // bytes: what a tensor map takes
constexpr std::uint32_t kSameA = 1U << 18;                  // all matrices of a batch have one A
constexpr std::uint32_t kSameB = 1U << 19;

std::string_view variant(const Kernel& k, const char* name) {
  const auto it = k.manifest().variant.find(name);
  return it == k.manifest().variant.end() ? std::string_view() : std::string_view(it->second);
}

bool in_cluster(const Kernel& k) {
  return k.manifest().op == "hgemm_cluster";
}

bool is_resident(const Kernel& k) {
  return k.manifest().op == "hgemm_resident";
}

Tile tile_of(const Kernel& k) {
  if (is_resident(k)) return {Form::resident, k.number("BM"), k.number("BN"), k.number("STAY")};
  const Form form = !in_cluster(k)             ? k.number("PING_PONG") == 2 ? Form::ping_pong : Form::tiles
                    : k.number("MATES") == 2   ? Form::pair
                    : variant(k, "OUT") == "t" ? Form::swapped
                                               : Form::cluster;
  return {form, k.number("BM"), k.number("BN")};
}

// An operand of a batch.
struct Side : sgemm::Operand {
  Dtype type = Dtype::float16;
  std::int64_t stride = 0;  // to the next matrix, in elements
  std::int64_t matrices = 1;
};

// `stride` 0: all have this one. A map of one matrix has a stride that every device takes.
Side side_of(const sgemm::Operand& operand, Dtype type, std::int64_t stride, std::int64_t matrices) {
  const bool several = stride != 0 && matrices > 1;
  return {operand, type, several ? stride : operand.leading, several ? matrices : 1};
}

TensorMap map_of(const Side& s, std::int64_t k, int tile, unsigned rank) {
  const auto size = static_cast<std::int64_t>(size_of(s.type));
  const auto block = static_cast<std::uint32_t>(kRowBytes / size);
  TensorMap map;
  map.type = size == 1 ? MapType::uint8 : s.type == Dtype::bfloat16 ? MapType::bfloat16 : MapType::float16;
  map.address = s.address;
  const auto length = static_cast<std::uint64_t>(s.length);
  const auto depth = static_cast<std::uint64_t>(k);
  map.sizes = {s.k_inside ? depth : length, s.k_inside ? length : depth, static_cast<std::uint64_t>(s.matrices)};
  map.strides = {static_cast<std::uint64_t>(s.leading * size), static_cast<std::uint64_t>(s.stride * size)};
  map.box = {block, s.k_inside ? static_cast<std::uint32_t>(tile) : block, 1};
  map.swizzle = MapSwizzle::b128;
  if (!s.k_inside && tile < 64) {  // rows of 64 or 32 bytes
    map.box[0] = static_cast<std::uint32_t>(tile);
    map.swizzle = tile == 32 ? MapSwizzle::b64 : MapSwizzle::b32;
  }
  if (rank == 3) map.rank = 3;
  map.promotion = MapPromotion::b128;
  return map;
}

// Tiles that may be taken without being named.
bool chosen(const GemmProblem& p, const Tile& t) {
  if (!in_cluster(t.form)) return true;
  const ClusterTiles all = cluster_tiles(p);
  return std::ranges::any_of(std::span(all.tiles).first(all.count), [&](const Tile& x) { return x == t; });
}

Values cluster_values(const Kernel& kernel, const GemmProblem& p, std::int64_t splits, Device* device) {
  const Tile t = tile_of(kernel);
  Values v;
  put_maps(v, device, maps(kernel, p));
  put_cluster(v, p, blocks_of(p), splits, ceil_div(t.form == Form::swapped ? t.bn : t.bm, splits));
  return v.u32(0).u32(0).u32(0).u32(0);
}

}  // namespace

void put_maps(Values& v, Device* device, const Maps& both) {
  if (device == nullptr) {
    v.map({}).map({});
  } else {
    v.map(device->encode_tensor_map(both.a)).map(device->encode_tensor_map(both.b));
  }
}

void put_map_c(Values& v, Device* device, const Maps& maps) {
  device == nullptr ? v.map({}) : v.map(device->encode_tensor_map(maps.of_c()));
}

void put_cluster(Values& v, const GemmProblem& p, std::int64_t blocks, std::int64_t splits, std::int64_t share) {
  v.u64(p.c).u64(p.bias).u32(p.m).u32(p.n).u32(blocks).u32(ceil_div(blocks, splits)).u32(splits).u32(share);
  v.u32(p.ldc).f32(p.alpha).f32(p.beta);
  v.u32(sgemm::plain_flags(p, p.ldc, static_cast<int>(size_of(p.c_type)), false, {1, sgemm::kBiasColumns, false}));
  v.rounding(p.rounding, p.c_type);
}

bool takes(const GemmProblem& p) {
  if (!p.tensor_cores || p.pointers != 0 || p.m <= 0 || p.n <= 0 || p.k <= 0) return false;
  if (byte(p.a_type)) {  // IGMMA wants k contiguous
    if (!byte(p.b_type) || p.a_transposed || !p.b_transposed) return false;
  } else if (!sgemm::half(p.a_type) || p.b_type != p.a_type) {
    return false;
  }
  const auto matrices_of_16_bytes = [&](std::int64_t stride, Dtype type) {
    const std::int64_t bytes = stride * static_cast<std::int64_t>(size_of(type));
    return p.batch <= 1 || (bytes % 16 == 0 && bytes < kMaxStride);
  };
  if (!matrices_of_16_bytes(p.stride_a, p.a_type) || !matrices_of_16_bytes(p.stride_b, p.b_type)) return false;
  if (blocks_of(p) * p.batch >= kMaxBlocks) return false;
  return rows_of_16_bytes(p.a, p.lda, p.a_type) && rows_of_16_bytes(p.b, p.ldb, p.b_type) &&
         p.batch * tiles_m(p, {Form::tiles, 128, 64}) * tiles_n(p, {Form::tiles, 128, 64}) < kMaxTiles;
}

namespace {

// One product that costs what the batch does: a sum's k blocks one after the other, else the rows of tiles of all products.
GemmProblem modelled(const GemmProblem& problem) {
  GemmProblem p = problem;
  if (p.batch <= 1) return p;
  constexpr std::int64_t kRows = 128;
  if (p.sum_batch) {
    p.k = p.batch * blocks_of(p) * block_of(p);
  } else {
    p.m = p.batch * ceil_div(p.m, kRows) * kRows;
  }
  return p;
}

}  // namespace

std::int64_t splits_of(const GemmProblem& problem) {
  if (problem.batch > 1 && !problem.sum_batch) return 1;
  const GemmProblem p = modelled(problem);
  return p.splits != 0 ? effective(blocks_of(p), p.splits) : best_splits(p);
}

std::string tile_name(const Kernel& k) {
  const std::string out = shape_name(tile_of(k));
  if (is_resident(k)) return out + "r" + std::to_string(tile_of(k).stay);
  if (!in_cluster(k)) return k.number("PING_PONG") == 2 ? out + "x2" : out;
  return out + std::string(variant(k, "OUT"));
}

bool fits(const Kernel& k, const GemmProblem& p, std::int64_t splits, std::string_view tile) {
  constexpr std::int64_t kMaxGrid = 65535;
  const Tile t = tile_of(k);
  if (tile.empty() ? !chosen(p, t) : tile != tile_name(k)) return false;
  if (t.form == Form::resident) {
    if (!fits_resident(p, t, splits)) return false;
  } else if (!in_cluster(t.form)) {
    if (splits > 1 && p.workspace == 0) return false;
  } else if (p.batch > 1 || sgemm::needs_finish(p) || sgemm::has_function(p) || splits > kMostSplits ||
             tiles_m(p, t) > kMaxGrid || tiles_n(p, t) > kMaxGrid || (t.form == Form::pair && splits > 1)) {
    return false;
  }
  const bool swapped = t.form == Form::swapped;
  const bool a_transposed = swapped ? !p.b_transposed : p.a_transposed;
  const bool b_transposed = swapped ? !p.a_transposed : p.b_transposed;
  const Dtype y = !in_cluster(t.form) && splits > 1 ? sums_of(p) : p.c_type;  // partial sums are another variant
  return variant(k, "TA") == (a_transposed ? "t" : "n") && variant(k, "TB") == (b_transposed ? "t" : "n") &&
         variant(k, "XT") == word_of(swapped ? p.b_type : p.a_type) &&
         variant(k, "WT") == word_of(swapped ? p.a_type : p.b_type) && variant(k, "YT") == word_of(y);
}

double cost(const Kernel& kernel, const GemmProblem& p, std::int64_t splits, int multiprocessors) {
  constexpr double kMaskApart = 2;  // the bits of a relu in a launch of their own
  const double apart = p.mask != 0 && in_cluster(kernel) ? kMaskApart : 0;
  return apart + microseconds(modelled(p), tile_of(kernel), splits, multiprocessors);
}

Grid tiles_grid(const GemmProblem& p, const Tile& t, std::int64_t splits, int multiprocessors, std::int64_t groups) {
  const std::int64_t tiles = tiles_m(p, t) * tiles_n(p, t) * (p.sum_batch ? splits : splits * p.batch) * groups;
  std::int64_t most = std::max(multiprocessors, 1);
  if (t.form == Form::resident) most = std::max<std::int64_t>(most / tiles_n(p, t), 1) * tiles_n(p, t);
  Grid out = {static_cast<std::uint32_t>(std::min(tiles, most)), 1, 1};
  out.early = p.batch <= 1 && starts_early(p, t, splits, groups);
  return out;
}

Grid grid(const Kernel& kernel, const GemmProblem& p, std::int64_t splits, int multiprocessors) {
  const Tile t = tile_of(kernel);
  const auto rows = static_cast<std::uint32_t>(tiles_m(p, t));
  const auto columns = static_cast<std::uint32_t>(tiles_n(p, t));
  constexpr std::uint32_t kMates = 2;
  if (t.form == Form::pair) return {kMates, (columns + 1) / kMates, rows, kMates};
  if (in_cluster(t.form)) {
    const auto ctas = static_cast<std::uint32_t>(splits);
    Grid out = {ctas, columns, rows, ctas};
    out.apart = occupancy(p, t, splits).apart;
    return out;
  }
  return tiles_grid(p, t, splits, multiprocessors);
}

namespace {

std::uint32_t tile_flags(const GemmProblem& p, bool partial) {
  const int size = static_cast<int>(size_of(partial ? sums_of(p) : p.c_type));
  std::uint32_t also = sgemm::kBiasColumns | sgemm::kBiasRows | sgemm::kScaleColumns | sgemm::kFunctions;
  if (size != 1) also |= sgemm::kAddsC;
  // The bits of a relu say what is stored: after stochastic rounding, which the tile's bits do not wait for.
  if (size == 2 && (sgemm::mask_flags(p) & sgemm::kWritesMask) == 0) also |= sgemm::kRounds;
  std::uint32_t f =
      sgemm::plain_flags(p, partial ? p.n : p.ldc, size, partial, {size == 1 ? 4 : 16 / size, also, true});
  if (p.stride_a == 0) f |= kSameA;
  if (p.stride_b == 0) f |= kSameB;
  if (!partial) f |= sgemm::mask_flags(p);
  return f;
}

}  // namespace

bool stores_plainly(const GemmProblem& p) {
  return (tile_flags(p, false) & (sgemm::kPlain | sgemm::kFunctions | sgemm::kRounds)) == sgemm::kPlain;
}

std::optional<TensorMap> map_of_results(const GemmProblem& p, std::int64_t splits) {
  const bool partial = splits > 1;
  if ((tile_flags(p, partial) & sgemm::kPlain) == 0) return std::nullopt;
  const auto bytes = [](std::int64_t elements) { return static_cast<std::uint64_t>(4 * elements); };
  const auto z = static_cast<std::uint64_t>(partial ? splits : std::max<std::int64_t>(p.batch, 1));
  TensorMap map;
  map.type = MapType::float32;
  map.address = partial ? p.workspace : p.c;
  map.rank = 3;
  map.sizes = {static_cast<std::uint64_t>(p.n), static_cast<std::uint64_t>(p.m), z};
  map.strides = {bytes(partial ? p.n : p.ldc), bytes(z == 1 ? p.ldc : partial ? p.m * p.n : p.stride_c)};
  map.box = {32, 16, 1};
  map.swizzle = MapSwizzle::b128;
  return map;
}

void put_tiles(Values& v, const GemmProblem& p, const Tile& t, std::int64_t splits, std::int64_t divisor,
               std::int64_t groups) {
  const bool partial = splits > 1;
  const bool several = p.batch > 1 && !p.sum_batch;
  const std::int64_t ldc = partial ? p.n : p.ldc;
  const std::int64_t m = tiles_m(p, t);
  const std::int64_t n = tiles_n(p, t);
  const std::int64_t group = tiles_down_first(p, t);
  const int log = std::countr_zero(static_cast<std::uint64_t>(group));
  const std::int64_t rest = m % group;
  const std::int64_t depth = blocks_of(p);
  const std::int64_t all = depth * p.batch;
  v.u64(partial ? p.workspace : p.c).u64(partial ? 0 : p.bias);
  v.u64(static_cast<std::uint64_t>(partial ? p.m * p.n : p.stride_c)).u32(p.m).u32(p.n);
  v.u32(ceil_div(p.sum_batch ? all : depth, splits)).u32(all).divisor(divisor);
  v.u32(m * n * (several ? p.batch : splits) * groups).u32(m);
  v.divisor(m * n).divisor(group * n).u32(log).divisor(rest == 0 ? group : rest);
  v.u32(ldc);
  const Dtype type = partial ? sums_of(p) : p.c_type;
  v.scalar(partial ? 1.0F : p.alpha, type).scalar(partial ? 0.0F : p.beta, type).u32(tile_flags(p, partial));
  v.rounding(p.rounding, p.c_type);
  v.u64(p.scale).f32(p.clip_low).f32(p.clip_high).u64(p.mask).u32(4 * p.ld_mask);
}

Values values(const Kernel& kernel, const GemmProblem& p, std::int64_t splits, Device* device) {
  if (in_cluster(kernel)) return cluster_values(kernel, p, splits, device);
  Values v;
  put_maps(v, device, maps(kernel, p));
  put_tiles(v, p, tile_of(kernel), splits, p.batch > 1 ? blocks_of(p) : kMaxBlocks - 1);
  return v;
}

Maps maps(const Kernel& kernel, const GemmProblem& p) {
  const Tile t = tile_of(kernel);
  const bool swapped = t.form == Form::swapped;
  Side a = side_of(sgemm::a_of(p), p.a_type, p.stride_a, p.batch);
  Side b = side_of(sgemm::b_of(p), p.b_type, p.stride_b, p.batch);
  if (swapped) std::swap(a, b);
  const unsigned rank = in_cluster(t.form) ? 2 : 3;
  const int rows = t.form == Form::pair ? t.bm / 2 : t.bm;  // that a CTA copies
  return {map_of(a, p.k, rows, rank), map_of(b, p.k, t.bn, rank), swapped};
}

}  // namespace nervanagpu::hgemm
