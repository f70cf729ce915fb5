// fma.rn.oob, as PTX defines it and an H200 computes it: zero where a factor is the not-a-number that the copy engine
// fills in outside of a tensor, else the sum, rounded once.
#include "sass/emulate/lanes/half_math.h"
#include "test/cudac/program.h"

namespace nervanagpu::test {
namespace {

using u16 = std::uint16_t;
using u32 = std::uint32_t;
using sass::emulate::add_to_odd;

class Outside : public Program {
 protected:
  Outside() : Program("outside") {}
};

constexpr u16 kOutside = 0x7ff7;

struct Format {
  double (*widen)(u16);
  u16 (*narrow)(double);
};
constexpr Format kHalf{[](u16 v) { return double{sass::from_half(v)}; }, [](double v) { return sass::to_half(v); }};
constexpr Format kBfloat{[](u16 v) { return double{sass::from_bfloat(v)}; },
                         [](double v) { return sass::to_bfloat(v); }};

u16 sum(const Format& f, u16 a, u16 b, u16 c, bool relu) {
  if ((a & 0x7fff) == kOutside || (b & 0x7fff) == kOutside) return 0;
  const double v = add_to_odd(f.widen(a) * f.widen(b), f.widen(c));
  return relu && v <= 0 ? u16{0} : f.narrow(v);
}
u16 low(u32 v) {
  return static_cast<u16>(v);
}
u16 high(u32 v) {
  return static_cast<u16>(v >> 16);
}
u32 pair(u16 low, u16 high) {
  return low | u32{high} << 16;
}
u32 sums(const Format& f, u32 a, u32 b, u32 c, bool relu) {
  return pair(sum(f, low(a), low(b), low(c), relu), sum(f, high(a), high(b), high(c), relu));
}

TEST_P(Outside, FactorsAreZero) {
  const std::vector<u16> special = {kOutside, 0xfff7, 0x7fff, 0xffff, 0x7ff6, 0x7ff8, 0x7e00, 0x7c01,
                                    0x7c00,   0xfc00, 0x7f80, 0xff80, 0x7fc0, 0,      0x8000, 1,
                                    0x8001,   0x3c00, 0xbc00, 0x3f80, 0x7bff, 0x4248};
  std::vector<u32> a, b, c;
  const auto any = [&] { return static_cast<u16>(rng_()); };
  for (const u16 x : special) {
    for (const u16 y : special) {
      for (const u16 z : special) {
        const bool swap = (rng_() & 1) != 0;
        const auto half = [&](u16 v) { return swap ? pair(any(), v) : pair(v, any()); };
        a.push_back(half(x));
        b.push_back(half(y));
        c.push_back(half(z));
      }
    }
  }
  while (a.size() % 128 != 0) {
    a.push_back(pair(any(), any()));
    b.push_back(pair(any(), any()));
    c.push_back(pair(any(), any()));
  }
  const auto out = blank<u32>(8 * a.size());
  launch("outside", {static_cast<unsigned>(a.size() / 128), 1, 1}, {128, 1, 1}, 0, array(a), array(b), array(c), out);
  std::vector<u32> want;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const u32 x = a[i], y = b[i], z = c[i], minus = 0x80008000u;
    want.insert(want.end(),
                {sums(kHalf, x, y, z, false), sums(kHalf, x, y, z, true), sums(kBfloat, x, y, z, false),
                 sums(kBfloat, x, y, z, true), sums(kHalf, x, y ^ minus, z, false), sums(kHalf, x, y, z ^ minus, false),
                 pair(sum(kHalf, low(x), high(y), low(z), false), sum(kHalf, high(x), low(y), high(z), true)),
                 pair(sum(kBfloat, high(x), low(y), high(z), false), sum(kBfloat, low(x), high(y), low(z), true))});
  }
  expect_equal("factors", get(out), want);
}

INSTANTIATE_TEST_SUITE_P(Each, Outside, testing::ValuesIn(settings()), setting_name);

}  // namespace
}  // namespace nervanagpu::test
