// Programs that ptxas compiled (test/data/emulate/programs.cu), against the same computed here. All of them run in both
// modes, and compiled code has no findings.
#include <cmath>
#include <numeric>

#include "test/sass/emulate/program_fixture.h"

namespace nervanagpu::sass::emulate::testing {
namespace {

using u32 = std::uint32_t;

class Programs : public ProgramTest {
 protected:
  [[nodiscard]] const CubinImage& cubin() const override {
    static const CubinImage hopper = read_file("programs.cubin");
    static const CubinImage maxwell = read_file("programs.sm_52.cubin");
    return GetParam().arch == Arch::sm_52 ? maxwell : hopper;
  }
};

u32 bits(float f) {
  return std::bit_cast<u32>(f);
}

TEST_P(Programs, Reduce) {
  const std::vector<int> in = integers<int>(10007);
  Buffer<int> a(memory_, in);
  Buffer<int> out(memory_, std::size_t{1});
  launch("reduce", {7}, {256}, Params().add(a.address()).add(out.address()).add(int(in.size())));
  u32 sum = 0;
  for (int v : in) sum += static_cast<u32>(v);
  EXPECT_EQ(static_cast<u32>(out.get()[0]), sum);
}

TEST_P(Programs, Matmul) {
  const int m = 37, n = 50, k = 41;
  const std::vector<float> a = floats(m * k), b = floats(k * n);
  Buffer<float> da(memory_, a), db(memory_, b), dc(memory_, std::size_t{m * n});
  launch("matmul", {4, 3}, {16, 16},
         Params().add(da.address()).add(db.address()).add(dc.address()).add(m).add(n).add(k));
  const std::vector<float> got = dc.get();
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int l = 0; l < k; ++l) sum = std::fma(a[i * k + l], b[l * n + j], sum);
      ASSERT_EQ(bits(got[i * n + j]), bits(sum)) << i << "," << j;
    }
  }
}

TEST_P(Programs, Histogram) {
  const std::vector<unsigned char> in = integers<unsigned char>(5000);
  Buffer<unsigned char> a(memory_, in);
  Buffer<u32> out(memory_, std::size_t{256});
  launch("histogram", {5}, {128}, Params().add(a.address()).add(out.address()).add(int(in.size())));
  std::vector<u32> want(256);
  for (unsigned char v : in) want[v] += 2;
  EXPECT_EQ(out.get(), want);
}

TEST_P(Programs, DivergentLoop) {
  std::vector<u32> in(777);
  for (u32& v : in) v = 1 + static_cast<u32>(rng_() % 100000);
  Buffer<u32> a(memory_, in), out(memory_, in.size());
  launch("collatz", {7}, {128}, Params().add(a.address()).add(out.address()).add(int(in.size())));
  const std::vector<u32> got = out.get();
  for (std::size_t i = 0; i < in.size(); ++i) {
    u32 v = in[i], steps = 0;
    while (v != 1) {
      if (v % 2 == 0) {
        v /= 2;
      } else {
        v = 3 * v + 1;
        if (v % 3 == 1) ++steps;
      }
      ++steps;
      if (steps > 1000) break;
    }
    ASSERT_EQ(got[i], steps) << in[i];
  }
}

