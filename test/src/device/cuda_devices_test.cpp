// Two GPUs of a driver that is made of host memory: every call in its own device's context.
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "nervanagpu/error.hpp"
#include "src/device/cuda_device.h"
#include "src/device/select_device.h"
#include "test/src/expect_error.h"
#include "test/src/fake_driver.h"

namespace nervanagpu {
namespace {

using Order = std::vector<std::string>;

class CudaDevicesTest : public ::testing::Test {
 protected:
  CudaDevicesTest() { fake_.devices = 2; }
  std::unique_ptr<CudaDevice> open(int ordinal) {
    return std::make_unique<CudaDevice>(fake_.table(), ordinal, embedded_cubins(), sass::Arch::sm_90a, false, ordinal);
  }
  test::FakeDriver fake_;
  std::unique_ptr<CudaDevice> first_ = open(0), second_ = open(1);
};

TEST_F(CudaDevicesTest, EachHasItsOwnContext) {
  EXPECT_EQ(first_->info().ordinal, 0);
  EXPECT_EQ(second_->info().ordinal, 1);
  EXPECT_EQ(fake_.calls("cuDevicePrimaryCtxRetain"), 2);
  const std::uint64_t a = first_->allocate(64);
  const std::uint64_t b = second_->allocate(64);
  EXPECT_EQ(first_->ordinal_of(a), 0);
  EXPECT_EQ(first_->ordinal_of(b), 1);
  EXPECT_EQ(second_->ordinal_of(a), 0);
  EXPECT_EQ(first_->ordinal_of(1), -1);
  EXPECT_EQ(first_->memory_stats().in_use, second_->memory_stats().in_use);
  first_->free(a, {});
  EXPECT_EQ(first_->memory_stats().in_use, 0U);
  EXPECT_NE(second_->memory_stats().in_use, 0U);
  second_->free(b, {});
}

TEST_F(CudaDevicesTest, LaunchesAreMadeInTheKernelsContext) {
  for (CudaDevice* d : {first_.get(), second_.get(), first_.get()}) {
    Kernel k = *d->registry().of_op("sgemm").front();
    k.needs.clear();
    const StreamId stream = d->create_stream();
    d->launch(k, {1, 1, 1}, std::vector<std::byte>(k.image->param_bytes), stream);
    const EventId event = d->create_event();
    d->record(event, stream);
    d->destroy_event(event);
    d->destroy_stream(stream);
  }
  EXPECT_EQ(fake_.launches.size(), 3U);
  const StreamId other = second_->create_stream();
  EXPECT_THROW(first_->record(first_->create_event(), other), Error);
}

TEST_F(CudaDevicesTest, AnotherLibrarysContextIsPutBack) {
  int mine = 0;
  fake_.current = &mine;
  second_->free(second_->allocate(64), {});
  first_->free(first_->allocate(64), {});
  EXPECT_EQ(fake_.current, &mine);
}

TEST_F(CudaDevicesTest, WhereNoContextWasOnlyThatOfTheFirstStays) {
  second_->free(second_->allocate(64), {});
  first_->free(first_->allocate(64), {});
  void* first = fake_.current;
  EXPECT_NE(first, nullptr);
  {
    const std::shared_ptr<void> held = second_->driver_context();
    EXPECT_NE(fake_.current, first);
    EXPECT_NE(fake_.current, nullptr);
  }
  EXPECT_EQ(fake_.current, first);
  fake_.current = nullptr;
  second_->free(second_->allocate(64), {});
  EXPECT_EQ(fake_.current, nullptr);
}

TEST_F(CudaDevicesTest, ACopyComesBehindBothStreamsAndReachesThePeer) {
  const std::uint64_t from = first_->allocate(64);
  const std::uint64_t to = second_->allocate(64);
  const std::vector<std::byte> host(64, std::byte{7});
  first_->upload(from, host.data(), host.size());
  fake_.order.clear();
  second_->copy_from(*first_, to, from, 64);
  EXPECT_EQ(fake_.order, (Order{"record in 0", "wait in 1", "copy in 1", "record in 1", "wait in 0"}));
  std::vector<std::byte> got(64);
  second_->download(got.data(), to, got.size());
  EXPECT_EQ(got, host);
  second_->copy_from(*first_, to, from, 64);
  first_->copy_from(*second_, from, to, 64);
  EXPECT_EQ(fake_.calls("cuCtxEnablePeerAccess"), 2);  // once each way
  EXPECT_EQ(fake_.enabled.size(), 2U);
  first_->free(from, {});
  second_->free(to, {});
}

TEST_F(CudaDevicesTest, WithoutPeersTheDriverGoesItsWay) {
  fake_.peers = false;
  const std::uint64_t from = first_->allocate(64);
  const std::uint64_t to = second_->allocate(64);
  second_->copy_from(*first_, to, from, 64);
  EXPECT_EQ(fake_.calls("cuCtxEnablePeerAccess"), 0);
  EXPECT_EQ(fake_.calls("cuMemcpyPeerAsync"), 1);
  fake_.fail("cuMemcpyPeerAsync", 700);
  EXPECT_THROW(second_->copy_from(*first_, to, from, 64), DeviceLost);
  EXPECT_NO_THROW(first_->free(first_->allocate(64), {}));  // the other one is not
}

TEST_F(CudaDevicesTest, AreSelectedByOrdinal) {
  Settings s;
  s.device = DeviceKind::cuda;
  const Selection one = select_device(s, {&fake_.table(), {}}, embedded_cubins(), 1);
  EXPECT_EQ(one.count, 2);
  EXPECT_EQ(one.device->info().ordinal, 1);
  fake_.fail("cuDeviceGet", 101);
  EXPECT_THROW(select_device(s, {&fake_.table(), {}}, embedded_cubins(), 1), Error);
}

}  // namespace
}  // namespace nervanagpu
