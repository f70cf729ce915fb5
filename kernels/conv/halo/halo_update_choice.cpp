#include "kernels/conv/halo/halo_update_choice.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "kernels/gemm/cost/h200.h"
#include "kernels/gemm/cost/hgemm_cost.h"
#include "kernels/gemm/types.h"
#include "kernels/variants.h"
#include "src/ceil_div.h"

namespace nervanagpu::conv_detail::halo_update {
namespace {

constexpr std::int64_t kBlock = 128;         // places
constexpr std::int64_t kPlane = 16;          // channels
constexpr std::int64_t kFilters = 64;        // M of a product,
constexpr std::int64_t kGroup = 16;          // and its k
constexpr std::int64_t kConsumerGroups = 2;  // warpgroups that share units

// Taps along the width that a product has, and units of a warpgroup.
struct Variant {
  int taps = 0;
  std::int64_t units = 0;
  bool operator==(const Variant&) const = default;
};
constexpr std::string_view kLines[] = {
#include "kernels/conv/halo/halo_update.variants.inc"
};
constexpr auto kVariants = variants::table<Variant, kLines>([](std::string_view line, auto add) {
  variants::each(line, "TS", [&](std::string_view taps) {
    add(Variant{variants::number(taps), variants::number(line, "U")});
  });
});
constexpr std::int64_t kPlanes = variants::number(variants::let(kLines, "PLANES"));
constexpr std::int64_t kCircles = variants::number(variants::let(kLines, "XBLOCKS"));
constexpr std::int64_t kLongest = variants::number(variants::let(kLines, "MOST"));
constexpr std::int64_t kStages = variants::number(variants::let(kLines, "STAGES"));

constexpr std::string_view kForced = "_haloupdate_";

// The longest circle of so many planes.
std::int64_t circle_of(std::int64_t planes) {
  std::int64_t blocks = kLongest;
  while (planes * (blocks + 1) > kCircles) blocks /= 2;
  return blocks;
}

}  // namespace

// The copy engine's rows; HGMMA's clocks of columns, or of reading A and B.
double microseconds(const Work& w, const Choice& c, const Costs& all) {
  constexpr double kClock = 1755;
  const Costs::HaloUpdate& costs = all.halo_update;
  const double dy = w.filters % kFilters == 0 ? costs.row : costs.part_row;
  const double x = w.channels % kPlane == 0 ? costs.row : costs.part_row;
  const auto planes = static_cast<double>(c.planes);
  const double again = 1 + 1 / static_cast<double>(c.circle);
  const double copies = static_cast<double>(kBlock) * (dy + x * planes * again);
  const double columns = static_cast<double>(kPlane * c.taps);
  const double product = std::max(columns * costs.column, costs.reading + columns * costs.wide) / kClock;
  const std::int64_t groups = kBlock / kGroup;
  const double products = static_cast<double>(groups * c.lines * c.planes) * product;
  const auto blocks = static_cast<double>(c.split_blocks);
  const double filling = static_cast<double>(c.ahead * kBlock) * x * planes;
  const auto ctas = static_cast<double>(c.splits() * c.tiles * ceil_div(w.filters, kFilters));
  const double waves = std::max(1.0, ctas / hgemm::kProcessors);
  const auto sums = static_cast<double>(c.sums_bytes(w));
  return costs.start +
         h200::together(waves * (blocks * std::max(copies, products) + filling), w.bytes * 1e-6 / all.memory) +
         costs.sums * sums * 1e-6;
}

bool is_forced(const Forced& forced) {
  return forced.kernel.starts_with(kForced);
}

std::optional<Choice> choose(const Work& w, const Forced& forced) {
  constexpr std::int64_t kCorner = 127;
  constexpr std::int64_t kMost = std::int64_t{1} << 24;      // blocks, and places of a line
  constexpr std::int64_t kMostSums = std::int64_t{1} << 31;  // elements
  const Gather& g = w.taps;
  const std::optional<halo::Frame> frame = halo::frame_of({'f', g, w.size, w.images, w.channels, w.filters});
  if (!frame || frame->width - g.positions[0] > kCorner || frame->height - g.positions[1] > kCorner)
    return std::nullopt;
  const std::int64_t line = g.move[1] * frame->width;
  const std::int64_t planes = ceil_div(w.channels, kPlane);
  const std::int64_t filter_tiles = ceil_div(w.filters, kFilters);
  if (line >= kMost || filter_tiles >= (1 << 16) || planes >= (1 << 16)) return std::nullopt;
  std::optional<Choice> out;
  for (const Variant& t : kVariants) {
    const std::int64_t apart = (t.taps - 1) * g.move[0];
    if (g.taps[0] > t.taps || apart + kGroup - 1 > kBlock) continue;
    const std::string variant = std::string(kForced) + std::to_string(t.taps);
    const bool any = !is_forced(forced) || forced.kernel == variant;
    if (!any && !forced.kernel.starts_with(variant + "_")) continue;
    for (std::int64_t each = 1; each <= std::min(planes, kPlanes); ++each) {
      for (std::int64_t lines = 1; lines <= g.taps[1] && lines * each <= kConsumerGroups * t.units; ++lines) {
        Choice c = {.frame = *frame, .taps = t.taps, .lines = lines, .planes = each};
        if (!any && forced.kernel != "_" + name_of(c)) continue;
        c.plane_tiles = ceil_div(planes, each);
        c.tiles = c.plane_tiles * ceil_div(g.taps[1], lines);
        c.circle = circle_of(each);
        c.ahead = ceil_div((lines - 1) * line + apart, kBlock);
        c.depth = planes * kPlane;
        c.blocks = ceil_div(frame->places(w.images), kBlock);
        if (c.ahead + 2 > c.circle || c.blocks >= kMost || c.tiles >= (1 << 16)) continue;
        const std::int64_t room = std::max<std::int64_t>(hgemm::kProcessors / (c.tiles * filter_tiles), 1);
        c.split_blocks = ceil_div(c.blocks, std::min(forced.splits > 0 ? forced.splits : room, c.blocks));
        if (c.splits() * w.filters * g.all_taps() * c.depth >= kMostSums) continue;
        c.microseconds = microseconds(w, c);
        if (!out || c.microseconds < out->microseconds) out = c;
      }
    }
  }
  return out;
}

std::string name_of(const Choice& c) {
  return "haloupdate_" + std::to_string(c.taps) + "_" + std::to_string(c.lines) + "x" + std::to_string(c.planes);
}

const Kernel* find(const Registry& registry, Dtype operands, const Choice& choice) {
  return registry.find("halo_update_" + std::string(sgemm::word_of(operands)) + "_" + std::to_string(choice.taps));
}

TensorMap dy_map(const Pixels& dy, const Gather& taps, const Choice& choice) {
  Gather g = taps;
  g.positions = {choice.frame.width, choice.frame.height, 1};
  g.low = {0, 0, 0};
  return columns_map(dy, g, false, kBlock);
}

TensorMap x_map(const Pixels& x, const Gather& taps, const Choice& choice) {
  Gather g = taps;
  g.positions = {choice.frame.width, choice.frame.height, 1};
  TensorMap m = columns_map(x, g, false, kBlock);
  m.im2col->channels = kPlane;
  m.swizzle = MapSwizzle::b32;
  return m;
}

void put(Values& v, const Work& w, const Choice& c, std::uint64_t sums, const Pixels& dy, const Pixels& x) {
  constexpr std::int64_t kRowUnits = 2;  // of 16 bytes
  const Gather& g = w.taps;
  v.u64(sums).u32(w.filters).u32(c.depth).u32(c.blocks).u32(c.split_blocks);
  v.divisor(c.frame.width).divisor(c.frame.height).s32(g.low[0]).s32(g.low[1]).u32(g.move[1] * c.frame.width);
  v.u32(g.taps[0]).u32(g.taps[1]).u32(c.lines).divisor(c.planes).divisor(c.plane_tiles);
  v.u32(c.circle).u32(c.ahead).u32(std::min(c.circle, c.ahead + kStages)).u32(kRowUnits * g.move[0] << 16);
  v.u64(dy.address).u64(x.address).u32(2 * dy.pitch).u32(2 * x.pitch).u32(w.channels).u32(w.images);
  v.u32(g.positions[0]).u32(g.positions[1]).u32(x.size[0]).u32(x.size[1]).u32(g.move[0]).u32(g.move[1]);
}

Grid grid(const Work& w, const Choice& c) {
  return {static_cast<std::uint32_t>(c.splits()), static_cast<std::uint32_t>(c.tiles),
          static_cast<std::uint32_t>(ceil_div(w.filters, kFilters))};
}

}  // namespace nervanagpu::conv_detail::halo_update
