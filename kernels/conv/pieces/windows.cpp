#include "kernels/conv/pieces/windows.h"

#include <algorithm>
#include <string_view>

#include "kernels/conv/problem.h"
#include "nervanagpu/error.hpp"
#include "src/ceil_div.h"
#include "src/launch/values.h"

namespace nervanagpu::conv_detail::windows {
namespace {

constexpr std::int64_t kBlock = 64;  // of l
constexpr std::int64_t kEight = 8;   // elements of 16 bytes
constexpr std::int64_t kMostResults = 8;
constexpr std::int64_t kFloat = 4;  // bytes
constexpr std::string_view kForced = "_windows";

// A forced name's; 0: any.
std::int64_t forced_results(const Forced& forced) {
  const std::string_view rest = std::string_view(forced.kernel).substr(kForced.size());
  return !rest.empty() && rest.front() != '_' ? rest.front() - '0' : 0;
}

std::int64_t filters_pitch(const ConvProblem& p) {
  return bf16x6::pitch_of(p.c);
}

// What maps and the kernels' numbers hold.
bool possible(const Windows& w, const ConvProblem& p) {
  constexpr std::int64_t kMost = std::int64_t{1} << 28;
  if (w.lines >= kMost || w.line() >= kMost || p.n * w.lines >= kMost / w.line()) return false;
  const std::int64_t window = w.span * w.depth * w.taps.taps[1];
  if (w.columns() >= kMost / window || p.x_elements() >= kMost || p.y_elements() >= kMost) return false;
  return conv_detail::possible(w.taps, {w.taps.positions[0], w.lines, 1}, false);
}

hconv::Work work_of(ConvPass pass, const ConvProblem& p, const Windows& w) {
  hconv::Work out;
  out.c = w.step * w.depth, out.k = w.columns();  // lines of memory that windows begin at
  out.product.a_type = out.product.b_type = Dtype::bfloat16;
  out.product.c_type = Dtype::float32;
  const std::int64_t positions = p.n * w.taps.count();
  const std::int64_t window = w.taps.all_taps() * ceil_div(w.span * w.depth, kBlock) * kBlock;
  const auto gathered = static_cast<double>(w.images_bytes(p.n, pieces::kThree));
  const auto result = static_cast<double>(positions * w.columns());
  if (pass == ConvPass::update) {
    out.pass = 'u';
    out.product.m = w.filters, out.product.n = window, out.product.k = ceil_div(positions, kBlock) * kBlock;
    out.bytes = gathered + static_cast<double>(2 * pieces::kThree.pieces) * result;
  } else {
    out.pass = 'f';
    out.product.m = positions, out.product.n = w.columns(), out.product.k = window;
    out.bytes = gathered + 4 * result;
  }
  return out;
}

}  // namespace

Pixels Windows::images(std::int64_t n, std::uint64_t address) const {
  return {address, Dtype::bfloat16, span * depth, step * depth, {taps.positions[0], lines, 1}, n, line()};
}

Pixels Windows::columns_of(std::uint64_t address) const {
  return {address, Dtype::bfloat16, span * depth, span * depth, {1, taps.taps[1], 1}, columns()};
}

std::int64_t Windows::images_bytes(std::int64_t n, const pieces::Kind& kind) const {
  return 2 * kind.pieces * n * lines * line();
}

std::int64_t Windows::filters_bytes(const pieces::Kind& kind) const {
  return 2 * kind.pieces * columns() * taps.taps[1] * span * depth;
}

bf16x6::Split Windows::split(const Pixels& from, std::uint64_t to) const {
  bf16x6::Split out = {from.address, to, pixels * depth, from.n * lines, 1, pixels * from.pitch};
  out.pixel = depth;
  out.gap = from.pitch - depth;
  out.before = before * depth;
  out.after = after * depth;
  return out;
}

std::vector<Windows> all(ConvPass pass, const ConvProblem& p) {
  std::vector<Windows> out;
  const bool forward = pass != ConvPass::bprop;
  const bool strided = p.stride[1] != 1 || p.stride[2] != 1;
  if (p.groups != 1 || volume(p) || (!forward && strided)) return out;
  if (p.filter[2] == 1 || p.dilation[2] != 1) return out;
  const Role to = forward ? Role::y : Role::x;
  const auto y = p.out();
  const auto& gathered = forward ? p.in : y;
  const auto& result = forward ? y : p.in;
  Windows w;
  w.depth = forward ? p.c : p.k;
  w.filters = forward ? p.k : p.c;
  w.pixels = gathered[2], w.lines = gathered[1];
  w.filter = p.filter[2], w.stride = p.stride[2];
  w.before = forward ? p.pad[2] : w.filter - 1 - p.pad[2];
  if (w.depth % kEight != 0 || w.before < 0) return out;
  w.after = std::max<std::int64_t>((result[2] - 1) * w.stride + w.filter - w.before - w.pixels, 0);
  const std::int64_t reach = (p.filter[1] - 1) * p.dilation[1];
  Gather& g = w.taps;
  g.taps = {1, p.filter[1], 1};
  g.move = {1, p.filter[1] > 1 ? p.dilation[1] : 1, 1};
  g.tap_step = {0, p.filter[1] > 1 ? 1 : 0, 0};
  g.low = {0, forward ? -p.pad[1] : p.pad[1] - reach, 0};
  const std::int64_t most = pass == ConvPass::update ? 1 : kMostResults;  // each has its own row of a gradient
  for (w.results = 1; w.results <= most; ++w.results) {
    if (result[2] % w.results != 0) continue;
    w.apart = w.results > 1 && p.layout == Layout::channels_last && pitch_of(p, to) != w.filters;
    w.step = w.results * w.stride;
    w.span = (w.results - 1) * w.stride + w.filter;
    g.positions = {result[2] / w.results, result[1], 1};
    g.step = {1, g.positions[1] > 1 ? p.stride[1] : 1, 1};
    if (possible(w, p)) out.push_back(w);
  }
  return out;
}

double microseconds(ConvPass pass, const ConvProblem& p, const Windows& w, const pieces::Kind& kind) {
  constexpr double kMoved = 2.5;  // the launch of window_filters.sass
  const bool update = pass == ConvPass::update;
  const auto lines = static_cast<double>(p.n * w.lines * w.line());
  const auto others = static_cast<double>(update ? p.y_elements() : p.w_elements());
  const auto copied = static_cast<double>(w.apart ? p.n * w.taps.count() * w.columns() : 0);
  const double copy = w.apart ? copy_microseconds(static_cast<double>(kFloat) * copied, kFitted) : 0;
  return copy + (update ? 0 : kMoved) + pieces::split_microseconds(lines + others, kind) +
         pieces::product_microseconds(work_of(pass, p, w), kind, !update) + pieces::kLaunches;
}

std::optional<Windows> choose(ConvPass pass, const ConvProblem& p, const pieces::Kind& kind, const Forced& forced) {
  constexpr double kClearly = 0.95;
  const bool named = is_forced(forced);
  if (!named && !forced.kernel.empty()) return std::nullopt;
  const std::int64_t results = named ? forced_results(forced) : 0;
  std::optional<Windows> out;
  double fewest = named ? 0 : kClearly * pieces::microseconds(pass, p, kind);
  // Pieces as they lie may be those of other passes.
  if (!named && pass == ConvPass::update)
    fewest -= pieces::split_microseconds(static_cast<double>(p.x_elements() + p.y_elements()), kind) / 2;
  for (const Windows& w : all(pass, p)) {
    if (results != 0 && w.results != results) continue;
    const double cost = microseconds(pass, p, w, kind);
    if (!(named && !out) && !(cost < fewest)) continue;
    out = w;
    fewest = cost;
  }
  if (named && !out) throw InvalidArgument("conv: no kernel " + forced.kernel + " for this");
  return out;
}

Three three_pieces(ConvPass pass, const ConvProblem& p, const Forced& forced) {
  Three out;
  out.microseconds = pieces::microseconds(pass, p);
  if (!is_forced(forced)) out.cells = piece_cells::choose(pass, p, forced);
  if (out.cells) out.microseconds = piece_cells::microseconds(pass, p, *out.cells);
  if (pass == ConvPass::update) return out;  // whose sums are long: two pieces do
  out.windows = choose(pass, p, pieces::kThree, forced);
  if (!out.windows) return out;
  const double cost = microseconds(pass, p, *out.windows, pieces::kThree);
  if (out.cells && cost >= out.microseconds) {
    out.windows.reset();
    return out;
  }
  out.cells.reset();
  out.microseconds = cost;
  return out;
}

bool is_forced(const Forced& forced) {
  return forced.kernel.starts_with(kForced);
}

Forced behind(const Forced& forced) {
  Forced out = forced;
  if (is_forced(forced)) out.kernel = forced.kernel.substr(kForced.size() + (forced_results(forced) != 0 ? 1 : 0));
  return out;
}

void move_filters(Device& device, ConvPass pass, const ConvProblem& p, const Windows& w, const pieces::Kind& kind,
                  std::uint64_t pieces, std::uint64_t columns, const Repeated& first, const Repeated& second,
                  StreamId stream) {
  constexpr std::int64_t kThreads = 256;
  const bool forward = pass == ConvPass::fprop;
  const std::int64_t row = 2 * filters_pitch(p);  // bytes
  const std::int64_t taps = p.filter[1] * p.filter[2];
  // Two pieces of bprop lie tap by tap; else a filter's taps are neighbours.
  const bool by_taps = !forward && kind.pieces == pieces::kTwo.pieces;
  const std::int64_t tap = by_taps ? kind.pieces * p.k * row : row;
  const std::int64_t filter = by_taps ? row : taps * row;
  const std::int64_t piece = by_taps ? p.k * row : p.k * taps * row;
  const std::int64_t line = p.filter[2] * tap;
  const std::uint64_t last = static_cast<std::uint64_t>(forward ? 0 : (taps - 1) * tap);
  const std::int64_t units = w.span * w.depth / kEight;
  const std::int64_t total = kind.pieces * w.columns() * w.taps.taps[1] * units;
  Values v;
  v.u64(pieces + last).u64(columns).u64(first.vector).u64(first.wide).u64(second.vector).u64(second.wide);
  v.u32(w.columns()).u32(total).divisor(units).divisor(w.taps.taps[1]).divisor(w.filters).divisor(w.results);
  v.divisor(w.depth).u32(w.filter * w.depth).u32(w.stride * w.depth);
  constexpr std::int64_t kElement = 2;
  v.s32(piece).s32(forward ? filter : kElement).s32(forward ? line : -line).s32(forward ? tap : -tap);
  v.s32(forward ? kElement : filter);
  const Kernel* kernel = device.registry().find("window_filters");
  v.launch(device, *kernel, {static_cast<std::uint32_t>(ceil_div(total, kThreads)), 1, 1}, stream);
}

}  // namespace nervanagpu::conv_detail::windows
