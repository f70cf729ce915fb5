#include "kernels/gemm/pieces/choice.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "kernels/gemm/float32/sgemm_ring.h"
#include "kernels/gemm/pieces/bf16x6.h"
#include "kernels/gemm/pieces/f16x3.h"
#include "kernels/gemm/pieces/f16x3_rs.h"
#include "src/memo.h"

namespace nervanagpu::pieces {
namespace {

// Microseconds by multiply-adds. A batch is judged by what its products cost beside each other.
double strict_microseconds(const GemmProblem& p) {
  constexpr double kRate = 50e6;   // operations a microsecond of multiply-adds, two of each
  constexpr double kMemory = 3e6;  // bytes a microsecond
  const auto m = static_cast<double>(p.m);
  const auto n = static_cast<double>(p.n);
  const auto k = static_cast<double>(p.k);
  const auto matrices = static_cast<double>(std::max<std::int64_t>(p.batch, 1));
  return matrices * std::max(2 * m * n * k / kRate, 4 * (m * k + k * n + m * n) / kMemory);
}

// What the launches before and after a product take more than the one of a strict product.
double three_microseconds(const GemmProblem& p) {
  constexpr double kLaunches = 2.5;
  return bf16x6::best(p, bf16x6::kWidths, bf16x6::kPieces).cost + kLaunches;
}
bool is_short(const GemmProblem& p) {
  constexpr double kShort = 120;
  return strict_microseconds(p) < kShort;
}
double written_microseconds(const GemmProblem& p) {
  const double launches = is_short(p) ? 5 : 7.5;
  return f16x3::choice_of(p).cost + launches;
}
double registers_microseconds(const GemmProblem& p) {
  constexpr double kLaunches = 7;  // before and after it
  const f16x3_rs::Choice choice = f16x3_rs::choice_of(p);
  return choice.splits == 0 ? std::numeric_limits<double>::infinity() : choice.cost + kLaunches;
}
double least_microseconds(const GemmProblem& p) {
  return std::min(written_microseconds(p), registers_microseconds(p));
}

// How sgemm_ring.sass cuts the strict product, whatever its rows' pitches and its epilogue are.
struct Strict {
  bool many = false;  // in many parts
  bool few = false;   // a thread has few sums, of shorter chains
};
Strict strict_sums(const GemmProblem& from) {
  using Key = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t, bool, bool, bool, bool>;
  static auto& all = *new Memo<Key, Strict>;
  const Key key = {
      from.m, from.n, from.k, from.batch, from.a_transposed, from.b_transposed, from.stride_a == 0, from.stride_b == 0};
  return all.get(key, [&] {
    constexpr std::int64_t kMany = 8;
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
    return shape ? Strict{shape->splits() >= kMany, shape->few()} : Strict{};
  });
}

// Errors of two pieces are no larger than those of multiply-adds (docs/lab/f16x3.md). Of shorter sums they are, and where a thread of
// sgemm_ring.sass has few sums, those are of shorter chains.
bool exact_enough(const GemmProblem& p) {
  constexpr std::int64_t kLeast = 704;
  constexpr std::int64_t kLeastOfMany = 1280;
  if (p.splits != 0 || p.k < kLeast) return false;
  const Strict sums = strict_sums(p);
  return !sums.few && (!sums.many || p.k >= kLeastOfMany);
}

}  // namespace

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
  return {least_microseconds(p), strict_behind(p) ? strict_microseconds(p) : three_microseconds(p)};
}

bool in_registers(const GemmProblem& p) {
  return in_two(p) && registers_microseconds(p) < written_microseconds(p);
}

std::int64_t least_splits(const GemmProblem& p) {
  constexpr std::int64_t kLong = 4096;
  return p.k < kLong && strict_sums(p).many ? 2 : 1;
}

bool strict_behind(const GemmProblem& p, std::string_view tile) {
  if (!tile.empty()) return tile.ends_with("+strict");
  return is_short(p) || in_registers(p);
}

}  // namespace nervanagpu::pieces
