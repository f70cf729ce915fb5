// A device that remembers what it launched: the kernel, its parameters, and all memory before and after. So a launch can
// be done again with another kernel in its place.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "test/forwarding_device.h"

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
class Recorder final : public ForwardingDevice {
 public:
  using ForwardingDevice::ForwardingDevice;
  ~Recorder() override;

  [[nodiscard]] const std::vector<Launch>& launches() const { return launches_; }
  void forget() { launches_.clear(); }

  using Device::allocate;
  std::uint64_t allocate(std::size_t bytes, StreamId stream) override;
  void free(std::uint64_t, std::span<const StreamId>) noexcept override {}
  void release_cached() override {}
  void release_captured() override {}
  using ForwardingDevice::launch;
  void launch(const Kernel& kernel, const Grid& grid, std::span<const std::byte> params, StreamId stream) override;

 private:
  [[nodiscard]] std::vector<Buffer> snapshot();

  std::vector<std::pair<std::uint64_t, std::size_t>> live_;
  std::vector<Launch> launches_;
};

}  // namespace nervanagpu::test
