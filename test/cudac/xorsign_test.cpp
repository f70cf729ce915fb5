// min and max with .xorsign.abs, as PTX defines them: of the sizes, with the sign of the product, which a NaN does not take.
#include "sass/half.h"
#include "test/cudac/program.h"

namespace nervanagpu::test {
namespace {

using u32 = std::uint32_t;

class Xorsign : public Program {
 protected:
  Xorsign() : Program("xorsign") {}
};

// Of one number with `bits` bits, the largest size that is no NaN being `infinity`. ftz: below `normal` a zero.
u32 choose(u32 a, u32 b, unsigned bits, u32 infinity, bool least, bool nan_wins, u32 normal = 0) {
  const u32 top = 1u << (bits - 1);
  u32 p = a & (top - 1), q = b & (top - 1);
  if (p < normal) p = 0;
  if (q < normal) q = 0;
  if ((p > infinity && q > infinity) || (nan_wins && (p > infinity || q > infinity))) return top - 1;
  const u32 size = p > infinity ? q : q > infinity ? p : least ? std::min(p, q) : std::max(p, q);
  return size | ((a ^ b) & top);
}

u32 halves(u32 a, u32 b, u32 infinity, bool least, bool nan_wins) {
  return choose(a & 0xffff, b & 0xffff, 16, infinity, least, nan_wins) |
         choose(a >> 16, b >> 16, 16, infinity, least, nan_wins) << 16;
}

TEST_P(Xorsign, IsThatOfPtx) {
  const std::vector<u32> special = {0,          0x80000000, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000,
                                    0x7fffffff, 0xffc00001, 0x00000001, 0x807fffff, 0x3c00bc00, 0x7c00fc00,
                                    0x7e01fe02, 0x00018001, 0x7fc0ff81, 0x40490fdb};
  std::vector<u32> a, b;
  for (const u32 x : special) {
    for (const u32 y : special) {
      a.push_back(x);
      b.push_back(y);
    }
  }
  for (unsigned i = 0; i < 768; ++i) {
    a.push_back(static_cast<u32>(rng_()));
    b.push_back(static_cast<u32>(rng_()));
  }
  const auto out = blank<u32>(8 * a.size());
  launch("xorsign", {static_cast<unsigned>(a.size() / 128), 1, 1}, {128, 1, 1}, 0, array(a), array(b), out);
  std::vector<u32> want;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const u32 x = a[i], y = b[i];
    want.insert(want.end(),
                {choose(x, y, 32, 0x7f800000, true, false), choose(x, y, 32, 0x7f800000, false, false),
                 choose(x, y, 32, 0x7f800000, false, true), choose(x, y, 32, 0x7f800000, true, false, 0x800000),
                 halves(x, y, 0x7c00, true, false), halves(x, y, 0x7c00, false, true),
                 halves(x, y, 0x7f80, true, false), halves(x, y, 0x7f80, false, false)});
  }
  const std::vector<u32> got = get(out);
  for (std::size_t i = 0; i < want.size(); ++i) {
    ASSERT_EQ(got[i], want[i]) << std::hex << "result " << i % 8 << " of " << a[i / 8] << " and " << b[i / 8];
  }
}

INSTANTIATE_TEST_SUITE_P(Each, Xorsign, testing::ValuesIn(settings()), setting_name);

}  // namespace
}  // namespace nervanagpu::test
