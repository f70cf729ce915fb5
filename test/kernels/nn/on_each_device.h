// Runs each test on an emulator of every family, and once more where every access is checked.
#pragma once

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "src/device/emulator_device.h"
#include "src/device/select_device.h"
#include "test/tier.h"

namespace nervanagpu::test {

struct Setup {
  sass::Arch arch;
  bool checked;
};

class OnEachDevice : public ::testing::TestWithParam<Setup> {
 protected:
  OnEachDevice()
      : device_(embedded_cubins(), GetParam().arch, GetParam().checked, std::size_t{1} << 28),
        before_(exchange_device(&device_)) {}
  ~OnEachDevice() override { exchange_device(before_); }

  [[nodiscard]] bool checked() const { return GetParam().checked; }
  // How many problems are drawn: fewer where every access is checked, and in the short tier.
  [[nodiscard]] int drawn(int plain, int with_checks) const { return test::drawn(checked() ? with_checks : plain); }
  [[nodiscard]] int drawn(int plain) const { return drawn(plain, (plain + 3) / 4); }

  EmulatorDevice device_;
  std::mt19937 random_{1};

 private:
  Device* before_;
};

inline std::string name_of_setup(const ::testing::TestParamInfo<Setup>& info) {
  return std::string(sass::info(info.param.arch).name) + (info.param.checked ? "_checked" : "");
}

#define NG_ON_EACH_DEVICE(fixture)                                                                     \
  INSTANTIATE_TEST_SUITE_P(                                                                            \
      Devices, fixture,                                                                                \
      ::testing::Values(test::Setup{sass::Arch::sm_90a, false}, test::Setup{sass::Arch::sm_90a, true}, \
                        test::Setup{sass::Arch::sm_52, false}, test::Setup{sass::Arch::sm_52, true}),  \
      test::name_of_setup)

}  // namespace nervanagpu::test
