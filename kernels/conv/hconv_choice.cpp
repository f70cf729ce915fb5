#include "kernels/conv/hconv_choice.h"

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <string>
#include <tuple>

#include "kernels/gemm/types.h"
#include "nervanagpu/error.hpp"

namespace nervanagpu::conv_detail::hconv {
namespace {

using hgemm::Form;
using hgemm::Tile;

constexpr std::array kTiles = {Tile{Form::tiles, 128, 256}, Tile{Form::tiles, 128, 192}, Tile{Form::tiles, 128, 128},
                               Tile{Form::tiles, 128, 64}, Tile{Form::turns, 128, 128}};

// The cheapest tile, and its microseconds.
struct Best {
  Tile tile;
  double cost = 0;
};
Best best(const GemmProblem& p, double bytes, std::int64_t splits, int multiprocessors) {
  Best out;
  for (const Tile& t : kTiles) {
    const double cost = hgemm::tile_microseconds(p, t, splits, multiprocessors, bytes);
    if (out.cost == 0 || cost < out.cost) out = {t, cost};
  }
  return out;
}

// An epilogue does not change how sums are cut.
std::int64_t splits_of(const GemmProblem& product, double bytes) {
  constexpr std::int64_t kLeastBlocks = 4;
  constexpr std::int64_t kMostSums = std::int64_t{1} << 31;
  GemmProblem p = product;
  p.beta = 0;
  p.rounding = {};
  p.activation = GemmActivation::none;
  const std::int64_t blocks = hgemm::blocks_of(p);
  const std::int64_t most = std::clamp<std::int64_t>(blocks / kLeastBlocks, 1, hgemm::kProcessors);
  std::int64_t splits = 1;
  double cost = 0;
  for (std::int64_t s = 1; s <= most && s * p.m * p.n < kMostSums; ++s) {
    if (hgemm::effective(blocks, s) != s) continue;
    const double c = best(p, bytes, s, hgemm::kProcessors).cost;
    if (cost == 0 || c < cost) splits = s, cost = c;
  }
  return splits;
}

// As kernels' names end.
std::string name_of(const Tile& t) {
  return std::to_string(t.bm) + "x" + std::to_string(t.bn) + "x" + (t.form == Form::turns ? "2" : "1");
}

Choice chosen(const GemmProblem& p, double bytes, int multiprocessors) {
  constexpr std::size_t kMost = 4096;
  static std::mutex mutex;
  static auto& known = *new std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t, int, double, int>, Choice>;
  const int kind = static_cast<int>(p.c_type) << 2 | (p.beta != 0 ? 1 : 0) | (p.rounding.stochastic ? 2 : 0);
  const std::tuple key(p.m, p.n, p.k, kind, bytes, multiprocessors);
  const std::lock_guard lock(mutex);
  if (const auto it = known.find(key); it != known.end()) return it->second;
  Choice out;
  out.splits = splits_of(p, bytes);
  out.tile = best(p, bytes, out.splits, std::max(multiprocessors, 1)).tile;
  if (known.size() >= kMost) known.clear();
  known.emplace(key, out);
  return out;
}

}  // namespace

Choice choose(const GemmProblem& p, double bytes, int multiprocessors, const Forced& forced) {
  Choice out = chosen(p, bytes, multiprocessors);
  if (forced.splits != 0) out.splits = hgemm::effective(hgemm::blocks_of(p), forced.splits);
  if (forced.kernel.empty()) return out;
  const auto* const named = std::ranges::find(kTiles, forced.kernel, [](const Tile& t) { return "_" + name_of(t); });
  if (named == kTiles.end()) throw InvalidArgument("conv: no kernel hconv_*" + forced.kernel);
  out.tile = *named;
  return out;
}

double microseconds(const GemmProblem& p, double bytes) {
  return best(p, bytes, chosen(p, bytes, hgemm::kProcessors).splits, hgemm::kProcessors).cost;
}

const Kernel* find(const Registry& registry, char pass, Dtype operands, Dtype result, const Tile& t) {
  return registry.find(std::string("hconv_") + pass + "_" + std::string(sgemm::word_of(operands)) + "_" +
                       std::string(sgemm::word_of(result)) + "_" + name_of(t));
}

}  // namespace nervanagpu::conv_detail::hconv
