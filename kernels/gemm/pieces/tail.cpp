#include "kernels/gemm/pieces/tail.h"

#include <algorithm>
#include <charconv>

#include "kernels/gemm/cost/hgemm_cost.h"
#include "kernels/gemm/pieces/choice.h"
#include "kernels/gemm/pieces/f16x3.h"
#include "kernels/gemm/pieces/piece_sides.h"
#include "src/ceil_div.h"

namespace nervanagpu::f16x3 {
namespace {

using pieces::chunks_of;

constexpr std::int64_t kUnit = 64;  // where it may begin: pieces and C are aligned there
constexpr std::int64_t kMostSplits = 8;
constexpr std::int64_t kMaxSums = 1LL << 31;

bool possible(const GemmProblem& p) {
  return p.batch <= 1 && p.pointers == 0 && p.m * std::max(p.n, p.ldc) < kMaxSums;
}

std::int64_t& length_of(GemmProblem& p, const Tail& t) {
  return t.columns ? p.n : p.m;
}

// "256rx3"
std::optional<Tail> named(GemmProblem p, std::string_view text) {
  Tail t;
  const char* const end = text.data() + text.size();
  const auto at = std::from_chars(text.data(), end, t.at);
  if (at.ec != std::errc{} || end - at.ptr < 3 || (at.ptr[0] != 'r' && at.ptr[0] != 'c') || at.ptr[1] != 'x')
    return std::nullopt;
  t.columns = at.ptr[0] == 'c';
  const auto splits = std::from_chars(at.ptr + 2, end, t.splits);
  if (splits.ec != std::errc{} || splits.ptr != end) return std::nullopt;
  const bool cut = t.splits >= 1 && t.splits <= kMostSplits && hgemm::effective(chunks_of(p), t.splits) == t.splits;
  const bool inside = t.at > 0 && t.at < length_of(p, t) && t.at % kUnit == 0;
  return p.splits == 1 && cut && inside ? std::optional(t) : std::nullopt;
}

struct Priced {
  std::optional<Tail> tail;
  double cost = 0;
};

// The cheapest of those that begin at t.at.
void add_splits(const GemmProblem& p, Tail t, double head, Priced& best) {
  constexpr std::int64_t kLeastChunks = 4;
  const GemmProblem q = tail_part(p, t);
  const std::int64_t chunks = chunks_of(p);
  for (t.splits = 1; t.splits <= std::clamp<std::int64_t>(chunks / kLeastChunks, 1, kMostSplits); ++t.splits) {
    if (hgemm::effective(chunks, t.splits) != t.splits) continue;
    for (const bf16x6::Width& w : widths_of(p)) {
      const double c = head + bf16x6::microseconds(q, w, t.splits, hgemm::kProcessors, kPieces);
      if (c < best.cost) best = {t, c};
    }
  }
}

}  // namespace

std::string_view without_tail(std::string_view tile) {
  return tile.substr(0, tile.find('+'));
}

std::optional<Tail> tail_of(const GemmProblem& problem, std::string_view tile) {
  if (!possible(problem)) return std::nullopt;
  if (const auto plus = tile.find('+'); plus != tile.npos) return named(problem, tile.substr(plus + 1));
  if (bf16x6::least_splits(chunks_of(problem)) > 1 || pieces::least_splits(problem) > 1) return std::nullopt;
  if (!pieces::in_two(problem) || pieces::in_registers(problem)) return std::nullopt;
  constexpr double kLaunches = 4;   // microseconds of two more, beside what the model has for their beginnings,
  constexpr double kClear = 0.985;  // and what it may be wrong by
  constexpr std::int64_t kRows = 128;
  GemmProblem p = problem;  // an epilogue does not change how sums are cut
  p.activation = GemmActivation::none;
  p.rounding = {};
  p.beta = 0;
  Priced best = {std::nullopt, kClear * bf16x6::best(p, widths_of(p), kPieces).product - kLaunches};
  for (const bf16x6::Width& w : widths_of(p)) {
    const std::int64_t down = ceil_div(p.m, kRows);
    const std::int64_t across = ceil_div(p.n, w.columns);
    const std::int64_t whole = down * across / hgemm::kProcessors * hgemm::kProcessors;
    for (const Tail& t : {Tail{false, whole / across * kRows, 1}, Tail{true, whole / down * w.columns, 1}}) {
      if (t.at == 0 || t.at >= length_of(p, t)) continue;
      add_splits(p, t, bf16x6::microseconds(head_part(p, t), w, 1, hgemm::kProcessors, kPieces), best);
    }
  }
  return best.tail;
}

GemmProblem head_part(const GemmProblem& problem, const std::optional<Tail>& tail) {
  GemmProblem p = problem;
  if (tail) length_of(p, *tail) = tail->at;
  return p;
}

GemmProblem tail_part(const GemmProblem& problem, const Tail& tail) {
  GemmProblem p = problem;
  const Offsets plus = offsets_of(problem, tail);
  length_of(p, tail) -= tail.at;
  p.c += plus.c;
  p.bias += plus.bias;
  p.rounding.offset += plus.rounding;
  return p;
}

Offsets offsets_of(const GemmProblem& p, const Tail& tail) {
  constexpr std::int64_t kWords = 4;  // of a step of the counter
  const std::int64_t before = tail.columns ? tail.at : tail.at * p.ldc;
  const auto bytes = [](std::int64_t elements) { return static_cast<std::uint64_t>(elements) * sizeof(float); };
  Offsets out;
  auto& pieces = tail.columns ? out.b : out.a;
  pieces = static_cast<std::uint64_t>((tail.columns ? pieces::b_of(p) : pieces::a_of(p)).offset(tail.at));
  out.c = bytes(before);
  if (p.bias != 0 && p.bias_per_row != tail.columns) out.bias = bytes(tail.at);
  out.rounding = static_cast<std::uint64_t>(before / kWords);
  return out;
}

std::size_t workspace(const GemmProblem& p, std::int64_t splits, const std::optional<Tail>& tail, std::int64_t kept) {
  const std::size_t whole = bf16x6::room(p, splits, kept).bytes;
  if (!tail || tail->splits == 1) return whole;
  const GemmProblem q = tail_part(p, *tail);
  return bf16x6::room(p, 1, kept).partial_sums + static_cast<std::size_t>(tail->splits * q.m * q.n) * sizeof(float);
}

}  // namespace nervanagpu::f16x3
