// Numerical programs. What ends in MUFU is compared within bounds only, the rest is the H200's to the bit.
#include <algorithm>
#include <complex>

#include "test/cudac/program.h"

namespace nervanagpu::test {
namespace {

class Numeric : public Program {
 protected:
  Numeric() : Program("numeric") {}
};

TEST_P(Numeric, Fft) {
  constexpr std::size_t kSize = 256;
  const auto in = reals<float>(2 * 2 * kSize, -1, 1);
  const auto out = blank<float>(2 * 2 * kSize);
  launch("make_roots", {1, 1, 1}, {128, 1, 1}, 0);
  launch("fft", {2, 1, 1}, {128, 1, 1}, 0, array(in), out);
  std::vector<float> want(in.size());
  for (std::size_t batch = 0; batch < 2; ++batch) {
    for (std::size_t k = 0; k < kSize; ++k) {
      std::complex<double> sum = 0;
      for (std::size_t i = 0; i < kSize; ++i) {
        const std::size_t at = 2 * (batch * kSize + i);
        sum += std::complex<double>(in[at], in[at + 1]) *
               std::polar(1.0, -2 * 3.14159265358979323846 * static_cast<double>(i * k % kSize) / kSize);
      }
      want[2 * (batch * kSize + k)] = static_cast<float>(sum.real());
      want[2 * (batch * kSize + k) + 1] = static_cast<float>(sum.imag());
    }
  }
  expect_near("fft", get(out), want, 0, 3e-5);
  expect_digest("fft", get(out));
}

TEST_P(Numeric, Stencil) {
  const int width = 70, height = 35;
  auto want = reals<float>(width * height, 0, 100);
  auto from = array(want);
  auto to = blank<float>(width * height);
  for (int step = 0; step < 2; ++step) {
    launch("stencil", {3, 3, 1}, {32, 16, 1}, 0, from, to, width, height, 0.2F);
    std::swap(from, to);
    const auto old = want;
    const auto at = [&](int x, int y) {
      const int index = std::clamp(y, 0, height - 1) * width + std::clamp(x, 0, width - 1);
      return old[static_cast<std::size_t>(index)];
    };
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < width; ++x) {
        const float around = (at(x, y - 1) + at(x, y + 1)) + (at(x - 1, y) + at(x + 1, y));
        const int index = y * width + x;
        want[static_cast<std::size_t>(index)] = std::fma(0.2F, std::fma(-4.0F, at(x, y), around), at(x, y));
      }
    }
  }
  expect_equal("stencil", get(from), want);
}

template <class T>
std::vector<T> accelerations(const std::vector<T>& p) {
  std::vector<T> out;
  for (std::size_t i = 0; i < p.size(); i += 4) {
    double a[3] = {};
    for (std::size_t j = 0; j < p.size(); j += 4) {
      double r[3], square = 0.01;
      for (std::size_t d = 0; d < 3; ++d) {
        r[d] = static_cast<double>(p[j + d]) - static_cast<double>(p[i + d]);
        square += r[d] * r[d];
      }
      for (std::size_t d = 0; d < 3; ++d) a[d] += r[d] * static_cast<double>(p[j + 3]) / (square * std::sqrt(square));
    }
    for (const double v : a) out.push_back(static_cast<T>(v));
  }
  return out;
}

TEST_P(Numeric, Bodies) {
  const unsigned n = 100;
  const auto p = reals<float>(4 * n, -1, 1);
  const auto a = blank<float>(3 * n);
  launch("nbody_float", {2, 1, 1}, {64, 1, 1}, 0, array(p), a, n);
  expect_near("nbody_float", get(a), accelerations(p), 0, 2e-3);  // rsqrtf is MUFU.RSQ
  const auto q = reals<double>(4 * n, -1, 1);
  const auto b = blank<double>(3 * n);
  launch("nbody_double", {2, 1, 1}, {64, 1, 1}, 0, array(q), b, n);
  expect_near("nbody_double", get(b), accelerations(q), 0, 1e-10);
  expect_digest("nbody_double", get(b));
}

