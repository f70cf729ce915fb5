// A device that hands everything on to another one: what a test changes or watches is overridden.
#pragma once

#include <memory>

#include "src/device/device.h"

namespace nervanagpu::test {

class ForwardingDevice : public Device {
 public:
  explicit ForwardingDevice(Device& inner) : inner_(inner) {}

  [[nodiscard]] const DeviceInfo& info() const override { return inner_.info(); }
  [[nodiscard]] const Registry& registry() const override { return inner_.registry(); }
  using Device::allocate;
  std::uint64_t allocate(std::size_t bytes, StreamId stream) override { return inner_.allocate(bytes, stream); }
  void free(std::uint64_t address, std::span<const StreamId> streams) noexcept override {
    inner_.free(address, streams);
  }
  [[nodiscard]] MemoryStats memory_stats() const override { return inner_.memory_stats(); }
  void set_memory_limit(std::size_t bytes) override { inner_.set_memory_limit(bytes); }
  [[nodiscard]] std::size_t memory_limit() const override { return inner_.memory_limit(); }
  void release_cached() override { inner_.release_cached(); }
  void release_captured() override { inner_.release_captured(); }
  void* allocate_host(std::size_t bytes) override { return inner_.allocate_host(bytes); }
  void free_host(void* memory) noexcept override { inner_.free_host(memory); }
  int ordinal_of(std::uint64_t address) noexcept override { return inner_.ordinal_of(address); }
  void do_copy_from(Device& source, std::uint64_t to, std::uint64_t from, std::size_t bytes) override {
    inner_.copy_from(source, to, from, bytes);
  }
  void do_upload(std::uint64_t to, const void* from, std::size_t bytes) override { inner_.upload(to, from, bytes); }
  void do_download(void* to, std::uint64_t from, std::size_t bytes) override { inner_.download(to, from, bytes); }
  std::shared_ptr<LoadedModule> load(const sass::CubinImage& image, std::span<const std::uint8_t> bytes) override {
    return inner_.load(image, bytes);
  }
  std::shared_ptr<LoadedModule> load_temporary(const sass::CubinImage& image,
                                               std::span<const std::uint8_t> bytes) override {
    return inner_.load_temporary(image, bytes);
  }
  void unload_idle() noexcept override { inner_.unload_idle(); }
  StreamId create_stream() override { return inner_.create_stream(); }
  void destroy_stream(StreamId s) noexcept override { inner_.destroy_stream(s); }
  void do_synchronize(StreamId s) override { inner_.synchronize(s); }
  void do_synchronize() override { inner_.synchronize(); }
  EventId create_event() override { return inner_.create_event(); }
  void destroy_event(EventId e) noexcept override { inner_.destroy_event(e); }
  void do_record(EventId e, StreamId s) override { inner_.record(e, s); }
  void wait(EventId e) override { inner_.wait(e); }
  void do_stream_wait(StreamId s, EventId e) override { inner_.stream_wait(s, e); }
  double elapsed_ms(EventId a, EventId b) override { return inner_.elapsed_ms(a, b); }
  bool capturing(StreamId s) noexcept override { return inner_.capturing(s); }
  void begin_capture(StreamId s) override { inner_.begin_capture(s); }
  GraphId do_end_capture(StreamId s) override { return inner_.end_capture(s); }
  void abandon_capture(StreamId s) noexcept override { inner_.abandon_capture(s); }
  void do_launch_graph(GraphId g, StreamId s) override { inner_.launch_graph(g, s); }
  void destroy_graph(GraphId g) noexcept override { inner_.destroy_graph(g); }

 protected:
  void start_copy(std::uint64_t to, std::uint64_t from, std::size_t n, StreamId s) override {
    inner_.copy(to, from, n, s);
  }
  void start_fill(std::uint64_t to, std::uint32_t value, unsigned width, std::size_t count, StreamId s) override {
    inner_.fill(to, value, width, count, s);
  }
  EncodedTensorMap encode(const TensorMap& map) override { return inner_.encode_tensor_map(map); }
  void start(const Kernel& kernel, const Grid& grid, std::span<const std::byte> params, StreamId stream) override {
    inner_.launch(kernel, grid, params, stream);
  }
  void start(LoadedModule& module, const ModuleLaunch& launch, StreamId stream) override {
    inner_.launch(module, launch, stream);
  }
  Device& inner() { return inner_; }

 private:
  Device& inner_;
};

}  // namespace nervanagpu::test
