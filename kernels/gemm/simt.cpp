#include "kernels/gemm/simt.h"

#include <algorithm>
#include <string>

#include "kernels/gemm/cost/cost.h"
#include "kernels/gemm/epilogue/flags.h"
#include "kernels/gemm/types.h"
#include "src/ceil_div.h"

namespace nervanagpu::simt {
namespace {

using sgemm::byte;
using sgemm::needs_finish;
using sgemm::word_of;

constexpr std::int64_t kMaxColumns = 32768;  // of tiles along y, the rest along z
constexpr std::int64_t kMaxGridY = 65535;

// What sgemm.sass is told about the epilogue: less than flags.h has.
std::uint32_t sgemm_flags_of(const GemmProblem& p) {
  const std::uint32_t bias = p.bias == 0 ? 0U : (p.bias_per_row ? 2U : 1U);
  const bool relu = p.relu || p.activation == GemmActivation::relu;
  return (p.beta != 0.0F ? 1U : 0U) | (relu ? 2U : 0U) | bias << 2;
}

std::int64_t tiles_n(const Kernel& k, const GemmProblem& p) {
  return ceil_div(p.n, k.number("BN"));
}

Grid grid_of(const Kernel& k, const GemmProblem& p, std::int64_t y, std::int64_t z) {
  return {static_cast<std::uint32_t>(ceil_div(p.m, k.number("BM"))), static_cast<std::uint32_t>(y),
          static_cast<std::uint32_t>(z)};
}

double tile_clocks(const Kernel& k, const GemmProblem& p, std::int64_t splits, int multiprocessors) {
  return sgemm::clocks(p, k.number("BM"), k.number("BN"), splits, multiprocessors);
}

bool is(const Kernel& k, const char* name, std::string_view value) {
  const auto& variant = k.manifest().variant;
  const auto it = variant.find(name);
  return it != variant.end() && it->second == value;
}

// Of both: its layouts, and its tile.
bool lies(const Kernel& k, const GemmProblem& p, std::string_view tile) {
  const int bm = k.number("BM");
  const int bn = k.number("BN");
  if (bm <= 0 || bn <= 0 || !is(k, "TA", p.a_transposed ? "t" : "n") || !is(k, "TB", p.b_transposed ? "t" : "n"))
    return false;
  return tile.empty() || tile == std::to_string(bm) + "x" + std::to_string(bn);
}

// Bytes to the next matrix.
std::uint64_t bytes(std::int64_t stride, Dtype type) {
  return static_cast<std::uint64_t>(stride) * size_of(type);
}

}  // namespace

// Elements that are loaded one at a time take more copy instructions.
double sgemm_cost(const Kernel& k, const GemmProblem& p, std::int64_t splits, int multiprocessors) {
  const double copies = (k.number("VA") == 4 ? 0.0 : 0.01) + (k.number("VB") == 4 ? 0.0 : 0.01);
  return tile_clocks(k, p, splits, multiprocessors) * (1.0 + copies);
}

double gemm_cost(const Kernel& k, const GemmProblem& p, std::int64_t splits, int multiprocessors) {
  return tile_clocks(k, p, splits, multiprocessors) * (1.0 + (k.number("V") == 4 ? 0.03 : 0.4));
}

bool sgemm_fits(const Kernel& k, const GemmProblem& p, std::int64_t splits, std::string_view tile) {
  const bool plain = p.a_type == Dtype::float32 && p.b_type == Dtype::float32 && p.c_type == Dtype::float32;
  if (!plain || p.pointers != 0 || splits > 1 || p.rounding.stochastic || p.relu_first || sgemm::has_function(p))
    return false;
  return lies(k, p, tile) && fits_columns(k, p);
}

bool gemm_fits(const Kernel& k, const GemmProblem& p, std::int64_t /*splits*/, std::string_view tile) {
  if (needs_finish(p) && (p.pointers != 0 || (p.batch > 1 && !p.sum_batch))) return false;  // split_sum has one matrix
  if (!is(k, "XT", word_of(p.a_type)) || !is(k, "WT", word_of(p.b_type)) ||
      !is(k, "YT", word_of(byte(p.a_type) ? Dtype::int32 : p.c_type))) {
    return false;
  }
  return lies(k, p, tile) && tiles_n(k, p) <= kMaxColumns;  // z counts splits
}

std::int64_t columns_of_tiles(const Kernel& k, const GemmProblem& p) {
  return p.batch > 1 ? tiles_n(k, p) : std::min(tiles_n(k, p), kMaxColumns);
}

bool fits_columns(const Kernel& k, const GemmProblem& p) {
  return columns_of_tiles(k, p) <= kMaxGridY;
}

Grid columns_grid(const Kernel& k, const GemmProblem& p) {
  const std::int64_t y = columns_of_tiles(k, p);
  return grid_of(k, p, y, p.batch > 1 ? p.batch : ceil_div(tiles_n(k, p), y));
}

Grid gemm_grid(const Kernel& k, const GemmProblem& p, std::int64_t splits) {
  return grid_of(k, p, tiles_n(k, p), p.batch > 1 ? p.batch : splits);
}

Values sgemm_values(const Kernel& k, const GemmProblem& p) {
  Values v;
  v.u64(p.a).u64(p.b).u64(p.c).u64(p.bias);
  v.u64(bytes(p.stride_a, p.a_type)).u64(bytes(p.stride_b, p.b_type)).u64(bytes(p.stride_c, p.c_type));
  v.u32(p.batch > 1 ? 0 : columns_of_tiles(k, p));
  v.u32(p.m).u32(p.n).u32(p.k).u32(p.lda).u32(p.ldb).u32(p.ldc);
  return v.f32(p.alpha).f32(p.beta).u32(sgemm_flags_of(p));
}

Values gemm_values(const GemmProblem& p, std::int64_t splits) {
  const bool partial = splits > 1 || needs_finish(p);
  const std::int64_t chunk = p.batch > 1 ? p.k : sgemm::chunk_of(p.k, splits);
  Values v;
  v.u64(p.a).u64(p.b).u64(partial ? p.workspace : p.c).u64(partial ? 0 : p.bias);
  v.u64(bytes(p.stride_a, p.a_type)).u64(bytes(p.stride_b, p.b_type));
  v.u64(static_cast<std::uint64_t>(partial ? p.m * p.n : p.stride_c));
  v.u32(p.m).u32(p.n).u32(p.k).u32(chunk).u32(p.batch > 1 ? 0 : chunk).u32(p.lda).u32(p.ldb).u32(partial ? p.n : p.ldc);
  const std::uint32_t tables = p.pointers != 0 ? sgemm::kTables : 0;
  v.scalar(p.alpha, p.c_type).scalar(p.beta, p.c_type).u32(tables | (partial ? sgemm::kPartial : sgemm::flags_of(p)));
  return v.rounding(p.rounding, p.c_type).f32(p.clip_low).f32(p.clip_high);
}

}  // namespace nervanagpu::simt
