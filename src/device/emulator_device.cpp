#include "src/device/emulator_device.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <span>
#include <string>

#include "nervanagpu/error.hpp"
#include "sass/emulate/load/size.h"
#include "src/device/pool.h"
#include "src/device/tensor_map.h"

namespace nervanagpu {
namespace {

constexpr StreamId kPerThread = 2;  // CUDA names two default streams 1 and 2

// The GPU whose choices the emulator makes, so that both run the same kernels: the largest that has kernels of `arch`.
int multiprocessors_of(sass::Arch arch) {
  switch (arch) {
    case sass::Arch::sm_50: return 5;    // GTX 750 Ti
    case sass::Arch::sm_52: return 24;   // GTX TITAN X
    case sass::Arch::sm_53: return 2;    // Tegra X1
    case sass::Arch::sm_60: return 56;   // P100
    case sass::Arch::sm_61: return 30;   // TITAN Xp
    case sass::Arch::sm_62: return 2;    // Tegra X2
    case sass::Arch::sm_70: return 80;   // V100
    case sass::Arch::sm_75: return 72;   // TITAN RTX
    case sass::Arch::sm_80: return 108;  // A100
    case sass::Arch::sm_86: return 84;   // A40
    case sass::Arch::sm_89: return 142;  // L40S
    case sass::Arch::sm_90a: break;
  }
  return 132;  // H200
}

Finding finding_from(const sass::emulate::Finding& f) {
  return {f.what, f.detail, f.kernel, f.at.file, f.at.line, f.pc, f.cta, f.warp, f.lane, f.count, f.text()};
}

Finding finding_from(const std::string& kernel, const sass::Diag& fault) {
  Finding f;
  f.what = "fault";
  f.detail = fault.message;
  f.kernel = kernel;
  f.file = fault.at.file;
  f.line = fault.at.line;
  f.text = fault.text();
  return f;
}

[[noreturn]] void raise(const std::string& kernel, std::vector<Finding> findings) {
  std::uint64_t total = 0;
  for (const Finding& f : findings) total += f.count;
  std::string text = "kernel " + kernel + ": " + std::to_string(total) + (total == 1 ? " finding" : " findings");
  constexpr std::size_t kShown = 10;
  for (std::size_t i = 0; i < std::min(findings.size(), kShown); ++i) text += "\n  " + findings[i].text;
  if (findings.size() > kShown) text += "\n  and " + std::to_string(findings.size() - kShown) + " other places";
  throw CheckError(text, std::move(findings));
}

// `count` values of `width` bytes, each the low bits of `value`.
void write(std::byte* p, std::uint32_t value, unsigned width, std::size_t count) {
  if (width == 1) {
    std::memset(p, static_cast<int>(value & 0xff), count);
    return;
  }
  const auto narrow = static_cast<std::uint16_t>(value);
  for (std::size_t i = 0; i < count; ++i) {
    if (width == 2) {
      std::memcpy(p + i * 2, &narrow, 2);
    } else {
      std::memcpy(p + i * 4, &value, 4);
    }
  }
}

}  // namespace

EmulatorDevice::EmulatorDevice(std::span<const EmbeddedCubin> cubins, sass::Arch arch, bool checked,
                               std::size_t memory_bytes, int ordinal)
    : registry_(registry_of(cubins, arch)),
      memory_(memory_bytes, static_cast<unsigned>(ordinal)),
      kernels_(registry_->kernels().size()),
      next_id_((static_cast<std::uint64_t>(ordinal) << 48) + kPerThread + 1) {
  info_.ordinal = ordinal;
  info_.kind = DeviceKind::emulator;
  info_.name = checked ? "emulator (checked)" : "emulator";
  info_.arch = std::string(sass::info(arch).name);
  info_.multiprocessors = multiprocessors_of(arch);
  info_.memory = memory_.capacity();
  info_.checked = checked;
}

std::byte* EmulatorDevice::host(std::uint64_t address, std::size_t bytes, const char* what) {
  std::byte* p = memory_.host(address, bytes);
  if (p == nullptr) {
    const sass::emulate::Memory::Range near = memory_.nearest(address);
    throw InvalidArgument(std::string(what) + ": " + std::to_string(bytes) + " bytes at address " +
                          std::to_string(address) + " are not inside one allocation; the nearest has " +
                          std::to_string(near.bytes) + " bytes at " + std::to_string(near.start));
  }
  return p;
}

std::uint64_t EmulatorDevice::allocate(std::size_t bytes, StreamId /*stream*/) {
  const std::size_t limit = limit_;
  if (limit != 0 && (bytes > limit || memory_.used() > limit - bytes)) throw over_limit(bytes, limit, memory_.used());
  const std::uint64_t address = memory_.allocate(bytes);
  if (address == 0) {
    throw OutOfMemory("out of memory: " + std::to_string(bytes) + " bytes asked for, " +
                      std::to_string(memory_.capacity() - std::min(memory_.used(), memory_.capacity())) +
                      " free on the emulator, " + std::to_string(memory_.used()) + " held by tensors");
  }
  // Memory that nobody wrote reads as NaN, so that nobody relies on it.
  if (info_.checked) std::memset(memory_.host(address, bytes), 0xff, bytes);
  const std::lock_guard lock(mutex_);
  ++stats_.allocations;
  stats_.peak = std::max(stats_.peak, memory_.used());
  return address;
}

void EmulatorDevice::free(std::uint64_t address, std::span<const StreamId> /*streams*/) noexcept {
  if (recording != nullptr && recording->device == this) {
    recording->memory.push_back(address);
  } else {
    memory_.free(address);
  }
}

std::uint64_t EmulatorDevice::map_host(void* memory, std::size_t bytes) {
  if (const std::uint64_t own = memory_.address_of(memory); own != 0) return host_view(own, bytes) != nullptr ? own : 0;
  return memory_.lend(memory, bytes) ? reinterpret_cast<std::uint64_t>(memory) : 0;
}

void EmulatorDevice::unmap_host(std::uint64_t address, std::size_t bytes) noexcept {
  void* memory = reinterpret_cast<void*>(address);  // NOLINT(performance-no-int-to-ptr)
  memory_.give_back(memory, bytes);                 // of its own memory nothing was lent
}

MemoryStats EmulatorDevice::memory_stats() const {
  const std::lock_guard lock(mutex_);
  MemoryStats s = stats_;
  s.in_use = s.reserved = memory_.used();
  return s;
}

void EmulatorDevice::do_upload(std::uint64_t to, const void* from, std::size_t bytes) {
  not_in_graph("copy to the device");
  std::memcpy(host(to, bytes, "copy to the device"), from, bytes);
}

void EmulatorDevice::do_download(void* to, std::uint64_t from, std::size_t bytes) {
  not_in_graph("copy to the host");
  std::memcpy(to, host(from, bytes, "copy to the host"), bytes);
}

void EmulatorDevice::start_copy(std::uint64_t to, std::uint64_t from, std::size_t bytes, StreamId stream) {
  check_stream(stream);
  queue([=, this] { std::memmove(host(to, bytes, "copy to"), host(from, bytes, "copy from"), bytes); });
}

void EmulatorDevice::do_copy_from(Device& source, std::uint64_t to, std::uint64_t from, std::size_t bytes) {
  not_in_graph("copy from another device");
  auto& other = static_cast<EmulatorDevice&>(source);
  std::memcpy(host(to, bytes, "copy to"), other.host(from, bytes, "copy from"), bytes);
}

void EmulatorDevice::start_fill(std::uint64_t to, std::uint32_t value, unsigned width, std::size_t count,
                                StreamId stream) {
  check_stream(stream);
  queue([=, this] { write(host(to, count * width, "fill"), value, width, count); });
}

const sass::emulate::Kernel& EmulatorDevice::loaded(const Kernel& kernel) {
  const std::lock_guard lock(mutex_);
  auto& slot = kernels_[kernel.index];
  if (slot == nullptr) {
    auto result = sass::emulate::load(registry_->arch(), *kernel.image);
    if (!result.ok()) throw Error("kernel " + kernel.name() + ": " + result.error().text());
    slot = std::move(*result);
  }
  return *slot;
}

void EmulatorDevice::start(const Kernel& kernel, const Grid& grid, std::span<const std::byte> params, StreamId stream) {
  check_stream(stream);
  ++kernels_launched;
  sass::emulate::Launch launch;
  launch.grid = {grid.x, grid.y, grid.z};
  launch.block = {kernel.manifest().threads, 1, 1};
  launch.dynamic_shared = kernel.dynamic_shared();
  launch.cluster = grid.cluster;
  queue_launch(kernel.name(), loaded(kernel), launch, params, nullptr);
}

void EmulatorDevice::queue_launch(const std::string& name, const sass::emulate::Kernel& kernel,
                                  sass::emulate::Launch launch, std::span<const std::byte> params,
                                  std::shared_ptr<const LoadedModule> keep) {
  if (recording == nullptr) {
    launch.params = params;
    run(name, kernel, launch);
    return;
  }
  queue([=, this, kernel = &kernel, keep = std::move(keep), own = std::vector(params.begin(), params.end())]() mutable {
    launch.params = own;
    run(name, *kernel, launch);
  });
}

void EmulatorDevice::run(const std::string& name, const sass::emulate::Kernel& kernel, sass::emulate::Launch& launch) {
  launch.mode = info_.checked ? sass::emulate::Mode::kChecked : sass::emulate::Mode::kFast;
  launch.order = order_;
  const auto report = sass::emulate::run(kernel, memory_, launch);
  if (!report.ok()) raise(name, {finding_from(name, report.error())});
  if (report->findings.empty()) return;
  std::vector<Finding> findings;
  for (const sass::emulate::Finding& f : report->findings) findings.push_back(finding_from(f));
  raise(name, std::move(findings));
}

// Kernels are decoded when they are first launched; those of a temporary one at once, so that it needs no image.
class EmulatorDevice::EmulatedModule final : public LoadedModule, public std::enable_shared_from_this<EmulatedModule> {
 public:
  EmulatedModule(const sass::CubinImage& image, sass::emulate::Memory& memory)
      : LoadedModule(image), memory_(memory), image_(image), kernels_(image.kernels.size()) {
    auto module = sass::emulate::Module::load(image, memory);
    if (!module.ok()) throw Error(module.error().text());
    module_ = std::move(*module);
    for (const sass::KernelImage& k : image.kernels) names_.push_back(k.name);
  }
  ~EmulatedModule() override {
    temporary_module_bytes -= bytes_;
    for (const auto& [name, bytes] : lent_) memory_.give_back(bytes.data(), bytes.size());
  }

