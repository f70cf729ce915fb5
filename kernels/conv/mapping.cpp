#include "kernels/conv/mapping.h"

#include <algorithm>
#include <numeric>
#include <string>

#include "kernels/conv/problem.h"
#include "nervanagpu/error.hpp"
#include "src/ceil_div.h"

namespace nervanagpu::conv_detail {
namespace {

// Where the neighbours of an element lie. `outer`: batch of x and y, K of w.
struct Strides {
  std::int64_t outer = 0, channel = 0;
  Triple at = {0, 0, 0};
};

std::int64_t volume(const Triple& t) {
  return t[0] * t[1] * t[2];
}

// pitch: with channels last, elements from pixel to pixel.
Strides strides_of(bool channels_last, std::int64_t outer, std::int64_t pitch, const Triple& spatial) {
  Strides s;
  const std::int64_t inner = channels_last ? pitch : outer;
  s.at = {spatial[1] * spatial[2] * inner, spatial[2] * inner, inner};
  s.channel = channels_last ? 1 : volume(spatial) * inner;
  s.outer = channels_last ? volume(spatial) * inner : 1;
  return s;
}

constexpr std::int64_t kMostClasses = 65536;  // launches of a bprop with strides

// Everything a launch is made from.
struct Geometry {
  const ConvProblem& p;
  bool last;  // channels last, else batch last
  Triple out;
  std::int64_t cg, kg;  // channels of a group
  Strides x, w, y;

  explicit Geometry(const ConvProblem& problem)
      : p(problem),
        last(problem.layout == Layout::channels_last),
        out(problem.out()),
        cg(problem.c / problem.groups),
        kg(problem.k / problem.groups),
        x(strides_of(last, problem.n, pitch_of(problem, Role::x), problem.in)),
        w(strides_of(last, problem.k, cg, problem.filter)),
        y(strides_of(last, problem.n, pitch_of(problem, Role::y), out)) {}

