// Which devices this process uses, and why.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "src/device/device.h"
#include "src/device/driver.h"
#include "src/device/environment.h"

namespace nervanagpu {

struct Selection {
  std::unique_ptr<Device> device;
  int count = 1;                      // devices of its kind
  std::string notice;                 // one line for stderr, without newline; empty: none
  std::vector<std::string> findings;  // what was looked at, for doctor()
};

// Throws Error where NERVANAGPU_DEVICE=cuda cannot be had, or the emulator has no kernels of NERVANAGPU_EMULATOR_ARCH.
// `ordinal`: which one; others than the first are of the kind that settings name.
Selection select_device(const Settings& settings, const cuda::DriverLoad& load, std::span<const EmbeddedCubin> cubins,
                        int ordinal = 0);

// This thread's; set_device() changes it.
inline constinit thread_local int current_ordinal = 0;

// The device that is current in this thread. The first call selects device 0, and each other one opens when it becomes
// current; none is ever destroyed (a driver must not be called at exit).
Device& current_device();
// One that is open, as that of a tensor is.
Device& open_device(int ordinal);
// Of all that are open.
std::vector<Device*> open_devices();

// Another device for the calls that follow, on any thread; null: the process's own again. For tests.
Device* exchange_device(Device* device);

}  // namespace nervanagpu
