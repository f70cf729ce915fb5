// Memory: addresses, guards, reuse, host pointers.
#include "sass/emulate/emulate.h"

#include <gtest/gtest.h>

#include <set>
#include <thread>
#include <vector>

namespace nervanagpu::sass::emulate {
namespace {

TEST(Memory, AddressesAreAlignedApartAndStable) {
  Memory memory(1 << 20);
  const std::uint64_t a = memory.allocate(100);
  const std::uint64_t b = memory.allocate(5000);
  ASSERT_NE(a, 0u);
  ASSERT_NE(b, 0u);
  EXPECT_EQ(a % 256, 0u);
  EXPECT_EQ(b % 256, 0u);
  EXPECT_GE(b, a + 100 + 256);
  EXPECT_EQ(memory.used(), 5100u);
  std::byte* p = memory.host(b, 5000);
  memory.allocate(77);
  EXPECT_EQ(memory.host(b, 5000), p);
}

TEST(Memory, HostPointersCoverOneAllocationExactly) {
  Memory memory(1 << 20);
  const std::uint64_t a = memory.allocate(100);
  EXPECT_NE(memory.host(a, 100), nullptr);
  EXPECT_NE(memory.host(a + 40, 60), nullptr);
  EXPECT_EQ(memory.host(a + 40, 61), nullptr);
  EXPECT_EQ(memory.host(a - 1, 1), nullptr);
  EXPECT_EQ(memory.host(a + 100, 1), nullptr);
  EXPECT_EQ(memory.host(a, ~std::size_t{0}), nullptr);
  EXPECT_EQ(memory.host(0, 1), nullptr);
}

TEST(Memory, FreedRoomIsUsedAgainAndDead) {
  Memory memory(64 << 10);
  std::vector<std::uint64_t> all;
  while (const std::uint64_t a = memory.allocate(4096)) all.push_back(a);
  EXPECT_EQ(all.size(), 8u);  // a page and its guard each
  EXPECT_EQ(memory.allocate(1), 0u);
  EXPECT_TRUE(memory.free(all[3]));
  EXPECT_FALSE(memory.free(all[3]));
  EXPECT_FALSE(memory.free(all[4] + 8));
  EXPECT_EQ(memory.host(all[3], 1), nullptr);
  EXPECT_TRUE(memory.free(all[4]));
  EXPECT_EQ(memory.allocate(3 * 4096), all[3]);  // both holes have become one
  for (const std::uint64_t a : {all[0], all[1], all[2], all[5], all[6], all[7], all[3]}) EXPECT_TRUE(memory.free(a));
  EXPECT_EQ(memory.used(), 0u);
  EXPECT_NE(memory.allocate(60 << 10), 0u);
}

TEST(Memory, TooMuchIsRefused) {
  Memory memory(1 << 16);
  EXPECT_EQ(memory.allocate((1 << 16) + 1), 0u);
  EXPECT_EQ(memory.allocate(~std::size_t{0}), 0u);
  EXPECT_NE(memory.allocate(0), 0u);
}

TEST(Memory, NearestNamesTheNeighbour) {
  Memory memory(1 << 20);
  EXPECT_EQ(memory.nearest(123).start, 0u);
  const std::uint64_t a = memory.allocate(100);
  const std::uint64_t b = memory.allocate(100);
  EXPECT_EQ(memory.nearest(a + 100).start, a);
  EXPECT_EQ(memory.nearest(b - 1).start, b);
  EXPECT_EQ(memory.nearest(b + 1000000).start, b);
  EXPECT_EQ(memory.nearest(0).start, a);
  EXPECT_EQ(memory.nearest(b).bytes, 100u);
}

TEST(Memory, ManyThreadsAllocateAtOnce) {
  Memory memory(64 << 20);
  std::vector<std::vector<std::uint64_t>> got(4);
  std::vector<std::thread> threads;
  threads.reserve(got.size());
  for (auto& mine : got) {
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) {
        mine.push_back(memory.allocate(1000));
        if (i % 3 == 0) {
          memory.free(mine.back());
          mine.pop_back();
        }
      }
    });
  }
  for (std::thread& t : threads) t.join();
  std::set<std::uint64_t> all;
  for (const auto& mine : got) {
    for (const std::uint64_t a : mine) EXPECT_TRUE(all.insert(a).second);
  }
  EXPECT_EQ(memory.used(), all.size() * 1000);
}

}  // namespace
}  // namespace nervanagpu::sass::emulate
