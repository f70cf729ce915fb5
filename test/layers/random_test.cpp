// The random numbers of networks: shuffles, initial weights, seeds of their own.
#include "layers/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <vector>

namespace nervanagpu::layers {
namespace {

TEST(Shuffled, IsAPermutationOfItsOwnForEachSeed) {
  for (const std::int64_t count : {0, 1, 2, 3, 100, 1437}) {
    std::vector<std::int64_t> order = shuffled(count, 5);
    EXPECT_EQ(order, shuffled(count, 5));
    if (count >= 100) {
      EXPECT_NE(order, shuffled(count, 6));
    }
    std::sort(order.begin(), order.end());
    std::vector<std::int64_t> all(static_cast<std::size_t>(count));
    std::iota(all.begin(), all.end(), std::int64_t{0});
    EXPECT_EQ(order, all);
  }
}

// Each of the 24 orders of four, within six deviations of 1 in 24.
TEST(Shuffled, EveryOrderIsAsLikely) {
  constexpr int kRounds = 24000;
  std::map<std::vector<std::int64_t>, int> counts;
  for (int seed = 0; seed < kRounds; ++seed) ++counts[shuffled(4, static_cast<std::uint64_t>(seed))];
  EXPECT_EQ(counts.size(), 24U);
  const double expected = kRounds / 24.0;
  for (const auto& [order, count] : counts) EXPECT_NEAR(count, expected, 6 * std::sqrt(expected));
}

TEST(Uniform, StaysInsideAndIsSymmetric) {
  std::vector<float> v(100001);
  fill_uniform(v, 0.25, 11);
  double sum = 0.0;
  double squares = 0.0;
  for (const float x : v) {
    ASSERT_LE(std::fabs(x), 0.25F);
    ASSERT_NE(x, 0.0F);
    sum += static_cast<double>(x);
    squares += static_cast<double>(x) * static_cast<double>(x);
  }
  const auto n = static_cast<double>(v.size());
  const double variance = 0.25 * 0.25 / 3;
  EXPECT_NEAR(sum / n, 0.0, 6 * std::sqrt(variance / n));
  EXPECT_NEAR(squares / n, variance, 0.01 * variance);
  std::vector<float> shorter(7);
  fill_uniform(shorter, 0.25, 11);
  EXPECT_TRUE(std::equal(shorter.begin(), shorter.end(), v.begin()));
}

TEST(Mix, TellsPurposesAndSeedsApart) {
  EXPECT_NE(mix(1, 0), mix(1, 1));
  EXPECT_NE(mix(1, 0), mix(2, 0));
  EXPECT_EQ(mix(1, 0), mix(1, 0));
}

}  // namespace
}  // namespace nervanagpu::layers
