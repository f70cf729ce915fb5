#include "kernels/gemm/pieces/choice.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "kernels/gemm/float32/sgemm_ring.h"
#include "kernels/gemm/pieces/bf16x6.h"
#include "kernels/gemm/pieces/bf16x6_rs.h"
#include "kernels/gemm/pieces/f16x3.h"
#include "kernels/gemm/pieces/f16x3_rs.h"
#include "kernels/gemm/pieces/piece_sides.h"
#include "src/ceil_div.h"
#include "src/memo.h"

namespace nervanagpu::pieces {
namespace {

constexpr std::int64_t kMany = 8;  // parts of strict's sums

// Microseconds by multiply-adds. A batch is judged by what its products cost beside each other.
double strict_microseconds(const GemmProblem& p) {
  constexpr double kRate = 50e6;   // operations a microsecond of multiply-adds, two of each
  constexpr double kMemory = 3e6;  // bytes a microsecond
  const auto m = static_cast<double>(p.m);
  const auto n = static_cast<double>(p.n);
  const auto k = static_cast<double>(p.k);
  const auto matrices = static_cast<double>(std::max<std::int64_t>(p.batch, 1));
  double compute = 2 * m * n * k / kRate;
  // Few columns fill tiles of 64, and nothing hides their stores: docs/lab/bf16x6.md.
  if (bf16x6_rs::has_many_rows(p)) {
    constexpr std::int64_t kTile = 64, kFew = 16;
    constexpr double kOfFew = 40;
    constexpr double kOfTiles = 48e6, kStores = 4e6;
    const auto columns = static_cast<double>(ceil_div(p.n, kTile) * kTile);
    compute = 2 * m * (p.n <= kFew ? kOfFew : columns) * k / kOfTiles + 4 * m * n / kStores;
  }
  return matrices * std::max(compute, 4 * (m * k + k * n + m * n) / kMemory);
}

// What the launches before and after a product of three pieces take more than the one of a strict product.
constexpr double kLaunchesOfThree = 2.5;
double three_written_microseconds(const GemmProblem& p) {
  return bf16x6::best(p, bf16x6::kWidths, bf16x6::kPieces).cost + kLaunchesOfThree;
}
bool is_short(const GemmProblem& p) {
  constexpr double kShort = 120;
  return strict_microseconds(p) < kShort;
}
// By plain sums, whatever the product has: what compares with f16x3_rs.sass and with multiply-adds has been measured so.
double two_written_microseconds(const GemmProblem& p) {
  const double launches = is_short(p) ? 5 : 7.5;
  const bf16x6::Choice plain = bf16x6::best(p, f16x3::kPlainWidths, f16x3::kPieces, least_splits(p));
  return plain.cost + launches;
}
double registers_microseconds(const GemmProblem& p) {
  constexpr double kLaunches = 7;  // before and after it
  const f16x3_rs::Choice choice = f16x3_rs::choice_of(p);
  return choice.splits == 0 ? std::numeric_limits<double>::infinity() : choice.cost + kLaunches;
}
double least_microseconds(const GemmProblem& p) {
  return std::min(two_written_microseconds(p), registers_microseconds(p));
}

// How sgemm_ring.sass cuts the strict product, whatever its rows' pitches and its epilogue are.
struct Strict {
  std::int64_t parts = 1;
  bool few = false;  // a thread has few sums, of shorter chains
};
Strict strict_sums(const GemmProblem& from) {
  using Key = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t, bool, bool, bool, bool>;
  static auto& all = *new Memo<Key, Strict>;
  const Key key = {
      from.m, from.n, from.k, from.batch, from.a_transposed, from.b_transposed, from.stride_a == 0, from.stride_b == 0};
  return all.get(key, [&] {
    GemmProblem p;
    p.a_type = p.b_type = p.c_type = Dtype::float32;
    p.m = from.m, p.n = p.ldc = from.n, p.k = from.k, p.batch = from.batch;
    p.a_transposed = from.a_transposed, p.b_transposed = from.b_transposed;
    p.lda = p.a_transposed ? p.m : p.k;
    p.ldb = p.b_transposed ? p.k : p.n;
    p.stride_a = from.stride_a == 0 ? 0 : p.m * p.k;
    p.stride_b = from.stride_b == 0 ? 0 : p.k * p.n;
    p.stride_c = p.batch > 1 ? p.m * p.n : 0;
    const auto shape = sgemm_ring::shape_of(p, {});
    return shape ? Strict{shape->splits(), shape->few()} : Strict{};
  });
}

// Errors of two pieces are no larger than those of multiply-adds (docs/lab/f16x3.md). Of shorter sums they are, and where a thread of
// sgemm_ring.sass has few sums, those are of shorter chains.
bool exact_enough(const GemmProblem& p) {
  constexpr std::int64_t kLeast = 704;
  constexpr std::int64_t kLeastOfMany = 1280;
  if (p.splits != 0 || p.k < kLeast) return false;
  const Strict sums = strict_sums(p);
  return !sums.few && (sums.parts < kMany || p.k >= kLeastOfMany);
}

// Those of three pieces with totals every 32 k, on numbers of one sign: 0.3 to 0.7 times one chain's, 0.8 to 0.95 times those of four from 256 terms on.
// Otherwise as above.
bool short_exact_enough(const GemmProblem& p) {
  constexpr std::int64_t kLeast = 32, kLeastOfFour = 256;
  const Strict sums = strict_sums(p);
  if (sums.few || sums.parts >= kMany) return false;
  return p.k >= (sums.parts <= 2 ? kLeast : kLeastOfFour);
}
double many_rows_microseconds(const GemmProblem& p) {
  const bool one_part = bf16x6::least_splits(pieces::chunks_of(p)) == 1;
  if (p.splits != 0 || !one_part || !bf16x6_rs::has_many_rows(p) || !short_exact_enough(p))
    return std::numeric_limits<double>::infinity();
  return bf16x6_rs::microseconds(p) + kLaunchesOfThree;
}

}  // namespace

double three_microseconds(const GemmProblem& p) {
  return std::min(three_written_microseconds(p), many_rows_microseconds(p));
}

bool takes(const GemmProblem& p) {
  if (!bf16x6::possible(p)) return false;
  if (p.splits != 0) return true;
  const double strict = strict_microseconds(p);
  return three_microseconds(p) < strict || (exact_enough(p) && least_microseconds(p) < strict);
}

bool in_two(const GemmProblem& p) {
  return exact_enough(p) && least_microseconds(p) < three_microseconds(p);
}

TwoMicroseconds two_microseconds(const GemmProblem& p) {
  return {least_microseconds(p), strict_behind(p) ? strict_microseconds(p) : three_written_microseconds(p)};
}

bool many_rows(const GemmProblem& p) {
  return !in_two(p) && many_rows_microseconds(p) < three_written_microseconds(p);
}

bool in_registers(const GemmProblem& p) {
  return in_two(p) && registers_microseconds(p) < two_written_microseconds(p);
}

double written_microseconds(const GemmProblem& p) {
  if (in_registers(p)) {
    const bf16x6::Choice two = f16x3::choice_of(p);
    return two.cost - two.product;
  }
  if (in_two(p)) return 0;
  const bf16x6::Choice three = bf16x6::best(p, bf16x6::kWidths, bf16x6::kPieces);
  return three.cost - three.product;
}

std::int64_t least_splits(const GemmProblem& p) {
  constexpr std::int64_t kLong = 4096;
  return p.k < kLong && strict_sums(p).parts >= kMany ? 2 : 1;
}

bool strict_behind(const GemmProblem& p, std::string_view tile) {
  if (!tile.empty()) return tile.ends_with("+strict");
  return is_short(p) || in_registers(p);
}

}  // namespace nervanagpu::pieces
