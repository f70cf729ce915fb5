#include "src/device/select_device.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <mutex>
#include <optional>
#include <string_view>

#include "nervanagpu/error.hpp"
#include "nervanagpu/graph.hpp"
#include "nervanagpu/memory_report.hpp"
#include "src/device/cuda_device.h"
#include "src/device/emulator_device.h"
#include "src/device/status.h"

namespace nervanagpu {
namespace {

std::string capability_name(int major, int minor) {
  return "sm_" + std::to_string(major) + std::to_string(minor);
}

// The cubins that run there: those of its own architecture, else (not of the "a" targets, which run nowhere else) the
// newest of the same generation that is not newer.
std::optional<sass::Arch> arch_for(int major, int minor, const std::vector<sass::Arch>& archs) {
  const int number = major * 10 + minor;
  std::optional<sass::Arch> best;
  for (const sass::Arch a : archs) {
    const sass::ArchInfo& i = sass::info(a);
    const bool fits = i.accelerated ? i.number == number : (i.number / 10 == major && i.number <= number);
    if (fits && (!best || i.number >= sass::info(*best).number)) best = a;
  }
  return best;
}

std::string names_of(const std::vector<sass::Arch>& archs) {
  std::string out;
  for (const sass::Arch a : archs) out += (out.empty() ? "" : ", ") + std::string(sass::info(a).name);
  return out.empty() ? "none" : out;
}

// The GPU of this ordinal, or why not (in `why`).
std::unique_ptr<Device> try_cuda(const Settings& settings, const cuda::DriverLoad& load,
                                 std::span<const EmbeddedCubin> cubins, int ordinal, Selection& out, std::string& why) {
  std::vector<std::string>& findings = out.findings;
  if (load.driver == nullptr) {
    why = "no CUDA driver (" + load.why + ")";
    findings.push_back("driver: none (" + load.why + ")");
    return nullptr;
  }
  const cuda::Driver& driver = *load.driver;
  const auto failed = [&](const char* call, cuda::Status status) {
    why = cuda::describe(driver, call, status);
    findings.push_back("driver: " + why);
    return nullptr;
  };
  if (const cuda::Status s = driver.init(0); s != cuda::kSuccess) return failed("cuInit", s);
  int version = 0;
  if (const cuda::Status s = driver.driver_version(&version); s != cuda::kSuccess)
    return failed("cuDriverGetVersion", s);
  findings.push_back("driver: CUDA " + std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10));
  int count = 0;
  if (const cuda::Status s = driver.device_count(&count); s != cuda::kSuccess) return failed("cuDeviceGetCount", s);
  if (count == 0) {
    why = "the driver sees no GPU";
    findings.push_back("GPUs: none");
    return nullptr;
  }
  out.count = count;
  cuda::DeviceId id = 0;
  int major = 0;
  int minor = 0;
  if (const cuda::Status s = driver.device_get(&id, ordinal); s != cuda::kSuccess) return failed("cuDeviceGet", s);
  cuda::Status s = driver.device_attribute(&major, cuda::kCapabilityMajor, id);
  if (s == cuda::kSuccess) s = driver.device_attribute(&minor, cuda::kCapabilityMinor, id);
  if (s != cuda::kSuccess) return failed("cuDeviceGetAttribute", s);
  findings.push_back("GPUs: " + std::to_string(count) +
                     (ordinal == 0 ? "; the first is " : "; device " + std::to_string(ordinal) + " is ") +
                     capability_name(major, minor));
  const std::vector<sass::Arch> archs = archs_of(cubins);
  const std::optional<sass::Arch> arch = arch_for(major, minor, archs);
  if (!arch) {
    why = "the GPU is " + capability_name(major, minor) + ", and the kernels are for " + names_of(archs);
    findings.push_back("GPU: " + why);
    return nullptr;
  }
  try {
    auto device = std::make_unique<CudaDevice>(driver, id, cubins, *arch, settings.sync_launches, ordinal);
    findings.push_back("GPU: " + device->info().name + ", kernels of " + device->info().arch);
    return device;
  } catch (const Error& e) {
    why = e.what();
    findings.push_back("GPU: " + why);
    return nullptr;
  }
}

int gpu_files() {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/dev")) {
    const std::string name = entry.path().filename();
    const bool gpu = name.starts_with("nvidia") && name.find_first_not_of("0123456789", 6) == std::string::npos;
    count += gpu && name.size() > 6 ? 1 : 0;
  }
  return count;
}

