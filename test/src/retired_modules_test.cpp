#include "src/retired_modules.h"

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
  RetiredModulesTest() { modules.loaded(); }
  void retire(std::uintptr_t module, bool elsewhere = false) {
    modules.retire({reinterpret_cast<void*>(module), 1, elsewhere});  // NOLINT(performance-no-int-to-ptr)
  }
  // What is unloaded now.
  std::set<std::uintptr_t> idle() {
    unloaded.clear();
    modules.unload_idle();
    return unloaded;
  }
  using Set = std::set<std::uintptr_t>;

  Streams streams;
  Set unloaded;
  RetiredModules modules{streams, [this](const RetiredModules::Modules& all) {
                           for (const RetiredModule& m : all) {
                             EXPECT_TRUE(unloaded.insert(reinterpret_cast<std::uintptr_t>(m.handle)).second);
                           }
                         }};
};

TEST_F(RetiredModulesTest, GoWhenNoStreamIsBehind) {
  modules.made(7);
  streams.busy = {7};
  retire(1);
  EXPECT_EQ(idle(), Set{});
  streams.busy = {0};
  EXPECT_EQ(idle(), Set{});
  streams.busy = {};
  EXPECT_EQ(idle(), Set{1});
  EXPECT_EQ(idle(), Set{});
  EXPECT_TRUE(streams.open.empty());  // no event is left
}

TEST_F(RetiredModulesTest, WorkOfADestroyedStreamIsAwaited) {
  modules.made(7);
  streams.busy = {7};
  modules.ends(7);
  retire(1);  // launched there before
  EXPECT_EQ(idle(), Set{});
  streams.busy = {};
  EXPECT_EQ(idle(), Set{1});
}

TEST_F(RetiredModulesTest, StreamsThatComeAndGoLeaveNoEvents) {
  for (StreamId s = 1; s < 100; ++s) {
    modules.made(s);
    modules.ends(s);
    EXPECT_LE(streams.open.size(), 1U);
  }
}

TEST_F(RetiredModulesTest, ADestroyedStreamThatCouldNotBeMarkedEndsUnloadingByEvents) {
  modules.made(7);
  streams.unmarkable = {7};
  modules.ends(7);
  retire(1);
  EXPECT_EQ(idle(), Set{});
  EXPECT_EQ(modules.take().size(), 1U);
}

TEST_F(RetiredModulesTest, NothingIsMarkedWhileAStreamIsCaptured) {
  modules.made(7);
  streams.capturing = {7};
  retire(1);
  EXPECT_EQ(idle(), Set{});
  EXPECT_EQ(streams.last, 0U);
  streams.capturing = {};
  EXPECT_EQ(idle(), Set{1});
}

TEST_F(RetiredModulesTest, AFailedMarkIsTriedAgain) {
  modules.made(7);
  streams.unmarkable = {0};
  retire(1);
  EXPECT_EQ(idle(), Set{});
  EXPECT_TRUE(streams.open.empty());
  streams.unmarkable = {};
  EXPECT_EQ(idle(), Set{1});
}

TEST_F(RetiredModulesTest, WorkElsewhereEndsWithASynchronisation) {
  retire(1, true);
  retire(2);
  EXPECT_EQ(idle(), Set{2});
  EXPECT_EQ(modules.take().size(), 1U);
  EXPECT_EQ(modules.take().size(), 0U);
}

TEST_F(RetiredModulesTest, WhatASynchronisationTookIsNotUnloadedTwice) {
  streams.busy = {0};
  retire(1);
  EXPECT_EQ(idle(), Set{});
  const auto all = modules.take();
  EXPECT_EQ(all.size(), 1U);
  streams.busy = {};
  EXPECT_EQ(idle(), Set{});
  modules.put_back(all);  // it failed
  EXPECT_EQ(idle(), Set{});
  EXPECT_EQ(modules.take().size(), 1U);
}

TEST_F(RetiredModulesTest, NothingIsUnloadedFromADeviceThatIsGone) {
  retire(1);
  modules.close();
  retire(2);
  EXPECT_EQ(idle(), Set{});
}

}  // namespace
}  // namespace nervanagpu
