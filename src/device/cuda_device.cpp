#include "src/device/cuda_device.h"

#include <pthread.h>

#include <array>
#include <atomic>
#include <utility>

#include "nervanagpu/error.hpp"
#include "nervanagpu/overlap.hpp"
#include "src/device/cuda_bound.h"
#include "src/device/status.h"
#include "src/device/tensor_map.h"
#include "src/module/unpack.h"

namespace nervanagpu {
namespace {

std::atomic<bool> overlap{true};

// A forked child has the parent's handles and none of its GPU: the driver would hang or crash.
std::atomic<bool> forked{false};
void watch_forks() {
  static const int once = pthread_atfork(nullptr, nullptr, [] { forked.store(true); });
  static_cast<void>(once);
}

// Where this thread's work of the default stream goes while it records a graph: that stream cannot be recorded.
thread_local StreamId recording = 0;
thread_local const Device* recorded_on = nullptr;
// Temporary modules that it has launched meanwhile.
thread_local std::vector<std::shared_ptr<LoadedModule>> recorded_modules;

// The driver's handles are pointers to it, and numbers to everyone else.
cuda::Stream stream_of(StreamId id) {
  if (id == 0) id = recording;
  return reinterpret_cast<cuda::Stream>(id);  // NOLINT(performance-no-int-to-ptr)
}
cuda::Event event_of(EventId id) {
  return reinterpret_cast<cuda::Event>(id);  // NOLINT(performance-no-int-to-ptr)
}

// The driver would let it pass, outside of the graph: before the work that it is to follow.
void not_in_graph(const char* what) {
  if (recording != 0) refuse_in_graph(what);
}

}  // namespace

void overlap_launches(bool on) noexcept {
  overlap = on;
}

CudaDevice::CudaDevice(const cuda::Driver& driver, cuda::DeviceId id, std::span<const EmbeddedCubin> cubins,
                       sass::Arch arch, bool sync_launches, int ordinal)
    : driver_(driver),
      registry_(registry_of(cubins, arch)),
      sync_launches_(sync_launches),
      id_(id),
      retired_(std::make_shared<RetiredModules>(static_cast<PoolBacking&>(*this),
                                                [this](const RetiredModules::Modules& m) { unload(m); })),
      pool_(static_cast<PoolBacking&>(*this)) {
  watch_forks();
  info_.kind = DeviceKind::cuda;
  info_.ordinal = ordinal;
  info_.arch = std::string(sass::info(arch).name);
  std::array<char, 256> name{};
  check(driver_.device_name(name.data(), static_cast<int>(name.size()) - 1, id), "cuDeviceGetName");
  info_.name = name.data();
  check(driver_.device_attribute(&info_.multiprocessors, cuda::kMultiprocessors, id), "cuDeviceGetAttribute");
  int shared = 0;
  check(driver_.device_attribute(&shared, cuda::kSharedOfMultiprocessor, id), "cuDeviceGetAttribute");
  shared_apart_ = static_cast<std::uint32_t>(shared) / 2 + kSharedUnit;
  check(driver_.device_memory(&info_.memory, id), "cuDeviceTotalMem_v2");
  check(driver_.driver_version(&info_.driver), "cuDriverGetVersion");
  check(driver_.context_retain(&context_, id), "cuDevicePrimaryCtxRetain");
  const Bound bound(*this);
  load_modules();
}

CudaDevice::~CudaDevice() {
  retired_->close();
  if (!lost_.load() && !forked.load()) {
    const Bound bound(*this);
    pool_.release();
  }
}

void CudaDevice::load_modules() {
  int mode = cuda::kCaptureRelaxed;  // a thread that is capturing a graph may load
  check(driver_.capture_mode(&mode), "cuThreadExchangeStreamCaptureMode");
  std::vector<cuda::Module> modules;
  Unpacker unpack;
  for (const EmbeddedCubin& cubin : registry_->cubins()) {
    cuda::Module module = nullptr;
    check(driver_.module_load(&module, unpack(cubin).data()),
          (std::string("cuModuleLoadData of ") + cubin.name).c_str());
    modules.push_back(module);
  }
  for (const Kernel& k : registry_->kernels()) {
    cuda::Function function = nullptr;
    check(driver_.module_function(&function, modules[k.cubin], k.name().c_str()),
          ("cuModuleGetFunction of " + k.name()).c_str());
    if (k.dynamic_shared() > 0) {
      check(driver_.function_set(function, cuda::kMaxDynamicShared, static_cast<int>(k.dynamic_shared())),
            ("cuFuncSetAttribute of " + k.name()).c_str());
    }
    allow_cluster(function, *k.image);
    functions_.push_back(function);
  }
  check(driver_.capture_mode(&mode), "cuThreadExchangeStreamCaptureMode");
}

void CudaDevice::ready() const {
  if (forked.load()) {
    throw Error("the GPU was opened before this process was forked and cannot be used here: fork first, or spawn");
  }
  if (lost_.load()) {
    const std::lock_guard lock(lost_mutex_);
    throw DeviceLost(lost_text_);
  }
}

void CudaDevice::check(cuda::Status status, const char* call) {
  if (status == cuda::kSuccess) return;
  const std::string text = cuda::describe(driver_, call, status);
  if (cuda::ends_context(status)) {
    const std::lock_guard lock(lost_mutex_);
    if (!lost_.load()) {
      lost_text_ = "the device is lost: " + text + "; " + log_.text();
      lost_.store(true);
    }
    throw DeviceLost(lost_text_);
  }
  if (status == cuda::kOutOfMemory) throw OutOfMemory(text);
  throw Error(text);
}

// Calls that CUDA refuses while the thread captures a graph, since most programs do not mean them then; ours does.
class CudaDevice::Relaxed {
 public:
  explicit Relaxed(const cuda::Driver& driver) : driver_(driver) { static_cast<void>(driver_.capture_mode(&mode_)); }
  ~Relaxed() { static_cast<void>(driver_.capture_mode(&mode_)); }
  Relaxed(const Relaxed&) = delete;
  Relaxed& operator=(const Relaxed&) = delete;