TEST_P(Numeric, FunctionsOfDouble) {
  auto in = reals<double>(180, -30, 30);
  for (const double v : {0.0, 1.0, -1.0, 0.5, 1e-300, 1e6, -1e10, 1e22, 700.0, -745.0, 1e-9}) in.push_back(v);
  const auto count = static_cast<int>(in.size());
  const auto out = blank<double>(in.size() * 16);
  launch("functions_double", {3, 1, 1}, {64, 1, 1}, 0, array(in), out, count);
  std::vector<double> want;
  for (const double x : in) {
    want.insert(want.end(), {std::exp(x), std::log(std::abs(x)), std::sin(x), std::cos(x), std::tan(x), std::atan(x),
                             std::asin(std::min(std::abs(x), 1.0)), std::cbrt(x), std::erf(x),
                             std::tgamma(std::fmod(std::abs(x), 20.0) + 0.5), std::pow(std::abs(x), 1.7), std::tanh(x),
                             std::log1p(std::abs(x)), std::hypot(x, 3.0), std::sqrt(std::abs(x)),
                             std::rint(x) + std::floor(x) - std::ceil(x) + std::trunc(x) + std::round(x)});
  }
  expect_near("functions_double", get(out), want, 12);
  expect_digest("functions_double", get(out));
}

TEST_P(Numeric, FunctionsOfFloat) {
  auto in = reals<float>(180, -20, 20);
  for (const float v : {1.0F, -1.0F, 0.5F, 1e-30F, 3e4F, -1e10F, 1e30F, 1e-42F}) in.push_back(v);
  const auto count = static_cast<int>(in.size());
  const auto exact = blank<float>(in.size() * 8);
  const auto close = blank<float>(in.size() * 8);
  launch("functions_float", {3, 1, 1}, {64, 1, 1}, 0, array(in), exact, close, count);
  std::vector<float> want, near;
  for (const float f : in) {
    const auto x = static_cast<double>(f);
    const auto add = [&](std::vector<float>& to, std::initializer_list<double> values) {
      for (const double v : values) to.push_back(static_cast<float>(v));
    };
    add(want, {std::sin(x), std::cos(x), std::log(std::abs(x)), 1.0 / x, std::sqrt(std::abs(x)), std::atan(x),
               static_cast<double>(std::fmod(f, 0.7F)), static_cast<double>(std::ldexp(f, 5)) / 3.0});
    add(near, {std::exp(x), std::pow(std::abs(x), 1.7), std::tanh(x), 1.0 / std::sqrt(std::abs(x)), std::erf(x),
               std::cbrt(x), std::sin(x * 0.01), std::exp2(x) + std::log2(std::abs(x))});
  }
  auto got = get(exact);
  expect_near("functions_float", got, want, 4, 1e-37);
  static constexpr const char* kNames[] = {"sin", "cos", "log", "reciprocal", "sqrt", "atan", "fmod", "quotient"};
  for (std::size_t f = 0; f < 8; ++f) {
    std::vector<float> one;
    for (std::size_t i = f; i < got.size(); i += 8) one.push_back(got[i]);
    // The reciprocal of atan is MUFU's alone.
    if (std::string(kNames[f]) != "atan") expect_digest(std::string("float.") + kNames[f], one);
  }
  auto rough = get(close);
  for (std::size_t i = 0; i < in.size(); ++i) {  // __sinf is only meant for small arguments
    if (std::abs(in[i]) > 100) rough[i * 8 + 6] = near[i * 8 + 6];
  }
  expect_near("functions_close", rough, near, 24, 2e-6);
}

TEST_P(Numeric, Extremes) {
  const double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  const std::vector<double> in = {0.0, -0.0, 1.5, -1.5, infinity, -infinity, nan, 3e38};
  const auto n = static_cast<int>(in.size());
  const auto out = blank<double>(2 * in.size() * in.size());
  const auto narrow = blank<float>(2 * in.size() * in.size());
  launch("extremes", {2, 1, 1}, {32, 1, 1}, 0, array(in), out, narrow, n);
  std::vector<double> want;
  std::vector<float> want_narrow;
  for (const double a : in) {
    for (const double b : in) {
      want.insert(want.end(), {std::fmin(a, b), std::fmax(a, b)});
      const auto p = static_cast<float>(a), q = static_cast<float>(b);
      want_narrow.insert(want_narrow.end(), {std::fmin(p, q), std::fmax(p, q)});
    }
  }
  expect_near("extremes", get(out), want, 0);
  expect_near("extremes.float", get(narrow), want_narrow, 0);
  expect_digest("extremes", get(out));
  expect_digest("extremes.float", get(narrow));
}

INSTANTIATE_TEST_SUITE_P(On, Numeric, testing::ValuesIn(settings()), setting_name);

}  // namespace
}  // namespace nervanagpu::test
