// Order of work, and marks in it.
#pragma once

#include <cstdint>
#include <memory>

#include "nervanagpu/export.hpp"

namespace nervanagpu {

// A queue of work. The default one (also: handle 0) is CUDA's legacy default stream, which waits for all streams made
// here and makes them wait. On the emulator everything is done when the call returns.
class NG_API Stream {
 public:
  Stream() = default;      // the default stream
  static Stream create();  // a new queue of the current device, destroyed with its last copy
  static Stream from_handle(
      std::uint64_t h);  // a CUstream of the caller's, who keeps it alive while tensors used on it live

  [[nodiscard]] std::uint64_t handle() const noexcept;
  [[nodiscard]] int device() const noexcept { return device_; }  // -1: the default stream of whatever device
  void synchronize() const;                                      // waits for the work queued so far

 private:
  struct Owner;
  std::shared_ptr<Owner> owner_;
  std::uint64_t handle_ = 0;
  int device_ = -1;
};

// A mark in a stream of the device that was current when it was made, for timing and for waiting.
class NG_API Event {
 public:
  Event();
  void record(const Stream& stream = {});
  void synchronize() const;                                 // waits until the mark is passed
  [[nodiscard]] double ms_since(const Event& start) const;  // milliseconds; waits for both marks
  void make_wait(const Stream& stream) const;               // later work of `stream` waits for the mark

 private:
  struct Owner;
  std::shared_ptr<Owner> owner_;
};

}  // namespace nervanagpu
