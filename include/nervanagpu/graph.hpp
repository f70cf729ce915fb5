// Work that is recorded once and launched as a whole, often: a CUDA graph, or the emulator's likeness of one.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "nervanagpu/export.hpp"
#include "nervanagpu/stream.hpp"

namespace nervanagpu {

class NG_API Graph {
 public:
  // Calls body(), whose work is recorded instead of done: whatever it queues in the default stream, expressions and
  // statements in place among them. Temporary memory stays the graph's own; operands and results are the caller's to keep.
  // Host copies, waiting and events are refused by the device meanwhile, as an Error. What body throws is thrown, and
  // nothing is recorded then. Other threads go on with what they do.
  static Graph capture(const std::function<void()>& body);
  // Also what it, or another library, queues in `stream`. If that is a stream that the default one waits for, as those that
  // Stream makes are, CUDA refuses all work of the default stream meanwhile, other threads' too.
  static Graph capture(const std::function<void()>& body, const Stream& stream);

  // Whether this thread is inside of such a body, where another library's work of the default stream is not recorded.
  [[nodiscard]] static bool recording() noexcept;

  // Queues all of it; numbers that body had, random ones too, are those of the recording.
  void launch(const Stream& stream = {}) const;

 private:
  struct Recorded;
  static Graph recorded_in(std::uint64_t stream, const std::function<void()>& body);
  std::shared_ptr<const Recorded> recorded_;
};

}  // namespace nervanagpu
