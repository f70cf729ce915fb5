// Work that is recorded once and launched as a whole, often: a CUDA graph, or the emulator's likeness of one.
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
  // caller's to keep. Host copies, waiting and events are refused by the device meanwhile, as an Error. What body throws
  // is thrown, and nothing is recorded then.
  static Graph capture(const std::function<void()>& body, const Stream& stream = Stream::create());

  // Queues all of it; numbers that body had, random ones too, are those of the recording.
  void launch(const Stream& stream = {}) const;

 private:
  struct Recorded;
  std::shared_ptr<const Recorded> recorded_;
};

}  // namespace nervanagpu
