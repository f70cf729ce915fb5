// Programs that ptxas compiled for sm_52 (test/data/emulate/maxwell.cu), against the same computed here, in both modes.
#include <algorithm>
#include <cmath>
#include <limits>

#include "test/sass/emulate/program_fixture.h"

namespace nervanagpu::sass::emulate::testing {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;
using i64 = std::int64_t;

class Maxwell : public ProgramTest {
 protected:
  [[nodiscard]] const CubinImage& cubin() const override {
    static const CubinImage image = read_file("maxwell.sm_52.cubin");
    return image;
  }
};

TEST_P(Maxwell, Saxpy) {
  const int n = 1000;
  const std::vector<float> x = floats(n), y = floats(n);
  Buffer<float> dx(memory_, x), dy(memory_, y);
  launch("saxpy", {3}, {96}, Params().add(dx.address()).add(dy.address()).add(1.25F).add(n));
  const std::vector<float> got = dy.get();
  for (int i = 0; i < n; ++i) ASSERT_EQ(got[i], std::fma(1.25F, x[i], y[i])) << i;
}

TEST_P(Maxwell, TreeReduction) {
  const int n = 1000;
  const std::vector<float> x = floats(n);
  Buffer<float> dx(memory_, x), out(memory_, std::size_t{4});
  launch("tree", {4}, {256}, Params().add(dx.address()).add(out.address()).add(n));
  const std::vector<float> got = out.get();
  for (int block = 0; block < 4; ++block) {
    float s[256];
    for (int t = 0; t < 256; ++t) s[t] = block * 256 + t < n ? x[block * 256 + t] : 0;
    for (int d = 128; d > 0; d >>= 1) {
      for (int t = 0; t < d; ++t) s[t] += s[t + d];
    }
    ASSERT_EQ(got[block], s[0]);
  }
}

// As the chip: wrapping around.
int add(int a, int b) {
  return static_cast<int>(static_cast<u32>(a) + static_cast<u32>(b));
}
int times(int a, int b) {
  return static_cast<int>(static_cast<u32>(a) * static_cast<u32>(b));
}

TEST_P(Maxwell, DivergentLoopsAndSwitches) {
  const int n = 500;
  std::vector<int> in(n);
  for (int& v : in) v = static_cast<int>(rng_() % 3000);
  Buffer<int> a(memory_, in), out(memory_, std::vector<int>(2 * n, -1));
  launch("branches", {4}, {128}, Params().add(a.address()).add(out.address()).add(n));
  std::vector<int> want(2 * n, -1);
  for (int i = 0; i < n; ++i) {
    int v = in[i];
    int sum = 0;
    bool returned = false;
    for (int k = 0; k < 60 && !returned; ++k) {
      if ((v & 7) == 3) {
        v = add(v, 5);
        continue;
      }
      if (v > 1000000) break;
      switch (v % 11) {
        case 0: sum = add(sum, times(3, in[k])); break;
        case 1: sum ^= v; break;
        case 2: want[i + n] = k; break;
        case 3: sum = times(sum, 3); break;
        case 4: sum = add(sum, v >> 2); break;
        case 5:
          for (int j = 0; j < (v >> 4 & 7); ++j) {
            if ((add(sum, j) & 31) == 9) break;
            sum = add(sum, in[(i + j) % n]);
          }
          break;
        case 6: sum = -in[sum & 63]; break;
        case 7: sum |= k; break;
        case 8:
          if (sum < 0) {
            want[i] = sum;
            returned = true;
          }
          sum = add(sum, 9);
          break;
        case 9: sum = sum / (k + 3); break;
        default: sum = add(sum, times(k, v));
      }
      v = add(times(v, 5), k);
    }
    if (!returned) want[i] = add(sum, v);
  }
  EXPECT_EQ(out.get(), want);
}

int gcd(int a, int b) {
  while (b != 0) {
    const int r = a % b;
    a = b;
    b = r;
  }
  return a;
}
int fold(int a, int b) {
  int sum = 0;
  for (int k = 0; k < (a & 3) + 1; ++k) {
    if ((b & 1) != 0) sum += gcd(a + k, b);
    b = b / 2 + 1;
  }
  return sum;
}

TEST_P(Maxwell, CallsWithinDivergence) {
  const int n = 300;
  std::vector<int> a(n), b(n);
  for (int& v : a) v = static_cast<int>(rng_() % 100000);
  for (int& v : b) v = static_cast<int>(rng_() % 100000);
  Buffer<int> da(memory_, a), db(memory_, b), out(memory_, std::size_t{n});
  launch("calls", {3}, {128}, Params().add(da.address()).add(db.address()).add(out.address()).add(n));
  const std::vector<int> got = out.get();
  for (int i = 0; i < n; ++i) {
    ASSERT_EQ(got[i], i % 3 == 0 ? fold(a[i], b[i]) : gcd(a[i], b[i]) + fold(b[i], a[i])) << i;
  }
}

TEST_P(Maxwell, BytesAndHalves) {
  const int n = 256;
  const auto sc = integers<signed char>(n);
  const auto uc = integers<unsigned char>(n);
  const auto ss = integers<short>(n);
  const auto us = integers<unsigned short>(n);
  Buffer<signed char> dsc(memory_, sc), sc_out(memory_, std::size_t{n});
  Buffer<unsigned char> duc(memory_, uc);
  Buffer<short> dss(memory_, ss), ss_out(memory_, std::size_t{n});
  Buffer<unsigned short> dus(memory_, us);
  Buffer<int> out(memory_, std::size_t{n});
  launch("narrow", {2}, {128},
         Params()
             .add(dsc.address())
             .add(duc.address())
             .add(dss.address())
             .add(dus.address())
             .add(out.address())
             .add(sc_out.address())
             .add(ss_out.address())
             .add(n));
  for (int i = 0; i < n; ++i) {
    ASSERT_EQ(out.get()[i], sc[i] * us[i] + uc[i ^ 1] - ss[i ^ 1] * uc[i]);
    ASSERT_EQ(sc_out.get()[i], static_cast<signed char>(sc[i] + us[i]));
    ASSERT_EQ(ss_out.get()[i], static_cast<short>(ss[i] * 3 + sc[i]));
  }
}

TEST_P(Maxwell, Transpose) {
  const int n = 96;
  const std::vector<float> in = floats(n * n);
  Buffer<float> a(memory_, in), out(memory_, std::size_t{n * n});
  launch("transpose", {3, 3}, {8, 32}, Params().add(a.address()).add(out.address()).add(n));
  const std::vector<float> got = out.get();
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) ASSERT_EQ(got[j * n + i], in[i * n + j]);
  }
}