TEST_P(Programs, IntegerDivisionAndWide) {
  const int n = 500;
  std::vector<int> a = integers<int>(n), b = integers<int>(n);
  std::vector<long long> p = integers<long long>(n), q = integers<long long>(n);
  a[0] = 0x7fffffff;
  b[0] = -1;
  a[1] = -2147483647 - 1;
  b[1] = 1;
  for (int& v : b) v = v == 0 ? 3 : v;
  Buffer<int> da(memory_, a), db(memory_, b), out(memory_, std::size_t{4 * n});
  Buffer<long long> dp(memory_, p), dq(memory_, q), out64(memory_, std::size_t{3 * n});
  launch("divide", {4}, {128},
         Params()
             .add(da.address())
             .add(db.address())
             .add(out.address())
             .add(dp.address())
             .add(dq.address())
             .add(out64.address())
             .add(n));
  const std::vector<int> got = out.get();
  const std::vector<long long> wide = out64.get();
  for (int i = 0; i < n; ++i) {
    const auto ll = [](long long v) { return static_cast<unsigned long long>(v); };
    ASSERT_EQ(got[4 * i], a[i] / b[i]) << a[i] << " " << b[i];
    ASSERT_EQ(got[4 * i + 1], a[i] % b[i]);
    ASSERT_EQ(static_cast<u32>(got[4 * i + 2]), static_cast<u32>(a[i]) / static_cast<u32>(b[i]));
    ASSERT_EQ(got[4 * i + 3], static_cast<int>((static_cast<long long>(a[i]) * b[i]) >> 32));
    ASSERT_EQ(ll(wide[3 * i]), ll(p[i]) * ll(q[i]));
    ASSERT_EQ(wide[3 * i + 1], p[i] >> (q[i] & 63));
    ASSERT_EQ(ll(wide[3 * i + 2]), (ll(p[i]) << (q[i] & 63)) + (p[i] < q[i] ? ll(p[i]) - ll(q[i]) : ll(q[i])));
  }
}

TEST_P(Programs, Conversions) {
  const int n = 300;
  std::vector<float> f = floats(n, 1e6F);
  f[0] = -0.5F;
  f[1] = 2.5F;
  f[2] = 3e9F;
  const std::vector<int> v = integers<int>(n);
  Buffer<float> df(memory_, f);
  Buffer<int> dv(memory_, v), out(memory_, std::size_t{8 * n});
  Buffer<double> outd(memory_, std::size_t{2 * n});
  launch("convert", {3}, {128},
         Params().add(df.address()).add(dv.address()).add(out.address()).add(outd.address()).add(n));
  const std::vector<int> got = out.get();
  const std::vector<double> wide = outd.get();
  for (int i = 0; i < n; ++i) {
    const auto clamp = [](double x) { return x >= 2147483647.0 ? 2147483647 : static_cast<int>(x); };
    const auto float_bits = [](float x) { return static_cast<int>(bits(x)); };
    float toward_zero = static_cast<float>(static_cast<u32>(v[i]));
    if (static_cast<double>(toward_zero) > static_cast<double>(static_cast<u32>(v[i])))
      toward_zero = std::nextafterf(toward_zero, 0);
    ASSERT_EQ(got[8 * i], clamp(std::trunc(f[i])));
    ASSERT_EQ(got[8 * i + 1], clamp(std::nearbyint(f[i])));
    ASSERT_EQ(static_cast<u32>(got[8 * i + 2]), f[i] <= 0 ? 0u : static_cast<u32>(std::ceil(f[i])));
    ASSERT_EQ(got[8 * i + 3], float_bits(static_cast<float>(v[i])));
    ASSERT_EQ(got[8 * i + 4], float_bits(toward_zero));
    ASSERT_EQ(got[8 * i + 5], float_bits(std::floor(f[i])));
    ASSERT_EQ(got[8 * i + 6], float_bits(std::nearbyint(f[i])));
    ASSERT_EQ(got[8 * i + 7], float_bits(static_cast<float>(static_cast<double>(f[i]) * 1.1)));
    ASSERT_EQ(wide[2 * i], std::fma(static_cast<double>(v[i]), static_cast<double>(f[i]), 0.1));
    ASSERT_EQ(wide[2 * i + 1], std::fma(static_cast<double>(f[i]), 3.0, static_cast<double>(v[i])));
  }
}

