// Clusters of CTAs and warps that trade registers.
#include "test/cudac/program.h"

namespace nervanagpu::test {
namespace {

class ClusterProgram : public Program {
 protected:
  ClusterProgram() : Program("cluster") {}
};

TEST_P(ClusterProgram, KnowsItsPlace) {
  const std::array<unsigned, 3> grid{4, 6, 2};
  const auto out = blank<std::uint32_t>(15 * 48);
  launch("places", grid, {32, 1, 1}, 0, out);
  std::vector<std::uint32_t> want;
  for (unsigned z = 0; z < grid[2]; ++z) {
    for (unsigned y = 0; y < grid[1]; ++y) {
      for (unsigned x = 0; x < grid[0]; ++x) {
        for (const unsigned v :
             {x % 2, y % 3, 0u, 2u, 3u, 1u, x / 2, y / 3, z, 2u, 2u, 2u, x % 2 + 2 * (y % 3), 6u, 1u}) {
          want.push_back(v);
        }
      }
    }
  }
  expect_equal("places", get(out), want);
}

TEST_P(ClusterProgram, HistogramOfFourCtas) {
  for (const int n : {1, 1000, 20011}) {
    const auto in = integers<std::uint32_t>(static_cast<std::size_t>(n));
    const auto bins = array(std::vector<std::uint32_t>(256));
    launch("histogram", {8, 1, 1}, {96, 1, 1}, 0, array(in), bins, n);
    std::vector<std::uint32_t> want(256);
    for (const std::uint32_t v : in) ++want[v & 255];
    expect_equal("histogram" + std::to_string(n), get(bins), want);
  }
}

TEST_P(ClusterProgram, SumOfEightCtas) {
  const auto in = reals<float>(3 * 8 * 128, -1, 1);
  const auto out = blank<float>(3);
  launch("sum", {24, 1, 1}, {128, 1, 1}, 0, array(in), out);
  std::vector<float> want(3);
  for (std::size_t cta = 0; cta < 24; ++cta) {
    std::vector<float> v(in.begin() + static_cast<std::ptrdiff_t>(cta * 128),
                         in.begin() + static_cast<std::ptrdiff_t>(cta * 128 + 128));
    for (std::size_t d = 64; d > 0; d /= 2) {
      for (std::size_t t = 0; t < d; ++t) v[t] += v[t + d];
    }
    want[cta / 8] += v[0];
  }
  expect_equal("sum", get(out), want);
}

TEST_P(ClusterProgram, RingOfAsynchronousStores) {
  struct Four {
    std::uint32_t x, y, z, w;
  };
  const auto words = integers<std::uint32_t>(std::size_t{8} * 32 * 4);
  const auto data = array(words);
  const int rounds = 5;
  launch("ring", {8, 1, 1}, {32, 1, 1}, 0, data, rounds);
  std::vector<Four> v(std::size_t{8} * 32);
  std::memcpy(v.data(), words.data(), words.size() * 4);
  for (int i = 0; i < rounds; ++i) {
    std::vector<Four> next(v.size());
    for (std::uint32_t cta = 0; cta < 8; ++cta) {
      const std::uint32_t rank = cta % 4;
      for (std::size_t t = 0; t < 32; ++t) {
        Four f = v[cta * 32 + t];
        f.x += rank;
        f.y ^= rank * 0x9e3779b9u;
        f.z = f.z * 3 + static_cast<std::uint32_t>(i);
        next[(cta / 4 * 4 + (rank + 1) % 4) * 32 + t] = f;
      }
    }
    v = next;
  }
  std::vector<std::uint32_t> want(words.size());
  std::memcpy(want.data(), v.data(), words.size() * 4);
  expect_equal("ring", get(data), want);
}

TEST_P(ClusterProgram, AsynchronousReduction) {
  const auto out = blank<std::uint32_t>(4 * 64);
  const std::uint32_t seed = 0x1234567;
  launch("add_async", {4, 1, 1}, {64, 1, 1}, 0, out, seed);
  std::vector<std::uint32_t> want;
  for (unsigned i = 0; i < 4 * 64; ++i) want.push_back(3 * (i % 64) + 3 * seed);
  expect_equal("add_async", get(out), want);
}

TEST_P(ClusterProgram, MulticastPipeline) {
  for (const int tiles : {1, 3, 10}) {
    const auto in = integers<std::uint32_t>(512 * static_cast<std::size_t>(tiles));
    const auto out = blank<std::uint32_t>(4 * 64);
    launch("multicast", {4, 1, 1}, {96, 1, 1}, 0, array(in), out, tiles);
    std::vector<std::uint32_t> want(4 * 64);
    for (std::size_t cta = 0; cta < 4; ++cta) {
      for (std::size_t thread = 0; thread < 64; ++thread) {
        for (std::size_t t = 0; t < static_cast<std::size_t>(tiles); ++t) {
          for (std::size_t i = 0; i < 2; ++i) {
            const std::size_t at =
                (cta / 2 * static_cast<std::size_t>(tiles) + t) * 256 + cta % 2 * 128 + i * 64 + thread;
            want[cta * 64 + thread] = want[cta * 64 + thread] * 5 + in[at];
          }
        }
      }
    }
    expect_equal("multicast" + std::to_string(tiles), get(out), want);
  }
}

TEST_P(ClusterProgram, CopyToTheOtherCta) {
  const auto in = integers<std::uint32_t>(std::size_t{4} * 128);
  const auto data = array(in);
  launch("swap_blocks", {4, 1, 1}, {128, 1, 1}, 0, data);
  std::vector<std::uint32_t> want;
  for (std::uint32_t i = 0; i < 4 * 128; ++i) want.push_back(in[i ^ 128] + (i / 128 % 2 ^ 1));
  expect_equal("swap_blocks", get(data), want);
}

TEST_P(ClusterProgram, WarpsTradeRegisters) {
  for (const int tiles : {1, 7}) {
    const auto in = reals<float>(static_cast<std::size_t>(tiles) * 2048, -1, 1);
    const auto out = blank<float>(std::size_t{2} * 64 * 128);
    launch("specialised", {1, 1, 1}, {384, 1, 1}, 0, array(in), out, tiles);
    std::vector<float> want(std::size_t{2} * 64 * 128);
    for (std::size_t t = 0; t < 128; ++t) {
      for (std::size_t k = 0; k < 128; ++k) {
        const std::size_t at = k / 64 * 1024 + t;
        float s = static_cast<float>(k % 64);
        for (std::size_t n = 0; n < static_cast<std::size_t>(tiles); ++n) {
          s = std::fma(in[n * 2048 + at + k % 64 / 8 * 128], in[n * 2048 + at + k % 8 * 128], s);
        }
        want[k * 128 + t] = s;
      }
    }
    expect_equal("specialised" + std::to_string(tiles), get(out), want);
  }
}

TEST_P(ClusterProgram, DependentGrids) {
  const auto in = integers<std::uint32_t>(std::size_t{3} * 64);
  const auto data = array(in);
  for (int i = 0; i < 2; ++i) launch("dependent", {3, 1, 1}, {64, 1, 1}, 0, data);
  std::vector<std::uint32_t> want = in;
  for (std::uint32_t& v : want) v += 14;
  expect_equal("dependent", get(data), want);
}

TEST_P(ClusterProgram, GridMustBeAMultiple) {
  if (on_gpu()) GTEST_SKIP() << "the driver's own message";
  const std::string said = try_launch("sum", {12, 1, 1}, {128, 1, 1}, 0, blank<float>(1), blank<float>(1));
  EXPECT_NE(said.find("grid of (12,1,1); it must be a multiple of the cluster, (8,1,1) CTAs"), std::string::npos)
      << said;
}

INSTANTIATE_TEST_SUITE_P(Programs, ClusterProgram, testing::ValuesIn(settings()), setting_name);

}  // namespace
}  // namespace nervanagpu::test
