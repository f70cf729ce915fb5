#include "kernels/conv/implicit/implicit_gemm.h"

#include <algorithm>
#include <numeric>

#include "src/ceil_div.h"

namespace nervanagpu::conv_detail {
namespace {

constexpr std::uint32_t kRows = 64;  // of a box of pixels

// Width, height, depth of a triple (depth, height, width).
Inner inner(const std::array<std::int64_t, 3>& t) {
  return {t[2], t[1], t[0]};
}

// What an im2col map of rank 4 or 5 can say.
struct Reach {
  std::int64_t least, most;  // corners
  std::int64_t offset;       // of a tap
};
constexpr Reach kFlat = {-128, 127, 255};
constexpr Reach kVolume = {-16, 15, 31};
constexpr std::int64_t kMostStep = 8;

// Where the last position's pixel lies in front of the end of the tensor.
std::int64_t upper(const Gather& g, const Inner& size, std::size_t axis) {
  return g.low[axis] + (g.positions[axis] - 1) * g.step[axis] + 1 - size[axis];
}

// fprop and update.
Gather forward(const ConvProblem& p) {
  Gather g;
  g.positions = inner(p.out());
  g.step = inner(p.stride);
  g.taps = inner(p.filter);
  g.move = inner(p.dilation);
  const Inner pad = inner(p.pad);
  for (std::size_t axis = 0; axis < 3; ++axis) g.low[axis] = -pad[axis];
  g.tap_step = {1, g.taps[0], g.taps[0] * g.taps[1]};
  return g;
}

// bprop: the class of positions `rho` along an axis. Taps go down, so that pixels of dy go up. False: no tap meets them.
bool backward(Gather& g, const ConvProblem& p, std::size_t axis, std::int64_t rho) {
  const std::int64_t u = inner(p.stride)[axis];
  const std::int64_t dilation = inner(p.dilation)[axis];
  const std::int64_t filter = inner(p.filter)[axis];
  const std::int64_t from = rho + inner(p.pad)[axis];
  const std::int64_t every = u / std::gcd(u, dilation);
  std::int64_t last = filter - 1;
  while (last >= 0 && (from - last * dilation) % u != 0) --last;
  if (last < 0) return false;
  g.positions[axis] = ceil_div(inner(p.in)[axis] - rho, u);
  g.low[axis] = (from - last * dilation) / u;
  g.taps[axis] = last / every + 1;
  g.move[axis] = every * dilation / u;
  const Inner filters = inner(p.filter);
  const Inner steps = {1, filters[0], filters[0] * filters[1]};
  g.tap0 += last * steps[axis];
  g.tap_step[axis] = -every * steps[axis];
  g.first[axis] = rho;
  g.stride[axis] = u;
  return true;
}

// Steps and moves that nobody makes are such as hconv.sass takes.
Gather plain(Gather g) {
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (g.positions[axis] == 1) g.step[axis] = 1;
    if (g.taps[axis] == 1) g.move[axis] = 1, g.tap_step[axis] = 0;
  }
  return g;
}

std::vector<Gather> classes(const ConvProblem& p) {
  std::vector<Gather> all = {Gather{}};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    std::vector<Gather> more;
    for (const Gather& before : all) {
      const std::int64_t count = std::min(inner(p.stride)[axis], inner(p.in)[axis]);
      for (std::int64_t rho = 0; rho < count; ++rho) {
        Gather g = before;
        if (backward(g, p, axis, rho)) more.push_back(g);
      }
    }
    all = std::move(more);
  }
  return all;
}

std::uint64_t u64(std::int64_t v) {
  return static_cast<std::uint64_t>(v);
}

TensorMap map_of(const Pixels& t) {
  TensorMap m;
  m.type = size_of(t.type) == 1 ? MapType::uint8 : t.type == Dtype::bfloat16 ? MapType::bfloat16 : MapType::float16;
  m.address = t.address;
  m.swizzle = MapSwizzle::b128;
  m.promotion = MapPromotion::b128;
  return m;
}

std::uint32_t channels_of(const Pixels& t) {
  return static_cast<std::uint32_t>(block_of(t.type));
}

// Bytes from pixel to pixel.
std::int64_t pitch_bytes(const Pixels& t) {
  return static_cast<std::int64_t>(size_of(t.type)) * t.pitch;
}

}  // namespace

bool possible(const Gather& g, const Inner& size, bool volume) {
  const Reach& reach = volume ? kVolume : kFlat;
  for (std::size_t axis = 0; axis < (volume ? 3U : 2U); ++axis) {
    const auto corner = [&](std::int64_t v) { return v >= reach.least && v <= reach.most; };
    if (g.step[axis] > kMostStep || (g.taps[axis] - 1) * g.move[axis] > reach.offset) return false;
    if (!corner(g.low[axis]) || !corner(upper(g, size, axis))) return false;
  }
  return true;
}

