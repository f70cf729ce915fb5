// kernels/lib/activation.sass on both architectures: the largest error over every exponent, in units of the last place of
// the exact value, and special values.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "test/gpu/activation_reference.h"
#include "test/kernels/lib/macro_harness.h"

namespace nervanagpu::test {
namespace {

using u32 = std::uint32_t;
using Real = long double;

float as_float(u32 x) {
  return std::bit_cast<float>(x);
}
u32 bits_of(float x) {
  return std::bit_cast<u32>(x);
}

MacroRun of(const std::string& macro, const Words& in) {
  MacroRun run;
  run.body = ".include \"lib/functions.sass\"\n.include \"lib/activation.sass\"\n" + macro + "\n";
  run.outs = 2;
  run.in.resize(2);
  for (std::size_t i = 0; i < in.size(); ++i) run.in[i % 2].push_back(in[i]);
  return run;
}

// Every exponent, both signs, and the range in which the functions bend; an even number.
Words samples() {
  Words out;
  std::mt19937 random(2026);
  for (u32 e = 0; e < 255; ++e) {
    for (int i = 0; i < 300; ++i) {
      const u32 word = e << 23 | (random() & 0x7fffff);
      out.push_back(word);
      out.push_back(word | 0x80000000u);
    }
  }
  for (int i = 0; i < 200000; ++i) {
    const float x = std::ldexp(static_cast<float>(random() % 16777216 + 1), -24) * (i % 3 == 0 ? 110.0F : 15.0F);
    out.push_back(bits_of(random() % 2 != 0 ? x : -x));
  }
  return out;
}

// |got - exact| <= the bound of ULPs of the exact value, and what a subnormal factor of x may be off.
void check(const ActivationRow& row) {
  const std::string name(row.name);
  const Words in = samples();
  Words first;
  for (const sass::Arch arch : kArchs) {
    const std::vector<Words> out = run_macros(of(name + "(y, x, 2)", in), arch);
    Words got(in.size());
    for (std::size_t i = 0; i < in.size(); ++i) got[i] = out[i % 2][i / 2];
    if (!first.empty()) {
      ASSERT_EQ(got, first) << "the two families differ";
      continue;
    }
    first = got;
    Real worst = 0;
    for (std::size_t i = 0; i < in.size(); ++i) {
      const Real x = as_float(in[i]);
      const auto [want, ulps] = gpu_test::exact_activation(row.activation, x);
      if (std::isinf(static_cast<float>(want))) {  // too large for float32
        ASSERT_EQ(as_float(got[i]), static_cast<float>(want)) << name << " of " << x;
        continue;
      }
      const Real size = std::fabs(want);
      const Real ulp = std::ldexp(Real{1}, std::max(size == 0 ? -126 : std::ilogb(size), -126) - 23);
      const Real error = std::fabs(as_float(got[i]) - want);
      const Real slack = std::fabs(x) < 200 ? std::fabs(x) * std::ldexp(Real{1}, -149) : 0;
      ASSERT_TRUE(error <= ulps * ulp + slack) << name << " of " << as_float(in[i]) << " is " << as_float(got[i]);
      worst = std::max(worst, (error - slack) / ulp / ulps);
    }
    std::printf("  %s: %.2Lf of its bound\n", name.c_str(), worst);
  }
}

// A macro of its name for each that reads the sum alone; relu has a bit of its own.
bool has_macro(const ActivationRow& row) {
  return row.activation > GemmActivation::relu && row.reads == ActivationReads::sum;
}

TEST(Activation, IsWithinItsBound) {
  for (const ActivationRow& row : kActivations) {
    if (has_macro(row)) check(row);
  }
}

TEST(Activation, SpecialValues) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  const Words in = {0x7fc00000, 0xffc00001, bits_of(kInf), bits_of(-kInf), 0, 0x80000000};
  const Words want = {0x7fffffff, 0x7fffffff, bits_of(kInf), 0x80000000, 0, 0x80000000};
  for (const char* name : {"gelu", "gelu_tanh", "silu"}) {
    const std::vector<Words> out = run_macros(of(std::string(name) + "(y, x, 2)", in), sass::Arch::sm_90a);
    for (std::size_t i = 0; i < in.size(); ++i) EXPECT_EQ(out[i % 2][i / 2], want[i]) << name << " of " << i;
  }
}

// `activate` picks the function by the flags' bits 8 to 11, and has its very bits.
TEST(Activation, IsChosenByItsNumber) {
  Words in = {0x7fc00000, 0xff800000, 0x7f800000, 0};
  std::mt19937 random(3);
  for (int i = 0; i < 2000; ++i) in.push_back((random() & 0x83ffffff) + 0x3d000000);
  for (const sass::Arch arch : kArchs) {
    for (const ActivationRow& row : kActivations) {
      std::string macro = std::string(row.name) + "(y, x, 2)";
      if (row.activation == GemmActivation::none) macro = "mov(y[0], x[0])\nmov(y[1], x[1])";
      if (row.reads == ActivationReads::bounds)
        macro = "clamp(y, x, 0xbf800000, LT, 2)\nclamp(y, y, 0x40000000, GT, 2)";
      if (row.activation == GemmActivation::relu || row.reads == ActivationReads::mask) continue;  // a bit of its own
      const std::string flags = std::to_string(static_cast<int>(row.activation) << 8 | 0xf0ff);
      const std::vector<Words> want = run_macros(of(macro, in), arch);
      const std::string body = ".reg flags\nmov(flags, " + flags + ")\nmov(y[0], x[0])\nmov(y[1], x[1])\n" +
                               "activate(y, flags, 0xbf800000, 0x40000000, 2)";
      EXPECT_EQ(run_macros(of(body, in), arch), want) << row.name;
    }
  }
}

}  // namespace
}  // namespace nervanagpu::test
