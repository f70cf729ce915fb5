#include "kernels/conv/halo/resident_choice.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "kernels/gemm/cost/h200.h"
#include "kernels/gemm/types.h"
#include "kernels/variants.h"
#include "src/ceil_div.h"

namespace nervanagpu::conv_detail::resident {
namespace {

using halo::kStep;
using hgemm::Form;
using hgemm::Tile;

constexpr std::int64_t kSteps = 4;  // of a block
constexpr std::string_view kForced = "_resident_";

// resident.sass's variants: columns, bytes of a patch's rows, blocks of filters and rows of a patch that there is room for.
struct Variant {
  int columns = 0, row = 0;
  std::int64_t blocks = 0, patch = 0;
  bool operator==(const Variant&) const = default;
};
constexpr std::string_view kLines[] = {
#include "kernels/conv/halo/resident.variants.inc"
};
constexpr auto kVariants = variants::table<Variant, kLines>([](std::string_view line, auto add) {
  using variants::number;
  add(Variant{number(line, "BN"), number(line, "ROW"), number(line, "STAGES"), number(line, "PATCH_ROWS")});
});
constexpr int kRows = 128;  // of a tile

std::int64_t steps_of(const Gather& taps, std::int64_t channels) {
  return taps.all_taps() * channels / kStep;
}

double microseconds(const halo::Work& w, const halo::Frame& f, int columns, int row, int multiprocessors,
                    const Costs& all) {
  const Costs::Resident& costs = all.resident;
  const std::int64_t tiles = ceil_div(f.places(w.images), kRows);
  const double products = static_cast<double>(steps_of(w.taps, w.channels)) * costs.step * columns / 64;
  const double patch = static_cast<double>(kRows + f.reach) * (2 * w.stored < row ? costs.part_row : costs.whole_row);
  const double tile =
      std::max({products, (products + costs.epilogue * columns / 64) / 2, patch});  // two consumer groups
  const auto waves = static_cast<double>(ceil_div(tiles, std::max(multiprocessors, 1)));
  GemmProblem g;
  g.m = f.places(w.images), g.n = w.columns, g.k = 1;
  g.a_type = Dtype::float16;
  const bool early = hgemm::starts_early(g, {Form::tiles, kRows, columns}, 1);
  return (early ? costs.early : costs.start) + h200::together(waves * tile, w.bytes * 1e-6 / all.memory);
}

std::string name_of(const Choice& c) {
  return std::to_string(c.row) + "_" + hgemm::shape_name(c.tile);
}

}  // namespace

double microseconds(const halo::Work& w, const Choice& choice, const Costs& costs) {
  return microseconds(w, choice.frame, choice.tile.bn, choice.row, hgemm::kProcessors, costs);
}

bool is_forced(const Forced& forced) {
  return forced.kernel.starts_with(kForced);
}

std::optional<Choice> choose(const halo::Work& w, int multiprocessors, const Forced& forced) {
  if (w.channels % kStep != 0) return std::nullopt;
  const std::optional<halo::Frame> frame = halo::frame_of(w);
  if (!frame) return std::nullopt;
  std::optional<Choice> out;
  for (const Variant& t : kVariants) {
    if (w.columns > t.columns || 2 * w.channels > t.row || kRows + frame->reach > t.patch) continue;
    if (steps_of(w.taps, w.channels) > kSteps * t.blocks) continue;
    const Choice c = {*frame,
                      {Form::tiles, kRows, t.columns},
                      t.row,
                      microseconds(w, *frame, t.columns, t.row, multiprocessors, kFitted)};
    if (is_forced(forced) ? forced.kernel == std::string(kForced) + name_of(c)
                          : !out || c.microseconds < out->microseconds)
      out = c;
  }
  return out;
}

const Kernel* find(const Registry& registry, Dtype operands, Dtype result, const Choice& choice) {
  return registry.find("resident_" + std::string(sgemm::word_of(operands)) + "_" + std::string(sgemm::word_of(result)) +
                       "_" + name_of(choice));
}

TensorMap patch_map(const Pixels& x, const Gather& taps, const Choice& choice) {
  TensorMap m = halo::patch_map(x, taps, choice.frame, choice.rows());
  if (choice.row == 32) {
    m.im2col->channels = kStep;
    m.swizzle = MapSwizzle::b32;
  }
  return m;
}

void put(Values& v, const Gather& g, const Choice& choice, std::int64_t channels) {
  const halo::Frame& f = choice.frame;
  const std::int64_t units = choice.row / 16;  // of a row
  const std::int64_t steps = steps_of(g, channels);
  halo::put_frame(v, g, f, choice.row * choice.rows());
  v.u32(steps / kSteps).u32(steps % kSteps);
  v.divisor(channels).divisor(g.taps[0]).u32(g.taps[1]);
  v.u32(g.move[0] * units).u32(g.move[1] * f.width * units);
}

}  // namespace nervanagpu::conv_detail::resident