  void decode_all() {
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < names_.size(); ++i) bytes += bytes_of(kernel(i));
    bytes_ = bytes;
    temporary_module_bytes += bytes_;
  }
  [[nodiscard]] std::size_t bytes() const override { return bytes_; }

  // A constant is no part of device memory: its bank is lent to it, at the address that it has on the host.
  Variable variable(const std::string& name) override {
    const std::span<std::byte> found = module_->variable(name);
    if (found.empty()) return {};
    const std::lock_guard lock(mutex_);
    const std::uint64_t own = memory_.address_of(found.data());
    if (own != 0) return {own, found.size()};
    if (!lent_.contains(name)) {
      if (!memory_.lend(found.data(), found.size())) throw Error("the constant " + name + " has no address");
      lent_.emplace(name, found);
    }
    return {reinterpret_cast<std::uint64_t>(found.data()), found.size()};
  }

  const sass::emulate::Kernel& kernel(std::size_t index) {
    const std::lock_guard lock(mutex_);
    auto& slot = kernels_[index];
    if (slot == nullptr) {
      auto result = module_->kernel(image_.kernels[index]);
      if (!result.ok()) throw Error("kernel " + image_.kernels[index].name + ": " + result.error().text());
      slot = std::move(*result);
    }
    return *slot;
  }
  [[nodiscard]] const std::string& name(std::size_t index) const { return names_[index]; }

