// Graphs of the emulator: what a thread records is kept as a list, and launched in its order.
#include <utility>

#include "nervanagpu/error.hpp"
#include "src/device/emulator_device.h"

namespace nervanagpu {

thread_local std::unique_ptr<EmulatorDevice::Recorded> EmulatorDevice::recording;

void EmulatorDevice::queue(std::function<void()> work) {
  if (recording != nullptr) {
    recording->work.push_back(std::move(work));
  } else {
    work();
  }
}

void EmulatorDevice::not_in_graph(const char* what) {
  if (recording != nullptr) refuse_in_graph(what);
}

bool EmulatorDevice::capturing(StreamId /*stream*/) noexcept {
  return recording != nullptr && recording->device == this;
}

void EmulatorDevice::begin_capture(StreamId /*stream*/) {
  if (recording != nullptr) throw InvalidArgument("graph: this thread records another one");
  recording = std::make_unique<Recorded>();
  recording->device = this;
}

GraphId EmulatorDevice::do_end_capture(StreamId /*stream*/) {
  std::shared_ptr<const Recorded> recorded = std::exchange(recording, nullptr);
  const std::lock_guard lock(mutex_);
  graphs_[next_id_] = std::move(recorded);
  return next_id_++;
}

void EmulatorDevice::abandon_capture(StreamId /*stream*/) noexcept {
  const std::unique_ptr<const Recorded> recorded = std::exchange(recording, nullptr);
  discard(*recorded);
}

void EmulatorDevice::do_launch_graph(GraphId graph, StreamId stream) {
  check_stream(stream);
  std::shared_ptr<const Recorded> recorded;
  {
    const std::lock_guard lock(mutex_);
    recorded = graphs_.at(graph);
  }
  for (const std::function<void()>& work : recorded->work) queue(work);
}

void EmulatorDevice::destroy_graph(GraphId graph) noexcept {
  std::shared_ptr<const Recorded> recorded;
  {
    const std::lock_guard lock(mutex_);
    const auto at = graphs_.find(graph);
    if (at == graphs_.end()) return;
    recorded = std::move(at->second);
    graphs_.erase(at);
  }
  discard(*recorded);
}

void EmulatorDevice::discard(const Recorded& recorded) noexcept {
  for (const std::uint64_t address : recorded.memory) free(address, {});
}

}  // namespace nervanagpu
