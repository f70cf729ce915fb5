// Pooling and its gradient in float64, by the definition.
#include <algorithm>
#include <cmath>

#include "test/gpu/reference.h"

namespace nervanagpu::gpu_test {
namespace {

std::size_t at(std::int64_t i) {
  return static_cast<std::size_t>(i);
}

struct Box {
  std::array<std::int64_t, 4> low{}, high{};  // what of a window lies inside, high excluded
  std::array<std::int64_t, 4> start{};        // where it begins, padding included
};

// Calls f(output, box): positions of x and y in the order (n, c, d, h, w).
template <class F>
void each_window(const PoolProblem& p, const F& f) {
  const auto out = p.out();
  std::int64_t index = 0;
  for (std::int64_t n = 0; n < p.n; ++n) {
    for (std::int64_t o = 0; o < out[0] * out[1] * out[2] * out[3]; ++o, ++index) {
      const std::array<std::int64_t, 4> where = {o / (out[1] * out[2] * out[3]), o / (out[2] * out[3]) % out[1],
                                                 o / out[3] % out[2], o % out[3]};
      Box box;
      for (std::size_t a = 0; a < 4; ++a) {
        const std::int64_t start = where[a] * p.stride[a] - p.pad[a];
        box.start[a] = start;
        box.low[a] = std::max<std::int64_t>(start, 0);
        box.high[a] = std::min(start + p.window[a], p.in[a]);
      }
      f(n, index, box);
    }
  }
}

// Calls f(position in x) for what of the window lies inside, in (j, t, r, s) order.
template <class F>
void each_element(const PoolProblem& p, std::int64_t n, const Box& box, const F& f) {
  for (std::int64_t j = box.low[0]; j < box.high[0]; ++j) {
    for (std::int64_t t = box.low[1]; t < box.high[1]; ++t) {
      for (std::int64_t r = box.low[2]; r < box.high[2]; ++r) {
        for (std::int64_t s = box.low[3]; s < box.high[3]; ++s) {
          f(at((((n * p.in[0] + j) * p.in[1] + t) * p.in[2] + r) * p.in[3] + s));
        }
      }
    }
  }
}

double divisor(const PoolProblem& p, const Box& box) {
  double count = 1;
  for (std::size_t a = 0; a < 4; ++a) {
    count *= static_cast<double>(p.count_padding ? p.window[a] : box.high[a] - box.low[a]);
  }
  return count;
}

std::int64_t space(const std::array<std::int64_t, 4>& v) {
  return v[1] * v[2] * v[3];
}

std::int64_t window_size(const PoolProblem& p) {
  return p.window[0] * space(p.window);
}

}  // namespace

Pooled pooling(const PoolProblem& p, const Values& in) {
  const auto out = p.out();
  const Values x = to_first(in, p.layout, p.n, p.in[0], space(p.in));
  Values value(at(p.n * out[0] * space(out)));
  Values size(value.size());
  each_window(p, [&](std::int64_t n, std::int64_t o, const Box& box) {
    double best = -HUGE_VAL;
    double sum = 0;
    double sum_size = 0;
    double squares = 0;
    each_element(p, n, box, [&](std::size_t i) {
      best = std::max(best, x[i]);
      sum += x[i];
      sum_size += std::fabs(x[i]);
      squares += x[i] * x[i];
    });
    switch (p.op) {
      case PoolOp::max: value[at(o)] = best; break;
      case PoolOp::avg:
        value[at(o)] = sum / divisor(p, box);
        size[at(o)] = sum_size / divisor(p, box);
        break;
      case PoolOp::l2: value[at(o)] = size[at(o)] = std::sqrt(squares); break;
    }
  });
  return {from_first(value, p.layout, p.n, out[0], space(out)), from_first(size, p.layout, p.n, out[0], space(out)),
          p.op == PoolOp::max ? 0 : window_size(p) + 4};
}

Pooled pooling_gradient(const PoolProblem& p, const Values& dy_in, const Values& x_in) {
  const auto out = p.out();
  const Values x = to_first(x_in, p.layout, p.n, p.in[0], space(p.in));
  const Values dy = to_first(dy_in, p.layout, p.n, out[0], space(out));
  Values value(x.size());
  Values size(x.size());
  const auto add = [&](std::size_t i, double v) {
    value[i] += v;
    size[i] += std::fabs(v);
  };
  each_window(p, [&](std::int64_t n, std::int64_t o, const Box& box) {
    const double d = dy[at(o)];
    std::size_t best = x.size();
    double squares = 0;
    each_element(p, n, box, [&](std::size_t i) {
      if (best == x.size() || x[i] > x[best]) best = i;
      squares += x[i] * x[i];
    });
    switch (p.op) {
      case PoolOp::max: add(best, d); break;
      case PoolOp::avg: each_element(p, n, box, [&](std::size_t i) { add(i, d / divisor(p, box)); }); break;
      case PoolOp::l2:
        if (squares > 0) each_element(p, n, box, [&](std::size_t i) { add(i, d * x[i] / std::sqrt(squares)); });
        break;
    }
  });
  // An element lies in at most so many windows; the root and the quotient of each have errors of their own.
  std::int64_t windows = 1;
  for (std::size_t a = 0; a < 4; ++a) windows *= (p.window[a] + p.stride[a] - 1) / p.stride[a];
  const std::int64_t own = p.op == PoolOp::max ? 0 : (p.op == PoolOp::avg ? 3 : window_size(p) + 6);
  return {from_first(value, p.layout, p.n, p.in[0], space(p.in)), from_first(size, p.layout, p.n, p.in[0], space(p.in)),
          windows - 1 + own};
}

Bytes pooling_places(const PoolProblem& p, const Values& x_in, bool relu, int bits) {
  const auto out = p.out();
  const Values x = to_first(x_in, p.layout, p.n, p.in[0], space(p.in));
  const std::int64_t none = (1 << bits) - 1;
  Values places(at(p.n * out[0] * space(out)));
  each_window(p, [&](std::int64_t n, std::int64_t o, const Box& box) {
    double best = -HUGE_VAL;
    std::int64_t place = none;
    for (std::int64_t t = box.low[1]; t < box.high[1]; ++t) {
      for (std::int64_t r = box.low[2]; r < box.high[2]; ++r) {
        for (std::int64_t s = box.low[3]; s < box.high[3]; ++s) {
          const double v = x[at((((n * p.in[0] + box.low[0]) * p.in[1] + t) * p.in[2] + r) * p.in[3] + s)];
          if (!(v > best) && place != none) continue;
          best = v;
          place = ((t - box.start[1]) * p.window[2] + r - box.start[2]) * p.window[3] + s - box.start[3];
        }
      }
    }
    places[at(o)] = static_cast<double>(relu && !(best > 0) ? none : place);
  });
  const Values ordered = from_first(places, p.layout, p.n, out[0], space(out));
  Bytes codes(ordered.size() * static_cast<std::size_t>(bits) / 8);
  for (std::size_t i = 0; i < ordered.size(); ++i) {
    const std::size_t bit = i * static_cast<std::size_t>(bits);
    codes[bit / 8] = static_cast<std::uint8_t>(codes[bit / 8] | static_cast<unsigned>(ordered[i]) << bit % 8);
  }
  return codes;
}

}  // namespace nervanagpu::gpu_test