 private:
  const cuda::Driver& driver_;
  int mode_ = cuda::kCaptureRelaxed;
};

// An event after what the default stream of a device was given so far.
class CudaDevice::MarkOf {
 public:
  explicit MarkOf(CudaDevice& device) : device_(device), id_(device.create_event()) { device_.do_record(id_, 0); }
  ~MarkOf() { device_.destroy_event(id_); }
  MarkOf(const MarkOf&) = delete;
  MarkOf& operator=(const MarkOf&) = delete;
  [[nodiscard]] EventId id() const { return id_; }

 private:
  CudaDevice& device_;
  EventId id_;
};

std::uint64_t CudaDevice::allocate(std::size_t bytes, StreamId stream) {
  ready();
  const Bound bound(*this);
  const Relaxed relaxed(driver_);
  return pool_.allocate(bytes, stream == 0 ? recording : stream);
}

void CudaDevice::free(std::uint64_t address, std::span<const StreamId> streams) noexcept {
  if (forked.load()) return;
  const Bound bound(*this);
  const Relaxed relaxed(driver_);
  if (streams.empty() && recording != 0 && recorded_on == this) {  // the graph goes on using it
    pool_.free(address, std::span(&recording, 1));
  } else {
    pool_.free(address, streams);
  }
}

void CudaDevice::release_cached() {
  ready();
  const Bound bound(*this);
  pool_.release();
}

void CudaDevice::release_captured() {
  ready();
  const Bound bound(*this);
  pool_.release_captured();
}

void* CudaDevice::allocate_host(std::size_t bytes) {
  ready();
  if (driver_.host_allocate == nullptr || driver_.host_free == nullptr) throw Error("this driver pins no memory");
  const Bound bound(*this);
  const Relaxed relaxed(driver_);
  constexpr unsigned kPortable = 1;  // for every context
  void* out = nullptr;
  const cuda::Status status = driver_.host_allocate(&out, bytes, kPortable);
  if (status == cuda::kOutOfMemory) return nullptr;
  check(status, "cuMemHostAlloc");
  return out;
}

void CudaDevice::free_host(void* memory) noexcept {
  if (forked.load() || lost_.load()) return;
  const Bound bound(*this);
  const Relaxed relaxed(driver_);
  static_cast<void>(driver_.host_free(memory));
}

void CudaDevice::do_upload(std::uint64_t to, const void* from, std::size_t bytes) {
  not_in_graph("copy to the device");
  ready();
  const Bound bound(*this);
  check(driver_.copy_to_device(to, from, bytes), "cuMemcpyHtoD_v2");
}

void CudaDevice::do_upload(std::uint64_t to, const void* from, std::size_t bytes, StreamId stream) {
  if (driver_.copy_later == nullptr) return do_upload(to, from, bytes);
  not_in_graph("copy to the device");
  ready();
  const Bound bound(*this);
  check(driver_.copy_later(to, from, bytes, stream_of(stream)), "cuMemcpyHtoDAsync_v2");
}

void CudaDevice::do_download(void* to, std::uint64_t from, std::size_t bytes) {
  not_in_graph("copy to the host");
  ready();
  const Bound bound(*this);
  check(driver_.copy_to_host(to, from, bytes), "cuMemcpyDtoH_v2");
}

// cuCtxEnablePeerAccess lets copies go from one memory to the other; where it cannot be, the driver goes by the host's.
void CudaDevice::reach(CudaDevice& peer) noexcept {
  const std::lock_guard lock(peers_mutex_);
  if (!peers_.insert(&peer).second || driver_.peer_can == nullptr || driver_.peer_enable == nullptr) return;
  int can = 0;
  if (driver_.peer_can(&can, id_, peer.id_) != cuda::kSuccess || can == 0) return;
  const Bound bound(*this);
  static_cast<void>(driver_.peer_enable(peer.context_, 0));  // it may be enabled already
}

std::shared_ptr<void> CudaDevice::driver_context() {
  ready();
  return std::make_shared<Bound>(*this);
}

void CudaDevice::do_copy_from(Device& source, std::uint64_t to, std::uint64_t from, std::size_t bytes) {
  not_in_graph("copy from another device");
  ready();
  if (driver_.copy_peer == nullptr) throw Error("this driver copies nothing from device to device");
  auto& other = static_cast<CudaDevice&>(source);
  reach(other);
  // After what wrote the source; what reads or overwrites either side later comes after the copy.
  const MarkOf written(other);
  do_stream_wait(0, written.id());
  const Bound bound(*this);
  check(driver_.copy_peer(to, context_, from, other.context_, bytes, nullptr), "cuMemcpyPeerAsync");
  const MarkOf copied(*this);
  other.do_stream_wait(0, copied.id());
}

int CudaDevice::ordinal_of(std::uint64_t address) noexcept {
  int ordinal = -1;
  if (driver_.pointer_attribute == nullptr || !alive()) return -1;
  const Bound bound(*this);
  const bool known = driver_.pointer_attribute(&ordinal, cuda::kPointerOrdinal, address) == cuda::kSuccess;
  return known ? ordinal : -1;
}

void CudaDevice::start_copy(std::uint64_t to, std::uint64_t from, std::size_t bytes, StreamId stream) {
  ready();
  const Bound bound(*this);
  check(driver_.copy_on_device(to, from, bytes, stream_of(stream)), "cuMemcpyDtoDAsync_v2");
}

void CudaDevice::start_fill(std::uint64_t to, std::uint32_t value, unsigned width, std::size_t count, StreamId stream) {
  ready();
  const Bound bound(*this);
  if (width == 1) {
    check(driver_.fill8(to, static_cast<unsigned char>(value), count, stream_of(stream)), "cuMemsetD8Async");
  } else if (width == 2) {
    check(driver_.fill16(to, static_cast<unsigned short>(value), count, stream_of(stream)), "cuMemsetD16Async");
  } else {
    check(driver_.fill32(to, value, count, stream_of(stream)), "cuMemsetD32Async");
  }
}

void CudaDevice::start(const Kernel& kernel, const Grid& grid, std::span<const std::byte> params, StreamId stream) {
  ++kernels_launched;
  ready();
  const Bound bound(*this);
  std::size_t size = params.size();
  std::array<void*, 5> extra = {cuda::kLaunchBuffer, const_cast<std::byte*>(params.data()), cuda::kLaunchBufferSize,
                                &size, cuda::kLaunchEnd};
  log_.add(kernel.name(), grid);
  const unsigned threads = kernel.manifest().threads;
  std::uint32_t shared = kernel.dynamic_shared();
  if (grid.apart) shared = std::max(shared, shared_apart_ - std::min(shared_apart_, kernel.image->shared));
  launch_function(
      functions_[kernel.index], kernel.name(),
      {{grid.x, grid.y, grid.z}, {threads, 1, 1}, shared, grid.cluster, kernel.manifest().programmatic && grid.early},
      extra.data(), stream);
}

void CudaDevice::launch_function(cuda::Function function, const std::string& name, const Launch& what, void** extra,
                                 StreamId stream) {
  const auto& [grid, block, shared, cluster, allowed] = what;
  const bool early = allowed && overlap.load(std::memory_order_relaxed);
  if (cluster <= 1 && !(early && driver_.launch_ex != nullptr)) {
    const cuda::Status status = driver_.launch(function, grid[0], grid[1], grid[2], block[0], block[1], block[2],
                                               shared, stream_of(stream), nullptr, extra);
    if (status != cuda::kSuccess) check(status, ("cuLaunchKernel of " + name).c_str());
  } else {
    if (driver_.launch_ex == nullptr) throw Error("kernel " + name + ": this driver has no cuLaunchKernelEx");
    std::array<cuda::LaunchAttribute, 2> attributes;
    cuda::LaunchConfig config = {grid[0],  grid[1], grid[2],           block[0],          block[1],
                                 block[2], shared,  stream_of(stream), attributes.data(), 0};
    if (cluster > 1) {
      cuda::LaunchAttribute& a = attributes[config.count++];
      a.id = cuda::kClusterDimension;
      a.value[0] = cluster;
      a.value[1] = a.value[2] = 1;
    }
    if (early) {
      cuda::LaunchAttribute& a = attributes[config.count++];
      a.id = cuda::kProgrammaticSerialization;
      a.value[0] = 1;
    }
    const cuda::Status status = driver_.launch_ex(&config, function, nullptr, extra);
    if (status != cuda::kSuccess) check(status, ("cuLaunchKernelEx of " + name).c_str());
  }
  if (sync_launches_ && recording == 0) do_synchronize(stream);
}

// A kernel that states its cluster is launched like any other; the driver only wants to be asked for large ones.
void CudaDevice::allow_cluster(cuda::Function function, const sass::KernelImage& k) {
  const bool read = k.cluster[0] != 0;
  const std::uint32_t ctas = read ? k.cluster[0] * k.cluster[1] * k.cluster[2] : k.manifest.cluster;
  if (ctas <= kPortableCluster) return;
  check(driver_.function_set(function, cuda::kLargeClusters, 1), ("cuFuncSetAttribute of " + k.name).c_str());
}

// The driver's module of one cubin. Those of the user are loaded once and kept: work, captured graphs and addresses of
// variables may be used at any later time. A temporary one is retired with its last owner.
class CudaDevice::DriverModule final : public LoadedModule, public std::enable_shared_from_this<DriverModule> {
 public:
  using LoadedModule::LoadedModule;
  struct Entry {
    std::string name;
    cuda::Function function = nullptr;
    bool early = false;        // .launch programmatic
    std::uint32_t shared = 0;  // dynamic shared memory that the driver was told of
  };
  ~DriverModule() override {
    if (retired != nullptr) retired->retire({handle, size, elsewhere.load()});
  }
  [[nodiscard]] std::size_t bytes() const override { return size; }
  Variable variable(const std::string& name) override {
    Variable out;
    if (driver->module_global == nullptr) {
      throw Error("variables of modules need cuModuleGetGlobal_v2, which this driver does not have");
    }
    constexpr cuda::Status kNotFound = 500;
    const Bound bound(*device);
    const cuda::Status status = driver->module_global(&out.address, &out.bytes, handle, name.c_str());
    if (status == kNotFound) return {};
    device->check(status, ("cuModuleGetGlobal of " + name).c_str());
    return out;
  }