TEST_P(Maxwell, Atomics) {
  const int n = 200;
  std::vector<int> in(n);
  for (int& v : in) v = static_cast<int>(rng_() % 1000);
  Buffer<int> a(memory_, in), shared(memory_, std::size_t{16});
  std::vector<u32> start(8 + n);
  start[2] = ~0u;
  start[3] = 77;
  Buffer<u32> out(memory_, start);
  Buffer<u64> out64(memory_, std::size_t{2});
  Buffer<float> outf(memory_, std::size_t{1});
  launch("atomics", {2}, {128},
         Params()
             .add(a.address())
             .add(shared.address())
             .add(out.address())
             .add(out64.address())
             .add(outf.address())
             .add(n));
  const std::vector<int> s = shared.get();
  u32 total = 0, most = 0, all = ~0u;
  float sum = 0;
  u64 chain = 0;
  for (int block = 0; block < 2; ++block) {
    int want[6] = {0, std::numeric_limits<int>::max(), 0, 0, 0, 0};
    for (int i = block * 128; i < std::min(n, block * 128 + 128); ++i) {
      want[0] += in[i];
      want[1] = std::min(want[1], in[i]);
      want[2] = std::max(want[2], in[i]);
      want[3] ^= in[i];
      want[4] += in[i] & 15;
      want[5] += in[i];
      total += static_cast<u32>(in[i]);
      most = std::max(most, static_cast<u32>(in[i]));
      all &= static_cast<u32>(in[i]) | 0xff;
      sum += static_cast<float>(in[i] & 7);
      chain = chain * 3 + 1;
    }
    for (int k = 0; k < 6; ++k) EXPECT_EQ(s[block * 8 + k], want[k]) << k;
  }
  std::vector<u32> got = out.get();
  EXPECT_EQ(got[0], total);
  EXPECT_EQ(got[1], most);
  EXPECT_EQ(got[2], all);
  EXPECT_EQ(got[3], (77 + 200) % 101u);
  EXPECT_EQ(got[4], 200u);
  EXPECT_EQ(got[5], 600u);
  std::sort(got.begin() + 8, got.end());
  for (u32 i = 0; i < 200; ++i) ASSERT_EQ(got[8 + i], i);  // each ticket once
  EXPECT_EQ(out64.get()[0], u64{total} << 20);
  EXPECT_EQ(out64.get()[1], chain);
  EXPECT_EQ(outf.get()[0], sum);
}

double half_value(u32 h) {
  const u32 e = h >> 10 & 31;
  const double m = h & 0x3ff;
  double v = e == 0 ? std::ldexp(m, -24) : std::ldexp(1024 + m, static_cast<int>(e) - 25);
  if (e == 31) v = m == 0 ? HUGE_VAL : std::nan("");
  return (h & 0x8000) != 0 ? -v : v;
}

