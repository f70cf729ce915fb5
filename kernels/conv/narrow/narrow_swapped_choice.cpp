#include "kernels/conv/narrow/narrow_swapped_choice.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "kernels/gemm/cost/h200.h"
#include "kernels/gemm/types.h"
#include "kernels/variants.h"
#include "src/ceil_div.h"

namespace nervanagpu::conv_detail::narrow_swapped {
namespace {

constexpr std::string_view kForced = "_narrowswapped_";
constexpr std::int64_t kRows = 64;  // filters
constexpr std::int64_t kEight = 8;
constexpr std::int64_t kUnitsOfPieces = 2;
constexpr std::int64_t kPiecesAtOnce = 96;  // of a warp

// narrow_swapped.sass's variants: bytes of a row, rows and columns of a tile's sums, steps at most, bytes of a patch, and of its
// lines of x.
struct Variant {
  std::int64_t row = 0;
  int m = 0, n = 0;
  std::int64_t steps = 0, patch = 0, raw = 0;
  bool operator==(const Variant&) const = default;
};
constexpr std::string_view kLines[] = {
#include "kernels/conv/narrow/narrow_swapped.variants.inc"
};
constexpr auto kVariants = variants::table<Variant, kLines>([](std::string_view line, auto add) {
  using variants::number;
  const int row = number(line, "ROW");
  add(Variant{row, number(line, "M"), number(line, "N"), number(line, "STEPS"), number(line, "PATCH_ROWS") * row,
              number(line, "RAW")});
});

std::string tile_of(const narrow::Choice& c) {
  return std::to_string(c.tile.bm) + "x" + std::to_string(c.tile.bn);
}
std::string name_of(const narrow::Choice& c) {
  return std::to_string(c.row) + "_" + tile_of(c);
}

// y: 64 channels of 8 neighbours of a tile's lines; of pairs, of either of each, or of windows of 2 x 2.
TensorMap results_map(const ConvProblem& p, const narrow::Choice& c, const Operands& o) {
  const std::int64_t window = o.pooled ? 2 : 1, of_a_row = c.pairs && !o.pooled ? 2 : 1, lines = p.out()[1] / window;
  const std::int64_t row = o.pitch * of_a_row;
  const Shape strides = {row * c.out_w * lines, row * c.out_w, row, o.pitch, 1};
  const Tensor rows = Tensor::wrap(o.y, {p.n, lines, c.out_w, of_a_row, p.k}, strides, p.y_type);
  TensorMap m = TensorMap::of(rows, {1, static_cast<std::uint32_t>(c.tile_lines / window), kEight,
                                     static_cast<std::uint32_t>(of_a_row), kRows});
  m.swizzle = MapSwizzle::b128;
  return m;
}

// The kernel's parameters after its tensor maps.
void put(Values& v, const ConvProblem& p, const narrow::Choice& c, const Operands& o, narrow::Load load) {
  constexpr std::uint32_t kRelu = 2, kBias = 4, kBiasOf16Bits = 8;
  const bool wide = o.bias_type == Dtype::float32;
  const std::uint32_t flags = (o.relu ? kRelu : 0) | (o.bias == 0 ? 0 : kBias | (wide ? 0 : kBiasOf16Bits));
  v.u64(o.filters).u64(o.bias).u32(p.k).u32(c.tiles).u32(c.steps).divisor(c.groups);
  v.u32(narrow::descriptor_of(p, c, load)).u32(static_cast<std::int64_t>(flags));
  if (o.pooled) v.u64(o.codes).u32(c.out_w).u32(p.out()[1] / 2);
  narrow::put_patches(v, p, c, o.x, load);
}

}  // namespace

bool is_forced(const Forced& forced) {
  return forced.kernel.starts_with(kForced);
}

std::int64_t filter_bytes(const narrow::Choice& c) {
  return 2 * (c.pairs ? 2 : 1) * kRows * c.depth();
}

std::optional<narrow::Choice> choose(const ConvProblem& p, const Forced& forced) {
  std::optional<narrow::Choice> c = narrow::rows_of(p);
  std::optional<narrow::Choice> best;
  if (!c || p.k > kRows || p.k % kEight != 0) return best;
  for (const Variant& v : kVariants) {
    if (v.row != c->row || (v.m > kRows) != c->pairs || c->steps > v.steps) continue;
    c->tile = {hgemm::Form::tiles, v.m, v.n};
    narrow::set_tiles(p, *c, v.n / kEight);
    c->room = v.patch, c->raw_room = v.raw;
    if (!narrow::fits_room(*c)) continue;
    c->microseconds = narrow_swapped::microseconds(p, *c);
    if (is_forced(forced) ? forced.kernel == std::string(kForced) + name_of(*c)
                          : !best || c->microseconds < best->microseconds)
      best = c;
  }
  return best;
}

double microseconds(const ConvProblem& p, const narrow::Choice& c, const Costs& all) {
  const Costs::NarrowSwapped& costs = all.narrow_swapped;
  const double wide = static_cast<double>(c.tile.bm) / kRows * static_cast<double>(c.tile.bn) / kRows;
  const std::int64_t pieces = c.lines * ceil_div(c.units, kUnitsOfPieces);
  // Both use up shared memory's time.
  const double tile = static_cast<double>(c.steps) * costs.step * wide +
                      static_cast<double>(ceil_div(pieces, kPiecesAtOnce)) * costs.load;
  const auto waves = static_cast<double>(ceil_div(c.tiles, hgemm::kProcessors));
  const double bytes = 2.0 * static_cast<double>(p.x_elements() + p.y_elements());
  return costs.start + h200::together(waves * tile, bytes * 1e-6 / all.memory);
}

std::optional<narrow::Choice> choose_pooled(const ConvProblem& p) {
  const std::optional<narrow::Choice> c = choose(p);
  return c && c->pairs && p.out()[1] > 1 ? c : std::nullopt;
}

std::string launched(const narrow::Choice& c) {
  return std::string(kForced).substr(1) + name_of(c);
}

bool stores(const GemmProblem& g) {
  return narrow::has_rows_of_units(g) && g.alpha == 1 && g.beta == 0 && g.mask == 0 && !g.rounding.stochastic &&
         g.activation == GemmActivation::none;
}

const Kernel* find(const Registry& registry, Dtype operands, narrow::Load load, const narrow::Choice& c, bool pooled) {
  return registry.find("narrow_swapped_" + std::string(sgemm::word_of(operands)) + "_" +
                       std::string(narrow::name_of(load)) + "_" + std::to_string(c.row) +
                       (pooled ? "_pool_" : "_all_") + tile_of(c));
}

void launch(Device& device, const Kernel& kernel, const ConvProblem& p, const narrow::Choice& c, const Operands& o,
            narrow::Load load, const Stream& stream) {
  narrow::copy_filters(device, p, c, o.w, o.filters, true, stream);
  Values v;
  v.map(device.encode_tensor_map(results_map(p, c, o)));
  v.map(device.encode_tensor_map(narrow::lines_map(p, c, o.x)));
  put(v, p, c, o, load);
  const auto ctas = static_cast<std::uint32_t>(std::min<std::int64_t>(c.tiles, device.info().multiprocessors));
  v.launch(device, kernel, {ctas, 1, 1}, stream.handle());
}

}  // namespace nervanagpu::conv_detail::narrow_swapped
