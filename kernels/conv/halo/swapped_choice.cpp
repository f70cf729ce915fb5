#include "kernels/conv/halo/swapped_choice.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "kernels/gemm/cost/h200.h"
#include "kernels/gemm/types.h"
#include "kernels/variants.h"
#include "src/ceil_div.h"

namespace nervanagpu::conv_detail::swapped {
namespace {

using hgemm::Form;
using hgemm::Tile;

constexpr std::int64_t kSums = 64;  // rows of a product: columns of the result at so many taps
constexpr std::string_view kForced = "_swapped_";

// halo_swapped.sass's variants: taps and places of a product, stages, room for the rows of a patch.
struct Variant {
  std::int64_t taps = 1, places = 0;
  int stages = 1;
  std::int64_t patch = 0;
  [[nodiscard]] std::int64_t columns() const { return kSums / taps; }
  [[nodiscard]] std::int64_t rows() const { return 2 * (places - taps + 1); }  // of a tile
  [[nodiscard]] Tile tile() const {
    constexpr std::int64_t kLeast = 32;  // columns of an epilogue
    return {Form::tiles, static_cast<int>(rows()), static_cast<int>(std::max(columns(), kLeast))};
  }
  bool operator==(const Variant&) const = default;
};
constexpr std::string_view kLines[] = {
#include "kernels/conv/halo/halo_swapped.variants.inc"
};
constexpr auto kVariants = variants::table<Variant, kLines>([](std::string_view line, auto add) {
  using variants::number;
  add(Variant{number(line, "TAPS"), number(line, "N"), number(line, "STAGES"), number(line, "PATCH_ROWS")});
});

// Products along a line of the filter.
std::int64_t products_of(const Gather& g, std::int64_t taps) {
  return ceil_div(g.taps[0], taps);
}

// Rows that the products of both warpgroups meet.
std::int64_t patch_rows(const Variant& t, const halo::Frame& f, const Gather& g) {
  const std::int64_t line = (g.taps[1] - 1) * g.move[1] * f.width;
  return t.rows() / 2 + t.places + line + (products_of(g, t.taps) - 1) * t.taps * g.move[0];
}

double microseconds(const halo::Work& w, const halo::Frame& f, const Variant& t, int multiprocessors,
                    const Costs& all) {
  const Costs::Swapped& costs = all.swapped;
  constexpr std::int64_t kChunk = 64;  // places
  const double step = costs.place * static_cast<double>(t.places);
  constexpr std::int64_t kVector = 8;  // columns that a lane stores
  const double chunk = costs.chunk + (w.columns % kVector == 0 ? 0 : costs.any);
  const double last = costs.tile + chunk * static_cast<double>(ceil_div(t.places, kChunk));
  const std::int64_t tiles = ceil_div(f.places(w.images), t.rows());
  const std::int64_t blocks = ceil_div(w.channels, halo::kBlock);
  const auto products = static_cast<double>(w.taps.taps[1] * products_of(w.taps, t.taps));
  const auto block = [&](std::int64_t channels) {
    const auto steps = static_cast<double>(ceil_div(channels, halo::kStep));
    return products * std::max(steps * step, costs.latency / t.stages);
  };
  const std::int64_t rest = w.channels - (blocks - 1) * halo::kBlock;
  const double sums = static_cast<double>(blocks - 1) * block(halo::kBlock) + block(rest);
  double copies = rest < halo::kBlock ? all.halo.part_row * static_cast<double>(patch_rows(t, f, w.taps)) : 0;
  if (!halo::flat('f', w.channels)) copies += costs.zeros * products * static_cast<double>(kSums);
  const auto waves = static_cast<double>(ceil_div(tiles, std::max(multiprocessors, 1)));
  return costs.start - (w.pass == 'b' ? costs.hidden : 0) +
         h200::together(waves * (std::max(sums, copies) + last), w.bytes * 1e-6 / all.memory);
}

// bprop's filters are copied before.
double copy_of(const halo::Work& w) {
  const auto elements = static_cast<double>(w.columns * w.channels * w.taps.all_taps());
  return w.pass == 'b' ? copy_microseconds(2 * elements, kFitted) : 0;
}

bool takes(const Variant& t, const halo::Work& w, const halo::Frame& f) {
  if (w.columns > t.columns() || patch_rows(t, f, w.taps) > t.patch) return false;
  return t.taps == 1 || (w.taps.taps[0] > 1 && w.taps.move[0] == 1);
}

std::string name_of(const Tile& tile) {
  return std::string(kForced) + hgemm::shape_name(tile);
}

}  // namespace

bool is_forced(const Forced& forced) {
  return forced.kernel.starts_with(kForced);
}

std::optional<Choice> choose(const halo::Work& w, int multiprocessors, std::int64_t taps, const Forced& forced) {
  const std::optional<halo::Frame> frame = halo::frame_of(w);
  if (!frame) return std::nullopt;
  std::optional<Choice> out;
  for (const Variant& t : kVariants) {
    if (taps != 0 && t.taps != taps) continue;
    if (!takes(t, w, *frame)) continue;
    const Choice c = {*frame, t.tile(), t.taps, patch_rows(t, *frame, w.taps),
                      copy_of(w) + microseconds(w, *frame, t, multiprocessors, kFitted)};
    if (is_forced(forced) ? forced.kernel == name_of(c.tile) : !out || c.microseconds < out->microseconds) out = c;
  }
  return out;
}

double microseconds(const halo::Work& w, const Choice& choice, const Costs& costs) {
  const auto* const at = std::ranges::find_if(kVariants, [&](const Variant& t) { return t.tile() == choice.tile; });
  return microseconds(w, choice.frame, *at, hgemm::kProcessors, costs);
}

const Kernel* find(const Registry& registry, Dtype operands, Dtype result, const Tile& tile) {
  return registry.find("halo_swapped_" + std::string(sgemm::word_of(operands)) + "_" +
                       std::string(sgemm::word_of(result)) + "_" + hgemm::shape_name(tile));
}

TensorMap patch_map(const Pixels& x, const Gather& taps, const Choice& choice) {
  return halo::patch_map(x, taps, choice.frame, choice.patch_rows);
}

TensorMap filters_map(const Pixels& w, const Choice& choice) {
  return halo::filters_map('f', w, kSums / std::max<std::int64_t>(2, choice.taps));
}

void put(Values& v, const Gather& g, const Choice& choice, const Pixels& x, const Pixels& w) {
  const std::int64_t channels = w.channels;
  const halo::Frame& f = choice.frame;
  const std::int64_t products = products_of(g, choice.taps);
  const std::int64_t shift = choice.taps * g.move[0] * halo::kRowUnits;
  const bool flat = halo::flat('f', channels);
  halo::put_frame(v, g, f, halo::kRowBytes * choice.patch_rows);
  v.u32(halo::last_steps(channels)).u32(products).u32(g.taps[1]);
  v.u32(shift).s32(g.move[1] * f.width * halo::kRowUnits - products * shift);
  v.u32(g.taps[0] - (products - 1) * choice.taps).u32(g.taps[0]);
  v.u32(flat ? channels : 0).u32(flat ? 0 : 1);
  constexpr std::int64_t kBytes = 2;  // of an element
  v.u64(x.address).u64(w.address).u32(x.size[0]).u32(x.size[1]).u32(channels);
  v.u32(kBytes * x.pitch).u32(kBytes * (w.pitch - channels)).s32(g.move[1]);
}

}  // namespace nervanagpu::conv_detail::swapped