 private:
  sass::emulate::Memory& memory_;
  const sass::CubinImage& image_;
  std::map<std::string, std::span<const std::byte>> lent_;  // constants that have an address
  std::vector<std::string> names_;
  std::size_t bytes_ = 0;
  std::mutex mutex_;
  std::unique_ptr<sass::emulate::Module> module_;
  std::vector<std::shared_ptr<const sass::emulate::Kernel>> kernels_;
};

std::shared_ptr<LoadedModule> EmulatorDevice::load(const sass::CubinImage& image,
                                                   std::span<const std::uint8_t> /*bytes*/) {
  return std::make_shared<EmulatedModule>(image, memory_);
}

std::shared_ptr<LoadedModule> EmulatorDevice::load_temporary(const sass::CubinImage& image,
                                                             std::span<const std::uint8_t> /*bytes*/) {
  auto module = std::make_shared<EmulatedModule>(image, memory_);
  module->decode_all();
  return module;
}

void EmulatorDevice::start(LoadedModule& module, const ModuleLaunch& what, StreamId stream) {
  check_stream(stream);
  auto& m = static_cast<EmulatedModule&>(module);
  sass::emulate::Launch launch;
  launch.grid = {what.grid.x, what.grid.y, what.grid.z};
  launch.block = {what.block.x, what.block.y, what.block.z};
  launch.dynamic_shared = what.shared;
  queue_launch(m.name(what.kernel), m.kernel(what.kernel), launch, what.params, m.shared_from_this());
}

