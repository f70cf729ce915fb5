// Work that is recorded once and launched as a whole, often: a CUDA graph. On the emulator, which has none, launching runs
// the recorded function again.
#pragma once

#include <functional>
#include <memory>

#include "nervanagpu/export.hpp"
#include "nervanagpu/stream.hpp"

namespace nervanagpu {

class NG_API Graph {
 public:
  // Calls body(), whose work is recorded instead of done: whatever it queues in `stream` or in the default stream,
  // expressions and statements in place among them. Temporary memory stays the graph's own; operands and results are the
  // caller's to keep. Host copies, waiting and events are refused by the driver meanwhile, as an Error. What body throws
  // is thrown, and nothing is recorded then. On the emulator body is called by each launch() instead.
  static Graph capture(std::function<void()> body, const Stream& stream = Stream::create());

  // Queues all of it; numbers that body had, random ones too, are those of the recording.
  void launch(const Stream& stream = {}) const;

 private:
  struct Recorded;
  std::shared_ptr<const Recorded> recorded_;
};

}  // namespace nervanagpu
