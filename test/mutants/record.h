// A device that remembers what it launched: the kernel, its parameters, and all memory before and after. So a launch can
// be done again with another kernel in its place.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "src/device.h"

namespace nervanagpu::test {

struct Buffer {
  std::uint64_t address = 0;
  std::vector<std::byte> bytes;
};

struct Launch {
  const Kernel* kernel = nullptr;
  Grid grid;
  std::vector<std::byte> params;
  std::vector<Buffer> before, after;
};

// Frees nothing while it lives.
class Recorder final : public Device {
 public:
  explicit Recorder(Device& inner) : inner_(inner) {}
  ~Recorder() override;

  [[nodiscard]] const std::vector<Launch>& launches() const { return launches_; }
  void forget() { launches_.clear(); }

  [[nodiscard]] const DeviceInfo& info() const override { return inner_.info(); }
  [[nodiscard]] const Registry& registry() const override { return inner_.registry(); }
  using Device::allocate;
  std::uint64_t allocate(std::size_t bytes, StreamId stream) override;
  void free(std::uint64_t, std::span<const StreamId>) noexcept override {}
  [[nodiscard]] MemoryStats memory_stats() const override { return inner_.memory_stats(); }
  void release_cached() override {}
  void release_captured() override {}
  void upload(std::uint64_t to, const void* from, std::size_t bytes) override { inner_.upload(to, from, bytes); }
  void download(void* to, std::uint64_t from, std::size_t bytes) override { inner_.download(to, from, bytes); }
  void copy(std::uint64_t to, std::uint64_t from, std::size_t n, StreamId s) override { inner_.copy(to, from, n, s); }
  void fill(std::uint64_t to, std::uint32_t value, unsigned width, std::size_t count, StreamId s) override {
    inner_.fill(to, value, width, count, s);
  }
  void launch(const Kernel& kernel, const Grid& grid, std::span<const std::byte> params, StreamId stream) override;
  std::shared_ptr<LoadedModule> load(const sass::CubinImage& image, std::span<const std::uint8_t> bytes) override {
    return inner_.load(image, bytes);
  }
  EncodedTensorMap encode_tensor_map(const TensorMap& map) override { return inner_.encode_tensor_map(map); }
  void launch(LoadedModule& module, const ModuleLaunch& launch, StreamId stream) override {
    inner_.launch(module, launch, stream);
  }
  StreamId create_stream() override { return inner_.create_stream(); }
  void destroy_stream(StreamId s) noexcept override { inner_.destroy_stream(s); }
  void synchronize(StreamId s) override { inner_.synchronize(s); }
  void synchronize() override { inner_.synchronize(); }
  EventId create_event() override { return inner_.create_event(); }
  void destroy_event(EventId e) noexcept override { inner_.destroy_event(e); }
  void record(EventId e, StreamId s) override { inner_.record(e, s); }
  void wait(EventId e) override { inner_.wait(e); }
  void stream_wait(StreamId s, EventId e) override { inner_.stream_wait(s, e); }
  double elapsed_ms(EventId a, EventId b) override { return inner_.elapsed_ms(a, b); }

 private:
  [[nodiscard]] std::vector<Buffer> snapshot();

  Device& inner_;
  std::vector<std::pair<std::uint64_t, std::size_t>> live_;
  std::vector<Launch> launches_;
};

}  // namespace nervanagpu::test