  // Of the memory that a tensor of images covers.
  [[nodiscard]] std::int64_t elements(Role role) const {
    return last ? p.n * (role == Role::x ? x : y).outer : elements_of(p, role);
  }
};

// The extents by which an index is decomposed; the coordinate that is left over needs none.
Triple extents(bool own_inner, std::int64_t own, const Triple& spatial) {
  if (own_inner) return {own, spatial[2], spatial[1]};
  return {spatial[2], spatial[1], spatial[0]};
}

// `n` images from number `n0` on.
struct Batch {
  std::int64_t n0, n;
};

Launch fprop(const Geometry& g, const Batch& batch) {
  Launch l;
  l.order = g.last ? Order::llj : Order::iji;
  l.m = batch.n * volume(g.out);
  l.n = g.kg;
  l.k = g.cg * volume(g.p.filter);
  l.ie = extents(!g.last, batch.n, g.out);
  l.le = extents(g.last, g.cg, g.p.filter);
  l.ai_n = g.x.outer;
  l.al_n = g.x.channel;
  l.as = g.x.at;
  l.mi = g.p.stride;
  l.ml = g.p.dilation;
  for (std::size_t d = 0; d < 3; ++d) l.origin[d] = -g.p.pad[d];
  l.dim = g.p.in;
  l.bl_n = g.last ? 1 : g.p.k;
  l.bj = g.w.outer;
  l.ci_n = g.y.outer;
  l.ci = g.y.at;
  l.cj = g.y.channel;
  l.ga = g.cg * g.x.channel;
  l.gb = g.kg * g.w.outer;
  l.gc = g.kg * g.y.channel;
  l.a_at = batch.n0 * g.x.outer;
  l.c_at = batch.n0 * g.y.outer;
  return l;
}

Launch update(const Geometry& g, const Batch& batch) {
  Launch l;
  l.order = g.last ? Order::iji : Order::llj;
  l.m = g.cg * volume(g.p.filter);
  l.n = g.kg;
  l.k = batch.n * volume(g.out);
  l.ie = extents(g.last, g.cg, g.p.filter);
  l.le = extents(!g.last, batch.n, g.out);
  l.ai_n = g.x.channel;
  l.al_n = g.x.outer;
  l.as = g.x.at;
  l.mi = g.p.dilation;
  l.ml = g.p.stride;
  for (std::size_t d = 0; d < 3; ++d) l.origin[d] = -g.p.pad[d];
  l.dim = g.p.in;
  l.bl_n = g.last ? g.y.at[2] : 1;
  l.bj = g.y.channel;
  l.ci_n = g.w.channel;
  l.ci = g.w.at;
  l.cj = g.w.outer;
  l.ga = g.cg * g.x.channel;
  l.gb = g.kg * g.y.channel;
  l.gc = g.kg * g.w.outer;
  l.a_at = batch.n0 * g.x.outer;
  l.b_at = batch.n0 * g.y.outer;
  return l;
}

// One axis of a class of input positions rho + u a, a in [0, count): tap r = first + j step reads y at
// a + origin - j * back, j in [0, taps).
struct Class {
  std::int64_t rho = 0, count = 0, first = 0, step = 1, taps = 0, origin = 0, back = 0;
};

// Position h meets tap r at output q if q u = h + pad - r dil.
Class class_of(const ConvProblem& p, std::size_t axis, std::int64_t rho) {
  const std::int64_t u = p.stride[axis];
  const std::int64_t dil = p.dilation[axis];
  const std::int64_t common = std::gcd(u, dil);
  Class c;
  c.rho = rho;
  c.count = (p.in[axis] - rho + u - 1) / u;
  c.step = u / common;
  c.back = dil / common;
  const std::int64_t from = rho + p.pad[axis];
  if (from % common != 0) return c;
  // The first tap with r dil = from (mod u); they come back every `step` taps.
  const std::int64_t tries = std::min(c.step, p.filter[axis]);
  for (std::int64_t r = 0; r < tries; ++r) {
    if ((from - r * dil) % u != 0) continue;
    c.first = r;
    c.taps = (p.filter[axis] - r + c.step - 1) / c.step;
    c.origin = (from - r * dil) / u;
    break;
  }
  return c;
}

Launch bprop(const Geometry& g, const Batch& batch, const std::array<Class, 3>& classes) {
  Launch l;
  l.order = g.last ? Order::ljj : Order::ili;
  Triple count{};
  Triple taps{};
  for (std::size_t d = 0; d < 3; ++d) count[d] = classes[d].count, taps[d] = classes[d].taps;
  l.m = batch.n * volume(count);
  l.n = g.cg;
  l.k = g.kg * volume(taps);
  l.ie = extents(!g.last, batch.n, count);
  if (l.k > 0) l.le = extents(true, g.kg, taps);
  l.ai_n = g.y.outer;
  l.al_n = g.y.channel;
  l.as = g.y.at;
  l.dim = g.out;
  l.bl_n = g.w.outer;
  l.bj = g.w.channel;
  l.ci_n = g.x.outer;
  l.cj = g.x.channel;
  for (std::size_t d = 0; d < 3; ++d) {
    l.mi[d] = 1;
    l.ml[d] = -classes[d].back;
    l.origin[d] = classes[d].origin;
    l.bl[d] = classes[d].step * g.w.at[d];
    l.b_at += classes[d].first * g.w.at[d];
    l.ci[d] = g.p.stride[d] * g.x.at[d];
    l.c0 += classes[d].rho * g.x.at[d];
    if (classes[d].taps <= 1) l.ml[d] = l.bl[d] = 0;  // multiplied by 0, and perhaps beyond 32 bits
    if (classes[d].count <= 1) l.ci[d] = 0;
  }
  l.ga = g.kg * g.y.channel;
  l.gb = g.kg * g.w.outer;
  l.gc = g.cg * g.x.channel;
  l.a_at = batch.n0 * g.y.outer;
  l.c_at = batch.n0 * g.x.outer;
  return l;
}

std::vector<Launch> bprop_classes(const Geometry& g, const Batch& batch) {
  std::array<std::vector<Class>, 3> axes;
  std::int64_t all = 1;
  for (std::size_t d = 0; d < 3; ++d) all *= std::min({g.p.stride[d], g.p.in[d], kMostClasses});
  if (all >= kMostClasses) {
    throw InvalidArgument("conv: the product of the strides is " + std::to_string(all) +
                          " or more; bprop needs less than " + std::to_string(kMostClasses));
  }
  for (std::size_t d = 0; d < 3; ++d) {
    const std::int64_t classes = std::min(g.p.stride[d], g.p.in[d]);
    for (std::int64_t rho = 0; rho < classes; ++rho) axes[d].push_back(class_of(g.p, d, rho));
  }
  std::vector<Launch> out;
  for (const Class& z : axes[0]) {
    for (const Class& y : axes[1]) {
      for (const Class& x : axes[2]) out.push_back(bprop(g, batch, {z, y, x}));
    }
  }
  return out;
}

bool writes_batch(ConvPass pass) {
  return pass != ConvPass::update;
}

[[noreturn]] void too_large(const char* what, std::int64_t got, std::int64_t below) {
  throw InvalidArgument(std::string("conv: ") + what + " has " + std::to_string(got) + " elements; needs less than " +
                        std::to_string(below));
}

// Parts of the batch of which each tensor's part is addressable.
std::vector<Batch> batches(ConvPass pass, const Geometry& g, const Limits& limits) {
  if (g.p.w_elements() >= limits.elements) too_large(name_of(pass, Role::w), g.p.w_elements(), limits.elements);
  if (g.elements(Role::x) < limits.elements && g.elements(Role::y) < limits.elements) return {{0, g.p.n}};
  for (const Role role : {Role::x, Role::y}) {
    const std::int64_t all = g.elements(role);
    if (!g.last && all >= limits.elements) too_large(name_of(pass, role), all, limits.elements);
    if (all / g.p.n >= limits.elements) too_large("one image", all / g.p.n, limits.elements);
  }
  const std::int64_t image = std::max(g.x.outer, g.y.outer);
  std::int64_t most = std::max<std::int64_t>(1, (limits.elements - 1) / image);
  if (most >= 4) most -= most % 4;  // random words come in fours
  std::vector<Batch> out;
  for (std::int64_t n0 = 0; n0 < g.p.n; n0 += most) out.push_back({n0, std::min(most, g.p.n - n0)});
  return out;
}

// C as a dense matrix of partial sums for each split of each group.
void make_partial(Launch& l) {
  const bool by_j = l.order == Order::llj || l.order == Order::ljj;
  const std::int64_t unit = by_j ? l.n : 1;
  const bool own_inner = !by_j;
  l.cj = by_j ? 1 : l.m;
  if (own_inner) {
    l.ci_n = 1;
    l.ci[2] = l.ie[0];
    l.ci[1] = l.ci[2] * l.ie[1];
    l.ci[0] = l.ci[1] * l.ie[2];
  } else {
    l.ci[2] = unit;
    l.ci[1] = l.ci[2] * l.ie[0];
    l.ci[0] = l.ci[1] * l.ie[1];
    l.ci_n = l.ci[0] * l.ie[2];
  }
  l.partial = true;
  l.cs = l.m * l.n;
  l.c_at = l.c0 = 0;
}

// `to`: the result's strides.
SplitSum sum_of(const Launch& l, const Strides& to, std::int64_t splits) {
  SplitSum s;
  const bool by_j = l.order == Order::llj || l.order == Order::ljj;
  s.splits = splits;
  s.groups = l.groups;
  s.rows = by_j ? l.m : l.n;
  s.cols = by_j ? l.n : l.m;
  s.ld = by_j ? to.at[2] : l.cj;
  s.gc = l.gc;
  s.bias_along_rows = !by_j;
  return s;
}

// The same launch for groups first .. first + count - 1.
Launch of_groups(const Launch& l, std::int64_t first, std::int64_t count) {
  Launch part = l;
  part.groups = count;
  part.a_at += first * l.ga;
  part.b_at += first * l.gb;
  part.bias_at += first * l.n;
  if (l.partial) {
    part.c_at += first * l.splits * l.cs;
  } else {
    part.c0 += first * l.gc;
  }
  return part;
}

void append(std::vector<Launch>& out, const Launch& l, std::int64_t most_groups) {
  for (std::int64_t first = 0; first < l.groups; first += most_groups) {
    out.push_back(of_groups(l, first, std::min(most_groups, l.groups - first)));
  }
}

std::int64_t chunk_of(std::int64_t k, std::int64_t splits) {
  return std::max<std::int64_t>(ceil_div(ceil_div(k, splits), 16) * 16, 16);
}

}  // namespace

std::int64_t splits_of(std::int64_t tiles, std::int64_t k, std::int64_t outputs) {
  constexpr std::int64_t kProcessors = 132;
  constexpr std::int64_t kStart = 48;             // what a tile costs besides its sums, in terms of one
  constexpr std::int64_t kLeast = 64;             // terms of a part
  constexpr std::int64_t kMostBytes = 256 << 20;  // of partial sums
  constexpr std::int64_t kOutputsOfATerm = 220;   // partial sums written and read again in the time of a term
  constexpr std::int64_t kLaunch = 60;            // of the sum, in terms
  if (tiles >= 16 * kProcessors) return 1;
  const std::int64_t most =
      std::min({k / kLeast, std::int64_t{256}, kMostBytes / 4 / std::max<std::int64_t>(outputs, 1)});
  std::int64_t best = 1;
  std::int64_t best_cost = 0;
  for (std::int64_t s = 1; s <= std::max<std::int64_t>(most, 1); ++s) {
    const std::int64_t on_one = ceil_div(tiles * s, kProcessors);  // tiles of the busiest multiprocessor
    // Two tiles at a time; one alone does not hide its latencies and takes nearly as long.
    std::int64_t cost = (on_one * 4 + (on_one % 2) * 3) * (chunk_of(k, s) + kStart);
    if (s > 1) cost += (kLaunch + s * outputs / kOutputsOfATerm / kProcessors) * 4;
    if (s == 1 || cost < best_cost) best = s, best_cost = cost;
  }
  return ceil_div(std::max<std::int64_t>(k, 1), chunk_of(k, best));
}

Mapping map(ConvPass pass, const ConvProblem& p, const Limits& limits, std::int64_t forced_splits) {
  const Geometry g(p);
  const std::vector<Batch> parts = batches(pass, g, limits);
  Mapping out;
  std::vector<Launch> launches;
  for (const Batch& part : parts) {
    if (pass == ConvPass::bprop) {
      for (const Launch& l : bprop_classes(g, part)) launches.push_back(l);
    } else {
      launches.push_back(pass == ConvPass::fprop ? fprop(g, part) : update(g, part));
    }
  }
  std::int64_t splits = 1;  // of every launch
  const bool dense = !writes_batch(pass) || launches.size() == 1;
  if (dense) {
    const Launch& l = launches.front();
    const std::int64_t tiles = ceil_div(l.m, 128) * ceil_div(l.n, 128) * p.groups;
    splits = forced_splits > 0 ? forced_splits : splits_of(tiles, l.k, l.m * l.n * p.groups);
    splits = std::clamp<std::int64_t>(ceil_div(l.k, chunk_of(l.k, splits)), 1, limits.grid_z);
    const Strides& to = pass == ConvPass::fprop ? g.y : pass == ConvPass::bprop ? g.x : g.w;
    out.sum = sum_of(l, to, splits * static_cast<std::int64_t>(launches.size()));
    out.sum.groups = p.groups;
  }
  // The batch's parts of an update are splits, too; each with groups of its own, since their sums lie between others'.
  const bool several = launches.size() > 1 && !writes_batch(pass);
  for (std::size_t at = 0; at < launches.size(); ++at) {
    Launch& l = launches[at];
    l.groups = p.groups;
    l.splits = splits;
    l.kchunk = chunk_of(l.k, splits);
    l.round_skip = static_cast<std::uint64_t>(l.c_at / 4);
    if (splits > 1 || several) make_partial(l);
    if (!several) {
      append(out.launches, l, std::max<std::int64_t>(1, limits.grid_z / splits));
      continue;
    }
    for (std::int64_t group = 0; group < p.groups; ++group) {
      Launch one = of_groups(l, group, 1);
      one.c_at = (group * out.sum.splits + static_cast<std::int64_t>(at) * splits) * l.cs;
      out.launches.push_back(one);
    }
  }
  return out;
}

}  // namespace nervanagpu::conv_detail
