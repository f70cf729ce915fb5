// The model of the tensor cores against hashes of what an H200 computed: test/data/digests/tensor.txt.
#include "sass/emulate/tensor/tensor.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "sass/emulate/tensor/tensor_fast.h"
#include "test/sass/emulate/tensor_cases.h"
#include "test/tier.h"

namespace nervanagpu::sass::emulate::tensor {
namespace {

constexpr std::uint64_t kSeed = 2026;
constexpr unsigned kChunks = 160;

TEST(Tensor, EqualsTheChip) {
  const auto chip = chip_digests();
  ASSERT_EQ(chip.size(), probe::kCaseCount);
  for (const probe::Case& c : probe::kCases) {
    const auto& want = chip.at(c.name);
    ASSERT_EQ(want.size(), 5U);
    EXPECT_EQ(chunk_digest(c, kSeed, 0, multiply_plain), want[0]) << c.name;
    for (unsigned i = 0; i < 2; ++i) EXPECT_EQ(chunk_digest(c, kSeed, i, fastest()), want[i]) << c.name << " " << i;
  }
}

TEST(Tensor, EqualsTheChipInTenMillionSumsEach) {
  if (!test::long_tier()) GTEST_SKIP() << "NERVANAGPU_TEST_LONG=1";
  const auto chip = chip_digests();
  for (const probe::Case& c : probe::kCases) {
    std::uint64_t hash = probe::kFoldStart;
    for (unsigned i = 0; i < kChunks; ++i) hash = probe::fold(hash, chunk_digest(c, kSeed, i, fastest()));
    EXPECT_EQ(hash, chip.at(c.name)[4]) << c.name;
  }
}

// A digest sees one wrong bit in 65536 results.
TEST(Tensor, ADigestCatchesOneBit) {
  const auto chip = chip_digests();
  const Multiply wrong = [](const PanelA& a, const PanelB& b, unsigned n, unsigned k, Accumulators& cd, Mode mode) {
    multiply_plain(a, b, n, k, cd, mode);
    static unsigned calls = 0;
    if (calls++ == 100) cd[7][3] ^= 1;
  };
  EXPECT_NE(chunk_digest(probe::kCases[0], kSeed, 0, wrong), chip.at(probe::kCases[0].name)[0]);
}

TEST(Tensor, DecodesEveryNumber) {
  EXPECT_EQ(decode(Type::kF16, 0x3c00).value, 1.0F);
  EXPECT_EQ(decode(Type::kF16, 0x0001).value, 0x1p-24F);
  EXPECT_EQ(decode(Type::kF16, 0x0001).exponent, -14);
  EXPECT_EQ(decode(Type::kF16, 0x8000).exponent, kNoExponent);
  EXPECT_EQ(decode(Type::kE4m3, 0x7e).value, 448.0F);
  EXPECT_NE(decode(Type::kE4m3, 0x7f).value, decode(Type::kE4m3, 0x7f).value);
  EXPECT_EQ(decode(Type::kE5m2, 0xfc).value, -std::numeric_limits<float>::infinity());
  EXPECT_EQ(decode(Type::kTf32, 0x3f801fff).value, 1.0F);  // the low 13 bits are not looked at
  EXPECT_EQ(decode(Type::kBf16, 0x0001).value, 0x1p-133F);
  EXPECT_EQ(decode(Type::kBf16, 0x0001).exponent, -126);
}

}  // namespace
}  // namespace nervanagpu::sass::emulate::tensor
