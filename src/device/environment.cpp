#include "src/device/environment.h"

#include <charconv>
#include <cstdlib>
#include <string>
#include <system_error>

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

// "4096", "512K", "64M", "2G"
std::size_t bytes_from(const char* name, const std::string& text) {
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string unit(end, text.data() + text.size());
  const int shift = unit.empty() ? 0 : unit == "K" ? 10 : unit == "M" ? 20 : unit == "G" ? 30 : -1;
  if (error != std::errc() || shift < 0 || number == 0 || number > (std::size_t{1} << 48 >> shift)) {
    refuse(name, text, "a number of bytes such as 64M or 2G, or to be unset");
  }
  return number << shift;
}

bool flag(const char* name) {
  const std::string value = variable(name);
  if (value != "1" && value != "0" && !value.empty()) refuse(name, value, "0 or 1, or to be unset");
  return value == "1";
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
  const std::string order = variable("NERVANAGPU_EMULATOR_ORDER");
  if (!order.empty()) {
    const char* const end = order.data() + order.size();
    const auto read = std::from_chars(order.data(), end, s.emulator_order);
    if (read.ec != std::errc() || read.ptr != end) {
      refuse("NERVANAGPU_EMULATOR_ORDER", order, "a seed from 0 to 4294967295, or to be unset");
    }
  }
  const auto bytes = [](const char* name, std::size_t& to) {
    const std::string value = variable(name);
    if (!value.empty()) to = bytes_from(name, value);
  };
  bytes("NERVANAGPU_EMULATOR_MEMORY", s.emulator_memory);
  bytes("NERVANAGPU_KERNEL_CACHE", s.kernel_cache);
  const std::string devices = variable("NERVANAGPU_EMULATOR_DEVICES");
  if (!devices.empty()) {
    const char* const end = devices.data() + devices.size();
    const auto read = std::from_chars(devices.data(), end, s.emulator_devices);
    if (read.ec != std::errc() || read.ptr != end || s.emulator_devices < 1 || s.emulator_devices > kMostEmulated) {
      refuse("NERVANAGPU_EMULATOR_DEVICES", devices, "a number from 1 to 16, or to be unset");
    }
  }
  s.sync_launches = flag("NERVANAGPU_SYNC");
  s.autotune = flag("NERVANAGPU_AUTOTUNE");
  return s;
}

std::string cache_folder() {
  const std::string cache = variable("XDG_CACHE_HOME");
  if (cache.starts_with('/')) return cache + "/nervanagpu";
  const std::string home = variable("HOME");
  return home.starts_with('/') ? home + "/.cache/nervanagpu" : "";
}

}  // namespace nervanagpu
