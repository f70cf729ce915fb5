// The GPU, through the driver's primary context.
#pragma once

#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "src/device/device.h"
#include "src/device/driver.h"
#include "src/device/launch_log.h"
#include "src/device/pool.h"
#include "src/device/retired_modules.h"

namespace nervanagpu {

class CudaDevice final : public Device, private PoolBacking {
 public:
  // Retains the primary context of device `id` and loads every cubin of `arch`, so that a driver which refuses one is
  // known now. Throws Error with the driver's reason.
  CudaDevice(const cuda::Driver& driver, cuda::DeviceId id, std::span<const EmbeddedCubin> cubins, sass::Arch arch,
             bool sync_launches, int ordinal = 0);
  ~CudaDevice() override;

  [[nodiscard]] const DeviceInfo& info() const override { return info_; }
  [[nodiscard]] const Registry& registry() const override { return *registry_; }
  using Device::allocate;
  std::uint64_t allocate(std::size_t bytes, StreamId stream) override;
  void free(std::uint64_t address, std::span<const StreamId> streams) noexcept override;
  [[nodiscard]] MemoryStats memory_stats() const override { return pool_.stats(); }
  void set_memory_limit(std::size_t bytes) override { pool_.set_limit(bytes); }
  [[nodiscard]] std::size_t memory_limit() const override { return pool_.limit(); }
  void release_cached() override;
  void release_captured() override;
  void* allocate_host(std::size_t bytes) override;
  void free_host(void* memory) noexcept override;
  [[nodiscard]] int ordinal_of(std::uint64_t address) noexcept override;
  std::shared_ptr<void> driver_context() override;
  std::shared_ptr<LoadedModule> load(const sass::CubinImage& image, std::span<const std::uint8_t> bytes) override;
  std::shared_ptr<LoadedModule> load_temporary(const sass::CubinImage& image,
                                               std::span<const std::uint8_t> bytes) override;
  void unload_idle() noexcept override;
  ImageId create_image(const ImageSpec& spec) override;
  void destroy_image(ImageId image) noexcept override;
  void upload_image(ImageId image, const ImageSpec& spec, const void* texels) override;
  void download_image(void* texels, ImageId image, const ImageSpec& spec) override;
  std::uint64_t create_texture(const TexelSource& source, const TextureOptions& options) override;
  std::uint64_t create_surface(ImageId image, const ImageSpec& spec) override;
  void destroy_texture(std::uint64_t handle) noexcept override;
  void destroy_surface(std::uint64_t handle) noexcept override;
  StreamId create_stream() override;
  StreamId create_side_stream() override;
  void destroy_stream(StreamId stream) noexcept override;
  EventId create_event() override;
  void destroy_event(EventId event) noexcept override;
  void wait(EventId event) override;
  double elapsed_ms(EventId start, EventId end) override;
  [[nodiscard]] bool capturing(StreamId stream) noexcept override;
  void begin_capture(StreamId stream) override;
  void abandon_capture(StreamId stream) noexcept override;
  void destroy_graph(GraphId graph) noexcept override;

 private:
  void start_copy(std::uint64_t to, std::uint64_t from, std::size_t bytes, StreamId stream) override;
  void start_fill(std::uint64_t to, std::uint32_t value, unsigned width, std::size_t count, StreamId stream) override;
  EncodedTensorMap encode(const TensorMap& map) override;
  void start(const Kernel& kernel, const Grid& grid, std::span<const std::byte> params, StreamId stream) override;
  void start(LoadedModule& module, const ModuleLaunch& launch, StreamId stream) override;
  void do_copy_from(Device& source, std::uint64_t to, std::uint64_t from, std::size_t bytes) override;
  void do_upload(std::uint64_t to, const void* from, std::size_t bytes) override;
  void do_upload(std::uint64_t to, const void* from, std::size_t bytes, StreamId stream) override;
  void do_download(void* to, std::uint64_t from, std::size_t bytes) override;
  void do_synchronize(StreamId stream) override;
  void do_synchronize() override;
  void do_record(EventId event, StreamId stream) override;
  void do_stream_wait(StreamId stream, EventId event) override;
  GraphId do_end_capture(StreamId stream) override;
  void do_launch_graph(GraphId graph, StreamId stream) override;
  static constexpr std::uint32_t kPortableCluster = 8;  // CTAs; more have to be allowed
  void allow_cluster(cuda::Function function, const sass::KernelImage& k);
  static constexpr std::uint32_t kSharedUnit = 1024;  // bytes that shared memory is given out in
  std::uint32_t shared_apart_ = 0;                    // more than half of a multiprocessor's: Grid::apart
  struct Launch {
    std::array<unsigned, 3> grid, block;
    unsigned shared = 0;   // dynamic, bytes
    unsigned cluster = 0;  // CTAs along x; 0: what the kernel states
    bool early = false;    // may start before the work ahead has ended
  };
  void launch_function(cuda::Function function, const std::string& name, const Launch& what, void** extra,
                       StreamId stream);
  class Bound;
  class DriverModule;
  std::shared_ptr<DriverModule> load_into_driver(const sass::CubinImage& image, std::span<const std::uint8_t> bytes);
  void note_use(DriverModule& module, StreamId stream);
  void unload(const RetiredModules::Modules& modules) noexcept;
  class Relaxed;
  class MarkOf;

  std::uint64_t take(std::size_t bytes) override;
  void give(std::uint64_t address) noexcept override;
  EventId mark(StreamId stream) override;
  std::uint64_t capture(StreamId stream) noexcept override;
  bool passed(EventId event) noexcept override;
  void drop(EventId event) noexcept override;
  void drain() noexcept override;
  std::size_t room() noexcept override;

  void synchronize_default();
  cuda::Status stop_recording(StreamId stream, cuda::Graph& graph) noexcept;
  void load_modules();
  void reach(CudaDevice& peer) noexcept;      // its memory, without the host's, if the machine can
  void ready() const;                         // throws DeviceLost if a call ended the context, Error in a forked child
  [[nodiscard]] bool alive() const noexcept;  // neither has happened
  void check(cuda::Status status, const char* call);

  const cuda::Driver& driver_;
  std::shared_ptr<const Registry> registry_;
  DeviceInfo info_;
  bool sync_launches_;
  cuda::DeviceId id_;
  cuda::Context context_ = nullptr;
  std::mutex peers_mutex_;
  std::set<const CudaDevice*> peers_;      // that were tried
  std::vector<cuda::Function> functions_;  // by Kernel::index
  std::mutex modules_mutex_;
  std::map<std::vector<std::uint8_t>, std::shared_ptr<DriverModule>> modules_;  // by their bytes; never unloaded
  std::shared_ptr<RetiredModules> retired_;                                     // temporary modules have it, too
  // Temporary modules that graphs hold; and those that graphs of others do, of whose end nobody tells.
  std::mutex captured_mutex_;
  std::map<GraphId, std::vector<std::shared_ptr<DriverModule>>> captured_;
  std::vector<std::shared_ptr<DriverModule>> pinned_;
  std::atomic<int> captures_{0};  // that run now
  LaunchLog log_;
  std::atomic<bool> lost_{false};
  mutable std::mutex lost_mutex_;
  std::string lost_text_;  // the first failure
  Pool pool_;
};

}  // namespace nervanagpu
