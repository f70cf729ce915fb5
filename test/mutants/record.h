// A device that remembers what it launched: the kernel, its parameters, and all memory before and after. So a launch can
// be done again with another kernel in its place.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "test/forwarding_device.h"

namespace nervanagpu::test {

struct Buffer {
  std::uint64_t address = 0;
  std::vector<std::byte> bytes;
};

struct Launch {
  sass::KernelImage image;
  std::uint32_t threads = 0, dynamic_shared = 0;  // of a CTA
  Grid grid;
  std::vector<std::byte> params;
  std::vector<Buffer> before, after;
};

// Frees nothing while it lives. Kernels whose CTAs take tiles in turn get at most two of them, so that each has several.
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
  std::shared_ptr<LoadedModule> load_temporary(const sass::CubinImage& image,
                                               std::span<const std::uint8_t> bytes) override;

 private:
  void start(const Kernel& kernel, const Grid& grid, std::span<const std::byte> params, StreamId stream) override;
  void start(LoadedModule& module, const ModuleLaunch& launch, StreamId stream) override;
  [[nodiscard]] std::vector<Buffer> snapshot();
  template <class Do>
  void record(Launch launch, const Do& run);

  std::vector<std::pair<std::uint64_t, std::size_t>> live_;
  std::vector<Launch> launches_;
  std::map<const LoadedModule*, sass::CubinImage> modules_;  // kernels that the library generates
};

}  // namespace nervanagpu::test
