// Runs a test on an emulator of its own, whatever the machine has.
#pragma once

#include <gtest/gtest.h>

#include "nervanagpu/expr.hpp"
#include "src/device/emulator_device.h"
#include "src/device/select_device.h"

namespace nervanagpu::test {

class OnEmulator : public ::testing::Test {
 protected:
  explicit OnEmulator(bool checked = false, std::size_t memory = std::size_t{1} << 30)
      : device_(embedded_cubins(), sass::Arch::sm_90a, checked, memory), before_(exchange_device(&device_)) {
    verify_generated(true);  // every kernel that a test generates is proven free of hazards
  }
  ~OnEmulator() override { exchange_device(before_); }

  EmulatorDevice device_;

 private:
  Device* before_;
};

}  // namespace nervanagpu::test
