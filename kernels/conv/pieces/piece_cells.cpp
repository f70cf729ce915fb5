#include "kernels/conv/pieces/piece_cells.h"

#include <algorithm>
#include <bit>
#include <cctype>
#include <string>
#include <string_view>

#include "kernels/conv/pieces/pieces.h"
#include "kernels/conv/problem.h"
#include "kernels/gemm/pieces/bf16x6.h"
#include "nervanagpu/error.hpp"
#include "src/ceil_div.h"
#include "src/launch/values.h"

namespace nervanagpu::conv_detail::piece_cells {
namespace {

using bf16x6::kPieces;

constexpr std::int64_t kBlock = 64;  // channels at a tap
constexpr std::int64_t kEight = 8;   // elements of 16 bytes
constexpr std::string_view kForced = "_cells";

// What an im2col map can say, and the kernels' numbers hold.
bool possible(const Cells& c, const ConvProblem& p) {
  constexpr std::int64_t kReach = 128;
  constexpr std::int64_t kMost = std::int64_t{1} << 28;
  for (std::size_t i = 0; i < 2; ++i) {
    const std::size_t axis = i + 1;
    if ((c.taps.taps[1 - i] - 1) * c.taps.move[1 - i] >= kReach) return false;
    if (c.pixels[i] - c.taps.positions[1 - i] >= kReach) return false;
    if (std::max({p.in[axis], p.stride[axis], p.pad[axis], p.filter[axis], c.pixels[i]}) >= kMost / 8) return false;
  }
  // Elements: a piece is one third of what maps and products count.
  return p.n * c.pixels[0] * c.pixels[1] < kMost / c.channels && p.k < kMost / (c.taps.all_taps() * kBlock) &&
         p.y_elements() < kMost;
}

hconv::Work work_of(ConvPass pass, const ConvProblem& p, const Cells& c) {
  hconv::Work w;
  w.c = kBlock, w.k = p.k;
  w.product.a_type = w.product.b_type = Dtype::bfloat16;
  w.product.c_type = Dtype::float32;
  const std::int64_t positions = p.n * c.taps.count();
  const std::int64_t window = c.taps.all_taps() * kBlock;
  const auto gathered = static_cast<double>(c.images_bytes(p.n));
  const auto y = static_cast<double>(p.y_elements());
  if (pass == ConvPass::fprop) {
    w.pass = 'f';
    w.product.m = positions, w.product.n = p.k, w.product.k = window;
    w.bytes = gathered + 4 * y;
  } else {
    w.pass = 'u';
    w.product.m = p.k, w.product.n = window, w.product.k = ceil_div(positions, kBlock) * kBlock;
    w.bytes = gathered + 2 * kPieces * y;
  }
  return w;
}

void split(Device& device, const cells::Source& s, std::uint64_t to, std::int64_t piece, std::uint64_t range,
           StreamId stream) {
  constexpr std::uint32_t kCtas = 256;
  Values v = cells::values_of(s, to);
  v.u64(static_cast<std::uint64_t>(piece)).u64(range);
  const Kernel* kernel = device.registry().find("cells_bf16x3");
  v.launch(device, *kernel, {kCtas, 1, 1}, stream);
}

// The number of steps that a forced name asks for; 0: any.
std::int64_t forced_steps(const Forced& forced) {
  const std::string_view rest = std::string_view(forced.kernel).substr(kForced.size());
  return !rest.empty() && rest.front() != '_' ? rest.front() - '0' : 0;
}

bool is_forced(const Forced& forced) {
  return forced.kernel.starts_with(kForced);
}

}  // namespace

Pixels Cells::images(std::int64_t n) const {
  return {0, Dtype::bfloat16, kBlock, channels, {pixels[1], pixels[0], 1}, n};
}

Pixels Cells::filters(std::int64_t k) const {
  return {0, Dtype::bfloat16, kBlock, kBlock, taps.taps, k};
}

std::int64_t Cells::images_bytes(std::int64_t n) const {
  return 2 * kPieces * n * pixels[0] * pixels[1] * channels;
}

std::int64_t Cells::filters_bytes(std::int64_t k) const {
  return 2 * kPieces * k * filter[0] * filter[1] * channels;
}

std::vector<Cells> all(ConvPass pass, const ConvProblem& p) {
  std::vector<Cells> out;
  if (pass == ConvPass::bprop || p.groups != 1 || volume(p)) return out;
  for (const std::size_t axis : {1U, 2U}) {
    if (p.dilation[axis] > 1 && p.filter[axis] > 1) return out;
  }
  const auto positions = p.out();
  const std::int64_t all_steps = ceil_div(p.filter[1], p.stride[1]);
  for (std::int64_t steps = 1; steps <= all_steps; ++steps) {
    Cells c;
    c.step = {p.stride[1], p.stride[2]};
    c.size = {std::min(steps * p.stride[1], p.filter[1]), std::min(p.stride[2], p.filter[2])};
    c.elements = c.size[0] * c.size[1] * p.c;
    if (c.elements > kBlock) break;
    c.channels = std::max(kEight, static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(c.elements))));
    const std::int64_t together = kBlock / c.channels;
    Gather& g = c.taps;
    g.positions = {positions[2], positions[1], 1};
    g.taps = {ceil_div(ceil_div(p.filter[2], p.stride[2]), together), ceil_div(all_steps, steps), 1};
    g.move = {g.taps[0] > 1 ? together : 1, g.taps[1] > 1 ? steps : 1, 1};
    g.tap_step = {g.taps[0] > 1 ? 1 : 0, g.taps[1] > 1 ? g.taps[0] : 0, 0};
    c.filter = {g.taps[1], g.taps[0] * together};
    c.pixels = {positions[1] + (g.taps[1] - 1) * steps, positions[2] + c.filter[1] - 1};
    if (possible(c, p)) out.push_back(c);
  }
  return out;
}

