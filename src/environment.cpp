#include "src/environment.h"

#include <cstdlib>
#include <string>

#include "nervanagpu/error.hpp"

namespace nervanagpu {
namespace {

// A set-user-id program does not follow its caller's environment.
std::string variable(const char* name) {
#if defined(__GLIBC__)
  const char* value = secure_getenv(name);
#else
  const char* value = std::getenv(name);
#endif
  return value == nullptr ? "" : value;
}

[[noreturn]] void refuse(const char* name, const std::string& value, const char* needed) {
  throw InvalidArgument(std::string(name) + " is '" + value + "'; needs " + needed);
}

}  // namespace

Settings read_settings() {
  Settings s;
  const std::string device = variable("NERVANAGPU_DEVICE");
  if (device == "cuda") {
    s.device = DeviceKind::cuda;
  } else if (device == "emulator") {
    s.device = DeviceKind::emulator;
  } else if (!device.empty()) {
    refuse("NERVANAGPU_DEVICE", device, "cuda or emulator, or to be unset");
  }
  const std::string mode = variable("NERVANAGPU_EMULATOR");
  if (mode == "checked") {
    s.checked = true;
  } else if (!mode.empty() && mode != "fast") {
    refuse("NERVANAGPU_EMULATOR", mode, "fast or checked, or to be unset");
  }
  const std::string arch = variable("NERVANAGPU_EMULATOR_ARCH");
  if (!arch.empty()) {
    s.emulator_arch = sass::arch_from_name(arch);
    if (!s.emulator_arch) {
      refuse("NERVANAGPU_EMULATOR_ARCH", arch, "an architecture such as sm_90a or sm_52, or to be unset");
    }
  }
  const std::string sync = variable("NERVANAGPU_SYNC");
  if (sync == "1") {
    s.sync_launches = true;
  } else if (!sync.empty() && sync != "0") {
    refuse("NERVANAGPU_SYNC", sync, "0 or 1, or to be unset");
  }
  return s;
}

}  // namespace nervanagpu
