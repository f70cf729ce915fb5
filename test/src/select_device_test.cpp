#include "src/select_device.h"

#include <gtest/gtest.h>

#include "nervanagpu/error.hpp"
#include "test/src/expect_error.h"
#include "test/src/fake_driver.h"

namespace nervanagpu {
namespace {

using test::FakeDriver;

constexpr const char* kSilence = " (NERVANAGPU_DEVICE=emulator silences this)";

Settings wants(std::optional<DeviceKind> kind) {
  Settings s;
  s.device = kind;
  return s;
}

class SelectDeviceTest : public ::testing::Test {
 protected:
  Selection select(std::optional<DeviceKind> kind = {}) {
    return select_device(wants(kind), {&fake.table(), {}}, embedded_cubins());
  }
  void expect_fallback(const std::string& why) {
    const Selection s = select();
    EXPECT_EQ(s.device->info().kind, DeviceKind::emulator);
    EXPECT_EQ(s.notice, "nervanagpu: running on the emulator: " + why + kSilence);
    expect_error<Error>([&] { select(DeviceKind::cuda); },
                        "NERVANAGPU_DEVICE is cuda, but the GPU cannot be used: " + why);
  }
  FakeDriver fake;
};

TEST_F(SelectDeviceTest, TakesTheGpuWithoutANotice) {
  const Selection s = select();
  EXPECT_EQ(s.device->info().kind, DeviceKind::cuda);
  EXPECT_EQ(s.notice, "");
}

TEST_F(SelectDeviceTest, TheEmulatorByName) {
  const Selection s = select(DeviceKind::emulator);
  EXPECT_EQ(s.device->info().kind, DeviceKind::emulator);
  EXPECT_EQ(s.notice, "");
  EXPECT_EQ(fake.calls("cuInit"), 0);
}

TEST_F(SelectDeviceTest, NoDriver) {
  const cuda::DriverLoad none{nullptr, "libcuda.so.1: no such file"};
  const Selection s = select_device(wants({}), none, embedded_cubins());
  EXPECT_EQ(s.device->info().kind, DeviceKind::emulator);
  EXPECT_EQ(s.notice,
            std::string("nervanagpu: running on the emulator: no CUDA driver (libcuda.so.1: no such file)") + kSilence);
  expect_error<Error>(
      [&] { select_device(wants(DeviceKind::cuda), none, embedded_cubins()); },
      "NERVANAGPU_DEVICE is cuda, but the GPU cannot be used: no CUDA driver (libcuda.so.1: no such file)");
}

TEST_F(SelectDeviceTest, ADriverThatFailsToStart) {
  fake.fail("cuInit", 100);
  expect_fallback("cuInit: CUDA_ERROR_NO_DEVICE (100)");
}

TEST_F(SelectDeviceTest, NoGpu) {
  fake.devices = 0;
  expect_fallback("the driver sees no GPU");
}

TEST_F(SelectDeviceTest, AGpuWithoutKernels) {
  fake.major = 8;
  fake.minor = 6;
  const Selection s = select();
  EXPECT_EQ(s.device->info().kind, DeviceKind::emulator);
  EXPECT_EQ(s.notice.rfind("nervanagpu: running on the emulator: the GPU is sm_86, and the kernels are for sm_", 0), 0U)
      << s.notice;
  EXPECT_EQ(s.notice.find('\n'), std::string::npos);
  EXPECT_THROW(select(DeviceKind::cuda), Error);
}

TEST_F(SelectDeviceTest, KernelsOfAnATargetRunOnNoNewerGpu) {
  fake.major = 9;
  fake.minor = 3;
  EXPECT_EQ(select().device->info().kind, DeviceKind::emulator);
}

TEST_F(SelectDeviceTest, ADriverThatRefusesACubin) {
  fake.fail("cuModuleLoadData", 209);
  expect_fallback("cuModuleLoadData of sgemm.sm_90a: CUDA_ERROR_NO_BINARY_FOR_GPU (209)");
}

TEST_F(SelectDeviceTest, AContextThatCannotBeMade) {
  fake.fail("cuDevicePrimaryCtxRetain", 2);
  expect_fallback("cuDevicePrimaryCtxRetain: CUDA_ERROR_OUT_OF_MEMORY (2)");
}

TEST(Settings, ValuesThatMeanNothingAreRefused) {
  setenv("NERVANAGPU_DEVICE", "gpu", 1);
  expect_error<InvalidArgument>([] { read_settings(); },
                                "NERVANAGPU_DEVICE is 'gpu'; needs cuda or emulator, or to be unset");
  setenv("NERVANAGPU_DEVICE", "emulator", 1);
  setenv("NERVANAGPU_EMULATOR", "slow", 1);
  expect_error<InvalidArgument>([] { read_settings(); },
                                "NERVANAGPU_EMULATOR is 'slow'; needs fast or checked, or to be unset");
  setenv("NERVANAGPU_EMULATOR", "checked", 1);
  EXPECT_TRUE(read_settings().checked);
  EXPECT_EQ(read_settings().device, DeviceKind::emulator);
  unsetenv("NERVANAGPU_EMULATOR");
}

}  // namespace
}  // namespace nervanagpu
