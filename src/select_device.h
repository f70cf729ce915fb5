// Which device this process uses, and why.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "src/device.h"
#include "src/driver.h"
#include "src/environment.h"

namespace nervanagpu {

struct Selection {
  std::unique_ptr<Device> device;
  std::string notice;                 // one line for stderr, without newline; empty: none
  std::vector<std::string> findings;  // what was looked at, for doctor()
};

// Throws Error where NERVANAGPU_DEVICE=cuda cannot be had, or the emulator has no kernels of NERVANAGPU_EMULATOR_ARCH.
Selection select_device(const Settings& settings, const cuda::DriverLoad& load, std::span<const EmbeddedCubin> cubins);

// The process's device: selected at the first call, never destroyed (a driver must not be called at exit).
Device& current_device();

// Another device for the calls that follow, on any thread; null: the process's own again. For tests.
Device* exchange_device(Device* device);

}  // namespace nervanagpu
