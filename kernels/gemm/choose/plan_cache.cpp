// Plans and workspaces of problems that came before: repeated calls of gemm() search nothing.
#include <algorithm>
#include <functional>

#include "kernels/gemm/choose/tuner.h"
#include "kernels/gemm/epilogue/result_sums.h"
#include "kernels/gemm/families.h"
#include "kernels/gemm/gemm.h"
#include "kernels/gemm/prepared.h"
#include "nervanagpu/autotune.hpp"
#include "src/launch/planned_alignment.h"
#include "src/memo.h"
#include "src/mixed_hash.h"

namespace nervanagpu::sgemm {
namespace {

struct Key {
  GemmProblem problem;
  std::string tile;
  std::uint64_t device = 0;
  bool tuned = false;  // what a measurement chose, or would
  friend bool operator==(const Key&, const Key&) = default;
};

// What tells problems of one program apart; equality looks at everything.
struct Hash {
  std::size_t operator()(const Key& k) const {
    const GemmProblem& p = k.problem;
    MixedHash h;
    h.add(k.device);
    for (const std::int64_t v : {p.m, p.n, p.k, p.lda, p.ldb, p.ldc, p.splits, p.batch, p.stride_a, p.stride_b})
      h.add(v);
    h.add(p.a_transposed | p.b_transposed << 1 | (p.bias != 0) << 2 | p.relu << 3 | (p.workspace != 0) << 4 |
          static_cast<int>(p.activation) << 24 | (p.mask != 0) << 5 | static_cast<int>(p.precision) << 6 |
          static_cast<int>(p.a_type) << 8 | static_cast<int>(p.c_type) << 16);
    if (!k.tile.empty()) h.add(std::hash<std::string>()(k.tile));
    return h.value();
  }
};

std::size_t workspace_of_splits(Device& device, const GemmProblem& p, const std::string& tile) {
  const Plan plan = choose(device.registry(), device.info().multiprocessors, p, tile);
  const PiecesOf& pieces = family_of(*plan.kernel).pieces;
  if (pieces.count != 0) return pieces.room(plan, p).bytes;
  return finished_apart(plan, p) ? static_cast<std::size_t>(plan.splits * p.m * p.n) * 4 : 0;
}

std::size_t search_workspace(Device& device, const GemmProblem& p, const std::string& tile) {
  const std::size_t partial = workspace_of_splits(device, p, tile);
  return has_sums(p) ? behind_partial_sums(partial) + sums_workspace(p) : partial;
}

}  // namespace

GemmProblem normal_form(const GemmProblem& problem) {
  GemmProblem p = problem;
  if (p.k == 0) p.a = p.b = 0, p.lda = p.ldb = 0;  // never read, whatever they are
  if (p.k != 0) p.a = planned_alignment(p.a), p.b = planned_alignment(p.b);
  p.c = planned_alignment(p.c);
  if (p.pointers != 0) {  // what the kernels read lies where the tables say
    p.pointers = static_cast<std::int64_t>(planned_alignment(static_cast<std::uint64_t>(p.pointers)));
    p.a = p.b = p.k == 0 ? 0 : static_cast<std::uint64_t>(p.pointers);
    p.c = static_cast<std::uint64_t>(p.pointers);
  }
  if (p.bias != 0) p.bias = std::min<std::uint64_t>(planned_alignment(p.bias), 2 * size_of(p.bias_type));
  if (p.scale != 0) p.scale = std::min<std::uint64_t>(planned_alignment(p.scale), 8);
  if (p.mask != 0) p.mask = 4;
  for (std::uint64_t* sums : {&p.row_sum, &p.column_sum, &p.row_max_abs, &p.column_max_abs}) {
    if (*sums != 0) *sums = 4;
  }
  if (p.workspace != 0) p.workspace = 16;
  for (PiecesAt* x : {&p.a_pieces, &p.b_pieces}) {
    if (p.precision == Precision::strict || x->address == 0) *x = {};  // which nobody reads
    if (x->address != 0) x->address = 16;
  }
  p.alpha = 1.0F;
  if (p.beta != 0.0F) p.beta = 1.0F;
  p.rounding.seed = p.rounding.offset = 0;
  return p;
}

std::shared_ptr<const Prepared> prepared(Device& device, const GemmProblem& problem, const std::string& tile,
                                         StreamId stream) {
  static auto& cache = *new Memo<Key, std::shared_ptr<const Prepared>, Hash>;
  const auto modelled = [&] {
    const Plan plan = choose(device.registry(), device.info().multiprocessors, problem, tile);
    return std::make_shared<const Prepared>(device, problem, plan);
  };
  if (tile.empty() && autotune()) {
    const Key key = {problem, tile, device.serial(), true};
    if (auto found = cache.find(key)) return *found;
    GemmProblem own = problem;  // which is measured with other operands
    own.a_pieces = own.b_pieces = {};
    if (const auto plan = tuner().choose(device, own, !device.capturing(stream))) {
      return cache.get(key, [&] {
        auto out = std::make_shared<const Prepared>(device, problem, *plan);
        if (out->workspace() <= workspace_of(device, problem, tile)) return out;  // which callers have been told
        return modelled();
      });
    }
  }
  return cache.get({problem, tile, device.serial()}, modelled);
}

std::size_t workspace_of(Device& device, const GemmProblem& problem, const std::string& tile) {
  static auto& cache = *new Memo<Key, std::size_t, Hash>;
  GemmProblem p = normal_form(problem);
  p.workspace = 16;  // as if there were one
  p.a_pieces = p.b_pieces = {};
  return cache.get({p, tile, device.serial()}, [&] { return search_workspace(device, p, tile); });
}

}  // namespace nervanagpu::sgemm
