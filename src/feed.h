// Batches on their way to a device: copied from page-locked memory while the device computes with the one before.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "nervanagpu/stream.hpp"
#include "nervanagpu/tensor.hpp"

namespace nervanagpu {

class Device;

// Of one thread at a time. In order, for each batch: fill(), send(), arrive(), taken().
class Feed {
 public:
  explicit Feed(std::size_t bytes);  // of a batch; on the current device. Throws OutOfMemory.
  ~Feed();
  Feed(const Feed&) = delete;
  Feed& operator=(const Feed&) = delete;
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  [[nodiscard]] std::uint64_t address() const { return room_.address(); }  // where a batch arrives

  // Host memory for the next batch; waits until the copy out of it has ended.
  std::byte* fill();
  // Starts to copy the first `bytes` of it to the device, after the work that reads the batch before.
  void send(std::size_t bytes);
  // What `stream` is given from now on finds the batch there; what it is given until taken() may read it.
  void arrive(const Stream& stream);
  void taken(const Stream& stream);

 private:
  void release() noexcept;
  struct Slot {
    std::shared_ptr<void> memory;
    std::uint64_t sent = 0;  // event
    bool under_way = false;
  };

  Device& device_;
  std::size_t bytes_;
  Tensor room_;
  std::uint64_t stream_ = 0;  // the default stream does not wait for it
  std::uint64_t read_ = 0;    // event: nothing reads the batch any more
  bool arrived_ = false;
  std::array<Slot, 2> slots_;
  std::size_t at_ = 0;
};

}  // namespace nervanagpu
