#include "test/kernels/conv/model.h"

#include <cmath>
#include <limits>
#include <type_traits>

#include "kernels/conv/problem.h"

namespace nervanagpu::test {
namespace {

using conv_detail::Launch;
using conv_detail::Mapping;
using conv_detail::Order;

// How far apart in a tensor neighbours along each axis are.
struct Steps {
  std::int64_t outer, channel, z, y, x;

  [[nodiscard]] std::int64_t to(std::int64_t o, std::int64_t c, std::int64_t at_z, std::int64_t at_y,
                                std::int64_t at_x) const {
    return o * outer + c * channel + at_z * z + at_y * y + at_x * x;
  }
};

Steps steps_of(Layout layout, std::int64_t outer, std::int64_t channels, const std::array<std::int64_t, 3>& spatial) {
  const auto step = [&](const At& at) { return offset_of(layout, at, outer, channels, spatial); };
  return {step({1, 0, 0, 0, 0}), step({0, 1, 0, 0, 0}), step({0, 0, 1, 0, 0}), step({0, 0, 0, 1, 0}),
          step({0, 0, 0, 0, 1})};
}

// sum += the products of `count` elements, which lie `xs` and `ws` apart.
template <class T>
void add_dot(T& sum, const T* x, std::int64_t xs, const T* w, std::int64_t ws, std::int64_t count) {
  T total = sum;
  for (std::int64_t c = 0; c < count; ++c) total += x[c * xs] * w[c * ws];
  sum = total;
}

// to += factor * from, element by element.
template <class T>
void add_scaled(T* to, std::int64_t ts, T factor, const T* from, std::int64_t fs, std::int64_t count) {
  for (std::int64_t c = 0; c < count; ++c) to[c * ts] += factor * from[c * fs];
}

template <class T>
std::vector<T> loops(ConvPass pass, const ConvProblem& p, const std::vector<T>& in1, const std::vector<T>& in2) {
  const auto out = p.out();
  const std::int64_t cg = p.c / p.groups;
  const std::int64_t kg = p.k / p.groups;
  const conv_detail::Roles roles = conv_detail::roles_of(pass);
  std::vector<T> result(static_cast<std::size_t>(conv_detail::elements_of(p, roles.out)));
  const Steps xs = steps_of(p.layout, p.n, p.c, p.in);
  const Steps ws = steps_of(p.layout, p.k, cg, p.filter);
  const Steps ys = steps_of(p.layout, p.n, p.k, out);
  // Of the channels that a filter's tap meets.
  const auto add = [&](std::int64_t x, std::int64_t w, std::size_t y) {
    switch (pass) {
      case ConvPass::fprop: add_dot(result[y], in1.data() + x, xs.channel, in2.data() + w, ws.channel, cg); break;
      case ConvPass::bprop: add_scaled(result.data() + x, xs.channel, in1[y], in2.data() + w, ws.channel, cg); break;
      case ConvPass::update: add_scaled(result.data() + w, ws.channel, in1[y], in2.data() + x, xs.channel, cg); break;
    }
  };
  for (std::int64_t n = 0; n < p.n; ++n) {
    for (std::int64_t k = 0; k < p.k; ++k) {
      for (std::int64_t m = 0; m < out[0]; ++m) {
        for (std::int64_t r = 0; r < out[1]; ++r) {
          for (std::int64_t q = 0; q < out[2]; ++q) {
            const auto y = static_cast<std::size_t>(ys.to(n, k, m, r, q));
            for (std::int64_t fz = 0; fz < p.filter[0]; ++fz) {
              const std::int64_t z = m * p.stride[0] - p.pad[0] + fz * p.dilation[0];
              if (z < 0 || z >= p.in[0]) continue;
              for (std::int64_t fy = 0; fy < p.filter[1]; ++fy) {
                const std::int64_t h = r * p.stride[1] - p.pad[1] + fy * p.dilation[1];
                if (h < 0 || h >= p.in[1]) continue;
                for (std::int64_t fx = 0; fx < p.filter[2]; ++fx) {
                  const std::int64_t w = q * p.stride[2] - p.pad[2] + fx * p.dilation[2];
                  if (w < 0 || w >= p.in[2]) continue;
                  add(xs.to(n, k / kg * cg, z, h, w), ws.to(k, 0, fz, fy, fx), y);
                }
              }
            }
          }
        }
      }
    }
  }
  return result;
}

// The coordinates of an index.
struct Index {
  std::int64_t n;
  conv_detail::Triple at;  // z, y, x
};

Index split(std::int64_t i, const conv_detail::Triple& e, bool own_inner) {
  const std::int64_t e0 = i % e[0];
  const std::int64_t e1 = i / e[0] % e[1];
  const std::int64_t e2 = i / e[0] / e[1] % e[2];
  const std::int64_t rest = i / e[0] / e[1] / e[2];
  if (own_inner) return {e0, {rest, e2, e1}};
  return {rest, {e2, e1, e0}};
}

bool is_s32(std::int64_t v) {
  return v >= std::numeric_limits<std::int32_t>::min() && v <= std::numeric_limits<std::int32_t>::max();
}

bool fits(const Launch& l) {
  for (const std::int64_t v : {l.m, l.n, l.kchunk, l.splits, l.groups}) {
    if (v < 1 || !is_s32(v)) return false;
  }
  for (const std::int64_t v : {l.k, l.ga, l.gb, l.gc, l.cs, l.c0}) {
    if (v < 0 || !is_s32(v)) return false;
  }
  for (const std::int64_t v : {l.ai_n, l.al_n, l.bl_n, l.bj, l.ci_n, l.cj}) {
    if (!is_s32(v)) return false;
  }
  for (const conv_detail::Triple& t : {l.as, l.mi, l.ml, l.origin, l.bl, l.ci}) {
    for (const std::int64_t v : t) {
      if (!is_s32(v)) return false;
    }
  }
  for (const conv_detail::Triple& t : {l.ie, l.le, l.dim}) {
    for (const std::int64_t v : t) {
      if (v < 1 || !is_s32(v)) return false;
    }
  }
  return l.kchunk % 16 == 0 && l.splits * l.kchunk >= l.k && l.groups * l.splits <= 65535;
}

// What an element holds before it is written.
template <class T>
constexpr T unwritten() {
  return std::is_same_v<T, float> ? std::numeric_limits<T>::lowest() : std::numeric_limits<T>::min();
}

constexpr std::int64_t kChunk = 256;  // terms, after which sums begin anew

template <class T>
class Runner {
 public:
  Runner(const Launch& l, const std::vector<T>& a, const std::vector<T>& b, std::vector<T>& c)
      : l_(l), a_(a), b_(b), c_(c) {}

