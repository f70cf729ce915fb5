// Reductions and prefix sums.
#include <algorithm>
#include <numeric>

#include "test/cudac/program.h"

namespace nervanagpu::test {
namespace {

class Reduce : public Program {
 protected:
  Reduce() : Program("reduce") {}
};

TEST_P(Reduce, Sums) {
  for (const int n : {1, 31, 1000, 5003}) {
    const auto in = integers<int>(static_cast<std::size_t>(n));
    const auto out = blank<long long>(3);
    launch("sum_blocks", {3, 1, 1}, {96, 1, 1}, 0, array(in), out, n);
    std::vector<long long> want(3);
    for (int i = 0; i < n; ++i) want[static_cast<std::size_t>(i / 96 % 3)] += in[static_cast<std::size_t>(i)];
    expect_equal("sums" + std::to_string(n), get(out), want);
  }
}

TEST_P(Reduce, DotOfTheLastBlock) {
  const int n = 3000;
  const auto a = reals<float>(n, -1, 1), b = reals<float>(n, -1, 1);
  const auto out = blank<float>(1);
  // The same order as the kernel's: strided sums, then a tree, then blocks.
  std::vector<float> blocks;
  for (int block = 0; block < 5; ++block) {
    std::vector<float> v(64);
    for (int t = 0; t < 64; ++t) {
      for (int i = block * 64 + t; i < n; i += 5 * 64) {
        v[static_cast<std::size_t>(t)] =
            std::fma(a[static_cast<std::size_t>(i)], b[static_cast<std::size_t>(i)], v[static_cast<std::size_t>(t)]);
      }
    }
    for (std::size_t d = 32; d > 0; d /= 2) {
      for (std::size_t t = 0; t < d; ++t) v[t] += v[t + d];
    }
    blocks.push_back(v[0]);
  }
  const float want = std::accumulate(blocks.begin(), blocks.end(), 0.0F);
  for (int again = 0; again < 2; ++again) {  // the ticket counts from 0 again
    launch("dot_last_block", {5, 1, 1}, {64, 1, 1}, 64 * 4, array(a), array(b), out, n);
    expect_equal("dot", get(out), {want});
  }
}

TEST_P(Reduce, PrefixSums) {
  for (const unsigned n : {1u, 100u, 700u}) {
    const auto in = integers<unsigned>(n);
    const unsigned blocks = (n + 127) / 128;
    const auto out = blank<unsigned>(n);
    const auto totals = blank<unsigned>(blocks);
    launch("scan_shared", {blocks, 1, 1}, {128, 1, 1}, 0, array(in), out, totals, n);
    auto sums = get(totals);
    std::partial_sum(sums.begin(), sums.end(), sums.begin());
    launch("add_totals", {blocks, 1, 1}, {128, 1, 1}, 0, out, array(sums), n);
    std::vector<unsigned> want(n);
    std::partial_sum(in.begin(), in.end(), want.begin());
    expect_equal("prefix" + std::to_string(n), get(out), want);
  }
}

TEST_P(Reduce, WarpScansAndVotes) {
  const auto in = integers<unsigned>(128);
  const auto out = blank<unsigned>(512);
  launch("scan_warp", {2, 1, 1}, {64, 1, 1}, 0, array(in), out);
  std::vector<unsigned> want;
  for (std::size_t i = 0; i < 128; ++i) {
    const auto first = in.begin() + static_cast<std::ptrdiff_t>(i / 32 * 32), last = first + 32;
    const auto here = in.begin() + static_cast<std::ptrdiff_t>(i);
    want.push_back(std::accumulate(first, here, 0u));
    want.push_back(*std::max_element(first, last) - *std::min_element(first, last));
    want.push_back(static_cast<unsigned>(std::count_if(first, here, [](unsigned v) { return v % 2 != 0; })));
    want.push_back(std::accumulate(first, last, 0u, std::bit_xor<>()) + std::accumulate(first, last, 0u));
  }
  expect_equal("warps", get(out), want);
}

TEST_P(Reduce, Tiles) {
  const auto in = reals<float>(128, -8, 8);
  auto keys = integers<int>(128);
  for (int& k : keys) k = static_cast<int>(static_cast<unsigned>(k) % 100);
  const auto out = blank<float>(128);
  const auto scans = blank<int>(128);
  launch("tiles", {2, 1, 1}, {64, 1, 1}, 0, array(in), array(keys), out, scans);
  std::vector<int> want(128);
  std::vector<float> near(128);
  for (std::size_t i = 0; i < 128; ++i) {
    float sum = 0, high = -100;
    for (std::size_t k = i / 8 * 8; k < i / 8 * 8 + 8; ++k) sum += in[k];
    for (std::size_t k = i / 4 * 4; k < i / 4 * 4 + 4; ++k) high = std::max(high, in[k]);
    near[i] = sum + (i / 16 % 4 % 2 == 0 ? high : -high);
    int scan = 0;
    for (std::size_t k = i / 16 * 16; k <= i; ++k) scan += keys[k];
    bool any = false;
    for (std::size_t k = i / 4 * 4; k < i / 4 * 4 + 4; ++k) any = any || keys[k] > 50;
    want[i] = scan + keys[(i / 8 * 8) + ((i % 8) ^ 3)] * (any ? 1 : 0) + 32;
    if (keys[i] % 2 == 0) continue;
    int rank = 0, size = 0;
    for (std::size_t k = i / 32 * 32; k < i / 32 * 32 + 32; ++k) {
      if (keys[k] % 2 == 0) continue;
      ++size;
      if (k < i) ++rank;
    }
    want[i] += 1000 * rank + 100000 * size + (rank == 0 ? 1 : 0);
  }
  expect_equal("tiles.scans", get(scans), want);
  expect_near("tiles", get(out), near, 0, 1e-5);
  expect_digest("tiles", get(out));
}

TEST_P(Reduce, Partitions) {
  auto keys = integers<int>(64);
  for (int& k : keys) k = static_cast<int>(static_cast<unsigned>(k) % 1000);
  const auto out = blank<int>(192);
  launch("partitions", {1, 1, 1}, {64, 1, 1}, 0, array(keys), out);
  std::vector<int> want;
  for (std::size_t i = 0; i < 64; ++i) {
    int sum = 0, least = 1000, size = 0, rank = 0;
    for (std::size_t k = i / 32 * 32; k < i / 32 * 32 + 32; ++k) {
      if ((keys[k] % 3 == 0) == (keys[i] % 3 == 0)) sum += keys[k];
      if (keys[k] % 5 != keys[i] % 5) continue;
      least = std::min(least, keys[k]);
      ++size;
      if (k < i) ++rank;
    }
    want.insert(want.end(), {sum, least, size * 100 + rank});
  }
  expect_equal("partitions", get(out), want);
}

INSTANTIATE_TEST_SUITE_P(On, Reduce, testing::ValuesIn(settings()), setting_name);

}  // namespace
}  // namespace nervanagpu::test
