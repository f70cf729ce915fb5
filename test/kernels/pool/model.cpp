#include "test/kernels/pool/model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>

namespace nervanagpu::test {
namespace {

using Quad = std::array<std::int64_t, 4>;

std::int64_t product(const Quad& q) {
  return q[0] * q[1] * q[2] * q[3];
}

// Where (n, c, d, h, w) lies in a tensor of these lengths.
std::size_t at(const PoolProblem& p, const Quad& lengths, std::int64_t n, const Quad& q) {
  std::vector<std::pair<std::int64_t, std::int64_t>> axes;  // (length, index), outermost first
  const auto space = [&] {
    for (std::size_t a = 1; a < 4; ++a) axes.emplace_back(lengths[a], q[a]);
  };
  switch (p.layout) {
    case Layout::channels_last:
      axes.emplace_back(p.n, n);
      space();
      axes.emplace_back(lengths[0], q[0]);
      break;
    case Layout::batch_last:
      axes.emplace_back(lengths[0], q[0]);
      space();
      axes.emplace_back(p.n, n);
      break;
    case Layout::channels_first:
      axes.emplace_back(p.n, n);
      axes.emplace_back(lengths[0], q[0]);
      space();
      break;
  }
  std::int64_t offset = 0;
  for (const auto& [length, index] : axes) offset = offset * length + index;
  return static_cast<std::size_t>(offset);
}

// Calls f(q) for all q below `lengths`, the last index fastest.
template <class F>
void each(const Quad& lengths, const F& f) {
  Quad q{};
  for (q[0] = 0; q[0] < lengths[0]; ++q[0]) {
    for (q[1] = 0; q[1] < lengths[1]; ++q[1]) {
      for (q[2] = 0; q[2] < lengths[2]; ++q[2]) {
        for (q[3] = 0; q[3] < lengths[3]; ++q[3]) f(q);
      }
    }
  }
}

// Calls f(y's offset, x's offsets of the window's elements in (j, t, r, s) order) for windows in ascending order.
void each_window(const PoolProblem& p, const std::function<void(std::size_t, const std::vector<std::size_t>&)>& f) {
  const Quad out = p.out();
  std::vector<std::size_t> elements;
  for (std::int64_t n = 0; n < p.n; ++n) {
    each(out, [&](const Quad& o) {
      elements.clear();
      each(p.window, [&](const Quad& k) {
        Quad q{};
        for (std::size_t a = 0; a < 4; ++a) {
          q[a] = o[a] * p.stride[a] - p.pad[a] + k[a];
          if (q[a] < 0 || q[a] >= p.in[a]) return;
        }
        elements.push_back(at(p, p.in, n, q));
      });
      f(at(p, out, n, o), elements);
    });
  }
}

bool uniform(const PoolProblem& p) {
  return p.count_padding || p.pad == Quad{};
}

float divisor(const PoolProblem& p, std::size_t inside) {
  return p.count_padding ? static_cast<float>(product(p.window)) : static_cast<float>(inside);
}

// The place in `elements` of the first largest element; NaN is the largest.
std::size_t first_max(const std::vector<float>& x, const std::vector<std::size_t>& elements) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < elements.size(); ++i) {
    const float v = x[elements[i]];
    const float b = x[elements[best]];
    if (v > b || (std::isnan(v) && !std::isnan(b))) best = i;
  }
  return best;
}

float root(const std::vector<float>& x, const std::vector<std::size_t>& elements) {
  float sum = 0;
  for (const std::size_t i : elements) sum = std::fma(x[i], x[i], sum);
  return std::sqrt(sum);
}

float pooled(const PoolProblem& p, const std::vector<float>& x, const std::vector<std::size_t>& elements) {
  switch (p.op) {
    case PoolOp::max: {
      float best = x[elements[first_max(x, elements)]];
      if (best == 0) {  // +0 is above -0
        for (const std::size_t i : elements) {
          if (x[i] == 0 && !std::signbit(x[i])) best = 0.0F;
        }
      }
      return best;
    }
    case PoolOp::avg: {
      float sum = 0;
      for (const std::size_t i : elements) sum += x[i];
      return sum / divisor(p, elements.size());
    }
    case PoolOp::l2: break;
  }
  return root(x, elements);
}

}  // namespace

std::int64_t x_elements(const PoolProblem& p) {
  return p.n * product(p.in);
}
std::int64_t y_elements(const PoolProblem& p) {
  return p.n * product(p.out());
}

std::vector<float> pool_bits(PoolPass pass, const PoolProblem& p, const std::vector<float>& x,
                             const std::vector<float>& dy) {
  const bool forward = pass == PoolPass::fprop;
  std::vector<float> out(static_cast<std::size_t>(forward ? y_elements(p) : x_elements(p)));
  each_window(p, [&](std::size_t y, const std::vector<std::size_t>& elements) {
    if (forward) {
      out[y] = pooled(p, x, elements);
      return;
    }
    switch (p.op) {
      case PoolOp::max: out[elements[first_max(x, elements)]] += dy[y]; break;
      case PoolOp::avg:
        for (const std::size_t i : elements) out[i] += uniform(p) ? dy[y] : dy[y] / divisor(p, elements.size());
        break;
      case PoolOp::l2: {
        const float r = root(x, elements);
        if (r == 0) break;
        for (const std::size_t i : elements) out[i] += x[i] / r * dy[y];
        break;
      }
    }
  });
  if (!forward && p.op == PoolOp::avg && uniform(p)) {
    for (float& v : out) v /= static_cast<float>(product(p.window));
  }
  return out;
}