// v to a half, to nearest even or toward zero: the nearest of all halves, by search.
u32 nearest_half(float v, bool toward_zero) {
  if (v != v) return 0x7fff;
  const u32 sign = std::signbit(v) ? 0x8000 : 0;
  const double a = std::fabs(static_cast<double>(v));
  u32 below = 0;
  for (u32 step = 0x4000; step != 0; step >>= 1) {
    if (below + step < 0x7c00 && half_value(below + step) <= a) below += step;
  }
  if (std::isinf(v)) return sign | 0x7c00;
  if (toward_zero || half_value(below) == a) return sign | below;
  const double lo = half_value(below), hi = below + 1 == 0x7c00 ? 65536.0 : half_value(below + 1);
  const double middle = (lo + hi) / 2;
  return sign | (a > middle || (a == middle && (below & 1) != 0) ? below + 1 : below);
}

TEST_P(Maxwell, Halves) {
  const int n = 300;
  std::vector<float> f = floats(n, 70000.0F);
  for (int i = 0; i < 100; ++i) f[i] *= 1e-7F;
  for (int i = 100; i < 200; ++i) f[i] *= 1e-3F;
  const float special[] = {0.0F, -0.0F, INFINITY, -INFINITY, NAN, 65504.0F, 65520.0F, -65519.9F, 1e-40F, 5.9604645e-8F};
  std::copy(std::begin(special), std::end(special), f.begin());
  std::vector<std::uint16_t> h(n);
  for (auto& v : h) v = static_cast<std::uint16_t>(rng_());
  Buffer<std::uint16_t> dh(memory_, h), out(memory_, std::size_t{2 * n});
  Buffer<float> df(memory_, f), wide(memory_, std::size_t{n});
  Buffer<int> whole(memory_, std::size_t{4 * n});
  launch(
      "halves", {3}, {128},
      Params().add(dh.address()).add(df.address()).add(out.address()).add(wide.address()).add(whole.address()).add(n));
  const auto same = [](float x, float y) { return x != x ? y != y : x == y && std::signbit(x) == std::signbit(y); };
  const auto clamp = [](double x, double lo, double hi) { return x != x ? 0.0 : std::min(std::max(x, lo), hi); };
  for (int i = 0; i < n; ++i) {
    const double v = half_value(h[i]);
    ASSERT_TRUE(same(wide.get()[i], std::fma(static_cast<float>(v), 2.0F, f[i]))) << i;
    ASSERT_EQ(out.get()[2 * i], nearest_half(f[i], false)) << f[i];
    ASSERT_EQ(out.get()[2 * i + 1], nearest_half(f[i], true)) << f[i];
    const std::vector<int> w = whole.get();
    ASSERT_EQ(w[4 * i], static_cast<int>(clamp(std::ceil(f[i]), -0x1p31, 0x7fffffff)));
    ASSERT_TRUE(same(std::bit_cast<float>(w[4 * i + 1]), std::trunc(f[i]))) << f[i];
    ASSERT_EQ(static_cast<u32>(w[4 * i + 2]), static_cast<u32>(clamp(std::floor(f[i]), 0, 0xffffffff)));
    ASSERT_EQ(w[4 * i + 3], static_cast<int>(clamp(std::nearbyint(v), -0x1p31, 0x7fffffff))) << v;
  }
}

