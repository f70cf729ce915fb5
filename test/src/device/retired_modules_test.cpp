// Modules are unloaded when no stream can still need them.
#include "src/device/retired_modules.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace nervanagpu {
namespace {

// Streams whose work is done when the test says so.
class Streams final : public PoolBacking {
 public:
  std::uint64_t take(std::size_t) override { return 0; }
  void give(std::uint64_t) noexcept override {}
  EventId mark(StreamId stream) override {
    if (unmarkable.contains(stream)) return 0;
    open[++last] = stream;
    return last;
  }
  bool passed(EventId event) noexcept override { return !busy.contains(open.at(event)); }
  void drop(EventId event) noexcept override { open.erase(event); }
  std::uint64_t capture(StreamId stream) noexcept override { return capturing.contains(stream) ? 1 : 0; }
  void drain() noexcept override {}
  std::size_t room() noexcept override { return 0; }

  std::map<EventId, StreamId> open;
  std::set<StreamId> busy, capturing, unmarkable;
  EventId last = 0;
};

class RetiredModulesTest : public ::testing::Test {
 protected:
  RetiredModulesTest() { modules_.loaded(); }
  void retire(std::uintptr_t module, bool elsewhere = false) {
    modules_.retire({reinterpret_cast<void*>(module), 1, elsewhere});  // NOLINT(performance-no-int-to-ptr)
  }
  // What is unloaded now.
  std::set<std::uintptr_t> idle() {
    unloaded_.clear();
    modules_.unload_idle();
    return unloaded_;
  }
  using Set = std::set<std::uintptr_t>;

  Streams streams_;
  Set unloaded_;
  RetiredModules modules_{streams_, [this](const RetiredModules::Modules& all) {
                            for (const RetiredModule& m : all) {
                              EXPECT_TRUE(unloaded_.insert(reinterpret_cast<std::uintptr_t>(m.handle)).second);
                            }
                          }};
};

TEST_F(RetiredModulesTest, GoWhenNoStreamIsBehind) {
  modules_.made(7);
  streams_.busy = {7};
  retire(1);
  EXPECT_EQ(idle(), Set{});
  streams_.busy = {0};
  EXPECT_EQ(idle(), Set{});
  streams_.busy = {};
  EXPECT_EQ(idle(), Set{1});
  EXPECT_EQ(idle(), Set{});
  EXPECT_TRUE(streams_.open.empty());  // no event is left
}

TEST_F(RetiredModulesTest, WorkOfADestroyedStreamIsAwaited) {
  modules_.made(7);
  streams_.busy = {7};
  modules_.ends(7);
  retire(1);  // launched there before
  EXPECT_EQ(idle(), Set{});
  streams_.busy = {};
  EXPECT_EQ(idle(), Set{1});
}

TEST_F(RetiredModulesTest, StreamsThatComeAndGoLeaveNoEvents) {
  for (StreamId s = 1; s < 100; ++s) {
    modules_.made(s);
    modules_.ends(s);
    EXPECT_LE(streams_.open.size(), 1U);
  }
}

TEST_F(RetiredModulesTest, ADestroyedStreamThatCouldNotBeMarkedEndsUnloadingByEvents) {
  modules_.made(7);
  streams_.unmarkable = {7};
  modules_.ends(7);
  retire(1);
  EXPECT_EQ(idle(), Set{});
  EXPECT_EQ(modules_.take().size(), 1U);
}

TEST_F(RetiredModulesTest, NothingIsMarkedWhileAStreamIsCaptured) {
  modules_.made(7);
  streams_.capturing = {7};
  retire(1);
  EXPECT_EQ(idle(), Set{});
  EXPECT_EQ(streams_.last, 0U);
  streams_.capturing = {};
  EXPECT_EQ(idle(), Set{1});
}

TEST_F(RetiredModulesTest, AFailedMarkIsTriedAgain) {
  modules_.made(7);
  streams_.unmarkable = {0};
  retire(1);
  EXPECT_EQ(idle(), Set{});
  EXPECT_TRUE(streams_.open.empty());
  streams_.unmarkable = {};
  EXPECT_EQ(idle(), Set{1});
}

TEST_F(RetiredModulesTest, WorkElsewhereEndsWithASynchronisation) {
  retire(1, true);
  retire(2);
  EXPECT_EQ(idle(), Set{2});
  EXPECT_EQ(modules_.take().size(), 1U);
  EXPECT_EQ(modules_.take().size(), 0U);
}

TEST_F(RetiredModulesTest, WhatASynchronisationTookIsNotUnloadedTwice) {
  streams_.busy = {0};
  retire(1);
  EXPECT_EQ(idle(), Set{});
  const auto all = modules_.take();
  EXPECT_EQ(all.size(), 1U);
  streams_.busy = {};
  EXPECT_EQ(idle(), Set{});
  modules_.put_back(all);  // it failed
  EXPECT_EQ(idle(), Set{});
  EXPECT_EQ(modules_.take().size(), 1U);
}

TEST_F(RetiredModulesTest, NothingIsUnloadedFromADeviceThatIsGone) {
  retire(1);
  modules_.close();
  retire(2);
  EXPECT_EQ(idle(), Set{});
}

}  // namespace
}  // namespace nervanagpu