EncodedTensorMap EmulatorDevice::encode(const TensorMap& map) {
  const sass::emulate::TensorMap form = emulated(map);
  EncodedTensorMap out;
  static_assert(sizeof form == sizeof out.bytes);
  std::memcpy(out.bytes.data(), &form, sizeof form);
  return out;
}

StreamId EmulatorDevice::create_stream() {
  const std::lock_guard lock(mutex_);
  streams_.insert(next_id_);
  return next_id_++;
}

void EmulatorDevice::destroy_stream(StreamId stream) noexcept {
  const std::lock_guard lock(mutex_);
  streams_.erase(stream);
}

void EmulatorDevice::check_stream(StreamId stream) const {
  if (stream <= kPerThread) return;
  const std::lock_guard lock(mutex_);
  if (streams_.contains(stream)) return;
  throw InvalidArgument("stream is " + std::to_string(stream) + "; needs one of device " +
                        std::to_string(info_.ordinal) + " that was not destroyed, or 0");
}

EventId EmulatorDevice::create_event() {
  const std::lock_guard lock(mutex_);
  events_[next_id_] = {};
  return next_id_++;
}

void EmulatorDevice::destroy_event(EventId event) noexcept {
  const std::lock_guard lock(mutex_);
  events_.erase(event);
}

void EmulatorDevice::do_record(EventId event, StreamId stream) {
  check_stream(stream);
  if (recording != nullptr) return;  // it orders the graph's work, which runs in order here; nobody may wait for it
  const std::lock_guard lock(mutex_);
  const auto it = events_.find(event);
  if (it != events_.end()) it->second = {true, Clock::now()};
}

EmulatorDevice::Mark EmulatorDevice::mark_of(EventId event, const char* what) const {
  const std::lock_guard lock(mutex_);
  const auto it = events_.find(event);
  if (it == events_.end() || !it->second.recorded) {
    throw InvalidArgument(std::string(what) + ": the event was never recorded");
  }
  return it->second;
}

void EmulatorDevice::wait(EventId /*event*/) {}  // everything recorded has passed, as on a GPU also what never was

void EmulatorDevice::do_stream_wait(StreamId stream, EventId event) {
  check_stream(stream);
  wait(event);
}

void EmulatorDevice::do_synchronize(StreamId stream) {
  check_stream(stream);
  not_in_graph("waiting");
}
void EmulatorDevice::do_synchronize() {
  not_in_graph("waiting");
}

double EmulatorDevice::elapsed_ms(EventId start, EventId end) {
  const Mark a = mark_of(start, "start");
  const Mark b = mark_of(end, "end");
  return std::chrono::duration<double, std::milli>(b.at - a.at).count();
}

}  // namespace nervanagpu
