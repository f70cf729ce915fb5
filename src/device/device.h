// What a device can do; the GPU and the emulator implement it. Addresses are device addresses, sizes are bytes.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <vector>

#include "nervanagpu/device.hpp"
#include "nervanagpu/tensor_map.hpp"
#include "src/device/texture.h"
#include "src/module/registry.h"

namespace nervanagpu {

using StreamId = std::uint64_t;  // 0: the default stream; on a GPU the CUstream
using EventId = std::uint64_t;
using GraphId = std::uint64_t;

struct Grid {
  std::uint32_t x = 1, y = 1, z = 1;
  std::uint32_t cluster = 0;  // CTAs of a cluster along x; 0: what the kernel states
  bool early = true;          // a kernel with .launch programmatic may start before the work ahead has ended
  bool apart = false;         // a multiprocessor runs no two CTAs of it at once, though there is room
  bool operator==(const Grid&) const = default;
};

// Of what cannot be part of the graph that this thread records.
[[noreturn]] void refuse_in_graph(const char* what);

// Kernels of the library that this thread has launched.
inline thread_local std::uint64_t kernels_launched = 0;

// How often this thread checked the .needs of a launch, modules' among them, and its launches that were not checked again.
inline thread_local std::uint64_t needs_checked = 0;
inline thread_local std::uint64_t needs_skipped = 0;

// A kernel and its grid, whose .needs hold: Device::check() makes it.
class CheckedLaunch {
 public:
  [[nodiscard]] const Kernel& kernel() const { return *kernel_; }
  [[nodiscard]] const Grid& grid() const { return grid_; }

 private:
  friend class Device;
  CheckedLaunch(const Kernel& kernel, const Grid& grid) : kernel_(&kernel), grid_(grid) {}
  const Kernel* kernel_;
  Grid grid_;
};

// A cubin that is not the library's, on one device.
class LoadedModule {
 public:
  // Throws InvalidArgument if a kernel's .needs cannot be compiled.
  explicit LoadedModule(const sass::CubinImage& image);
  virtual ~LoadedModule() = default;
  LoadedModule(const LoadedModule&) = delete;
  LoadedModule& operator=(const LoadedModule&) = delete;
  [[nodiscard]] virtual std::size_t bytes() const { return 0; }  // of memory, if it is temporary

  struct Variable {
    std::uint64_t address = 0;
    std::size_t bytes = 0;
  };
  // Where copies and kernels find a global or constant variable; address 0: there is none of that name.
  virtual Variable variable(const std::string& name) = 0;

  struct Needs {
    sass::Manifest manifest;
    std::vector<sass::Condition> conditions;
  };
  [[nodiscard]] const Needs& needs(std::size_t kernel) const { return needs_[kernel]; }

 private:
  std::vector<Needs> needs_;  // by index in the image
};
// Of all temporary modules that devices have.
inline std::atomic<std::size_t> temporary_module_bytes{0};

struct ModuleLaunch {
  std::size_t kernel = 0;  // index in the image
  Grid grid, block;
  std::uint32_t shared = 0;  // dynamic, bytes
  std::span<const std::byte> params;
};

// Every call may throw what error.hpp lists; free and the destroy calls never do. Thread-safe.
//
// What gives the device work, or waits for it, is no virtual function: src/launch/gate.cpp does what waits (expressions,
// src/expr/deferred.h) before it, and a device implements the start_ or do_ function after it.
class Device {
 public:
  Device() : serial_(next_serial()) {}
  virtual ~Device() = default;
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  // No other device of this process has or had it, whatever its address.
  [[nodiscard]] std::uint64_t serial() const { return serial_; }
  [[nodiscard]] virtual const DeviceInfo& info() const = 0;
  [[nodiscard]] virtual const Registry& registry() const = 0;

