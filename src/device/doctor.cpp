// What was found on this machine, in lines for a person.
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>

#include "nervanagpu/error.hpp"
#include "nervanagpu/version.hpp"
#include "src/device/select_device.h"
#include "src/module/unpack.h"

#ifndef NG_VERSION
#define NG_VERSION "unknown"
#endif

namespace nervanagpu {

const char* version() noexcept {
  return NG_VERSION;
}

namespace {

std::string line(const std::string& key, const std::string& value) {
  return key + std::string(key.size() < 12 ? 12 - key.size() : 1, ' ') + value + "\n";
}

std::string memory_text(std::size_t bytes) {
  const std::size_t tenths = bytes / (std::size_t{1} << 20) * 10 / 1024;
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " GiB";
}

// The cubins of one architecture, and how many bytes they have in the library and for the driver.
std::string kernels_of(std::string_view arch) {
  std::size_t count = 0;
  std::size_t stored = 0;
  std::size_t bytes = 0;
  for (const EmbeddedCubin& cubin : embedded_cubins()) {
    if (!std::string_view(cubin.name).ends_with("." + std::string(arch))) continue;
    ++count;
    stored += cubin.size;
    bytes += image_size(cubin);
  }
  std::string text =
      std::string(arch) + ", " + std::to_string(count) + " cubins of " + std::to_string(bytes) + " bytes";
  if (stored != bytes) text += ", compressed to " + std::to_string(stored);
  return line("kernels", text);
}

// The driver and the GPUs are looked at afresh, whatever was chosen; only the device itself stays.
std::vector<std::string> look() {
  Settings settings;
  try {
    settings = read_settings();
  } catch (const Error& e) {
    return {e.what()};
  }
  settings.device.reset();
  return select_device(settings, cuda::load_driver(), embedded_cubins()).findings;
}

}  // namespace

std::string doctor() {
  std::string out = line("nervanagpu", version());
  for (const char* name : {"NERVANAGPU_DEVICE", "NERVANAGPU_EMULATOR", "NERVANAGPU_EMULATOR_ARCH",
                           "NERVANAGPU_EMULATOR_ORDER", "NERVANAGPU_SYNC", "NERVANAGPU_AUTOTUNE"}) {
    const char* value = std::getenv(name);
    if (value != nullptr && value[0] != '\0') out += line("setting", std::string(name) + "=" + value);
  }
  for (const sass::Arch arch : archs_of(embedded_cubins())) out += kernels_of(sass::info(arch).name);
  for (const std::string& finding : look()) out += line("found", finding);
  try {
    const DeviceInfo& d = current_device().info();
    std::string text = d.name + ", kernels of " + d.arch + ", " + memory_text(d.memory);
    if (d.kind == DeviceKind::emulator) {
      text += ", on " + std::to_string(std::thread::hardware_concurrency()) + " host threads";
    } else {
      text += ", " + std::to_string(d.multiprocessors) + " SMs";
    }
    out += line("device", text);
    out += line("", std::to_string(current_device().registry().kernels().size()) + " kernels loaded");
  } catch (const Error& e) {
    out += line("device", std::string("none: ") + e.what());
  }
  return out;
}

}  // namespace nervanagpu
