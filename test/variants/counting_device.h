// A device that counts launches by kernel. Of kernels whose CTAs take tiles in turn it counts how many launches gave a CTA a
// second and a third tile, and can launch fewer CTAs than the GPU has multiprocessors, so that small problems have them.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "test/forwarding_device.h"

namespace nervanagpu::variants {

struct Count {
  std::int64_t launches = 0;
  std::int64_t second_tile = 0, third_tile = 0;  // launches in which a CTA has so many, or more
  std::int64_t clusters = 0;                     // launches in clusters of several CTAs
};

// The grid is as large as the GPU, not as the problem: a CTA takes tiles until all are done.
bool takes_tiles_in_turn(const Kernel& kernel);

class CountingDevice final : public test::ForwardingDevice {
 public:
  using ForwardingDevice::ForwardingDevice;

  // By name: every kernel of the registry, also those that were never launched.
  [[nodiscard]] std::map<std::string, Count> counts() const;

  // Of this thread: the kernels launched since, and the most CTAs of a kernel that takes tiles in turn; 0: as it is asked for.
  static void watch(std::uint32_t most_ctas);
  [[nodiscard]] static const std::vector<const Kernel*>& launched();

 private:
  using ForwardingDevice::start;
  void start(const Kernel& kernel, const Grid& grid, std::span<const std::byte> params, StreamId stream) override;
  mutable std::mutex mutex_;
  std::map<std::string, Count> counts_;
};

}  // namespace nervanagpu::variants