  bool run() {
    if (!fits(l_)) return false;
    for (std::int64_t z = 0; z < l_.groups * l_.splits; ++z) {
      for (std::int64_t i = 0; i < l_.m; ++i) {
        for (std::int64_t j = 0; j < l_.n; ++j) {
          if (!element(z / l_.splits, z % l_.splits, i, j)) return false;
        }
      }
    }
    return true;
  }

 private:
  bool element(std::int64_t group, std::int64_t s, std::int64_t i, std::int64_t j) {
    const bool i_inner = l_.order == Order::iji || l_.order == Order::ili;
    const bool l_inner = l_.order != Order::iji;
    const bool linear = l_.order == Order::llj || l_.order == Order::iji;
    const Index at = split(i, l_.ie, i_inner);
    T sum = 0, total = 0;  // of a chunk, and of those before
    const std::int64_t begin = s * l_.kchunk;
    const std::int64_t end = std::min(l_.k, begin + l_.kchunk);
    for (std::int64_t l = begin; l < end; ++l) {
      if (l > begin && (l - begin) % kChunk == 0) {
        total = l - begin == kChunk ? sum : sum + total;
        sum = 0;
      }
      const Index tap = split(l, l_.le, l_inner);
      std::int64_t from = l_.a_at + group * l_.ga + at.n * l_.ai_n + tap.n * l_.al_n;
      bool inside = true;
      std::int64_t weight = l_.b_at + group * l_.gb + (linear ? l : tap.n) * l_.bl_n + j * l_.bj;
      for (std::size_t d = 0; d < 3; ++d) {
        const std::int64_t x = at.at[d] * l_.mi[d] + tap.at[d] * l_.ml[d] + l_.origin[d];
        inside = inside && x >= 0 && x < l_.dim[d];
        from += x * l_.as[d];
        if (!linear) weight += tap.at[d] * l_.bl[d];
      }
      if (weight < 0 || weight >= static_cast<std::int64_t>(b_.size())) return false;
      if (!inside) continue;
      if (from < 0 || from >= static_cast<std::int64_t>(a_.size())) return false;
      const T x = a_[static_cast<std::size_t>(from)];
      const T w = b_[static_cast<std::size_t>(weight)];
      if constexpr (std::is_same_v<T, float>) {
        sum = std::fma(x, w, sum);
      } else {
        sum += x * w;
      }
    }
    std::int64_t to = l_.c_at + at.n * l_.ci_n + j * l_.cj;
    for (std::size_t d = 0; d < 3; ++d) to += at.at[d] * l_.ci[d];
    to += l_.partial ? (group * l_.splits + s) * l_.cs : l_.c0 + group * l_.gc;
    if (to < 0 || to >= static_cast<std::int64_t>(c_.size())) return false;
    if (c_[static_cast<std::size_t>(to)] != unwritten<T>()) return false;
    c_[static_cast<std::size_t>(to)] = end - begin > kChunk ? sum + total : sum;
    return true;
  }

