// The memory after tensors: freed with the last of them, or given back to whom it belongs.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <utility>
#include <vector>

#include "nervanagpu/stream.hpp"
#include "src/device/device.h"
#include "src/memory/memory_record.h"

namespace nervanagpu {

class Storage {
 public:
  Storage(Device& device, std::size_t bytes, StreamId stream = 0)
      : device_(device), address_(device.allocate(bytes, stream)), bytes_(bytes) {
    if (memory_recorded.load(std::memory_order_relaxed)) note_taken(address_, bytes, device.info().ordinal);
  }
  // Memory of somebody else's. `give_back` is called in place of freeing it.
  Storage(Device& device, std::uint64_t address, std::size_t bytes, std::function<void()> give_back, bool read_only)
      : device_(device),
        address_(address),
        bytes_(bytes),
        give_back_(std::move(give_back)),
        read_only_(read_only),
        exposed_(true) {}
  ~Storage() {
    if (give_back_) {
      settle();
      return;
    }
    if (memory_recorded.load(std::memory_order_relaxed)) note_given(address_);
    std::vector<StreamId> ids;
    for (const Stream& s : streams_) ids.push_back(s.handle());
    device_.free(address_, ids);
  }
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;

  [[nodiscard]] Device& device() const { return device_; }
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
  [[nodiscard]] bool foreign() const { return give_back_ != nullptr; }
  [[nodiscard]] bool read_only() const { return read_only_; }
  // Others look at this memory, too.
  [[nodiscard]] bool exposed() const { return exposed_.load(std::memory_order_relaxed); }
  void expose() { exposed_.store(true, std::memory_order_relaxed); }
  // No stream but the default one has used it.
  [[nodiscard]] bool idle() {
    const std::lock_guard lock(mutex_);
    return streams_.empty();
  }

 private:
  // Its owner knows nothing of our streams: their work is waited for.
  void settle() noexcept {
    for (const Stream& s : streams_) {
      try {
        device_.synchronize(s.handle());
      } catch (...) {  // NOLINT(bugprone-empty-catch): who waits for the stream next is told
      }
    }
    give_back_();
  }

  Device& device_;
  std::uint64_t address_;
  std::size_t bytes_;
  std::function<void()> give_back_;
  bool read_only_ = false;
  std::atomic<bool> exposed_{false};
  std::mutex mutex_;
  std::vector<Stream> streams_;
};

}  // namespace nervanagpu
