// What the user set in the environment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "nervanagpu/device.hpp"
#include "sass/isa/arch.h"

namespace nervanagpu {

inline constexpr int kMostEmulated = 16;  // devices

struct Settings {
  std::optional<DeviceKind> device;  // NERVANAGPU_DEVICE; none: choose
  bool checked = false;              // NERVANAGPU_EMULATOR=checked
  // NERVANAGPU_EMULATOR_ARCH: the architecture whose kernels the emulator runs; none: sm_90a
  std::optional<sass::Arch> emulator_arch;
  std::uint32_t emulator_order = 0;  // NERVANAGPU_EMULATOR_ORDER: a seed of the order of warps; 0: ascending
  std::size_t emulator_memory = 0;   // NERVANAGPU_EMULATOR_MEMORY: bytes; 0: most of the host's
  int emulator_devices = 1;          // NERVANAGPU_EMULATOR_DEVICES: how many there are
  // NERVANAGPU_KERNEL_CACHE: bytes of generated kernels that are kept
  std::size_t kernel_cache = std::size_t{256} << 20;
  bool autotune = false;       // NERVANAGPU_AUTOTUNE=1: see nervanagpu/autotune.hpp
  bool sync_launches = false;  // NERVANAGPU_SYNC=1: wait after each launch, so that an error names its kernel
};

// Throws InvalidArgument on a value that means nothing.
Settings read_settings();

// "$XDG_CACHE_HOME/nervanagpu", or in ~/.cache; "" if neither is known as an absolute path. It need not exist.
std::string cache_folder();

}  // namespace nervanagpu
