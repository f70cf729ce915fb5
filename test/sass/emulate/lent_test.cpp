// Host memory that is lent to an emulator's memory.
#include "sass/emulate/memory/lent.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "sass/emulate/emulate.h"

namespace nervanagpu::sass::emulate {
namespace {

TEST(Lent, CoversItsBytesAlone) {
  Lent lent;
  EXPECT_FALSE(lent.covers(1000, 1));
  lent.add({1000, 1100});
  lent.add({1100, 1200});  // a neighbour, but another's
  EXPECT_TRUE(lent.covers(1000, 100));
  EXPECT_TRUE(lent.covers(1196, 4));
  EXPECT_FALSE(lent.covers(1098, 4));
  EXPECT_FALSE(lent.covers(999, 1));
  EXPECT_FALSE(lent.covers(1200, 1));
  EXPECT_FALSE(lent.covers(1000, ~std::size_t{0}));
}

TEST(Lent, OverlappingRangesAreOne) {
  Lent lent;
  lent.add({1000, 2000});
  lent.add({1200, 1300});
  lent.add({1900, 2500});
  EXPECT_TRUE(lent.covers(1500, 900));  // after the short one
  EXPECT_TRUE(lent.remove({1000, 2000}));
  EXPECT_FALSE(lent.covers(1500, 4));
  EXPECT_TRUE(lent.covers(1250, 50));
  EXPECT_TRUE(lent.covers(1900, 600));
}

TEST(Lent, GivenBackAsOftenAsLent) {
  Lent lent;
  lent.add({1000, 2000});
  lent.add({1000, 2000});
  EXPECT_TRUE(lent.remove({1000, 2000}));
  EXPECT_TRUE(lent.covers(1000, 1000));
  EXPECT_TRUE(lent.remove({1000, 2000}));
  EXPECT_FALSE(lent.covers(1000, 1));
  EXPECT_FALSE(lent.remove({1000, 2000}));
}

TEST(Lent, WhatAThreadKeepsIsOfOneListAndOneTime) {
  Lent a;
  Lent b;
  a.add({1000, 2000});
  EXPECT_TRUE(a.covers(1500, 4));
  EXPECT_FALSE(b.covers(1500, 4));
  EXPECT_TRUE(a.covers(1500, 4));
  std::thread([&] { a.remove({1000, 2000}); }).join();
  EXPECT_FALSE(a.covers(1500, 4));
  for (std::uint64_t i = 0; i < 100; ++i) a.add({i * 100, i * 100 + 50});
  for (std::uint64_t round = 0; round < 2; ++round) {
    for (std::uint64_t i = 0; i < 100; ++i) {
      EXPECT_TRUE(a.covers(i * 100 + 46, 4));
      EXPECT_FALSE(a.covers(i * 100 + 48, 4));
    }
  }
}

TEST(Memory, LentMemoryHasItsOwnAddress) {
  Memory memory(1 << 20);
  std::vector<std::byte> host(1000);
  const auto at = reinterpret_cast<std::uint64_t>(host.data());
  EXPECT_EQ(memory.host(at, 1000), nullptr);
  ASSERT_TRUE(memory.lend(host.data(), host.size()));
  EXPECT_EQ(memory.host(at, 1000), host.data());
  EXPECT_EQ(memory.host(at + 10, 991), nullptr);
  EXPECT_EQ(memory.used(), 0u);
  memory.give_back(host.data(), host.size());
  EXPECT_EQ(memory.host(at, 1), nullptr);
  EXPECT_FALSE(memory.lend(host.data(), 0));
}

TEST(Memory, ItsOwnBytesHaveTheAddressOfKernels) {
  Memory memory(1 << 20);
  const std::uint64_t a = memory.allocate(100);
  EXPECT_EQ(memory.address_of(memory.host(a, 100) + 7), a + 7);
  std::byte other{};
  EXPECT_EQ(memory.address_of(&other), 0u);
}

}  // namespace
}  // namespace nervanagpu::sass::emulate
