#include "kernels/conv/gather/gconv_choice.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>
#include <string_view>
#include <tuple>

#include "kernels/conv/problem.h"
#include "kernels/gemm/cost/h200.h"
#include "kernels/gemm/types.h"
#include "kernels/variants.h"
#include "nervanagpu/error.hpp"
#include "src/ceil_div.h"
#include "src/memo.h"

namespace nervanagpu::conv_detail::gconv {
namespace {

using hgemm::Form;
using hgemm::Tile;

constexpr std::int64_t kWidest = 192;  // columns of a tile
constexpr std::string_view kLines[] = {
#include "kernels/conv/gather/gconv.variants.inc"
};
constexpr auto kTiles = variants::table<Tile, kLines>([](std::string_view line, auto add) {
  add(Tile{Form::tiles, variants::number(line, "BM"), variants::number(line, "BN")});
});
constexpr std::int64_t kMostEntries = variants::number(variants::let(kLines, "MOST_ENTRIES"));
constexpr std::array<std::int64_t, 3> kRuns = {8, 4, 1};

static_assert(kTiles.size() * kRuns.size() == std::tuple_size_v<decltype(Costs::Gathered::block)>);

double microseconds(char pass, const GemmProblem& p, const Tile& t, std::int64_t run, std::int64_t splits,
                    int multiprocessors, double bytes, const Costs& all = kFitted) {
  const Costs::Gathered& costs = pass == 'f' ? all.gather : all.gather_update;
  const std::int64_t tiles = hgemm::tiles_m(p, t) * hgemm::tiles_n(p, t) * splits;
  const auto waves = static_cast<double>(ceil_div(tiles, std::max(multiprocessors, 1)));
  const auto blocks = static_cast<double>(ceil_div(hgemm::blocks_of(p), splits));
  const auto row = static_cast<std::size_t>(std::ranges::find(kRuns, run) - kRuns.begin());
  const double block = costs.block[row * kTiles.size() + static_cast<std::size_t>(t.bn / 64 - 1)];
  double out = hgemm::starts_early(p, t, splits) ? costs.early : costs.start;
  out += h200::together(waves * (blocks * block + costs.tile * t.bn / 64.0), bytes * 1e-6 / all.memory);
  if (splits > 1) {
    out += costs.sum + costs.part * static_cast<double>(splits) +
           costs.sums * 1e-6 * static_cast<double>(splits) * static_cast<double>(p.m) * static_cast<double>(p.n);
  }
  return out;
}

struct Best {
  Tile tile;
  double cost = 0;
};
Best best(char pass, const GemmProblem& p, std::int64_t run, std::int64_t splits, int multiprocessors, double bytes) {
  Best out;
  for (const Tile& t : kTiles) {
    const double cost = microseconds(pass, p, t, run, splits, multiprocessors, bytes);
    if (out.cost == 0 || cost < out.cost) out = {t, cost};
  }
  return out;
}

struct Split {
  std::int64_t splits = 1;
  double cost = 0;
};
Split searched(char pass, const GemmProblem& p, std::int64_t run, double bytes) {
  constexpr std::int64_t kLeastBlocks = 4;
  constexpr std::int64_t kMostSums = std::int64_t{1} << 31;
  const std::int64_t blocks = hgemm::blocks_of(p);
  const std::int64_t most = std::clamp<std::int64_t>(blocks / kLeastBlocks, 1, hgemm::kProcessors);
  Split out;
  for (std::int64_t s = 1; s <= most && s * p.m * p.n < kMostSums; ++s) {
    if (hgemm::effective(blocks, s) != s) continue;
    const double cost = best(pass, p, run, s, hgemm::kProcessors, bytes).cost;
    if (out.cost == 0 || cost < out.cost) out = {s, cost};
  }
  return out;
}

Split split_of(char pass, const GemmProblem& p, std::int64_t run, double bytes) {
  using Key = std::tuple<char, std::int64_t, std::int64_t, std::int64_t, std::int64_t, double>;
  static auto& known = *new Memo<Key, Split>;
  return known.get({pass, p.m, p.n, p.k, run, bytes}, [&] { return searched(pass, p, run, bytes); });
}

// What the kernel's numbers can hold.
bool expressible(const Gather& g, const Pixels& t) {
  constexpr std::int64_t kMostTaps = 31;
  constexpr std::int64_t kFar = std::int64_t{1} << 27;
  constexpr std::int64_t kMostBytes = std::int64_t{1} << 31;
  if (g.taps[0] + g.taps[1] + g.taps[2] > kMostTaps) return false;
  std::int64_t bytes = 2 * t.pitch;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (t.size[axis] >= kFar || g.move[axis] >= kFar || g.step[axis] >= kFar || std::abs(g.low[axis]) >= kFar)
      return false;
    if (g.positions[axis] * g.step[axis] >= kFar) return false;
    const std::int64_t reach = std::max(
        t.size[axis], (g.taps[axis] - 1) * g.move[axis] + std::abs(g.low[axis]) + g.positions[axis] * g.step[axis]);
    if (reach >= kMostBytes || bytes * reach >= kMostBytes / 3) return false;
    bytes *= t.size[axis];
  }
  return true;
}

}  // namespace

