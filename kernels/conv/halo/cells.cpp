#include "kernels/conv/halo/cells.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <string_view>

#include "kernels/conv/bytes.h"
#include "kernels/conv/few_channels.h"
#include "kernels/conv/gather/gconv_choice.h"
#include "kernels/conv/halo/resident_choice.h"
#include "kernels/gemm/types.h"
#include "src/ceil_div.h"
#include "src/launch/values.h"

namespace nervanagpu::conv_detail::cells {
namespace {

constexpr std::int64_t kEight = 8;  // elements of 16 bytes
constexpr std::int64_t kThreads = 256;
constexpr std::string_view kForced = "_cells";
constexpr std::int64_t kMost = std::int64_t{1} << 28;

std::int64_t units_of(const Source& s) {
  return s.n * s.pixels[0] * s.pixels[1] * (s.channels / kEight);
}

void launch(Device& device, const Source& s, std::uint64_t to, const Stream& stream) {
  // A thread keeps its place in the cell; eight CTAs a multiprocessor are all that run at a time.
  constexpr std::int64_t kResident = 8;
  const std::int64_t units = s.channels / kEight;
  const std::int64_t every = std::max<std::int64_t>(units / std::gcd(units, kThreads), 1);
  const std::int64_t most = ceil_div(kResident * device.info().multiprocessors, every) * every;
  const std::int64_t ctas = std::min(ceil_div(ceil_div(units_of(s), kThreads), every) * every, most);
  const Kernel* kernel = device.registry().find(s.type == Dtype::int8    ? "cells_s8"
                                                : s.type == Dtype::uint8 ? "cells_u8"
                                                                         : "cells_b16");
  values_of(s, to).launch(device, *kernel, {static_cast<std::uint32_t>(ctas), 1, 1}, stream.handle());
}

}  // namespace

Values values_of(const Source& s, std::uint64_t to) {
  const std::int64_t row = s.cell[1] * s.of_pixel;
  const auto size = static_cast<std::int64_t>(size_of(s.type));
  Values v;
  v.u64(s.address).u64(to).u64(static_cast<std::uint64_t>(size * s.strides[0])).u32(units_of(s));
  v.divisor(s.channels / kEight).divisor(s.pixels[1]).divisor(s.pixels[0]).divisor(row).divisor(s.of_pixel);
  v.u32(s.cell[0] * row);
  v.s32(s.size[1]).s32(s.size[0]).s32(s.step[1]).s32(s.step[0]).s32(s.low[1]).s32(s.low[0]);
  v.s32(size * s.strides[3]).s32(size * s.strides[2]).s32(size * s.strides[4]);
  return v;
}

std::optional<Cells> cells_of(ConvPass pass, const ConvProblem& p) {
  constexpr std::int64_t kWidest = 64;
  constexpr std::int64_t kSixteen = 16;
  constexpr std::int64_t kLimit = std::int64_t{1} << 30;  // bytes
  if (pass == ConvPass::bprop || p.groups != 1 || volume(p)) return std::nullopt;
  Cells c;
  const auto out = p.out();
  Flat taps;
  for (std::size_t i = 0; i < 2; ++i) {
    const std::size_t axis = i + 1;
    if (p.stride[axis] > 1 && p.dilation[axis] > 1 && p.filter[axis] > 1) return std::nullopt;
    if (std::max({p.in[axis], p.stride[axis], p.pad[axis], p.dilation[axis] * p.filter[axis]}) >= kMost / 8)
      return std::nullopt;
    c.step[i] = p.stride[axis];
    taps[i] = ceil_div(p.filter[axis], c.step[i]);
    // Without a step the padding stays the map's.
    const bool padded = c.step[i] > 1;
    c.low[i] = padded ? -p.pad[axis] : 0;
    c.pixels[i] = padded ? out[axis] + taps[i] - 1 : p.in[axis];
    c.taps.low[1 - i] = padded ? 0 : -p.pad[axis];
    c.taps.move[1 - i] = padded || taps[i] == 1 ? 1 : p.dilation[axis];
    c.taps.positions[1 - i] = out[axis];
    c.taps.taps[1 - i] = taps[i];
  }
  c.taps.tap_step = {taps[1] > 1 ? 1 : 0, taps[0] > 1 ? taps[1] : 0, 0};
  c.elements = c.step[0] * c.step[1] * p.c;
  c.channels = std::max(kSixteen, ceil_div(c.elements, kEight) * kEight);
  c.wide = ceil_div(c.elements, kSixteen) * kSixteen;
  if (c.elements > kWidest) return std::nullopt;
  const double bytes = 2.0 * static_cast<double>(p.n) * static_cast<double>(c.pixels[0]) *
                       static_cast<double>(c.pixels[1]) * static_cast<double>(c.channels);
  if (bytes > static_cast<double>(kLimit)) return std::nullopt;
  return c;
}

double microseconds(const Cells& c, const ConvProblem& p, const Costs& costs) {
  const auto images = static_cast<double>(c.images_bytes(p.n));
  const auto x = static_cast<double>(static_cast<std::int64_t>(size_of(p.x_type)) * p.x_elements());
  return costs.cells.start + std::max((images + x) * 1e-6 / costs.memory, images / 2 * 1e-6 * costs.cells.elements);
}

double fprop_microseconds(const Cells& c, const ConvProblem& p) {
  const double bytes = static_cast<double>(c.images_bytes(p.n)) + static_cast<double>(c.filters_bytes(p.k)) +
                       static_cast<double>(size_of(p.y_type)) * static_cast<double>(p.y_elements());
  const halo::Work work = {'f', c.taps, {c.pixels[1], c.pixels[0], 1}, p.n, c.wide, p.k, bytes, c.channels};
  double least = std::numeric_limits<double>::infinity();
  if (const auto streams = halo::choose(work, hgemm::kProcessors)) least = streams->microseconds;
  if (const auto keeps = resident::choose(work, hgemm::kProcessors)) least = std::min(least, keeps->microseconds);
  return microseconds(c, p) + least;
}

bool pays(const Cells& c, const ConvProblem& p) {
  const bool of_bytes = sgemm::byte(p.x_type);
  if (of_bytes ? !bytes::exact_in_float16(p) : !gconv::possible(ConvPass::fprop, p)) return false;
  const double others = of_bytes ? bytes::microseconds(p) : gconv::microseconds(ConvPass::fprop, p);
  return fprop_microseconds(c, p) < others;
}

bool pays(ConvPass pass, const ConvProblem& p) {
  if (pass != ConvPass::fprop) return false;
  const std::optional<Cells> c = cells_of(pass, p);
  return c && pays(*c, p);
}

halo_update::Work update_of(const Cells& c, const ConvProblem& p) {
  const double bytes = static_cast<double>(c.images_bytes(p.n)) +
                       2.0 * static_cast<double>(p.n) * static_cast<double>(p.k) * static_cast<double>(c.taps.count());
  return {c.taps, {c.pixels[1], c.pixels[0], 1}, p.n, c.channels, p.k, bytes};
}

double update_microseconds(const Cells& c, const ConvProblem& p) {
  const auto choice = halo_update::choose(update_of(c, p));
  if (!choice) return std::numeric_limits<double>::infinity();
  const auto copies = static_cast<double>(c.step[0] * (p.filter[2] % c.step[1] == 0 ? 1 : 2));
  return choice->microseconds + microseconds(c, p) + kFitted.copy * copies;
}

bool update_pays(const Cells& c, const ConvProblem& p) {
  return gconv::possible(ConvPass::update, p) && update_microseconds(c, p) < gconv::microseconds(ConvPass::update, p);
}

bool is_forced(const Forced& forced) {
  return forced.kernel.starts_with(kForced);
}

Forced behind(const Forced& forced) {
  Forced out = forced;
  if (!is_forced(forced)) return out;
  out.kernel = forced.kernel.substr(kForced.size());
  if (!resident::is_forced(out) && !halo_update::is_forced(out)) out.kernel = "_halo" + out.kernel;
  return out;
}

void copy_images(Device& device, const Cells& c, const ConvProblem& p, std::uint64_t x, std::uint64_t to,
                 const Stream& stream) {
  const Shape strides = laid_out(p, Role::x).strides;
  launch(device, {x, p.x_type, strides, p.n, {p.in[1], p.in[2]}, c.low, c.pixels, c.step, c.step, c.channels, p.c}, to,
         stream);
}

void copy_filters(Device& device, const Cells& c, const ConvProblem& p, std::uint64_t w, std::uint64_t to,
                  const Stream& stream) {
  const Shape strides = laid_out(p, Role::w).strides;
  const Flat taps = {c.taps.taps[1], c.taps.taps[0]};
  launch(device, {w, p.w_type, strides, p.k, {p.filter[1], p.filter[2]}, {0, 0}, taps, c.step, c.step, c.wide, p.c}, to,
         stream);
}

}  // namespace nervanagpu::conv_detail::cells
