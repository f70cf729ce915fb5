// Which device is taken, and what is said if it is not the one wanted.
#include "src/device/select_device.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

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
  fake.major = 7;
  fake.minor = 5;
  const Selection s = select();
  EXPECT_EQ(s.device->info().kind, DeviceKind::emulator);
  EXPECT_EQ(s.notice.rfind("nervanagpu: running on the emulator: the GPU is sm_75, and the kernels are for sm_", 0), 0U)
      << s.notice;
  EXPECT_EQ(s.notice.find('\n'), std::string::npos);
  EXPECT_THROW(select(DeviceKind::cuda), Error);
}

TEST_F(SelectDeviceTest, KernelsRunOnNewerGpusOfTheirGeneration) {
  fake.major = 8;
  fake.minor = 6;
  const Selection s = select();
  EXPECT_EQ(s.device->info().kind, DeviceKind::cuda);
  EXPECT_EQ(s.device->info().arch, "sm_80");
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

// Kernels of two architectures in one library, in either order.
class EmulatedArchTest : public ::testing::Test {
 protected:
  static std::vector<unsigned char> read(const std::string& arch) {
    std::ifstream file(NG_SOURCE_DIR "/test/data/cubin/scale_fill." + arch + ".cubin", std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::unique_ptr<Device> emulator(std::optional<sass::Arch> arch, const std::vector<EmbeddedCubin>& cubins) {
    Settings s = wants(DeviceKind::emulator);
    s.emulator_arch = arch;
    return select_device(s, {nullptr, "not looked for"}, cubins).device;
  }
  std::vector<unsigned char> maxwell_ = read("sm_52");
  std::vector<unsigned char> hopper_ = read("sm_90a");
  EmbeddedCubin first_{"scale.sm_52", maxwell_.data(), maxwell_.size()};
  EmbeddedCubin second_{"scale.sm_90a", hopper_.data(), hopper_.size()};
};

TEST_F(EmulatedArchTest, TheNewestChipUnlessAskedFor) {
  for (const auto& cubins : {std::vector{first_, second_}, std::vector{second_, first_}}) {
    const auto by_default = emulator({}, cubins);
    EXPECT_EQ(by_default->info().arch, "sm_90a");
    EXPECT_EQ(by_default->info().multiprocessors, 132);
    const auto maxwell = emulator(sass::Arch::sm_52, cubins);
    EXPECT_EQ(maxwell->info().arch, "sm_52");
    EXPECT_EQ(maxwell->info().multiprocessors, 24);
    EXPECT_EQ(maxwell->registry().arch(), sass::Arch::sm_52);
    EXPECT_EQ(maxwell->registry().cubins().size(), 1u);
    EXPECT_EQ(maxwell->registry().kernels().size(), by_default->registry().kernels().size());
  }
  EXPECT_EQ(emulator({}, {first_})->info().arch, "sm_52");
}

TEST_F(EmulatedArchTest, WhatThereIsIsNamed) {
  expect_error<InvalidArgument>(
      [&] {
        emulator(sass::Arch::sm_70, {second_, first_});
      },
      "NERVANAGPU_EMULATOR_ARCH is sm_70; there are kernels for sm_52, sm_90a");
  expect_error<InvalidArgument>([&] { emulator(sass::Arch::sm_52, {second_}); },
                                "NERVANAGPU_EMULATOR_ARCH is sm_52; there are kernels for sm_90a");
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
  unsetenv("NERVANAGPU_EMULATOR_ARCH");
  EXPECT_EQ(read_settings().emulator_arch, std::nullopt);
  setenv("NERVANAGPU_EMULATOR_ARCH", "maxwell", 1);
  expect_error<InvalidArgument>([] { read_settings(); },
                                "NERVANAGPU_EMULATOR_ARCH is 'maxwell'; needs an architecture such as sm_90a or sm_52, "
                                "or to be unset");
  setenv("NERVANAGPU_EMULATOR_ARCH", "sm_52", 1);
  EXPECT_EQ(read_settings().emulator_arch, sass::Arch::sm_52);
  EXPECT_EQ(read_settings().emulator_order, 0U);
  for (const char* wrong : {"-1", "4294967296", "random", "1 "}) {
    setenv("NERVANAGPU_EMULATOR_ORDER", wrong, 1);
    expect_error<InvalidArgument>([] { read_settings(); }, "NERVANAGPU_EMULATOR_ORDER is '" + std::string(wrong) +
                                                               "'; needs a seed from 0 to 4294967295, or to be unset");
  }
  setenv("NERVANAGPU_EMULATOR_ORDER", "4294967295", 1);
  EXPECT_EQ(read_settings().emulator_order, 4294967295U);
  unsetenv("NERVANAGPU_EMULATOR_ORDER");
  unsetenv("NERVANAGPU_EMULATOR_ARCH");
}

}  // namespace
}  // namespace nervanagpu