std::int64_t usual_run(std::int64_t channels) {
  return *std::ranges::find_if(kRuns, [&](std::int64_t v) { return channels % v == 0; });
}

std::int64_t run_of(const Pixels& t) {
  return *std::ranges::find_if(kRuns, [&](std::int64_t v) {
    return t.channels % v == 0 && t.pitch % v == 0 && t.address % static_cast<std::uint64_t>(2 * v) == 0;
  });
}

bool has_room(std::int64_t columns, std::int64_t run) {
  return ceil_div(columns, kWidest) * kWidest / run <= kMostEntries;
}

Pixels gathered(ConvPass pass, const ConvProblem& p) {
  const Role role = pass == ConvPass::bprop ? Role::y : Role::x;
  const Shape s = shape_of(p, role);
  return {0, p.x_type, s[4] / p.groups, std::max(s[4], pitch_of(p, role)), {s[3], s[2], s[1]}, s[0]};
}

bool possible(ConvPass pass, const ConvProblem& p) {
  if (sgemm::byte(p.x_type) || (pass == ConvPass::bprop && p.stride != decltype(p.stride){1, 1, 1})) return false;
  const std::vector<Gather> all = gathers_of(pass, p);
  const Pixels t = gathered(pass, p);
  return all.size() == 1 && expressible(all.front(), t) &&
         has_room(all.front().all_taps() * t.channels, usual_run(t.channels));
}

double microseconds(char pass, const GemmProblem& p, std::int64_t run, double bytes, const hconv::Choice& choice,
                    const Costs& costs) {
  return microseconds(pass, p, choice.tile, run, choice.splits, hgemm::kProcessors, bytes, costs);
}

std::int64_t forced_run(const Forced& forced) {
  for (const std::int64_t v : kRuns) {
    if (forced.kernel.starts_with("_" + std::to_string(v) + "_")) return v;
  }
  return 0;
}

double least_microseconds(char pass, const GemmProblem& product, std::int64_t run, double bytes) {
  return split_of(pass, product, run, bytes).cost;
}

hconv::Choice choose(char pass, const GemmProblem& product, std::int64_t run, double bytes, int multiprocessors,
                     const Forced& forced) {
  GemmProblem p = product;  // an epilogue does not change how sums are cut
  p.beta = 0;
  hconv::Choice out;
  out.splits = split_of(pass, p, run, bytes).splits;
  if (forced.splits != 0) out.splits = hgemm::effective(hgemm::blocks_of(p), forced.splits);
  out.tile = best(pass, p, run, out.splits, multiprocessors, bytes).tile;
  if (forced.kernel.empty()) return out;
  const auto* const named = std::ranges::find_if(
      kTiles, [&](const Tile& t) { return forced.kernel.ends_with("_128x" + std::to_string(t.bn)); });
  if (forced_run(forced) == 0 || named == kTiles.end())
    throw InvalidArgument("conv: no kernel gconv_*" + forced.kernel);
  out.tile = *named;
  return out;
}

const Kernel* find(const Registry& registry, char pass, Dtype operands, Dtype result, std::int64_t run, const Tile& t) {
  return registry.find(std::string("gconv_") + pass + "_" + std::string(sgemm::word_of(operands)) + "_" +
                       std::string(sgemm::word_of(result)) + "_" + std::to_string(run) + "_" + hgemm::shape_name(t));
}

void put(Values& v, const Gather& f, const Pixels& t, bool volume, std::int64_t run, std::int64_t columns) {
  const std::int64_t pixel = 2 * t.pitch;
  const std::int64_t line = pixel * t.size[0];
  const std::int64_t plane = line * t.size[1];
  v.u64(t.address).u32(t.n * f.count()).u32(volume ? 1 : 0);
  v.divisor(f.positions[0]).divisor(f.positions[1]).divisor(f.positions[2]);
  v.each_s32(f.step).each_s32(f.low).each_s32(t.size);
  v.divisor(f.taps[0]).divisor(f.taps[1]).u32(f.taps[2]);
  v.divisor(f.move[0]).divisor(f.move[1]).divisor(f.move[2]);
  v.divisor(t.channels / run).u32(columns / run).u32(f.all_taps() * t.channels);
  v.s32(pixel).s32(line).s32(plane).u32(plane * t.size[2]);
}

}  // namespace nervanagpu::conv_detail::gconv
