// Batches on their way to the emulator: each arrives whole, whatever became of the one before.
#include "src/feed.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "nervanagpu/error.hpp"
#include "nervanagpu/graph.hpp"
#include "test/src/on_emulator.h"

namespace nervanagpu {
namespace {

class FeedTest : public test::OnEmulator {
 protected:
  static std::vector<std::uint8_t> there(const Feed& feed, std::size_t bytes) {
    return Tensor::wrap(feed.address(), {static_cast<std::int64_t>(bytes)}, {1}, Dtype::uint8).to_host<std::uint8_t>();
  }
};

TEST_F(FeedTest, BatchesArriveInTheirOrder) {
  Feed feed(1000);
  const Stream stream = Stream::create();
  EXPECT_EQ(feed.bytes(), 1000U);
  std::byte* before = nullptr;
  for (int i = 0; i < 5; ++i) {
    const std::size_t bytes = i == 3 ? 7 : 1000;
    std::byte* to = feed.fill();
    EXPECT_NE(to, before) << "the batch before may still be copied";
    before = to;
    std::memset(to, i + 1, bytes);
    feed.send(bytes);
    feed.arrive(stream);
    EXPECT_EQ(there(feed, bytes), std::vector<std::uint8_t>(bytes, static_cast<std::uint8_t>(i + 1)));
    if (i != 1) feed.taken(stream);  // whoever was to read it has failed
  }
}

TEST_F(FeedTest, NothingIsSentWhileAGraphIsRecorded) {
  Feed feed(16);
  std::memset(feed.fill(), 1, 16);
  EXPECT_THROW(Graph::capture([&] { feed.send(16); }), Error);
}

}  // namespace
}  // namespace nervanagpu