TEST_P(Maxwell, LongIntegers) {
  const int n = 256;
  std::vector<i64> a(n), b(n);
  const i64 special[] = {0,
                         1,
                         -1,
                         0x7fffffff,
                         0x80000000,
                         0xffffffff,
                         0x100000000,
                         -0x80000000ll,
                         -0x100000000ll,
                         std::numeric_limits<i64>::max(),
                         std::numeric_limits<i64>::min() + 1,
                         0x7fffffffffff0000};
  for (int i = 0; i < n; ++i) {
    a[i] = i < 144 ? special[i / 12] : static_cast<i64>(rng_());
    b[i] = i < 144 ? special[i % 12] : static_cast<i64>(rng_() >> (rng_() % 50));
  }
  Buffer<i64> da(memory_, a), db(memory_, b), out(memory_, std::size_t{16 * n});
  launch("wide", {2}, {128}, Params().add(da.address()).add(db.address()).add(out.address()).add(n));
  const std::vector<i64> got = out.get();
  for (int i = 0; i < n; ++i) {
    const i64 x = a[i], y = b[i];
    const u64 ux = static_cast<u64>(x), uy = static_cast<u64>(y);
    const auto low = [](i64 v) { return static_cast<int>(v); };
    const i64* o = &got[16 * i];
    SCOPED_TRACE(std::to_string(x) + " " + std::to_string(y));
    ASSERT_EQ(o[0], x / (y | 1));
    ASSERT_EQ(static_cast<u64>(o[1]), ux % (uy | 1));
    ASSERT_EQ(o[2], static_cast<i64>(static_cast<__int128>(x) * y >> 64));
    ASSERT_EQ(static_cast<u64>(o[3]), static_cast<u64>(static_cast<unsigned __int128>(ux) * uy >> 64));
    ASSERT_EQ(o[4], std::min(x, y));
    ASSERT_EQ(static_cast<u64>(o[5]), std::max(ux, uy));
    ASSERT_EQ(o[6],
              (x < y) + 2 * (x <= y) + 4 * (x > y) + 8 * (x >= y) + 16 * (x == y) + 32 * (ux < uy) + 64 * (ux >= uy));
    ASSERT_EQ(o[7], static_cast<i64>(ux >> (y & 63)) ^ (x >> (y & 31)));
    ASSERT_EQ(o[8], i64{low(x)} * low(y));
    ASSERT_EQ(static_cast<u64>(o[9]), u64{static_cast<u32>(x)} * static_cast<u32>(y) + uy);
    ASSERT_EQ(o[10], (i64{std::countl_zero(ux)} << 8) + std::popcount(ux) +
                         (i64{y == 0 ? 0 : std::countr_zero(uy) + 1} << 16));
    ASSERT_EQ(o[11], x < 0 ? -x : x);
    const auto rounded = static_cast<double>(x);
    ASSERT_EQ(o[12], rounded >= 0x1p63 ? std::numeric_limits<i64>::max() : static_cast<i64>(rounded));
    u64 reversed = 0;
    for (unsigned k = 0; k < 64; ++k) reversed |= (ux >> k & 1) << (63 - k);
    ASSERT_EQ(static_cast<u64>(o[13]), reversed);
    ASSERT_EQ(o[14], add(times(low(x), static_cast<short>(y)), times(static_cast<unsigned short>(x), low(y >> 32))));
    ASSERT_EQ(o[15], i64{static_cast<int>(i64{low(x)} * low(y) >> 32)} ^
                         static_cast<i64>(u64{static_cast<u32>(x)} * static_cast<u32>(y) >> 32));
  }
}

TEST_P(Maxwell, GenericAddresses) {
  std::vector<float> data(256);
  for (int i = 0; i < 256; ++i) data[i] = static_cast<float>(i) * 0.5F;
  std::vector<int> which(64);
  for (int& v : which) v = static_cast<int>(rng_() % 3);
  Buffer<float> d(memory_, data);
  Buffer<int> w(memory_, which);
  const int n = 21;
  launch("generic", {1}, {64}, Params().add(d.address()).add(w.address()).add(n));
  const std::vector<float> got = d.get();
  for (int t = 0; t < 64; ++t) {
    float l[16];
    for (int k = 0; k < 16; ++k) l[k] = data[k] + static_cast<float>(k);
    const int k = t & 15;
    const float sum = which[t] == 0 ? static_cast<float>(k) * 2 : which[t] == 1 ? l[k] : data[k];
    if (which[t] == 1) l[n & 15] = 100;
    ASSERT_EQ(got[128 + t], sum + l[(t + 1) & 15] + static_cast<float>(63 - t) * 2) << t;
    ASSERT_EQ(got[64 + t], which[t] == 2 ? 7 : data[64 + t]) << t;
  }
}

// CUDA's documented errors are a few units in the last place; the fast functions have absolute ones.
TEST_P(Maxwell, Functions) {
  const int n = 400;
  const std::vector<float> in = floats(n, 20.0F);
  Buffer<float> d(memory_, in), out(memory_, std::size_t{8 * n});
  launch("functions", {4}, {128}, Params().add(d.address()).add(out.address()).add(n));
  const std::vector<float> got = out.get();
  for (int i = 0; i < n; ++i) {
    const double v = in[i];
    const double want[] = {std::exp(v),
                           std::log(std::fabs(v) + 1),
                           std::cbrt(v),
                           std::tanh(v),
                           1 / std::sqrt(std::fabs(v) + 0.5),
                           std::exp(v),
                           std::sin(v) + std::cos(v),
                           std::pow(std::fabs(v), 1.5)};
    const double relative[] = {3e-7, 3e-7, 3e-7, 3e-7, 3e-7, 4e-6, 0, 2e-6};
    for (int k = 0; k < 8; ++k) {
      const double bound = k == 6 ? 4e-6 : std::fabs(want[k]) * relative[k] + 1e-7 * (k == 1);
      ASSERT_TRUE(std::fabs(got[8 * i + k] - want[k]) <= bound) << k << ": " << v << " gave " << got[8 * i + k];
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Modes, Maxwell,
                         ::testing::Values(Setting{Mode::kFast, Arch::sm_52}, Setting{Mode::kChecked, Arch::sm_52}),
                         [](const auto& test) { return setting_name(test.param); });

}  // namespace
}  // namespace nervanagpu::sass::emulate::testing