TEST_P(Programs, Bits) {
  const int n = 300;
  const std::vector<u32> in = integers<u32>(n);
  Buffer<u32> a(memory_, in), out(memory_, std::size_t{8 * n});
  launch("bits", {3}, {128}, Params().add(a.address()).add(out.address()).add(n));
  const std::vector<u32> got = out.get();
  for (int i = 0; i < n; ++i) {
    const u32 v = in[i], u = in[(i + 1) % n];
    const std::uint64_t vu = static_cast<std::uint64_t>(u) << 32 | v;
    const auto byte = [&](unsigned k) { return static_cast<u32>(vu >> (8 * k)) & 255; };
    u32 reversed = 0, dots = 7, dotu = 9;
    for (unsigned k = 0; k < 32; ++k) reversed |= (v >> k & 1) << (31 - k);
    for (unsigned k = 0; k < 32; k += 8) {
      dots += static_cast<u32>(static_cast<std::int8_t>(v >> k) * static_cast<std::int8_t>(u >> k));
      dotu += (v >> k & 255) * (u >> k & 255);
    }
    const u32 n6 = u & 63;
    ASSERT_EQ(got[8 * i], static_cast<u32>(std::popcount(v)) | static_cast<u32>(std::countl_zero(v)) << 8 |
                              (v == 0 ? 0u : static_cast<u32>(std::countr_zero(v)) + 1) << 16);
    ASSERT_EQ(got[8 * i + 1], reversed);
    ASSERT_EQ(got[8 * i + 2],
              (byte(3) | byte(1) << 8 | byte(5) << 16 | byte(6) << 24) ^ static_cast<u32>(vu << (v & 31) >> 32));
    ASSERT_EQ(got[8 * i + 3], static_cast<u32>(vu >> (u & 31)) + (n6 > 31 ? 0 : v >> n6) + (n6 > 31 ? 0 : v << n6));
    ASSERT_EQ(got[8 * i + 4], static_cast<u32>(static_cast<int>(v) >> (u & 31)) ^ (v & ~u) ^ (v | u));
    ASSERT_EQ(got[8 * i + 5], static_cast<u32>(std::min(static_cast<int>(v), static_cast<int>(u))) + std::max(v, u));
    ASSERT_EQ(got[8 * i + 6], dots + dotu);
    ASSERT_EQ(got[8 * i + 7], v * u + (static_cast<int>(v) < 0 ? 0 - v : v) + (v > u ? 1 : 0));
  }
}

TEST_P(Programs, AsynchronousPipeline) {
  if (GetParam().arch == Arch::sm_52) GTEST_SKIP() << "sm_52 has no asynchronous copies";
  const int tiles = 9;
  const std::vector<float> in = floats(tiles * 96);
  Buffer<float> a(memory_, in), out(memory_, std::size_t{192});
  launch("pipeline", {2}, {96}, Params().add(a.address()).add(out.address()).add(tiles), 2 * 96 * 4);
  const std::vector<float> got = out.get();
  for (int i = 0; i < 192; ++i) {
    float sum = 0;
    for (int t = 0; t < tiles; ++t) sum += in[t * 96 + 95 - i % 96];
    ASSERT_EQ(bits(got[i]), bits(sum));
  }
}

TEST_P(Programs, WarpWide) {
  std::vector<u32> in(256);
  for (u32& v : in) v = static_cast<u32>(rng_() % 900);
  in[5] = 77;
  Buffer<u32> a(memory_, in), out(memory_, std::size_t{1024}), lock(memory_, std::size_t{1}),
      counter(memory_, std::size_t{1});
  launch("warpwide", {4}, {64},
         Params().add(a.address()).add(out.address()).add(lock.address()).add(counter.address()));
  const std::vector<u32> got = out.get();
  for (u32 i = 0; i < 256; ++i) {
    const u32 first = i / 32 * 32, block = i / 64 * 64;
    u32 ballot = 0, match = 0, scan = 0, most = 0, count = 0, any = 0, all = 1;
    for (u32 j = 0; j < 32; ++j) {
      const u32 v = in[first + j];
      ballot |= (v & 1) << j;
      match |= ((v & 7) == (in[i] & 7) ? 1u : 0u) << j;
      if (first + j <= i) scan += v;
      most = std::max(most, v);
      any |= v == 77 ? 1 : 0;
      all &= v < 1000 ? 1 : 0;
    }
    for (u32 j = 0; j < 64; ++j) count += (in[block + j] & 2) != 0 ? 1 : 0;
    ASSERT_EQ(got[4 * i], ballot ^ match) << i;
    ASSERT_EQ(got[4 * i + 1], scan + in[first + (i + 5) % 32]) << i;
    ASSERT_EQ(got[4 * i + 2], count + most) << i;
    ASSERT_EQ(got[4 * i + 3], any + 2 * all) << i;
  }
  EXPECT_EQ(counter.get()[0], 4u);
  EXPECT_EQ(lock.get()[0], 0u);
}

