#include "kernels/gemm/hgemm.h"

#include <algorithm>
#include <array>

#include "kernels/gemm/flags.h"

namespace nervanagpu::hgemm {
namespace {

constexpr std::int64_t kBlock = 64;          // of k: a row of 128 bytes in shared memory
constexpr std::int64_t kGroup = 8;           // rows of tiles that are walked together
constexpr std::int64_t kMaxTiles = 1 << 30;  // their number is a u32 that is doubled
constexpr std::uint32_t kWide = 1U << 16;    // C allows accesses of 4 elements
constexpr std::uint32_t kPlain = 1U << 17;   // and of 16 bytes; alpha and relu only

std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

std::int64_t blocks_of(const GemmProblem& p) {
  return ceil_div(p.k, kBlock);
}

std::int64_t tiles_of(const GemmProblem& p, int bm, int bn) {
  return ceil_div(p.m, bm) * ceil_div(p.n, bn);
}

// The smallest number of parts that gives them this many blocks.
std::int64_t effective(std::int64_t blocks, std::int64_t splits) {
  return ceil_div(blocks, ceil_div(blocks, std::clamp<std::int64_t>(splits, 1, blocks)));
}

bool rows_of_16_bytes(std::uint64_t address, std::int64_t leading) {
  return address % 16 == 0 && leading % 8 == 0;
}

TensorMap map_of(std::uint64_t address, std::int64_t inner, std::int64_t outer, std::int64_t leading,
                 std::uint32_t box_outer) {
  TensorMap map;
  map.type = MapType::float16;
  map.address = address;
  map.sizes = {static_cast<std::uint64_t>(inner), static_cast<std::uint64_t>(outer)};
  map.strides = {static_cast<std::uint64_t>(leading) * 2};
  map.box = {static_cast<std::uint32_t>(kBlock), box_outer};
  map.swizzle = MapSwizzle::b128;
  map.promotion = MapPromotion::b128;
  return map;
}

std::uint32_t flags(const GemmProblem& p, std::int64_t ldc, int size, bool partial) {
  std::uint32_t f = partial ? 0 : sgemm::flags_of(p);
  constexpr std::uint32_t kRelu = 1U << 1;
  constexpr std::uint32_t kReluFirst = 1U << 6;
  if ((f & ~(kRelu | kReluFirst)) == 0 && f != 0) f = kRelu;  // nothing comes between the two
  const std::uint64_t c = partial ? p.workspace : p.c;
  const auto allows = [&](std::int64_t elements) {
    return c % static_cast<std::uint64_t>(elements * size) == 0 && ldc % elements == 0 && p.n % elements == 0;
  };
  if (allows(4)) f |= kWide;
  if (allows(16 / size) && (f & ~(kRelu | kWide)) == 0) f |= kPlain;
  return f;
}

// The model's GPU: bits must not depend on the one that is there.
constexpr int kProcessors = 132;
constexpr std::array kTileWidths = {256, 128, 64};

}  // namespace

bool takes(const GemmProblem& p) {
  if (!p.tensor_cores || p.m <= 0 || p.n <= 0 || p.k <= 0) return false;
  if (p.a_type != Dtype::float16 || p.b_type != Dtype::float16 || p.c_type != Dtype::float16) return false;
  return rows_of_16_bytes(p.a, p.lda) && rows_of_16_bytes(p.b, p.ldb) && tiles_of(p, 128, 64) < kMaxTiles;
}

double clocks(const GemmProblem& p, int bm, int bn, std::int64_t splits, int multiprocessors) {
  constexpr double kStart = 1500;     // until the first product, of a CTA
  constexpr double kTile = 900;       // from the last product of a tile of 128 x 64 until the next one's first
  constexpr double kBlockTime = 262;  // of such a tile; the widest ones share operands better
  constexpr double kMemory = 2200;    // bytes a clock of the whole GPU
  constexpr double kPartials = 1300;  // bytes a clock of partial sums
  constexpr double kSum = 6000;       // split_sum, and what a cut must gain at least
  const std::int64_t tiles = tiles_of(p, bm, bn) * splits;
  const auto rounds = static_cast<double>(ceil_div(tiles, std::max(multiprocessors, 1)));
  const double width = bn / 64.0;
  const auto blocks = static_cast<double>(ceil_div(blocks_of(p), splits));
  const double share = bn == 256 ? 1.0 : (bn == 128 ? 1.02 : 1.2);
  const double compute = kStart + rounds * (blocks * std::max(kBlockTime * width * share, 400.0) + kTile * width);
  const auto m = static_cast<double>(p.m);
  const auto n = static_cast<double>(p.n);
  const auto k = static_cast<double>(p.k);
  double out = std::max(compute, 2 * (m * k + k * n + m * n) / kMemory);
  if (splits > 1) out += kSum + static_cast<double>(splits) * m * n * 8.0 / kPartials;
  return out;
}

std::int64_t splits_of(const GemmProblem& problem) {
  const std::int64_t blocks = blocks_of(problem);
  if (problem.splits != 0) return effective(blocks, problem.splits);
  constexpr std::int64_t kMost = 64;
  constexpr std::int64_t kLeastBlocks = 4;
  std::int64_t best = 1;
  double least = 0;
  for (std::int64_t s = 1; s <= std::clamp<std::int64_t>(blocks / kLeastBlocks, 1, kMost); ++s) {
    if (effective(blocks, s) != s) continue;
    for (const int bn : kTileWidths) {
      const double c = clocks(problem, 128, bn, s, kProcessors);
      if (least == 0 || c < least) best = s, least = c;
    }
  }
  return best;
}

Grid grid(const Kernel& kernel, const GemmProblem& p, std::int64_t splits, int multiprocessors) {
  const std::int64_t tiles = tiles_of(p, kernel.number("BM"), kernel.number("BN")) * splits;
  return {static_cast<std::uint32_t>(std::min<std::int64_t>(tiles, std::max(multiprocessors, 1))), 1, 1};
}

Values values(const Kernel& kernel, const GemmProblem& p, std::int64_t splits, Device* device) {
  const int bm = kernel.number("BM");
  const int bn = kernel.number("BN");
  const bool partial = splits > 1;
  const std::int64_t ldc = partial ? p.n : p.ldc;
  const std::int64_t tiles_m = ceil_div(p.m, bm);
  const std::int64_t tiles_n = ceil_div(p.n, bn);
  const std::int64_t rest = tiles_m % kGroup;
  Values v;
  if (device != nullptr) {
    v.map(device->encode_tensor_map(p.a_transposed ? map_of(p.a, p.m, p.k, p.lda, kBlock)
                                                   : map_of(p.a, p.k, p.m, p.lda, static_cast<std::uint32_t>(bm))));
    v.map(device->encode_tensor_map(p.b_transposed ? map_of(p.b, p.k, p.n, p.ldb, static_cast<std::uint32_t>(bn))
                                                   : map_of(p.b, p.n, p.k, p.ldb, kBlock)));
  } else {
    v.map({}).map({});
  }
  v.u64(partial ? p.workspace : p.c).u64(partial ? 0 : p.bias).u32(p.m).u32(p.n);
  v.u32(ceil_div(blocks_of(p), splits)).u32(tiles_m * tiles_n * splits).u32(tiles_m);
  v.divisor(tiles_m * tiles_n).divisor(kGroup * tiles_n).divisor(rest == 0 ? kGroup : rest);
  v.u32(ldc).u32(partial ? p.m * p.n : 0);
  v.f32(partial ? 1.0F : p.alpha).f32(p.beta).u32(flags(p, ldc, partial ? 4 : 2, partial)).u32(sgemm::kept_bits(p));
  return v.u64(p.rounding.seed).u64(p.rounding.offset);
}

}  // namespace nervanagpu::hgemm