double microseconds(ConvPass pass, const ConvProblem& p, const Cells& c) {
  constexpr double kLaunch = 2.5;
  constexpr double kElement = 1.5e-6;  // one that is loaded by itself
  constexpr double kCopies = 4;        // of a gradient
  const auto x = static_cast<double>(p.x_elements());
  const double bytes = static_cast<double>(c.images_bytes(p.n)) + 4 * x;
  const double elements = static_cast<double>(p.n * c.pixels[0] * c.pixels[1]) * static_cast<double>(c.elements);
  const double images = kLaunch + std::max(bytes / pieces::kMemory, elements * kElement);
  const hconv::Work work = work_of(pass, p, c);
  const double rest = pass == ConvPass::fprop ? kLaunch + pieces::product_microseconds(work)
                                              : kCopies * kLaunch + pieces::update_microseconds(work, p.y_elements());
  return images + rest + pieces::kLaunches;
}

std::optional<Cells> choose(ConvPass pass, const ConvProblem& p, const Forced& forced) {
  if (!forced.kernel.empty() && !is_forced(forced)) return std::nullopt;
  const std::int64_t steps = is_forced(forced) ? forced_steps(forced) : 0;
  std::optional<Cells> out;
  double fewest = is_forced(forced) ? 0 : std::min(pieces::microseconds(pass, p), pieces::rival_microseconds(pass, p));
  for (const Cells& c : all(pass, p)) {
    if (steps != 0 && c.size[0] != std::min(steps * p.stride[1], p.filter[1])) continue;
    const double cost = microseconds(pass, p, c);
    if (!(fewest == 0 || cost < fewest)) continue;
    out = c;
    fewest = cost;
  }
  if (is_forced(forced) && !out) throw InvalidArgument("conv: no kernel " + forced.kernel + " for this");
  return out;
}

Forced behind(const Forced& forced) {
  Forced out = forced;
  if (is_forced(forced)) out.kernel = forced.kernel.substr(kForced.size() + (forced_steps(forced) != 0 ? 1 : 0));
  return out;
}

void split_images(Device& device, const Cells& c, const ConvProblem& p, std::uint64_t x, std::uint64_t to,
                  std::uint64_t range, StreamId stream) {
  const cells::Source s = {x,
                           p.x_type,
                           laid_out(p, Role::x).strides,
                           p.n,
                           {p.in[1], p.in[2]},
                           {-p.pad[1], -p.pad[2]},
                           c.pixels,
                           c.step,
                           c.size,
                           c.channels,
                           p.c};
  split(device, s, to, c.images_bytes(p.n) / kPieces, range, stream);
}

void split_filters(Device& device, const Cells& c, const ConvProblem& p, std::uint64_t w, std::uint64_t to,
                   std::uint64_t range, StreamId stream) {
  const cells::Source s = {w,      p.w_type, laid_out(p, Role::w).strides, p.k,    {p.filter[1], p.filter[2]},
                           {0, 0}, c.filter, {c.size[0], c.step[1]},       c.size, c.channels,
                           p.c};
  split(device, s, to, c.filters_bytes(p.k) / kPieces, range, stream);
}

}  // namespace nervanagpu::conv_detail::piece_cells
