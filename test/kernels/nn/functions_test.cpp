// exp, log, tanh and sigmoid of kernels/lib/functions.sass on both architectures: the largest error over every exponent,
// in units of the last place of the exact value, and what NumPy says of special values.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "test/kernels/lib/macro_harness.h"

namespace nervanagpu::test {
namespace {

using Reference = long double (*)(long double);

long double sigmoid(long double x) {
  return x >= 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x));
}

// Dense in every exponent: each one's ends and evenly spread mantissas that never repeat.
Words samples(unsigned per_exponent, bool negative_too) {
  Words out;
  std::mt19937 random(20150901);
  for (std::uint32_t e = 0; e < 255; ++e) {
    for (unsigned i = 0; i < per_exponent; ++i) {
      const std::uint64_t step = (std::uint64_t{1} << 23) / per_exponent;
      auto mantissa = static_cast<std::uint32_t>(i * step + random() % step);
      if (i == 0) mantissa = 0;
      if (i == per_exponent - 1) mantissa = 0x7fffff;
      out.push_back(e << 23 | mantissa);
      if (negative_too) out.push_back(e << 23 | mantissa | 0x80000000u);
    }
  }
  return out;
}

// Distance of `got` from `exact` in units of the last place of a float as large as `exact`.
long double ulps(float got, long double exact) {
  const auto nearest = static_cast<float>(exact);
  if (std::isnan(exact) || std::isinf(nearest) || std::isinf(got)) {
    // Beyond the largest float, infinity; one of them may be the other's neighbour.
    if (std::isnan(exact) && std::isnan(got)) return 0;
    if (nearest == got) return 0;
    if (!std::isinf(nearest) && !std::isinf(got)) return std::numeric_limits<long double>::infinity();
    constexpr float kMost = std::numeric_limits<float>::max();
    const float other = std::isinf(got) ? nearest : got;
    return std::fabs(other) == kMost ? 1 : std::numeric_limits<long double>::infinity();
  }
  const int exponent = exact == 0 ? -126 : std::max(std::ilogb(exact), -126);
  return std::fabs(static_cast<long double>(got) - exact) / std::ldexp(1.0L, exponent - 23);
}

MacroRun of(const std::string& name, Words in, unsigned per_thread) {
  MacroRun run;
  run.body = ".include \"lib/functions.sass\"\n" + name + "(y, x, " + std::to_string(per_thread) + ")\n";
  run.outs = per_thread;
  run.in.resize(per_thread);
  for (std::size_t i = 0; i < in.size(); ++i) run.in[i % per_thread].push_back(in[i]);
  while (run.in.back().size() < run.in.front().size()) run.in.back().push_back(0);
  return run;
}

void check(const std::string& name, Reference reference, long double bound, const Words& in) {
  Words sm_90a;
  for (const sass::Arch arch : kArchs) {
    const std::vector<Words> out = run_macros(of(name, in, 2), arch);
    Words got(in.size());
    for (std::size_t i = 0; i < in.size(); ++i) got[i] = out[i % 2][i / 2];
    if (arch == sass::Arch::sm_90a) {
      sm_90a = got;
    } else {
      ASSERT_EQ(got, sm_90a) << "the two families differ";
      continue;
    }
    long double worst = 0;
    std::uint32_t where = 0;
    for (std::size_t i = 0; i < in.size(); ++i) {
      const auto x = std::bit_cast<float>(in[i]);
      const long double error = ulps(std::bit_cast<float>(got[i]), reference(x));
      if (!(error <= worst)) worst = error, where = in[i];
      if (std::isnan(error)) break;
    }
    std::printf("  %s: %.3Lf ULP at %a\n", name.c_str(), worst, static_cast<double>(std::bit_cast<float>(where)));
    ASSERT_TRUE(worst <= bound) << name << ": " << static_cast<double>(worst) << " ULP at "
                                << std::bit_cast<float>(where);
  }
}

TEST(FunctionsTest, Exp) {
  check(
      "exp", [](long double x) { return std::exp(x); }, 2, samples(2200, true));
}
TEST(FunctionsTest, Log) {
  check(
      "log", [](long double x) { return std::log(x); }, 2, samples(4200, false));
  Words near_one;  // where the logarithm is small
  for (std::uint32_t i = 0; i < 100000; ++i) near_one.push_back(0x3f800000u - 50000 + i);
  check(
      "log", [](long double x) { return std::log(x); }, 2, near_one);
}
TEST(FunctionsTest, Tanh) {
  check(
      "tanh", [](long double x) { return std::tanh(x); }, 2, samples(2200, true));
}
TEST(FunctionsTest, Sigmoid) {
  check("sigmoid", sigmoid, 2, samples(2200, true));
}

// The exponents in which the functions change, more densely.
TEST(FunctionsTest, WhereTheyBend) {
  Words in;
  std::mt19937 random(7);
  for (int i = 0; i < 400000; ++i) {
    const float x = std::ldexp(static_cast<float>(random() % 16777216 + 1), -24) * (i % 4 == 0   ? 110.0F
                                                                                    : i % 2 == 0 ? 20.0F
                                                                                                 : 2.0F);
    in.push_back(std::bit_cast<std::uint32_t>(random() % 2 != 0 ? x : -x));
  }
  check(
      "exp", [](long double x) { return std::exp(x); }, 2, in);
  check(
      "tanh", [](long double x) { return std::tanh(x); }, 2, in);
  check("sigmoid", sigmoid, 2, in);
}

TEST(FunctionsTest, SpecialValues) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  constexpr std::uint32_t kNan = 0x7fffffff;
  struct Case {
    float x;
    std::uint32_t exp, log, tanh, sigmoid;
  };
  const auto f = [](float x) { return std::bit_cast<std::uint32_t>(x); };
  const Case cases[] = {
      {nan, kNan, kNan, kNan, kNan},
      {-nan, kNan, kNan, kNan, kNan},
      {kInf, f(kInf), f(kInf), f(1), f(1)},
      {-kInf, 0, kNan, f(-1), 0},
      {0.0F, f(1), f(-kInf), f(0.0F), f(0.5F)},
      {-0.0F, f(1), f(-kInf), f(-0.0F), f(0.5F)},
      {1e-45F, f(1), f(-103.278929903431851103F), 1, f(0.5F)},
      {-1e-45F, f(1), kNan, 0x80000001u, f(0.5F)},
      {1.0F, f(2.718281828459F), 0, f(0.761594155956F), f(0.731058578630F)},
      {1e30F, f(kInf), f(69.07755278982137F), f(1), f(1)},
      {-1e30F, 0, kNan, f(-1), 0},
      {std::numeric_limits<float>::max(), f(kInf), f(88.7228390520683F), f(1), f(1)},
      {-std::numeric_limits<float>::max(), 0, kNan, f(-1), 0},
  };
  Words in, exp, log, tanh, sig;
  for (const Case& c : cases) {
    in.push_back(f(c.x));
    exp.push_back(c.exp), log.push_back(c.log), tanh.push_back(c.tanh), sig.push_back(c.sigmoid);
  }
  expect_macros(of("exp", in, 1), {exp});
  expect_macros(of("log", in, 1), {log});
  expect_macros(of("tanh", in, 1), {tanh});
  expect_macros(of("sigmoid", in, 1), {sig});
}

}  // namespace
}  // namespace nervanagpu::test
