// GEMM and convolution: every product is a row of C plus a number times a row of B, which the compiler vectorises.
#include <algorithm>

#include "test/gpu/reference.h"

namespace nervanagpu::gpu_test {
namespace {

std::size_t at(std::int64_t i) {
  return static_cast<std::size_t>(i);
}

// C[m,n] += A[m,k] B[k,n]; A(i,l) is a[i * ai + l * al].
void multiply(std::int64_t m, std::int64_t n, std::int64_t k, const double* a, std::int64_t ai, std::int64_t al,
              const double* __restrict b, double* __restrict c) {
  for (std::int64_t i = 0; i < m; ++i) {
    double* row = c + i * n;
    for (std::int64_t l = 0; l < k; ++l) {
      const double v = a[i * ai + l * al];
      const double* from = b + l * n;
      for (std::int64_t j = 0; j < n; ++j) row[j] += v * from[j];
    }
  }
}

template <class F>
Values permuted(Layout layout, std::int64_t outer, std::int64_t inner, std::int64_t spatial, const F& move) {
  Values out(at(outer * inner * spatial));
  for (std::int64_t o = 0; o < outer; ++o) {
    for (std::int64_t i = 0; i < inner; ++i) {
      for (std::int64_t s = 0; s < spatial; ++s) {
        const std::int64_t first = (o * inner + i) * spatial + s;
        std::int64_t there = first;
        if (layout == Layout::channels_last) there = (o * spatial + s) * inner + i;
        if (layout == Layout::batch_last) there = (i * spatial + s) * outer + o;
        move(out, at(first), at(there));
      }
    }
  }
  return out;
}

std::int64_t volume(const std::array<std::int64_t, 3>& v) {
  return v[0] * v[1] * v[2];
}

// Calls f(l, q, s) for tap l, output position q and input position s, where the tap is not in the padding.
template <class F>
void each_tap(const ConvProblem& p, const F& f) {
  const auto out = p.out();
  std::int64_t l = 0;
  for (std::int64_t t = 0; t < p.filter[0]; ++t) {
    for (std::int64_t r = 0; r < p.filter[1]; ++r) {
      for (std::int64_t s = 0; s < p.filter[2]; ++s, ++l) {
        std::int64_t q = 0;
        for (std::int64_t z = 0; z < out[0]; ++z) {
          const std::int64_t d = z * p.stride[0] - p.pad[0] + t * p.dilation[0];
          for (std::int64_t y = 0; y < out[1]; ++y) {
            const std::int64_t h = y * p.stride[1] - p.pad[1] + r * p.dilation[1];
            for (std::int64_t x = 0; x < out[2]; ++x, ++q) {
              const std::int64_t w = x * p.stride[2] - p.pad[2] + s * p.dilation[2];
              if (d < 0 || d >= p.in[0] || h < 0 || h >= p.in[1] || w < 0 || w >= p.in[2]) continue;
              f(l, q, (d * p.in[1] + h) * p.in[2] + w);
            }
          }
        }
      }
    }
  }
}

}  // namespace

Values to_first(const Values& in, Layout layout, std::int64_t outer, std::int64_t inner, std::int64_t spatial) {
  return permuted(layout, outer, inner, spatial,
                  [&](Values& out, std::size_t first, std::size_t there) { out[first] = in[there]; });
}

Values from_first(const Values& in, Layout layout, std::int64_t outer, std::int64_t inner, std::int64_t spatial) {
  return permuted(layout, outer, inner, spatial,
                  [&](Values& out, std::size_t first, std::size_t there) { out[there] = in[first]; });
}

Values product(const GemmProblem& p, const Values& a, const Values& b) {
  Values rows(at(p.k * p.n));
  for (std::int64_t l = 0; l < p.k; ++l) {
    for (std::int64_t j = 0; j < p.n; ++j) {
      rows[at(l * p.n + j)] = b[at(p.b_transposed ? j * p.ldb + l : l * p.ldb + j)];
    }
  }
  Values c(at(p.m * p.n));
  multiply(p.m, p.n, p.k, a.data(), p.a_transposed ? 1 : p.lda, p.a_transposed ? p.lda : 1, rows.data(), c.data());
  return c;
}

std::int64_t terms(ConvPass pass, const ConvProblem& p) {
  switch (pass) {
    case ConvPass::fprop: return p.c / p.groups * volume(p.filter);
    case ConvPass::bprop: return p.k / p.groups * volume(p.filter);
    case ConvPass::update: return p.n * volume(p.out());
  }
  return 0;
}

// For each image and group, by way of the matrix (C/groups T R S) x (M P Q) of the inputs that each output sees.
Values convolution(ConvPass pass, const ConvProblem& p, const Values& in1, const Values& in2) {
  const std::int64_t inside = volume(p.in);
  const std::int64_t taps = volume(p.filter);
  const std::int64_t outside = volume(p.out());
  const std::int64_t cg = p.c / p.groups;
  const std::int64_t kg = p.k / p.groups;
  const std::int64_t depth = cg * taps;

  Values x(at(p.n * p.c * inside));
  Values w(at(p.k * depth));
  Values y(at(p.n * p.k * outside));
  if (pass != ConvPass::bprop) {
    x = to_first(pass == ConvPass::fprop ? in1 : in2, p.layout, p.n, p.c, inside);
  }
  if (pass != ConvPass::update) w = to_first(in2, p.layout, p.k, cg, taps);
  if (pass != ConvPass::fprop) y = to_first(in1, p.layout, p.n, p.k, outside);

  Values matrix(at(depth * outside));
  for (std::int64_t n = 0; n < p.n; ++n) {
    for (std::int64_t g = 0; g < p.groups; ++g) {
      double* xs = x.data() + (n * p.c + g * cg) * inside;
      double* ws = w.data() + g * kg * depth;
      double* ys = y.data() + (n * p.k + g * kg) * outside;
      std::fill(matrix.begin(), matrix.end(), 0.0);
      double* m = matrix.data();
      switch (pass) {
        case ConvPass::fprop:
          for (std::int64_t c = 0; c < cg; ++c) {
            each_tap(p, [&](std::int64_t l, std::int64_t q, std::int64_t s) {
              m[(c * taps + l) * outside + q] = xs[c * inside + s];
            });
          }
          multiply(kg, outside, depth, ws, depth, 1, m, ys);
          break;
        case ConvPass::bprop:
          multiply(depth, outside, kg, ws, 1, depth, ys, m);
          for (std::int64_t c = 0; c < cg; ++c) {
            each_tap(p, [&](std::int64_t l, std::int64_t q, std::int64_t s) {
              xs[c * inside + s] += m[(c * taps + l) * outside + q];
            });
          }
          break;
        case ConvPass::update:  // transposed: the sum over positions is the outer one
          for (std::int64_t c = 0; c < cg; ++c) {
            each_tap(p, [&](std::int64_t l, std::int64_t q, std::int64_t s) {
              m[q * depth + c * taps + l] = xs[c * inside + s];
            });
          }
          multiply(kg, depth, outside, ys, outside, 1, m, ws);
          break;
      }
    }
  }
  switch (pass) {
    case ConvPass::fprop: return from_first(y, p.layout, p.n, p.k, outside);
    case ConvPass::bprop: return from_first(x, p.layout, p.n, p.c, inside);
    default: return from_first(w, p.layout, p.k, cg, taps);
  }
}

}  // namespace nervanagpu::gpu_test