std::int64_t block_of(Dtype type) {
  constexpr std::int64_t kBytes = 128;
  return kBytes / static_cast<std::int64_t>(size_of(type));
}

bool volume(const ConvProblem& p) {
  return p.in[0] != 1 || p.filter[0] != 1 || p.out()[0] != 1 || p.pad[0] != 0;
}

std::vector<Gather> gathers_of(ConvPass pass, const ConvProblem& p) {
  std::vector<Gather> all = pass == ConvPass::bprop ? classes(p) : std::vector{forward(p)};
  std::ranges::transform(all, all.begin(), plain);
  return all;
}

std::optional<std::vector<Gather>> gathers(ConvPass pass, const ConvProblem& p) {
  constexpr std::int64_t kMostClasses = 64;
  const bool deep = volume(p);
  std::int64_t number = 1;
  for (std::size_t axis = 0; axis < 3; ++axis) number *= std::min({p.stride[axis], p.in[axis], kMostClasses + 1});
  if (pass == ConvPass::bprop && number > kMostClasses) return std::nullopt;
  std::vector<Gather> all = gathers_of(pass, p);
  const Inner size = inner(pass == ConvPass::bprop ? p.out() : p.in);
  if (!std::ranges::all_of(all, [&](const Gather& g) { return possible(g, size, deep); })) return std::nullopt;
  return all;
}

std::optional<Gather> over_images(const Gather& g, const ConvProblem& p, const Inner& size) {
  if (volume(p)) return std::nullopt;
  Gather all = g;
  all.positions[2] = p.n;
  if (!possible(all, {size[0], size[1], p.n}, true)) return std::nullopt;
  return all;
}

TensorMap columns_map(const Pixels& t, const Gather& g, bool volume, std::uint32_t pixels) {
  TensorMap m = map_of(t);
  const std::size_t spatial = volume ? 3 : 2;
  m.rank = static_cast<std::uint32_t>(spatial + 2);
  m.im2col = TensorMap::Im2col{.lower = {}, .upper = {}, .channels = channels_of(t), .pixels = pixels};
  m.sizes[0] = u64(t.channels);
  std::int64_t stride = pitch_bytes(t);
  for (std::size_t axis = 0; axis < spatial; ++axis) {
    m.sizes[axis + 1] = u64(t.size[axis]);
    m.strides[axis] = u64(stride);
    m.steps[axis + 1] = static_cast<std::uint32_t>(g.step[axis]);
    m.im2col->lower[axis] = static_cast<std::int32_t>(g.low[axis]);
    m.im2col->upper[axis] = static_cast<std::int32_t>(upper(g, t.size, axis));
    stride = axis == 0 && t.line != 0 ? static_cast<std::int64_t>(size_of(t.type)) * t.line : stride * t.size[axis];
  }
  m.sizes[spatial + 1] = u64(t.n);
  m.strides[spatial] = u64(stride);
  return m;
}

TensorMap filters_map(const Pixels& w, std::uint32_t filters) {
  TensorMap m = map_of(w);
  const std::int64_t taps = w.size[0] * w.size[1] * w.size[2];
  m.rank = 3;
  m.sizes = {u64(w.channels), u64(taps), u64(w.n)};
  m.strides = {u64(pitch_bytes(w)), u64(pitch_bytes(w) * taps)};
  m.box = {channels_of(w), 1, filters};
  return m;
}

TensorMap filters_map(const Pixels& w, std::uint32_t filters, std::int64_t groups) {
  TensorMap m = filters_map(w, filters);
  m.rank = 4;
  m.sizes[3] = u64(groups);
  m.strides[2] = m.strides[1] * m.sizes[2];
  m.box[3] = 1;
  return m;
}

TensorMap half_columns_map(const Pixels& t, const Gather& g, bool volume) {
  TensorMap m = columns_map(t, g, volume, 0);
  m.swizzle = MapSwizzle::b64;
  m.im2col->channels /= 2;
  return m;
}

TensorMap groups_map(const Pixels& t, const Gather& g, std::int64_t groups, std::uint32_t pixels) {
  Pixels all = t;
  all.size[2] = t.n;
  all.n = groups;
  TensorMap m = columns_map(all, g, true, pixels);
  m.strides[3] = u64(static_cast<std::int64_t>(size_of(t.type)) * t.channels);
  return m;
}

TensorMap rows_map(const Pixels& t) {
  TensorMap m = map_of(t);
  m.rank = 2;
  m.sizes = {u64(t.channels), u64(t.count())};
  m.strides = {u64(pitch_bytes(t))};
  m.box = {channels_of(t), kRows};
  return m;
}

}  // namespace nervanagpu::conv_detail
