// Sorting, merging, selecting.
#include <algorithm>
#include <numeric>

#include "test/cudac/program.h"

namespace nervanagpu::test {
namespace {

class Sort : public Program {
 protected:
  Sort() : Program("sort") {}
};

TEST_P(Sort, Bitonic) {
  auto v = integers<unsigned>(2048);
  const auto data = array(v);
  launch("bitonic", {2, 1, 1}, {128, 1, 1}, 0, data);
  std::sort(v.begin(), v.begin() + 1024);
  std::sort(v.begin() + 1024, v.end());
  expect_equal("bitonic", get(data), v);
}

TEST_P(Sort, RadixIsStable) {
  auto keys = integers<unsigned>(4096);
  for (std::size_t i = 0; i < keys.size(); i += 3) keys[i] %= 50;
  std::vector<unsigned short> values(4096);
  std::iota(values.begin(), values.end(), static_cast<unsigned short>(0));
  const auto k = array(keys);
  const auto v = array(values);
  launch("radix", {1, 1, 1}, {256, 1, 1}, 0, k, v, blank<unsigned>(4096), blank<unsigned short>(4096));
  std::stable_sort(values.begin(), values.end(), [&](unsigned short a, unsigned short b) { return keys[a] < keys[b]; });
  std::sort(keys.begin(), keys.end());
  expect_equal("radix.keys", get(k), keys);
  expect_equal("radix.values", get(v), values);
}

TEST_P(Sort, QuicksortByRecursion) {
  auto v = integers<int>(40 * 64);
  const auto data = array(v);
  launch("sort_rows", {2, 1, 1}, {32, 1, 1}, 0, data, 40);
  for (auto row = v.begin(); row != v.end(); row += 64) std::sort(row, row + 64);
  expect_equal("quicksort", get(data), v);
}

TEST_P(Sort, Merge) {
  auto a = reals<float>(333, -4, 4), b = reals<float>(200, -4, 4);
  std::copy(a.begin(), a.begin() + 50, b.begin());  // equal ones
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  const auto out = blank<float>(533);
  launch("merge", {3, 1, 1}, {128, 1, 1}, 0, array(a), 333, array(b), 200, out);
  std::vector<float> want;
  std::merge(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(want));
  expect_equal("merge", get(out), want);
}

TEST_P(Sort, SmallestByHeap) {
  const auto in = integers<unsigned>(64 * 50);
  const auto out = blank<unsigned>(64 * 8);
  launch("smallest", {2, 1, 1}, {32, 1, 1}, 0, array(in), out, 50);
  auto heaps = get(out);
  expect_digest("heaps", heaps);
  std::vector<unsigned> want;
  for (std::size_t t = 0; t < 64; ++t) {
    std::vector<unsigned> mine(in.begin() + static_cast<std::ptrdiff_t>(t * 50),
                               in.begin() + static_cast<std::ptrdiff_t>(t * 50 + 50));
    std::sort(mine.begin(), mine.end());
    want.insert(want.end(), mine.begin(), mine.begin() + 8);
    std::sort(heaps.begin() + static_cast<std::ptrdiff_t>(t * 8),
              heaps.begin() + static_cast<std::ptrdiff_t>(t * 8 + 8));
  }
  expect_equal("smallest", heaps, want);
}

INSTANTIATE_TEST_SUITE_P(On, Sort, testing::ValuesIn(settings()), setting_name);

}  // namespace
}  // namespace nervanagpu::test