  // bytes > 0; aligned to 256. `stream`: where it is going to be used, if that is known; a graph that is being captured
  // there uses its blocks again.
  virtual std::uint64_t allocate(std::size_t bytes, StreamId stream) = 0;
  std::uint64_t allocate(std::size_t bytes) { return allocate(bytes, 0); }
  // `streams`: where work may still be using the memory, apart from the default stream.
  virtual void free(std::uint64_t address, std::span<const StreamId> streams) noexcept = 0;
  [[nodiscard]] virtual MemoryStats memory_stats() const = 0;
  virtual void set_memory_limit(std::size_t bytes) = 0;  // 0: none
  [[nodiscard]] virtual std::size_t memory_limit() const = 0;
  virtual void release_cached() = 0;
  virtual void release_captured() = 0;  // memory of graphs that are gone

  // Host memory that copies reach without a detour, where the device has such; aligned to 64. nullptr: no room.
  virtual void* allocate_host(std::size_t bytes) { return std::aligned_alloc(64, (bytes + 63) / 64 * 64); }
  virtual void free_host(void* memory) noexcept { std::free(memory); }

  // Host memory of the caller's, where the device can work in it: the address that kernels see it at until unmap_host. 0: it
  // cannot. Memory of the device's own that the host sees has the address that it always has.
  virtual std::uint64_t map_host(void* /*memory*/, std::size_t /*bytes*/) { return 0; }
  virtual void unmap_host(std::uint64_t /*address*/, std::size_t /*bytes*/) noexcept {}
  // The ordinal of the device whose memory an address is, as far as this one knows; -1: it does not.
  [[nodiscard]] virtual int ordinal_of(std::uint64_t address) noexcept = 0;
  // Whether host memory is this device's own.
  [[nodiscard]] virtual bool holds_host(const void* /*memory*/) noexcept { return false; }
  // Where the host sees device memory; nullptr: it does not.
  virtual void* host_view(std::uint64_t /*address*/, std::size_t /*bytes*/) { return nullptr; }

  // While it lives, calls of other CUDA libraries in this thread reach this device. nullptr: there is nothing to do.
  virtual std::shared_ptr<void> driver_context() { return nullptr; }

  // Host copies wait: for the work before them, and until `from` may be changed.
  void upload(std::uint64_t to, const void* from, std::size_t bytes);
  // From memory of allocate_host(), after the work of `stream`; it may return before `from` may be changed.
  void upload(std::uint64_t to, const void* from, std::size_t bytes, StreamId stream);
  void download(void* to, std::uint64_t from, std::size_t bytes);
  void copy(std::uint64_t to, std::uint64_t from, std::size_t bytes, StreamId stream);
  // From memory of another device of this kind to this one's: after the work of both default streams, and before what they
  // are given later.
  void copy_from(Device& source, std::uint64_t to, std::uint64_t from, std::size_t bytes);
  // `count` values of `width` bytes (1, 2 or 4), each the low bits of `value`.
  void fill(std::uint64_t to, std::uint32_t value, unsigned width, std::size_t count, StreamId stream);

  // The CTA size is the manifest's. Throws Error if one of the kernel's .needs does not hold: then the caller has chosen the
  // wrong one. Nothing is queued.
  void launch(const Kernel& kernel, const Grid& grid, std::span<const std::byte> params, StreamId stream);
  // The same check, and a launch that is not checked again: its parameters differ from those that were checked in
  // addresses, which are aligned to as much, and in numbers that are in no condition.
  [[nodiscard]] static CheckedLaunch check(const Kernel& kernel, const Grid& grid, std::span<const std::byte> params);
  void launch(const CheckedLaunch& what, std::span<const std::byte> params, StreamId stream);

  // `image` is what `bytes` say, and must outlive the module. Thread-safe, also the launches of one module.
  virtual std::shared_ptr<LoadedModule> load(const sass::CubinImage& image, std::span<const std::uint8_t> bytes) = 0;
  // One that is unloaded when nobody holds it, no graph has it and the work that used it is done. Without variables;
  // `image` and `bytes` need not outlive it.
  virtual std::shared_ptr<LoadedModule> load_temporary(const sass::CubinImage& image,
                                                       std::span<const std::uint8_t> bytes) = 0;
  virtual void unload_idle() noexcept {}  // those of them that are known to be idle
  // Likewise, InvalidArgument.
  void launch(LoadedModule& module, const ModuleLaunch& launch, StreamId stream);

