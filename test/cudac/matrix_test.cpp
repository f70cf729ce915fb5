// Matrices: every product in the order of the kernel, so that results are equal.
#include <algorithm>

#include "src/numbers/half.h"
#include "test/cudac/program.h"

namespace nervanagpu::test {
namespace {

class Matrix : public Program {
 protected:
  Matrix() : Program("matrix") {}
};

TEST_P(Matrix, Transpose) {
  const unsigned rows = 45, columns = 70;
  const auto in = integers<unsigned short>(rows * columns);
  const auto out = blank<unsigned short>(rows * columns);
  launch("transpose", {3, 2, 1}, {32, 8, 1}, 0, array(in), out, rows, columns);
  std::vector<unsigned short> want(rows * columns);
  for (unsigned i = 0; i < rows * columns; ++i) want[i % columns * rows + i / columns] = in[i];
  expect_equal("transpose", get(out), want);
}

std::vector<float> product(const std::vector<float>& a, const std::vector<float>& b, std::size_t m, std::size_t n,
                           std::size_t k) {
  std::vector<float> c(m * n);
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      for (std::size_t p = 0; p < k; ++p) c[i * n + j] = std::fma(a[i * k + p], b[p * n + j], c[i * n + j]);
    }
  }
  return c;
}

TEST_P(Matrix, ProductsByTiles) {
  const unsigned m = 37, n = 50, k = 43;
  const auto a = reals<float>(m * k, -1, 1), b = reals<float>(k * n, -1, 1);
  const auto c = blank<float>(m * n);
  launch("product", {4, 3, 1}, {16, 16, 1}, 0, array(a), array(b), c, m, n, k);
  expect_equal("product", get(c), product(a, b, m, n, k));
}

TEST_P(Matrix, ProductsWithAsynchronousCopies) {
  const unsigned m = 64, n = 96;
  for (const unsigned k : {16u, 48u}) {
    const auto a = reals<float>(m * k, -1, 1), b = reals<float>(k * n, -1, 1);
    const auto c = blank<float>(m * n);
    launch("product_async", {3, 2, 1}, {64, 1, 1}, 8192, array(a), array(b), c, n, k);
    expect_equal("product_async" + std::to_string(k), get(c), product(a, b, m, n, k));
  }
}

TEST_P(Matrix, DotsOfBytes) {
  const unsigned words = 9;
  const auto a = integers<int>(64 * words), b = integers<int>(words);
  const auto out = blank<int>(64 * 3);
  launch("dots", {2, 1, 1}, {32, 1, 1}, 0, array(a), array(b), out, words);
  std::vector<int> want;
  for (unsigned row = 0; row < 64; ++row) {
    int s = 0, h = 0;
    unsigned u = 0;
    for (unsigned i = 0; i < words; ++i) {
      const auto x = static_cast<unsigned>(a[row * words + i]), y = static_cast<unsigned>(b[i]);
      for (unsigned at = 0; at < 32; at += 8) {
        s += static_cast<signed char>(x >> at) * static_cast<signed char>(y >> at);
        u += (x >> at & 255) * (y >> at & 255);
      }
      for (unsigned j = 0; j < 2; ++j) {
        h += static_cast<short>(x >> 16 * j) * static_cast<signed char>(y >> 8 * j);
        h += static_cast<short>(x >> 16 * j) * static_cast<signed char>(y >> (16 + 8 * j));
      }
    }
    want.insert(want.end(), {s, static_cast<int>(u), h});
  }
  expect_equal("dots", get(out), want);
}

float value_of(std::uint16_t half) {
  const int exponent = half >> 10 & 31, fraction = half & 1023;
  const float v =
      std::ldexp(static_cast<float>(exponent == 0 ? fraction : fraction + 1024), std::max(exponent, 1) - 25);
  return half >> 15 != 0 ? -v : v;
}

TEST_P(Matrix, Halves) {
  const unsigned pairs = 20;
  const auto fa = reals<float>(64 * 2 * pairs, -1, 1), fx = reals<float>(2 * pairs, -1, 1);
  std::vector<std::uint16_t> a, x;
  for (const float v : fa) a.push_back(half_bits(static_cast<double>(v)));
  for (const float v : fx) x.push_back(half_bits(static_cast<double>(v)));
  const auto y = blank<std::uint16_t>(64);
  launch("half_gemv", {2, 1, 1}, {32, 1, 1}, 0, array(a), array(x), y, pairs);
  std::vector<float> got, want;
  for (const std::uint16_t v : get(y)) got.push_back(value_of(v));
  for (std::size_t row = 0; row < 64; ++row) {
    double sum = 0;
    for (std::size_t i = 0; i < 2 * pairs; ++i) {
      sum += static_cast<double>(value_of(a[row * 2 * pairs + i])) * value_of(x[i]);
    }
    want.push_back(static_cast<float>(sum > 0 ? sum : sum / 8));
  }
  expect_near("halves", got, want, 0, 20 * 0x1p-10);
  expect_digest("halves", get(y));
}

