#include "kernels/conv/halo/halo_choice.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <tuple>

#include "kernels/gemm/cost/h200.h"
#include "kernels/gemm/types.h"
#include "kernels/variants.h"
#include "nervanagpu/error.hpp"
#include "src/ceil_div.h"

namespace nervanagpu::conv_detail::halo {
namespace {

using hgemm::Form;
using hgemm::Tile;

constexpr std::int64_t kBox = 32;  // rows of a box of filters

// Rows and columns, stages, room for the rows of a patch.
struct OfPass {
  int rows = 0, columns = 0, stages = 0;
  std::int64_t patch = 0;
  bool operator==(const OfPass&) const = default;
};
constexpr std::string_view kLines[] = {
#include "kernels/conv/halo/halo.variants.inc"
};
template <char kPass>
constexpr auto kOfPass = variants::table<OfPass, kLines>([](std::string_view line, auto add) {
  if (!variants::has(line, "PASS", kPass == 'f' ? "f" : "b")) return;
  using variants::number;
  add(OfPass{number(line, "BM"), number(line, "BN"), number(line, "STAGES"), number(line, "PATCH_ROWS")});
});
// halo.sass's tiles, in the order of Costs::Halo.
struct Variant {
  int rows = 0, columns = 0;
  int stages = 0;                       // of bprop: the model, of both passes, was fitted with these
  std::int64_t patch = 0, patch_b = 0;  // of fprop, of bprop
  [[nodiscard]] std::int64_t room(char pass) const { return pass == 'b' ? patch_b : patch; }
};
constexpr auto kVariants = [] {
  constexpr auto kFprop = kOfPass<'f'>;
  constexpr auto kBprop = kOfPass<'b'>;
  std::array<Variant, kFprop.size()> all{};
  for (std::size_t i = 0; i < all.size(); ++i) {
    const OfPass& f = kFprop[i];
    const auto* b =
        std::ranges::find_if(kBprop, [&](const OfPass& one) { return one.rows == f.rows && one.columns == f.columns; });
    all[i] = {f.rows, f.columns, b->stages, f.patch, b->patch};
  }
  return all;
}();
static_assert(kVariants.size() == std::tuple_size_v<decltype(Costs::Halo::step)>);

// Channels that are no multiple of 16 want zeros after them; else whatever lies there is not multiplied.
bool wants_zeros(std::int64_t channels) {
  return channels % kStep != 0;
}

std::int64_t steps_of(std::int64_t channels) {
  return ceil_div(channels, kStep);
}

// The narrowest frame: what lies beyond its end is the next line's padding.
std::int64_t side(const Gather& g, const Inner& size, std::size_t axis) {
  const std::int64_t reach = (g.taps[axis] - 1) * g.move[axis];
  return std::max({g.positions[axis], size[axis] - g.low[axis], g.positions[axis] + reach + g.low[axis]});
}

// Copies count where channels are padded with zeros.
double microseconds(const Work& w, const Frame& f, std::size_t variant, int multiprocessors, const Costs& all) {
  const Costs::Halo& costs = all.halo;
  const Variant& t = kVariants[variant];
  const std::int64_t tiles = ceil_div(f.places(w.images), t.rows) * ceil_div(w.columns, t.columns);
  const std::int64_t blocks = ceil_div(w.channels, kBlock);
  const auto taps = static_cast<double>(w.taps.all_taps());
  const double rows = static_cast<double>(ceil_div(w.columns, kBox) * kBox) /
                      static_cast<double>(ceil_div(w.columns, t.columns));  // of filters, in the mean
  const auto block = [&](std::int64_t channels) {
    return std::max(
        taps * std::max(static_cast<double>(steps_of(channels)) * costs.step[variant], costs.latency / t.stages),
        costs.latency / 2);
  };
  const std::int64_t last = w.channels - (blocks - 1) * kBlock;
  const double products = static_cast<double>(blocks - 1) * block(kBlock) + block(last);
  double copies = 0;
  if (last < kBlock && w.stored < blocks * kBlock) copies += costs.part_row * static_cast<double>(t.rows + f.reach);
  if (w.pass == 'f' && wants_zeros(w.channels)) copies += costs.part_row * taps * rows;
  const auto waves = static_cast<double>(ceil_div(tiles, std::max(multiprocessors, 1)));
  GemmProblem g;
  g.m = f.places(w.images), g.n = w.columns, g.k = blocks * kBlock;
  g.a_type = Dtype::float16;
  const bool early = hgemm::starts_early(g, {Form::tiles, t.rows, t.columns}, 1);
  return (early ? costs.early : costs.start) +
         h200::together(waves * (std::max(products, copies) + costs.tile[variant]), w.bytes * 1e-6 / all.memory);
}

constexpr std::string_view kForced = "_halo_";

}  // namespace

std::optional<Frame> frame_of(const Work& w) {
  constexpr std::int64_t kCorner = 127;
  constexpr std::int64_t kLimit = std::int64_t{1} << 31;
  constexpr std::int64_t kMostRows = 512;  // of a tile
  const Gather& g = w.taps;
  if (g.all_taps() == 1 || g.step != Inner{1, 1, 1} || g.positions[2] != 1 || g.taps[2] != 1 || w.size[2] != 1 ||
      g.low[2] != 0)
    return std::nullopt;
  Frame f = {side(g, w.size, 0), side(g, w.size, 1), 0};
  const std::array frame = {f.width, f.height};
  for (std::size_t axis = 0; axis < 2; ++axis) {
    const std::int64_t behind = frame[axis] + g.low[axis] - w.size[axis];
    if (g.low[axis] < -kCorner || g.low[axis] > kCorner || behind < -kCorner || behind > kCorner) return std::nullopt;
  }
  f.reach = (g.taps[1] - 1) * g.move[1] * f.width + (g.taps[0] - 1) * g.move[0];
  if (f.places(w.images) >= kLimit - kMostRows || w.channels >= kLimit) return std::nullopt;
  return f;
}

bool is_forced(const Forced& forced) {
  return forced.kernel.starts_with(kForced);
}

std::optional<Choice> choose(const Work& w, int multiprocessors, const Forced& forced) {
  const std::optional<Frame> frame = frame_of(w);
  if (!frame) return std::nullopt;
  std::optional<Choice> out;
  for (std::size_t i = 0; i < kVariants.size(); ++i) {
    const Variant& t = kVariants[i];
    if (t.rows + frame->reach > t.room(w.pass)) continue;
    const Choice c = {*frame, {Form::tiles, t.rows, t.columns}, microseconds(w, *frame, i, multiprocessors, kFitted)};
    if (is_forced(forced) ? forced.kernel == std::string(kForced) + hgemm::shape_name(c.tile)
                          : !out || c.microseconds < out->microseconds)
      out = c;
  }
  return out;
}

double microseconds(const Work& w, const Choice& choice, const Costs& costs) {
  const auto* const at = std::ranges::find_if(
      kVariants, [&](const Variant& t) { return t.rows == choice.tile.bm && t.columns == choice.tile.bn; });
  return microseconds(w, choice.frame, static_cast<std::size_t>(at - kVariants.begin()), hgemm::kProcessors, costs);
}

std::optional<Work> work_of(ConvPass pass, const ConvProblem& p, const Gather& taps) {
  const bool backward = pass == ConvPass::bprop;
  const auto size = backward ? p.out() : p.in;
  const std::int64_t channels = (backward ? p.k : p.c) / p.groups;
  const std::int64_t each = sgemm::byte(p.x_type) ? 2 : 1;  // elements of a channel
  if (channels % each != 0) return std::nullopt;
  return Work{
      backward ? 'b' : 'f', taps, {size[2], size[1], size[0]}, p.n, channels / each, (backward ? p.c : p.k) / p.groups};
}

bool takes(ConvPass pass, const ConvProblem& p, const Forced& forced) {
  const auto all = gathers(pass, p);
  return all && pass != ConvPass::update && std::ranges::all_of(*all, [&](const Gather& g) {
           const std::optional<Work> w = work_of(pass, p, g);
           return w && choose(*w, hgemm::kProcessors, forced);
         });
}

const Kernel* find(const Registry& registry, char pass, Dtype operands, Dtype result, const Tile& t) {
  return registry.find(std::string("halo_") + pass + "_" + std::string(sgemm::word_of(operands)) + "_" +
                       std::string(sgemm::word_of(result)) + "_" + hgemm::shape_name(t));
}

bool flat(char pass, std::int64_t channels) {
  return pass == 'f' && !wants_zeros(channels);
}

std::int64_t last_steps(std::int64_t channels) {
  return steps_of(channels - (ceil_div(channels, kBlock) - 1) * kBlock);
}

TensorMap patch_map(const Pixels& x, const Gather& taps, const Frame& frame, std::int64_t rows) {
  Gather g = taps;
  g.positions = {frame.width, frame.height, 1};
  return columns_map(x, g, false, static_cast<std::uint32_t>(rows));
}

TensorMap filters_map(char pass, const Pixels& w, std::int64_t rows) {
  TensorMap m = conv_detail::filters_map(w, static_cast<std::uint32_t>(rows));
  if (flat(pass, w.channels)) {
    m.sizes[0] *= m.sizes[1];
    m.sizes[1] = 1;
  }
  return m;
}

void put_frame(Values& v, const Gather& g, const Frame& f, std::int64_t patch_bytes) {
  v.divisor(f.width).divisor(f.height).u32(g.positions[0]).u32(g.positions[1]).s32(g.low[0]).s32(g.low[1]);
  v.u32(patch_bytes);
}

void put(Values& v, char pass, const Gather& g, const Choice& choice, std::int64_t channels) {
  const Frame& f = choice.frame;
  const std::int64_t shift = g.move[0] * kRowUnits;
  put_frame(v, g, f, kRowBytes * choice.rows());
  v.u32(last_steps(channels)).u32(g.taps[0]).u32(g.taps[1]);
  v.u32(shift).s32(g.move[1] * f.width * kRowUnits - g.taps[0] * shift);
  v.s32(g.tap0).s32(g.tap_step[0]).s32(g.tap_step[1] - g.taps[0] * g.tap_step[0]);
  v.u32(flat(pass, channels) ? channels : 0).u32(flat(pass, channels) ? 0 : 1);
}

}  // namespace nervanagpu::conv_detail::halo
