// The emulator as a device: the same cubins, run on the host when they are launched.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "sass/emulate/emulate.h"
#include "src/device/device.h"

namespace nervanagpu {

class EmulatorDevice final : public Device {
 public:
  EmulatorDevice(std::span<const EmbeddedCubin> cubins, sass::Arch arch, bool checked, std::size_t memory_bytes,
                 int ordinal = 0);
  // A seed of the order in which warps run from now on; 0: ascending.
  void set_order(std::uint32_t seed) { order_ = seed; }

  [[nodiscard]] const DeviceInfo& info() const override { return info_; }
  [[nodiscard]] const Registry& registry() const override { return *registry_; }
  using Device::allocate;
  std::uint64_t allocate(std::size_t bytes, StreamId stream) override;  // not cached: bounds are exact
  void free(std::uint64_t address, std::span<const StreamId> streams) noexcept override;
  [[nodiscard]] MemoryStats memory_stats() const override;
  void set_memory_limit(std::size_t bytes) override { limit_ = bytes; }
  [[nodiscard]] std::size_t memory_limit() const override { return limit_; }
  void release_cached() override {}
  void release_captured() override {}
  std::uint64_t map_host(void* memory, std::size_t bytes) override;
  void unmap_host(std::uint64_t address, std::size_t bytes) noexcept override;
  void* host_view(std::uint64_t address, std::size_t bytes) override { return memory_.host(address, bytes); }
  [[nodiscard]] int ordinal_of(std::uint64_t address) noexcept override {
    return memory_.holds(address) ? info_.ordinal : -1;
  }
  [[nodiscard]] bool holds_host(const void* memory) noexcept override { return memory_.address_of(memory) != 0; }
  std::shared_ptr<LoadedModule> load(const sass::CubinImage& image, std::span<const std::uint8_t> bytes) override;
  std::shared_ptr<LoadedModule> load_temporary(const sass::CubinImage& image,
                                               std::span<const std::uint8_t> bytes) override;
  ImageId create_image(const ImageSpec& spec) override;
  void destroy_image(ImageId image) noexcept override;
  void upload_image(ImageId image, const ImageSpec& spec, const void* texels) override;
  void download_image(void* texels, ImageId image, const ImageSpec& spec) override;
  std::uint64_t create_texture(const TexelSource& source, const TextureOptions& options) override;
  std::uint64_t create_surface(ImageId image, const ImageSpec& spec) override;
  void destroy_texture(std::uint64_t handle) noexcept override;
  void destroy_surface(std::uint64_t handle) noexcept override;
  StreamId create_stream() override;
  void destroy_stream(StreamId stream) noexcept override;
  EventId create_event() override;
  void destroy_event(EventId event) noexcept override;
  void wait(EventId event) override;
  double elapsed_ms(EventId start, EventId end) override;
  [[nodiscard]] bool capturing(StreamId /*stream*/) noexcept override;
  void begin_capture(StreamId stream) override;
  void abandon_capture(StreamId stream) noexcept override;
  void destroy_graph(GraphId graph) noexcept override;
  // For tools that run kernels which are not in the registry.
  [[nodiscard]] sass::emulate::Memory& memory() { return memory_; }

 private:
  void start_copy(std::uint64_t to, std::uint64_t from, std::size_t bytes, StreamId stream) override;
  void start_fill(std::uint64_t to, std::uint32_t value, unsigned width, std::size_t count, StreamId stream) override;
  EncodedTensorMap encode(const TensorMap& map) override;
  void start(const Kernel& kernel, const Grid& grid, std::span<const std::byte> params, StreamId stream) override;
  void start(LoadedModule& module, const ModuleLaunch& launch, StreamId stream) override;
  void do_copy_from(Device& source, std::uint64_t to, std::uint64_t from, std::size_t bytes) override;
  void do_upload(std::uint64_t to, const void* from, std::size_t bytes) override;
  void do_download(void* to, std::uint64_t from, std::size_t bytes) override;
  void do_synchronize(StreamId stream) override;
  void do_synchronize() override;
  void do_record(EventId event, StreamId stream) override;
  void do_stream_wait(StreamId stream, EventId event) override;
  GraphId do_end_capture(StreamId stream) override;
  void do_launch_graph(GraphId graph, StreamId stream) override;
  using Clock = std::chrono::steady_clock;
  struct Mark {
    bool recorded = false;
    Clock::time_point at;
  };

  class EmulatedModule;
  // Recorded work in its order, and the memory that was freed meanwhile, which the work goes on using.
  struct Recorded {
    const EmulatorDevice* device;
    std::vector<std::function<void()>> work;
    std::vector<std::uint64_t> memory;
  };

  // Does `work` now, or records it if this thread records a graph.
  static void queue(std::function<void()> work);
  // Throws if this thread records a graph, as a driver does.
  static void not_in_graph(const char* what);
  void discard(const Recorded& recorded) noexcept;
  // On a GPU a stream that is not there ends the process: here it is refused, so that programs are told.
  void check_stream(StreamId stream) const;
  // `keep`: what the kernel belongs to, if that may go.
  void queue_launch(const std::string& name, const sass::emulate::Kernel& kernel, sass::emulate::Launch launch,
                    std::span<const std::byte> params, std::shared_ptr<const LoadedModule> keep);
  void run(const std::string& name, const sass::emulate::Kernel& kernel, sass::emulate::Launch& launch);
  std::byte* host(std::uint64_t address, std::size_t bytes, const char* what);
  const sass::emulate::Kernel& loaded(const Kernel& kernel);
  Mark mark_of(EventId event, const char* what) const;

  std::shared_ptr<const Registry> registry_;
  DeviceInfo info_;
  sass::emulate::Memory memory_;
  std::uint32_t order_ = 0;
  mutable std::mutex mutex_;                                           // of what follows
  std::vector<std::shared_ptr<const sass::emulate::Kernel>> kernels_;  // by Kernel::index, loaded when first used
  std::unordered_set<StreamId> streams_;
  std::unordered_map<EventId, Mark> events_;
  std::unordered_map<GraphId, std::shared_ptr<const Recorded>> graphs_;
  std::uint64_t next_id_;  // of streams, events and graphs; no other device has it
  MemoryStats stats_;
  std::atomic<std::size_t> limit_ = 0;
  static thread_local std::unique_ptr<Recorded> recording;
};

}  // namespace nervanagpu
