// The memory behind tensors: freed with the last of them.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "src/device.h"

namespace nervanagpu {

class Storage {
 public:
  Storage(Device& device, std::size_t bytes) : device_(device), address_(device.allocate(bytes)) {}
  ~Storage() { device_.free(address_, streams_); }
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;

  [[nodiscard]] std::uint64_t address() const { return address_; }
  void used_on(StreamId stream) {
    if (stream == 0) return;
    const std::lock_guard lock(mutex_);
    for (const StreamId s : streams_) {
      if (s == stream) return;
    }
    streams_.push_back(stream);
  }

 private:
  Device& device_;
  std::uint64_t address_;
  std::mutex mutex_;
  std::vector<StreamId> streams_;
};

}  // namespace nervanagpu