// What the emulator may hold: the host's memory, less what the host itself needs.
std::size_t emulator_memory() {
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page = sysconf(_SC_PAGESIZE);
  if (pages <= 0 || page <= 0) return std::size_t{1} << 30;
  return static_cast<std::size_t>(pages) * static_cast<std::size_t>(page) / 4 * 3;
}

// The kernels that the emulator runs: those asked for, else those of the GPU that it stands for, where there are any.
sass::Arch emulated(const Settings& settings, const std::vector<sass::Arch>& archs) {
  const auto have = [&](sass::Arch a) { return std::find(archs.begin(), archs.end(), a) != archs.end(); };
  if (settings.emulator_arch) {
    if (have(*settings.emulator_arch)) return *settings.emulator_arch;
    throw InvalidArgument("NERVANAGPU_EMULATOR_ARCH is " + std::string(sass::info(*settings.emulator_arch).name) +
                          "; there are kernels for " + names_of(archs));
  }
  return archs.empty() || have(sass::Arch::sm_90a) ? sass::Arch::sm_90a : archs.back();
}

std::atomic<Device*> replaced{nullptr};
std::atomic<bool> others{false};

// All that the process has, by ordinal.
class Devices {
 public:
  static constexpr std::size_t kMost = 64;

  static Devices& all() {
    static auto& devices = *new Devices;  // never destroyed: a driver must not be called at exit
    return devices;
  }

  int count() {
    first();
    return count_;
  }
  Device& first() {
    if (Device* known = open_[0].load(std::memory_order_acquire)) return *known;
    return open(0);
  }
  // Throws what selecting it does; the next call tries again: the environment may have been put right.
  Device& at(int ordinal) {
    if (ordinal < 0 || ordinal >= count()) {
      throw InvalidArgument("device is " + std::to_string(ordinal) + "; needs 0 to " + std::to_string(count() - 1));
    }
    if (Device* known = open_[static_cast<std::size_t>(ordinal)].load(std::memory_order_acquire)) return *known;
    return open(ordinal);
  }
  // nullptr: not open.
  Device* known(int ordinal) noexcept {
    return open_[static_cast<std::size_t>(ordinal)].load(std::memory_order_acquire);
  }

 private:
  Device& open(int ordinal) {
    const std::lock_guard lock(mutex_);
    std::atomic<Device*>& slot = open_[static_cast<std::size_t>(ordinal)];
    if (Device* known = slot.load()) return *known;
    Settings settings = read_settings();
    if (ordinal > 0) settings.device = open_[0].load()->info().kind;
    const cuda::DriverLoad none{nullptr, "not looked for"};
    const bool look = settings.device != DeviceKind::emulator;
    Selection s = select_device(settings, look ? cuda::load_driver() : none, embedded_cubins(), ordinal);
    if (!s.notice.empty()) std::fprintf(stderr, "%s\n", s.notice.c_str());
    if (ordinal > 0) others.store(true, std::memory_order_relaxed);
    if (ordinal == 0) count_ = std::min(s.count, static_cast<int>(kMost));
    slot.store(s.device.release(), std::memory_order_release);
    return *slot.load();
  }

  std::mutex mutex_;
  int count_ = 0;  // known once the first is open
  std::array<std::atomic<Device*>, kMost> open_{};
};

}  // namespace

Selection select_device(const Settings& settings, const cuda::DriverLoad& load, std::span<const EmbeddedCubin> cubins,
                        int ordinal) {
  Selection out;
  std::string why;
  if (settings.device != DeviceKind::emulator) {
    out.device = try_cuda(settings, load, cubins, ordinal, out, why);
    if (out.device != nullptr) return out;
    if (settings.device == DeviceKind::cuda)
      throw Error("NERVANAGPU_DEVICE is cuda, but the GPU cannot be used: " + why);
    for (char& c : why) c = c == '\n' ? ' ' : c;
    out.notice = "nervanagpu: running on the emulator: " + why + " (NERVANAGPU_DEVICE=emulator silences this)";
  }
  const sass::Arch arch = emulated(settings, archs_of(cubins));
  out.count = settings.emulator_devices;
  auto device = std::make_unique<EmulatorDevice>(
      cubins, arch, settings.checked, settings.emulator_memory != 0 ? settings.emulator_memory : emulator_memory(),
      ordinal);
  device->set_order(settings.emulator_order);
  out.device = std::move(device);
  return out;
}

