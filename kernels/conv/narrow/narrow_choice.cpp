#include "kernels/conv/narrow/narrow_choice.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "kernels/conv/few_channels.h"
#include "kernels/conv/gather/gconv_choice.h"
#include "kernels/conv/halo/cells.h"
#include "kernels/conv/implicit/implicit_gemm.h"
#include "kernels/gemm/cost/h200.h"
#include "kernels/gemm/types.h"
#include "kernels/variants.h"
#include "nervanagpu/tensor.hpp"
#include "src/ceil_div.h"

namespace nervanagpu::conv_detail::narrow {
namespace {

constexpr std::string_view kForced = "_narrow_";
constexpr std::int64_t kMostChannels = 4;
constexpr std::int64_t kEight = 8;  // lines of a tile, and rows of each
constexpr std::int64_t kSteps = 4;  // of a block of filters
constexpr std::int64_t kUnit = 16;  // bytes
constexpr std::int64_t kLanes = 32;
constexpr std::int64_t kRows = 64;     // of a product
constexpr double kConsumerGroups = 3;  // of consumers, which take tiles in turn
constexpr std::int64_t kThree = 3;     // channels that are loaded by lines or words

// narrow.sass's variants: bytes of a row, columns, blocks of filters, bytes of a patch, and of its lines of x as they lie.
struct Variant {
  std::int64_t row = 0;
  int columns = 0;
  std::int64_t blocks = 0, patch = 0, raw = 0;
  bool operator==(const Variant&) const = default;
};
constexpr std::string_view kLines[] = {
#include "kernels/conv/narrow/narrow.variants.inc"
};
constexpr auto kVariants = variants::table<Variant, kLines>([](std::string_view line, auto add) {
  using variants::number;
  if (!variants::text(line, "RAW").empty()) return;  // of a tile that another line has, too
  const int row = number(line, "ROW");
  add(Variant{row, number(line, "BN"), number(line, "STAGES"), number(line, "PATCH_ROWS") * row,
              variants::number_beside(kLines, line, {"ROW", "BN"}, "RAW")});
});

std::string name_of(const Choice& c) {
  return std::to_string(c.row) + "_" + std::to_string(c.tile.bn);
}

// Of 16 bytes in a patch's line: lines as they lie are whole pieces of 16 bytes, too.
std::int64_t units_of(const Choice& c, Load load) {
  const std::int64_t whole = load == Load::boxes ? 4 : 2;
  return ceil_div(c.units, whole) * whole;
}
// Elements of a box's line, which begins at a multiple of eight.
std::int64_t box_of(const Choice& c) {
  return 2 * kThree * units_of(c, Load::boxes) + kEight;
}
std::int64_t raw_bytes(const Choice& c) {
  return 2 * box_of(c) * c.lines;
}

// The layout is channels last: of others the result is a copy's.
std::int64_t result_pitch(const ConvProblem& p) {
  return p.layout == Layout::channels_last ? pitch_of(p, Role::y) : ceil_div(p.k, kEight) * kEight;
}

// Extents and offsets that the kernel's numbers hold.
bool expressible(const ConvProblem& p, const Choice& c) {
  constexpr std::int64_t kFar = std::int64_t{1} << 26;
  constexpr std::int64_t kMostBytes = std::int64_t{1} << 31;
  constexpr std::int64_t kMostTiles = std::int64_t{1} << 24;
  constexpr std::int64_t kMostOffset = std::int64_t{1} << 14;  // of a descriptor, in units
  constexpr std::int64_t kMostPadding = std::int64_t{1} << 24;
  if (p.pad[1] >= kMostPadding || p.pad[2] >= kMostPadding) return false;
  for (const std::size_t axis : {1U, 2U}) {
    const std::int64_t reach = p.in[axis] + 2 * p.pad[axis] + kEight * p.stride[axis] + p.filter[axis];
    if (reach >= kFar) return false;
  }
  const Shape strides = laid_out(p, Role::x).strides;
  std::int64_t image = 0;
  for (const std::size_t axis : {1U, 2U})
    image += (p.in[axis] + 2 * p.pad[axis] + kEight * p.stride[axis] + p.filter[axis]) * strides[axis + 1];
  if (2 * (image + kMostChannels * strides[4]) >= kMostBytes) return false;
  const Shape filters = laid_out(p, Role::w).strides;
  if (2 * std::max({filters[0], filters[2], filters[3], filters[4]}) >= kMostBytes) return false;
  return c.tiles < kMostTiles && p.n * p.out()[1] * c.out_w < kMostBytes && p.stride[1] * (c.units + 4) < kMostOffset;
}

// Alpha is 1, and nothing is asked but a relu: narrow.sass's `finish`.
bool only_packed(const GemmProblem& g) {
  return has_rows_of_units(g) && g.alpha == 1 && g.beta == 0 && g.bias == 0 && g.mask == 0 && !g.rounding.stochastic &&
         g.activation == GemmActivation::none;
}

}  // namespace

bool is_forced(const Forced& forced) {
  return forced.kernel.starts_with(kForced);
}

double microseconds(const ConvProblem& p, const Choice& c, const Costs& all) {
  const Costs::Narrow& costs = all.narrow;
  const double wide = static_cast<double>(c.tile.bn) / 64;
  const double products = static_cast<double>(c.steps) * costs.step * (1 + wide) / 2;
  const double loads = static_cast<double>(ceil_div(c.lines * c.units, kLanes)) * costs.load;
  const double tile = std::max({products, (products + costs.epilogue * wide) / kConsumerGroups, loads});
  const auto waves = static_cast<double>(ceil_div(c.tiles, hgemm::kProcessors));
  const double bytes = 2.0 * static_cast<double>(p.x_elements() + p.y_elements());
  return costs.start + h200::together(waves * tile, bytes * 1e-6 / all.memory);
}

std::optional<Choice> rows_of(const ConvProblem& p) {
  if (p.c > kMostChannels || p.groups != 1 || volume(p) || !sgemm::half(p.x_type)) return std::nullopt;
  if (p.w_type != p.x_type || p.y_type != p.x_type) return std::nullopt;
  for (const std::size_t axis : {1U, 2U}) {
    if (p.filter[axis] > 1 && p.dilation[axis] != 1) return std::nullopt;
  }
  const auto out = p.out();
  Choice c;
  c.pairs = p.stride[2] == 1;
  if (c.pairs && (out[2] % 2 != 0 || result_pitch(p) != p.k)) return std::nullopt;
  const std::int64_t step = c.pairs ? 2 : p.stride[2];  // pixels from a row to the next
  if (step != 2 && step != 4) return std::nullopt;
  c.row = 8 * step;
  c.columns = c.pairs ? 2 * p.k : p.k;
  c.groups = ceil_div(p.filter[2] + (c.pairs ? 1 : 0), 4);
  c.steps = p.filter[1] * c.groups;
  c.units = (kEight - 1) * c.row / kUnit + 2 * c.groups;
  c.out_w = c.pairs ? out[2] / 2 : out[2];
  c.tiles_w = ceil_div(c.out_w, kEight);
  set_tiles(p, c, kEight);
  return expressible(p, c) ? std::optional(c) : std::nullopt;
}

void set_tiles(const ConvProblem& p, Choice& c, std::int64_t lines) {
  c.tile_lines = lines;
  c.lines = (lines - 1) * p.stride[1] + p.filter[1];
  c.tiles_h = ceil_div(p.out()[1], lines);
  c.tiles = p.n * c.tiles_w * c.tiles_h;
}

bool fits_room(const Choice& c) {
  const std::int64_t units = units_of(c, Load::any);
  return units <= kLanes && kUnit * units * c.lines <= c.room;
}

std::int64_t passes_of(const Choice& c) {
  return ceil_div(c.lines, kLanes / units_of(c, Load::any));
}

std::optional<Choice> choose(const ConvProblem& p, const Forced& forced) {
  std::optional<Choice> c = rows_of(p);
  std::optional<Choice> best;
  if (!c) return best;
  for (const Variant& v : kVariants) {
    if (v.row != c->row || c->columns > v.columns || c->steps > kSteps * v.blocks) continue;
    c->tile = {hgemm::Form::tiles, 64, v.columns};
    c->room = v.patch, c->raw_room = v.raw;
    if (!fits_room(*c)) continue;
    c->microseconds = microseconds(p, *c);
    if (is_forced(forced) ? forced.kernel == std::string(kForced) + name_of(*c)
                          : !best || c->microseconds < best->microseconds)
      best = c;
  }
  return best;
}

bool pays(const ConvProblem& p, const Choice& c) {
  if (!gconv::possible(ConvPass::fprop, p)) return true;
  double others = gconv::microseconds(ConvPass::fprop, p);
  if (const auto cut = cells::cells_of(ConvPass::fprop, p))
    others = std::min(others, cells::fprop_microseconds(*cut, p));
  return c.microseconds < others;
}

Load load_of(const ConvProblem& p, const Choice& c, std::uint64_t x) {
  constexpr std::int64_t kMostBox = 256;  // elements of a box's side
  const Shape strides = laid_out(p, Role::x).strides;
  const std::int64_t line = p.in[2] * kThree;
  if (p.c != kThree || strides[4] != 1 || strides[3] != kThree || strides[2] != line || strides[0] != p.in[1] * line)
    return Load::any;
  const std::int64_t units = units_of(c, Load::boxes);
  if (x % kUnit == 0 && 2 * line % kUnit == 0 && units <= kLanes && box_of(c) <= kMostBox && c.lines <= kMostBox &&
      kUnit * units * c.lines <= c.room && raw_bytes(c) <= c.raw_room)
    return Load::boxes;
  return x % 4 == 0 && p.x_elements() % 2 == 0 ? Load::words : Load::any;
}

std::string_view name_of(Load load) {
  constexpr std::string_view kWords[] = {"boxes", "words", "any"};
  return kWords[static_cast<std::size_t>(load)];
}

const Kernel* find(const Registry& registry, Dtype operands, Load load, const Choice& c) {
  return registry.find("narrow_" + std::string(sgemm::word_of(operands)) + "_" + std::string(name_of(load)) + "_" +
                       name_of(c));
}

void copy_filters(Device& device, const ConvProblem& p, const Choice& c, std::uint64_t w, std::uint64_t to,
                  bool fragments, const Stream& stream) {
  constexpr std::int64_t kThreads = 128;
  const Shape strides = laid_out(p, Role::w).strides;
  const std::int64_t taps = (fragments ? (c.pairs ? 2 : 1) * kRows : c.columns) * p.filter[1] * 4 * c.groups;
  Values v;
  v.u64(w).u64(to).u32(taps).divisor(4 * c.groups).divisor(p.filter[1]).divisor(fragments ? kRows : p.k);
  v.u32(fragments ? 1 : 0).u32(p.k).u32(p.filter[2]);
  v.s32(2 * strides[0]).s32(2 * strides[2]).s32(2 * strides[3]).s32(2 * strides[4]).u32(p.c);
  Grid grid = {static_cast<std::uint32_t>(ceil_div(taps, kThreads)), 1, 1};
  v.launch(device, *device.registry().find("narrow_filters"), grid, stream.handle());
}

bool has_rows_of_units(const GemmProblem& g) {
  return g.c % kUnit == 0 && g.ldc % kEight == 0 && g.n % kEight == 0;
}

TensorMap rows_map(const ConvProblem& p, const Choice& c, std::uint64_t address, std::int64_t pitch,
                   std::uint32_t count) {
  constexpr std::uint32_t kColumns = 64;
  const std::int64_t lines = p.out()[1];
  const Shape strides = {pitch * c.out_w * lines, pitch * c.out_w, pitch, 1};
  const Tensor rows = Tensor::wrap(address, {p.n, lines, c.out_w, c.columns}, strides, p.y_type);
  TensorMap m = TensorMap::of(rows, {1, count, kEight, kColumns});
  m.swizzle = MapSwizzle::b128;
  return m;
}

TensorMap lines_map(const ConvProblem& p, const Choice& c, std::uint64_t x) {
  const std::int64_t line = kThree * p.in[2];
  const Tensor lines = Tensor::wrap(x, {p.n, p.in[1], line}, {line * p.in[1], line, 1}, p.x_type);
  return TensorMap::of(lines, {1, static_cast<std::uint32_t>(c.lines), static_cast<std::uint32_t>(box_of(c))});
}

void put_patches(Values& v, const ConvProblem& p, const Choice& c, std::uint64_t x, Load load) {
  const Shape strides = laid_out(p, Role::x).strides;
  const std::int64_t units = units_of(c, load);
  const std::int64_t step = c.row / kEight;
  v.u32(c.out_w).u32(p.out()[1]).divisor(c.tiles_w).divisor(c.tiles_h).divisor(units).u32(c.lines);
  v.s32(-p.pad[2]).s32(-p.pad[1]).s32(kEight * step).s32(c.tile_lines * p.stride[1]).u32(p.n).s32(p.in[2]).s32(p.in[1]);
  v.u64(x).u64(static_cast<std::uint64_t>(2 * strides[0])).s32(2 * strides[2]).s32(2 * strides[3]).s32(2 * strides[4]);
  v.u32(p.c);
  if (load == Load::boxes) {
    const std::int64_t first = -kThree * p.pad[2];  // element of the first patch
    const std::int64_t low = -ceil_div(-first, kEight) * kEight;
    v.u32(raw_bytes(c)).s32(low).u32(2 * (first - low)).u32(units * c.lines / 2).divisor(units / 2);
    return;
  }
  const std::int64_t pass = kLanes / units;  // lines
  v.u32(pass).u32(pass * 2 * strides[2]).u32(kUnit * pass * units);
}

std::int64_t descriptor_of(const ConvProblem& p, const Choice& c, Load load) {
  constexpr std::uint32_t kSwizzled = 3U << 30;
  return static_cast<std::uint32_t>(p.stride[1] * units_of(c, load)) | (c.row == 32 ? kSwizzled : 0);
}

void put(Values& v, const GemmProblem& g, const ConvProblem& p, const Choice& c, std::uint64_t x, Load load) {
  put_patches(v, p, c, x, load);
  v.u32(p.n * p.out()[1] * c.out_w).divisor(c.groups).u32(c.steps / kSteps).u32(c.steps % kSteps);
  v.u32(descriptor_of(p, c, load)).u32(only_packed(g) ? (g.relu ? 2 : 1) : 0);
}

}  // namespace nervanagpu::conv_detail::narrow
