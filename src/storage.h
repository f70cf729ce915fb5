// The memory behind tensors: freed with the last of them.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "nervanagpu/stream.hpp"
#include "src/device.h"
#include "src/memory_record.h"

namespace nervanagpu {

class Storage {
 public:
  Storage(Device& device, std::size_t bytes, StreamId stream = 0)
      : device_(device), address_(device.allocate(bytes, stream)), bytes_(bytes) {
    if (memory_recorded.load(std::memory_order_relaxed)) note_taken(address_, bytes);
  }
  ~Storage() {
    if (memory_recorded.load(std::memory_order_relaxed)) note_given(address_);
    std::vector<StreamId> ids;
    for (const Stream& s : streams_) ids.push_back(s.handle());
    device_.free(address_, ids);
  }
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;

  [[nodiscard]] std::uint64_t address() const { return address_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  // Keeps the stream alive: when this memory is freed, the allocator asks the stream how far it is.
  void used_on(const Stream& stream) {
    if (stream.handle() == 0) return;
    const std::lock_guard lock(mutex_);
    for (const Stream& s : streams_) {
      if (s.handle() == stream.handle()) return;
    }
    streams_.push_back(stream);
  }
  // No stream but the default one has used it.
  [[nodiscard]] bool idle() {
    const std::lock_guard lock(mutex_);
    return streams_.empty();
  }

 private:
  Device& device_;
  std::uint64_t address_;
  std::size_t bytes_;
  std::mutex mutex_;
  std::vector<Stream> streams_;
};

}  // namespace nervanagpu