TEST_P(Programs, DivisionRootsAndCalls) {
  const int n = 400;
  std::vector<float> a = floats(n, 1e3F), b = floats(n, 1e3F);
  const float special[] = {0.0F, -0.0F, INFINITY, -INFINITY, NAN, 1e-40F, -3e-42F, 1e38F, 1.17549435e-38F, 3e-39F};
  for (int i = 0; i < 100; ++i) {
    a[i] = special[i / 10];
    b[i] = special[i % 10];
  }
  for (int i = 100; i < 150; ++i) a[i] *= 1e-37F;
  for (int i = 150; i < 200; ++i) b[i] *= 1e-37F;
  Buffer<float> da(memory_, a), db(memory_, b), out(memory_, std::size_t{4 * n});
  Buffer<double> outd(memory_, std::size_t{2 * n});
  launch("floats", {4}, {128},
         Params().add(da.address()).add(db.address()).add(out.address()).add(outd.address()).add(n));
  const std::vector<float> got = out.get();
  const std::vector<double> wide = outd.get();
  const auto same = [](auto x, auto y) { return x != x ? y != y : x == y && std::signbit(x) == std::signbit(y); };
  // Like fmin, with -0 before +0, which C++ leaves open.
  const auto least = [](float x, float y) {
    if (x != x || y != y) return x != x ? y : x;
    return x < y || (x == y && std::signbit(x)) ? x : y;
  };
  for (int i = 0; i < n; ++i) {
    const auto poly = [](float x, int m) {
      float r = 1;
      for (int j = 0; j < m; ++j) r = std::fma(r, x, 0.5F);
      return r;
    };
    ASSERT_TRUE(same(got[4 * i], a[i] / b[i])) << a[i] << " / " << b[i] << " gave " << got[4 * i];
    ASSERT_TRUE(same(got[4 * i + 1], std::sqrt(std::fabs(a[i])))) << a[i];
    ASSERT_TRUE(same(got[4 * i + 2], a[i] > b[i] ? poly(b[i] * 0.001F, i & 7) : poly(a[i] * 0.001F, 5)));
    ASSERT_TRUE(same(got[4 * i + 3], least(a[i], b[i]) - least(-a[i] * 0.5F, -b[i]))) << a[i] << " " << b[i];
    ASSERT_TRUE(same(wide[2 * i], double{a[i]} / double{b[i]})) << a[i] << " / " << b[i] << " gave " << wide[2 * i];
    ASSERT_TRUE(same(wide[2 * i + 1], std::sqrt(std::fabs(double{a[i]}))));
  }
}

TEST_P(Programs, LocalMemory) {
  const int n = 200;
  const std::vector<int> in = integers<int>(n);
  Buffer<int> a(memory_, in), out(memory_, std::size_t{n});
  launch("local", {2}, {128}, Params().add(a.address()).add(out.address()).add(n));
  const std::vector<int> got = out.get();
  for (int i = 0; i < n; ++i) {
    u32 stack[16];
    for (u32 j = 0; j < 16; ++j) stack[j] = static_cast<u32>(in[i]) * j;
    u32 v = static_cast<u32>(in[i]) & 15, sum = 0;
    for (int j = 0; j < 20; ++j) {
      sum += stack[v];
      stack[(v + 3) & 15] = sum;
      v = (v * 5 + 1) & 15;
    }
    ASSERT_EQ(static_cast<u32>(got[i]), sum);
  }
}

INSTANTIATE_TEST_SUITE_P(Modes, Programs,
                         ::testing::Values(Setting{Mode::kFast, Arch::sm_90a}, Setting{Mode::kChecked, Arch::sm_90a},
                                           Setting{Mode::kFast, Arch::sm_52}, Setting{Mode::kChecked, Arch::sm_52}),
                         [](const auto& test) { return setting_name(test.param); });

}  // namespace
}  // namespace nervanagpu::sass::emulate::testing
