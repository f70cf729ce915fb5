// What the cache of kernels keeps, and what it lets go.
#include "src/fuse/kernel_cache.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "nervanagpu/memory_report.hpp"
#include "test/src/on_emulator.h"

namespace nervanagpu {
namespace {

using fuse::Keepable;
using fuse::Kept;

struct Base : Keepable {
  explicit Base(int n) : number(n) {}
  int number;
};
// Refers to a Base, as what finds a kernel sooner does.
struct User : Keepable {
  explicit User(std::shared_ptr<const Base> b) : base(std::move(b)) {}
  void touch(std::uint64_t now) const {
    used = now;
    base->touch(now);
  }
  std::shared_ptr<const Base> base;
};

// With a budget of this test's own, and nothing of other tests.
class KeptTest : public test::OnEmulator {
 protected:
  static constexpr std::size_t kEntry = 1 << 20, kRoom = 16 * kEntry;
  KeptTest() : before_(kernel_cache().budget) {
    set_kernel_cache(0);
    set_kernel_cache(kRoom);
  }
  ~KeptTest() override {
    set_kernel_cache(0);
    set_kernel_cache(before_);
  }

  static auto base(int n) { return bases().keep("b" + std::to_string(n), std::make_shared<const Base>(n), kEntry); }
  static bool has_base(int n) { return bases().find("b" + std::to_string(n)) != nullptr; }
  static Kept<Base>& bases() {
    static auto* k = new Kept<Base>;
    return *k;
  }
  static Kept<User>& users() {
    static auto* k = new Kept<User>;
    return *k;
  }

 private:
  std::size_t before_;
};

TEST_F(KeptTest, StaysWithinItsBudget) {
  const std::uint64_t gone = kernel_cache().evictions;
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(base(i)->number, i);
    EXPECT_LE(kernel_cache().bytes, kRoom);
    EXPECT_TRUE(has_base(i));
  }
  EXPECT_GT(kernel_cache().bytes, kRoom / 2);
  EXPECT_EQ(kernel_cache().entries + (kernel_cache().evictions - gone), 1000U);
  set_kernel_cache(0);
  EXPECT_EQ(kernel_cache().entries, 0U);
  EXPECT_EQ(kernel_cache().bytes, 0U);
}

TEST_F(KeptTest, WhatWasUsedLongestAgoGoesFirst) {
  for (int i = 0; i < 8; ++i) base(i);
  for (int i = 8; i < 200; ++i) {
    EXPECT_TRUE(has_base(3)) << i;
    base(i);
  }
  EXPECT_TRUE(has_base(3));
  EXPECT_FALSE(has_base(4));
  EXPECT_FALSE(has_base(100));
  EXPECT_TRUE(has_base(198));
}

TEST_F(KeptTest, UseOfWhatRefersToItCounts) {
  users().keep("u", std::make_shared<const User>(base(0)), 64);
  for (int i = 1; i < 200; ++i) {
    EXPECT_NE(users().find("u"), nullptr);
    base(i);
  }
  EXPECT_TRUE(has_base(0));
  // And neither is kept without the other.
  for (int i = 200; i < 400; ++i) base(i);
  EXPECT_EQ(users().find("u"), nullptr);
  EXPECT_FALSE(has_base(0));
}

TEST_F(KeptTest, WhoHoldsItKeepsIt) {
  const auto held = base(7);
  set_kernel_cache(0);
  EXPECT_EQ(held->number, 7);
  EXPECT_EQ(held.use_count(), 1);
}

TEST_F(KeptTest, LargerThanTheBudgetIsGivenAndNotKept) {
  const auto large = bases().keep("large", std::make_shared<const Base>(1), 2 * kRoom);
  EXPECT_EQ(large->number, 1);
  EXPECT_EQ(kernel_cache().bytes, 0U);
}

TEST_F(KeptTest, TheFirstOfAKeyStays) {
  const auto first = base(1);
  EXPECT_EQ(base(1), first);
  EXPECT_EQ(kernel_cache().entries, 1U);
}

TEST_F(KeptTest, ThreadsShareIt) {
  constexpr int kThreads = 4;
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([t] {
      for (int i = 0; i < 2000; ++i) {
        const int n = (i * 7 + t * 13) % 40;
        auto found = bases().find("b" + std::to_string(n));
        if (found == nullptr) found = base(n);
        ASSERT_EQ(found->number, n);
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_LE(kernel_cache().bytes, kRoom);
}

}  // namespace
}  // namespace nervanagpu
