// What was found on this machine, in lines for a person.
#include <cstdlib>
#include <thread>

#include "nervanagpu/error.hpp"
#include "nervanagpu/version.hpp"
#include "src/select_device.h"
#include "src/unpack.h"

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
  for (const char* name : {"NERVANAGPU_DEVICE", "NERVANAGPU_EMULATOR", "NERVANAGPU_EMULATOR_ARCH", "NERVANAGPU_SYNC",
                           "NERVANAGPU_AUTOTUNE"}) {
    const char* value = std::getenv(name);
    if (value != nullptr && value[0] != '\0') out += line("setting", std::string(name) + "=" + value);
  }
  for (const EmbeddedCubin& cubin : embedded_cubins()) {
    const std::size_t image = image_size(cubin);
    const std::string packed = image == cubin.size ? "" : " for " + std::to_string(image);
    out += line("kernels", std::string(cubin.name) + ", " + std::to_string(cubin.size) + " bytes" + packed);
  }
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
