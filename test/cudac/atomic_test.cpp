// Atomics: whatever the order of the threads, these results are the same.
#include <algorithm>
#include <numeric>

#include "test/cudac/program.h"

namespace nervanagpu::test {
namespace {

class Atomic : public Program {
 protected:
  Atomic() : Program("atomic") {}
};

TEST_P(Atomic, Histogram) {
  auto text = integers<unsigned char>(5000);
  const auto counts = array(std::vector<unsigned>(256));
  launch("histogram", {4, 1, 1}, {128, 1, 1}, 0, array(text), counts, 5000);
  std::vector<unsigned> want(256);
  for (const unsigned char c : text) ++want[c];
  expect_equal("histogram", get(counts), want);
}

TEST_P(Atomic, FloatMaximum) {
  const auto in = reals<float>(500, -9, 9);
  const float zero = 0;
  const auto out = array(std::vector<float>{zero, zero, -zero});
  launch("float_max", {1, 1, 1}, {128, 1, 1}, 0, array(in), out, 500);
  const float most = *std::max_element(in.begin(), in.end());
  float nearest = -zero;  // the negative ones by their bits: the smallest number of bits is the one nearest to zero
  std::uint32_t bits = std::bit_cast<std::uint32_t>(nearest);
  for (const float v : in) {
    if (v < 0) bits = std::min(bits, std::bit_cast<std::uint32_t>(v));
  }
  expect_equal("float_max", get(out), {most, most, std::bit_cast<float>(bits)});
}

TEST_P(Atomic, IntegerFunctions) {
  const unsigned blocks = 3, threads = 64;
  const auto in = integers<unsigned>(blocks * threads);
  std::vector<unsigned> w(16);
  w[1] = w[4] = ~0u;
  std::vector<unsigned long long> d(10);
  d[1] = d[3] = ~0ull;
  std::vector<int> s32 = {0, 0x7fffffff, static_cast<int>(0x80000000u)};
  std::vector<long long> s64 = {0x7fffffffffffffff, static_cast<long long>(1ull << 63)};
  const auto dw = array(w);
  const auto dd = array(d);
  const auto ds32 = array(s32);
  const auto ds64 = array(s64);
  // All CTAs write two of the words, without an order: a race, though they write the same.
  const std::string said = try_launch("functions", {blocks, 1, 1}, {threads, 1, 1}, 0, array(in), dw, dd, ds32, ds64);
  EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), (GetParam().mode == sass::emulate::Mode::kChecked) ? 1 : 0)
      << said;
  EXPECT_EQ(said.find("global-memory race: ") != std::string::npos, (GetParam().mode == sass::emulate::Mode::kChecked))
      << said;
  unsigned count = 0, down = 0, sum32 = 0;
  for (unsigned b = 0; b < blocks; ++b) {
    unsigned sw[8] = {0, ~0u, 0, 0, ~0u, 0, 0, 0};
    unsigned long long sd[4] = {0, ~0ull, 0, 0};
    for (unsigned t = 0; t < threads; ++t) {
      const unsigned v = in[b * threads + t];
      const unsigned long long v2 = (static_cast<unsigned long long>(v) << 29) ^ v;
      w[0] += v;
      w[1] = std::min(w[1], v);
      w[2] = std::max(w[2], v);
      count = count >= 100 ? 0 : count + 1;
      w[4] &= v | 0xff;
      w[5] |= v & 0x00ffff00;
      w[6] ^= v;
      down = down == 0 || down > 77 ? 77 : down - 1;
      sum32 += v;
      s32[1] = std::min(s32[1], static_cast<int>(v));
      s32[2] = std::max(s32[2], static_cast<int>(v));
      d[0] += v2;
      d[1] = std::min(d[1], v2);
      d[2] = std::max(d[2], v2);
      d[3] &= v2 | 0xffff;
      d[4] |= v2 & 0xffff0000ffffull;
      d[5] ^= v2;
      s64[0] = std::min(s64[0], static_cast<long long>(v2 << 3));
      s64[1] = std::max(s64[1], static_cast<long long>(v2 << 3));
      sw[0] += v;
      sw[1] = std::min(sw[1], v);
      sw[2] = static_cast<unsigned>(std::max(static_cast<int>(sw[2]), static_cast<int>(v)));
      sw[3] = sw[3] >= 50 ? 0 : sw[3] + 1;
      sw[4] &= v | 0xf0f0;
      sw[5] |= v & 0x0ff0;
      sw[6] ^= v;
      sw[7] = sw[7] == 0 || sw[7] > 33 ? 33 : sw[7] - 1;
      sd[0] += v2;
      sd[1] = std::min(sd[1], v2);
      sd[2] = std::max(sd[2], v2);
      sd[3] ^= v2;
    }
    w[8] += sw[0];
    for (unsigned i = 1; i < 8; ++i) w[8 + i] = i == 3 || i == 7 ? sw[i] : w[8 + i] ^ sw[i];
    for (unsigned i = 0; i < 4; ++i) d[6 + i] ^= sd[i];
  }
  w[3] = count;
  w[7] = down;
  s32[0] = static_cast<int>(0 - sum32);
  expect_equal("functions.w", get(dw), w);
  expect_equal("functions.d", get(dd), d);
  expect_equal("functions.s32", get(ds32), s32);
  expect_equal("functions.s64", get(ds64), s64);
}

