#include "kernels/conv/implicit/hconv_choice.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <tuple>

#include "kernels/gemm/types.h"
#include "kernels/variants.h"
#include "nervanagpu/error.hpp"
#include "src/ceil_div.h"
#include "src/memo.h"

namespace nervanagpu::conv_detail::hconv {
namespace {

using hgemm::Form;
using hgemm::Tile;

constexpr std::int64_t kBox = 64;  // rows and columns

struct Variant {
  Tile tile;
  int stages = 0;
  bool operator==(const Variant&) const = default;
};
constexpr std::string_view kLines[] = {
#include "kernels/conv/implicit/hconv.variants.inc"
};
// In the order of Costs::Tiles::block.
constexpr auto kVariants = variants::table<Variant, kLines>([](std::string_view line, auto add) {
  using variants::number;
  const Form form = variants::text(line, "PING_PONG") == "2" ? Form::ping_pong : Form::tiles;
  add(Variant{{form, number(line, "BM"), number(line, "BN")}, number(line, "STAGES")});
});
static_assert(kVariants.size() == std::tuple_size_v<decltype(Costs::Tiles::block)>);

// An update's rows are filters, in boxes of 64, two a tile.
bool has(char pass, const Tile& t) {
  return pass != 'u' || t.bm > kBox;
}

// Rows of an odd number of channels lie across lines of memory.
double row_cost(std::int64_t channels, const Costs::Tiles& costs) {
  return channels % kBox == 0 ? costs.whole_row : channels % 16 == 0 ? costs.part_row : costs.odd_row;
}
// Of all boxes of these channels, in the mean.
double box_cost(std::int64_t channels, const Costs::Tiles& costs) {
  const auto boxes = static_cast<double>(ceil_div(channels, kBox));
  return ((boxes - 1) * costs.whole_row + row_cost(channels, costs)) / boxes;
}

// Rows of a box that a tile has, in the mean.
double rows(std::int64_t length, std::int64_t tile) {
  return static_cast<double>(ceil_div(length, kBox) * kBox) / static_cast<double>(ceil_div(length, tile));
}

// f, h: of a tile's boxes of filters, in the mean. The last one ends where half of it has none, else with rows of zeros.
double filters(std::int64_t count, std::int64_t tile, double row, const Costs::Tiles& costs) {
  constexpr std::int64_t kHalf = kBox / 2;
  const auto zeros = static_cast<double>(ceil_div(count, kHalf) * kHalf - count);
  return (static_cast<double>(count) * row + zeros * costs.zero_row) / static_cast<double>(ceil_div(count, tile));
}

// f, h: what the first copies into the stages take longer. Then boxes of filters past the last one are there, too, and it is whole.
double fresh(std::int64_t count, std::int64_t tile, double row, const Costs::Tiles& costs) {
  const auto missing = static_cast<double>(std::max<std::int64_t>(tile / kBox - ceil_div(count, kBox), 0));
  const auto zeros = static_cast<double>(ceil_div(count, kBox) * kBox - count);
  const double box = (static_cast<double>(kBox) - zeros) * row + zeros * costs.zero_row;
  constexpr double kHalf = 32;
  return missing * box + (zeros < kHalf || count > tile ? 0 : kHalf * costs.zero_row);
}

double tile_cost(const Work& w, const Tile& t, std::int64_t splits, int multiprocessors, const Costs& all = kFitted) {
  const bool update = w.pass == 'u';
  const Costs::Tiles& costs = update ? all.update : all.positions;
  const auto variant = static_cast<std::size_t>(std::ranges::find(kVariants, t, &Variant::tile) - kVariants.begin());
  const double products = costs.block[variant];
  const double a = (update ? rows(w.product.m, t.bm) : t.bm) * (w.pass == 'f'   ? row_cost(w.c, costs)
                                                                : w.pass == 'h' ? 2 * costs.half_row
                                                                : update        ? box_cost(w.k, costs)
                                                                                : row_cost(w.k, costs));
  const double b = w.pass == 'f'   ? filters(w.product.n, t.bn, row_cost(w.c, costs), costs)
                   : w.pass == 'h' ? filters(w.product.n, t.bn, costs.whole_row, costs)
                                   : rows(w.product.n, t.bn) * box_cost(w.c, costs);
  const hgemm::Rates rates = rates_of(all, w.pass);
  double out = hgemm::tile_microseconds(w.product, t, splits, multiprocessors, w.bytes, std::max(products, a + b),
                                        w.groups * std::max<std::int64_t>(static_cast<std::int64_t>(w.taps.size()), 1),
                                        rates, most_blocks(w, t, multiprocessors));
  if (w.pass == 'f' || w.pass == 'h') {
    const double row = w.pass == 'f' ? row_cost(w.c, costs) : costs.whole_row;
    const double first = a + b + fresh(w.product.n, t.bn, row, costs);
    const std::int64_t filled = std::min<std::int64_t>(kVariants[variant].stages, hgemm::blocks_of(w.product) / splits);
    out += static_cast<double>(filled) * std::max(first - std::max(products, a + b), 0.0);
  }
  if (w.apart && splits == 1) {
    out += rates.sum + rates.part +
           rates.sums * 1e-6 * static_cast<double>(w.groups) * static_cast<double>(w.product.m) *
               static_cast<double>(w.product.n);
  }
  return out;
}

// The cheapest tile, and its microseconds.
struct Best {
  Tile tile;
  double cost = 0;
};
Best best(const Work& w, std::int64_t splits, int multiprocessors) {
  Best out;
  for (const Variant& v : kVariants) {
    const Tile& t = v.tile;
    if (!has(w.pass, t)) continue;
    const double cost = tile_cost(w, t, splits, multiprocessors);
    if (out.cost == 0 || cost < out.cost) out = {t, cost};
  }
  return out;
}

Choice chosen(const Work& w, int multiprocessors) {
  using Key = std::tuple<char, std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t, int,
                         double, int, std::vector<std::int64_t>>;
  static auto& known = *new Memo<Key, Choice>;
  const GemmProblem& p = w.product;
  const int kind =
      static_cast<int>(p.c_type) << 3 | (w.apart ? 4 : 0) | (p.beta != 0 ? 1 : 0) | (p.rounding.stochastic ? 2 : 0);
  const Key key(w.pass, p.m, p.n, p.k, w.c, w.k, w.groups, kind, w.bytes, multiprocessors, w.taps);
  return known.get(key, [&] {
    Choice out;
    if (w.taps.empty() && w.pass != 'h') {  // tiles of several classes are not cut, nor those of half blocks
      out.splits = cheapest_splits(
          w, 1, [](const Work& work, std::int64_t s) { return best(work, s, hgemm::kProcessors).cost; });
    }
    out.tile = best(w, out.splits, std::max(multiprocessors, 1)).tile;
    return out;
  });
}

}  // namespace

double most_blocks(const Work& w, const Tile& t, int multiprocessors) {
  if (w.taps.empty()) return 0;
  const std::int64_t each = hgemm::tiles_m(w.product, t) * hgemm::tiles_n(w.product, t) * w.groups;
  const std::int64_t channels = hgemm::blocks_of(w.product) / w.taps.front();
  const auto all = static_cast<std::int64_t>(w.taps.size()) * each;
  const std::int64_t ctas = std::min<std::int64_t>(all, std::max(multiprocessors, 1));
  std::int64_t blocks = 0;
  std::int64_t before = 0;  // waves that begin in front of the class
  for (std::size_t i = 0; i < w.taps.size(); ++i) {
    const std::int64_t waves = ceil_div((static_cast<std::int64_t>(i) + 1) * each, ctas);
    blocks += (waves - before) * channels * w.taps[i];
    before = waves;
  }
  return static_cast<double>(blocks) / static_cast<double>(before);
}

std::string name_of(const Tile& t) {
  return hgemm::shape_name(t) + "x" + (t.form == Form::ping_pong ? "2" : "1");
}

hgemm::Rates rates_of(const Costs& all, char pass) {
  constexpr double kFewestBlocks = 1;
  const Costs::Tiles& costs = pass == 'u' ? all.update : all.positions;
  return {.start = costs.start,
          .early_start = costs.early,
          .tile = costs.tile,
          .ping_pong = costs.turn,
          .ping_pong_end = costs.turn_end,
          .ping_pong_blocks = kFewestBlocks,
          .memory = all.memory,
          .sum = costs.sum,
          .part = costs.part,
          .sums = costs.sums};
}

std::int64_t cheapest_splits(const Work& work, std::int64_t least,
                             const std::function<double(const Work&, std::int64_t)>& cost) {
  constexpr std::int64_t kLeastBlocks = 4;
  constexpr std::int64_t kMostSums = std::int64_t{1} << 31;
  Work w = work;
  GemmProblem& p = w.product;
  p.beta = 0;
  p.rounding = {};
  p.activation = GemmActivation::none;
  const std::int64_t blocks = hgemm::blocks_of(p);
  const std::int64_t room = std::max<std::int64_t>((kMostSums - 1) / (p.m * p.n * w.groups), 1);
  const std::int64_t all = std::min(std::max<std::int64_t>(blocks / kLeastBlocks, 1), room);
  std::int64_t splits = hgemm::effective(blocks, std::min(least, all));
  // Where splits are many anyhow, some more may fill the last wave.
  const std::int64_t most = std::min(all, std::max<std::int64_t>(2 * splits, hgemm::kProcessors));
  double fewest = 0;
  for (std::int64_t s = splits; s <= most; ++s) {
    if (hgemm::effective(blocks, s) != s) continue;
    const double c = cost(w, s);
    if (fewest == 0 || c < fewest) splits = s, fewest = c;
  }
  return splits;
}

Choice choose(const Work& w, int multiprocessors, const Forced& forced) {
  Choice out = chosen(w, multiprocessors);
  if (forced.splits != 0 && w.taps.empty() && w.pass != 'h')
    out.splits = hgemm::effective(hgemm::blocks_of(w.product), forced.splits);
  if (forced.kernel.empty()) return out;
  const auto* const named = std::ranges::find_if(
      kVariants, [&](const Variant& v) { return forced.kernel == "_" + name_of(v.tile) && has(w.pass, v.tile); });
  if (named == kVariants.end()) throw InvalidArgument("conv: no kernel hconv_*" + forced.kernel);
  out.tile = named->tile;
  return out;
}

double microseconds(const Work& w, const Choice& choice, const Costs& costs) {
  return tile_cost(w, choice.tile, choice.splits, hgemm::kProcessors, costs);
}

std::optional<HalfBlocks> in_half_blocks(const Work& w) {
  const bool backward = w.pass == 'b';
  const std::int64_t channels = backward ? w.k : w.c;
  const std::int64_t taps = hgemm::blocks_of(w.product) / ceil_div(channels, kBox);
  if ((w.pass != 'f' && !backward) || w.groups != 1 || w.apart) return std::nullopt;
  if (channels % kBox != kBox / 2 || taps < 2) return std::nullopt;
  if (!sgemm::half(w.product.a_type) || w.product.c_type != w.product.a_type) return std::nullopt;
  HalfBlocks out{.work = w};
  out.work.pass = 'h';
  out.work.product.k = ceil_div(taps * channels, kBox) * kBox;
  out.microseconds = microseconds(out.work) + (backward ? kFitted.copy : 0);
  return out;
}

double least_microseconds(const Work& w) {
  const std::optional<HalfBlocks> blocks = in_half_blocks(w);
  return blocks ? std::min(microseconds(w), blocks->microseconds) : microseconds(w);
}

double microseconds(const Work& w) {
  return best(w, chosen(w, hgemm::kProcessors).splits, hgemm::kProcessors).cost;
}

const Kernel* find(const Registry& registry, char pass, Dtype operands, Dtype result, const Tile& t) {
  return registry.find(std::string("hconv_") + pass + "_" + std::string(sgemm::word_of(operands)) + "_" +
                       std::string(sgemm::word_of(result)) + "_" + name_of(t));
}

}  // namespace nervanagpu::conv_detail::hconv