  // The form that the device's kernels take.
  EncodedTensorMap encode_tensor_map(const TensorMap& map);

  // Images hold what `spec` says; both copies wait, as upload and download. Handles are the kernels'; objects are destroyed
  // before what they read. A device without textures throws Error.
  virtual ImageId create_image(const ImageSpec& spec);
  virtual void destroy_image(ImageId /*image*/) noexcept {}
  virtual void upload_image(ImageId image, const ImageSpec& spec, const void* texels);
  virtual void download_image(void* texels, ImageId image, const ImageSpec& spec);
  virtual std::uint64_t create_texture(const TexelSource& source, const TextureOptions& options);
  virtual std::uint64_t create_surface(ImageId image, const ImageSpec& spec);
  virtual void destroy_texture(std::uint64_t /*handle*/) noexcept {}
  virtual void destroy_surface(std::uint64_t /*handle*/) noexcept {}

  virtual StreamId create_stream() = 0;
  virtual StreamId create_side_stream() { return create_stream(); }  // one that the default stream does not wait for
  virtual void destroy_stream(StreamId stream) noexcept = 0;
  void synchronize(StreamId stream);
  void synchronize();

  virtual EventId create_event() = 0;
  virtual void destroy_event(EventId event) noexcept = 0;
  void record(EventId event, StreamId stream);
  virtual void wait(EventId event) = 0;
  void stream_wait(StreamId stream, EventId event);
  virtual double elapsed_ms(EventId start, EventId end) = 0;

  // Between begin and end this thread's work of `stream` and of the default stream is recorded.
  // Work that this thread queues in the stream now becomes part of a graph.
  [[nodiscard]] virtual bool capturing(StreamId /*stream*/) noexcept { return false; }
  virtual void begin_capture(StreamId stream) = 0;
  GraphId end_capture(StreamId stream);
  virtual void abandon_capture(StreamId stream) noexcept = 0;
  void launch_graph(GraphId graph, StreamId stream);
  virtual void destroy_graph(GraphId graph) noexcept = 0;

 protected:
  // What is not recorded (src/launch/launch_tape.h); launches whose .needs hold.
  virtual void start_copy(std::uint64_t to, std::uint64_t from, std::size_t bytes, StreamId stream) = 0;
  virtual void start_fill(std::uint64_t to, std::uint32_t value, unsigned width, std::size_t count,
                          StreamId stream) = 0;
  virtual EncodedTensorMap encode(const TensorMap& map) = 0;
  virtual void start(const Kernel& kernel, const Grid& grid, std::span<const std::byte> params, StreamId stream) = 0;
  virtual void start(LoadedModule& module, const ModuleLaunch& launch, StreamId stream) = 0;
  virtual void do_upload(std::uint64_t to, const void* from, std::size_t bytes) = 0;
  virtual void do_upload(std::uint64_t to, const void* from, std::size_t bytes, StreamId /*stream*/) {
    do_upload(to, from, bytes);
  }
  virtual void do_download(void* to, std::uint64_t from, std::size_t bytes) = 0;
  virtual void do_copy_from(Device& source, std::uint64_t to, std::uint64_t from, std::size_t bytes) = 0;
  virtual void do_synchronize(StreamId stream) = 0;
  virtual void do_synchronize() = 0;
  virtual void do_record(EventId event, StreamId stream) = 0;
  virtual void do_stream_wait(StreamId stream, EventId event) = 0;
  virtual GraphId do_end_capture(StreamId stream) = 0;
  virtual void do_launch_graph(GraphId graph, StreamId stream) = 0;

 private:
  static std::uint64_t next_serial() {
    static std::atomic<std::uint64_t> last{0};
    return ++last;
  }
  std::uint64_t serial_;
};

}  // namespace nervanagpu