  const Launch& l_;
  const std::vector<T>& a_;
  const std::vector<T>& b_;
  std::vector<T>& c_;
};

template <class T>
std::vector<T> executed(ConvPass pass, const ConvProblem& p, const Mapping& mapping, const std::vector<T>& in1,
                        const std::vector<T>& in2) {
  // A is x, or dy in bprop; the pass's first input but for update.
  const std::vector<T>& a = pass == ConvPass::update ? in2 : in1;
  const std::vector<T>& b = pass == ConvPass::update ? in1 : in2;
  const conv_detail::SplitSum& sum = mapping.sum;
  std::vector<T> out(static_cast<std::size_t>(conv_detail::elements_of(p, conv_detail::roles_of(pass).out)),
                     unwritten<T>());
  std::vector<T> workspace(static_cast<std::size_t>(sum.elements()), unwritten<T>());
  for (const Launch& l : mapping.launches) {
    if (l.partial != (sum.splits > 1)) return {};
    if (!Runner<T>(l, a, b, l.partial ? workspace : out).run()) return {};
  }
  if (sum.splits == 1) return out;
  for (std::int64_t g = 0; g < sum.groups; ++g) {
    for (std::int64_t row = 0; row < sum.rows; ++row) {
      for (std::int64_t col = 0; col < sum.cols; ++col) {
        T total = 0;
        for (std::int64_t s = 0; s < sum.splits; ++s) {
          const std::int64_t at = ((g * sum.splits + s) * sum.rows + row) * sum.cols + col;
          if (workspace[static_cast<std::size_t>(at)] == unwritten<T>()) return {};
          total += workspace[static_cast<std::size_t>(at)];
        }
        const std::int64_t to = g * sum.gc + row * sum.ld + col;
        if (to < 0 || to >= static_cast<std::int64_t>(out.size())) return {};
        if (out[static_cast<std::size_t>(to)] != unwritten<T>()) return {};
        out[static_cast<std::size_t>(to)] = total;
      }
    }
  }
  return out;
}

}  // namespace

std::int64_t offset_of(Layout layout, const At& at, std::int64_t outer, std::int64_t channels,
                       const std::array<std::int64_t, 3>& spatial) {
  const std::int64_t place = (at.z * spatial[1] + at.y) * spatial[2] + at.x;
  const std::int64_t places = spatial[0] * spatial[1] * spatial[2];
  switch (layout) {
    case Layout::channels_last: return (at.outer * places + place) * channels + at.channel;
    case Layout::batch_last: return (at.channel * places + place) * outer + at.outer;
    case Layout::channels_first: break;
  }
  return (at.outer * channels + at.channel) * places + place;
}

Integers convolve(ConvPass pass, const ConvProblem& p, const Integers& in1, const Integers& in2) {
  return loops(pass, p, in1, in2);
}

std::vector<double> convolve(ConvPass pass, const ConvProblem& p, const std::vector<double>& in1,
                             const std::vector<double>& in2) {
  return loops(pass, p, in1, in2);
}

Integers execute(ConvPass pass, const ConvProblem& p, const Mapping& mapping, const Integers& in1,
                 const Integers& in2) {
  return executed(pass, p, mapping, in1, in2);
}

std::vector<float> execute(ConvPass pass, const ConvProblem& p, const Mapping& mapping, const std::vector<float>& in1,
                           const std::vector<float>& in2) {
  return executed(pass, p, mapping, in1, in2);
}

}  // namespace nervanagpu::test