  CudaDevice* device = nullptr;
  const cuda::Driver* driver = nullptr;
  std::mutex mutex;  // of `shared`
  std::vector<Entry> entries;
  cuda::Module handle = nullptr;
  // Of a temporary one:
  std::shared_ptr<RetiredModules> retired;
  std::size_t size = 0;
  std::atomic<bool> elsewhere{false};  // launched in a stream that is not this device's
  std::atomic<bool> pinned{false};     // part of somebody else's graph
};

std::shared_ptr<CudaDevice::DriverModule> CudaDevice::load_into_driver(const sass::CubinImage& image,
                                                                       std::span<const std::uint8_t> bytes) {
  const Bound bound(*this);
  const Relaxed relaxed(driver_);
  auto out = std::make_shared<DriverModule>(image);
  out->device = this;
  out->driver = &driver_;
  const std::string what = "cuModuleLoadData of a cubin for " + std::string(sass::info(image.arch).name) + " on " +
                           info_.name + ", whose kernels are for " + info_.arch;
  check(driver_.module_load(&out->handle, bytes.data()), what.c_str());
  for (const sass::KernelImage& k : image.kernels) {
    cuda::Function function = nullptr;
    check(driver_.module_function(&function, out->handle, k.name.c_str()),
          ("cuModuleGetFunction of " + k.name).c_str());
    allow_cluster(function, k);
    out->entries.push_back({k.name, function, k.manifest.programmatic, 0});
  }
  return out;
}

std::shared_ptr<LoadedModule> CudaDevice::load(const sass::CubinImage& image, std::span<const std::uint8_t> bytes) {
  ready();
  const std::lock_guard lock(modules_mutex_);
  std::vector<std::uint8_t> key(bytes.begin(), bytes.end());
  if (const auto found = modules_.find(key); found != modules_.end()) return found->second;
  const auto out = load_into_driver(image, key);
  modules_.emplace(std::move(key), out);
  return out;
}

std::shared_ptr<LoadedModule> CudaDevice::load_temporary(const sass::CubinImage& image,
                                                         std::span<const std::uint8_t> bytes) {
  ready();
  unload_idle();
  retired_->loaded();
  auto out = load_into_driver(image, bytes);
  out->size = 2 * bytes.size();  // the driver's copy, and the chip's, of which only the code is known
  temporary_module_bytes += out->size;
  out->retired = retired_;
  return out;
}

void CudaDevice::unload_idle() noexcept {
  // An event of the default stream would wait for the streams that are being captured.
  if (!alive() || recording != 0 || captures_.load() != 0) return;
  const Bound bound(*this);
  const Relaxed relaxed(driver_);
  retired_->unload_idle();
}

void CudaDevice::unload(const RetiredModules::Modules& modules) noexcept {
  for (const RetiredModule& m : modules) {
    if (driver_.module_unload != nullptr) static_cast<void>(driver_.module_unload(static_cast<cuda::Module>(m.handle)));
    temporary_module_bytes -= m.bytes;
  }
}

// Before a temporary module is launched: who may use it longer than its owners do.
void CudaDevice::note_use(DriverModule& module, StreamId stream) {
  if (recording != 0) recorded_modules.push_back(module.shared_from_this());
  if (stream == 0 || stream == recording) return;
  if (!retired_->knows(stream)) module.elsewhere.store(true);
  if (!module.pinned.load() && capture(stream) != 0 && !module.pinned.exchange(true)) {
    const std::lock_guard lock(captured_mutex_);
    pinned_.push_back(module.shared_from_this());
  }
}

void CudaDevice::start(LoadedModule& module, const ModuleLaunch& what, StreamId stream) {
  ready();
  const Bound bound(*this);
  auto& m = static_cast<DriverModule&>(module);
  DriverModule::Entry& entry = m.entries[what.kernel];
  if (m.retired != nullptr && (stream != 0 || recording != 0)) note_use(m, stream);
  if (what.shared != 0) {
    const std::lock_guard lock(m.mutex);
    if (what.shared > entry.shared) {
      check(driver_.function_set(entry.function, cuda::kMaxDynamicShared, static_cast<int>(what.shared)),
            ("cuFuncSetAttribute of " + entry.name).c_str());
      entry.shared = what.shared;
    }
  }
  std::size_t size = what.params.size();
  std::array<void*, 5> extra = {cuda::kLaunchBuffer, const_cast<std::byte*>(what.params.data()),
                                cuda::kLaunchBufferSize, &size, cuda::kLaunchEnd};
  log_.add(entry.name, what.grid);
  launch_function(entry.function, entry.name,
                  {{what.grid.x, what.grid.y, what.grid.z},
                   {what.block.x, what.block.y, what.block.z},
                   what.shared,
                   0,
                   entry.early && what.grid.early},
                  extra.data(), stream);
}

EncodedTensorMap CudaDevice::encode(const TensorMap& map) {
  ready();
  static_cast<void>(emulated(map));  // the same checks and errors as there
  EncodedTensorMap out;
  const auto number = [](auto value) { return static_cast<int>(value); };
  void* address = reinterpret_cast<void*>(map.address);  // NOLINT(performance-no-int-to-ptr)
  const char* call = map.im2col ? "cuTensorMapEncodeIm2col" : "cuTensorMapEncodeTiled";
  if (map.im2col ? driver_.encode_im2col == nullptr : driver_.encode_tiled == nullptr) {
    throw Error("the driver has no " + std::string(call) +
                ": it is too old for tensor maps, which came with CUDA 12.0");
  }
  const Bound bound(*this);
  if (map.im2col) {
    check(driver_.encode_im2col(out.bytes.data(), number(map.type), map.rank, address, map.sizes.data(),
                                map.strides.data(), map.im2col->lower.data(), map.im2col->upper.data(),
                                map.im2col->channels, map.im2col->pixels, map.steps.data(), number(map.interleave),
                                number(map.swizzle), number(map.promotion), number(map.fill)),
          call);
  } else {
    check(driver_.encode_tiled(out.bytes.data(), number(map.type), map.rank, address, map.sizes.data(),
                               map.strides.data(), map.box.data(), map.steps.data(), number(map.interleave),
                               number(map.swizzle), number(map.promotion), number(map.fill)),
          call);
  }
  return out;
}

StreamId CudaDevice::create_stream() {
  ready();
  const Bound bound(*this);
  cuda::Stream stream = nullptr;
  check(driver_.stream_create(&stream, 0), "cuStreamCreate");
  retired_->made(reinterpret_cast<StreamId>(stream));
  return reinterpret_cast<StreamId>(stream);
}

StreamId CudaDevice::create_side_stream() {
  ready();
  const Bound bound(*this);
  cuda::Stream stream = nullptr;
  check(driver_.stream_create(&stream, cuda::kNonBlocking), "cuStreamCreate");
  return reinterpret_cast<StreamId>(stream);
}

bool CudaDevice::alive() const noexcept {
  return !lost_.load() && !forked.load();
}

void CudaDevice::destroy_stream(StreamId stream) noexcept {
  if (lost_.load() || forked.load()) return;
  const Bound bound(*this);
  const Relaxed relaxed(driver_);
  retired_->ends(stream);
  static_cast<void>(driver_.stream_destroy(stream_of(stream)));
}

void CudaDevice::do_synchronize(StreamId stream) {
  not_in_graph("waiting");
  ready();
  const Bound bound(*this);
  check(driver_.stream_synchronize(stream_of(stream)), "cuStreamSynchronize");
}

void CudaDevice::do_synchronize() {
  not_in_graph("waiting");
  ready();
  const Bound bound(*this);
  if (captures_.load() != 0) return synchronize_default();
  const RetiredModules::Modules idle = retired_->take();
  try {
    check(driver_.context_synchronize(), "cuCtxSynchronize");
  } catch (...) {
    retired_->put_back(idle);
    throw;
  }
  unload(idle);
  log_.all_done();
}

// The driver does not wait for a context whose streams are being captured. The default stream waits for all of ours.
void CudaDevice::synchronize_default() {
  cuda::Event event = nullptr;
  check(driver_.event_create(&event, 0), "cuEventCreate");
  cuda::Status status = driver_.event_record(event, nullptr);
  const char* call = "cuEventRecord";
  if (status == cuda::kSuccess) {
    status = driver_.event_synchronize(event);
    call = "cuEventSynchronize";
  }
  static_cast<void>(driver_.event_destroy(event));
  check(status, call);
}

EventId CudaDevice::create_event() {
  ready();
  const Bound bound(*this);
  cuda::Event event = nullptr;
  check(driver_.event_create(&event, 0), "cuEventCreate");
  return reinterpret_cast<EventId>(event);
}

void CudaDevice::destroy_event(EventId event) noexcept {
  drop(event);
}

void CudaDevice::do_record(EventId event, StreamId stream) {
  ready();
  const Bound bound(*this);
  check(driver_.event_record(event_of(event), stream_of(stream)), "cuEventRecord");
}

void CudaDevice::wait(EventId event) {
  not_in_graph("waiting");
  ready();
  const Bound bound(*this);
  check(driver_.event_synchronize(event_of(event)), "cuEventSynchronize");
}

void CudaDevice::do_stream_wait(StreamId stream, EventId event) {
  ready();
  const Bound bound(*this);
  check(driver_.stream_wait_event(stream_of(stream), event_of(event), 0), "cuStreamWaitEvent");
}

double CudaDevice::elapsed_ms(EventId start, EventId end) {
  ready();
  const Bound bound(*this);
  check(driver_.event_synchronize(event_of(start)), "cuEventSynchronize");
  check(driver_.event_synchronize(event_of(end)), "cuEventSynchronize");
  float ms = 0.0F;
  check(driver_.event_elapsed(&ms, event_of(start), event_of(end)), "cuEventElapsedTime");
  return ms;
}

std::uint64_t CudaDevice::take(std::size_t bytes) {
  cuda::Address address = 0;
  const cuda::Status status = driver_.memory_allocate(&address, bytes);
  if (status == cuda::kOutOfMemory) return 0;
  check(status, "cuMemAlloc_v2");
  return address;
}

void CudaDevice::give(std::uint64_t address) noexcept {
  if (!lost_.load()) static_cast<void>(driver_.memory_free(address));
}

EventId CudaDevice::mark(StreamId stream) {
  if (lost_.load()) return 0;
  cuda::Event event = nullptr;
  if (driver_.event_create(&event, 0) != cuda::kSuccess) return 0;
  if (driver_.event_record(event, stream_of(stream)) != cuda::kSuccess) {
    static_cast<void>(driver_.event_destroy(event));
    return 0;
  }
  return reinterpret_cast<EventId>(event);
}

std::uint64_t CudaDevice::capture(StreamId stream) noexcept {
  if (stream == 0 || lost_.load()) return 0;  // CUDA's default stream cannot be captured
  int status = 0;
  std::uint64_t id = 0;
  const auto known = driver_.capture_info(stream_of(stream), &status, &id, nullptr, nullptr, nullptr);
  return known == cuda::kSuccess && status != cuda::kNotCapturing ? id : 0;
}

bool CudaDevice::passed(EventId event) noexcept {
  return driver_.event_query(event_of(event)) != cuda::kNotReady;
}

void CudaDevice::drop(EventId event) noexcept {
  if (lost_.load() || forked.load()) return;
  const Bound bound(*this);
  static_cast<void>(driver_.event_destroy(event_of(event)));
}

void CudaDevice::drain() noexcept {
  if (!lost_.load()) static_cast<void>(driver_.context_synchronize());
}

std::size_t CudaDevice::room() noexcept {
  std::size_t free = 0;
  std::size_t total = 0;
  return driver_.memory_info(&free, &total) == cuda::kSuccess ? free : 0;
}

bool CudaDevice::capturing(StreamId stream) noexcept {
  return recording != 0 || capture(stream) != 0;
}

void CudaDevice::begin_capture(StreamId stream) {
  ready();
  if (driver_.capture_begin == nullptr || driver_.capture_end == nullptr || driver_.graph_instantiate == nullptr ||
      driver_.graph_launch == nullptr || driver_.graph_destroy == nullptr || driver_.graph_exec_destroy == nullptr) {
    throw Error("graph: this driver has no graphs");
  }
  if (recording != 0) throw InvalidArgument("graph: this thread records another one");
  // Nothing runs there. While a stream is captured that the default one waits for, the driver refuses all work of the
  // default stream, other threads' too.
  const StreamId in = stream != 0 ? stream : create_side_stream();
  const Bound bound(*this);
  ++captures_;
  if (const cuda::Status s = driver_.capture_begin(stream_of(in), cuda::kCaptureRelaxed); s != cuda::kSuccess) {
    --captures_;
    if (stream == 0) static_cast<void>(driver_.stream_destroy(stream_of(in)));
    check(s, "cuStreamBeginCapture_v2");
  }
  recording = in;
  recorded_on = this;
}

// `stream`: that of begin_capture().
cuda::Status CudaDevice::stop_recording(StreamId stream, cuda::Graph& graph) noexcept {
  const StreamId in = std::exchange(recording, 0);
  const Bound bound(*this);
  const cuda::Status status = driver_.capture_end(stream_of(in), &graph);
  --captures_;
  if (stream == 0 && alive()) static_cast<void>(driver_.stream_destroy(stream_of(in)));
  return status;
}

GraphId CudaDevice::do_end_capture(StreamId stream) {
  const auto modules = std::exchange(recorded_modules, {});
  cuda::Graph graph = nullptr;
  cuda::Status status = stop_recording(stream, graph);
  ready();
  check(status, "cuStreamEndCapture");
  const Bound bound(*this);
  cuda::GraphExec exec = nullptr;
  status = driver_.graph_instantiate(&exec, graph, 0);
  static_cast<void>(driver_.graph_destroy(graph));
  check(status, "cuGraphInstantiateWithFlags");
  const auto id = reinterpret_cast<GraphId>(exec);
  const std::lock_guard lock(captured_mutex_);
  for (const auto& m : modules) captured_[id].push_back(std::static_pointer_cast<DriverModule>(m));
  return id;
}

void CudaDevice::abandon_capture(StreamId stream) noexcept {
  recorded_modules.clear();
  cuda::Graph graph = nullptr;
  if (stop_recording(stream, graph) != cuda::kSuccess || graph == nullptr) return;
  const Bound bound(*this);
  static_cast<void>(driver_.graph_destroy(graph));
}

void CudaDevice::do_launch_graph(GraphId graph, StreamId stream) {
  ready();
  const Bound bound(*this);
  if (stream != 0 && !retired_->knows(stream)) {
    const std::lock_guard lock(captured_mutex_);
    if (const auto held = captured_.find(graph); held != captured_.end()) {
      for (const auto& m : held->second) m->elsewhere.store(true);
    }
  }
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  check(driver_.graph_launch(reinterpret_cast<cuda::GraphExec>(graph), stream_of(stream)), "cuGraphLaunch");
}

void CudaDevice::destroy_graph(GraphId graph) noexcept {
  if (lost_.load() || forked.load()) return;
  const Bound bound(*this);
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  static_cast<void>(driver_.graph_exec_destroy(reinterpret_cast<cuda::GraphExec>(graph)));
  const std::lock_guard lock(captured_mutex_);
  captured_.erase(graph);
}

}  // namespace nervanagpu