Device& current_device() {
  if (Device* other = replaced.load(std::memory_order_acquire)) return *other;
  return current_ordinal == 0 ? Devices::all().first() : open_device(current_ordinal);
}

Device& open_device(int ordinal) {
  if (Device* other = replaced.load(std::memory_order_acquire)) return *other;
  return ordinal <= 0 ? Devices::all().first() : *Devices::all().known(ordinal);
}

std::vector<Device*> open_devices() {
  if (Device* other = replaced.load(std::memory_order_acquire)) return {other};
  std::vector<Device*> out;
  for (int i = 0; i < Devices::all().count(); ++i) {
    if (Device* known = Devices::all().known(i)) out.push_back(known);
  }
  return out;
}

Device* exchange_device(Device* device) {
  return replaced.exchange(device, std::memory_order_acq_rel);
}

int device_count() {
  return replaced.load(std::memory_order_acquire) != nullptr ? 1 : Devices::all().count();
}
const DeviceInfo& device() {
  return current_device().info();
}
const DeviceInfo& device(int ordinal) {
  if (ordinal == current_ordinal) return device();
  return Devices::all().at(ordinal).info();
}
int get_device() noexcept {
  return current_ordinal;
}
void set_device(int ordinal) {
  if (ordinal == current_ordinal) return;
  static_cast<void>(Devices::all().at(ordinal));
  if (Graph::recording()) refuse_in_graph("another device is used");
  current_ordinal = ordinal;
}
void OnDevice::put_back(int ordinal) noexcept {
  current_ordinal = ordinal;
}
DriverContext::DriverContext(int ordinal)
    : held_((ordinal < 0 ? current_device() : open_device(ordinal)).driver_context()) {}
bool other_devices_used() noexcept {
  return others.load(std::memory_order_relaxed);
}
// The driver says how many GPUs there are, but a process that has asked it cannot fork. Their device files say it, too.
bool other_devices_possible() noexcept try {
  const Settings settings = read_settings();
  if (settings.device != DeviceKind::cuda && settings.emulator_devices > 1) return true;
  if (settings.device == DeviceKind::emulator) return false;
  const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
  if (visible != nullptr && std::string_view(visible).find(',') == std::string_view::npos) return false;
  return gpu_files() > 1 || access("/dev/dxg", F_OK) == 0;
} catch (...) {
  return true;  // what is wrong with the settings is told to who needs a device
}
int device_of(std::uint64_t address) noexcept {
  for (int i = 0; i < static_cast<int>(Devices::kMost); ++i) {
    Device* known = Devices::all().known(i);
    if (known == nullptr) continue;
    if (const int found = known->ordinal_of(address); found >= 0) return found;
    if (known->holds_host(reinterpret_cast<const void*>(address))) return i;  // NOLINT(performance-no-int-to-ptr)
  }
  return -1;
}
void synchronize() {
  current_device().synchronize();
}
MemoryStats memory_stats() {
  return current_device().memory_stats();
}
void set_memory_limit(std::size_t bytes) {
  current_device().set_memory_limit(bytes);
}
std::size_t memory_limit() {
  return current_device().memory_limit();
}
void release_captured_memory() {
  current_device().release_captured();
}

std::shared_ptr<void> pinned_memory(std::size_t bytes) {
  Device& device = current_device();
  // More than a host can address; below it sums of sizes do not wrap.
  const bool possible = bytes <= std::numeric_limits<std::ptrdiff_t>::max();
  void* memory = possible ? device.allocate_host(std::max<std::size_t>(bytes, 1)) : nullptr;
  if (memory == nullptr) throw out_of_host_memory(std::to_string(bytes));
  return {memory, [&device](void* p) { device.free_host(p); }};
}

void release_cached_memory() {
  current_device().release_cached();
}

}  // namespace nervanagpu