TEST_P(Matrix, BrainFloats) {
  const int n = 100;
  const auto fx = reals<float>(2 * n, -2, 2), fy = reals<float>(2 * n, -2, 2);
  // From the exact value, which a double holds: its float with a sticky last bit rounds once.
  const auto round = [](double v) {
    float f = static_cast<float>(v);
    if (std::abs(static_cast<double>(f)) > std::abs(v)) f = std::nextafter(f, 0.0F);
    auto bits = std::bit_cast<std::uint32_t>(f);
    if (static_cast<double>(f) != v) bits |= 1;
    return static_cast<std::uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
  };
  const auto value = [](std::uint16_t v) { return std::bit_cast<float>(static_cast<std::uint32_t>(v) << 16); };
  std::vector<std::uint16_t> x, y, want;
  for (const float v : fx) x.push_back(round(static_cast<double>(v)));
  for (const float v : fy) y.push_back(round(static_cast<double>(v)));
  const auto z = blank<std::uint16_t>(2 * n);
  launch("bfloat", {4, 1, 1}, {32, 1, 1}, 0, array(x), array(y), z, 0.75F, n);
  for (std::size_t i = 0; i < x.size(); ++i) {  // the square and the difference are fused: one rounding
    const double v =
        std::max(static_cast<double>(value(round(0.75 * value(x[i]) + static_cast<double>(value(y[i]))))), 0.0);
    want.push_back(round(v * v - std::min(v, 1.0)));
  }
  expect_equal("bfloat", get(z), want);
}

TEST_P(Matrix, LuWithPivots) {
  const unsigned n = 24;
  const auto a = reals<double>(2 * n * n, -1, 1);
  const auto lu = array(a);
  const auto pivots = blank<int>(2 * n);
  launch("lu", {2, 1, 1}, {32, 1, 1}, 0, lu, pivots, n);
  std::vector<double> want = a;
  std::vector<int> rows;
  for (unsigned m = 0; m < 2; ++m) {
    double* s = want.data() + m * n * n;
    for (unsigned k = 0; k < n; ++k) {
      unsigned at = k;
      for (unsigned i = k + 1; i < n; ++i) {
        if (std::abs(s[i * n + k]) > std::abs(s[at * n + k])) at = i;
      }
      rows.push_back(static_cast<int>(at));
      for (unsigned j = 0; j < n && at != k; ++j) std::swap(s[k * n + j], s[at * n + j]);
      for (unsigned i = k + 1; i < n; ++i) {
        const double f = s[i * n + k] /= s[k * n + k];
        for (unsigned j = k + 1; j < n; ++j) s[i * n + j] = std::fma(-f, s[k * n + j], s[i * n + j]);
      }
    }
  }
  expect_equal("lu.pivots", get(pivots), rows);
  expect_equal("lu", get(lu), want);
}

TEST_P(Matrix, Cholesky) {
  const unsigned count = 50;
  std::vector<float> a(count * 36);
  for (unsigned t = 0; t < count; ++t) {
    const auto g = reals<float>(36, -1, 1);
    for (unsigned i = 0; i < 6; ++i) {
      for (unsigned j = 0; j < 6; ++j) {
        float v = i == j ? 1.0F : 0.0F;
        for (unsigned k = 0; k < 6; ++k) v += g[i * 6 + k] * g[j * 6 + k];
        a[t * 36 + i * 6 + j] = v;
      }
    }
  }
  const auto out = array(std::vector<float>(count * 36));
  launch("cholesky", {2, 1, 1}, {32, 1, 1}, 0, array(a), out, count);
  std::vector<float> want(count * 36);
  for (unsigned t = 0; t < count; ++t) {
    float* l = want.data() + t * 36;
    for (unsigned i = 0; i < 6; ++i) {
      for (unsigned j = 0; j <= i; ++j) {
        float v = a[t * 36 + i * 6 + j];
        for (unsigned k = 0; k < j; ++k) v = std::fma(-l[i * 6 + k], l[j * 6 + k], v);
        l[i * 6 + j] = i == j ? std::sqrt(v) : v / l[j * 6 + j];
      }
    }
  }
  expect_equal("cholesky", get(out), want);
}

INSTANTIATE_TEST_SUITE_P(On, Matrix, testing::ValuesIn(settings()), setting_name);

}  // namespace
}  // namespace nervanagpu::test