Bounded pool_exact(PoolPass pass, const PoolProblem& p, const std::vector<float>& x, const std::vector<float>& dy) {
  const bool forward = pass == PoolPass::fprop;
  const auto count = static_cast<std::size_t>(forward ? y_elements(p) : x_elements(p));
  Bounded out{std::vector<double>(count), std::vector<double>(count), std::vector<double>(count),
              std::vector<double>(count)};
  each_window(p, [&](std::size_t y, const std::vector<std::size_t>& elements) {
    const auto terms = static_cast<double>(elements.size());
    double sum = 0, sum_size = 0, squares = 0, best = -std::numeric_limits<double>::infinity();
    std::size_t which = elements[0];
    for (const std::size_t i : elements) {
      const double v = x[i];
      sum += v;
      sum_size += std::fabs(v);
      squares += v * v;
      if (v > best) {
        best = v;
        which = i;
      }
    }
    const double n = p.count_padding ? static_cast<double>(product(p.window)) : terms;
    const auto add = [&](std::size_t i, double v) {
      out.value[i] += v;
      out.size[i] += std::fabs(v);
      out.terms[i] = std::max(out.terms[i], terms);
      out.windows[i] += 1;
    };
    if (forward) {
      out.value[y] = p.op == PoolOp::max ? best : p.op == PoolOp::avg ? sum / n : std::sqrt(squares);
      out.size[y] = p.op == PoolOp::avg ? sum_size / n : std::fabs(out.value[y]);
      out.terms[y] = terms;
      return;
    }
    switch (p.op) {
      case PoolOp::max: add(which, dy[y]); break;
      case PoolOp::avg:
        for (const std::size_t i : elements) add(i, dy[y] / n);
        break;
      case PoolOp::l2:
        if (squares == 0) break;
        for (const std::size_t i : elements) add(i, x[i] / std::sqrt(squares) * dy[y]);
        break;
    }
  });
  return out;
}

PoolProblem random_pool(std::mt19937& random, std::int64_t most_elements) {
  const auto pick = [&](std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random);
  };
  const auto choose = [&](std::initializer_list<std::int64_t> list) {
    return list.begin()[pick(0, static_cast<std::int64_t>(list.size()) - 1)];
  };
  for (;;) {
    PoolProblem p;
    p.op = static_cast<PoolOp>(pick(0, 2));
    p.layout = static_cast<Layout>(pick(0, 2));
    constexpr Dtype kTypes[] = {Dtype::float32, Dtype::float16, Dtype::bfloat16};
    p.dtype = kTypes[pick(0, 2)];
    p.count_padding = pick(0, 1) == 0;
    p.n = choose({1, 1, 2, 3, 5, 8, 16});
    p.in = {choose({1, 3, 5, 8, 16, 7, 24}), choose({1, 1, 1, 2, 5}), choose({1, 2, 3, 5, 7, 8, 11, 13}),
            choose({1, 2, 3, 4, 6, 7, 9, 13})};
    const std::int64_t side = choose({1, 2, 2, 3, 3, 3, 4, 5, 7});
    const bool square = pick(0, 1) == 0;
    const bool maps = pick(0, 3) == 0;
    for (std::size_t a = 0; a < 4; ++a) {
      if (a == 0 && !maps) continue;
      if (a == 1 && pick(0, 2) != 0) continue;
      p.window[a] = square && a > 1 ? side : choose({1, 2, 3, 4, 5, 9});
      p.stride[a] = pick(0, 2) == 0 ? p.window[a] : choose({1, 1, 2, 2, 3, 5, 8});
      p.pad[a] = pick(0, 1) == 0 ? 0 : pick(0, p.window[a] - 1);
    }
    bool fits = true;
    for (std::size_t a = 0; a < 4; ++a) fits = fits && p.in[a] + 2 * p.pad[a] >= p.window[a];
    if (fits && x_elements(p) <= most_elements && y_elements(p) <= most_elements) return p;
  }
}

std::string text_of(const PoolProblem& p) {
  const auto quad = [](const Quad& q) {
    return std::to_string(q[0]) + "," + std::to_string(q[1]) + "," + std::to_string(q[2]) + "," + std::to_string(q[3]);
  };
  constexpr const char* kOps[] = {"max", "avg", "l2"};
  constexpr const char* kLayouts[] = {"channels last", "batch last", "channels first"};
  return std::string(kOps[static_cast<int>(p.op)]) + (p.count_padding ? " with padding " : " ") +
         std::string(name_of(p.dtype)) + ", " + kLayouts[static_cast<int>(p.layout)] + ", n " + std::to_string(p.n) +
         ", in " + quad(p.in) + ", window " + quad(p.window) + ", pad " + quad(p.pad) + ", stride " + quad(p.stride);
}

}  // namespace nervanagpu::test
