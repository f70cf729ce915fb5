#include "kernels/conv/narrow/narrow_update_choice.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "kernels/conv/few_channels.h"
#include "kernels/conv/gather/gconv_choice.h"
#include "kernels/conv/halo/cells.h"
#include "kernels/gemm/cost/h200.h"
#include "kernels/gemm/types.h"
#include "kernels/variants.h"
#include "src/ceil_div.h"

namespace nervanagpu::conv_detail::narrow_update {
namespace {

constexpr std::string_view kForced = "_narrowupdate_";
constexpr std::int64_t kTile = 64;  // rows, and columns of dy
constexpr std::int64_t kEight = 8;  // bytes of a pixel; neighbours of a tile, and its lines

// narrow_update.sass's variants: bytes of a row, taps along the height, boxes of 64 columns of dy, groups of pixels, bytes of a
// patch, and of its lines of x as they lie.
struct Variant {
  std::int64_t row = 0, taps = 0, boxes = 0, groups = 0, patch = 0, raw = 0;
  bool operator==(const Variant&) const = default;
};
constexpr std::string_view kLines[] = {
#include "kernels/conv/narrow/narrow_update.variants.inc"
};
static_assert(variants::let(kLines, "GROUPS") == "CONSUMER_GROUPS == 1 ? 1 : TR == 5 ? 3 : 4");
constexpr auto kVariants = variants::table<Variant, kLines>([](std::string_view line, auto add) {
  using variants::number;
  if (!variants::text(line, "RAW").empty()) return;  // of taps that another line has, too
  const int row = number(line, "ROW");
  const bool alone = number(line, "CONSUMER_GROUPS") == 1;
  variants::each(line, "TR", [&](std::string_view digits) {
    const int taps = number(digits);
    const int groups = alone ? number(line, "WGS") : taps == 5 ? 3 : 4;
    add(Variant{row, taps, number(line, "MT"), groups, number(line, "PATCH_ROWS") * row,
                variants::number_beside(kLines, line, {"ROW", "TR"}, "RAW")});
  });
});

}  // namespace

bool is_forced(const Forced& forced) {
  return forced.kernel.starts_with(kForced);
}

double microseconds(const ConvProblem& p, const Choice& c, const Costs& all) {
  constexpr double kClock = 1755;
  constexpr double kSteps = 4;  // of 16 rows
  constexpr std::uint64_t kAligned = 256;
  const Costs::HaloUpdate& like = all.halo_update;
  const Costs::NarrowUpdate& costs = all.narrow_update;
  const double columns = static_cast<double>(c.taps * c.patch.row) / 2;
  const double product = std::max(columns * like.column, like.reading + columns * like.wide) / kClock;
  const std::int64_t boxes = ceil_div(ceil_div(c.patch.columns, kTile), c.column_ctas);
  const double products = kSteps * static_cast<double>(boxes * c.groups) * product;
  const narrow::Load load = narrow::load_of(p, c.patch, kAligned);
  const double pass = load == narrow::Load::boxes   ? 0
                      : load == narrow::Load::words ? costs.words
                                                    : costs.any + costs.channel * static_cast<double>(p.c);
  const double loads = static_cast<double>(narrow::passes_of(c.patch)) * pass / (c.patch.row == 32 ? 3 : 6);
  const double tile = std::max(products, loads) + costs.unit * static_cast<double>(c.patch.lines * c.patch.units);
  const auto waves = static_cast<double>(ceil_div(c.patch.tiles, c.ctas));
  const double bytes = 2.0 * static_cast<double>(c.column_ctas * p.x_elements() + p.y_elements());
  return costs.start + h200::together(waves * tile, bytes * 1e-6 / costs.memory);
}

std::optional<Choice> choose(const ConvProblem& p, const Forced& forced) {
  constexpr std::int64_t kMostSums = std::int64_t{1} << 31;  // bytes
  const std::optional<narrow::Choice> rows = narrow::rows_of(p);
  if (!rows || (rows->pairs && p.k % kEight != 0)) return std::nullopt;
  std::optional<Choice> best;
  for (const Variant& v : kVariants) {
    if (v.row != rows->row || p.filter[1] > v.taps) continue;
    Choice c = {.patch = *rows, .taps = v.taps};
    c.patch.lines = (kEight - 1) * p.stride[1] + v.taps;
    c.patch.room = v.patch, c.patch.raw_room = v.raw;
    c.groups = ceil_div(p.filter[2] + (rows->pairs ? 1 : 0), v.row / kEight);
    if (c.groups > v.groups || !narrow::fits_room(c.patch)) continue;
    if (is_forced(forced) && forced.kernel != "_" + name_of(c)) continue;
    c.column_ctas = ceil_div(rows->columns, v.boxes * kTile);
    const std::int64_t room = std::max<std::int64_t>(hgemm::kProcessors / c.column_ctas, 1);
    c.ctas = std::min(forced.splits > 0 ? forced.splits : room, rows->tiles);
    if (c.column_ctas >= (1 << 16) || c.sums_bytes(p) >= kMostSums) continue;
    c.microseconds = microseconds(p, c);
    if (!best || c.microseconds < best->microseconds) best = c;
  }
  return best;
}

bool pays(const ConvProblem& p, const Choice& c) {
  if (!gconv::possible(ConvPass::update, p)) return true;
  double others = gconv::microseconds(ConvPass::update, p);
  if (const auto cut = cells::cells_of(ConvPass::update, p))
    others = std::min(others, cells::update_microseconds(*cut, p));
  return c.microseconds < others;
}

std::string name_of(const Choice& c) {
  return "narrowupdate_" + std::to_string(c.patch.row) + "_" + std::to_string(c.taps);
}

const Kernel* find(const Registry& registry, Dtype operands, narrow::Load load, const Choice& c) {
  return registry.find("narrow_update_" + std::string(sgemm::word_of(operands)) + "_" +
                       std::string(narrow::name_of(load)) + "_" + std::to_string(c.patch.row) + "_" +
                       std::to_string(c.taps));
}

void put(Values& v, const ConvProblem& p, const Choice& c, std::uint64_t sums, std::uint64_t dy, std::int64_t pitch,
         std::uint64_t x, narrow::Load load) {
  v.u64(sums).u32(c.patch.columns).u32(p.k).u32(c.patch.tiles).u32(p.filter[1]).u32(p.filter[2]).u32(c.groups);
  v.u32(p.stride[1]).u64(dy).u32(2 * pitch).u32(c.folds() ? 1 : 0);
  narrow::put_patches(v, p, c.patch, x, load);
}

Grid grid(const Choice& c) {
  return {static_cast<std::uint32_t>(c.ctas), static_cast<std::uint32_t>(c.column_ctas), 1};
}

}  // namespace nervanagpu::conv_detail::narrow_update