TEST_P(Atomic, FloatingPoint) {
  auto in = integers<int>(96);
  for (int& v : in) v = static_cast<int>(static_cast<unsigned>(v) % 2000) - 1000;
  const auto f = array(std::vector<float>(2));
  const auto d = array(std::vector<double>(2));
  const auto h = array(std::vector<std::uint16_t>(4));
  const auto b = array(std::vector<std::uint16_t>(2));
  launch("floats", {3, 1, 1}, {32, 1, 1}, 0, array(in), f, d, h, b);
  float sum = 0;
  int low = 0, ones = 0, halves = 0;
  for (const int v : in) {
    sum += static_cast<float>(v);
    low += v & 3;
    ones += v & 1;
    halves += (v >> 1) & 1;
  }
  expect_equal("floats.f", get(f), {sum * 0.25F, sum});
  expect_equal("floats.d", get(d), {sum * 0.125, sum * 4.0});
  const auto half = [](int v) {  // of integers below 2048
    if (v == 0) return std::uint16_t{0};
    const unsigned m = static_cast<unsigned>(std::abs(v));
    const int e = std::bit_width(m) - 1;
    return static_cast<std::uint16_t>((v < 0 ? 0x8000u : 0) | static_cast<unsigned>(e + 15) << 10 |
                                      ((m << 10 >> e) & 0x3ff));
  };
  expect_equal("floats.h", get(h), {half(low), half(-ones), half(ones), 0});
  const auto bfloat = [](float v) { return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(v) >> 16); };
  expect_equal("floats.b", get(b), {bfloat(static_cast<float>(ones)), bfloat(static_cast<float>(halves) * 0.5F)});
}

TEST_P(Atomic, GenericAddresses) {
  for (const int shared : {0, 1}) {
    const unsigned n = 64;
    const auto global = array(std::vector<unsigned>(1));
    const auto list = array(std::vector<unsigned>(4 * n));
    const auto wide = array(std::vector<unsigned long long>(2));
    launch("tickets_anywhere", {1, 1, 1}, {n, 1, 1}, 0, global, list, wide, shared);
    const auto got = get(list);
    for (unsigned i = 0; i < n; ++i) EXPECT_EQ(got[2 * n + i], i * 3) << i;
    EXPECT_EQ(get(global)[0], shared != 0 ? n / 2 : n);
    EXPECT_EQ(got[3 * n], shared != 0 ? n / 2 : 0);
    // The largest thread whose bit 1 says global; all of them without shared memory.
    EXPECT_EQ(get(wide)[0], static_cast<unsigned long long>(shared != 0 ? n - 3 : n - 1) << 33);
    EXPECT_EQ(get(wide)[1], shared != 0 ? static_cast<unsigned long long>(n - 1) << 33 : 0);
    if (shared != 0) {  // each half of the list is filled by its own counter
      for (unsigned i = 0; i < n; ++i) EXPECT_EQ(got[i], i < n / 2 ? 1u : 2u) << i;
    }
  }
}

TEST_P(Atomic, Lock) {
  const auto lock = array(std::vector<unsigned>(1));
  const auto value = array(std::vector<unsigned>(1));
  launch("locked", {2, 1, 1}, {48, 1, 1}, 0, lock, value);
  unsigned want = 0;
  for (int i = 0; i < 96; ++i) want = want * 3 + 1;
  expect_equal("locked", get(value), {want});
}

INSTANTIATE_TEST_SUITE_P(On, Atomic, testing::ValuesIn(settings()), setting_name);

}  // namespace
}  // namespace nervanagpu::test
