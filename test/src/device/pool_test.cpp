// The memory pool: sizes, streams, captures, want of memory.
#include "src/device/pool.h"

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <set>

#include "nervanagpu/error.hpp"
#include "test/src/expect_error.h"

namespace nervanagpu {
namespace {

class Backing final : public PoolBacking {
 public:
  std::uint64_t take(std::size_t bytes) override {
    if (used + bytes > capacity) return 0;
    used += bytes;
    sizes[next] = bytes;
    const std::uint64_t a = next;
    next += 0x1000'0000;
    return a;
  }
  void give(std::uint64_t address) noexcept override {
    used -= sizes.at(address);
    sizes.erase(address);
  }
  EventId mark(StreamId stream) override { return markable ? stream : 0; }
  bool passed(EventId event) noexcept override { return done.count(event) > 0; }
  void drop(EventId event) noexcept override { dropped.push_back(event); }
  std::uint64_t capture(StreamId stream) noexcept override {
    return stream == capturing || stream == forked ? graph : 0;
  }
  void drain() noexcept override { ++drains; }
  std::size_t room() noexcept override { return capacity - used; }

  std::size_t capacity = 1 << 20;
  std::size_t used = 0;
  std::uint64_t next = 0x1000;
  std::map<std::uint64_t, std::size_t> sizes;
  std::set<EventId> done;
  std::vector<EventId> dropped;
  bool markable = true;
  StreamId capturing = 0;
  StreamId forked = ~StreamId{0};  // another stream of the same capture
  std::uint64_t graph = 0;
  int drains = 0;
};

TEST(Pool, BucketsHoldWhatIsAskedAndAtMostAnEighthMore) {
  for (std::size_t bytes = 1; bytes < (1 << 20); bytes = bytes * 5 / 4 + 1) {
    const std::size_t b = Pool::bucket(bytes);
    EXPECT_GE(b, bytes);
    EXPECT_LE(b, std::max<std::size_t>(bytes + 511, bytes + bytes / 8));
    EXPECT_EQ(b % 512, 0U);
    EXPECT_EQ(Pool::bucket(b), b);  // a freed block serves the size it was rounded to
  }
  EXPECT_GE(Pool::bucket(std::numeric_limits<std::size_t>::max()), std::numeric_limits<std::size_t>::max() - 1);
}

TEST(Pool, CountsWhatItHolds) {
  Backing backing;
  Pool pool(backing);
  const std::uint64_t a = pool.allocate(512);
  const std::uint64_t b = pool.allocate(1024);
  pool.free(a, {});
  EXPECT_EQ(pool.stats().in_use, 1024U);
  EXPECT_EQ(pool.stats().peak, 1536U);
  EXPECT_EQ(pool.stats().reserved, 1536U);
  pool.release();
  EXPECT_EQ(pool.stats().reserved, 1024U);
  EXPECT_EQ(backing.used, 1024U);
  pool.free(b, {});
  pool.release();
  EXPECT_EQ(backing.used, 0U);
}

TEST(Pool, TakesNoMoreThanItsLimit) {
  Backing backing;
  Pool pool(backing);
  EXPECT_EQ(pool.limit(), 0U);
  const std::uint64_t a = pool.allocate(2048);
  pool.set_limit(4096);
  EXPECT_EQ(pool.limit(), 4096U);
  const std::uint64_t b = pool.allocate(2048);  // all of it
  expect_error<OutOfMemory>([&] { pool.allocate(1); },
                            "out of memory: 1 bytes asked for, the limit is 4096, 4096 held by tensors");
  pool.free(a, {});
  pool.free(pool.allocate(1024), {});  // what is cached gives way
  EXPECT_EQ(pool.stats().reserved, 3072U);
  pool.free(pool.allocate(512), {});
  expect_error<OutOfMemory>([&] { pool.allocate(4096); },
                            "out of memory: 4096 bytes asked for, the limit is 4096, 2048 held by tensors");
  pool.set_limit(512);  // what is taken stays
  expect_error<OutOfMemory>([&] { pool.allocate(512); },
                            "out of memory: 512 bytes asked for, the limit is 512, 2048 held by tensors");
  pool.free(b, {});
  pool.free(pool.allocate(2048), {});  // of what is cached
  pool.set_limit(0);
  pool.allocate(1 << 19);
}

TEST(Pool, FreeingTwiceOrSomethingElseChangesNothing) {
  Backing backing;
  Pool pool(backing);
  const std::uint64_t a = pool.allocate(512);
  pool.free(a, {});
  pool.free(a, {});
  pool.free(0xdead, {});
  const std::uint64_t b = pool.allocate(512);
  const std::uint64_t c = pool.allocate(512);
  EXPECT_NE(b, c);
  EXPECT_EQ(pool.stats().in_use, 1024U);
}

TEST(Pool, ABlockWaitsForEveryStream) {
  Backing backing;
  Pool pool(backing);
  const std::uint64_t a = pool.allocate(512);
  const StreamId streams[] = {7, 8};
  pool.free(a, streams);
  EXPECT_NE(pool.allocate(512), a);
  backing.done = {7};
  EXPECT_NE(pool.allocate(512), a);
  backing.done = {7, 8};
  EXPECT_EQ(pool.allocate(512), a);
  EXPECT_EQ(backing.dropped, (std::vector<EventId>{7, 8}));
}

TEST(Pool, AStreamThatCannotBeMarkedIsWaitedFor) {
  Backing backing;
  backing.markable = false;
  Pool pool(backing);
  const std::uint64_t a = pool.allocate(512);
  const StreamId stream = 7;
  pool.free(a, {&stream, 1});
  EXPECT_EQ(backing.drains, 1);
  EXPECT_EQ(pool.allocate(512), a);
}

TEST(Pool, OutOfRoomAlsoTakesBackWhatStreamsStillUse) {
  Backing backing;
  Pool pool(backing);
  const std::uint64_t a = pool.allocate(1 << 20);
  const StreamId stream = 7;
  pool.free(a, {&stream, 1});
  EXPECT_NE(pool.allocate(1 << 19), 0U);  // waits for the stream, gives the block back and takes a smaller one
  EXPECT_EQ(backing.drains, 1);
}

TEST(Pool, OutOfMemoryIsRaisedAndHarmless) {
  Backing backing;
  Pool pool(backing);
  const std::uint64_t a = pool.allocate(1 << 19);
  expect_error<OutOfMemory>(
      [&] { pool.allocate(1 << 20); },
      "out of memory: 1048576 bytes asked for, 524288 free on the device, 524288 held by tensors");
  EXPECT_EQ(pool.stats().in_use, 524288U);
  pool.free(a, {});
  EXPECT_NE(pool.allocate(1 << 20), 0U);
}

TEST(Pool, ABlockOfACapturedGraphServesThatCaptureAlone) {
  Backing backing;
  Pool pool(backing);
  backing.capturing = 7;
  backing.graph = 100;
  const std::array<StreamId, 1> streams = {7};
  const std::uint64_t a = pool.allocate(1000, 7);
  pool.free(a, streams);
  EXPECT_EQ(pool.stats().in_use, 0U);
  EXPECT_NE(pool.allocate(1000), a);     // a stream that is not known
  EXPECT_NE(pool.allocate(1000, 8), a);  // another stream
  const std::uint64_t again = pool.allocate(1000, 7);
  EXPECT_EQ(again, a);
  pool.free(again, streams);
  backing.graph = 101;  // another capture in the same stream
  EXPECT_NE(pool.allocate(1000, 7), a);
  backing.capturing = 0;  // the capture has ended, the graph may be launched at any time
  pool.release();
  EXPECT_EQ(backing.sizes.count(a), 1U);
  EXPECT_NE(pool.allocate(1000, 7), a);
  pool.release_captured();  // and now it is gone
  EXPECT_EQ(pool.allocate(1000), a);
}

// Two streams of a capture are branches of its graph, which run side by side.
TEST(Pool, ABlockOfACapturedStreamServesThatStreamAlone) {
  Backing backing;
  Pool pool(backing);
  backing.capturing = 7;
  backing.forked = 8;
  backing.graph = 100;
  const std::array<StreamId, 1> one = {7};
  const std::array<StreamId, 2> both = {7, 8};
  const std::uint64_t a = pool.allocate(1000, 7);
  const std::uint64_t b = pool.allocate(1000, 7);
  pool.free(a, one);
  pool.free(b, both);
  EXPECT_NE(pool.allocate(1000, 8), a);
  EXPECT_EQ(pool.allocate(1000, 7), a);
  const std::uint64_t c = pool.allocate(1000, 7);
  EXPECT_NE(c, a);
  EXPECT_NE(c, b);
}

}  // namespace
}  // namespace nervanagpu
