// What training asks of a CUDA driver: batches in a stream of their own, and steps that are one launch of a graph.
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "nervanagpu/layers.hpp"
#include "src/device/cuda_device.h"
#include "src/device/select_device.h"
#include "src/feed.h"
#include "test/src/fake_driver.h"

namespace nervanagpu {
namespace {

using test::FakeDriver;

class CudaNetworkTest : public ::testing::Test {
 protected:
  CudaNetworkTest()
      : device_(fake_.table(), 0, embedded_cubins(), sass::Arch::sm_90a, false), before_(exchange_device(&device_)) {}
  ~CudaNetworkTest() override { exchange_device(before_); }

  FakeDriver fake_;
  CudaDevice device_;
  Device* before_;
};

TEST_F(CudaNetworkTest, BatchesAreCopiedBesideTheDefaultStream) {
  Feed feed(100);
  const int before = fake_.calls("cuMemcpyHtoD_v2");
  for (int i = 1; i <= 3; ++i) {
    std::memset(feed.fill(), i, 100);
    feed.send(100);
    feed.arrive({});
    std::vector<std::uint8_t> there(100);
    device_.download(there.data(), feed.address(), there.size());
    EXPECT_EQ(there, std::vector<std::uint8_t>(100, static_cast<std::uint8_t>(i)));
    feed.taken({});
  }
  EXPECT_EQ(fake_.calls("cuMemcpyHtoDAsync_v2"), 3);
  EXPECT_EQ(fake_.calls("cuMemcpyHtoD_v2"), before);
  EXPECT_EQ(fake_.calls("cuStreamWaitEvent"), 6)
      << "a copy waits for who reads the batch before, who reads it for the copy";
  EXPECT_EQ(fake_.calls("cuEventSynchronize"), 1) << "the third batch is gathered where the first one was";
}

TEST_F(CudaNetworkTest, StepsThatAreAlikeAreOneLaunch) {
  Network net({layers::conv(8, 3, {.padding = 1, .relu = true}), layers::pool(2), layers::dropout(0.5), layers::full(3),
               layers::softmax()},
              {4, 4, 8});
  const std::vector<float> x(std::size_t{2} * 128, 0.5F);
  const std::vector<std::int32_t> y = {0, 2};
  std::vector<std::size_t> launches;
  for (int i = 0; i < 5; ++i) {
    fake_.launches.clear();
    net.train_step(x, y, {0.1F, 0.9F});
    launches.push_back(fake_.launches.size());
  }
  EXPECT_EQ(fake_.calls("cuStreamEndCapture"), 1);
  EXPECT_EQ(fake_.calls("cuGraphLaunch"), 4) << "the second step is the first of the graph";
  EXPECT_GT(launches[0], 10U);
  EXPECT_EQ(launches[2], launches[4]);
}

}  // namespace
}  // namespace nervanagpu
